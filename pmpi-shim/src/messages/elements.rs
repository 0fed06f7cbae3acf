//! The elements of a message in memory: their layout, copies of them, and byte spans for the MPI to send or receive.

use crate::messages::{context::Context, datatypes, error::truncated};
use crate::mpi::span::{ByteSpan, Layout, Made, OwnedType, Span};
use crate::mpi::{device, predefined, real, sys::*};
use mpress::{Buffer, FrameError, Kind, waiting};
use mpress_datatype::{Plan, Source, Target};
use std::{mem::MaybeUninit, ops::RangeInclusive, ptr, slice};

/// Shorter messages gain nothing; for longer ones each copy would need new memory from the system.
const WORTH_A_COPY: RangeInclusive<usize> = 32 << 10..=64 << 20;

impl Context {
    /// The layout of a span's elements. Those in a GPU's memory do not count as contiguous.
    pub(crate) fn layout(&self, span: &Span) -> Layout {
        let Layout { contiguous, kind } = self.host_layout(span.datatype());
        Layout { contiguous: contiguous && !device::is_device(span.ptr()), kind }
    }

    /// The layout, assuming host memory.
    pub(crate) fn host_layout(&self, datatype: MPI_Datatype) -> Layout {
        if let Some(kind) = predefined::kind(datatype) {
            return Layout { contiguous: true, kind };
        }
        let kept = self.datatypes.known(datatype);
        let known = kept.as_ref().and_then(|kept| kept.as_ref().as_ref());
        let unknown = Layout { contiguous: false, kind: Kind::Other };
        known.map_or(unknown, |known| Layout { contiguous: known.is_contiguous(), kind: known.kind })
    }

    /// How to pack elements that are not contiguous; `None` if only the MPI knows, or may access them.
    pub(crate) fn plan(&self, span: &Span) -> Option<Plan> {
        if predefined::kind(span.datatype()).is_some() || device::is_device(span.ptr()) {
            return None;
        }
        // For absolute addresses it is not known whether the memory is a GPU's.
        if span.ptr().is_null() && device::is_any() {
            return None;
        }
        let kept = self.datatypes.known(span.datatype())?;
        let known = kept.as_ref().as_ref()?;
        let plan = datatypes::plan(&known.datatype, usize::try_from(span.count()).ok()?)?;
        let first = span.ptr().cast::<u8>().wrapping_offset(plan.reach().start);
        (!device::is_device(first.cast())).then_some(plan)
    }

    /// Whether the memory order of elements of `len` bytes differs from that of the stream, so that packing them here is worth a copy.
    pub(crate) fn reordered(&self, span: &Span, len: usize) -> bool {
        WORTH_A_COPY.contains(&len) && self.plan(span).is_some_and(|plan| plan.reorders())
    }

    /// Contiguous elements as bytes, so that a message may end within an element; `None` for others.
    pub(crate) fn as_bytes(&self, span: &Span) -> Option<Span> {
        if !self.host_layout(span.datatype()).contiguous {
            return None;
        }
        let count = MPI_Count::try_from(span.bytes()?).ok()?;
        // SAFETY: the same memory; the span's own promise.
        Some(unsafe { Span::new(span.ptr(), count, BYTE) })
    }

    /// Whether the MPI refuses a span: a negative count, a datatype that is invalid or not committed, or elements without memory (absolute addresses
    /// use `MPI_BOTTOM`). The MPI itself reports the error, in the program's own call.
    pub(crate) fn refused(&self, span: &Span) -> bool {
        if predefined::kind(span.datatype()).is_some() {
            return span.count() < 0 || span.ptr().is_null() && span.count() > 0;
        }
        let Some(bytes) = span.bytes() else { return true };
        let is_nowhere = span.ptr().is_null() && bytes > 0;
        let (ptr, count, datatype) = (span.ptr(), c_int::from(span.count() > 0), span.datatype());
        // The MPI checks arguments before it sees that nothing is to be sent.
        // SAFETY: the arguments of an MPI function's caller, sent to `MPI_PROC_NULL`.
        let code = unsafe { real::MPI_Send(ptr, count, datatype, PROC_NULL, 0, self.own_comm) };
        code != SUCCESS || is_nowhere && self.host_layout(datatype).contiguous
    }

