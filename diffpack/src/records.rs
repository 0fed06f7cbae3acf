//! Records: structures of several fields, coded field by field (format, section 10).
#![forbid(unsafe_code)]

use crate::predictor::Malformed;

/// The longest record, in bytes.
pub(crate) const MAX_STRIDE: usize = 256;
/// The number of records that are coded together.
pub(crate) const PIECE: usize = 2048;
/// Length in bytes of the longest column.
pub(crate) const COLUMN: usize = PIECE * 8;

/// The fields of a record, without gaps between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The binary logarithm of each field's size in bytes.
    logs: [u8; MAX_STRIDE],
    count: usize,
    stride: usize,
}

impl Layout {
    /// A record without fields.
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
    pub(crate) fn fields(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut at = 0;
        self.logs.iter().take(self.count).map(move |log| {
            let field = (at, 1 << log);
            at += field.1;
            field
        })
    }

    /// The layout's wire form and its length in bytes.
    pub(crate) fn to_wire(&self) -> ([u8; 1 + MAX_STRIDE / 4], usize) {
        let mut wire = [0; 1 + MAX_STRIDE / 4];
        wire[0] = self.stride.wrapping_sub(1) as u8;
        for (byte, logs) in wire[1..].iter_mut().zip(self.logs[..self.count].chunks(4)) {
            *byte = logs.iter().zip(0..).fold(0, |byte, (log, i)| byte | log << (2 * i));
        }
        (wire, 1 + self.count.div_ceil(4))
    }

    /// Reads a layout from the front of a wire. Returns its length in bytes too.
    pub(crate) fn from_wire(wire: &[u8]) -> Result<(Self, usize), Malformed> {
        let (first, packed) = wire.split_first().ok_or(Malformed::Truncated)?;
        let stride = usize::from(*first) + 1;
        let mut layout = Self::EMPTY;
        while layout.stride < stride {
            let four = packed.get(layout.count / 4).ok_or(Malformed::Truncated)?;
            let log = four >> (2 * (layout.count % 4)) & 3;
            layout.push(1 << log).ok_or(Malformed::Corrupt)?;
        }
        if layout.stride != stride {
            return Err(Malformed::Corrupt);
        }
        let len = 1 + layout.count.div_ceil(4);
        Ok((layout, len))
    }
}

/// Bytes of a word in the field's column: single bytes become words of 16 bits.
pub(crate) fn column_width(field: usize) -> usize {
    field.max(2)
}

/// Gathers the field at `at` of each record into words of `N` bytes. Fields have `F` bytes and are zero-extended.
#[inline(always)]
pub(crate) fn gather<const N: usize, const F: usize>(
    records: &[u8],
    at: usize,
    stride: usize,
    column: &mut [u8],
) {
    let fields = records.get(at..).unwrap_or_default().chunks(stride);
    for (word, field) in column.as_chunks_mut::<N>().0.iter_mut().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk_mut::<F>(), field.first_chunk()) else { return };
        *low = *field;
        word[F..].fill(0);
    }
}

/// The inverse of [`gather`].
#[inline(always)]
pub(crate) fn scatter<const N: usize, const F: usize>(
    column: &[u8],
    records: &mut [u8],
    at: usize,
    stride: usize,
) {
    let fields = records.get_mut(at..).unwrap_or_default().chunks_mut(stride);
    for (word, field) in column.as_chunks::<N>().0.iter().zip(fields) {
        let (Some(low), Some(field)) = (word.first_chunk::<F>(), field.first_chunk_mut()) else { return };
        *field = *low;
    }
}
