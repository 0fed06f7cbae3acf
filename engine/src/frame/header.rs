//! The 32-byte frame header, version 6. Normative layout: `docs/format/frame.md`.
//!
//! This module only builds and parses the header. The sender of the frame computes the check.

use mpress_codec::{CodecId, DecodeError, DecodeErrorKind, Kind};

/// Length of a frame header in bytes.
pub const HEADER_LEN: usize = 32;

/// The version that this build writes and reads.
pub(crate) const VERSION: u8 = 6;

/// The longest message a frame can carry, in bytes.
pub(crate) const MAX_RAW_LEN: u64 = (1 << 48) - 1;

/// The number of low bits of the last field for the padding; the others are for the note.
const PADDING_BITS: u32 = 10;

/// The positions of the mark.
const MARKS: [usize; 2] = [0, 16];

/// The eight bytes by which the processes of a job recognise their frames. All of them use the same mark, which should be random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub [u8; 8]);

impl Mark {
    /// Whether a message is a frame of this job, possibly damaged: it has the mark at one of the two positions.
    #[must_use]
    #[inline]
    pub fn is_in(self, message: &[u8]) -> bool {
        MARKS.into_iter().any(|at| message.get(at..at + self.0.len()) == Some(&self.0[..]))
    }
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The job's mark.
    pub mark: Mark,
    /// The codec of the payload.
    pub codec: CodecId,
    /// The element kind of the message.
    pub kind: Kind,
    /// The setting with which the codec was used. Decoding does not depend on it.
    pub setting: u8,
    /// Length of the message in bytes, less than 2^48.
    pub raw_len: u64,
    /// The number of bytes of the note after the payload, less than 64; 0 if there is none.
    pub note: u8,
    /// The number of zero bytes at the end, less than 1024.
    pub padding: u16,
    /// CRC-32/ISO-HDLC of the frame with zeros in this field.
    pub check: u32,
}

impl Header {
    /// The position of the check.
    pub const CHECK: std::ops::Range<usize> = 12..16;

    /// The header's wire form; `None` if a number is too great for its field. A message whose `raw_len` is 2^48 or more has no frame.
    #[must_use]
    pub fn to_bytes(&self) -> Option<[u8; HEADER_LEN]> {
        let fits = self.padding >> PADDING_BITS == 0 && self.note < 1 << (u16::BITS - PADDING_BITS);
        if self.raw_len > MAX_RAW_LEN || !fits {
            return None;
        }
        let mut wire = [0; HEADER_LEN];
        for at in MARKS {
            wire[at..at + 8].copy_from_slice(&self.mark.0);
        }
        wire[8..12].copy_from_slice(&[VERSION, self.codec.0, self.kind as u8, self.setting]);
        wire[Self::CHECK].copy_from_slice(&self.check.to_le_bytes());
        wire[24..30].copy_from_slice(&self.raw_len.to_le_bytes()[..6]);
        let end = self.padding | u16::from(self.note) << PADDING_BITS;
        wire[30..32].copy_from_slice(&end.to_le_bytes());
        Some(wire)
    }

