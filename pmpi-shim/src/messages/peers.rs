//! The peers of a communicator: its ranks, and those among them that exchange frames with this one.

use crate::messages::{agreed::Collectives, context::Context};
use crate::mpi::{family::Family, handle::Handle, sys::*};
use mpress::{SHORTEST, Spread, Strategy};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{cell::Cell, cell::RefCell, mem::ManuallyDrop, ptr};

/// The ranks of a communicator (of its remote group, if it has one) with which frames are exchanged.
pub(crate) struct Peers {
    frames: Box<[bool]>,
    any: bool,
    world: Box<[c_int]>,
    /// This process's rank in that group, or `MPI_UNDEFINED`.
    pub(crate) rank: c_int,
    inter: bool,
    pub(crate) spread: Spread,
    pub(crate) collectives: Collectives,
    /// The communicator's number in a trace, once assigned.
    pub(crate) number: OnceLock<u32>,
    /// The communicator's line in the report's table, once it has one.
    pub(crate) line: OnceLock<usize>,
    /// The communicator's own strategy, if the program has given it one by an info: MPIs drop hints that they do not know.
    strategy: OnceLock<Mutex<Strategy>>,
    /// Whether the program has freed the handle. Pending operations go on.
    freed: AtomicBool,
}

/// The communicator of a call, to whose error handler failures go.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) comm: MPI_Comm,
    pub(crate) peers: Option<Arc<Peers>>,
}

impl Origin {
    /// The communicator; null if the program has freed it.
    pub(crate) fn handler(&self) -> MPI_Comm {
        self.peers.as_ref().map_or(self.comm, |peers| peers.handler_of(self.comm))
    }
}

impl Peers {
    fn new(frames: Box<[bool]>, world: Box<[c_int]>, rank: c_int, inter: bool, spread: Spread) -> Self {
        let any = frames.contains(&true);
        let (collectives, number, line, strategy, freed) = Default::default();
        Self { frames, any, world, rank, inter, spread, collectives, number, line, strategy, freed }
    }

    /// The communicator handle for reporting errors: null if the program has freed it.
    pub(crate) fn handler_of(&self, comm: MPI_Comm) -> MPI_Comm {
        if self.ended() { COMM_NULL } else { comm }
    }

    fn end(&self) {
        self.freed.store(true, Ordering::Release);
    }

    pub(crate) fn ended(&self) -> bool {
        self.freed.load(Ordering::Acquire)
    }

    /// Whether messages to or from this rank may be sent as frames. For `MPI_ANY_SOURCE`, whether those of any rank may.
    pub(crate) fn frames_with(&self, rank: c_int) -> bool {
        if rank == ANY_SOURCE {
            return self.any;
        }
        usize::try_from(rank).ok().and_then(|r| self.frames.get(r)).is_some_and(|&frames| frames)
    }

    pub(crate) fn has(&self, rank: c_int) -> bool {
        usize::try_from(rank).is_ok_and(|rank| rank < self.frames.len())
    }

    /// Whether the message of this status may be a frame, or a damaged one, whose length tells nothing.
    pub(crate) fn may_be_damaged_frame(&self, status: &MPI_Status, bytes: usize) -> bool {
        bytes >= SHORTEST && self.frames_with(status.MPI_SOURCE)
    }

    /// Whether the message of this status may be a frame, by its source and length.
    pub(crate) fn may_be_frame(&self, status: &MPI_Status, bytes: usize) -> bool {
        mpress::may_be_frame(bytes) && self.frames_with(status.MPI_SOURCE)
    }

    /// The communicator's own strategy, if it has one.
    pub(crate) fn strategy(&self) -> Option<Strategy> {
        self.strategy.get().map(|strategy| *crate::locked(strategy))
    }

    pub(crate) fn set_strategy(&self, strategy: Strategy) {
        let kept = self.strategy.get_or_init(|| Mutex::new(strategy));
        *crate::locked(kept) = strategy;
    }

    pub(crate) fn size(&self) -> c_int {
        c_int::try_from(self.world.len()).unwrap_or(c_int::MAX)
    }

    pub(crate) fn ranks(&self) -> std::ops::Range<c_int> {
        0..self.size()
    }

    /// The rank in `MPI_COMM_WORLD` of this rank.
    pub(crate) fn world_rank(&self, rank: c_int) -> c_int {
        usize::try_from(rank).ok().and_then(|r| self.world.get(r)).copied().unwrap_or(UNDEFINED)
    }
}

/// A function of the MPI that makes a group.
type GroupOf = fn(MPI_Comm, &mut MPI_Group) -> c_int;

/// Counts communicators that were freed: then another one may have the same handle.
static FREED: AtomicU64 = AtomicU64::new(0);

/// Our key, a communicator, and the value of [`FREED`] for which its attribute is valid.
type Of = (c_int, usize, u64);

