//! The note of a frame: which messages both sides keep. Normative: `docs/format/frame.md`, section "Notes".

use mpress_codec::{DecodeError, DecodeErrorKind};

/// Length of a note in bytes.
pub(crate) const NOTE: usize = 40;

/// A note. Messages in one direction between two processes are numbered; 0 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// The rank of the frame's sender.
    pub(crate) from: u32,
    /// The number of the message.
    pub(crate) number: u32,
    /// The message that it refers to.
    pub(crate) reference: u32,
    /// A message that the receiver need no longer keep.
    pub(crate) release: u32,
    /// A message from the receiver of the frame that the sender has dealt with after many later ones.
    pub(crate) late: u32,
    /// One more than the greatest number of a message from the receiver of the frame that the sender has dealt with.
    pub(crate) above: u32,
    /// Bit i: the sender has dealt with message `above` - 1 - i.
    pub(crate) dealt: u64,
    /// Bit i: the sender keeps that message.
    pub(crate) kept: u64,
}

impl Note {
    pub(crate) fn to_bytes(self) -> [u8; NOTE] {
        let mut wire = [0; NOTE];
        let (words, bits) = wire.split_at_mut(24);
        let values = [self.from, self.number, self.reference, self.release, self.late, self.above];
        for (to, value) in words.as_chunks_mut().0.iter_mut().zip(values) {
            *to = value.to_le_bytes();
        }
        for (to, value) in bits.as_chunks_mut().0.iter_mut().zip([self.dealt, self.kept]) {
            *to = value.to_le_bytes();
        }
        wire
    }

    /// The note at the front of `wire`, if it has one, and the rest.
    pub(crate) fn split(noted: bool, wire: &[u8]) -> Result<(Option<Self>, &[u8]), DecodeError> {
        if !noted {
            return Ok((None, wire));
        }
        let truncated = DecodeError::new(DecodeErrorKind::Truncated, wire.len());
        let (note, rest) = wire.split_first_chunk::<NOTE>().ok_or(truncated)?;
        let (words, bits) = note.split_at(24);
        let (&[from, number, reference, release, late, above], &[dealt, kept]) =
            (words.as_chunks().0, bits.as_chunks().0)
        else {
            return Err(truncated); // 40 bytes are six times 4 and two times 8
        };
        let [from, number, reference, release, late, above] =
            [from, number, reference, release, late, above].map(u32::from_le_bytes);
        let [dealt, kept] = [dealt, kept].map(u64::from_le_bytes);
        Ok((Some(Self { from, number, reference, release, late, above, dealt, kept }), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_documented_one() {
        let note = Note {
            from: 1,
            number: 0x0203,
            reference: 4,
            release: 5,
            late: 0x08,
            above: 6,
            dealt: 9,
            kept: 7 << 56,
        };
        let wire =
            *b"\x01\0\0\0\x03\x02\0\0\x04\0\0\0\x05\0\0\0\x08\0\0\0\x06\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";
        assert_eq!(note.to_bytes(), wire);
        let long = [&wire[..], b"rest"].concat();
        assert_eq!(Note::split(true, &long), Ok((Some(note), &b"rest"[..])));
        assert_eq!(Note::split(false, &long), Ok((None, &long[..])));
        for len in 0..NOTE {
            assert_eq!(
                Note::split(true, &wire[..len]),
                Err(DecodeError::new(DecodeErrorKind::Truncated, len))
            );
        }
    }
}