    /// A reference to the span's datatype, which the program may free while an operation is pending; `None` for a predefined datatype.
    pub(crate) fn hold(&self, span: &mut Span) -> Result<Option<OwnedType>, c_int> {
        if Made::of(span.datatype()).is_some_and(|made| made.combiner == COMBINER_NAMED) {
            return Ok(None);
        }
        // Not a duplicate, since that would copy the program's attributes by its own callbacks.
        let mut held = OwnedType::made(|made| PMPI_Type_contiguous(1, span.datatype(), made))?;
        if let Some(kept) = self.datatypes.known(span.datatype()) {
            self.datatypes.keep_for(&mut held, &kept);
        }
        // SAFETY: the same elements; the span's own promise.
        *span = unsafe { Span::new(span.ptr(), span.count(), held.handle()) };
        Ok(Some(held))
    }

    /// Copies the elements of `span` into `packed`, which must have their length.
    pub(crate) fn gather(&self, span: &Span, packed: &mut [u8]) -> Result<(), c_int> {
        if self.layout(span).contiguous && span.bytes() == Some(packed.len()) {
            let from = span.ptr().cast::<u8>();
            // SAFETY: contiguous elements of this length, the span's own promise; `packed` is borrowed, so not among them.
            unsafe { ptr::copy_nonoverlapping(from, packed.as_mut_ptr(), packed.len()) };
            return Ok(());
        }
        if let Some(plan) = self.plan(span) {
            // SAFETY: the elements are within this range; the span's own promise.
            let memory = unsafe { Source::from_raw(span.ptr().cast::<u8>(), plan.reach()) };
            return plan.pack(memory, 0..packed.len(), Target::new(packed, 0)).map_err(|_| ERR_INTERN);
        }
        let packed = self.byte_span(packed.as_mut_ptr(), packed.len())?;
        // SAFETY: bytes that are lent for this call.
        self.copy(span, &unsafe { packed.span() })
    }

    /// Copies `packed` into the elements of `span`, as many as it fills.
    pub(crate) fn scatter(&self, packed: &[u8], span: &Span) -> Result<(), c_int> {
        if self.layout(span).contiguous && span.bytes() >= Some(packed.len()) {
            let to = span.ptr().cast::<u8>();
            // SAFETY: contiguous elements of at least this length, the span's own promise; `packed` is borrowed, so not among them.
            unsafe { ptr::copy_nonoverlapping(packed.as_ptr(), to, packed.len()) };
            return Ok(());
        }
        if let Some(plan) = self.plan(span).filter(|plan| packed.len() <= plan.size()) {
            // SAFETY: the elements are within this range; the span's own promise.
            let memory = unsafe { Target::from_raw(span.ptr().cast::<u8>(), plan.reach()) };
            return plan.unpack(Source::new(packed, 0), 0..packed.len(), memory).map_err(|_| ERR_INTERN);
        }
        let packed = self.byte_span(packed.as_ptr().cast_mut(), packed.len())?;
        // SAFETY: bytes that are lent for this call, and only read.
        self.copy(&unsafe { packed.span() }, span)
    }

    /// Copies elements by a message to ourselves. Unlike pack and unpack, this is correct for absolute addresses, and for messages that end within an
    /// element.
    pub(crate) fn copy(&self, from: &Span, to: &Span) -> Result<(), c_int> {
        let _turn = crate::locked(&self.own_turn);
        let (own, mut status) = (self.own_comm, empty_status());
        let (out, sent, sent_as) = (from.ptr(), from.count(), from.datatype());
        let (into, room, room_as) = (to.ptr(), to.count(), to.datatype());
        let status = &raw mut status;
        // SAFETY: the spans' own promises, and a valid output pointer.
        ok(unsafe {
            real::MPI_Sendrecv_any(out, sent, sent_as, 0, 0, into, room, room_as, 0, 0, own, status)
        })
    }