    /// Reads a header from the front of `wire`. The caller must verify that the mark is the job's, that the check is correct and that the codec is
    /// known.
    ///
    /// # Errors
    /// `Truncated` below 32 bytes, `Unsupported` for another version, `Corrupt` if the two marks differ or the kind is unknown.
    pub fn parse(wire: &[u8]) -> Result<Self, DecodeError> {
        use DecodeErrorKind::{Corrupt, Truncated, Unsupported};
        let Some(wire) = wire.first_chunk::<HEADER_LEN>() else {
            return Err(DecodeError::new(Truncated, wire.len()));
        };
        let [first, fields, second, rest] = *wire.as_chunks::<8>().0 else {
            return Err(DecodeError::new(Truncated, wire.len())); // 32 bytes are four times 8
        };
        if first != second {
            return Err(DecodeError::new(Corrupt, MARKS[1]));
        }
        let [version, codec, kind, setting, c0, c1, c2, c3] = fields;
        if version != VERSION {
            return Err(DecodeError::new(Unsupported, 8));
        }
        let kind = Kind::from_wire(kind).ok_or(DecodeError::new(Corrupt, 10))?;
        let [l0, l1, l2, l3, l4, l5, e0, e1] = rest;
        let end = u16::from_le_bytes([e0, e1]);
        Ok(Self {
            mark: Mark(first),
            codec: CodecId(codec),
            kind,
            setting,
            raw_len: u64::from_le_bytes([l0, l1, l2, l3, l4, l5, 0, 0]),
            note: (end >> PADDING_BITS) as u8,
            padding: end & ((1 << PADDING_BITS) - 1),
            check: u32::from_le_bytes([c0, c1, c2, c3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Header = Header {
        mark: Mark(*b"the mark"),
        codec: CodecId::DFCM_F64,
        kind: Kind::F64,
        setting: 2,
        raw_len: 0x0000_a1b2_c3d4_e5f6,
        note: 0x21,
        padding: 0x0302,
        check: 0xdead_beef,
    };

    #[test]
    fn the_layout_is_the_documented_one() {
        let wire = *b"the mark\x06\x01\x06\x02\xef\xbe\xad\xdethe mark\xf6\xe5\xd4\xc3\xb2\xa1\x02\x87";
        assert_eq!(SAMPLE.to_bytes(), Some(wire));
        assert_eq!(Header::parse(&wire), Ok(SAMPLE));
    }

    #[test]
    fn a_length_of_more_than_48_bits_has_no_header() {
        let header = |raw_len| Header { raw_len, ..SAMPLE }.to_bytes();
        let longest = header(MAX_RAW_LEN).unwrap();
        assert_eq!(Header::parse(&longest).map(|header| header.raw_len), Ok(MAX_RAW_LEN));
        for raw_len in [MAX_RAW_LEN + 1, MAX_RAW_LEN + 5000, u64::MAX] {
            assert_eq!(header(raw_len), None, "{raw_len} bytes");
        }
    }

    #[test]
    fn what_is_too_great_for_its_field_has_no_header() {
        for header in [Header { note: 64, ..SAMPLE }, Header { padding: 1024, ..SAMPLE }] {
            assert_eq!(header.to_bytes(), None);
        }
    }

    #[test]
    fn every_prefix_is_truncated() {
        let wire = SAMPLE.to_bytes().unwrap();
        for n in 0..HEADER_LEN {
            assert_eq!(Header::parse(&wire[..n]), Err(DecodeError::new(DecodeErrorKind::Truncated, n)));
        }
    }

    #[test]
    fn what_no_encoder_writes_is_refused() {
        for (at, value, found_at, kind) in [
            (0, 2, 16, DecodeErrorKind::Corrupt),
            (23, 2, 16, DecodeErrorKind::Corrupt),
            (8, 1, 8, DecodeErrorKind::Unsupported),
            (10, 7, 10, DecodeErrorKind::Corrupt),
            (10, 0x16, 10, DecodeErrorKind::Corrupt),
        ] {
            let mut wire = SAMPLE.to_bytes().unwrap();
            wire[at] = value;
            assert_eq!(Header::parse(&wire), Err(DecodeError::new(kind, found_at)));
        }
    }

    #[test]
    fn the_mark_is_found_at_either_place_and_nowhere_else() {
        let wire = SAMPLE.to_bytes().unwrap();
        for len in 0..HEADER_LEN {
            assert_eq!(SAMPLE.mark.is_in(&wire[..len]), len >= 8, "{len} bytes");
        }
        for (first, second) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let mut damaged = wire;
            damaged[3] ^= first;
            damaged[19] ^= second;
            assert_eq!(SAMPLE.mark.is_in(&damaged), first == 0 || second == 0);
        }
        assert!(!SAMPLE.mark.is_in(&wire[1..]) && !SAMPLE.mark.is_in(&wire[9..]));
    }
}
