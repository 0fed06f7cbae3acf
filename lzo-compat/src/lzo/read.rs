//! Reads a stream (sections 2 to 5, 7).

use super::{COPY, END, FAR_MASK, FEW, FIRST, MIDDLE, MIDDLE_MASK, NEAR, RUN, RUN_MASK};
use crate::bytes::run;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Unsupported};
use mpress_codec::{DecodeError, Out};
use mpress_codec_support::Wire;

#[inline(always)]
pub(super) fn message(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    match instructions(Wire::new(wire), out)? {
        end if end < wire.len() || out.remaining() > 0 => Err(DecodeError::new(Length, end)),
        _ => Ok(()),
    }
}

/// What precedes an instruction that begins with `0000`; this determines the meaning of the instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A copy without literals, or nothing.
    Copy,
    /// A copy with one to three literals.
    Few,
    /// A run of literals.
    Run,
}

/// Reads instructions up to the end mark. Returns the offset after it.
#[inline(always)]
fn instructions(mut wire: Wire<'_>, out: &mut Out<'_>) -> Result<usize, DecodeError> {
    let start = out.len();
    let mut before = Before::Copy;
    match wire.bytes.first().map(|byte| usize::from(*byte)) {
        Some(FIRST) if wire.bytes.len() > END.len() + 1 => return Err(DecodeError::new(Unsupported, 0)),
        Some(first) if first > FIRST => {
            wire.at = 1;
            wire.literals(first - FIRST, out)?;
            before = if first - FIRST <= FEW { Before::Few } else { Before::Run };
        }
        _ => {}
    }
    loop {
        let first = usize::from(wire.byte()?);
        let (len, distance, few);
        match first {
            0x40.. => {
                len = if first >= 0x80 { 5 + (first >> 5) % 4 } else { 3 + (first >> 5) % 2 };
                distance = 1 + 8 * usize::from(wire.byte()?) + (first >> 2) % 8;
                few = first;
            }
            0x20.. => {
                len = COPY + wire.length(first % 0x20, MIDDLE_MASK)?;
                few = wire.number()?;
                distance = 1 + (few >> 2);
            }
            0x10.. => {
                len = COPY + wire.length(first % 8, FAR_MASK)?;
                few = wire.number()?;
                distance = MIDDLE + ((first & 8) << 11) + (few >> 2);
                if distance == MIDDLE {
                    let is_end = first == usize::from(END[0]) && few == 0;
                    return if is_end { Ok(wire.at) } else { Err(DecodeError::new(Corrupt, wire.at)) };
                }
            }
            _ if before == Before::Copy => {
                let count = RUN + wire.length(first, RUN_MASK)?;
                wire.literals(count, out)?;
                before = Before::Run;
                continue;
            }
            _ => {
                let back = 4 * usize::from(wire.byte()?) + (first >> 2);
                few = first;
                (len, distance) = match before {
                    Before::Run => (3, 1 + NEAR + back),
                    _ => (2, 1 + back),
                };
            }
        }
        if distance > out.len() - start {
            return Err(DecodeError::new(Corrupt, wire.at));
        }
        out.extend_from_within(distance, len).map_err(|_| DecodeError::new(Length, wire.at))?;
        before = Before::Copy;
        if few % 4 > 0 {
            wire.literals(few % 4, out)?;
            before = Before::Few;
        }
    }
}

/// How instructions are read from the wire.
trait Instructions {
    fn number(&mut self) -> Result<usize, DecodeError>;
    fn length(&mut self, low: usize, most: usize) -> Result<usize, DecodeError>;
    fn long_length(&mut self, most: usize) -> Result<usize, DecodeError>;
    fn literals(&mut self, count: usize, out: &mut Out<'_>) -> Result<(), DecodeError>;
}

impl Instructions for Wire<'_> {
    /// Reads a number of two bytes.
    #[inline(always)]
    fn number(&mut self) -> Result<usize, DecodeError> {
        Ok(usize::from(u16::from_le_bytes(self.take_array()?)))
    }

    /// Reads a length from `low`, its part in the instruction's first byte, which is at most `most`.
    #[inline(always)]
    fn length(&mut self, low: usize, most: usize) -> Result<usize, DecodeError> {
        if low > 0 { Ok(low) } else { self.long_length(most) }
    }

    #[inline(never)]
    fn long_length(&mut self, most: usize) -> Result<usize, DecodeError> {
        let mut len = most;
        loop {
            match self.byte()? {
                // A length that overflows exceeds any output.
                0 => len = len.saturating_add(255),
                last => return Ok(len.saturating_add(usize::from(last)).min(usize::MAX / 2)),
            }
        }
    }

    #[inline(always)]
    fn literals(&mut self, count: usize, out: &mut Out<'_>) -> Result<(), DecodeError> {
        let rest = self.rest();
        if rest.len() < count {
            return Err(self.truncated());
        }
        self.at += count;
        run(out, rest, count).map_err(|_| DecodeError::new(Length, self.at))
    }
}
