//! Broadcast and all-gather of long blocks, which are relayed in chunks.
//!
//! A block travels along the nodes, and within each node to all its ranks ([`mpress::HandOn`]). Between nodes it is a stream like that of a
//! long message (`docs/format/frame.md`): encoded once, by its owner, and relayed unchanged. Within a node its bytes are sent uncompressed,
//! from the program's buffer to the program's buffer. So a chunk is encoded while earlier ones are sent, relayed and decoded.
//!
//! No lengths are exchanged beforehand: all ranks know those of all blocks, and so the source, destination and order of all chunks. Each
//! chunk is one message; a block that is not compressed has the same chunks. A rank that receives its first chunk from another node
//! recognises a frame by its length, which is not a multiple of 8. Within a node a last message of one byte tells the form in which the
//! block came. So all ranks finally know whether anything got shorter.
//!
//! Between two ranks chunks are ordered by the sum of their number and the number of ranks that they have passed ([`HandOn::step`]). In
//! this order each chunk waits only for earlier ones, so ranks do not wait for each other in a cycle.

mod edge;

use super::Group;
use crate::messages::peers::Peers;
use crate::messages::waiting;
use crate::mpi::fatal::give_up;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use crate::progress;
use edge::{Incoming, Leaving};
use mpress::{Buffer, Destination, HandOn, Hierarchy, Kind, Outgoing, SameNode, Strategy, Stream, Tail};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::rc::Rc;
use std::{ptr, slice};

/// Raw bytes of a chunk of a block that is too short for a stream.
const CHUNK: usize = 63 << 10;

/// A block of the collective in the program's memory.
pub(super) struct Part {
    /// The rank that owns it.
    pub(super) owner: usize,
    /// Its address: source at its owner, destination elsewhere; null if there is no memory for it.
    pub(super) at: *mut u8,
    pub(super) len: usize,
}

/// The result of a collective.
pub(super) struct Handed {
    /// Whether it has been made; if a rank could not send its block, the MPI must do the whole collective.
    pub(super) outcome: Result<bool, c_int>,
    /// Whether something got shorter. The result is the same on all ranks, even on those with an error of their own.
    pub(super) shorter: bool,
}

impl Handed {
    /// The result after `land` has copied the blocks to the program's memory, which is skipped if the MPI must do the collective.
    pub(super) fn landing(self, land: impl FnOnce() -> Result<(), c_int>) -> Self {
        let outcome = match self.outcome {
            Ok(true) => land().map(|()| true),
            other => other,
        };
        Self { outcome, ..self }
    }
}

/// The form in which a block comes.
#[derive(Clone, Copy)]
enum Form {
    /// Its first chunk has not come yet.
    Unknown,
    Raw,
    /// Compressed; `None` within a node, where it has been decoded.
    Shorter(Option<Stream>),
    Damaged(c_int),
    /// Its owner could not send it: its chunks are empty.
    Nothing,
}

/// The byte for each form within a node, by index.
static SAID: [u8; 4] = [0, 1, 2, 3];

impl Form {
    /// The byte for this form.
    fn said(self) -> &'static u8 {
        match self {
            Self::Unknown | Self::Raw => &SAID[0],
            Self::Shorter(_) => &SAID[1],
            Self::Damaged(_) => &SAID[2],
            Self::Nothing => &SAID[3],
        }
    }

    fn of(said: Option<&u8>, damaged: c_int) -> Self {
        match said {
            Some(0) => Self::Raw,
            Some(1) => Self::Shorter(None),
            Some(3) => Self::Nothing,
            _ => Self::Damaged(damaged),
        }
    }
}

/// A block in progress.
struct Block {
    owner: usize,
    at: *mut u8,
    len: usize,
    /// Raw bytes of a chunk.
    chunk: usize,
    /// Whether it may be a stream.
    is_long: bool,
    /// Number of its messages that are here: its chunks, and the form byte.
    here: usize,
    form: Form,
    /// For this rank's own block, the part yet to be encoded.
    tail: Option<Tail>,
    /// For blocks that go on to another node, the chunks as received, or the head of this rank's own.
    wires: VecDeque<Rc<Buffer>>,
    /// Whether it is relayed from here to another node.
    goes_on: bool,
}

