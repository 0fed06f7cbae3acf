//! The elements of a message in memory: how they can be reached, copies of them, and bytes for the MPI to send or receive.

use crate::context::Context;
use crate::device;
use crate::mpi::real;
use crate::span::{ByteSpan, Layout, OwnedType, Span, combiner};
use crate::sys::*;
use mpress::Kind;
use mpress_datatype::{Plan, Source, Target};
use std::ffi::{c_int, c_void};
use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::PoisonError;

/// Shorter messages gain nothing. Of longer ones the memory would have to come from the system each time.
const WORTH_A_COPY: RangeInclusive<usize> = 32 << 10..=64 << 20;

impl Context {
    /// How the elements of a span can be reached. In a GPU's memory they may lie one after the other, but not for us.
    pub(crate) fn layout(&self, span: &Span) -> Layout {
        match self.host_layout(span.datatype) {
            Layout::Contiguous(kind) if device::is_device(span.ptr) => Layout::Typed(kind),
            layout => layout,
        }
    }

    /// The same in the host's memory.
    pub(crate) fn host_layout(&self, datatype: MPI_Datatype) -> Layout {
        if let Some(kind) = self.kinds.predefined(datatype) {
            return Layout::Contiguous(kind);
        }
        let kept = self.datatypes.known(&self.kinds, datatype);
        match kept.as_deref() {
            Some(Some(known)) if known.is_contiguous() => Layout::Contiguous(known.kind),
            Some(Some(known)) => Layout::Typed(known.kind),
            _ => Layout::Typed(Kind::Other),
        }
    }

    /// How elements that do not lie one after the other are packed; `None` if only the MPI knows, or may touch them.
    pub(crate) fn plan(&self, span: &Span) -> Option<Plan> {
        if self.kinds.predefined(span.datatype).is_some() || device::is_device(span.ptr) {
            return None;
        }
        // Of absolute addresses one cannot see whose memory they are.
        if span.ptr.is_null() && device::is_any() {
            return None;
        }
        let kept = self.datatypes.known(&self.kinds, span.datatype)?;
        let known = kept.as_ref().as_ref()?;
        let plan = Plan::new(&known.datatype, usize::try_from(span.count).ok()?).ok()?;
        let first = span.ptr.cast::<u8>().wrapping_offset(plan.reach().start);
        (!device::is_device(first.cast())).then_some(plan)
    }

    /// The length of elements that are packed in another order than that of the stream, so that packing them here is worth a copy.
    pub(crate) fn reordered(&self, span: &Span) -> Option<usize> {
        if self.kinds.predefined(span.datatype).is_some() {
            return None;
        }
        let len = span.bytes().filter(|len| WORTH_A_COPY.contains(len))?;
        self.plan(span).filter(Plan::reorders).map(|_| len)
    }

    /// Makes bytes of elements in a GPU's memory that lie one after the other, so that a message may end inside of one. Says
    /// whether it did.
    pub(crate) fn as_bytes(&self, span: &mut Span, len: usize) -> bool {
        // Longer ones would need absolute addresses, of which an MPI cannot see whose memory they are.
        let Ok(count) = c_int::try_from(len) else { return false };
        let contiguous = self.host_layout(span.datatype).is_contiguous();
        if contiguous {
            *span = Span::new(span.ptr, count, BYTE);
        }
        contiguous
    }

    /// Whether the MPI will refuse a span: elements without memory (absolute addresses have `MPI_BOTTOM`), or a datatype
    /// that was not committed. The MPI itself is to say so, by the error of the call that the program made.
    pub(crate) fn refused(&self, span: &Span) -> bool {
        if self.kinds.predefined(span.datatype).is_some() {
            return span.ptr.is_null() && span.count > 0;
        }
        // No elements need no memory: then only the datatype is looked at.
        let nowhere = NonNull::<u8>::dangling().as_ptr().cast::<c_void>();
        let ptr = if span.count == 0 { nowhere } else { span.ptr };
        // Arguments are checked before it is seen that nothing is to be sent.
        // SAFETY: what the caller of an MPI function gave, for nobody.
        let code = unsafe { real::MPI_Send(ptr, 1, span.datatype, PROC_NULL, 0, self.own_comm) };
        code != SUCCESS || (ptr.is_null() && self.host_layout(span.datatype).is_contiguous())
    }

    /// A hold on the span's datatype, which the program may free while an operation is under way; `None` for a predefined
    /// one.
    pub(crate) fn hold(&self, span: &mut Span) -> Result<Option<OwnedType>, c_int> {
        if combiner(span.datatype) == COMBINER_NAMED {
            return Ok(None);
        }
        let mut copy = DATATYPE_NULL;
        // Not a duplicate: that would copy the program's attributes, by its own functions.
        // SAFETY: a datatype that the caller of an MPI function gave, and a place for another one.
        ok(unsafe { PMPI_Type_contiguous(1, span.datatype, &raw mut copy) })?;
        let held = OwnedType(copy);
        // SAFETY: the type just made.
        ok(unsafe { PMPI_Type_commit(&raw mut copy) })?;
        if let Some(kept) = self.datatypes.known(&self.kinds, span.datatype) {
            self.datatypes.keep(copy, &kept);
        }
        span.datatype = copy;
        Ok(Some(held))
    }

