//! The shim as a plugin that measures the network by an MPI this command is not linked to: `pmpi-shim/src/calibrate.rs`.
//! The only unsafe code of this command.

#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}: {why}", path.display())]
    Load { path: PathBuf, why: String },
    #[error("the MPI gave error {0}")]
    Mpi(c_int),
}

/// Where this rank is, as the shim has it.
#[repr(C)]
struct Place {
    rank: c_int,
    ranks: c_int,
    nodes: c_int,
    /// The shim's own.
    world: *mut c_void,
}

/// Something that was measured, as the shim has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Raw {
    what: c_int,
    peers: c_int,
    bytes: u64,
    value: f64,
}

/// Something that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measurement {
    pub(super) what: What,
    /// The number of the peer class.
    pub(super) peers: u8,
    /// The length of the messages.
    pub(super) bytes: u64,
    pub(super) value: f64,
}

/// What a measured value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Microseconds that a message took one way, while no one else sent.
    Alone,
    /// MB/s that a rank received while all ranks of the sending nodes sent.
    Together,
}

impl Measurement {
    fn of(raw: Raw) -> Option<Self> {
        let what = [What::Alone, What::Together];
        let what = *what.get(usize::try_from(raw.what).ok()?)?;
        Some(Self { what, peers: u8::try_from(raw.peers).ok()?, bytes: raw.bytes, value: raw.value })
    }
}

type Begin = unsafe extern "C" fn(*mut Place) -> c_int;
type Network = unsafe extern "C" fn(*const Place, Hear, *mut c_void) -> c_int;
type End = unsafe extern "C" fn(*mut Place) -> c_int;
type Hear = unsafe extern "C" fn(*mut c_void, *const Raw);

/// An MPI at work, from the initialisation to the end when this is dropped.
pub(super) struct Session {
    network: Network,
    end: End,
    place: Place,
    /// MPI is for the thread that began.
    here: PhantomData<*mut ()>,
}

impl Session {
    /// Loads the shim and has it initialise its MPI.
    pub(super) fn begin(path: &Path) -> Result<Self, Error> {
        let wrong = |error: libloading::Error| Error::Load { path: path.to_owned(), why: why(&error) };
        // Open MPI loads parts of its own that look for its symbols among those of all.
        // SAFETY: the file is the shim of an MPI, by its name and place or by the word of the user: what runs when the two are
        // loaded runs in every program under `mpress run` as well.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map_err(wrong)?;
        // SAFETY: functions of these names have these types in the shim.
        let (begin, network, end) = unsafe {
            (
                *library.get::<Begin>(b"mpress_calibrate_begin\0").map_err(wrong)?,
                *library.get::<Network>(b"mpress_calibrate_network\0").map_err(wrong)?,
                *library.get::<End>(b"mpress_calibrate_end\0").map_err(wrong)?,
            )
        };
        // An MPI leaves threads and handlers behind: its code must stay.
        std::mem::forget(library);
        let mut place = Place { rank: 0, ranks: 0, nodes: 0, world: std::ptr::null_mut() };
        // SAFETY: a place for the answer; this command calls it once.
        match unsafe { begin(&raw mut place) } {
            0 => Ok(Self { network, end, place, here: PhantomData }),
            code => Err(Error::Mpi(code)),
        }
    }

    /// Whether this is rank 0, which hears of the measurements.
    pub(super) fn is_first(&self) -> bool {
        self.place.rank == 0
    }

    pub(super) fn ranks(&self) -> c_int {
        self.place.ranks
    }

    pub(super) fn nodes(&self) -> c_int {
        self.place.nodes
    }

    /// Measures; all ranks do so at the same time.
    pub(super) fn measure(&self, mut hear: &mut dyn FnMut(Measurement)) -> Result<(), Error> {
        unsafe extern "C" fn pass_on(context: *mut c_void, raw: *const Raw) {
            // SAFETY: the context given below, which nothing else uses during the call, and a measurement of the shim's.
            let (hear, raw) = unsafe { (&mut *context.cast::<&mut dyn FnMut(Measurement)>(), *raw) };
            // A kind of measurement that this version does not know is none of its business.
            if let Some(measurement) = Measurement::of(raw) {
                hear(measurement);
            }
        }
        // SAFETY: the place that `begin` has filled; `pass_on` with the context it expects, which outlives the call.
        match unsafe { (self.network)(&raw const self.place, pass_on, (&raw mut hear).cast()) } {
            0 => Ok(()),
            code => Err(Error::Mpi(code)),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the place that `begin` has filled; nothing follows. What the MPI has to complain of, it says itself.
        unsafe { (self.end)(&raw mut self.place) };
    }
}

/// What the loader says, without the names of its functions.
fn why(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}
