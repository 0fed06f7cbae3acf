//! A shim as a plugin that measures the network with an MPI to which this command is not linked: `pmpi-shim/src/job/calibrate.rs`. This is the only
//! unsafe code of the command.

#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use crate::detect::{self, Abi};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use mpress::network::survey::What;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: {why}", path.display())]
    Load { path: PathBuf, why: String },
    #[error("{}: not an MPI library that mpress supports (Open MPI 4 or 5, MPICH, Intel MPI, or the ABI of MPI 5)", .0.display())]
    Unknown(PathBuf),
    #[error("{}: this shim is of another version than the command", .0.display())]
    Version(PathBuf),
    #[error("the MPI returned error code {0}")]
    Mpi(c_int),
}

/// The place of this rank, in the shim's layout.
#[repr(C)]
struct Place {
    rank: c_int,
    ranks: c_int,
    nodes: c_int,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) what: What,
    /// The length of the messages.
    pub(super) bytes: u64,
    pub(super) value: f64,
}

/// A loaded MPI.
pub(super) struct MpiLibrary {
    library: Library,
    abi: Abi,
}

impl MpiLibrary {
    pub(super) fn abi(&self) -> Abi {
        self.abi
    }
}

/// Loads the library of an MPI, by its path or by a name that the loader finds.
pub(super) fn load(path: &Path) -> Result<MpiLibrary, Error> {
    let abi = |path: &Path| detect::by_library(path.file_name()?.to_str()?);
    let known = abi(path).or_else(|| abi(&path.canonicalize().ok()?));
    let abi = known.ok_or_else(|| Error::Unknown(path.to_owned()))?;
    // Open MPI loads components that look up its symbols in the global scope.
    Ok(MpiLibrary { library: open(path, RTLD_GLOBAL)?, abi })
}

fn open(path: &Path, scope: c_int) -> Result<Library, Error> {
    // SAFETY: the file is an MPI or a shim, by its name and place or because the user says so. Code that runs when the two are loaded also runs in
    // every program under `mpress run`.
    unsafe { Library::open(Some(path), RTLD_NOW | scope) }.map_err(|error| wrong(path, &error))
}

/// The loader's message, without the names of its functions.
fn wrong(path: &Path, error: &libloading::Error) -> Error {
    let source = std::error::Error::source(error);
    let why = source.map_or_else(|| error.to_string(), ToString::to_string);
    Error::Load { path: path.to_owned(), why }
}

/// The MPI of this process. Its threads and handlers outlive this command's use of it, so its code must stay loaded.
static MPI: OnceLock<Library> = OnceLock::new();

/// A function of the MPI, for the shim; null if it does not exist.
///
/// # Safety
/// `name` must be a C string.
unsafe extern "C" fn find(name: *const c_char) -> *mut c_void {
    type Function = unsafe extern "C" fn();
    // SAFETY: guaranteed by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the shim calls each function with the type that belongs to its name.
    let function = MPI.get().and_then(|mpi| unsafe { mpi.get::<Function>(name.to_bytes_with_nul()) }.ok());
    function.map_or(std::ptr::null_mut(), |function| *function as *mut c_void)
}

type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Attach = unsafe extern "C" fn(Find, Option<unsafe extern "C" fn()>);
type Begin = unsafe extern "C" fn(*mut Place) -> c_int;
type Network = unsafe extern "C" fn(Hear, *mut c_void) -> c_int;
type End = unsafe extern "C" fn() -> c_int;
type Hear = unsafe extern "C" fn(*mut c_void, what: c_int, bytes: u64, value: f64);

/// An initialised MPI; dropping this finalises it.
pub(super) struct Session {
    network: Network,
    end: End,
    place: Place,
    /// MPI calls are restricted to the thread that began.
    here: PhantomData<*mut ()>,
}

impl Session {
    /// Loads the shim at `path` and has it initialise the MPI.
    pub(super) fn begin(path: &Path, mpi: MpiLibrary) -> Result<Self, Error> {
        let library = open(path, RTLD_LOCAL)?;
        let wrong = |_| Error::Version(path.to_owned());
        // SAFETY: functions of these names have these types in the shim.
        let (attach, begin, network, end) = unsafe {
            (
                *library.get::<Attach>(b"mpress_shim_attach\0").map_err(wrong)?,
                *library.get::<Begin>(b"mpress_calibrate_2_begin\0").map_err(wrong)?,
                *library.get::<Network>(b"mpress_calibrate_2_network\0").map_err(wrong)?,
                *library.get::<End>(b"mpress_calibrate_2_end\0").map_err(wrong)?,
            )
        };
        let _first = MPI.set(mpi.library);
        // SAFETY: a function of this type, which can be called at any time; the shim receives no calls of a program here.
        unsafe { attach(find, None) };
        // Its code is called until the end of the process.
        std::mem::forget(library);
        let mut place = Place { rank: 0, ranks: 0, nodes: 0 };
        // SAFETY: a place for the result; this command makes the call only once.
        match unsafe { begin(&raw mut place) } {
            0 => Ok(Self { network, end, place, here: PhantomData }),
            code => Err(Error::Mpi(code)),
        }
    }

    /// Whether this is rank 0, which receives the measurements.
    pub(super) fn is_first(&self) -> bool {
        self.place.rank == 0
    }

    pub(super) fn ranks(&self) -> c_int {
        self.place.ranks
    }

    pub(super) fn nodes(&self) -> c_int {
        self.place.nodes
    }

    /// Measures the network; all ranks do so at the same time.
    pub(super) fn measure(&self, mut hear: &mut dyn FnMut(Measurement)) -> Result<(), Error> {
        unsafe extern "C" fn pass_on(context: *mut c_void, what: c_int, bytes: u64, value: f64) {
            // SAFETY: the context given below, which nothing else uses during the call.
            let hear = unsafe { &mut *context.cast::<&mut dyn FnMut(Measurement)>() };
            if let Some(what) =
                [What::Alone, What::Together].into_iter().find(|known| *known as c_int == what)
            {
                hear(Measurement { what, bytes, value });
            }
        }
        // SAFETY: `begin` has been called; `pass_on` with the context that it expects, which outlives the call.
        match unsafe { (self.network)(pass_on, (&raw mut hear).cast()) } {
            0 => Ok(()),
            code => Err(Error::Mpi(code)),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: `begin` has been called, and no call follows. The MPI reports its errors itself.
        unsafe { (self.end)() };
    }
}
