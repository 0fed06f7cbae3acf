//! The start of the layer after `MPI_Init`: the handshake, the messages that measure the network, and standby.
//!
//! Frames are used only if the handshake finds all ranks of the world alike ([`mpress::job`]). A rank with invalid settings sends an invalid word, so
//! that all ranks pass their calls on.

use crate::job::{finish, finish::Job, handshake::Agreement, handshake::handshake, profile};
use crate::messages::{
    agreed::Private, context::Context, context::World, datatypes, datatypes::Datatypes, error::raise, peers,
    recorder::Recorder, streams::Streams,
};
use crate::mpi::{
    arguments::Out, channel::Channel, family::Family, fatal, identity, nested, predefined, span::ask_with,
    symbol, sys::*,
};
use crate::operations::{prefetch::Prefetch, state, state::Shim};
use mpress::{
    Engine, Knowledge, Mark, Pending, SameNode, Settings, SettingsError, Strategy, network::Exchange,
    report::Ahead, report::program_name,
};
use mpress_record::Run;
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::{ptr, sync::atomic::AtomicPtr, sync::atomic::Ordering, time::Instant};

/// Setting of UCX: the message length from which on it uses the rendezvous protocol.
const UCX_THRESHOLD: &str = "UCX_RNDV_THRESH";

/// Setting of Open MPI: how often a rank that has no TCP connection yet looks for one, in microseconds.
const OPEN_MPI_TICK: &str = "OMPI_MCA_mpi_event_tick_rate";

/// The MPI's own initialisation, and the handshake after it.
pub(crate) fn starting(init: impl FnOnce() -> c_int) -> c_int {
    let settings = Settings::from_vars(std::env::vars_os());
    let wanted = settings.as_ref().ok().filter(|settings| !settings.disable);
    let for_the_mpi = wanted.and_then(setting_of_the_mpi);
    if let Some((name, value)) = for_the_mpi {
        // SAFETY: programs call this before they start threads that read the environment; MPIs change it in the same call.
        unsafe { std::env::set_var(name, value) };
    }
    let code = init();
    if let Some((name, _)) = for_the_mpi {
        // Programs that this one starts must not inherit it.
        // SAFETY: as above. Threads of the MPI may read the environment: the C library moves entries of its list, and frees nothing.
        unsafe { std::env::remove_var(name) };
    }
    if code != SUCCESS || finish::JOB.get().is_some() {
        return code;
    }
    if let Err(code) = start(settings) {
        return raise(COMM_WORLD, code);
    }
    if state::shared().is_none() {
        symbol::lead(false);
    }
    SUCCESS
}

/// A variable for the MPI itself, and its value, unless the user has set it.
fn setting_of_the_mpi(settings: &Settings) -> Option<(&'static str, &'static str)> {
    let setting = match identity::family() {
        // By default UCX uses the rendezvous protocol also for chunks of long messages.
        Family::Mpich if settings.strategy != Strategy::Off && settings.streams != mpress::Streams::Off => {
            (UCX_THRESHOLD, "128k")
        }
        // By default a rank accepts its first connection up to 10 ms late, and each step of the handshake makes one.
        Family::OpenMpi => (OPEN_MPI_TICK, "100"),
        _ => return None,
    };
    std::env::var_os(setting.0).is_none().then_some(setting)
}

