//! The handshake of all ranks: whether they may send each other frames, and where they run.

use crate::mpi::{channel::count, channel::test, fatal, sys::*};
use mpress::job::{self, Agreed, LARGEST};
use mpress::{Settings, SettingsError};
use std::{mem::ManuallyDrop, time::Duration, time::Instant};

/// A waiting rank prints a warning after this time, or after half of its patience.
const WARNING: Duration = Duration::from_secs(60);

/// After this time, waiting must yield the processor to ranks that have not arrived yet.
const SPIN: Duration = Duration::from_millis(100);

/// The result of the handshake.
pub(crate) enum Agreement {
    /// All ranks are alike: what they have in common, for each rank the lowest rank on its node, and a number of the hosts ([`job::place`]).
    Reached(Agreed, Vec<c_int>, u64),
    /// The ranks are not alike, for this reason.
    Doubtful(String),
}

/// Determines whether all ranks agree, and where they run, and draws the mark. A rank with a doubt of its own does not agree. Without `patience` it
/// waits without a limit.
pub(crate) fn handshake(
    comm: MPI_Comm,
    settings: &Result<Settings, SettingsError>,
    doubt: Option<String>,
    (rank, size): (c_int, c_int),
    patience: Option<Duration>,
) -> Result<Agreement, c_int> {
    let said = job::proposal(settings.as_ref().ok().filter(|_| doubt.is_none()));
    let place = usize::try_from(rank).map_err(|_| ERR_INTERN)?;
    let ranks = usize::try_from(size).map_err(|_| ERR_INTERN)?;
    // The words of the handshake, then a word for the host of each rank. This rank leaves those of others at the largest value, which never is the
    // minimum.
    let mut words = said.to_vec();
    words.extend((0..ranks).map(|at| if at == place { job::host() } else { LARGEST }));
    let count = count(words.len())?;
    // If ranks do not answer, the operation outlives this function, and so must the arrays.
    let (mine, mut least) = (ManuallyDrop::new(words.clone()), ManuallyDrop::new(words));
    if size > 1 {
        let (from, to, mut request) = (mine.as_ptr().cast(), least.as_mut_ptr().cast(), REQUEST_NULL);
        // SAFETY: two arrays of `count` numbers that live until the operation is complete.
        ok(unsafe { PMPI_Iallreduce(from, to, count, UINT64_T, MIN, comm, &raw mut request) })?;
        match patience {
            Some(patience) => wait_for_all(request, rank, patience)?,
            None => fatal::await_all(Ok(request)),
        }
    }
    let (_, least) = (ManuallyDrop::into_inner(mine), ManuallyDrop::into_inner(least));
    let (least, hosts) = least.split_first_chunk().ok_or(ERR_INTERN)?;
    if let Some(doubt) = doubt {
        return Ok(Agreement::Doubtful(doubt));
    }
    Ok(match (settings, job::agreement(*least)) {
        (Err(error), _) => Agreement::Doubtful(error.to_string()),
        (Ok(_), Ok(agreed)) => Agreement::Reached(agreed, job::nodes(hosts), job::place(hosts)),
        (Ok(_), Err(why)) => Agreement::Doubtful(why.to_string()),
    })
}

/// Waits until all ranks have answered. After `patience` the others are assumed to run without the shim, which is an error.
fn wait_for_all(mut request: MPI_Request, rank: c_int, patience: Duration) -> Result<(), c_int> {
    let start = Instant::now();
    // Only ranks 0 and 1 print, since thousands may wait. Rank 1 prints later, in case rank 0 is missing.
    let first = WARNING.min(patience / 2);
    let mut warning = [first, first + first / 2].into_iter().zip(0..).find(|(_, speaker)| *speaker == rank);
    loop {
        if let Some(done) = test(&mut request) {
            return done.map(drop);
        }
        let waited = start.elapsed();
        if waited > patience {
            // Thousands of ranks may have waited.
            if rank <= 1 {
                say!("mpress: some ranks do not answer: the shim must be loaded in every rank or in none");
            }
            return Err(ERR_OTHER);
        }
        if warning.take_if(|(when, _)| waited > *when).is_some() {
            say!(
                "mpress: rank {rank} has waited {} s in MPI_Init for ranks that are not there yet, or run without the shim; after {} s \
                 this is an error (MPRESS_PATIENCE)",
                waited.as_secs(),
                patience.as_secs()
            );
        }
        if waited < SPIN { std::thread::yield_now() } else { std::thread::sleep(Duration::from_millis(1)) }
    }
}
