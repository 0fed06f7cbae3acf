//! Arguments of the calls that have handlers, under the standard's names: a struct per call, generated from
//! `calls.txt` and `functions.txt`. A large-count form uses the struct of its call: a count is an
//! `MPI_Count`, and an array of counts or displacements is [`Counts`].

#![allow(non_camel_case_types, reason = "the names are those of MPI")]
#![allow(dead_code, reason = "not every handler needs all")]

use crate::mpi::span::{Envelope, Span};
use crate::mpi::sys::*;
use std::ffi::{c_char, c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/arguments.rs"));

/// An array of counts or displacements, of `int` or of the large type.
#[derive(Clone, Copy)]
pub(crate) enum Counts {
    Int(*const c_int),
    Large(*const MPI_Count),
}

impl Counts {
    pub(crate) fn addr(self) -> usize {
        match self {
            Self::Int(array) => array.addr(),
            Self::Large(array) => array.addr(),
        }
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
}

/// The position in a packed buffer, as `int` or of the large type.
#[derive(Clone, Copy)]
pub(crate) enum Position {
    Int(*mut c_int),
    Large(*mut MPI_Count),
}

impl Position {
    /// # Safety
    /// The position must be readable, or null.
    pub(crate) unsafe fn get(self) -> Option<MPI_Count> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Int(place) => place.as_ref().map(|at| (*at).into()),
                Self::Large(place) => place.as_ref().copied(),
            }
        }
    }

    /// # Safety
    /// The position must be writable. For a position of type `int`, the value must fit.
    pub(crate) unsafe fn set(self, at: MPI_Count) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Int(place) => *place = c_int::try_from(at).unwrap_or(c_int::MAX),
                Self::Large(place) => *place = at,
            }
        }
    }
}

/// Makes these from the arguments of both forms of a call.
macro_rules! of_both_forms {
    ($($Name:ident::$Form:ident($given:ty);)*) => {$(
        impl From<$given> for $Name {
            fn from(at: $given) -> Self {
                Self::$Form(at)
            }
        }
    )*};
}

of_both_forms! {
    Counts::Int(*const c_int);
    Counts::Large(*const MPI_Count);
    Position::Int(*mut c_int);
    Position::Large(*mut MPI_Count);
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
