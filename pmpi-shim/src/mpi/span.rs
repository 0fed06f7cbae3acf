//! Message buffers as MPI describes them, by address, count and datatype, and their size in bytes.

use crate::mpi::{handle::Handle, predefined, symbol::Symbol, sys::*};
use mpress::Kind;
use mpress_datatype::Bounds;
use std::{ptr, sync::OnceLock, sync::atomic::AtomicUsize, sync::atomic::Ordering};

/// Elements in memory, of one datatype.
///
/// The code that makes a span guarantees its memory ([`new`](Self::new)), so that what sends, receives or copies the elements need not ask for that
/// again. The promise lasts until the operation is complete, and no span is used after that: what keeps one ends with the operation (`Posted`,
/// `Template`, the blocks of a collective), and one of our own memory is made where that is kept for as long ([`ByteSpan::span`]). Only a message
/// that had to wait for its memory (`ReceiveMemory::keep`) is written there later: when another receive that was pending in this memory ends, for
/// which the program lends it.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    ptr: *mut c_void,
    count: MPI_Count,
    datatype: MPI_Datatype,
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

    pub(crate) fn asked(&self) -> Match {
        Match { source: self.peer, tag: self.tag, comm: self.comm }
    }
}

/// How the elements of a span lie in memory.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// In the order in which they are sent, and not in memory that only the MPI may access.
    pub(crate) contiguous: bool,
    pub(crate) kind: Kind,
}

impl Span {
    /// `count` elements of `datatype` at this address.
    ///
    /// # Safety
    /// The elements must be lent to the layer, as by the caller of an MPI function: to be read where the operation sends them, to be written where it
    /// receives them, until it is complete. What the MPI refuses, and `MPI_IN_PLACE`, has no memory: such a span may be looked at, but not be sent or
    /// received.
    pub(crate) unsafe fn new(at: *const c_void, count: impl Into<MPI_Count>, datatype: MPI_Datatype) -> Self {
        Self { ptr: at.cast_mut(), count: count.into(), datatype }
    }

    /// No elements.
    pub(crate) fn nothing() -> Self {
        Self { ptr: ptr::null_mut(), count: 0, datatype: BYTE }
    }

    pub(crate) fn ptr(&self) -> *mut c_void {
        self.ptr
    }

    pub(crate) fn count(&self) -> MPI_Count {
        self.count
    }

    pub(crate) fn datatype(&self) -> MPI_Datatype {
        self.datatype
    }

    /// Whether the program gave `MPI_IN_PLACE`.
    pub(crate) fn is_in_place(&self) -> bool {
        self.ptr == IN_PLACE
    }

    /// Length of the packed elements in bytes; `None` for arguments that the MPI will refuse.
    pub(crate) fn bytes(&self) -> Option<usize> {
        packed_len(self.count, self.datatype)
    }
}

/// Length of packed elements in bytes; `None` for arguments that the MPI will refuse.
pub(crate) fn packed_len(count: MPI_Count, datatype: MPI_Datatype) -> Option<usize> {
    let size = match predefined::size(datatype) {
        Some(size) => size,
        None => is_valid(datatype).then(|| type_size(datatype))??,
    };
    size.checked_mul(usize::try_from(count).ok()?)
}

/// The key of a communicator of the layer whose error handler returns errors; 0 if there is none.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// From now on datatypes are examined by calls with this communicator. With `COMM_NULL` they are not examined before they are used.
pub(crate) fn ask_with(comm: MPI_Comm) {
    ASKED.store(if comm == COMM_NULL { 0 } else { comm.key() }, Ordering::Release);
}

/// Whether the MPI knows this datatype. It is asked by a call with our own communicator: an error of a call without one, such as that for the size,
/// would go to another handler than that of the program's call.
pub(crate) fn is_valid(datatype: MPI_Datatype) -> bool {
    if datatype == DATATYPE_NULL {
        return false;
    }
    if predefined::size(datatype).is_some() {
        return true;
    }
    let (asked, mut size) = (ASKED.load(Ordering::Acquire), 0);
    // SAFETY: the key of our communicator.
    asked == 0 || PMPI_Pack_size(0, datatype, unsafe { MPI_Comm::from_key(asked) }, &mut size) == SUCCESS
}

/// How a datatype was made, and the lengths of its contents.
pub(crate) struct Made {
    pub(crate) combiner: c_int,
    pub(crate) integers: MPI_Count,
    pub(crate) addresses: MPI_Count,
    pub(crate) counts: MPI_Count,
    pub(crate) datatypes: MPI_Count,
}

impl Made {
    /// Asks the MPI about a valid datatype.
    pub(crate) fn of(handle: MPI_Datatype) -> Option<Self> {
        let mut made = Self { combiner: UNDEFINED, integers: 0, addresses: 0, counts: 0, datatypes: 0 };
        let Self { combiner, integers, addresses, counts, datatypes } = &mut made;
        static ENVELOPE_C: Symbol = Symbol::of("PMPI_Type_get_envelope_c\0");
        // A type that was made with large counts supports only this form.
        let code = if ENVELOPE_C.get().is_some() {
            PMPI_Type_get_envelope_c(handle, integers, addresses, counts, datatypes, combiner)
        } else {
            let [mut i, mut a, mut d] = [0; 3];
            let code = PMPI_Type_get_envelope(handle, &mut i, &mut a, &mut d, combiner);
            (*integers, *addresses, *datatypes) = (i.into(), a.into(), d.into());
            code
        };
        (code == SUCCESS).then_some(made)
    }
}

