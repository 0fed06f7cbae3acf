//! Arguments of the calls that have handlers, under the standard's names: a struct per call, generated from `calls.txt` and `functions.txt`. A
//! large-count form uses the struct of its call: a count is an `MPI_Count`, and an array of counts or displacements is [`Numbers`].

#![allow(non_camel_case_types, reason = "the names are those of MPI")]
#![allow(dead_code, reason = "not every handler needs all")]

use crate::mpi::{span::Envelope, span::Span, sys::*};

/// The place of a value: where a call of the program gives a handle, or gets a result.
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// # Safety
    /// This must be an argument of a call of the program that is under way: a place for such a value. Null or `MPI_STATUS_IGNORE` are admitted for what
    /// is only [`read`](Self::read) or [stored](Out::store).
    pub(crate) unsafe fn new(place: *mut T) -> Self {
        Self(place)
    }

    pub(crate) fn ptr(self) -> *mut T {
        self.0
    }

    /// The value; `None` without a place.
    pub(crate) fn read(self) -> Option<T> {
        if self.0.cast() == STATUS_IGNORE {
            return None; // null, or an address without memory
        }
        // SAFETY: what `new` asks for.
        unsafe { self.0.as_ref() }.copied()
    }

    pub(crate) fn get(self) -> T {
        // SAFETY: what `new` asks for.
        unsafe { *self.0 }
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: what `new` asks for.
        unsafe { *self.0 = value }
    }
}

impl Out<MPI_Status> {
    pub(crate) const IGNORED: Self = Self(STATUS_IGNORE);

    /// Stores a status, unless the program ignores statuses. The error field is left unchanged, since calls for a single request do not set it.
    pub(crate) fn store(self, status: &MPI_Status) {
        if let Some(before) = self.read() {
            let mut status = *status;
            status.MPI_ERROR = before.MPI_ERROR;
            self.set(status);
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

/// An array of counts or displacements, or the place of a position, of `int` or of the large type.
#[derive(Clone, Copy)]
pub(crate) enum Numbers {
    Int(*mut c_int),
    Large(*mut MPI_Count),
}

impl Numbers {
    pub(crate) fn addr(self) -> usize {
        match self {
            Self::Int(array) => array.addr(),
            Self::Large(array) => array.addr(),
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.addr() == 0
    }

    /// # Safety
    /// The array must have this entry.
    pub(crate) unsafe fn at(self, index: usize) -> MPI_Count {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Int(array) => (*array.add(index)).into(),
                Self::Large(array) => *array.add(index),
            }
        }
    }

    /// # Safety
    /// The array must have this entry, and be the program's to be written. An `int` must have room for the value.
    pub(crate) unsafe fn set(self, index: usize, value: MPI_Count) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Int(array) => *array.add(index) = c_int::try_from(value).unwrap_or(c_int::MAX),
                Self::Large(array) => *array.add(index) = value,
            }
        }
    }
}

impl From<*const c_int> for Numbers {
    fn from(at: *const c_int) -> Self {
        Self::Int(at.cast_mut())
    }
}

impl From<*const MPI_Count> for Numbers {
    fn from(at: *const MPI_Count) -> Self {
        Self::Large(at.cast_mut())
    }
}

/// The messages of calls, and of others with the same arguments.
macro_rules! messages {
    ($($Call:ident: $peer:ident;)*) => {$(
        impl $Call {
            /// # Safety
            /// They must be the arguments of a call of the program.
            pub(crate) unsafe fn message(&self) -> Envelope {
                // SAFETY: the caller vouches for the arguments.
                let span = unsafe { Span::new(self.buf, self.count, self.datatype) };
                Envelope::new(span, self.$peer, self.tag, self.comm)
            }
        }
    )*};
}

messages! {
    Send: dest;
    Isend: dest;
    Recv: source;
    Irecv: source;
}
