//! Buffers of the program as the MPI sees them: an address, elements of a datatype, and how these lie in memory.

use crate::error::{Error, Result, ok};
use mpi::datatype::traits::{Buffer, BufferMut, PartitionedBuffer, PartitionedBufferMut};
use mpi::ffi::{self, MPI_Aint, MPI_Datatype};
use mpi::raw::AsRaw;
use mpi::{Count, traits::Equivalence};
use mpress::Kind;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;

/// Elements in memory. Addresses and handles only: who makes one vouches for the memory as long as it is used.
#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) ptr: *mut c_void,
    pub(crate) count: Count,
    pub(crate) datatype: MPI_Datatype,
    /// The kind of elements that lie one behind the other; `None` for datatypes that the MPI must take apart.
    pub(crate) kind: Option<Kind>,
    /// Bytes of an element, packed.
    pub(crate) size: usize,
    /// The datatype, if it is not predefined: the program may free its own handle while a receive is under way.
    _held: Option<Arc<OwnedType>>,
}

impl Span {
    /// A buffer to send from.
    pub(crate) fn of<B: Buffer + ?Sized>(buffer: &B) -> Result<Self> {
        Self::new(buffer.pointer().cast_mut(), buffer.count(), buffer.as_datatype().as_raw())
    }

    /// A buffer to receive into.
    pub(crate) fn of_mut<B: BufferMut + ?Sized>(buffer: &mut B) -> Result<Self> {
        Self::new(buffer.pointer_mut(), buffer.count(), buffer.as_datatype().as_raw())
    }

    /// Room for elements of type `Msg`.
    pub(crate) fn of_room<Msg: Equivalence>(room: &mut [MaybeUninit<Msg>]) -> Result<Self> {
        let count = Count::try_from(room.len()).unwrap_or(Count::MAX);
        Self::new(room.as_mut_ptr().cast(), count, Msg::equivalent_datatype().as_raw())
    }

    /// The parts of a buffer, one for each rank.
    pub(crate) fn parts_of<B: PartitionedBuffer + ?Sized>(buffer: &B, ranks: usize) -> Result<Vec<Self>> {
        let whole = Self::new(buffer.pointer().cast_mut(), 0, buffer.as_datatype().as_raw())?;
        whole.parts(buffer.counts(), buffer.displs(), ranks)
    }

    /// The same to receive into.
    pub(crate) fn parts_of_mut<B: PartitionedBufferMut + ?Sized>(
        buffer: &mut B,
        ranks: usize,
    ) -> Result<Vec<Self>> {
        let whole = Self::new(buffer.pointer_mut(), 0, buffer.as_datatype().as_raw())?;
        whole.parts(buffer.counts(), buffer.displs(), ranks)
    }

    fn parts(&self, counts: &[Count], displacements: &[Count], ranks: usize) -> Result<Vec<Self>> {
        let parts = counts.len().min(displacements.len());
        if parts < ranks {
            return Err(Error::Parts { parts, ranks });
        }
        counts.iter().zip(displacements).take(ranks).map(|(&count, &at)| self.part(at, count)).collect()
    }

    /// Equal parts for each rank; elements that are left over are in none, as in rsmpi.
    pub(crate) fn equal_parts(&self, ranks: usize) -> Result<Vec<Self>> {
        let ranks = Count::try_from(ranks).unwrap_or(Count::MAX).max(1);
        let count = self.count / ranks;
        (0..ranks).map(|rank| self.part(rank * count, count)).collect()
    }

    pub(crate) fn new(ptr: *mut c_void, count: Count, datatype: MPI_Datatype) -> Result<Self> {
        if let Some((kind, size)) = predefined(datatype) {
            return Ok(Self { ptr, count, datatype, kind: Some(kind), size, _held: None });
        }
        let (mut size, mut held) = (0, datatype);
        // SAFETY: the datatype of a buffer, and places for the answers.
        unsafe {
            ok(ffi::MPI_Type_size_x(datatype, &raw mut size))?;
            ok(ffi::MPI_Type_dup(datatype, &raw mut held))?;
        }
        let size = usize::try_from(size).unwrap_or(0);
        let owned = Arc::new(OwnedType(held));
        Ok(Self { ptr, count, datatype: held, kind: None, size, _held: Some(owned) })
    }

    /// Bytes of all elements, packed.
    pub(crate) fn len(&self) -> usize {
        usize::try_from(self.count).unwrap_or(0).saturating_mul(self.size)
    }

    /// So many of the elements, from one on.
    pub(crate) fn part(&self, from: Count, count: Count) -> Result<Self> {
        let (mut lower, mut extent): (MPI_Aint, MPI_Aint) = (0, 0);
        // SAFETY: a datatype that lives, and places for the answers.
        unsafe { ok(ffi::MPI_Type_get_extent(self.datatype, &raw mut lower, &raw mut extent))? };
        #[allow(clippy::unnecessary_cast, reason = "the type of addresses is not the same in all MPIs")]
        let offset = (from as isize).wrapping_mul(extent as isize);
        Ok(Self { ptr: self.ptr.wrapping_byte_offset(offset), count, ..self.clone() })
    }

