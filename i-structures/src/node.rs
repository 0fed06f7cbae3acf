//! One rank of a program: its structures, tasks, and runs.

use crate::{
    counts::{Counts, Memory},
    element::Element,
    error::{Error, Result},
    executor::Executor,
    handle::{Fetch, IStructure, Structure},
    message::{RankState, Verdict},
    options::{Options, Shape},
    plan::{Parameters, Plan, Recorder},
    state::{Exchange, State},
    transport::Transport,
};
use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

/// The data that the handles of a rank share.
pub(crate) struct Shared {
    pub(crate) state: RefCell<State>,
    pub(crate) rank: u32,
    /// The number of fetches of elements of this rank.
    pub(crate) local: Cell<u64>,
    /// A buffer for the bytes of an element.
    pub(crate) scratch: RefCell<Vec<u8>>,
    executor: Executor,
    /// Whether a program that waits with [`Node::wait`] is on the stack.
    blocking: Cell<bool>,
    /// Whether a task is being polled.
    polling: Cell<bool>,
}

/// One rank of a program. Clones refer to the same rank.
#[derive(Clone)]
pub struct Node {
    pub(crate) shared: Rc<Shared>,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Messages were received or tasks were polled.
    Busy,
    /// There was nothing to do.
    Idle,
    /// The run has ended.
    Ended(Result<()>),
}

impl Node {
    /// A rank that uses this transport, which must not be used for anything else.
    pub fn new(transport: impl Transport + 'static) -> Self {
        Self {
            shared: Rc::new(Shared {
                rank: transport.rank(),
                state: RefCell::new(State::new(Box::new(transport))),
                local: Cell::new(0),
                scratch: RefCell::default(),
                executor: Executor::default(),
                blocking: Cell::new(false),
                polling: Cell::new(false),
            }),
        }
    }

