//! The state of a rank apart from its tasks, and the four transactions (docs/format/i-structures.md).

use crate::{
    address::{Address, StructureId},
    cache::{Access, Cache, Size, Tag},
    counts::{Counts, Memory},
    detector::{Action, Detector},
    error::{Error, Refusal, Result},
    hash::{Table, shrink},
    message::{self, ANSWER_NAMES, Answer, BlockName, Message, RankState, Verdict},
    options::Shape,
    parked::Parked,
    pending::Pending,
    plan::Span,
    segment::{Released, Segment},
    transport::{Content, Transport},
    waiter::Waiter,
};
use std::{
    cell::{Cell, RefCell, RefMut},
    rc::Rc,
};

/// A structure on this rank. Handles hold it, so that a fetch of an element of this rank needs no table look-up.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: u64,
    pub(crate) shape: Rc<Shape>,
    /// `None` once the structure has been freed.
    pub(crate) segment: RefCell<Option<Segment>>,
    /// Whether it is freed when the run ends.
    leaving: Cell<bool>,
}

impl Known {
    /// The elements of this rank.
    pub(crate) fn segment(&self) -> Result<RefMut<'_, Segment>> {
        RefMut::filter_map(self.segment.borrow_mut(), Option::as_mut)
            .map_err(|_| Error::Freed(StructureId(self.id)))
    }
}

/// What a rank accepts while a plan is exchanged.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) digest: u64,
    /// The number of blocks of this rank, for each structure.
    pub(crate) blocks: Vec<u64>,
    pub(crate) served: Vec<Span>,
}

/// The result of a fetch.
pub(crate) enum Found<R> {
    Value(R),
    Waiting(Rc<Waiter>),
}

pub(crate) struct State {
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) rank: u32,
    pub(crate) ranks: u32,
    structures: Table<u64, Rc<Known>>,
    /// The number of the next structure.
    next: u64,
    pub(crate) cache: Cache,
    pending: Pending,
    parked: Parked,
    pub(crate) exchange: Option<Exchange>,
    counts: Counts,
    pub(crate) detector: Detector,
    pub(crate) run: u32,
    pub(crate) in_run: bool,
    /// Structures to be freed when the run ends.
    leaving: Vec<u64>,
    pub(crate) verdict: Option<Verdict>,
    /// Why this rank has failed in the current run.
    pub(crate) failure: Option<Error>,
}