thread_local! {
    /// The communicator that this thread has used last, and its attribute: programs use few, and asking the MPI takes longer than all the rest of a
    /// short message.
    static LATEST: Cell<Option<(Of, *const Peers)>> = const { Cell::new(None) };
}

impl Context {
    /// The peers of a communicator, if frames are exchanged with any of them.
    pub(crate) fn peers(&self, comm: MPI_Comm) -> Option<Arc<Peers>> {
        self.all_peers(comm).filter(|peers| peers.any)
    }

    /// All ranks of a communicator, whether or not frames are exchanged with them.
    pub(crate) fn all_peers(&self, comm: MPI_Comm) -> Option<Arc<Peers>> {
        if comm == COMM_NULL {
            return None;
        }
        match self.kept_peers(comm).ok()? {
            Some(peers) => Some(peers),
            None => self.make_peers(comm),
        }
    }

    /// The peers, if they are known already.
    fn kept_peers(&self, comm: MPI_Comm) -> Result<Option<Arc<Peers>>, c_int> {
        let of = (self.world.keyval, comm.key(), FREED.load(Ordering::Acquire));
        let (mut peers, mut found) = (ptr::null::<Peers>(), 0);
        // SAFETY: our key, the caller's communicator, valid output pointers.
        unsafe {
            match LATEST.get() {
                Some((known, latest)) if known == of => peers = latest,
                _ => {
                    ok(PMPI_Comm_get_attr(comm, self.world.keyval, (&raw mut peers).cast(), &raw mut found))?;
                    if found == 0 {
                        return Ok(kept(self.world.keyval, comm));
                    }
                    LATEST.set(Some((of, peers)));
                }
            }
            // Only `make_peers` and `copied` store under our key, a leaked `Arc`; the attribute owns one count until `give_back` releases it, and the
            // communicator is live while the caller uses it.
            Arc::increment_strong_count(peers);
            Ok(Some(Arc::from_raw(peers)))
        }
    }

    /// Determines the peers and keeps them. One thread at a time: the value kept by another thread must not be replaced.
    fn make_peers(&self, comm: MPI_Comm) -> Option<Arc<Peers>> {
        let _turn = crate::locked(&self.peers_turn);
        if let Some(peers) = self.kept_peers(comm).ok()? {
            return Some(peers);
        }
        let peers = Arc::new(self.find_peers(comm)?);
        if keep(self.world.keyval, comm, &peers) {
            return Some(peers);
        }
        let kept = Arc::into_raw(Arc::clone(&peers));
        // SAFETY: our key, the caller's communicator.
        let code = unsafe { PMPI_Comm_set_attr(comm, self.world.keyval, kept.cast_mut().cast()) };
        if code != SUCCESS {
            // SAFETY: the attribute was not set, so it does not own this count.
            unsafe { Arc::decrement_strong_count(kept) };
        }
        Some(peers)
    }

    /// The peers for a collective; the result is the same on all ranks. Collectives on inter-communicators are left to the MPI.
    pub(crate) fn collective_peers(&self, comm: MPI_Comm) -> Option<Arc<Peers>> {
        if self.strategy == Strategy::Off {
            return None;
        }
        self.peers(comm).filter(|peers| !peers.inter)
    }

    /// The peers for a collective with a root. An invalid root is refused by the MPI.
    pub(crate) fn rooted_peers(&self, comm: MPI_Comm, root: c_int) -> Option<Arc<Peers>> {
        self.collective_peers(comm).filter(|peers| peers.has(root))
    }

    /// Finds the peers. A communicator with a process from outside this job's world (spawned, connected) has none, since such a process took no part
    /// in the handshake. All members get the same result, from local data.
    fn find_peers(&self, comm: MPI_Comm) -> Option<Peers> {
        let mut inter = 0;
        ok(PMPI_Comm_test_inter(comm, &mut inter)).ok()?;
        let local = self.world_ranks(comm, PMPI_Comm_group)?;
        let there = if inter != 0 { self.world_ranks(comm, PMPI_Comm_remote_group)? } else { local.clone() };
        let inside = local.iter().chain(&there).all(|&rank| rank != UNDEFINED);
        let frames: Box<[bool]> = there.iter().map(|&rank| inside && self.world.frames_with(rank)).collect();
        let nodes: Vec<c_int> = there.iter().map(|&rank| self.world.node(rank).unwrap_or(rank)).collect();
        let spread = Spread::new(&nodes, self.family == Family::OpenMpi);
        let rank = there.iter().position(|&rank| rank == self.world.rank);
        let rank = rank.and_then(|rank| c_int::try_from(rank).ok()).unwrap_or(UNDEFINED);
        Some(Peers::new(frames, there.into(), rank, inter != 0, spread))
    }

