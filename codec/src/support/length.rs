//! The length of a message before its wire: groups of 7 bits, the lowest first, bit 7 set in all bytes but the last (LEB128), in the shortest form.
#![forbid(unsafe_code)]

use super::Wire;
use crate::DecodeError;

/// The maximum number of bytes of a length: 64 bits.
pub const MAX: usize = 10;

/// The bytes of a length on the wire.
#[must_use]
pub const fn bytes(len: usize) -> usize {
    (usize::BITS - (len | 1).leading_zeros()).div_ceil(7) as usize
}

/// A length, and how many bytes it takes of these.
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

/// Reads a length.
///
/// # Errors
/// [`Truncated`](crate::DecodeErrorKind::Truncated) at the end; [`Corrupt`](crate::DecodeErrorKind::Corrupt) if it has more than 64 bits, or a shorter form.
#[inline]
pub fn read(wire: &mut Wire<'_>) -> Result<u64, DecodeError> {
    let mut len = 0;
    for shift in (0..).step_by(7).take(MAX) {
        let place = *wire;
        let byte = wire.byte()?;
        let group = u64::from(byte & 0x7f);
        // Neither a 65th bit, nor zeros at the end, which a shorter form lacks.
        if group << shift >> shift != group || byte == 0 && shift > 0 {
            return Err(place.corrupt());
        }
        len |= group << shift;
        if byte < 0x80 {
            return Ok(len);
        }
    }
    Err(wire.corrupt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DecodeErrorKind::{Corrupt, Truncated};

    #[test]
    fn lengths_come_back_and_other_forms_are_refused() {
        let near = |bit: u32| [(1_u64 << bit) - 1, 1 << bit, (1 << bit) + 1];
        for len in (0..64).flat_map(near).chain([u64::MAX]) {
            let Ok(short) = usize::try_from(len) else { continue };
            let (wire, used) = to_wire(short);
            assert_eq!(used, bytes(short));
            let mut read_from = Wire::new(&wire[..used]);
            assert_eq!((read(&mut read_from), read_from.at), (Ok(len), used));
            let cut = read(&mut Wire::new(&wire[..used - 1])).map_err(|error| error.kind);
            assert_eq!(cut, Err(Truncated), "{len}");
            // The same number in one byte more.
            if used < MAX {
                let mut longer = wire;
                longer[used - 1] |= 0x80;
                let longer = read(&mut Wire::new(&longer[..=used])).map_err(|error| error.kind);
                assert_eq!(longer, Err(Corrupt), "{len}");
            }
        }
        let refused = |last: &[u8]| {
            let mut wire = [0xff; MAX + 1];
            wire[MAX - last.len() + 1..].copy_from_slice(last);
            read(&mut Wire::new(&wire)).map_err(|error| error.kind)
        };
        assert_eq!(refused(&[2, 0]), Err(Corrupt), "65 bits");
        assert_eq!(refused(&[0x81, 0]), Err(Corrupt), "11 bytes");
        assert_eq!(refused(&[1, 0]), Ok(u64::MAX));
    }
}
