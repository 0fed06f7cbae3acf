//! Sections of arrays: `MPI_Type_create_subarray` and `MPI_Type_create_darray` (MPI 3.1, sections 4.1.3 and 4.1.4).

use super::Datatype;
use crate::Error;
use crate::bounds::{Ends, times};
use crate::shape::Shape;
use alloc::vec;

/// The order of an array's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last index varies fastest: `MPI_ORDER_C`.
    C,
    /// The first index varies fastest: `MPI_ORDER_FORTRAN`.
    Fortran,
}

/// How one dimension of an array is distributed over processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Not distributed: `MPI_DISTRIBUTE_NONE`.
    None,
    /// One block of this length for each process, `MPI_DISTRIBUTE_BLOCK`; `None` for the smallest length that covers the dimension.
    Block(Option<usize>),
    /// Blocks of this length dealt out round-robin, `MPI_DISTRIBUTE_CYCLIC`; `None` for single elements.
    Cyclic(Option<usize>),
}

/// One dimension of a distributed array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// The number of elements of the whole array.
    pub global: usize,
    /// How they are distributed.
    pub distribution: Distribution,
    /// The number of processes.
    pub processes: usize,
}

/// The indices of a dimension that belong to the type: blocks at equal distances, and a partial block.
#[derive(Clone, Copy)]
struct Indices {
    global: usize,
    first: usize,
    block: usize,
    blocks: usize,
    stride: usize,
    /// The number of elements in a partial last block.
    rest: usize,
}

impl Datatype {
    /// `MPI_Type_create_subarray`. The slices have one entry per dimension.
    ///
    /// # Errors
    /// [`Error::Length`] if the slices differ in length, [`Error::Argument`] if there is no dimension, or the part is empty or reaches outside the
    /// array; [`Error::Overflow`].
    pub fn subarray(
        sizes: &[usize],
        subsizes: &[usize],
        starts: &[usize],
        order: Order,
        old: &Self,
    ) -> Result<Self, Error> {
        if sizes.len() != subsizes.len() || sizes.len() != starts.len() {
            return Err(Error::Length);
        }
        let dimensions = sizes.iter().zip(subsizes).zip(starts).map(|((&global, &block), &first)| {
            let inside = first.checked_add(block).is_some_and(|end| end <= global);
            let indices = Indices { global, first, block, blocks: 1, stride: 0, rest: 0 };
            if inside && block > 0 { Ok(indices) } else { Err(Error::Argument) }
        });
        part(dimensions, order, old)
    }

    /// `MPI_Type_create_darray`: the part of process `rank` in the grid that the dimensions span. Ranks are in C order.
    ///
    /// # Errors
    /// [`Error::Argument`] if there is no dimension, if `rank` is outside the grid, if a dimension has no elements or no processes, if its blocks do
    /// not cover it, or if a dimension that is not distributed has more than one process; [`Error::Overflow`].
    pub fn darray(rank: usize, dimensions: &[Dimension], order: Order, old: &Self) -> Result<Self, Error> {
        let mut rest = rank;
        let mut coordinates = vec![0; dimensions.len()];
        for (coordinate, dimension) in coordinates.iter_mut().zip(dimensions).rev() {
            if dimension.processes == 0 {
                return Err(Error::Argument);
            }
            (*coordinate, rest) = (rest % dimension.processes, rest / dimension.processes);
        }
        if rest > 0 {
            return Err(Error::Argument);
        }
        part(coordinates.into_iter().zip(dimensions).map(|(at, dimension)| dimension.of(at)), order, old)
    }
}

impl Dimension {
    /// The indices of the process at this coordinate.
    fn of(&self, coordinate: usize) -> Result<Indices, Error> {
        let Self { global, distribution, processes } = *self;
        let block = match distribution {
            Distribution::None if processes == 1 => global,
            Distribution::None => return Err(Error::Argument),
            Distribution::Block(None) => global.div_ceil(processes),
            Distribution::Block(Some(len)) if len.saturating_mul(processes) < global => {
                return Err(Error::Argument);
            }
            Distribution::Block(Some(len)) | Distribution::Cyclic(Some(len)) => len,
            Distribution::Cyclic(None) => 1,
        };
        if global == 0 || block == 0 {
            return Err(Error::Argument);
        }
        // An index beyond the address space is beyond the array.
        let (first, stride) = (coordinate.saturating_mul(block), block.saturating_mul(processes));
        let left = global.saturating_sub(first);
        let (blocks, rest) = (left / stride, left % stride);
        // The last round may have a whole block, a partial one, or none.
        let (blocks, rest) = if rest >= block { (blocks + 1, 0) } else { (blocks, rest) };
        Ok(Indices { global, first, block, blocks, stride, rest })
    }
}

/// The type of the elements with these indices, with the bounds of the whole array.
fn part(
    dimensions: impl DoubleEndedIterator<Item = Result<Indices, Error>>,
    order: Order,
    old: &Datatype,
) -> Result<Datatype, Error> {
    let mut built =
        Built { shape: old.shape.clone(), stride: old.bounds().extent, ends: old.ends, dimensions: 0 };
    match order {
        Order::C => dimensions.rev().try_for_each(|indices| built.add(indices?))?,
        Order::Fortran => dimensions.into_iter().try_for_each(|indices| built.add(indices?))?,
    }
    if built.dimensions == 0 {
        return Err(Error::Argument);
    }
    let ends = Ends { lb: 0, ub: built.stride, marked: true, ..built.ends };
    Ok(Datatype::new(built.shape, ends.checked()?))
}

/// The type built so far, from the fastest dimension on.
struct Built {
    shape: Option<Shape>,
    /// The distance between consecutive indices of the next dimension.
    stride: isize,
    ends: Ends,
    dimensions: usize,
}

impl Built {
    fn add(&mut self, indices: Indices) -> Result<(), Error> {
        let Indices { global, first, block, blocks, stride, rest } = indices;
        self.dimensions += 1;
        let extent = self.stride;
        self.stride = times(global, extent)?;
        let Some(shape) = &self.shape else { return Ok(()) };
        let at = |index: usize| times(index, extent);
        let mut parts = vec![];
        let mut ends: Option<Ends> = None;
        // The number of blocks, the number of elements in each, and the index of the first element.
        for (blocks, block, first) in [(blocks, block, first), (1, rest, global - rest)] {
            if block == 0 || blocks == 0 {
                continue;
            }
            let last = first + (blocks - 1) * stride + (block - 1);
            let (low, high) = (at(first)?, at(last)?);
            let reach = self.ends.over(low.min(high), low.max(high))?;
            ends = Some(ends.map_or(reach, |ends| ends.and(reach)));
            let placed = shape.moved(at(first)?)?.repeated(block, extent)?;
            let Some(placed) = placed else { continue };
            let stride = if blocks > 1 { at(stride)? } else { 0 };
            parts.extend(placed.repeated(blocks, stride)?.map(Ok));
        }
        self.shape = Shape::joined(parts)?;
        self.ends = ends.unwrap_or(Ends { align: self.ends.align, ..Ends::none(self.ends.dialect) });
        Ok(())
    }
}