/// Our own datatype, freed when dropped; pending operations keep what they need of it.
pub(crate) struct OwnedType {
    handle: MPI_Datatype,
    /// The key of our attribute, if it has that.
    key: Option<c_int>,
}

impl OwnedType {
    pub(crate) fn new(handle: MPI_Datatype) -> Self {
        Self { handle, key: None }
    }

    /// Makes a datatype by a function of the MPI, and commits it.
    pub(crate) fn made(make: impl FnOnce(&mut MPI_Datatype) -> c_int) -> Result<Self, c_int> {
        let mut handle = DATATYPE_NULL;
        ok(make(&mut handle))?;
        let made = Self::new(handle);
        // SAFETY: the type just made.
        ok(unsafe { PMPI_Type_commit(&raw mut handle) })?;
        Ok(made)
    }

    pub(crate) fn handle(&self) -> MPI_Datatype {
        self.handle
    }

    /// Notes that the type has an attribute with this key. It is deleted before the MPI frees the type, which may be when a message is complete.
    pub(crate) fn has(&mut self, key: c_int) {
        self.key = Some(key);
    }
}

impl Drop for OwnedType {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            // SAFETY: our own type, and the key of an attribute that it has.
            unsafe { PMPI_Type_delete_attr(self.handle, key) };
        }
        // SAFETY: our own type, freed once.
        unsafe { PMPI_Type_free(&raw mut self.handle) };
    }
}

/// The address of bytes, whose count fits an `int`, with a datatype made for them if needed.
pub(crate) struct ByteSpan {
    span: Span,
    _datatype: Option<OwnedType>,
}

impl ByteSpan {
    /// `count` elements of this datatype, which is `made` for them unless it is predefined.
    pub(crate) fn new(ptr: *mut c_void, count: c_int, of: MPI_Datatype, made: Option<OwnedType>) -> Self {
        Self { span: Span { ptr, count: count.into(), datatype: of }, _datatype: made }
    }

    /// The bytes as `MPI_PACKED`, which matches any receive.
    pub(crate) fn packed(mut self) -> Self {
        if self.span.datatype == BYTE {
            self.span.datatype = PACKED;
        }
        self
    }

    /// The bytes as a message, or as the place of one.
    ///
    /// # Safety
    /// As for [`Span::new`].
    pub(crate) unsafe fn span(&self) -> Span {
        self.span
    }
}

/// Number of bytes received, according to the status.
pub(crate) fn received_bytes(status: &MPI_Status) -> usize {
    let mut bytes: MPI_Count = 0;
    PMPI_Get_elements_x(status, BYTE, &mut bytes);
    usize::try_from(bytes).unwrap_or(0)
}

/// Sets the number of bytes received in a status.
pub(crate) fn set_received_bytes(status: &mut MPI_Status, bytes: usize) {
    let bytes = MPI_Count::try_from(bytes).unwrap_or(MPI_Count::MAX);
    PMPI_Status_set_elements_x(status, BYTE, bytes);
}

/// Whether the operation of this status was cancelled.
pub(crate) fn is_cancelled(status: &MPI_Status) -> bool {
    let mut cancelled = 0;
    PMPI_Test_cancelled(status, &mut cancelled);
    cancelled != 0
}

/// The bounds of a valid datatype.
pub(crate) fn bounds(datatype: MPI_Datatype) -> Option<Bounds> {
    let [mut lb, mut extent, mut true_lb, mut true_extent] = [0; 4];
    ok(PMPI_Type_get_extent(datatype, &mut lb, &mut extent)).ok()?;
    ok(PMPI_Type_get_true_extent(datatype, &mut true_lb, &mut true_extent)).ok()?;
    let [lb, extent, true_lb, true_extent] =
        [lb, extent, true_lb, true_extent].map(|bound: MPI_Aint| bound as isize);
    Some(Bounds { lb, extent, true_lb, true_extent })
}

/// Whether the MPI accepts this tag of a message.
pub(crate) fn is_tag(tag: c_int) -> bool {
    (0..=greatest_tag().unwrap_or(c_int::MAX)).contains(&tag)
}

/// The greatest tag, which is the same for all communicators, and constant.
pub(crate) fn greatest_tag() -> Option<c_int> {
    static GREATEST: OnceLock<Option<c_int>> = OnceLock::new();
    *GREATEST.get_or_init(|| {
        let (mut value, mut found) = (ptr::null::<c_int>(), 0);
        // SAFETY: a predefined attribute, whose value is the address of an `int`, and valid output pointers.
        unsafe {
            let code = PMPI_Comm_get_attr(COMM_WORLD, TAG_UB, (&raw mut value).cast(), &raw mut found);
            if code == SUCCESS && found != 0 { value.as_ref().copied() } else { None }
        }
    })
}
