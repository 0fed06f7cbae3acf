//! The 16-byte frame header, version 1. Normative layout: `docs/format/frame.md`.
//!
//! This module only lays out and reads the header. What its check covers is computed by who sends the frame.
#![forbid(unsafe_code)]

use crate::{CodecId, DecodeError, DecodeErrorKind, Kind};

/// Bytes of a frame header.
pub const HEADER_LEN: usize = 16;

/// The version this build writes and reads.
pub const VERSION: u8 = 1;

/// The longest message a frame can carry, in bytes.
pub const MAX_RAW_LEN: u64 = (1 << 48) - 1;

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The codec of the payload.
    pub codec: CodecId,
    /// What the elements of the message are.
    pub kind: Kind,
    /// Length of the message in bytes, at most [`MAX_RAW_LEN`].
    pub raw_len: u64,
    /// Zero bytes that follow the payload.
    pub padding: u16,
    /// CRC-32/ISO-HDLC, as `docs/format/frame.md` defines its coverage.
    pub check: u32,
}

impl Header {
    /// The header's wire form. A `raw_len` above [`MAX_RAW_LEN`] is cut to 48 bits: check it first.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let len = self.raw_len.to_le_bytes();
        let pad = self.padding.to_le_bytes();
        let check = self.check.to_le_bytes();
        [
            VERSION,
            self.codec.0,
            self.kind as u8,
            0,
            check[0],
            check[1],
            check[2],
            check[3],
            len[0],
            len[1],
            len[2],
            len[3],
            len[4],
            len[5],
            pad[0],
            pad[1],
        ]
    }

    /// Reads a header from the front of `wire`. Whether the check holds, and whether the codec is known, is for
    /// the caller to find out.
    ///
    /// # Errors
    /// `Truncated` below 16 bytes, `Unsupported` for another version, `Corrupt` for an unknown kind or a reserved
    /// byte that is not zero.
    pub fn parse(wire: &[u8]) -> Result<Self, DecodeError> {
        use DecodeErrorKind::{Corrupt, Truncated, Unsupported};
        let Some(&[version, codec, kind, reserved, c0, c1, c2, c3, l0, l1, l2, l3, l4, l5, p0, p1]) =
            wire.first_chunk::<HEADER_LEN>()
        else {
            return Err(DecodeError::new(Truncated, wire.len()));
        };
        if version != VERSION {
            return Err(DecodeError::new(Unsupported, 0));
        }
        let kind = Kind::from_wire(kind).ok_or(DecodeError::new(Corrupt, 2))?;
        if reserved != 0 {
            return Err(DecodeError::new(Corrupt, 3));
        }
        Ok(Self {
            codec: CodecId(codec),
            kind,
            raw_len: u64::from_le_bytes([l0, l1, l2, l3, l4, l5, 0, 0]),
            padding: u16::from_le_bytes([p0, p1]),
            check: u32::from_le_bytes([c0, c1, c2, c3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Header = Header {
        codec: CodecId::DFCM_F64,
        kind: Kind::F64,
        raw_len: 0x0000_a1b2_c3d4_e5f6,
        padding: 0x0102,
        check: 0xdead_beef,
    };

    #[test]
    fn the_layout_is_the_documented_one() {
        let wire = [1, 1, 6, 0, 0xef, 0xbe, 0xad, 0xde, 0xf6, 0xe5, 0xd4, 0xc3, 0xb2, 0xa1, 0x02, 0x01];
        assert_eq!(SAMPLE.to_bytes(), wire);
        assert_eq!(Header::parse(&wire), Ok(SAMPLE));
    }

    #[test]
    fn every_prefix_is_truncated() {
        let wire = SAMPLE.to_bytes();
        for n in 0..HEADER_LEN {
            assert_eq!(Header::parse(&wire[..n]), Err(DecodeError::new(DecodeErrorKind::Truncated, n)));
        }
    }

    #[test]
    fn what_no_encoder_writes_is_refused() {
        for (at, value, kind) in [
            (0, 2, DecodeErrorKind::Unsupported),
            (2, 7, DecodeErrorKind::Corrupt),
            (3, 1, DecodeErrorKind::Corrupt),
        ] {
            let mut wire = SAMPLE.to_bytes();
            wire[at] = value;
            assert_eq!(Header::parse(&wire), Err(DecodeError::new(kind, at)));
        }
    }
}