    /// Copies the elements of `span` into `packed`, which must have their length.
    ///
    /// # Safety
    /// `span` must be what the caller of a send function gave.
    pub(crate) unsafe fn gather(&self, span: &Span, packed: &mut [u8]) -> Result<(), c_int> {
        if let Some(plan) = self.plan(span) {
            // SAFETY: the caller vouches for the elements, which lie in this range.
            let memory = unsafe { Source::from_raw(span.ptr.cast::<u8>(), plan.reach()) };
            return plan.pack(memory, 0..packed.len(), Target::new(packed, 0)).map_err(|_| ERR_INTERN);
        }
        let packed = self.byte_span(packed.as_mut_ptr(), packed.len())?;
        // SAFETY: the caller vouches for `span`; `packed` is ours and as long as the elements.
        unsafe { self.copy(span, &packed.span) }
    }

    /// Copies `packed` into the elements of `span`, as many as it fills.
    ///
    /// # Safety
    /// `span` must be what the caller of a receive function gave, with room for `packed`.
    pub(crate) unsafe fn scatter(&self, packed: &[u8], span: &Span) -> Result<(), c_int> {
        if let Some(plan) = self.plan(span).filter(|plan| packed.len() <= plan.size()) {
            // SAFETY: the caller vouches for the elements, which lie in this range.
            let memory = unsafe { Target::from_raw(span.ptr.cast::<u8>(), plan.reach()) };
            return plan.unpack(Source::new(packed, 0), 0..packed.len(), memory).map_err(|_| ERR_INTERN);
        }
        let packed = self.byte_span(packed.as_ptr().cast_mut(), packed.len())?;
        // SAFETY: the caller vouches for `span`; `packed` is only read, being the source.
        unsafe { self.copy(&packed.span, span) }
    }

    /// A message to ourselves does what pack and unpack do, and gets right what these get wrong: absolute addresses, and
    /// messages that end inside an element.
    ///
    /// # Safety
    /// Both spans must be what the program gave, or ours.
    pub(crate) unsafe fn copy(&self, from: &Span, to: &Span) -> Result<(), c_int> {
        let _turn = self.own_turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut status = empty_status();
        // SAFETY: the caller vouches for both spans.
        ok(unsafe { send_to_self(from, to, self.own_comm, &raw mut status) })
    }
}

/// With large counts where the MPI has them: without, its own calls cannot have given such a count.
unsafe fn send_to_self(from: &Span, to: &Span, own: MPI_Comm, status: *mut MPI_Status) -> c_int {
    let (out, into) = ((from.ptr, from.datatype), (to.ptr, to.datatype));
    // SAFETY: the caller vouches for both spans.
    unsafe {
        if has_large_counts() {
            return real::MPI_Sendrecv_c(
                out.0, from.count, out.1, 0, 0, into.0, to.count, into.1, 0, 0, own, status,
            );
        }
        let (Ok(sent), Ok(received)) = (c_int::try_from(from.count), c_int::try_from(to.count)) else {
            return ERR_INTERN;
        };
        real::MPI_Sendrecv(out.0, sent, out.1, 0, 0, into.0, received, into.1, 0, 0, own, status)
    }
}

impl Context {
    /// `len` bytes at `ptr`.
    pub(crate) fn byte_span(&self, ptr: *mut u8, len: usize) -> Result<ByteSpan, c_int> {
        match c_int::try_from(len) {
            Ok(count) => Ok(ByteSpan { span: Span::new(ptr.cast(), count, BYTE), _datatype: None }),
            Err(_) => self.absolute(&[(ptr, len)]),
        }
    }

    /// Pieces of memory, one after the other, as one element at `MPI_BOTTOM`. The elements are bytes, since MPICH
    /// reports a truncation where a message of bytes ends inside a longer element.
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
        let mut datatype = DATATYPE_NULL;
        // SAFETY: three arrays of `count` entries, and a place for the new type.
        unsafe {
            ok(PMPI_Type_create_struct(
                count,
                lengths.as_ptr(),
                addresses.as_ptr(),
                types.as_ptr(),
                &raw mut datatype,
            ))?;
        }
        let owned = OwnedType(datatype);
        // SAFETY: the type just made.
        ok(unsafe { PMPI_Type_commit(&raw mut datatype) })?;
        Ok(ByteSpan { span: Span::new(BOTTOM, 1, datatype), _datatype: Some(owned) })
    }
}
