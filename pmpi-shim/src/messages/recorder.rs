//! Records the program's calls: its receive calls (`MPRESS_TRACE`), and samples of the messages that it sends (`MPRESS_RECORD`). Without these
//! settings there is no recorder, and a call costs one branch.

mod callsite;

use crate::messages::recorder::callsite::Sites;
use crate::mpi::handle::{Handle, HandleMap};
use crate::mpi::span::{Span, packed_len};
use crate::mpi::{predefined, sys::*};
use mpress::Settings;
use mpress_record::{Call, CallKind, Recorded, Run};
use std::sync::{Arc, Mutex};

/// The recorder of a rank.
pub(crate) struct Recorder {
    pub(crate) files: mpress_record::Recorder,
    /// Whether this rank prints errors: one rank of each node does.
    speaks: bool,
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

/// Source, tag and number of the communicator, as in a trace.
pub(crate) type Asked = (i32, i32, u32);

impl Recorder {
    /// The recorder, if the settings ask for one. `run`: the rank that is recorded.
    pub(crate) fn start(settings: &Settings, run: &Run, speaks: bool) -> Option<Self> {
        let samples = settings.record.as_deref().map(|folder| (folder, settings.record_limit));
        let say = move |line: &str| say(speaks, line);
        let files = mpress_record::Recorder::start(settings.trace.as_deref(), samples, run, say)?;
        let (sites, names, matched) = Default::default();
        Some(Self { files, speaks, sites, names, matched })
    }

    /// Writes everything and closes the files.
    pub(crate) fn finish(&self) -> Recorded {
        self.files.finish(|line| say(self.speaks, line))
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
        let Some(trace) = &self.files.trace else { return };
        trace.record(Call {
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

fn say(speaks: bool, line: &str) {
    if speaks {
        say!("mpress: {line}");
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
