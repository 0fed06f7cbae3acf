//! The fields of records (format, section 9).
#![forbid(unsafe_code)]

use mpress_codec::DecodeError;
use mpress_codec_support::Wire;

/// The longest record, in bytes.
pub(crate) const MAX_STRIDE: usize = 256;
/// The number of records that are coded together.
pub(crate) const PIECE: usize = 2048;
/// Length in bytes of the longest column.
pub(crate) const COLUMN: usize = PIECE * 8;

/// The fields of a record, without gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    /// The binary logarithm of each field's size in bytes.
    logs: [u8; MAX_STRIDE],
    count: usize,
    stride: usize,
}

impl Fields {
    /// No fields yet.
    pub(crate) const EMPTY: Self = Self { logs: [0; MAX_STRIDE], count: 0, stride: 0 };

    /// Adds a field of 1, 2, 4 or 8 bytes. Returns `None` if the record would be too long.
    pub(crate) fn push(&mut self, width: usize) -> Option<()> {
        let stride = self.stride + width;
        let to = self.logs.get_mut(self.count).filter(|_| stride <= MAX_STRIDE)?;
        *to = width.trailing_zeros() as u8;
        self.count += 1;
        self.stride = stride;
        Some(())
    }

    /// Bytes of a record; 0 only if it has no fields.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Number of fields.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Offset and width of each field, in bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut at = 0;
        self.logs.iter().take(self.count).map(move |log| {
            let field = (at, 1 << log);
            at += field.1;
            field
        })
    }

    /// The wire form and its length in bytes.
    pub(crate) fn to_wire(&self) -> ([u8; 1 + MAX_STRIDE / 4], usize) {
        let mut wire = [0; 1 + MAX_STRIDE / 4];
        wire[0] = self.stride.wrapping_sub(1) as u8;
        for (byte, logs) in wire[1..].iter_mut().zip(self.logs[..self.count].chunks(4)) {
            *byte = logs.iter().zip(0..).fold(0, |byte, (log, i)| byte | log << (2 * i));
        }
        (wire, 1 + self.count.div_ceil(4))
    }

    /// Reads the fields.
    pub(crate) fn from_wire(wire: &mut Wire<'_>) -> Result<Self, DecodeError> {
        let corrupt = wire.corrupt();
        let stride = usize::from(wire.byte()?) + 1;
        let mut fields = Self::EMPTY;
        while fields.stride < stride {
            let four = wire.byte()?;
            for i in 0..4 {
                if fields.stride < stride {
                    fields.push(1 << (four >> (2 * i) & 3)).ok_or(corrupt)?;
                }
            }
        }
        if fields.stride == stride { Ok(fields) } else { Err(corrupt) }
    }
}

/// Bytes of a word in the field's column: single bytes become words of 16 bits.
pub(crate) fn column_width(field: usize) -> usize {
    field.max(2)
}
