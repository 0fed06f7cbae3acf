//! Element kinds and destinations as C constants.

use crate::error::Error;
use mpress::{Destination, Kind};
use std::ffi::c_int;

/// The element kind of a message. It affects how well a codec compresses, never whether the bytes
/// are restored exactly.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mpress_kind {
    /// Bytes without a known structure: packed or mixed data.
    Other = 0,
    /// Integers of 8 bits, and characters.
    Int8 = 1,
    /// Integers of 16 bits.
    Int16 = 2,
    /// Integers of 32 bits.
    Int32 = 3,
    /// Integers of 64 bits.
    Int64 = 4,
    /// IEEE 754 floats of 32 bits, single or in pairs (complex).
    F32 = 5,
    /// IEEE 754 floats of 64 bits, single or in pairs (complex).
    F64 = 6,
}

/// The destination of a message.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mpress_destination {
    /// A process that shares memory with this one. By default such messages are not compressed.
    SameNode = 0,
    /// A process on another node.
    OtherNode = 1,
}

pub(crate) fn kind(kind: c_int) -> Result<Kind, Error> {
    let known = u8::try_from(kind).ok().and_then(Kind::from_wire);
    known.ok_or_else(|| Error::argument(format!("kind is {kind}, which is not an mpress_kind")))
}

pub(crate) fn destination(to: c_int) -> Result<Destination, Error> {
    let known = usize::try_from(to).ok().and_then(|to| Destination::ALL.get(to).copied());
    known.ok_or_else(|| Error::argument(format!("destination is {to}, which is not an mpress_destination")))
}

const _: () = {
    assert!(mpress_kind::Other as u8 == Kind::Other as u8);
    assert!(mpress_kind::Int8 as u8 == Kind::Int8 as u8);
    assert!(mpress_kind::Int16 as u8 == Kind::Int16 as u8);
    assert!(mpress_kind::Int32 as u8 == Kind::Int32 as u8);
    assert!(mpress_kind::Int64 as u8 == Kind::Int64 as u8);
    assert!(mpress_kind::F32 as u8 == Kind::F32 as u8);
    assert!(mpress_kind::F64 as u8 == Kind::F64 as u8);
    assert!(matches!(Destination::ALL[mpress_destination::SameNode as usize], Destination::SameNode));
    assert!(matches!(Destination::ALL[mpress_destination::OtherNode as usize], Destination::OtherNode));
};
