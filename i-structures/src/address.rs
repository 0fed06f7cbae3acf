//! Logical addresses: memory can be freed and reused, but the number of a structure cannot.

use std::fmt;

/// The number of a structure, the same on all ranks; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StructureId(pub u64);

/// An element of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address {
    /// The structure.
    pub structure: StructureId,
    /// Index of the element, starting at 0.
    pub index: u64,
}

impl fmt::Display for StructureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "structure {}", self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "element {} of {}", self.index, self.structure)
    }
}
