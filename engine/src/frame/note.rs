//! The note of a frame: which messages both sides keep. Normative: `docs/format/frame.md`, section "Notes".

use mpress_codec::length;

/// The maximum length of a note in bytes: six numbers of 32 bits, and two of 64.
pub(crate) const NOTE: usize = 6 * 5 + 2 * length::MAX;

/// A note. Messages in one direction between two processes are numbered; 0 stands for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// The rank of the frame's sender.
    pub(crate) from: u32,
    /// The number of the message.
    pub(crate) number: u32,
    /// The message that it refers to, which has a lower number.
    pub(crate) reference: u32,
    /// One more than the greatest number of a message from the receiver of the frame that the sender has dealt with.
    pub(crate) above: u32,
    /// A message that the receiver need no longer keep.
    pub(crate) release: u32,
    /// Bit i: the sender has not dealt with message `above` - 1 - i.
    pub(crate) missing: u64,
    /// Bit i: the sender has dealt with that message, and does not keep it.
    pub(crate) lost: u64,
    /// A message from the receiver of the frame that the sender has dealt with after many later ones.
    pub(crate) late: u32,
}

impl Note {
    /// Its bytes, and their number.
    pub(crate) fn to_wire(self) -> ([u8; NOTE], usize) {
        debug_assert!(self.reference == 0 || self.reference < self.number, "refers to a later message");
        let back = if self.reference > 0 { self.number - self.reference } else { 0 };
        let short = [self.from, self.number, back, self.above, self.release].map(u64::from);
        let (mut wire, mut len) = ([0; NOTE], 0);
        for mut number in short.into_iter().chain([self.missing, self.lost, self.late.into()]) {
            while number >= 0x80 {
                wire[len] = number as u8 | 0x80;
                (number, len) = (number >> 7, len + 1);
            }
            wire[len] = number as u8;
            len += 1;
        }
        // A byte of 0 is the number 0, and those at the end are omitted.
        (wire, wire.iter().rposition(|byte| *byte > 0).map_or(0, |last| last + 1))
    }

    /// The note of these bytes; `None` if they are not one.
    pub(crate) fn parse(wire: &[u8]) -> Option<Self> {
        let (mut numbers, mut at) = ([0; 8], 0);
        for number in &mut numbers {
            if at < wire.len() {
                (*number, at) = length::read(wire, at).ok()?;
            }
        }
        let [from, number, back, above, release, missing, lost, late] = numbers;
        let [Ok(from), Ok(number), Ok(back), Ok(above), Ok(release), Ok(late)] =
            [from, number, back, above, release, late].map(u32::try_from)
        else {
            return None;
        };
        let reference = match back {
            0 => 0,
            _ => number.checked_sub(back).filter(|reference| *reference > 0)?,
        };
        let note = Self { from, number, reference, above, release, missing, lost, late };
        (at == wire.len()).then_some(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Note = Note {
        from: 1,
        number: 0x203,
        reference: 0x1fe,
        above: 6,
        release: 0x1f0,
        missing: 0,
        lost: 0,
        late: 0,
    };

    fn wire(note: Note) -> Vec<u8> {
        let (wire, len) = note.to_wire();
        wire[..len].to_vec()
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        assert_eq!(wire(USUAL), b"\x01\x83\x04\x05\x06\xf0\x03");
        let full = Note { missing: 2, lost: 1 << 63, late: 9, ..USUAL };
        let high = [0x80; length::MAX - 1];
        assert_eq!(wire(full), [&wire(USUAL)[..], &[2], &high, &[1, 9]].concat());
        let most = Note { from: u32::MAX, reference: 1, ..Note::default() };
        let most = Note { number: most.from, above: most.from, release: most.from, late: most.from, ..most };
        let most = Note { missing: u64::MAX, lost: u64::MAX, ..most };
        assert_eq!(wire(most).len(), NOTE);
        for note in [USUAL, full, most, Note { above: 1, ..Note::default() }, Note::default()] {
            assert_eq!(Note::parse(&wire(note)), Some(note));
        }
    }

    #[test]
    fn what_is_no_note_is_refused() {
        let wire = wire(USUAL);
        for len in [2, 6] {
            assert_eq!(Note::parse(&wire[..len]), None, "a number of which a part is missing");
        }
        for wrong in [
            &b"\0\x05\x05"[..],      // refers to message 0
            b"\0\x05\x06",           // to one before that
            b"\0\0\x01",             // has no number, but a reference
            b"\0\x85\0",             // not the shortest form
            b"\xff\xff\xff\xff\x10", // 33 bits
            b"\0\0\0\0\0\0\0\0\x01", // a ninth number
        ] {
            assert_eq!(Note::parse(wrong), None, "{wrong:?}");
        }
    }
}