    /// The number of this rank.
    pub fn rank(&self) -> u32 {
        self.shared.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> u32 {
        self.shared.state.borrow().ranks
    }

    /// The counters since the creation of the rank.
    pub fn counts(&self) -> Counts {
        Counts { local: self.shared.local.get(), ..self.shared.state.borrow().counts() }
    }

    /// The memory that the rank holds.
    pub fn memory(&self) -> Memory {
        let memory = self.shared.state.borrow().memory();
        let executor = &self.shared.executor;
        Memory { tasks: executor.live(), capacity: memory.capacity + executor.capacity(), ..memory }
    }

    /// Limits the bytes of the cache (`None`: no limit). Full blocks are evicted in the order in which they became full; requested blocks stay, even
    /// if they alone exceed the limit.
    pub fn limit_cache(&self, bytes: Option<usize>) {
        self.shared.state.borrow_mut().cache.limit = bytes;
    }

    /// Creates a structure. All ranks create the same structures in the same order, but not necessarily at the same time.
    ///
    /// # Errors
    /// [`Error::Options`], [`Error::TooLarge`].
    pub fn create<T: Element>(&self, options: &Options) -> Result<IStructure<T>> {
        let state = &mut *self.shared.state.borrow_mut();
        let shape = Shape::new::<T>(options, state.ranks)?;
        Ok(IStructure::new(self.shared.clone(), Structure(state.create(shape)?)))
    }

    /// Frees a structure: its elements and its cached blocks. Within a run, it is freed when the run ends. All ranks must free it between the same
    /// runs. Clones of the handle can no longer be used; waiting fetches of its elements get [`Error::Freed`].
    ///
    /// # Errors
    /// [`Error::Freed`] if it has been freed before.
    pub fn free<T>(&self, structure: IStructure<T>) -> Result<()> {
        self.free_untyped(structure.untyped())
    }

    /// The same for a structure without the type of its elements.
    ///
    /// # Errors
    /// As for [`Node::free`].
    pub fn free_untyped(&self, structure: &Structure) -> Result<()> {
        self.shared.state.borrow_mut().free(&structure.0)
    }

    /// Adds a task to the current run, or to the next one. A task that fails ends the run.
    pub fn spawn(&self, task: impl Future<Output = Result<()>> + 'static) {
        self.shared.executor.spawn(Box::pin(task));
    }

    /// Runs a task and all spawned tasks until the tasks of all ranks have ended and no message is in transit. All ranks must call it.
    ///
    /// # Errors
    /// The error of a task, [`Error::Peer`] if a task of another rank has failed, [`Error::Deadlock`], [`Error::Protocol`], or [`Error::Transport`].
    /// After all but the last, the rank can start another run.
    pub fn run(&self, task: impl Future<Output = Result<()>> + 'static) -> Result<()> {
        self.begin(task)?;
        self.to_the_end()
    }

    /// Runs a program that waits for elements with [`Node::wait`], and the tasks that it spawns, like [`Node::run`].
    ///
    /// # Errors
    /// As for [`Node::run`].
    pub fn run_blocking(&self, program: impl FnOnce() -> Result<()>) -> Result<()> {
        self.open(None)?;
        self.shared.blocking.set(true);
        let result = program();
        self.shared.blocking.set(false);
        if let Err(error) = result {
            self.fail(error);
        }
        self.to_the_end()
    }

    /// Waits for an element; tasks and other ranks are served in the meantime.
    ///
    /// # Errors
    /// The error of the fetch; the error of the run if it ends in the meantime; [`Error::Misuse`] outside [`Node::run_blocking`] and within tasks.
    pub fn wait<T: Element>(&self, mut fetch: Fetch<T>) -> Result<T> {
        if !self.shared.blocking.get() || self.shared.polling.get() {
            return Err(Error::Misuse("Node::wait is for programs of Node::run_blocking, not for tasks"));
        }
        loop {
            if let Poll::Ready(value) = Pin::new(&mut fetch).poll(&mut Context::from_waker(Waker::noop())) {
                return value;
            }
            self.progress()?;
            let ended = self.shared.state.borrow().verdict.clone();
            if let Some(verdict) = ended {
                return Err(self.outcome(verdict).err().unwrap_or(Error::Misuse("the run has ended")));
            }
        }
    }

    /// Begins a run, for programs that call [`Node::step`] themselves.
    ///
    /// # Errors
    /// [`Error::Misuse`] within a run.
    pub fn begin(&self, task: impl Future<Output = Result<()>> + 'static) -> Result<()> {
        self.open(None)?;
        self.spawn(task);
        Ok(())
    }

    /// Receives messages and polls tasks. Must be called until the run has ended.
    pub fn step(&self) -> Step {
        if self.shared.polling.get() {
            return Step::Ended(Err(Error::Misuse("a task cannot run the run it is in")));
        }
        if !self.shared.state.borrow().in_run {
            return Step::Ended(Err(Error::Misuse("there is no run")));
        }
        let busy = match self.progress() {
            Ok(busy) => busy,
            Err(error) => {
                self.close();
                return Step::Ended(Err(error));
            }
        };
        let verdict = self.shared.state.borrow_mut().verdict.take();
        match verdict {
            Some(verdict) => {
                let result = self.outcome(verdict);
                self.close();
                Step::Ended(result)
            }
            None if busy => Step::Busy,
            None => Step::Idle,
        }
    }

    /// A recorder of a plan for these structures. The structures of later runs need not be the same, but must have the same parameters, in this
    /// order.
    ///
    /// # Errors
    /// [`Error::Options`] if one of them has no cache, or is given twice.
    pub fn record(&self, structures: &[Structure]) -> Result<Recorder> {
        Recorder::new(self.parameters(structures), structures)
    }

    /// Exchanges the recorded fetches: each rank learns what it must send. All ranks must call it.
    ///
    /// # Errors
    /// As for [`Node::run`]; [`Error::Plan`] if ranks have recorded for structures with other parameters.
    pub fn exchange(&self, recorder: Recorder) -> Result<Plan> {
        let exchange = self.begin_exchange(recorder)?;
        self.to_the_end()?;
        self.end_exchange(exchange)
    }

    /// Begins an exchange, for programs that call [`Node::step`] themselves. Pass the result to [`Node::end_exchange`].
    ///
    /// # Errors
    /// [`Error::Misuse`] within a run; [`Error::Transport`].
    pub fn begin_exchange(&self, recorder: Recorder) -> Result<Plan> {
        let wanted = recorder.spans();
        let parameters = recorder.parameters;
        let digest = parameters.digest();
        let blocks = recorder.structures.iter().map(|s| s.shape().blocks(parameters.rank)).collect();
        self.open(Some(Exchange { digest, blocks, served: Vec::new() }))?;
        let state = &mut *self.shared.state.borrow_mut();
        for rank in 0..parameters.ranks {
            let of: Vec<_> = wanted.iter().filter(|span| span.rank == rank).copied().collect();
            if !of.is_empty() {
                state.send_plan_part(rank, digest, &of)?;
            }
        }
        Ok(Plan { parameters, wanted, served: Vec::new() })
    }

    /// Completes the plan, after the run started by [`Node::begin_exchange`] has ended without an error.
    ///
    /// # Errors
    /// [`Error::Misuse`] if nothing was exchanged.
    pub fn end_exchange(&self, plan: Plan) -> Result<Plan> {
        let exchange = self.shared.state.borrow_mut().exchange.take();
        let mut served = exchange.ok_or(Error::Misuse("no plan is exchanged"))?.served;
        served.sort_unstable();
        Ok(Plan { served, ..plan })
    }

    /// Makes the next run a residual one: adds the plan's requests to the structures and its blocks to the cache, so that fetches of them send no
    /// requests. Must be called on all ranks, between runs, for structures created since the last run.
    ///
    /// # Errors
    /// [`Error::Plan`] if the plan is for other parameters, [`Error::Misuse`] within a run, [`Error::Freed`].
    pub fn bind(&self, plan: &Plan, structures: &[Structure]) -> Result<()> {
        plan.fits(&self.parameters(structures), structures)?;
        let state = &mut *self.shared.state.borrow_mut();
        if state.in_run {
            return Err(Error::Misuse("a plan is bound between runs"));
        }
        for structure in structures {
            structure.0.segment()?;
        }
        let known = |position: u32| structures.get(position as usize).map(|structure| &structure.0);
        for span in &plan.wanted {
            let Some(known) = known(span.position) else { continue };
            (span.first..span.end()).try_for_each(|block| state.expect(known, span.rank, block))?;
        }
        for span in &plan.served {
            let Some(known) = known(span.position) else { continue };
            (span.first..span.end()).try_for_each(|block| state.serve(span.rank, known, block))?;
        }
        Ok(())
    }

    fn parameters(&self, structures: &[Structure]) -> Parameters {
        let state = self.shared.state.borrow();
        Parameters {
            ranks: state.ranks,
            rank: state.rank,
            communicator: state.transport.communicator(),
            checks: structures.iter().map(|structure| structure.shape().check).collect(),
        }
    }

    fn open(&self, exchange: Option<Exchange>) -> Result<()> {
        let state = &mut *self.shared.state.borrow_mut();
        if state.in_run {
            return Err(Error::Misuse("a run within a run"));
        }
        state.begin(exchange)
    }

    fn close(&self) {
        self.shared.executor.clear();
        self.shared.state.borrow_mut().end();
    }

    fn fail(&self, error: Error) {
        self.shared.state.borrow_mut().failure.get_or_insert(error);
    }

    fn to_the_end(&self) -> Result<()> {
        loop {
            if let Step::Ended(result) = self.step() {
                return result;
            }
        }
    }

    /// Receives messages and polls tasks, or takes part in termination detection. Returns whether there was anything to do.
    fn progress(&self) -> Result<bool> {
        let Shared { state, executor, blocking, polling, .. } = &*self.shared;
        let received = state.borrow_mut().receive()?;
        let ready = executor.is_ready();
        polling.set(true);
        let polled = executor.poll();
        polling.set(false);
        if let Err(error) = polled {
            self.fail(error);
        }
        if state.borrow().failure.is_some() {
            executor.clear();
        }
        if received || ready || state.borrow().verdict.is_some() {
            return Ok(true);
        }
        let mut state = state.borrow_mut();
        let long = state.transport.idle()?;
        let rank_state = match &state.failure {
            Some(_) => RankState::Failed,
            None if executor.live() == 0 && !blocking.get() => RankState::Ended,
            None => RankState::Waits,
        };
        if long || rank_state != RankState::Waits {
            state.passive(rank_state)?;
        }
        Ok(false)
    }

    /// This rank's own error if it has one, otherwise that of the run.
    fn outcome(&self, verdict: Verdict) -> Result<()> {
        let failure = self.shared.state.borrow_mut().failure.take();
        match (failure, verdict) {
            (Some(error), _) => Err(error),
            (None, Verdict::Ended) => Ok(()),
            (None, Verdict::Deadlock { waiting, names }) => Err(Error::Deadlock { waiting, names }),
            (None, Verdict::Failed { rank, why }) => Err(Error::Peer { rank, why }),
        }
    }
}