    /// The ranks in the world of the group that `group_of` makes of `comm`.
    fn world_ranks(&self, comm: MPI_Comm, group_of: GroupOf) -> Option<Vec<c_int>> {
        let (mut group, mut size) = (self.world.group, 0);
        ok(group_of(comm, &mut group)).ok()?;
        PMPI_Group_size(group, &mut size);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut world = vec![UNDEFINED; ranks.len()];
        let (from, to) = (ranks.as_ptr(), world.as_mut_ptr());
        // SAFETY: two arrays of this number of ranks; our own group, freed once.
        let (code, _) = unsafe {
            let code = PMPI_Group_translate_ranks(group, size, from, self.world.group, to);
            (code, PMPI_Group_free(&raw mut group))
        };
        ok(code).ok().map(|()| world)
    }
}

/// The copy callback of the attribute: a duplicate has the communicator's own strategy, as it has its hints (MPI 4.0, section 7.4.2). If there is
/// none, nothing is copied, and the duplicate finds its peers when they are needed.
pub(crate) unsafe extern "C" fn copied(
    _: MPI_Comm,
    _: c_int,
    _: *mut c_void,
    value: *mut c_void,
    copy: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the value of our attribute, `Peers`; MPI gives valid pointers for the copy and the flag.
    unsafe {
        let of = &*value.cast::<Peers>();
        let strategy = of.strategy();
        *flag = c_int::from(strategy.is_some());
        if let Some(strategy) = strategy {
            let (frames, world, spread) = (of.frames.clone(), of.world.clone(), of.spread.clone());
            let peers = Peers::new(frames, world, of.rank, of.inter, spread);
            peers.set_strategy(strategy);
            *copy.cast::<*const Peers>() = Arc::into_raw(Arc::new(peers));
        }
    }
    SUCCESS
}

/// Gives back the peers that a communicator, which is being freed, keeps as an attribute; returns whether it may still be used.
///
/// # Safety
/// `kept` must be the attribute's value, which is released once.
pub(crate) unsafe fn give_back(comm: MPI_Comm, keyval: c_int, kept: *mut c_void) -> bool {
    // SAFETY: only `make_peers` and `copied` store under our key: a leaked `Arc<Peers>`.
    let peers = unsafe { Arc::from_raw(kept.cast::<Peers>().cast_const()) };
    peers.end();
    FREED.fetch_add(1, Ordering::AcqRel);
    keep(keyval, comm, &peers)
}

/// A communicator that is being freed. A delete callback of the program may still use it, before or after the callback of our attribute, and an
/// attribute that is set meanwhile is never deleted. So the peers are kept here until the call returns.
struct Ending {
    comm: usize,
    /// The keys of our attributes, and the peers.
    kept: Vec<(c_int, Arc<Peers>)>,
}

thread_local! {
    /// What this thread frees: a delete callback may free another communicator. Never dropped, since a program may free communicators and end MPI
    /// when it exits, after the destructors of its threads' variables.
    static ENDING: ManuallyDrop<RefCell<Vec<Ending>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Takes what is kept for a communicator.
fn take(comm: usize) -> Vec<Ending> {
    ENDING.with(|all| all.borrow_mut().extract_if(.., |ending| ending.comm == comm).collect())
}

/// A call that frees a communicator. It ends when this is dropped, even if an error handler of the program throws.
pub(crate) struct Freeing {
    comm: usize,
}

impl Freeing {
    pub(crate) fn new(comm: MPI_Comm) -> Self {
        let comm = comm.key();
        // There may be something if the program jumped out of an earlier attempt.
        drop(take(comm));
        ENDING.with(|all| all.borrow_mut().push(Ending { comm, kept: Vec::new() }));
        Self { comm }
    }

    /// Ends it; returns whether the communicator had peers.
    pub(crate) fn end(self) -> bool {
        take(self.comm).iter().any(|ending| !ending.kept.is_empty())
    }
}

impl Drop for Freeing {
    fn drop(&mut self) {
        drop(take(self.comm));
    }
}

/// Keeps the peers of a communicator if this thread is freeing it; returns whether it is. From then on no other thread may look for its messages.
fn keep(keyval: c_int, comm: MPI_Comm, peers: &Arc<Peers>) -> bool {
    ENDING.with(|all| {
        let mut all = all.borrow_mut();
        let Some(ending) = all.iter_mut().find(|ending| ending.comm == comm.key()) else { return false };
        peers.end();
        ending.kept.push((keyval, Arc::clone(peers)));
        true
    })
}

/// The peers of a communicator that this thread is freeing.
fn kept(keyval: c_int, comm: MPI_Comm) -> Option<Arc<Peers>> {
    ENDING.with(|all| {
        let all = all.borrow();
        let kept = &all.iter().find(|ending| ending.comm == comm.key())?.kept;
        kept.iter().find(|(key, _)| *key == keyval).map(|(_, peers)| Arc::clone(peers))
    })
}
