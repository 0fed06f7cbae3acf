//! Errors in the description of a datatype, or in the memory on which it is used.

use core::fmt;

/// Why a datatype cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A size, a displacement or a bound does not fit into an address.
    Overflow,
    /// Lists that must have the same number of entries differ.
    Length,
    /// An invalid argument, such as a subarray that ends outside its array.
    Argument,
    /// A combiner that is not a constructor of MPI 3.1.
    Combiner,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overflow => "the datatype does not fit into the address space",
            Self::Length => "lists of different lengths",
            Self::Argument => "an argument that this constructor cannot take",
            Self::Combiner => "an unknown combiner",
        })
    }
}

impl core::error::Error for Error {}

/// Why data was not, or not completely, packed or unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackError {
    /// The elements reach outside the memory. Nothing was copied.
    Memory,
    /// The range reaches outside the packed stream. Nothing was copied.
    Range,
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "the elements reach beyond the memory",
            Self::Range => "the range reaches beyond the packed stream",
        })
    }
}

impl core::error::Error for PackError {}
