//! Bounds: from where to where a datatype reaches, and how far its elements lie apart (MPI 3.1, section 4.1.6 to 4.1.8).

use crate::Error;

/// Whose rules the bounds follow, where MPIs differ.
///
/// Section 4.1.6 of the standard rounds the extent of a type up to the alignment of its basic types; section 4.1.7 keeps bounds that `resized`
/// has set in force in all types built from that one, where components without such bounds do not count beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Open MPI 4.1: as the standard has it. What was added for alignment stays when a later block begins before the first.
    OpenMpi,
    /// MPICH 4.0: only extents of structures are rounded up, and all components count, whatever bounds were set.
    Mpich,
}

/// The bounds of a datatype, in bytes from its address 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The lower bound.
    pub lb: isize,
    /// The distance from the lower bound to the upper one; elements lie so far apart. May be negative after `resized`.
    pub extent: isize,
    /// The first byte that is part of the type.
    pub true_lb: isize,
    /// The distance from there to the end of the last one.
    pub true_extent: isize,
}

/// The same by lower and upper ends, and what structures need to know of their components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) lb: isize,
    pub(crate) ub: isize,
    /// Both 0 if the type has no bytes.
    pub(crate) true_lb: isize,
    pub(crate) true_ub: isize,
    /// Whether `lb` and `ub` were set.
    pub(crate) marked: bool,
    /// Of the basic types in it, the greatest; 1 if there are none.
    pub(crate) align: usize,
    pub(crate) empty: bool,
    /// None of a type that no predefined one is in: such a type fits either dialect.
    pub(crate) dialect: Option<Dialect>,
}

impl Ends {
    /// Those of a type of no elements.
    pub(crate) const fn none(dialect: Option<Dialect>) -> Self {
        Self { lb: 0, ub: 0, true_lb: 0, true_ub: 0, marked: false, align: 1, empty: true, dialect }
    }

    pub(crate) fn bounds(&self) -> Bounds {
        // Both differences fit: `checked` saw to it.
        let distance = |low: isize, high: isize| high.wrapping_sub(low);
        Bounds {
            lb: self.lb,
            extent: distance(self.lb, self.ub),
            true_lb: self.true_lb,
            true_extent: distance(self.true_lb, self.true_ub),
        }
    }

    /// These, if extents fit into an address.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        self.ub.checked_sub(self.lb).ok_or(Error::Overflow)?;
        self.true_ub.checked_sub(self.true_lb).ok_or(Error::Overflow)?;
        Ok(self)
    }

    /// Those of elements at all the displacements from `low` to `high`, which both have one.
    pub(crate) fn over(self, low: isize, high: isize) -> Result<Self, Error> {
        let (lb, ub) = (add(self.lb, low)?, add(self.ub, high)?);
        // A type whose extent is negative reaches lowest where it is placed highest. Its ends as such are no interval; MPIs take
        // the lowest lower and the highest upper end, and so do we.
        let mut over = Self { lb, ub, ..self };
        if !self.empty {
            over.true_lb = add(self.true_lb, low)?;
            over.true_ub = add(self.true_ub, high)?;
        }
        over.checked()
    }

    /// Those of both together, which are of one dialect. Where neither has one, the standard's rules count, which are Open MPI's too.
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

    /// The extent rounded up to the alignment, as Open MPI does it after each block of a type.
    pub(crate) fn aligned(self) -> Result<Self, Error> {
        if self.dialect == Some(Dialect::OpenMpi) && !self.marked { self.padded() } else { Ok(self) }
    }

    /// The extent rounded up to the alignment.
    pub(crate) fn padded(self) -> Result<Self, Error> {
        let Ok(extent) = usize::try_from(self.ub.checked_sub(self.lb).ok_or(Error::Overflow)?) else {
            return Ok(self);
        };
        let extent = extent.checked_next_multiple_of(self.align).ok_or(Error::Overflow)?;
        let ub = add(self.lb, isize::try_from(extent).map_err(|_| Error::Overflow)?)?;
        Self { ub, ..self }.checked()
    }
}

/// The sum, if it is an address.
pub(crate) fn add(one: isize, other: isize) -> Result<isize, Error> {
    one.checked_add(other).ok_or(Error::Overflow)
}

/// `count` times `stride`, if it is an address.
pub(crate) fn times(count: usize, stride: isize) -> Result<isize, Error> {
    isize::try_from(count).ok().and_then(|count| count.checked_mul(stride)).ok_or(Error::Overflow)
}
