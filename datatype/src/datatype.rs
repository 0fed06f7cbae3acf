//! Datatypes, built by the constructors of MPI 3.1 (sections 4.1.2 to 4.1.7).

mod abi;
mod array;
mod contents;

use crate::Error;
use crate::bounds::{Bounds, Dialect, Ends, add, times};
use crate::shape::{Form, Shape};
pub use abi::Abi;
use alloc::sync::Arc;
pub use array::{Dimension, Distribution, Order};
pub use contents::Contents;

/// An MPI datatype: the bytes of an element, their order, and the distance between elements.
///
/// There is a constructor for each of MPI's, with the same arguments: counts as `usize`, displacements and strides as `isize`, in MPI's units
/// (elements, or bytes where the name begins with h). So the results of `MPI_Type_get_envelope` and `MPI_Type_get_contents` can be passed on
/// unchanged, by hand or by [`from_contents`](Self::from_contents). Cloning is cheap.
///
/// A clone stands for the same handle; [`dup`](Self::dup) creates another one. Overlapping blocks and unaligned elements are accepted: MPI allows
/// describing both.
#[derive(Clone, Debug)]
pub struct Datatype {
    pub(crate) shape: Option<Shape>,
    ends: Ends,
    /// Shared by all clones, as an MPI handle is.
    handle: Arc<()>,
}

impl Datatype {
    /// A predefined type of `size` bytes, which compilers align to `alignment` bytes: 8 and 8 for C's `double`; 16 and 8 for its complex type. All
    /// types built from it have the bounds that an MPI of this dialect gives them.
    ///
    /// # Errors
    /// [`Error::Argument`] if either is 0; [`Error::Overflow`].
    pub fn named(dialect: Dialect, size: usize, alignment: usize) -> Result<Self, Error> {
        if size == 0 || alignment == 0 {
            return Err(Error::Argument);
        }
        let ub = isize::try_from(size).map_err(|_| Error::Overflow)?;
        let ends = Ends { ub, true_ub: ub, align: alignment, empty: false, ..Ends::none(Some(dialect)) };
        Ok(Self::new(Shape::run(0, size), ends))
    }

    /// A predefined type for `MPI_MINLOC`, such as `MPI_DOUBLE_INT`: a C structure of the two types.
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn pair(first: &Self, second: &Self) -> Result<Self, Error> {
        let place = first.size().checked_next_multiple_of(second.ends.align);
        let place = place.and_then(|place| isize::try_from(place).ok()).ok_or(Error::Overflow)?;
        Self::structure(&[1, 1], &[0, place], &[first.clone(), second.clone()])
    }

    /// `MPI_Type_dup`
    #[must_use]
    pub fn dup(&self) -> Self {
        Self::new(self.shape.clone(), self.ends)
    }

    /// `MPI_Type_contiguous`
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn contiguous(count: usize, old: &Self) -> Result<Self, Error> {
        Self::hvector(1, count, 0, old)
    }

    /// `MPI_Type_vector`, with the stride in elements.
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn vector(count: usize, blocklength: usize, stride: isize, old: &Self) -> Result<Self, Error> {
        // With one block or none, the stride has no meaning.
        let stride = if count > 1 && blocklength > 0 { old.elements(stride)? } else { 0 };
        Self::hvector(count, blocklength, stride, old)
    }

    /// `MPI_Type_create_hvector`, with the stride in bytes.
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn hvector(count: usize, blocklength: usize, stride: isize, old: &Self) -> Result<Self, Error> {
        let block = if count > 0 { old.block(blocklength)? } else { None };
        let Some(block) = block else { return Ok(old.none()) };
        let last = times(count - 1, stride)?;
        let ends = block.ends.over(last.min(0), last.max(0))?.aligned()?;
        let shape = match block.shape {
            Some(shape) => shape.repeated(count, stride)?,
            None => None,
        };
        Ok(Self::new(shape, ends))
    }

    /// `MPI_Type_indexed`, with displacements in elements.
    ///
    /// # Errors
    /// [`Error::Length`] if the numbers of blocklengths and displacements differ; [`Error::Overflow`].
    pub fn indexed(blocklengths: &[usize], displacements: &[isize], old: &Self) -> Result<Self, Error> {
        let blocks = paired(blocklengths, displacements)?;
        Self::blocks(blocks.map(|(len, displacement)| Ok((len, old.displaced(len, displacement)?))), old)
    }

    /// `MPI_Type_create_hindexed`, with displacements in bytes.
    ///
    /// # Errors
    /// As for [`indexed`](Self::indexed).
    pub fn hindexed(blocklengths: &[usize], displacements: &[isize], old: &Self) -> Result<Self, Error> {
        Self::blocks(paired(blocklengths, displacements)?.map(Ok), old)
    }

    /// `MPI_Type_create_indexed_block`, with displacements in elements.
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn indexed_block(blocklength: usize, displacements: &[isize], old: &Self) -> Result<Self, Error> {
        let displacements = displacements.iter();
        let place = |displacement: &isize| Ok((blocklength, old.displaced(blocklength, *displacement)?));
        Self::blocks(displacements.map(place), old)
    }

    /// `MPI_Type_create_hindexed_block`, with displacements in bytes.
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn hindexed_block(blocklength: usize, displacements: &[isize], old: &Self) -> Result<Self, Error> {
        Self::blocks(displacements.iter().map(|displacement| Ok((blocklength, *displacement))), old)
    }

