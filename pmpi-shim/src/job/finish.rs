//! The end of the job: the report in `MPI_Finalize`, and the record of decisions.

use crate::job::profile;
use crate::messages::{streams::Arriving, uncompressed};
use crate::mpi::{span::ask_with, sys::*};
use crate::operations::{state, state::Shim};
use mpress::report::{About, InMpi, JobReport, Prediction, Share, communicators, program_name};
use mpress::{Engine, Predict, Record, Settings};
use mpress_record::Recorded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{sync::OnceLock, time::Duration, time::Instant};

/// How long `MPI_Finalize` waits for chunks that belong to no request.
const LAST: Duration = Duration::from_secs(5);

/// What is known of the job from the start.
pub(crate) struct Job {
    pub(crate) settings: Settings,
    pub(crate) start: Instant,
    pub(crate) rank: c_int,
    pub(crate) ranks: c_int,
    pub(crate) nodes: usize,
    /// Whether the program's calls are measured: on all ranks or on none.
    pub(crate) measures: bool,
    /// Whether any rank has a report or a record of decisions to make. If so, all ranks take part in the sums, even if only rank 0 uses them.
    pub(crate) wants_words: bool,
}

/// Set once the ranks have agreed.
pub(super) static JOB: OnceLock<Job> = OnceLock::new();

/// Called at the end of the job, while the MPI is still usable.
pub(crate) unsafe extern "C" fn finish(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    let shim = state::shared();
    let goes_on = SESSIONS.load(Ordering::Acquire) > 0;
    // With sessions, messages are still sent and received, some only after other ranks have left `MPI_Finalize`.
    if let Some(shim) = shim.filter(|_| !goes_on) {
        let _left = end_messages(shim);
    }
    if let (Some(job), Some(recorder)) = (JOB.get(), shim.and_then(|shim| shim.recorder.as_ref())) {
        recorded(job, &recorder.finish());
    }
    if let Some(shim) = shim {
        keep_link(&shim.engine);
    }
    if let Some(job) = JOB.get() {
        // If no rank is reached through frames, the report is empty.
        let unused = shim.is_none().then(Engine::default);
        if let Some(engine) = shim.map(|shim| &shim.engine).or(unused.as_ref()).filter(|_| job.wants_words) {
            let words = shim.map_or([0; 4], |shim| shim.ahead.words());
            report(job, engine, words);
            record(job, engine);
        }
        // All ranks call `MPI_Finalize`, so all arrive here. MPICH 4.0 over UCX and TCP hangs there if a rank that has nothing left to send ends
        // before another (pmodels/mpich#6596). Our messages at the start and for the sums would make that more likely.
        // SAFETY: a communicator of all ranks, each of which is here.
        let _ended_anyway = unsafe { PMPI_Barrier(all_ranks()) };
    }
    WORLD_HAS_ENDED.store(true, Ordering::Release);
    if !goes_on {
        end();
    }
    SUCCESS
}

static WORLD_HAS_ENDED: AtomicBool = AtomicBool::new(false);

/// Whether the world has ended, maybe before a session. From then on `MPI_COMM_SELF` may not be used.
pub(crate) fn world_has_ended() -> bool {
    WORLD_HAS_ENDED.load(Ordering::Acquire)
}

/// Number of sessions that have not ended (MPI 4.0, chapter 11): a process may end its world, and go on with the communicators of a session. Frames
/// still come on them.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn session_beginning(pass: impl FnOnce() -> c_int) -> c_int {
    let code = pass();
    if code == SUCCESS {
        SESSIONS.fetch_add(1, Ordering::AcqRel);
    }
    code
}

/// `MPI_Session_finalize`. The last one that outlives the world ends the shim, while the MPI is still usable.
pub(crate) fn session_ending(pass: impl FnOnce() -> c_int) -> c_int {
    // Before the call: some MPIs end the world in it. A session that began while calls bypassed the shim was not counted.
    let one_less = |sessions: usize| sessions.checked_sub(1);
    let before = SESSIONS.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less);
    if before == Ok(1) && world_has_ended() {
        state::shared().map(end_messages);
        end();
    }
    let code = pass();
    if code != SUCCESS && before.is_ok() {
        SESSIONS.fetch_add(1, Ordering::AcqRel);
    }
    code
}

/// From now on calls are passed on.
fn end() {
    let shim = state::shared();
    state::deactivate();
    if let Some(shim) = shim {
        free(shim);
    }
}

/// Waits for messages that belong to no request of the program; returns whether any are left, which the MPI still reads.
pub(crate) fn end_messages(shim: &Shim) -> bool {
    shim.requests.wait(shim);
    shim.unexpected.forget_all(shim, &shim.requests);
    // The receiver of chunks may already have left `MPI_Finalize`, and their sender may have ended.
    let end = Instant::now() + LAST;
    while shim.streams.end(shim) && Instant::now() < end {
        std::thread::yield_now();
    }
    Arriving::drop_leftovers(shim);
    !shim.streams.is_idle() || shim.streams.has_left() || shim.requests.has_detached()
}

