//! Buffers of the program in the form that the layer takes: an address, a count and a datatype.

use mpi::datatype::DatatypeRef;
use mpi::datatype::traits::{AsDatatype, Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::traits::{Datatype, Equivalence};
use mpress_layer::MPI_Datatype;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// Elements in memory, as address and handles only; the user of a span guarantees the memory.
pub(crate) struct Span<D> {
    pub(crate) at: *mut c_void,
    pub(crate) count: c_int,
    pub(crate) kind: MPI_Datatype,
    /// Keeps the datatype, which may have been made for this span only. Pending operations keep what they need of it.
    _held: D,
}

impl<D: Datatype> Span<D> {
    fn new(at: *mut c_void, count: c_int, datatype: D) -> Self {
        Self { at, count, kind: datatype.as_raw().0 as _, _held: datatype }
    }

    /// A buffer to send from.
    pub(crate) fn of<B: Buffer + AsDatatype<Out = D> + ?Sized>(buffer: &B) -> Self {
        Self::new(buffer.pointer().cast_mut(), buffer.count(), buffer.as_datatype())
    }

    /// A buffer to receive into.
    pub(crate) fn of_mut<B: BufferMut + AsDatatype<Out = D> + ?Sized>(buffer: &mut B) -> Self {
        Self::new(buffer.pointer_mut(), buffer.count(), buffer.as_datatype())
    }

    /// Room for elements of type `Msg`.
    pub(crate) fn of_room<Msg: Equivalence<Out = D>>(room: &mut [MaybeUninit<Msg>]) -> Self {
        let count = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        Self::new(room.as_mut_ptr().cast(), count, Msg::equivalent_datatype())
    }

    /// A partitioned buffer, whose counts are passed separately.
    pub(crate) fn whole<B: PartitionedBuffer + AsDatatype<Out = D> + ?Sized>(buffer: &B) -> Self {
        Self::new(buffer.pointer().cast_mut(), 0, buffer.as_datatype())
    }

    /// A partitioned buffer to receive into.
    pub(crate) fn whole_mut<B: PartitionedBufferMut + AsDatatype<Out = D> + ?Sized>(buffer: &mut B) -> Self {
        Self::new(buffer.pointer_mut(), 0, buffer.as_datatype())
    }
}

impl Span<DatatypeRef<'static>> {
    /// No elements, for a rank that does not send or does not receive.
    pub(crate) fn none() -> Self {
        Self::new(ptr::null_mut(), 0, u8::equivalent_datatype())
    }
}
