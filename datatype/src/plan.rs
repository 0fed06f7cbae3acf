//! A plan: how elements of a datatype are packed and unpacked, found once.

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
use mpress_codec::simd::Level;
use walk::{Pack, Unpack, Walk};

/// How a number of elements of a datatype lie in memory and in the packed stream, ready to be copied either way.
///
/// The packed stream is the elements' bytes in the order of their type maps, without gaps: what `MPI_Pack` writes. Any range of it can be
/// packed or unpacked by itself, at once, in any order, without a trace of what was done before; so a message can be taken piece by piece.
#[derive(Clone, Debug)]
pub struct Plan {
    shape: Option<Shape>,
    /// From where to where the elements reach.
    reach: Range<isize>,
    level: Level,
    machine: Machine,
}

/// How regular an access is: section 5.4 of the paper.
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
    /// For `count` elements, for this machine. That is cheap, and takes memory for one loop at most.
    ///
    /// # Errors
    /// [`Error::Overflow`] if they do not fit into the address space.
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
        Ok(Self { shape, reach, level: Level::detect(), machine: Machine::detect() })
    }

    /// The same with the kernels of another level. It does not change the bytes.
    #[must_use]
    pub fn with_level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// The same for another machine. It does not change the bytes.
    #[must_use]
    pub fn with_machine(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// Bytes of the packed stream.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shape.as_ref().map_or(0, |shape| shape.form.size())
    }

    /// From where to where the elements reach, in bytes from the address of the first.
    #[must_use]
    pub fn reach(&self) -> Range<isize> {
        self.reach.clone()
    }

    /// If the packed stream is the memory as it is: where in memory it begins.
    #[must_use]
    pub fn contiguous(&self) -> Option<isize> {
        match &self.shape {
            None => Some(0),
            Some(Shape { at, form: Form::Run(_) }) => Some(*at),
            Some(_) => None,
        }
    }

    /// How regular the access is.
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

    /// Whether packing changes the order of the memory's accesses: whether the outermost loops, up to eight, pass the test of section 5.2 of the
    /// paper, or are a transpose.
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.shape
            .as_ref()
            .is_some_and(|shape| nest::Nest::of(&shape.form).is_some_and(|nest| nest.reorders(&self.machine)))
    }

    /// Packs the bytes `range` of the stream from elements in `memory` to the front of `packed`.
    ///
    /// # Errors
    /// [`PackError::Range`] if the stream has no such range or `packed` is shorter, [`PackError::Memory`] if elements (of the whole plan) lie
    /// outside `memory`. Nothing is written then.
    pub fn pack(&self, memory: Source<'_>, range: Range<usize>, packed: Target<'_>) -> Result<(), PackError> {
        let len = self.check(&range)?;
        memory.get(self.reach.start, self.reach.end, 0).ok_or(PackError::Memory)?;
        packed.get(0, len, 0).ok_or(PackError::Range)?;
        self.walk::<Pack>(&memory, &packed, range)
    }

    /// Unpacks the bytes `range` of the stream from the front of `packed` to elements in `memory`.
    ///
    /// Where elements overlap, the last byte of the stream stays, as long as ranges are unpacked in their order.
    ///
    /// # Errors
    /// Those of [`pack`](Self::pack)
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
        let kernel = Kernel::new(self.level);
        let Some(shape) = &self.shape else { return Ok(()) };
        if range.is_empty() {
            return Ok(());
        }
        let walk = Walk::<W>::new(kernel, &self.machine, from, to);
        walk.part(&shape.form, shape.at, range, 0)
    }

    /// The piece length for taking a message piece by piece: about `target` bytes, but whole rows of tiles where the plan transposes, so that no
    /// line of the memory is loaded for two pieces.
    #[must_use]
    pub fn piece(&self, target: usize) -> usize {
        let size = self.size();
        let rows =
            self.shape.as_ref().and_then(|shape| nest::Nest::of(&shape.form)).map_or(1, |nest| nest.rows());
        let target = target.clamp(1, size.max(1));
        // More than four times what was asked for fits no cache that it was asked for.
        if rows > target.saturating_mul(4) {
            return target;
        }
        target.checked_next_multiple_of(rows.max(1)).map_or(target, |whole| whole.min(size.max(1)))
    }
}