    /// The bytes to send, if they lie one behind the other.
    ///
    /// # Safety
    /// The elements must be initialised, and must not change as long as the bytes are used.
    pub(crate) unsafe fn bytes<'a>(&self) -> Option<&'a [u8]> {
        self.kind?;
        // SAFETY: `count` elements of a predefined type without gaps; the caller vouches for what they hold.
        Some(unsafe { slice::from_raw_parts(self.ptr.cast::<u8>(), self.len()) })
    }

    /// The first bytes of the room to receive into, if they lie one behind the other.
    ///
    /// # Safety
    /// The memory must be the caller's alone as long as the bytes are used.
    pub(crate) unsafe fn room<'a>(&self, len: usize) -> Option<&'a mut [MaybeUninit<u8>]> {
        self.kind?;
        // SAFETY: not beyond `count` elements of a predefined type without gaps; the caller vouches for the rest.
        Some(unsafe { slice::from_raw_parts_mut(self.ptr.cast(), len.min(self.len())) })
    }
}

/// Kind and bytes of the predefined types that rsmpi knows, all without gaps. Asked of every message: the usual ones first, and no
/// more of them looked at than need be.
fn predefined(datatype: MPI_Datatype) -> Option<(Kind, usize)> {
    let is = |known: MPI_Datatype| known == datatype;
    // SAFETY: constants of the MPI.
    unsafe {
        if is(ffi::RSMPI_DOUBLE) {
            Some((Kind::F64, 8))
        } else if is(ffi::RSMPI_FLOAT) {
            Some((Kind::F32, 4))
        } else if is(ffi::RSMPI_INT32_T) || is(ffi::RSMPI_UINT32_T) {
            Some((Kind::Int32, 4))
        } else if is(ffi::RSMPI_INT64_T) || is(ffi::RSMPI_UINT64_T) {
            Some((Kind::Int64, 8))
        } else if is(ffi::RSMPI_UINT8_T) || is(ffi::RSMPI_INT8_T) || is(ffi::RSMPI_C_BOOL) {
            Some((Kind::Int8, 1))
        } else if is(ffi::RSMPI_INT16_T) || is(ffi::RSMPI_UINT16_T) {
            Some((Kind::Int16, 2))
        } else if is(ffi::RSMPI_FLOAT_COMPLEX) {
            Some((Kind::F32, 8))
        } else if is(ffi::RSMPI_DOUBLE_COMPLEX) {
            Some((Kind::F64, 16))
        } else {
            None
        }
    }
}

/// A datatype of ours, freed when dropped; operations under way keep theirs alive.
pub(crate) struct OwnedType(MPI_Datatype);

// SAFETY: a handle, which is a plain value; the MPI lets any thread use and free it that may call the MPI at all.
unsafe impl Send for OwnedType {}
// SAFETY: as above; nothing changes it while it is shared.
unsafe impl Sync for OwnedType {}

impl Drop for OwnedType {
    fn drop(&mut self) {
        // SAFETY: a handle of ours that nothing uses any more.
        unsafe { ffi::MPI_Type_free(&raw mut self.0) };
    }
}

/// So many bytes as the MPI counts them.
pub(crate) struct Bytes {
    pub(crate) count: Count,
    pub(crate) datatype: MPI_Datatype,
    _owned: Option<OwnedType>,
}

impl Bytes {
    /// The most bytes for which no datatype need be made.
    const MOST: usize = c_int::MAX as usize;

    pub(crate) fn new(len: usize) -> Result<Self> {
        Self::in_blocks(len, Self::MOST, 1 << 30)
    }

    /// More than `most` bytes: a datatype of blocks, since the MPI counts in `int`.
    fn in_blocks(len: usize, most: usize, block: usize) -> Result<Self> {
        // SAFETY: a constant of the MPI.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        if let Some(count) = c_int::try_from(len).ok().filter(|_| len <= most) {
            return Ok(Self { count, datatype: byte, _owned: None });
        }
        let starts = (0..len).step_by(block);
        let lengths: Vec<c_int> =
            starts.clone().map(|at| c_int::try_from(block.min(len - at)).unwrap_or(0)).collect();
        let displacements: Vec<MPI_Aint> = starts.map(|at| at as MPI_Aint).collect();
        let count = c_int::try_from(lengths.len()).unwrap_or(c_int::MAX);
        let mut datatype = byte;
        // SAFETY: two arrays of `count` numbers, and a place for the new type.
        unsafe {
            ok(ffi::MPI_Type_create_hindexed(
                count,
                lengths.as_ptr(),
                displacements.as_ptr(),
                byte,
                &raw mut datatype,
            ))?;
            let owned = OwnedType(datatype);
            ok(ffi::MPI_Type_commit(&raw mut datatype))?;
            Ok(Self { count: 1, datatype, _owned: Some(owned) })
        }
    }
}