impl Block {
    fn chunks(&self) -> usize {
        self.len.div_ceil(self.chunk)
    }

    fn range(&self, index: usize) -> Range<usize> {
        let at = |index: usize| index.saturating_mul(self.chunk).min(self.len);
        at(index)..at(index + 1)
    }

    /// Number of its messages between two ranks of a node (`inside`) or of two nodes.
    fn messages(&self, inside: bool) -> usize {
        self.chunks() + usize::from(inside && self.is_long)
    }

    /// A chunk of `len` bytes has come from the same node.
    fn came(&mut self, index: usize, len: usize, damaged: c_int) {
        if len == 0 && index == 0 {
            self.form = Form::Nothing;
        } else if len != self.range(index).len() && !matches!(self.form, Form::Nothing) {
            self.form = Form::Damaged(damaged);
        }
        self.here = index + 1;
    }

    /// A chunk has come from another node.
    fn arrived(&mut self, shim: &Shim, index: usize, wire: Buffer, id: u32) {
        if index == 0 {
            self.form = self.form_of(shim, &wire, id);
        }
        let landed = match self.form {
            Form::Nothing | Form::Damaged(_) => true,
            form => self.land(shim, form, index, &wire),
        };
        if !landed {
            self.form = Form::Damaged(shim.damaged);
        }
        // After the last chunk the form is known, too.
        self.here = index + 1 + usize::from(index + 1 == self.chunks());
        if self.goes_on {
            self.wires.push_back(Rc::new(wire));
        }
    }

    /// Writes a chunk from another node to its place.
    fn land(&mut self, shim: &Shim, form: Form, index: usize, wire: &[u8]) -> bool {
        let range = self.range(index);
        // SAFETY: memory of `len` bytes, which lives as long as the collective and is not accessed elsewhere.
        let out = unsafe {
            slice::from_raw_parts_mut(self.at.add(range.start).cast::<MaybeUninit<u8>>(), range.len())
        };
        match form {
            Form::Raw if wire.len() == out.len() => {
                out.write_copy_of_slice(wire);
                true
            }
            Form::Shorter(Some(_)) if index == 0 => waiting::coding(|| {
                shim.engine.open(wire).is_ok_and(|frame| shim.engine.decode_head(&frame, out).is_ok())
            }),
            Form::Shorter(Some(stream)) => {
                waiting::coding(|| shim.engine.decode_chunk(&stream, index, wire, out).is_ok())
            }
            _ => false,
        }
    }

    /// The form, from the first chunk, received from another node.
    fn form_of(&self, shim: &Shim, wire: &[u8], id: u32) -> Form {
        if wire.is_empty() {
            return Form::Nothing;
        }
        if wire.len() == self.range(0).len() {
            return Form::Raw;
        }
        let stream = shim.engine.open(wire).ok().and_then(|frame| frame.stream());
        let is_this = |stream: &Stream| {
            stream.id() == id && stream.raw_len() == self.len && stream.range(0) == self.range(0)
        };
        let stream = stream.filter(|stream| self.is_long && is_this(stream));
        stream.map_or(Form::Damaged(shim.damaged), |stream| Form::Shorter(Some(stream)))
    }

