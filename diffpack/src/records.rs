//! Records: structures of several fields one after the other, coded field by field (format, section 12).
#![forbid(unsafe_code)]

use crate::predictor::Malformed;

/// The longest record, in bytes.
pub(crate) const MAX_STRIDE: usize = 256;
/// Records that are coded together.
pub(crate) const PIECE: usize = 2048;
/// Bytes of the longest column.
pub(crate) const COLUMN: usize = PIECE * 8;

/// The fields of a record, without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The binary logarithm of each field's bytes.
    logs: [u8; MAX_STRIDE],
    count: usize,
    stride: usize,
}

impl Layout {
    /// A record without fields.
    pub(crate) const EMPTY: Self = Self { logs: [0; MAX_STRIDE], count: 0, stride: 0 };

    /// Adds a field of 1, 2, 4 or 8 bytes; not if the record would be too long.
    pub(crate) fn push(&mut self, width: usize) -> Option<()> {
        let stride = self.stride + width;
        let to = self.logs.get_mut(self.count).filter(|_| stride <= MAX_STRIDE)?;
        *to = width.trailing_zeros() as u8;
        self.count += 1;
        self.stride = stride;
        Some(())
    }

    /// Bytes of a record; 0 only of one without fields.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// How many fields there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Place and width of each field, in bytes.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut at = 0;
        self.logs.iter().take(self.count).map(move |log| {
            let field = (at, 1 << log);
            at += field.1;
            field
        })
    }

    /// What describes it on the wire, and how many bytes of that there are.
    pub(crate) fn to_wire(&self) -> ([u8; 1 + MAX_STRIDE / 4], usize) {
        let mut wire = [0; 1 + MAX_STRIDE / 4];
        wire[0] = self.stride.wrapping_sub(1) as u8;
        for (byte, logs) in wire[1..].iter_mut().zip(self.logs[..self.count].chunks(4)) {
            *byte = logs.iter().zip(0..).fold(0, |byte, (log, i)| byte | log << (2 * i));
        }
        (wire, 1 + self.count.div_ceil(4))
    }

    /// Reads it from the front of a wire; gives its length too.
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

/// Bytes of a field's word in its column: single bytes become words of 16 bits.
pub(crate) fn column_width(field: usize) -> usize {
    field.max(2)
}

/// Collects the field at `at` of each record. Words of `N` bytes from fields of `F`, zeros above.
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
