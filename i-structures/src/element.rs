//! Values of I-structures, and the states of their elements.

use crate::transport::Content;

/// The content of a type's bytes, from the type's number.
pub(crate) fn content(kind: u16) -> Content {
    match kind {
        1 | 5 => Content::Int8,
        2 | 6 => Content::Int16,
        3 | 7 => Content::Int32,
        4 | 8 => Content::Int64,
        9 => Content::F32,
        10 => Content::F64,
        _ => Content::Other,
    }
}

/// A value that an element can hold. It is sent in little-endian format. `write` and `read` must not use a node or its structures.
pub trait Element: Copy + 'static {
    /// Length of a value in bytes.
    const BYTES: usize;
    /// The number of the type, part of the check of a structure. Types of this crate use numbers below 256; an array has the number of its elements.
    const KIND: u16;

    /// Appends the value's `BYTES` bytes.
    fn write(&self, to: &mut Vec<u8>);

    /// The value of these bytes; `None` unless there are `BYTES` of them and they are valid.
    fn read(from: &[u8]) -> Option<Self>;
}

macro_rules! elements {
    ($($type:ty: $kind:literal),*) => {$(
        impl Element for $type {
            const BYTES: usize = size_of::<$type>();
            const KIND: u16 = $kind;

            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &[u8]) -> Option<Self> {
                from.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}

elements!(u8: 1, u16: 2, u32: 3, u64: 4, i8: 5, i16: 6, i32: 7, i64: 8, f32: 9, f64: 10);

impl<T: Element + Default, const N: usize> Element for [T; N] {
    const BYTES: usize = T::BYTES * N;
    const KIND: u16 = T::KIND;

    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &[u8]) -> Option<Self> {
        if from.len() != Self::BYTES {
            return None;
        }
        let mut values = [T::default(); N];
        for (value, bytes) in values.iter_mut().zip(from.chunks_exact(T::BYTES)) {
            *value = T::read(bytes)?;
        }
        Some(values)
    }
}

/// The state of an element (section 3.1 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementState {
    /// Nothing is stored, and no rank waits.
    Empty,
    /// Nothing is stored, and readers wait.
    Deferred,
    /// The value is stored.
    Full,
}