    /// Starts to encode this rank's own block, if it is worth it: the first chunk at once.
    fn encode(&mut self, shim: &Shim, strategy: Option<Strategy>, kind: Kind, id: u32) {
        self.here = self.chunks() + 1;
        self.form = Form::Raw;
        if self.at.is_null() {
            self.form = Form::Nothing;
        } else if self.is_long && self.goes_on {
            // SAFETY: the block, which the program lends for the collective.
            let raw = unsafe { slice::from_raw_parts(self.at, self.len) };
            let begun = waiting::coding(|| {
                let considered = shim.engine.consider(strategy, kind, Destination::OtherNode, self.len)?;
                Some(shim.engine.begin(considered, raw, id, self.chunk))
            });
            if let Some(Outgoing::Stream(head, tail)) = begun {
                self.form = Form::Shorter(None);
                self.wires.push_back(Rc::new(head));
                self.tail = Some(*tail);
            }
        }
    }

    /// The next chunk for another node, in our own memory; `None` if there is no memory for it.
    fn next_wire(&mut self, shim: &Shim) -> Option<Rc<Buffer>> {
        if let Some(wire) = self.wires.pop_front() {
            return Some(wire);
        }
        let tail = self.tail.as_mut()?;
        let due = tail.due()?;
        // SAFETY: as above.
        let raw = unsafe { slice::from_raw_parts(self.at.add(due.start), due.len()) };
        waiting::coding(|| shim.engine.next_chunk(tail, raw)).map(Rc::new)
    }
}

/// A message between two ranks.
#[derive(Clone, Copy)]
struct Item {
    block: usize,
    /// The number of its chunk; after the last one, that of the form byte.
    index: usize,
}

/// A message, and its position in the order between two ranks.
type Keyed = ((usize, usize), Item);

/// A collective in progress.
struct Relay<'a> {
    shim: &'a Shim,
    group: &'a Group<'a>,
    /// The number of the streams, the same on all ranks.
    id: u32,
    /// The name of the collective.
    what: &'static str,
    blocks: Vec<Block>,
    incoming: Vec<Incoming>,
    leaving: Vec<Leaving>,
    /// Errors of the MPI.
    failed: Result<(), c_int>,
    /// Number of times that there was no memory, and nothing pending that would release some.
    starved: u32,
}

/// After this number of polls without memory or progress, the job ends. Until then another thread may release memory.
const PATIENCE: u32 = 100_000;

impl Shim {
    /// Relays all blocks, each from its owner to all ranks. All ranks must pass the same blocks, in the same order. `kind`: that of this
    /// rank's own block; `id`: a number that differs from those of collectives shortly before and after this one on the communicator;
    /// `what`: its name.
    ///
    /// # Safety
    /// Each block must be at an address with room for it, or null.
    pub(super) unsafe fn hand_on(
        &self,
        group: &Group<'_>,
        parts: &[Part],
        kind: Kind,
        (id, what): (u32, &'static str),
    ) -> Handed {
        let mut relay = Relay::new(self, group, parts, (id, what));
        if let Some(own) =
            relay.blocks.iter_mut().find(|block| block.owner == group.rank().unsigned_abs() as usize)
        {
            own.encode(self, group.strategy, kind, id);
        }
        progress::until(self, || {
            while relay.step() {}
            relay.is_done().then_some(())
        });
        relay.handed()
    }

    /// The nodes and their ranks, as they matter for compression.
    pub(super) fn hierarchy<'a>(&self, peers: &'a Peers) -> Cow<'a, Hierarchy> {
        match self.world.same_node {
            SameNode::Compress => Cow::Owned(Hierarchy::new(&peers.ranks().collect::<Vec<_>>())),
            _ => Cow::Borrowed(peers.spread.hierarchy()),
        }
    }
}

