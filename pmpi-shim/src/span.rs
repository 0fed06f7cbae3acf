//! Message buffers as MPI names them: address, count, datatype; and what that means in bytes.

use crate::device;
use crate::state::{Handle, Shim};
use crate::sys::*;
use mpress::Kind;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::PoisonError;

/// `count` elements of `datatype` at `ptr`.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) ptr: *mut c_void,
    pub(crate) count: MPI_Count,
    pub(crate) datatype: MPI_Datatype,
}

/// A message: its buffer, the rank at the other end, tag and communicator.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    pub(crate) span: Span,
    pub(crate) peer: c_int,
    pub(crate) tag: c_int,
    pub(crate) comm: MPI_Comm,
}

impl Envelope {
    pub(crate) fn new(span: Span, peer: c_int, tag: c_int, comm: MPI_Comm) -> Self {
        Self { span, peer, tag, comm }
    }
}

/// How the elements of a span lie in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One after the other without gaps, in the order in which they are sent.
    Contiguous(Kind),
    /// In some other way, which only the MPI knows, or in memory that only the MPI may touch.
    Typed,
}

impl Span {
    pub(crate) fn new(ptr: *mut c_void, count: impl Into<MPI_Count>, datatype: MPI_Datatype) -> Self {
        Self { ptr, count: count.into(), datatype }
    }

    /// Length of the packed elements in bytes; `None` for arguments that the MPI will refuse.
    pub(crate) fn bytes(&self) -> Option<usize> {
        if self.datatype == DATATYPE_NULL {
            return None;
        }
        let mut size: MPI_Count = 0;
        // SAFETY: a datatype handle of the caller's, and a place for the answer.
        let code = unsafe { PMPI_Type_size_x(self.datatype, &raw mut size) };
        if code != SUCCESS {
            return None;
        }
        usize::try_from(size).ok()?.checked_mul(usize::try_from(self.count).ok()?)
    }
}

/// The kinds of the predefined datatypes that are contiguous.
pub(crate) struct Kinds(HashMap<usize, Kind>);

impl Kinds {
    pub(crate) fn new() -> Self {
        Self(PREDEFINED.iter().map(|&(datatype, kind)| (datatype.key(), kind)).collect())
    }

    /// The kind of a predefined datatype that is contiguous.
    pub(crate) fn predefined(&self, datatype: MPI_Datatype) -> Option<Kind> {
        self.0.get(&datatype.key()).copied()
    }

    /// How elements of this datatype lie in memory. Beside predefined types, duplicates and contiguous runs of them are
    /// looked into; a type whose packed order could differ from its order in memory never counts as contiguous.
    pub(crate) fn layout(&self, datatype: MPI_Datatype) -> Layout {
        if let Some(kind) = self.predefined(datatype) {
            return Layout::Contiguous(kind);
        }
        let combiner = combiner(datatype);
        if combiner != COMBINER_DUP && combiner != COMBINER_CONTIGUOUS {
            return Layout::Typed;
        }
        let Some(mut inner) = inner_type(datatype) else { return Layout::Typed };
        let layout = self.layout(inner);
        if self::combiner(inner) != COMBINER_NAMED {
            // SAFETY: `inner_type` gives a new handle of a derived type, ours to free.
            unsafe { PMPI_Type_free(&raw mut inner) };
        }
        layout
    }
}

/// How a datatype was made.
fn combiner(datatype: MPI_Datatype) -> c_int {
    let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, UNDEFINED);
    // SAFETY: a valid datatype (its size was asked for before), and places for the answers.
    unsafe {
        // Only this form may be asked of a type that was made with large counts.
        if has_large_counts() {
            let (mut integers, mut addresses, mut counts, mut types) = (0, 0, 0, 0);
            PMPI_Type_get_envelope_c(
                datatype,
                &raw mut integers,
                &raw mut addresses,
                &raw mut counts,
                &raw mut types,
                &raw mut combiner,
            );
        } else {
            PMPI_Type_get_envelope(
                datatype,
                &raw mut integers,
                &raw mut addresses,
                &raw mut types,
                &raw mut combiner,
            );
        }
    }
    combiner
}

/// The one datatype of which a duplicate or a contiguous run consists: these have at most one count beside it.
fn inner_type(datatype: MPI_Datatype) -> Option<MPI_Datatype> {
    let (mut count, mut address, mut large, mut inner) = (0, 0, 0, DATATYPE_NULL);
    let (count, address, inner_place) = (&raw mut count, &raw mut address, &raw mut inner);
    // SAFETY: a type of those two kinds, with room for more than it has.
    let code = unsafe {
        if has_large_counts() {
            PMPI_Type_get_contents_c(datatype, 1, 1, 1, 1, count, address, &raw mut large, inner_place)
        } else {
            PMPI_Type_get_contents(datatype, 1, 1, 1, count, address, inner_place)
        }
    };
    (code == SUCCESS).then_some(inner)
}

