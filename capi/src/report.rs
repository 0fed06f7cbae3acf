//! The statistics of an engine, as numbers and as a report.

use crate::error::{Error, guard};
use crate::memory::{self, Answer};
use crate::{mpress_engine, mpress_status};
use mpress::Report;
use mpress::report::{About, JobReport, Share};
use std::ffi::{c_char, c_int};
use std::ptr;
use std::time::Duration;

/// The statistics of one engine over all messages so far.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct mpress_stats {
    /// Messages for which mpress_engine_encode was called.
    pub messages: u64,
    /// Their bytes before compression.
    pub raw_bytes: u64,
    /// Their bytes as sent: those of the frame, or of the unchanged message.
    pub wire_bytes: u64,
    /// Nanoseconds spent encoding.
    pub encode_ns: u64,
    /// Frames decoded.
    pub decoded: u64,
    /// Bytes of the messages in them.
    pub decoded_bytes: u64,
    /// Nanoseconds spent decoding.
    pub decode_ns: u64,
}

/// The job described by a report.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct mpress_job {
    /// The name of the program, in UTF-8; NULL if unknown.
    pub program: *const c_char,
    /// Number of processes.
    pub ranks: u64,
    /// Number of nodes.
    pub nodes: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// The formats of a report.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mpress_report_form {
    /// Text: the totals and the savings.
    Summary = 1,
    /// Text: all statistics.
    Full = 2,
    /// JSON, for the command `mpress report`.
    Json = 3,
}

/// Stores in `*stats` the engine's statistics so far. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT; `*stats` is all zeros then.
///
/// # Safety
/// `engine` is NULL or not freed yet; `stats` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_stats(
    engine: Option<&mpress_engine>,
    stats: *mut mpress_stats,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(stats, "stats", mpress_stats::default()) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        let total = engine.engine.stats().total();
        answer.store(mpress_stats {
            messages: total.messages,
            raw_bytes: total.raw_bytes,
            wire_bytes: total.wire_bytes,
            encode_ns: total.encode_ns,
            decoded: total.decoded,
            decoded_bytes: total.decoded_bytes,
            decode_ns: total.decode_ns,
        });
        Ok(())
    })
}

/// Stores all counters of the engine at `counters`, and their number in `*count`, which is constant
/// for a given library. For a report about a job, sum them over its processes, element by element,
/// with wrap-around (MPI_UINT64_T and MPI_SUM), and pass the sums to mpress_engine_report. With
/// `counters` NULL and `room` 0 this only stores the number, and returns MPRESS_STATUS_ROOM.
/// Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ROOM if `room` is too small: `*count` is the number, and nothing was written.
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `engine` is NULL or not freed yet; `counters` is writable for `room` numbers, or NULL if `room`
/// is 0; `count` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_counters(
    engine: Option<&mpress_engine>,
    counters: *mut u64,
    room: usize,
    count: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(count, "count", 0) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        let share = Share::of(&engine.engine);
        let words = share.as_words();
        answer.store(words.len());
        if room < words.len() {
            return Err(Error::room(size_of_val(words), room.saturating_mul(size_of::<u64>())));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { memory::room_for(counters, words.len(), "counters") }?.write_copy_of_slice(words);
        Ok(())
    })
}

/// Creates a report. `sums` are the `count` sums of mpress_engine_counters over all processes of
/// the job; if NULL, the report is about this process only. `job` may be NULL: then it is called
/// "unknown", with one rank, one node, and the time since the creation of the engine. `form` is an
/// mpress_report_form. Free `*text` with mpress_text_free; on an error it is NULL. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT, also if `count` is not the number from mpress_engine_counters, or the
/// seconds are negative or not a number.
///
/// # Safety
/// `engine` is NULL or not freed yet. `job` is NULL or readable, and its program NULL or a
/// zero-terminated string. `sums` is NULL or readable for `count` numbers; `text` is NULL or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_engine_report(
    engine: Option<&mpress_engine>,
    job: Option<&mpress_job>,
    sums: *const u64,
    count: usize,
    form: c_int,
    text: *mut *mut c_char,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(text, "text", ptr::null_mut()) }?;
        let engine = engine.ok_or_else(|| Error::null("engine"))?;
        let mut sum = Share::of(&engine.engine);
        if !sums.is_null() {
            // SAFETY: guaranteed by the caller.
            let sums = unsafe { memory::slice(sums, count, "sums") }?;
            let words = sum.as_words_mut();
            if sums.len() != words.len() {
                let text = format!("there are {} counters, count is {count}", words.len());
                return Err(Error::argument(text));
            }
            words.copy_from_slice(sums);
        }
        let mut about = About {
            program: "unknown".into(),
            ranks: 1,
            nodes: 1,
            time: engine.start.elapsed(),
            ..About::default()
        };
        if let Some(job) = job {
            if !job.program.is_null() {
                // SAFETY: guaranteed by the caller.
                about.program =
                    unsafe { memory::text(job.program, "program") }?.to_string_lossy().into_owned();
            }
            let wrong = |_| Error::argument(format!("no job lasts {} seconds", job.seconds));
            about.time = Duration::try_from_secs_f64(job.seconds).map_err(wrong)?;
            (about.ranks, about.nodes) = (job.ranks, job.nodes);
        }
        let report = JobReport::new(&about, &engine.settings, &sum, &engine.engine);
        let known = [mpress_report_form::Summary, mpress_report_form::Full, mpress_report_form::Json];
        let known = known.into_iter().find(|known| *known as c_int == form);
        let form = known
            .ok_or_else(|| Error::argument(format!("form is {form}, which is not an mpress_report_form")))?;
        answer.give_text(match form {
            mpress_report_form::Summary => report.text(Report::Summary),
            mpress_report_form::Full => report.text(Report::Full),
            mpress_report_form::Json => {
                report.to_json().map_err(|why| Error::new(mpress_status::Internal, why))?
            }
        })
    })
}
