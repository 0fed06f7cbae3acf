//! Records the program's calls: its receive calls (`MPRESS_TRACE`), and samples of the messages that it sends (`MPRESS_RECORD`). Without these
//! settings there is no recorder, and a call costs one branch.

use crate::mpi::{handle::Handle, handle::HandleMap, predefined, span::Span, span::packed_len, sys::*};
use mpress::Settings;
use mpress_record::{Call, CallKind, Recorded, Run};
use std::{ffi::CStr, path::Path, sync::Arc, sync::Mutex};

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

// The unwinder that Rust's own panics use (Itanium C++ ABI, "Exception Handling", level I).
unsafe extern "C" {
    fn _Unwind_Backtrace(
        step: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// `_URC_NO_REASON`: go on to the next frame.
const GO_ON: c_int = 0;
/// `_URC_NORMAL_STOP`
const STOP: c_int = 4;

/// Greatest number of frames looked at. Between the program and us are frames of Fortran bindings and of tools.
const DEPTH: usize = 32;

/// The bits from this one on are the number of the library, 0 for the executable.
const LIBRARY: u32 = 48;

/// How the names of libraries begin whose calls are not the program's.
const NOT_THE_PROGRAM: [&str; 3] = ["libmpress", "libmpi", "libfmpich"];

/// The known call sites: for each place in the program where a call was made, the return address of the first stack frame that is neither in mpress
/// nor in the MPI, as an offset from the load address of its file. Fortran calls come through a library of the MPI.
#[derive(Default)]
pub(crate) struct Sites(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// By return address; `None` for an address outside the program.
    sites: HandleMap<Option<u64>>,
    /// Load addresses of libraries that calls came from.
    libraries: Vec<usize>,
}

struct Search<'a> {
    known: &'a mut Known,
    depth: usize,
    found: Option<u64>,
}

impl Sites {
    /// The site of the current call of this thread, 0 if it is not found.
    pub(crate) fn here(&self) -> u64 {
        let mut known = crate::locked(&self.0);
        let mut search = Search { known: &mut known, depth: 0, found: None };
        // SAFETY: `step` gets this search, which lives until the function returns, and contexts that the unwinder passes.
        unsafe { _Unwind_Backtrace(step, (&raw mut search).cast()) };
        search.found.unwrap_or(0)
    }
}

extern "C" fn step(context: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: the search that `here` passed, and the unwinder's own context.
    let (search, address) = unsafe { (&mut *search.cast::<Search<'_>>(), _Unwind_GetIP(context)) };
    search.depth += 1;
    search.found = search.known.site(address);
    if search.found.is_some() || search.depth >= DEPTH { STOP } else { GO_ON }
}

impl Known {
    fn site(&mut self, address: usize) -> Option<u64> {
        if let Some(site) = self.sites.get(&address) {
            return *site;
        }
        let site = self.find(address);
        self.sites.insert(address, site);
        site
    }

    fn find(&mut self, address: usize) -> Option<u64> {
        // The call is before the return address, which may be the end of a function.
        let (base, name) = object(address.checked_sub(1)?)?;
        let library = if executable() == Some(base) {
            0
        } else {
            let name = Path::new(&name).file_name()?.to_str()?;
            if NOT_THE_PROGRAM.iter().any(|front| name.starts_with(front)) {
                return None;
            }
            let at = self.libraries.iter().position(|known| *known == base).unwrap_or_else(|| {
                self.libraries.push(base);
                self.libraries.len() - 1
            });
            at as u64 + 1
        };
        Some(library << LIBRARY | (address - base) as u64)
    }
}

/// Load address and name of the file that contains this address.
fn object(address: usize) -> Option<(usize, String)> {
    // SAFETY: a C struct of pointers and integers; all zero is valid.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address, and a valid output pointer.
    if unsafe { libc::dladdr(address as *const c_void, &raw mut found) } == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string of the loader.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some((found.dli_fbase.addr(), name.to_string_lossy().into_owned()))
}

/// Load address of the executable, from the address of its program headers that the kernel provides.
fn executable() -> Option<usize> {
    // SAFETY: no precondition.
    let table = unsafe { libc::getauxval(libc::AT_PHDR) };
    object(usize::try_from(table).ok()?).map(|(base, _)| base)
}
