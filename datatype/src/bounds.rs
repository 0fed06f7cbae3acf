//! Bounds: the range of a datatype and the distance between its elements (MPI 3.1, sections 4.1.6 to 4.1.8).

use crate::Error;

/// The rules for bounds, where MPIs differ.
///
/// Section 4.1.6 of the standard rounds the extent of a type up to the alignment of its basic types. By section 4.1.7, bounds set by `resized` carry
/// over to all types built from that one; components without such bounds are then ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Open MPI 4.1: follows the standard. Padding for alignment is kept when a later block begins before the first.
    OpenMpi,
    /// MPICH 4.0: rounds up only the extents of structures, and all components count, whether or not their bounds were set.
    Mpich,
}

/// The bounds of a datatype, in bytes relative to its address 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The lower bound.
    pub lb: isize,
    /// The distance from the lower bound to the upper bound, and between consecutive elements. May be negative after `resized`.
    pub extent: isize,
    /// The offset of the first byte of the type's data.
    pub true_lb: isize,
    /// The distance from there to the end of the last data byte.
    pub true_extent: isize,
}

/// The bounds as lower and upper ends, and what structures need to know about their components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) lb: isize,
    pub(crate) ub: isize,
    /// Both 0 if the type has no bytes.
    pub(crate) true_lb: isize,
    pub(crate) true_ub: isize,
    /// Whether `lb` and `ub` were set.
    pub(crate) marked: bool,
    /// The greatest alignment of the basic types in it; 1 if there are none.
    pub(crate) align: usize,
    pub(crate) empty: bool,
    /// `None` for a type that contains no predefined type: it fits either dialect.
    pub(crate) dialect: Option<Dialect>,
}

impl Ends {
    /// The ends of a type without elements.
    pub(crate) const fn none(dialect: Option<Dialect>) -> Self {
        Self { lb: 0, ub: 0, true_lb: 0, true_ub: 0, marked: false, align: 1, empty: true, dialect }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        // Both differences fit, as `checked` has verified.
        let distance = |low: isize, high: isize| high.wrapping_sub(low);
        Bounds {
            lb: self.lb,
            extent: distance(self.lb, self.ub),
            true_lb: self.true_lb,
            true_extent: distance(self.true_lb, self.true_ub),
        }
    }

    /// Returns `self` if both extents fit into an address.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        self.ub.checked_sub(self.lb).ok_or(Error::Overflow)?;
        self.true_ub.checked_sub(self.true_lb).ok_or(Error::Overflow)?;
        Ok(self)
    }

    /// The ends of elements at displacements from `low` to `high`, inclusive.
    pub(crate) fn over(self, low: isize, high: isize) -> Result<Self, Error> {
        let (lb, ub) = (add(self.lb, low)?, add(self.ub, high)?);
        // A type with a negative extent reaches lowest where it is placed highest, so its ends are not an interval. Like MPIs, take the lowest lower
        // end and the highest upper end.
        let mut over = Self { lb, ub, ..self };
        if !self.empty {
            over.true_lb = add(self.true_lb, low)?;
            over.true_ub = add(self.true_ub, high)?;
        }
        over.checked()
    }

    /// The ends of both together, which must be of one dialect. If neither has a dialect, the rules of the standard apply, as in Open MPI.
    pub(crate) fn and(self, other: Self) -> Self {
        let marks = self.dialect != Some(Dialect::Mpich) && self.marked != other.marked;
        let (lb, ub) = match (marks, self.marked) {
            (true, true) => (self.lb, self.ub),
            (true, false) => (other.lb, other.ub),
            (false, _) => (self.lb.min(other.lb), self.ub.max(other.ub)),
        };
        let (true_lb, true_ub) = match (self.empty, other.empty) {
            (false, false) => (self.true_lb.min(other.true_lb), self.true_ub.max(other.true_ub)),
            (true, false) => (other.true_lb, other.true_ub),
            (_, true) => (self.true_lb, self.true_ub),
        };
        Self {
            lb,
            ub,
            true_lb,
            true_ub,
            marked: self.marked || other.marked,
            align: self.align.max(other.align),
            empty: self.empty && other.empty,
            dialect: self.dialect,
        }
    }

    /// Rounds the extent up to the alignment, as Open MPI does after each block of a type.
    pub(crate) fn aligned(self) -> Result<Self, Error> {
        if self.dialect == Some(Dialect::OpenMpi) && !self.marked { self.padded() } else { Ok(self) }
    }

    /// Rounds the extent up to the alignment.
    pub(crate) fn padded(self) -> Result<Self, Error> {
        let Ok(extent) = usize::try_from(self.ub.checked_sub(self.lb).ok_or(Error::Overflow)?) else {
            return Ok(self);
        };
        let extent = extent.checked_next_multiple_of(self.align).ok_or(Error::Overflow)?;
        let ub = add(self.lb, isize::try_from(extent).map_err(|_| Error::Overflow)?)?;
        Self { ub, ..self }.checked()
    }
}

/// The sum, if it fits into an address.
pub(crate) fn add(one: isize, other: isize) -> Result<isize, Error> {
    one.checked_add(other).ok_or(Error::Overflow)
}

/// `count` times `stride`, if it fits into an address.
pub(crate) fn times(count: usize, stride: isize) -> Result<isize, Error> {
    isize::try_from(count).ok().and_then(|count| count.checked_mul(stride)).ok_or(Error::Overflow)
}