pub(crate) fn free(shim: &Shim) {
    ask_with(COMM_NULL);
    shim.datatypes.free();
    let (mut own, mut gibibyte) = (shim.own_comm, shim.gibibyte);
    // SAFETY: our own handles that are no longer used.
    unsafe {
        PMPI_Type_free(&raw mut gibibyte);
        PMPI_Comm_free(&raw mut own);
    }
    shim.world.free();
}

/// Keeps what is known of the network for later jobs, if asked to.
pub(crate) fn keep_link(engine: &Engine) {
    if let Err(why) = engine.keep_link() {
        say!("mpress: {why}");
    }
}

/// Sums the counters of all ranks; rank 0 prints the report or writes it to its file, if asked to. All ranks take part: the others may not know
/// whether rank 0 was asked to.
fn report(job: &Job, engine: &Engine, mut ahead: [u64; 4]) {
    let settings = &job.settings;
    let mut sum = Share::of(engine);
    let mut passed = uncompressed::words();
    sum_over_ranks(&mut passed);
    if settings.predict != Predict::Off {
        sum_over_ranks(&mut ahead);
    }
    let in_mpi = in_mpi(job);
    if !sum_over_ranks(sum.as_words_mut()) || !settings.wants_report() {
        return;
    }
    let about = About {
        program: program_name(),
        ranks: u64::try_from(job.ranks).unwrap_or(0),
        nodes: job.nodes as u64,
        time: job.start.elapsed(),
        passed: uncompressed::told(&passed),
        prediction: (settings.predict != Predict::Off).then(|| Prediction::of_words(ahead)),
        in_mpi,
    };
    JobReport::new(&about, settings, &sum, engine).deliver(settings, |text| say!("{text}"));
}

/// The time in MPI of all ranks, for rank 0. All ranks take part. `None` if calls are not measured.
fn in_mpi(job: &Job) -> Option<InMpi> {
    if !job.measures {
        return None;
    }
    let (mut peers, lines, [mut calls, mut ns]) = {
        let tables = profile::tables();
        (tables.peers().to_vec(), tables.words(), tables.calls())
    };
    let ranks = gather(job, &[ns.iter().sum()]);
    let lines = communicators(&gather(job, &lines));
    for words in [&mut calls, &mut ns, &mut peers] {
        sum_over_ranks(words);
    }
    let all = profile::CALLS.iter().zip(calls).zip(ns).map(|((name, calls), ns)| (*name, calls, ns));
    Some(InMpi::new(all, lines, &ranks, &peers))
}

/// The words of all ranks in rank order, on rank 0. All ranks must give the same number.
fn gather(job: &Job, words: &[u64]) -> Vec<u64> {
    let ranks = if job.rank == 0 { usize::try_from(job.ranks).unwrap_or(0) } else { 0 };
    let mut all = vec![0; words.len() * ranks];
    let count = c_int::try_from(words.len()).unwrap_or(0);
    let (from, to) = (words.as_ptr().cast(), all.as_mut_ptr().cast());
    // SAFETY: `count` numbers, and at the root room for those of each rank.
    let _incomplete = unsafe { PMPI_Gather(from, count, UINT64_T, to, count, UINT64_T, 0, all_ranks()) };
    all
}

/// Rank 0 writes the choices of the adaptive strategy for the guided one, if asked to. All ranks take part.
fn record(job: &Job, engine: &Engine) {
    // All ranks have the same strategy.
    if !job.settings.strategy.learns() {
        return;
    }
    let mut tally = engine.tally();
    let is_first = sum_over_ranks(tally.as_words_mut());
    let Some(file) = job.settings.guide.as_deref().filter(|_| is_first) else { return };
    if let Err(why) = Record::of(&tally).write(file) {
        say!("mpress: {why}; the decisions are not recorded");
    }
}

/// Rank 0 prints what all ranks have recorded. All ranks have the same settings, so all take part.
fn recorded(job: &Job, here: &Recorded) {
    let mut sum = here.words();
    if sum_over_ranks(&mut sum) {
        let (trace, samples) = (job.settings.trace.as_deref(), job.settings.record.as_deref());
        let lines = Recorded::of_words(sum).lines(trace, samples, job.ranks.unsigned_abs().into());
        lines.iter().for_each(|line| say!("mpress: {line}"));
    }
}

/// A communicator of all ranks: the layer's own, if there is one. On the program's, messages of a collective that failed may be left over.
fn all_ranks() -> MPI_Comm {
    let own = state::shared().map(|shim| shim.private.comm);
    own.filter(|comm| *comm != COMM_NULL).unwrap_or(COMM_WORLD)
}

/// Sums the words over all ranks into those of rank 0; returns whether this is rank 0.
fn sum_over_ranks(words: &mut [u64]) -> bool {
    let mine = words.to_vec();
    let count = c_int::try_from(words.len()).unwrap_or(0);
    let (from, to) = (mine.as_ptr().cast(), words.as_mut_ptr().cast());
    // SAFETY: two arrays of `count` numbers.
    let code = unsafe { PMPI_Reduce(from, to, count, UINT64_T, SUM, 0, all_ranks()) };
    code == SUCCESS && JOB.get().is_some_and(|job| job.rank == 0)
}
