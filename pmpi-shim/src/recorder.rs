//! What is recorded of the program's calls: its receive calls (`MPRESS_TRACE`), and samples of the messages that it sends (`MPRESS_RECORD`).
//! Without these settings there is no recorder, and a call costs one branch.

use crate::callsite::Sites;
use crate::context::Context;
use crate::device;
use crate::handle::{Handle, HandleMap};
use crate::span::{Envelope, Kinds, Layout, Span};
use crate::sys::*;
use mpress::{FLOOR, Kind, Settings};
use mpress_record::{Call, CallKind, Kept, Message, Run, Samples, Trace, Written};
use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{ptr, slice};

/// The recorder of a rank. Where a part of it could not begin, the others do.
pub(crate) struct Recorder {
    tracing: Option<Tracing>,
    sampling: Option<Sampling>,
    /// Whether this rank says what went wrong: one of each node does.
    speaks: bool,
}

struct Tracing {
    trace: Trace,
    sites: Sites,
    /// The names of the predefined datatypes that have been met.
    names: Mutex<HandleMap<Arc<str>>>,
    /// What the program asked for in its matched probes, by the handle of the message that it got.
    matched: Mutex<HandleMap<Asked>>,
    /// Its persistent receives, by their handles.
    persistent: Mutex<HandleMap<Receive>>,
}

/// A receive call, but for its place. Nothing of the MPI's is asked for it again.
struct Receive {
    span: Span,
    /// The name of the datatype.
    name: Arc<str>,
    asked: Asked,
}

struct Sampling {
    samples: Samples,
    folder: PathBuf,
    run: Run,
}

/// Source, tag and number of the communicator, as in a trace.
type Asked = (i32, i32, u32);

/// What came of recording, of one rank.
pub(crate) struct Recorded {
    pub(crate) calls: Written,
    pub(crate) kept: Kept,
    /// Something could not be written.
    pub(crate) failed: bool,
}

impl Recorder {
    /// The recorder that the settings ask for, if they do. `run`: the rank that is recorded.
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
        let sampling = settings.record.as_deref().map(|folder| {
            // The program may change its directory before the samples are written.
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
            Samples::prepare(&folder, run)?;
            Ok(Sampling { samples: Samples::new(settings.record_limit), folder, run: run.clone() })
        });
        Some(Self {
            tracing: tracing.and_then(|tracing| told(tracing, say)),
            sampling: sampling.and_then(|sampling| told(sampling, say)),
            speaks,
        })
    }

    /// Writes everything and closes the files. `settings`: what was asked for.
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
        Recorded { calls: calls.unwrap_or_default(), kept, failed }
    }
}

/// Tells of an error once.
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
            persistent: Mutex::default(),
        })
    }

    fn name(&self, kinds: &Kinds, datatype: MPI_Datatype) -> Arc<str> {
        if kinds.predefined(datatype).is_none() {
            return name_of(datatype); // another type may get the handle
        }
        let mut names = locked(&self.names);
        Arc::clone(names.entry(datatype.key()).or_insert_with(|| name_of(datatype)))
    }

    fn record(&self, kind: CallKind, receive: &Receive) {
        let Receive { span, name, asked: (source, tag, comm) } = receive;
        self.trace.record(Call {
            site: self.sites.here(),
            source: *source,
            tag: *tag,
            count: u64::try_from(span.count).unwrap_or(0),
            datatype: Arc::clone(name),
            buffer: span.ptr.addr() as u64,
            comm: *comm,
            kind,
        });
    }
}

/// Nothing that is kept here is half changed where a thread panics.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// MPI's name of a datatype, or `derivedN` for one of N bytes that has none.
fn name_of(datatype: MPI_Datatype) -> Arc<str> {
    let mut name = [0_u8; 512]; // MPI_MAX_OBJECT_NAME is 64 or 128
    let mut len = 0;
    // SAFETY: a datatype that the caller of an MPI function gave, and places that are large enough.
    let code = unsafe { PMPI_Type_get_name(datatype, name.as_mut_ptr().cast::<c_char>(), &raw mut len) };
    let name = usize::try_from(len).ok().and_then(|len| name.get(..len));
    match name.filter(|name| code == SUCCESS && !name.is_empty()) {
        Some(name) => String::from_utf8_lossy(name).into(),
        None => format!("derived{}", Span::new(ptr::null_mut(), 1, datatype).bytes().unwrap_or(0)).into(),
    }
}

impl Context {
    /// Whether anything is recorded.
    #[inline]
    pub(crate) fn records(&self) -> bool {
        self.recorder.is_some()
    }

    #[inline]
    fn tracing(&self) -> Option<&Tracing> {
        self.recorder.as_ref()?.tracing.as_ref()
    }

    /// Whether receive calls are recorded.
    #[inline]
    pub(crate) fn traces(&self) -> bool {
        self.tracing().is_some()
    }

    /// The program makes this receive call.
    #[inline]
    pub(crate) fn trace(&self, kind: CallKind, message: &Envelope) {
        if let Some(tracing) = self.tracing()
            && let Some(receive) = self.receive(tracing, message)
        {
            tracing.record(kind, &receive);
        }
    }

    /// The program has made a persistent request of this receive.
    #[inline]
    pub(crate) fn trace_init(&self, message: &Envelope, request: MPI_Request) {
        if let Some(tracing) = self.tracing()
            && let Some(receive) = self.receive(tracing, message)
        {
            locked(&tracing.persistent).insert(request.key(), receive);
        }
    }

