//! A plan: how to pack and unpack elements of a datatype, computed once.

mod nest;
mod walk;

use crate::Datatype;
use crate::bounds::{add, times};
use crate::error::{Error, PackError};
use crate::kernel::Kernel;
use crate::machine::Machine;
use crate::memory::{Source, Target};
use crate::shape::{Form, Parts, Shape};
use core::ops::Range;
use mpress_codec::simd::Simd;
use walk::{Pack, Unpack, Walk};

/// The layout of a number of elements of a datatype in memory and in the packed stream, ready for copies in both directions.
///
/// The packed stream consists of the elements' bytes in the order of their type maps, without gaps, as `MPI_Pack` writes it. Any range of it can be
/// packed or unpacked independently, in any order or concurrently, so a message can be processed piece by piece.
#[derive(Clone, Debug)]
pub struct Plan {
    shape: Option<Shape>,
    /// The range of memory that the elements span.
    reach: Range<isize>,
    simd: Simd,
    machine: Machine,
}

/// The regularity of an access: section 5.4 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// One run of bytes, or none.
    Contiguous,
    /// Blocks of one length at fixed strides: nested loops.
    FixedBlockFixedStride,
    /// Blocks of one length at listed places.
    FixedBlockVariableStride,
    /// Blocks of several lengths at a fixed stride.
    VariableBlockFixedStride,
    /// Blocks of several lengths at listed places, or parts of several kinds.
    VariableBlockVariableStride,
}

impl Plan {
    /// A plan for `count` elements on this machine. This is cheap, and takes memory for at most one loop.
    ///
    /// # Errors
    /// [`Error::Overflow`] if the elements do not fit into the address space.
    pub fn new(datatype: &Datatype, count: usize) -> Result<Self, Error> {
        let (mut shape, mut reach) = (None, 0..0);
        if let Some(one) = &datatype.shape
            && count > 0
        {
            let bounds = datatype.bounds();
            shape = one.repeated(count, bounds.extent)?;
            let last = times(count - 1, bounds.extent)?;
            let end = add(bounds.true_lb, bounds.true_extent)?;
            reach = add(bounds.true_lb, last.min(0))?..add(end, last.max(0))?;
            reach.end.checked_sub(reach.start).ok_or(Error::Overflow)?;
        }
        Ok(Self { shape, reach, simd: Simd::detect(), machine: Machine::detect() })
    }

    /// Uses the kernels of another tier. This does not change the result.
    #[must_use]
    pub fn with_simd(self, simd: Simd) -> Self {
        Self { simd, ..self }
    }

    /// Uses the values of another machine. This does not change the result.
    #[must_use]
    pub fn with_machine(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// The length of the packed stream in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.as_ref().map_or(0, |shape| shape.form.size())
    }

    /// The range of memory that the elements span, in bytes relative to the address of the first.
    #[must_use]
    pub fn reach(&self) -> Range<isize> {
        self.reach.clone()
    }

    /// If the packed stream is one contiguous part of memory: the offset of that part.
    #[must_use]
    pub fn contiguous(&self) -> Option<isize> {
        match &self.shape {
            None => Some(0),
            Some(Shape { at, form: Form::Run(_) }) => Some(*at),
            Some(_) => None,
        }
    }

    /// The regularity of the access.
    #[must_use]
    pub fn class(&self) -> Class {
        let Some(shape) = &self.shape else { return Class::Contiguous };
        let mut form = &shape.form;
        if let Form::Run(_) = form {
            return Class::Contiguous;
        }
        while let Form::Loop(repeated) = form {
            form = &repeated.body;
        }
        let Form::List(list) = form else { return Class::FixedBlockFixedStride };
        let [first, second, ..] = list.places() else { return Class::VariableBlockVariableStride };
        match list.parts() {
            Parts::Same(_) => Class::FixedBlockVariableStride,
            Parts::Runs(_) if list.places().windows(2).all(|pair| pair[1] - pair[0] == second - first) => {
                Class::VariableBlockFixedStride
            }
            _ => Class::VariableBlockVariableStride,
        }
    }

    /// Whether packing changes the order of memory accesses: whether the outermost loops (up to eight) pass the test of section 5.2 of the paper, or
    /// are a transpose.
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.shape
            .as_ref()
            .is_some_and(|shape| nest::Nest::of(&shape.form).is_some_and(|nest| nest.reorders(&self.machine)))
    }

    /// Packs the bytes `range` of the stream from elements in `memory` to the front of `packed`.
    ///
    /// # Errors
    /// [`PackError::Range`] if the stream has no such range or `packed` is shorter, [`PackError::Memory`] if elements (of the whole plan) lie outside
    /// `memory`. Nothing is written in these cases.
    pub fn pack(&self, memory: Source<'_>, range: Range<usize>, packed: Target<'_>) -> Result<(), PackError> {
        let len = self.check(&range)?;
        memory.get(self.reach.start, self.reach.end, 0).ok_or(PackError::Memory)?;
        packed.get(0, len, 0).ok_or(PackError::Range)?;
        self.walk::<Pack>(&memory, &packed, range)
    }

    /// Unpacks the bytes `range` of the stream from the front of `packed` to elements in `memory`.
    ///
    /// Where elements overlap, the last byte in the stream wins, provided that ranges are unpacked in order.
    ///
    /// # Errors
    /// As for [`pack`](Self::pack).
    pub fn unpack(
        &self,
        packed: Source<'_>,
        range: Range<usize>,
        memory: Target<'_>,
    ) -> Result<(), PackError> {
        let len = self.check(&range)?;
        memory.get(self.reach.start, self.reach.end, 0).ok_or(PackError::Memory)?;
        packed.get(0, len, 0).ok_or(PackError::Range)?;
        self.walk::<Unpack>(&packed, &memory, range)
    }

    /// The length of a range of the stream.
    fn check(&self, range: &Range<usize>) -> Result<isize, PackError> {
        if range.start > range.end || range.end > self.size() {
            return Err(PackError::Range);
        }
        isize::try_from(range.len()).map_err(|_| PackError::Range)
    }

    fn walk<W: walk::Way>(
        &self,
        from: &Source<'_>,
        to: &Target<'_>,
        range: Range<usize>,
    ) -> Result<(), PackError> {
        let kernel = Kernel::new(self.simd);
        let Some(shape) = &self.shape else { return Ok(()) };
        if range.is_empty() {
            return Ok(());
        }
        let walk = Walk::<W>::new(kernel, &self.machine, from, to);
        walk.part(&shape.form, shape.at, range, 0)
    }

    /// The piece length for processing a message piece by piece: about `target` bytes, but whole rows of tiles if the plan transposes, so that no
    /// line of memory is loaded for two pieces.
    #[must_use]
    pub fn piece(&self, target: usize) -> usize {
        let size = self.size();
        let rows =
            self.shape.as_ref().and_then(|shape| nest::Nest::of(&shape.form)).map_or(1, |nest| nest.rows());
        let target = target.clamp(1, size.max(1));
        // A piece of more than four times `target` would not fit in the cache for which `target` was chosen.
        if rows > target.saturating_mul(4) {
            return target;
        }
        target.checked_next_multiple_of(rows.max(1)).map_or(target, |whole| whole.min(size.max(1)))
    }
}
