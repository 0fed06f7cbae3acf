//! The length of a message before its wire, as in the formats of mpress: groups of 7 bits, lowest first, bit 7 set in all bytes but the last
//! (LEB128), in the shortest form.
#![forbid(unsafe_code)]

use crate::DecodeError;
use crate::DecodeErrorKind::{Corrupt, Truncated};

/// The maximum number of bytes of a length: 64 bits.
pub const MAX: usize = 10;

/// The bytes of a length on the wire.
#[must_use]
pub const fn bytes(len: usize) -> usize {
    (usize::BITS - (len | 1).leading_zeros()).div_ceil(7) as usize
}

/// A length, and the number of these bytes that it takes.
#[must_use]
#[inline]
pub fn to_wire(len: usize) -> ([u8; MAX], usize) {
    let (mut wire, used) = ([0; MAX], bytes(len));
    for (byte, shift) in wire[..used].iter_mut().zip((0..).step_by(7)) {
        *byte = (len >> shift) as u8 | 0x80;
    }
    wire[used - 1] &= 0x7f;
    (wire, used)
}

/// The length that begins at byte `at` of a wire, and the offset of the byte after it.
///
/// # Errors
/// [`Truncated`] at the end of the wire; [`Corrupt`] if the length has more than 64 bits, or is not in the shortest form.
#[inline]
pub fn read(wire: &[u8], at: usize) -> Result<(u64, usize), DecodeError> {
    let mut len = 0;
    for (at, shift) in (at..).zip((0..).step_by(7)).take(MAX) {
        let byte = *wire.get(at).ok_or(DecodeError::new(Truncated, wire.len()))?;
        let group = u64::from(byte & 0x7f);
        // Refuses a 65th bit, and trailing zeros, which the shortest form lacks.
        if group << shift >> shift != group || byte == 0 && shift > 0 {
            return Err(DecodeError::new(Corrupt, at));
        }
        len |= group << shift;
        if byte < 0x80 {
            return Ok((len, at + 1));
        }
    }
    Err(DecodeError::new(Corrupt, at + MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_back_and_other_forms_are_refused() {
        let near = |bit: u32| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1];
        for len in (0..64).flat_map(near).chain([u64::MAX]) {
            let Ok(short) = usize::try_from(len) else { continue };
            let (wire, used) = to_wire(short);
            assert_eq!(used, bytes(short));
            assert_eq!(read(&wire[..used], 0), Ok((len, used)));
            assert_eq!(read(&[&[0xff], &wire[..used]].concat(), 1), Ok((len, used + 1)));
            assert_eq!(read(&wire[..used - 1], 0), Err(DecodeError::new(Truncated, used - 1)), "{len}");
            // The same number in one more byte.
            if used < MAX {
                let mut longer = wire;
                longer[used - 1] |= 0x80;
                assert_eq!(read(&longer[..=used], 0), Err(DecodeError::new(Corrupt, used)), "{len}");
            }
        }
        let refused = |last: &[u8]| {
            let mut wire = [0xff; MAX + 1];
            wire[MAX - last.len() + 1..].copy_from_slice(last);
            read(&wire, 0).map(|(len, _)| len)
        };
        assert_eq!(refused(&[2, 0]), Err(DecodeError::new(Corrupt, 9)), "65 bits");
        assert_eq!(refused(&[0x81, 0]), Err(DecodeError::new(Corrupt, MAX)), "11 bytes");
        assert_eq!(refused(&[1, 0]), Ok(u64::MAX));
    }
}