fn start(settings: Result<Settings, SettingsError>) -> Result<(), c_int> {
    let (rank, size) = rank_and_size(COMM_WORLD)?;
    let is_wanted = settings.as_ref().is_ok_and(|settings| !settings.disable);
    let doubt = if is_wanted { identity::doubt() } else { None };
    let patience = settings.as_ref().map_or_else(|_| Settings::default().patience, |known| known.patience);
    let (agreed, nodes, place) = match handshake(COMM_WORLD, &settings, doubt, (rank, size), Some(patience))?
    {
        Agreement::Reached(agreed, nodes, place) => (agreed, nodes, place),
        Agreement::Doubtful(doubt) => {
            if rank == 0 {
                say!("mpress: {doubt}; messages pass through uncompressed");
            }
            return Ok(());
        }
    };
    let Ok(settings) = settings else { return Ok(()) };
    if settings.dump_config && rank == 0 {
        say!("{}", settings.to_toml().trim_end());
    }
    if settings.disable {
        return Ok(());
    }
    name_unknown(&settings, rank);
    describe_machine(&settings, rank);
    let world = make_world(COMM_WORLD, rank, nodes, place, settings.same_node)?;
    let nodes = world.count();
    // A job on one node may still be recorded.
    let is_active = world.frames_any() || settings.trace.is_some() || settings.record.is_some();
    if is_active {
        state::activate(begin(COMM_WORLD, world, &settings, agreed.mark)?);
    } else {
        let settings = settings.clone();
        sleep(Box::new(move || {
            let engine = Engine::new(&settings, &Knowledge::default(), None).with_mark(agreed.mark);
            prepare(world, &settings, engine, Private::none())
        }));
    }
    let wants_words = agreed.wants_words;
    // The calls of a program on one node do not come here.
    let measures = wants_words && is_active;
    if measures {
        profile::measure(size);
    }
    let start = Instant::now();
    let _ = finish::JOB.set(Job { settings, start, rank, ranks: size, nodes, measures, wants_words });
    be_called_at_the_end()
}

/// Names the variables that are no settings. Once, since a program may attach many layers.
pub(crate) fn name_unknown(settings: &Settings, rank: c_int) {
    static SAID: Once = Once::new();
    if let Some(line) = settings.unknown_line().filter(|_| rank == 0) {
        SAID.call_once(|| say!("mpress: {line}"));
    }
}

/// Tells the plans of datatypes what the heuristics say of this machine's memory. If their file cannot be used, rank 0 says why.
pub(crate) fn describe_machine(settings: &Settings, rank: c_int) {
    if let Err(error) = datatypes::use_heuristics(settings)
        && rank == 0
    {
        say!("mpress: {error}");
    }
}

/// Makes the layer for a communicator, on all of its ranks: the network is measured, if needed.
pub(crate) fn begin(comm: MPI_Comm, world: World, settings: &Settings, mark: Mark) -> Result<Shim, c_int> {
    let private = Private::new(comm)?;
    let engine = make_engine(&world, settings, &private)?.with_mark(mark);
    let shim = prepare(world, settings, engine, private)?;
    if let Some(peers) = shim.collective_peers(comm) {
        peers.collectives.begin();
    }
    Ok(shim)
}

/// The engine, with all that is known before the first message. Unreadable files are reported once.
fn make_engine(world: &World, settings: &Settings, private: &Private) -> Result<Engine, c_int> {
    let say = |line: &dyn std::fmt::Display| {
        if world.rank == 0 {
            say!("mpress: {line}");
        }
    };
    let rank = usize::try_from(world.rank).map_err(|_| ERR_INTERN)?;
    let mut messages = Messages { comm: private.comm, bytes: Vec::new() };
    let engine = Engine::start(settings, &world.nodes, world.place, rank, say, &mut messages)?;
    let size = u32::try_from(world.nodes.len()).map_err(|_| ERR_INTERN)?;
    let engine = engine.with_memory(settings, u32::try_from(rank).map_err(|_| ERR_INTERN)?, size);
    let may_stream = identity::family().answers_for_freed_communicators();
    Ok(if may_stream { engine.with_streams(settings) } else { engine })
}

/// The recorder of this rank's calls, if enabled. One rank of each node prints errors.
fn make_recorder(world: &World, settings: &Settings) -> Option<Recorder> {
    let ranks = u32::try_from(world.nodes.len()).ok()?;
    let run = Run::new(&program_name(), ranks, u32::try_from(world.rank).ok()?);
    Recorder::start(settings, &run, world.node(world.rank) == Some(world.rank))
}

/// `MPI_Finalize` first deletes the attributes of `MPI_COMM_SELF`, the latest first. Ours is older than any of the program's, so it is deleted last:
/// the program's own callbacks may still send messages, with the shim active.
fn be_called_at_the_end() -> Result<(), c_int> {
    let mut keyval = KEYVAL_INVALID;
    let (copy, delete, nothing) = (Some(not_copied as _), Some(finish::finish as _), ptr::null_mut());
    // SAFETY: callbacks of the right type, and a valid output pointer.
    unsafe {
        ok(PMPI_Comm_create_keyval(copy, delete, &raw mut keyval, nothing))?;
        ok(PMPI_Comm_set_attr(COMM_SELF, keyval, nothing))?;
        ok(PMPI_Comm_free_keyval(&raw mut keyval)) // the attribute keeps the freed key alive
    }
}

