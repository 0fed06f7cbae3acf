//! The agreement between the processes of a job before they exchange frames.

use crate::error::{Error, guard};
use crate::memory::{self, Answer};
use crate::{mpress_settings, mpress_status};
use mpress::job;

/// The number of numbers that each process contributes to the handshake.
pub const MPRESS_HANDSHAKE_LEN: usize = 134;

const _: () = assert!(MPRESS_HANDSHAKE_LEN == job::WORDS);

/// The length of a mark in bytes.
pub const MPRESS_MARK_LEN: usize = 8;

/// The first half of the handshake of a job: stores at `numbers` the contribution of this process,
/// MPRESS_HANDSHAKE_LEN numbers. All processes must compute the minimum of each number over all of
/// them (an MPI_Allreduce with MPI_UINT64_T and MPI_MIN), and pass the minima to
/// mpress_handshake_mark.
///
/// A process with invalid settings takes part with `settings` NULL: then there is no mark, and no
/// process compresses. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or not freed yet; `numbers` is NULL or writable for MPRESS_HANDSHAKE_LEN
/// numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_handshake_numbers(
    settings: Option<&mpress_settings>,
    numbers: *mut u64,
) -> mpress_status {
    guard(|| {
        let empty = [0; MPRESS_HANDSHAKE_LEN];
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(numbers.cast::<[u64; MPRESS_HANDSHAKE_LEN]>(), "numbers", empty) }?;
        answer.store(job::proposal(settings.map(mpress_settings::get).as_ref()));
        Ok(())
    })
}

/// The second half: stores at `mark` the MPRESS_MARK_LEN bytes by which the processes of this job
/// recognise their frames, if all of them have the same version and settings. `minima` are the
/// MPRESS_HANDSHAKE_LEN minima over all processes. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_DISAGREEMENT if the processes differ; all of them get this result. No process may
/// then send frames. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `minima` is NULL or readable for MPRESS_HANDSHAKE_LEN numbers; `mark` is NULL or writable for
/// MPRESS_MARK_LEN bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_handshake_mark(minima: *const u64, mark: *mut u8) -> mpress_status {
    guard(|| {
        let empty = [0; MPRESS_MARK_LEN];
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(mark.cast::<[u8; MPRESS_MARK_LEN]>(), "mark", empty) }?;
        // SAFETY: guaranteed by the caller.
        let minima = unsafe { memory::slice(minima, MPRESS_HANDSHAKE_LEN, "minima") }?;
        let minima = minima.first_chunk().ok_or_else(|| Error::null("minima"))?;
        let agreed = job::agreement(*minima)
            .map_err(|why| Error::new(mpress_status::Disagreement, why.to_string()))?;
        answer.store(agreed.mark.0);
        Ok(())
    })
}
