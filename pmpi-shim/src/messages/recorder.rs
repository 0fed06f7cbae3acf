//! Records the program's calls: its receive calls (`MPRESS_TRACE`), and samples of the messages that it sends
//! (`MPRESS_RECORD`). Without these settings there is no recorder, and a call costs one branch.

mod callsite;

use crate::messages::recorder::callsite::Sites;
use crate::mpi::handle::{Handle, HandleMap};
use crate::mpi::predefined;
use crate::mpi::span::{Span, packed_len};
use crate::mpi::sys::*;
use mpress::Settings;
use mpress_record::{Call, CallKind, Kept, Recorded, Run, Samples, Trace};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The recorder of a rank. If one part of it cannot start, the others do.
pub(crate) struct Recorder {
    pub(crate) tracing: Option<Tracing>,
    pub(crate) sampling: Option<Sampling>,
    /// Whether this rank prints errors: one rank of each node does.
    speaks: bool,
}

pub(crate) struct Tracing {
    trace: Trace,
    sites: Sites,
    /// The names of the datatypes seen so far.
    names: Mutex<HandleMap<Arc<str>>>,
    /// Source, tag and communicator of the program's matched probes, by message handle.
    pub(crate) matched: Mutex<HandleMap<Asked>>,
}

/// A receive call, without its call site. Everything asked of the MPI is kept here.
pub(crate) struct Receive {
    pub(crate) span: Span,
    /// The name of the datatype.
    pub(crate) name: Arc<str>,
    pub(crate) asked: Asked,
}

pub(crate) struct Sampling {
    pub(crate) samples: Samples,
    folder: PathBuf,
    run: Run,
}

/// Source, tag and number of the communicator, as in a trace.
pub(crate) type Asked = (i32, i32, u32);

impl Recorder {
    /// The recorder, if the settings ask for one. `run`: the rank that is recorded.
    pub(crate) fn start(settings: &Settings, run: &Run, speaks: bool) -> Option<Self> {
        if settings.trace.is_none() && settings.record.is_none() {
            return None;
        }
        let say = move |why: &str| {
            if speaks {
                say!("mpress: {why}");
            }
        };
        let tracing = settings.trace.as_deref().map(|folder| Tracing::start(folder, run, say));
        let sampling = settings.record.as_ref().map(|folder| {
            Samples::prepare(folder, run)?;
            let samples = Samples::new(settings.record_limit);
            Ok(Sampling { samples, folder: folder.clone(), run: run.clone() })
        });
        Some(Self {
            tracing: tracing.and_then(|tracing| told(tracing, say)),
            sampling: sampling.and_then(|sampling| told(sampling, say)),
            speaks,
        })
    }

    /// Writes everything and closes the files. `settings`: those of the recorder.
    pub(crate) fn finish(&self, settings: &Settings) -> Recorded {
        let calls = self.tracing.as_ref().map(|tracing| tracing.trace.finish());
        let mut failed = settings.trace.is_some() && calls.as_ref().is_none_or(|calls| calls.error.is_some());
        let mut kept = Kept::default();
        if let Some(Sampling { samples, folder, run }) = &self.sampling {
            kept = samples.kept();
            if let Err(why) = samples.write(folder, run) {
                failed = true;
                (kept.messages, kept.bytes) = (0, 0);
                if self.speaks {
                    say!("mpress: {why}; the samples of messages are not complete");
                }
            }
        } else {
            failed |= settings.record.is_some();
        }
        Recorded { calls: calls.unwrap_or_default(), kept, failed: failed.into() }
    }
}

/// Reports an error once.
fn told<T>(result: Result<T, String>, say: impl Fn(&str)) -> Option<T> {
    result.inspect_err(|why| say(&format!("{why}; nothing is recorded there"))).ok()
}

impl Tracing {
    fn start(folder: &Path, run: &Run, say: impl Fn(&str) + Send + 'static) -> Result<Self, String> {
        Ok(Self {
            trace: Trace::start(folder, run, say)?,
            sites: Sites::default(),
            names: Mutex::default(),
            matched: Mutex::default(),
        })
    }

    pub(crate) fn name(&self, datatype: MPI_Datatype) -> Arc<str> {
        if predefined::kind(datatype).is_none() {
            return name_of(datatype); // the handle may be reused for another type
        }
        let mut names = crate::locked(&self.names);
        Arc::clone(names.entry(datatype.key()).or_insert_with(|| name_of(datatype)))
    }

    pub(crate) fn record(&self, kind: CallKind, receive: &Receive) {
        let Receive { span, name, asked: (source, tag, comm) } = receive;
        self.trace.record(Call {
            site: self.sites.here(),
            source: *source,
            tag: *tag,
            count: u64::try_from(span.count()).unwrap_or(0),
            datatype: Arc::clone(name),
            buffer: span.ptr().addr() as u64,
            comm: *comm,
            kind,
        });
    }
}

/// MPI's name of a datatype, or `derivedN` for an unnamed one of N bytes.
fn name_of(datatype: MPI_Datatype) -> Arc<str> {
    // SAFETY: a datatype of an MPI function's caller, and room for the longest name.
    let name = written(|name, len| unsafe { PMPI_Type_get_name(datatype, name, len) });
    match name.filter(|name| !name.is_empty()) {
        Some(name) => name.into(),
        None => format!("derived{}", packed_len(1, datatype).unwrap_or(0)).into(),
    }
}