/// The table of the processes. `nodes` has the lowest rank on each rank's node.
pub(crate) fn make_world(
    comm: MPI_Comm,
    rank: c_int,
    nodes: Vec<c_int>,
    place: u64,
    same_node: SameNode,
) -> Result<World, c_int> {
    let mut keyval = KEYVAL_INVALID;
    let group = group_of(comm)?;
    let (copy, delete) = (Some(peers::copied as _), Some(comm_freed as _));
    // SAFETY: callbacks of the right type, and a valid output pointer.
    ok(unsafe { PMPI_Comm_create_keyval(copy, delete, &raw mut keyval, ptr::null_mut()) })?;
    Ok(World { rank, group, nodes, place, same_node, keyval })
}

fn group_of(comm: MPI_Comm) -> Result<MPI_Group, c_int> {
    // SAFETY: a handle, which is a number or an address.
    let mut group = unsafe { std::mem::zeroed() };
    ok(PMPI_Comm_group(comm, &mut group)).map(|()| group)
}

/// Makes the shared state, by local calls.
fn prepare(world: World, settings: &Settings, engine: Engine, private: Private) -> Result<Shim, c_int> {
    let (mut own, mut gibibyte, mut level) = (COMM_NULL, DATATYPE_NULL, 0);
    // Not a duplicate, since that would copy the program's attributes by its own callbacks.
    let mut group = group_of(COMM_SELF)?;
    // SAFETY: a local call with a valid output pointer; our own group, freed once.
    let (created, _) =
        unsafe { (PMPI_Comm_create(COMM_SELF, group, &raw mut own), PMPI_Group_free(&raw mut group)) };
    ok(created)?;
    ok(PMPI_Comm_set_errhandler(own, errors_return()))?;
    ok(PMPI_Type_contiguous(1 << 30, BYTE, &mut gibibyte))?;
    // SAFETY: the type just made.
    ok(unsafe { PMPI_Type_commit(&raw mut gibibyte) })?;
    ok(PMPI_Query_thread(&mut level))?;
    ask_with(own);
    predefined::learn_sizes(own);
    let (family, multiple) = (identity::family(), level == THREAD_MULTIPLE);
    let recorder = make_recorder(&world, settings);
    let pending = Pending::default();
    #[allow(clippy::arc_with_non_send_sync, reason = "its handles are plain values, see `state`")]
    let streams = Arc::new(Streams::new(private.comm, private.free_tags.clone(), pending.clone()));
    let context = Context {
        engine,
        world,
        datatypes: Datatypes::new()?,
        own_comm: own,
        own_turn: Mutex::new(()),
        peers_turn: Mutex::new(()),
        gibibyte,
        receive_memory: Arc::default(),
        pending,
        received: Pending::default(),
        streams,
        private,
        threshold: settings.threshold,
        strategy: settings.strategy,
        reduce: settings.reduce,
        multiple,
        family,
        ahead: Ahead::default(),
        recorder,
        damaged: damaged()?,
    };
    Ok(Shim::new(context, Prefetch::new(settings)))
}

/// The error code of a damaged frame, valid until the MPI is finalized.
fn damaged() -> Result<c_int, c_int> {
    static CODE: OnceLock<Result<c_int, c_int>> = OnceLock::new();
    *CODE.get_or_init(|| {
        let mut code = ERR_OTHER;
        let text = c"mpress: a compressed message arrived damaged".as_ptr().cast_mut();
        ok(PMPI_Add_error_code(ERR_OTHER, &mut code))?;
        // SAFETY: a text that the MPI copies.
        ok(unsafe { PMPI_Add_error_string(code, text) }).map(|()| code)
    })
}