    /// `MPI_Type_create_struct`, with displacements in bytes.
    ///
    /// An empty structure has extent 0 and no dialect. It takes the dialect of the types it is combined with.
    ///
    /// # Errors
    /// [`Error::Length`] if the lists differ in length, [`Error::Argument`] if the types have different dialects; [`Error::Overflow`].
    pub fn structure(blocklengths: &[usize], displacements: &[isize], types: &[Self]) -> Result<Self, Error> {
        let blocks = paired(blocklengths, displacements)?;
        if types.len() != blocklengths.len() {
            return Err(Error::Length);
        }
        let mut dialects = types.iter().filter_map(|old| old.ends.dialect);
        let dialect = dialects.next();
        if dialects.any(|other| Some(other) != dialect) {
            return Err(Error::Argument);
        }
        let placed = blocks.zip(types).map(|((len, displacement), old)| {
            let block = old.block(len)?;
            block.map(|block| block.moved(displacement)).transpose()
        });
        let joined = Self::joined(placed.filter_map(Result::transpose), dialect)?;
        // MPICH treats a structure of one type as an indexed type and does not round its extent up.
        let mut used =
            blocklengths.iter().zip(types).filter(|(len, _)| **len > 0).map(|(_, old)| &old.handle);
        let indexed = used.next().is_none_or(|first| used.all(|other| Arc::ptr_eq(first, other)));
        let ends =
            if dialect == Some(Dialect::Mpich) && !indexed { joined.ends.padded()? } else { joined.ends };
        Ok(Self { ends, ..joined })
    }

    /// `MPI_Type_create_resized`
    ///
    /// # Errors
    /// [`Error::Overflow`]
    pub fn resized(&self, lb: isize, extent: isize) -> Result<Self, Error> {
        let ends = Ends { lb, ub: add(lb, extent)?, marked: true, ..self.ends };
        Ok(Self::new(self.shape.clone(), ends))
    }

    /// The bytes of data in an element: `MPI_Type_size`.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.as_ref().map_or(0, |shape| shape.form.size())
    }

    /// `MPI_Type_get_extent` and `MPI_Type_get_true_extent`
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.ends.bounds()
    }

    /// Whether any number of consecutive elements forms one run of bytes in memory order, so that packing only copies this run. The run begins at the
    /// true lower bound.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        match &self.shape {
            None => true,
            Some(Shape { form: Form::Run(len), .. }) => isize::try_from(*len) == Ok(self.bounds().extent),
            Some(_) => false,
        }
    }

    fn new(shape: Option<Shape>, ends: Ends) -> Self {
        Self { shape, ends, handle: Arc::new(()) }
    }

    /// A type without elements.
    fn none(&self) -> Self {
        Self::new(None, Ends::none(self.ends.dialect))
    }

    /// The displacement in bytes of a block of `len` elements, given a displacement in elements. Irrelevant, and so 0, if the block is empty.
    fn displaced(&self, len: usize, displacement: isize) -> Result<isize, Error> {
        if len > 0 { self.elements(displacement) } else { Ok(0) }
    }

    /// `count` extents, in bytes.
    fn elements(&self, count: isize) -> Result<isize, Error> {
        count.checked_mul(self.bounds().extent).ok_or(Error::Overflow)
    }

    /// `count` consecutive elements; `None` if `count` is 0. MPIs drop the bounds of a type without bytes when it is repeated.
    fn block(&self, count: usize) -> Result<Option<Self>, Error> {
        if count == 0 {
            return Ok(None);
        }
        if count == 1 {
            return Ok(Some(self.clone()));
        }
        let Some(shape) = &self.shape else { return Ok(Some(self.none())) };
        let extent = self.bounds().extent;
        let last = times(count - 1, extent)?;
        let ends = self.ends.over(last.min(0), last.max(0))?;
        Ok(Some(Self::new(shape.repeated(count, extent)?, ends)))
    }

    fn moved(&self, by: isize) -> Result<Self, Error> {
        let shape = self.shape.as_ref().map(|shape| shape.moved(by)).transpose()?;
        Ok(Self { shape, ends: self.ends.over(by, by)?, handle: self.handle.clone() })
    }

    /// Blocks of elements at displacements in bytes.
    fn blocks(
        blocks: impl Iterator<Item = Result<(usize, isize), Error>>,
        old: &Self,
    ) -> Result<Self, Error> {
        // Neighbouring blocks mostly have the same length.
        let mut last = (0, None);
        let placed = blocks.map(|block| {
            let (len, displacement) = block?;
            if last.0 != len {
                last = (len, old.block(len)?);
            }
            last.1.as_ref().map(|block| block.moved(displacement)).transpose()
        });
        Self::joined(placed.filter_map(Result::transpose), old.ends.dialect)
    }

    /// The parts in order. Each has this dialect or none.
    fn joined(
        parts: impl Iterator<Item = Result<Self, Error>>,
        dialect: Option<Dialect>,
    ) -> Result<Self, Error> {
        let mut ends: Option<Ends> = None;
        let shapes = parts.filter_map(|part| {
            let mut add = |part: Self| {
                let part_ends = Ends { dialect, ..part.ends };
                ends = Some(ends.map_or(part_ends, |ends| ends.and(part_ends)).checked()?.aligned()?);
                Ok(part.shape)
            };
            part.and_then(&mut add).transpose()
        });
        let shape = Shape::joined(shapes)?;
        Ok(Self::new(shape, ends.unwrap_or(Ends::none(dialect))))
    }
}

/// Pairs of block length and displacement.
fn paired<'a>(
    blocklengths: &'a [usize],
    displacements: &'a [isize],
) -> Result<impl Iterator<Item = (usize, isize)> + use<'a>, Error> {
    if blocklengths.len() != displacements.len() {
        return Err(Error::Length);
    }
    Ok(blocklengths.iter().copied().zip(displacements.iter().copied()))
}