    /// `len` bytes at `ptr`.
    pub(crate) fn byte_span(&self, ptr: *mut u8, len: usize) -> Result<ByteSpan, c_int> {
        match c_int::try_from(len) {
            Ok(count) => Ok(ByteSpan::new(ptr.cast(), count, BYTE, None)),
            Err(_) => self.absolute(&[(ptr, len)]),
        }
    }

    /// Pieces of memory, in order, as one element at `MPI_BOTTOM`. The elements are bytes, since MPICH reports a truncation if a message of bytes
    /// ends within a longer element.
    pub(crate) fn absolute(&self, pieces: &[(*mut u8, usize)]) -> Result<ByteSpan, c_int> {
        const GIBIBYTE: usize = 1 << 30;
        let (mut lengths, mut addresses, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for &(ptr, len) in pieces {
            let whole = if c_int::try_from(len).is_ok() { 0 } else { len / GIBIBYTE };
            let rest = len - whole * GIBIBYTE;
            for (count, offset, datatype) in [(whole, 0, self.gibibyte), (rest, whole * GIBIBYTE, BYTE)] {
                if count > 0 {
                    lengths.push(c_int::try_from(count).map_err(|_| ERR_INTERN)?);
                    addresses.push(ptr.addr().wrapping_add(offset) as MPI_Aint);
                    types.push(datatype);
                }
            }
        }
        let count = c_int::try_from(lengths.len()).map_err(|_| ERR_INTERN)?;
        let (lengths, addresses, types) = (lengths.as_ptr(), addresses.as_ptr(), types.as_ptr());
        // SAFETY: three arrays of `count` entries, and a valid output pointer.
        let owned = OwnedType::made(|made| unsafe {
            PMPI_Type_create_struct(count, lengths, addresses, types, made)
        })?;
        Ok(ByteSpan::new(BOTTOM, 1, owned.handle(), Some(owned)))
    }
}

/// Writes an arrived frame or plain message to `span`, and returns the length of the message in bytes.
pub(crate) fn land(context: &Context, wire: &[u8], is_frame: bool, span: &Span) -> Result<usize, c_int> {
    if !is_frame {
        let len = fitting(wire.len(), span)?;
        return context.scatter(wire, span).map(|()| len);
    }
    let incoming = context.engine.open(wire).map_err(|error| context.damage(error))?;
    let len = fitting(incoming.raw_len(), span).inspect_err(|_| context.engine.refuse(&incoming))?;
    if context.layout(span).contiguous {
        // SAFETY: contiguous elements with room for `len` bytes; the span's own promise.
        let out = unsafe { slice::from_raw_parts_mut(span.ptr().cast::<MaybeUninit<u8>>(), len) };
        waiting::coding(|| context.engine.decode(&incoming, out)).map_err(|error| context.damage(error))?;
    } else {
        let buffer = context.decoded(len, |out| context.engine.decode(&incoming, out))?;
        context.scatter(&buffer, span)?;
    }
    Ok(len)
}

/// The length of a message, unless it is too long for its buffer.
fn fitting(len: usize, span: &Span) -> Result<usize, c_int> {
    let capacity = span.bytes().unwrap_or(0);
    if len > capacity { Err(truncated(len, capacity)) } else { Ok(len) }
}

impl Context {
    /// `len` bytes in our own memory, which `decode` writes. The error is the code for damage, or for a lack of memory.
    pub(crate) fn decoded(
        &self,
        len: usize,
        decode: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), FrameError>,
    ) -> Result<Buffer, c_int> {
        let mut buffer = self.room(len)?;
        // SAFETY: initialised bytes viewed as possibly uninitialised; `decode` writes only initialised bytes.
        let out = unsafe { slice::from_raw_parts_mut(buffer.room().as_mut_ptr().cast(), len) };
        waiting::coding(|| decode(out)).map_err(|error| self.damage(error))?;
        Ok(buffer)
    }
}