impl<'a> Relay<'a> {
    fn new(shim: &'a Shim, group: &'a Group<'a>, parts: &[Part], (id, what): (u32, &'static str)) -> Self {
        let (hierarchy, rank) = (shim.hierarchy(group.peers), group.rank().unsigned_abs() as usize);
        let mut blocks = Vec::new();
        // By the other rank, the messages from it and to it, in order.
        let (mut from, mut to) = (BTreeMap::new(), BTreeMap::new());
        for part in parts.iter().filter(|part| part.len > 0) {
            let HandOn { from: source, to: dests, step } = hierarchy.hand_on(part.owner, rank);
            let chunk = shim.engine.chunk(part.len);
            let is_inside = |other| hierarchy.node(other) == hierarchy.node(rank);
            let block = Block {
                owner: part.owner,
                at: part.at,
                len: part.len,
                chunk: chunk.unwrap_or(CHUNK),
                is_long: chunk.is_some(),
                here: 0,
                form: Form::Unknown,
                tail: None,
                wires: VecDeque::new(),
                goes_on: dests.iter().any(|&dest| !is_inside(dest)),
            };
            let plan = |list: &mut BTreeMap<usize, Vec<_>>, other, step: usize| {
                let items = (0..block.messages(is_inside(other)))
                    .map(|index| ((index + step, step), Item { block: blocks.len(), index }));
                list.entry(other).or_default().extend(items);
            };
            if let Some(source) = source {
                plan(&mut from, source, step - 1);
            }
            dests.into_iter().for_each(|dest| plan(&mut to, dest, step));
            blocks.push(block);
        }
        let mut edge = |(other, mut items): (usize, Vec<Keyed>)| {
            items.sort_by_key(|(key, _)| *key); // the sort is stable: equal keys stay in the order of their blocks
            let inside = hierarchy.node(other) == hierarchy.node(rank);
            let items = items.into_iter().map(|(_, item)| item).collect();
            (group.peers.world_rank(other as c_int), inside, items)
        };
        let incoming = from.into_iter().map(&mut edge).map(Incoming::new).collect();
        let leaving = to.into_iter().map(&mut edge).map(Leaving::new).collect();
        Self { shim, group, id, what, blocks, incoming, leaving, failed: Ok(()), starved: 0 }
    }

    fn is_done(&self) -> bool {
        self.incoming.iter().all(Incoming::is_done) && self.leaving.iter().all(Leaving::is_done)
    }

    /// Advances all messages that can be advanced; returns whether there were any.
    fn step(&mut self) -> bool {
        let (mut incoming, mut leaving) =
            (std::mem::take(&mut self.incoming), std::mem::take(&mut self.leaving));
        let mut moved = false;
        for edge in &mut incoming {
            moved |= edge.step(self);
        }
        for edge in &mut leaving {
            moved |= edge.step(self);
        }
        (self.incoming, self.leaving) = (incoming, leaving);
        if moved {
            self.starved = 0;
        }
        moved
    }

    /// There is no memory for a chunk. `waits`: a pending message will release some.
    fn starve(&mut self, len: usize, waits: bool) {
        if !waits {
            self.starved += 1;
        }
        if self.starved > PATIENCE {
            self.give_up_for(len);
        }
    }

    /// Ends the job: there is no memory for this number of bytes, which have come or must be sent.
    fn give_up_for(&self, len: usize) -> ! {
        let what = self.what;
        give_up(
            format_args!("no memory for {len} bytes of {what} that other ranks wait for"),
            self.group.program,
            ERR_NO_MEM,
        )
    }

    /// Ends the job: a message could not be started, and its other end would wait for ever.
    fn cannot(&self, code: c_int) -> ! {
        give_up("a part of a collective that other ranks wait for cannot be sent", self.group.program, code)
    }

    fn handed(&self) -> Handed {
        let any = |is: fn(&Form) -> bool| self.blocks.iter().any(|block| is(&block.form));
        if any(|form| matches!(form, Form::Nothing)) {
            return Handed { outcome: Ok(false), shorter: false };
        }
        let damaged = self.blocks.iter().find_map(|block| match block.form {
            Form::Damaged(code) => Some(code),
            _ => None,
        });
        let outcome = self.failed.and(damaged.map_or(Ok(true), Err));
        Handed { outcome, shorter: any(|form| matches!(form, Form::Shorter(_) | Form::Damaged(_))) }
    }
}

/// The address of an empty message.
fn nothing() -> *const u8 {
    ptr::from_ref(&SAID[0])
}