impl Shim {
    /// How the elements of a span can be reached. In a GPU's memory they may lie one after the other, but not for us.
    pub(crate) fn layout(&self, span: &Span) -> Layout {
        match self.kinds.layout(span.datatype) {
            Layout::Contiguous(_) if device::is_device(span.ptr) => Layout::Typed,
            layout => layout,
        }
    }

    /// Makes bytes of elements in a GPU's memory that lie one after the other, so that a message may end inside of one. Says
    /// whether it did.
    pub(crate) fn as_bytes(&self, span: &mut Span, len: usize) -> bool {
        // Longer ones would need absolute addresses, of which an MPI cannot see whose memory they are.
        let Ok(count) = c_int::try_from(len) else { return false };
        let contiguous = matches!(self.kinds.layout(span.datatype), Layout::Contiguous(_));
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
        // Arguments are checked before it is seen that nothing is to be sent.
        // SAFETY: what the caller of an MPI function gave, for nobody.
        let code =
            unsafe { crate::mpi::real::MPI_Send(span.ptr, 1, span.datatype, PROC_NULL, 0, self.own_comm) };
        code != SUCCESS || (span.ptr.is_null() && self.kinds.layout(span.datatype) != Layout::Typed)
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
        span.datatype = copy;
        Ok(Some(held))
    }

    /// Copies the elements of `span` into `packed`, which must have their length.
    ///
    /// # Safety
    /// `span` must be what the caller of a send function gave.
    pub(crate) unsafe fn gather(&self, span: &Span, packed: &mut [u8]) -> Result<(), c_int> {
        let packed = self.byte_span(packed.as_mut_ptr(), packed.len())?;
        // SAFETY: the caller vouches for `span`; `packed` is ours and as long as the elements.
        unsafe { self.copy(span, &packed.span) }
    }

    /// Copies `packed` into the elements of `span`, as many as it fills.
    ///
    /// # Safety
    /// `span` must be what the caller of a receive function gave, with room for `packed`.
    pub(crate) unsafe fn scatter(&self, packed: &[u8], span: &Span) -> Result<(), c_int> {
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
    use crate::mpi::real::{MPI_Sendrecv, MPI_Sendrecv_c};
    let (out, into) = ((from.ptr, from.datatype), (to.ptr, to.datatype));
    // SAFETY: the caller vouches for both spans.
    unsafe {
        if has_large_counts() {
            return MPI_Sendrecv_c(
                out.0, from.count, out.1, 0, 0, into.0, to.count, into.1, 0, 0, own, status,
            );
        }
        let (Ok(sent), Ok(received)) = (c_int::try_from(from.count), c_int::try_from(to.count)) else {
            return ERR_INTERN;
        };
        MPI_Sendrecv(out.0, sent, out.1, 0, 0, into.0, received, into.1, 0, 0, own, status)
    }
}

/// A datatype of ours, freed when dropped; operations under way keep what they need of it.
pub(crate) struct OwnedType(MPI_Datatype);

impl Drop for OwnedType {
    fn drop(&mut self) {
        // SAFETY: made by this module, freed once.
        unsafe { PMPI_Type_free(&raw mut self.0) };
    }
}

/// Bytes as a span whose count fits an `int`, with the datatype it may need.
pub(crate) struct ByteSpan {
    pub(crate) span: Span,
    _datatype: Option<OwnedType>,
}

impl ByteSpan {
    /// The count, which always fits.
    pub(crate) fn count(&self) -> c_int {
        c_int::try_from(self.span.count).unwrap_or(c_int::MAX)
    }
}

impl Shim {
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

/// How many bytes a receive brought, as its status says.
pub(crate) fn received_bytes(status: &MPI_Status) -> usize {
    let mut bytes: MPI_Count = 0;
    // SAFETY: a status of the MPI's and a place for the answer.
    unsafe { PMPI_Get_elements_x(ptr::from_ref(status).cast_mut(), BYTE, &raw mut bytes) };
    usize::try_from(bytes).unwrap_or(0)
}

/// Makes a status say that this many bytes came.
pub(crate) fn set_received_bytes(status: &mut MPI_Status, bytes: usize) {
    let bytes = MPI_Count::try_from(bytes).unwrap_or(MPI_Count::MAX);
    // SAFETY: a status and a predefined type.
    unsafe { PMPI_Status_set_elements_x(ptr::from_mut(status), BYTE, bytes) };
}

/// Stores a status where the program wants it, if it wants it.
///
/// # Safety
/// `place` must be a status or `MPI_STATUS_IGNORE`.
pub(crate) unsafe fn store_status(place: *mut MPI_Status, status: &MPI_Status) {
    if place != STATUS_IGNORE && !place.is_null() {
        // SAFETY: the caller vouches for `place`. The error field is the caller's: single calls do not set it.
        unsafe {
            let error = (*place).MPI_ERROR;
            *place = *status;
            (*place).MPI_ERROR = error;
        }
    }
}