/// The delete callback of our attribute: a communicator is being freed.
unsafe extern "C" fn comm_freed(comm: MPI_Comm, keyval: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the value of our attribute.
    let still_used = unsafe { peers::give_back(comm, keyval, value) };
    if let Some(shim) = state::shared() {
        shim.prefetch.forget_ended(shim);
        if !still_used {
            shim.unexpected.forget_ended(shim, &shim.requests);
        }
    }
    SUCCESS
}

/// Passes a call that frees a communicator.
pub(crate) fn freeing(comm: Out<MPI_Comm>, pass: impl FnOnce() -> c_int) -> c_int {
    let Some(comm) = comm.read() else { return pass() };
    let freeing = peers::Freeing::new(comm);
    let code = pass();
    if freeing.end()
        && let Some(shim) = state::shared()
    {
        shim.unexpected.forget_ended(shim, &shim.requests);
    }
    code
}

/// What makes the shared state, by local calls.
type Make = Box<dyn FnOnce() -> Result<Shim, c_int>>;

/// The function that wakes the shim, if it is on standby.
static ASLEEP: AtomicPtr<Make> = AtomicPtr::new(ptr::null_mut());

/// Puts the shim on standby, in a job without frames, such as one on a single node: calls bypass it until the program commits a datatype that it
/// packs faster than the MPI. Then it becomes active in this process, without telling others: it sends ordinary messages. `make` is called once, or
/// never.
pub(crate) fn sleep(make: Make) {
    ASLEEP.store(Box::into_raw(Box::new(make)), Ordering::Release);
    state::take_part();
}

/// `MPI_Type_commit`.
pub(crate) fn committing(datatype: Out<MPI_Datatype>, pass: impl FnOnce() -> c_int) -> c_int {
    let code = pass();
    if code != SUCCESS || nested() || ASLEEP.load(Ordering::Acquire).is_null() || finish::world_has_ended() {
        return code;
    }
    if datatypes::may_reorder(datatype.get()) {
        let make = ASLEEP.swap(ptr::null_mut(), Ordering::AcqRel);
        if make.is_null() {
            return code; // another thread was faster
        }
        // SAFETY: only `sleep` stores here, a leaked box, and only one thread takes it out.
        let make = unsafe { Box::from_raw(make) };
        // If the MPI refuses a resource, the shim stays inactive.
        if let Ok(shim) = make() {
            state::activate(shim);
            symbol::lead(true);
        }
    }
    code
}

/// Sends the messages that measure the network, over a communicator of all ranks that has no other traffic.
pub(crate) struct Messages {
    comm: MPI_Comm,
    bytes: Vec<u8>,
}

impl Messages {
    fn channel(&self, peer: usize) -> Result<Channel, c_int> {
        let peer = c_int::try_from(peer).map_err(|_| ERR_INTERN)?;
        Ok(Channel { comm: self.comm, peer, tag: 0 })
    }
}

impl Exchange for Messages {
    type Error = c_int;

    fn send(&mut self, to: usize, len: usize) -> Result<(), c_int> {
        self.bytes.resize(len, 0x5a);
        // SAFETY: a buffer of `len` bytes that lives until the message is sent, or the job ends.
        fatal::await_all(unsafe { self.channel(to)?.send(self.bytes.as_ptr(), len, false) });
        Ok(())
    }

    fn receive(&mut self, from: usize, len: usize) -> Result<(), c_int> {
        self.bytes.resize(len, 0x5a);
        // SAFETY: as above.
        fatal::await_all(unsafe { self.channel(from)?.receive(self.bytes.as_mut_ptr(), len) });
        Ok(())
    }

    fn sums(&mut self, numbers: [u64; 2]) -> Result<[u64; 2], c_int> {
        let (mut sums, mut request) = ([0_u64; 2], REQUEST_NULL);
        let (from, to) = (numbers.as_ptr().cast(), sums.as_mut_ptr().cast());
        // SAFETY: two numbers and valid output pointers, which live until the operation is complete, or the job ends.
        let code = unsafe { PMPI_Iallreduce(from, to, 2, UINT64_T, SUM, self.comm, &raw mut request) };
        fatal::await_all(ok(code).map(|()| request));
        Ok(sums)
    }
}