impl State {
    pub(crate) fn new(transport: Box<dyn Transport>) -> Self {
        let (rank, ranks) = (transport.rank(), transport.size());
        Self {
            transport,
            rank,
            ranks,
            structures: Table::default(),
            next: 0,
            cache: Cache::default(),
            pending: Pending::default(),
            parked: Parked::default(),
            exchange: None,
            counts: Counts::default(),
            detector: Detector::new(rank, ranks),
            run: 0,
            in_run: false,
            leaving: Vec::new(),
            verdict: None,
            failure: None,
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { evicted: self.cache.evicted, ..self.counts }
    }

    pub(crate) fn memory(&self) -> Memory {
        let sum = |of: fn(&Segment) -> usize| -> usize {
            self.structures.values().filter_map(|known| known.segment.borrow().as_ref().map(of)).sum()
        };
        Memory {
            structures: self.structures.len(),
            element_bytes: sum(Segment::bytes),
            queues: sum(Segment::queues),
            cache_blocks: self.cache.blocks(),
            cache_bytes: self.cache.bytes(),
            pending: self.pending.len(),
            parked: self.parked.len(),
            tasks: 0,
            capacity: self.structures.capacity()
                + sum(Segment::capacity)
                + self.cache.capacity()
                + self.pending.capacity()
                + self.leaving.capacity()
                + self.parked.capacity(),
        }
    }

    pub(crate) fn create(&mut self, shape: Shape) -> Result<Rc<Known>> {
        let (id, shape) = (self.next, Rc::new(shape));
        let segment = RefCell::new(Some(Segment::new(&shape, self.rank)?));
        self.next += 1;
        let known = Rc::new(Known { id, shape, segment, leaving: Cell::new(false) });
        self.structures.insert(id, known.clone());
        Ok(known)
    }

    /// A structure by its number.
    fn known(&self, id: u64) -> Result<Rc<Known>> {
        self.structures.get(&id).cloned().ok_or(Error::Freed(StructureId(id)))
    }

    /// Frees a structure; within a run, when the run ends, because other ranks may still fetch from it.
    pub(crate) fn free(&mut self, known: &Known) -> Result<()> {
        if known.leaving.replace(true) {
            return Err(Error::Freed(StructureId(known.id)));
        }
        if self.in_run {
            self.leaving.push(known.id);
        } else {
            self.drop_structure(known.id);
        }
        Ok(())
    }

    fn drop_structure(&mut self, id: u64) {
        let segment = self.structures.remove(&id).and_then(|known| known.segment.take());
        let mut waiting = segment.map(Segment::into_waiting).unwrap_or_default();
        shrink(&mut self.structures);
        self.cache.free(id, &mut waiting);
        self.pending.free(id, &mut waiting);
        waiting.into_iter().for_each(|waiter| waiter.resume(Err(Error::Freed(StructureId(id)))));
    }

    fn send(&mut self, to: u32, message: Vec<u8>) -> Result<()> {
        self.send_as(to, message, Content::Other)
    }

    fn send_as(&mut self, to: u32, message: Vec<u8>, content: Content) -> Result<()> {
        let bytes = message.len() as u64;
        match message.get(1) {
            Some(1) => {
                (self.counts.requests, self.counts.bytes) =
                    (self.counts.requests + 1, self.counts.bytes + bytes)
            }
            Some(2 | 8) => {
                (self.counts.values, self.counts.bytes) = (self.counts.values + 1, self.counts.bytes + bytes)
            }
            _ => self.counts.control += 1,
        }
        if message::is_counted(&message) {
            self.detector.sent = self.detector.sent.wrapping_add(1);
        }
        Ok(self.transport.send(to, message, content)?)
    }

    /// Fetches an element of another rank from a structure that has not been freed. If the bytes of the element are present, calls `read` with them.
    pub(crate) fn fetch<R>(
        &mut self,
        shape: &Shape,
        address: Address,
        owner: u32,
        slot: u64,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<Found<R>> {
        let (block, element) = shape.block.divide(slot);
        let tag = Tag { structure: address.structure.0, owner, block };
        let waiter = if shape.cached {
            // Below the number of elements in a block.
            let element = element as usize;
            match self.cache.fetch(tag, || size(shape, tag), shape.bytes, element, address)? {
                Access::Hit(bytes) => {
                    self.counts.hits += 1;
                    return Ok(Found::Value(read(bytes)));
                }
                Access::Deferred(waiter) => {
                    self.counts.deferred_misses += 1;
                    return Ok(Found::Waiting(waiter));
                }
                Access::Miss(waiter) => waiter,
            }
        } else {
            let waiter = Waiter::new(address);
            self.pending.push(tag, waiter.clone());
            waiter
        };
        self.counts.misses += 1;
        self.send(owner, message::request(name(shape, tag)))?;
        Ok(Found::Waiting(waiter))
    }

    /// Sends a newly stored value to the ranks that wait for it.
    pub(crate) fn release(
        &mut self,
        known: &Known,
        slot: u64,
        value: &[u8],
        released: Released,
    ) -> Result<()> {
        let shape = &known.shape;
        let (block, element) = shape.block.divide(slot);
        let tag = Tag { structure: known.id, owner: self.rank, block };
        if !released.element.is_empty() {
            let count = shape.block_len(self.rank, block);
            let bits = (0..count as usize).map(|other| other as u64 == element);
            let message = message::value(name(shape, tag), bits, std::iter::once(value));
            for rank in released.element {
                self.send(rank, message.clone())?;
            }
        }
        if !released.block.is_empty() {
            let (message, content) = self::block(known, tag)?;
            for rank in released.block {
                self.send_as(rank, message.clone(), content)?;
            }
        }
        Ok(())
    }

    /// Receive-a-request, for a block that exists.
    pub(crate) fn serve(&mut self, rank: u32, known: &Known, block: u64) -> Result<()> {
        if known.segment()?.request(rank, block) {
            let tag = Tag { structure: known.id, owner: self.rank, block };
            let (message, content) = self::block(known, tag)?;
            self.send_as(rank, message, content)?;
        }
        Ok(())
    }

    /// Prepares for a value that is sent without a request.
    pub(crate) fn expect(&mut self, known: &Known, owner: u32, block: u64) -> Result<()> {
        let tag = Tag { structure: known.id, owner, block };
        self.cache.expect(tag, size(&known.shape, tag)?);
        Ok(())
    }

    /// Receives messages, up to a number that keeps tasks from starving. Returns whether there were any.
    pub(crate) fn receive(&mut self) -> Result<bool> {
        const AT_ONCE: usize = 256;
        let mut some = false;
        while let Some(messages) = self.parked.pop(self.next) {
            for (from, message) in messages {
                self.handle(from, message)?;
                some = true;
            }
        }
        for _ in 0..AT_ONCE {
            let Some((from, message)) = self.transport.receive()? else { break };
            some = true;
            if message::is_counted(&message) {
                self.detector.received = self.detector.received.wrapping_add(1);
            }
            self.handle(from, message)?;
        }
        Ok(some)
    }

    /// A rank that sends invalid messages fails the run; this is not a transport error.
    fn handle(&mut self, from: u32, message: Vec<u8>) -> Result<()> {
        match self.dispatch(from, message) {
            Err(error @ Error::Transport(_)) => Err(error),
            Err(error) => {
                self.failure.get_or_insert(error);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn dispatch(&mut self, from: u32, bytes: Vec<u8>) -> Result<()> {
        let protocol = |what| Error::Protocol { from, what };
        if from >= self.ranks || from == self.rank {
            return Err(protocol("there is no such sender"));
        }
        let message = message::decode(&bytes).ok_or_else(|| protocol("it cannot be decoded"))?;
        let structure = match &message {
            Message::Request(name)
            | Message::Value(name, _)
            | Message::Block(name, _)
            | Message::Refusal(name, _) => Some(name.structure),
            _ => None,
        };
        if let Some(structure) = structure.filter(|id| *id >= self.next) {
            return self.parked.push(structure, from, bytes);
        }
        match message {
            Message::Request(name) => self.requested(from, name),
            Message::Value(name, body) => self.valued(from, name, body, false),
            Message::Block(name, body) => self.valued(from, name, body, true),
            Message::Refusal(name, reason) => self.refused(from, name, reason),
            Message::PlanPart { run, .. } | Message::Probe { run, .. } if run == self.run.wrapping_add(1) => {
                self.parked.push_next_run(self.ranks, from, bytes)
            }
            Message::PlanPart { run, digest, spans } if run == self.run => {
                self.plan_part(from, digest, &spans)
            }
            Message::Probe { run, wave } if run == self.run && from == 0 => {
                self.detector.probed(wave);
                Ok(())
            }
            Message::Answer { run, wave, answer } if run == self.run && self.rank == 0 => {
                let action = self.detector.collect(from, wave, answer);
                self.act(action)
            }
            Message::Verdict { run, verdict } if run == self.run && from == 0 => {
                self.verdict = Some(verdict);
                Ok(())
            }
            _ => Err(protocol("it is of another run, or not for this rank")),
        }
    }

    fn requested(&mut self, from: u32, name: BlockName) -> Result<()> {
        let reason = match self.known(name.structure).ok() {
            None => Refusal::Freed,
            Some(known) if known.shape.check != name.check => Refusal::OtherParameters,
            Some(known) if name.block >= known.shape.blocks(self.rank) => Refusal::NoSuchBlock,
            Some(known) => return self.serve(from, &known, name.block),
        };
        self.send(from, message::refusal(name, reason))
    }

    fn valued(&mut self, from: u32, name: BlockName, body: &[u8], whole: bool) -> Result<()> {
        let protocol = |what| Error::Protocol { from, what };
        // Ignore a value that arrives after the structure was freed.
        let Some(shape) = self.structures.get(&name.structure).map(|known| known.shape.clone()) else {
            return Ok(());
        };
        let tag = Tag { structure: name.structure, owner: from, block: name.block };
        if shape.check != name.check || name.block >= shape.blocks(from) {
            return Err(protocol("a value does not fit its structure"));
        }
        let size = size(&shape, tag)?;
        let parts = match whole {
            true => (body.len() == size.elements * size.bytes).then_some((None, body)),
            false => message::split_value(body, size.elements, size.bytes)
                .map(|(bits, values)| (Some(bits), values)),
        };
        let (bits, values) = parts.ok_or_else(|| protocol("a value does not fit its block"))?;
        if shape.cached {
            self.cache.receive(tag, size, bits, values);
        } else {
            let waiter = self.pending.pop(tag).ok_or_else(|| protocol("a value that was not asked for"))?;
            waiter.resume(Ok(values));
        }
        Ok(())
    }

    fn refused(&mut self, from: u32, name: BlockName, reason: Refusal) -> Result<()> {
        let tag = Tag { structure: name.structure, owner: from, block: name.block };
        let error = |waiter: &Waiter| Error::Refused { address: waiter.address, owner: from, reason };
        self.cache.refuse(tag, error);
        self.pending.refuse(tag, error);
        Ok(())
    }

    fn plan_part(&mut self, from: u32, digest: u64, spans: &[Span]) -> Result<()> {
        let exchange = self
            .exchange
            .as_mut()
            .ok_or(Error::Protocol { from, what: "a part of a plan while no plan is exchanged" })?;
        if exchange.served.iter().any(|span| span.rank == from) {
            return Err(Error::Protocol { from, what: "a second part of a plan" });
        }
        if exchange.digest != digest {
            return Err(Error::Plan("another rank's plan is for other parameters"));
        }
        let exists = |span: &Span| {
            exchange.blocks.get(span.position as usize).is_some_and(|blocks| span.end() <= *blocks)
        };
        if !spans.iter().all(exists) {
            return Err(Error::Protocol { from, what: "a part of a plan names blocks that do not exist" });
        }
        exchange.served.extend(spans.iter().map(|span| Span { rank: from, ..*span }));
        Ok(())
    }

    pub(crate) fn send_plan_part(&mut self, to: u32, digest: u64, spans: &[Span]) -> Result<()> {
        self.send(to, message::plan_part(self.run, digest, spans))
    }

    /// Begins a run, in which a plan may be exchanged, and handles the messages that arrived before it.
    pub(crate) fn begin(&mut self, exchange: Option<Exchange>) -> Result<()> {
        self.exchange = exchange;
        self.run = self.run.wrapping_add(1);
        self.in_run = true;
        (self.verdict, self.failure) = (None, None);
        self.detector.begin();
        for (from, message) in self.parked.take_next_run() {
            self.handle(from, message)?;
        }
        Ok(())
    }

    /// Ends a run.
    pub(crate) fn end(&mut self) {
        self.in_run = false;
        for id in std::mem::take(&mut self.leaving) {
            self.drop_structure(id);
        }
    }

    /// Takes part in termination detection, because the rank has nothing else to do.
    pub(crate) fn passive(&mut self, state: RankState) -> Result<()> {
        let text = self.failure.as_ref().map(ToString::to_string).unwrap_or_default();
        let segments: Vec<_> = self.structures.values().map(|known| known.segment.borrow()).collect();
        let local = segments.iter().filter_map(|segment| segment.as_ref()).flat_map(Segment::waiting);
        let waiting = || local.chain(self.cache.waiting()).chain(self.pending.waiting());
        let action = self.detector.passive(|sent, received| {
            let (mut names, mut count) = (Vec::new(), 0);
            if state == RankState::Waits {
                for waiter in waiting() {
                    count += 1;
                    if names.len() < ANSWER_NAMES {
                        names.push(waiter.address);
                    }
                }
            }
            Answer { sent, received, waiting: count, state, names, text }
        });
        drop(segments);
        self.act(action)
    }

    fn act(&mut self, action: Action) -> Result<()> {
        let own = self.rank;
        let others = (0..self.ranks).filter(|rank| *rank != own);
        match action {
            Action::Nothing => {}
            Action::Probe(wave) => {
                for rank in others {
                    self.send(rank, message::probe(self.run, wave))?;
                }
            }
            Action::Answer(wave, answer) => self.send(0, message::answer(self.run, wave, &answer))?,
            Action::Verdict(verdict) => {
                for rank in others {
                    self.send(rank, message::verdict(self.run, &verdict))?;
                }
                self.verdict = Some(verdict);
            }
        }
        Ok(())
    }
}

fn name(shape: &Shape, tag: Tag) -> BlockName {
    BlockName { check: shape.check, structure: tag.structure, block: tag.block }
}

/// The message with all full elements of a block of this rank, and its content.
fn block(known: &Known, tag: Tag) -> Result<(Vec<u8>, Content)> {
    let (segment, name) = (known.segment()?, name(&known.shape, tag));
    if let Some(values) = segment.whole(tag.block) {
        return Ok((message::block(name, values), known.shape.content));
    }
    let (bits, values) = segment.block(tag.block);
    Ok((message::value(name, bits.iter().by_vals(), values), Content::Other))
}

/// The size of a block, if it fits in memory here.
fn size(shape: &Shape, tag: Tag) -> Result<Size> {
    let count = shape.block_len(tag.owner, tag.block);
    let elements = usize::try_from(count).ok();
    let fits =
        elements.filter(|elements| elements.checked_mul(shape.bytes).is_some_and(|b| b < usize::MAX / 16));
    Ok(Size { elements: fits.ok_or(Error::TooLarge(count))?, bytes: shape.bytes })
}