    /// The program starts a persistent request. Only the receives among them are recorded.
    #[inline]
    pub(crate) fn trace_start(&self, request: MPI_Request) {
        if let Some(tracing) = self.tracing()
            && let Some(receive) = locked(&tracing.persistent).get(&request.key())
        {
            tracing.record(CallKind::Start, receive);
        }
    }

    /// The program frees a request, and the MPI may give its handle to another one.
    #[inline]
    pub(crate) fn forget_start(&self, request: MPI_Request) {
        if let Some(tracing) = self.tracing() {
            locked(&tracing.persistent).remove(&request.key());
        }
    }

    /// A receive, unless its arguments are such that the MPI refuses it.
    #[cold]
    fn receive(&self, tracing: &Tracing, message: &Envelope) -> Option<Receive> {
        let Envelope { span, peer, tag, comm } = *message;
        span.bytes()?;
        let asked = self.asked(peer, tag, comm)?;
        Some(Receive { span, name: tracing.name(&self.kinds, span.datatype), asked })
    }

    fn asked(&self, source: c_int, tag: c_int, comm: MPI_Comm) -> Option<Asked> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = if comm == COMM_WORLD {
            0
        } else {
            *self.all_peers(comm)?.number.get_or_init(|| NEXT.fetch_add(1, Ordering::Relaxed))
        };
        let source = match source {
            ANY_SOURCE => -1,
            PROC_NULL => -2,
            rank => rank,
        };
        Some((source, if tag == ANY_TAG { -1 } else { tag }, number))
    }

    /// A matched probe of the program's has given it this message.
    #[inline]
    pub(crate) fn trace_matched(&self, source: c_int, tag: c_int, comm: MPI_Comm, message: MPI_Message) {
        if let Some(tracing) = self.tracing()
            && let Some(asked) = self.asked(source, tag, comm)
        {
            locked(&tracing.matched).insert(message.key(), asked);
        }
    }

    /// The program receives a message that a matched probe has given it.
    #[inline]
    pub(crate) fn trace_matched_receive(&self, kind: CallKind, span: &Span, message: MPI_Message) {
        if let Some(tracing) = self.tracing() {
            let asked = locked(&tracing.matched).remove(&message.key());
            if let Some(asked) = asked.filter(|_| span.bytes().is_some()) {
                let name = tracing.name(&self.kinds, span.datatype);
                tracing.record(kind, &Receive { span: *span, name, asked });
            }
        }
    }

    /// Whether this message is one that samples are taken of.
    #[inline]
    pub(crate) fn is_sampled(&self, message: &Envelope) -> bool {
        self.sampled(message).is_some()
    }

    /// The same, with the rank of the world that it goes to: messages between two processes, long enough to be compressed.
    fn sampled(&self, message: &Envelope) -> Option<(&Sampling, c_int)> {
        let sampling = self.recorder.as_ref()?.sampling.as_ref()?;
        if message.tag < 0 || message.peer < 0 || message.span.bytes()? < FLOOR {
            return None;
        }
        let peers = self.all_peers(message.comm).filter(|peers| peers.has(message.peer))?;
        let dst = peers.world_rank(message.peer);
        (dst != self.world.rank).then_some((sampling, dst))
    }

    /// The program sends this message, by this call.
    ///
    /// # Safety
    /// `message` must be what the caller of a send function gave.
    #[inline]
    pub(crate) unsafe fn sample(&self, message: &Envelope, call: &'static str) {
        if let Some((sampling, dst)) = self.sampled(message) {
            // SAFETY: the caller vouches for the message.
            unsafe { self.sample_span(sampling, &message.span, (dst, message.tag), call) };
        }
    }

    /// The program sends these elements in a collective call: to this rank of the world, or to several.
    ///
    /// # Safety
    /// `span` must be what the caller of a collective function gave.
    #[inline]
    pub(crate) unsafe fn sample_collective(&self, span: &Span, dst: Option<c_int>) {
        if let Some(sampling) = self.recorder.as_ref().and_then(|recorder| recorder.sampling.as_ref()) {
            // SAFETY: the caller vouches for the span.
            unsafe { self.sample_span(sampling, span, (dst.unwrap_or(-1), -1), "collective") };
        }
    }

    #[cold]
    unsafe fn sample_span(
        &self,
        sampling: &Sampling,
        span: &Span,
        (dst, tag): (c_int, c_int),
        call: &'static str,
    ) {
        let Some(len) = span.bytes().filter(|len| *len >= FLOOR) else { return };
        if self.refused(span) || device::is_device(span.ptr) {
            return;
        }
        let layout = self.kinds.layout(span.datatype);
        let kind = match layout {
            Layout::Contiguous(kind) => kind,
            Layout::Typed => Kind::Other,
        };
        // A process from outside of the world has no rank in it.
        let message = Message { kind, len, src: self.world.rank, dst: dst.max(-1), tag, call };
        sampling.samples.offer(&message, |place| {
            if layout == Layout::Typed {
                // SAFETY: the caller vouches for the span.
                return unsafe { self.gather(span, place) }.is_ok();
            }
            // SAFETY: contiguous elements of `len` bytes, which the program lends until its call returns, at least.
            place.copy_from_slice(unsafe { slice::from_raw_parts(span.ptr.cast::<u8>(), len) });
            true
        });
    }
}
