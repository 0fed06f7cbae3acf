//! Reads a message (sections 1 to 4, 6).

use super::{GROUP, HEAD, HEADER, LEAST, LONGEST, MORE, VERSION};
use crate::bytes::{literals, long_copy};
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::{DecodeError, Out};

#[inline(always)]
pub(super) fn message(wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    let byte = |at| wire.get(at).copied().ok_or(DecodeError::new(Truncated, at));
    if byte(0)? != VERSION {
        return Err(DecodeError::new(Unsupported, 0));
    }
    let rest = byte(1)?;
    if usize::from(rest) != out.remaining() % 8 {
        return Err(DecodeError::new(if rest < 8 { Length } else { Corrupt }, 1));
    }
    match sequences(wire, out)? {
        end if end == wire.len() => Ok(()),
        end => Err(DecodeError::new(Length, end)),
    }
}

/// Reads sequences until the output is full. Returns the offset of their end.
#[inline(always)]
fn sequences(wire: &[u8], out: &mut Out<'_>) -> Result<usize, DecodeError> {
    let start = out.len();
    let mut at = HEADER;
    while out.remaining() > 0 {
        let head = at;
        let truncated = DecodeError::new(Truncated, wire.len());
        let (&[token, low, high], mut rest) =
            wire.get(at..).and_then(|rest| rest.split_first_chunk::<HEAD>()).ok_or(truncated)?;
        let (mut count, mut extra) = (usize::from(token >> 4), usize::from(token) % 16);
        let distance = usize::from(u16::from_le_bytes([low, high]));
        if count == MORE {
            count += more(&mut rest, wire.len())?;
        }
        if extra == MORE {
            extra += more(&mut rest, wire.len())?;
        }
        if rest.len() < count {
            return Err(truncated);
        }
        literals(out, rest, count).map_err(|_| DecodeError::new(Length, head))?;
        at = wire.len() - rest.len() + count;
        if distance.wrapping_sub(1) >= out.len() - start {
            if distance == 0 && extra == 0 && count > 0 {
                continue;
            }
            return Err(DecodeError::new(Corrupt, head));
        }
        let copied = match extra {
            ..MORE => out.extend_from_within(distance, LEAST + extra),
            _ => long_copy(out, distance, LEAST + extra),
        };
        copied.map_err(|_| DecodeError::new(Length, head))?;
    }
    Ok(at)
}

/// Reads a length from the front of `rest` and advances `rest`; the wire has `wire_len` bytes.
#[inline(always)]
fn more(rest: &mut &[u8], wire_len: usize) -> Result<usize, DecodeError> {
    let mut n = 0;
    for i in 0..LONGEST {
        let byte = *rest.split_off_first().ok_or(DecodeError::new(Truncated, wire_len))?;
        n |= u64::from(byte & 0x7f) << (GROUP * i);
        if byte < 0x80 {
            // A length beyond 32 bits exceeds any output on a 32-bit machine.
            return Ok(usize::try_from(n).unwrap_or(usize::MAX / 2));
        }
    }
    Err(DecodeError::new(Corrupt, wire_len - rest.len()))
}
