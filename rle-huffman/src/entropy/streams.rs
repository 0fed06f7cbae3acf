//! Decodes the streams of a plane in parallel: a look-up waits for the previous one in its stream, but not for those of other streams
//! (`docs/format/huffman.md`, section 4).
#![forbid(unsafe_code)]

use super::lookup::{Lookup, Ones};
use crate::bits::window;
use core::mem::take;

/// A stream of codes, and the destination of its symbols.
pub(crate) struct Stream<'a> {
    /// The offset of its first byte in the wire.
    start: usize,
    /// The next bit in the wire.
    at: usize,
    room: &'a mut [u8],
}

/// Decodes a plane's symbols from `N` consecutive streams in `wire`; `sizes` are those of all streams but the last. Returns the offset after them,
/// which may be past the end of the wire. `None` if a stream does not end where the next one begins.
#[inline(always)]
pub(crate) fn decode<const N: usize, const WINDOW: usize>(
    ones: &Ones,
    many: &impl Lookup<WINDOW>,
    wire: &[u8],
    sizes: &[[u8; 2]],
    plane: &mut [u8],
) -> Option<usize> {
    let each = plane.len().div_ceil(N);
    let (mut start, mut rest) = (0, plane);
    let mut streams: [Stream<'_>; N] = core::array::from_fn(|i| {
        let len = each.min(rest.len());
        let (room, after) = take(&mut rest).split_at_mut(len);
        rest = after;
        let stream = Stream { start, at: start * 8, room };
        start += usize::from(u16::from_le_bytes(*sizes.get(i).unwrap_or(&[0; 2])));
        stream
    });
    together(many, wire, &mut streams);
    streams.into_iter().try_fold(0, |end, stream| {
        if stream.start != end {
            return None;
        }
        let mut alone = [stream];
        together(many, wire, &mut alone);
        let [stream] = alone;
        stream.finish(ones, wire)
    })
}

/// Decodes from all streams in turn until one of them or the wire is near its end.
#[inline(always)]
fn together<const N: usize, const WINDOW: usize>(
    many: &impl Lookup<WINDOW>,
    wire: &[u8],
    streams: &mut [Stream<'_>; N],
) {
    loop {
        for stream in streams.iter_mut() {
            let Some(word) = wire.get(stream.at / 8..).and_then(|rest| rest.first_chunk()) else { return };
            let room = take(&mut stream.room);
            let Some(window) = room.first_chunk_mut() else {
                stream.room = room;
                return;
            };
            let (symbols, bits) = many.five(u64::from_be_bytes(*word) << (stream.at % 8), window);
            stream.room = room.get_mut(symbols..).unwrap_or(&mut []);
            stream.at += bits;
        }
    }
}

impl Stream<'_> {
    /// Decodes the remaining symbols one by one. Returns the offset after the last byte, whose unused bits must be zeros.
    #[inline(always)]
    fn finish(self, ones: &Ones, wire: &[u8]) -> Option<usize> {
        let mut at = self.at;
        for to in self.room {
            let (length, symbol) = ones.one(window(wire, at));
            *to = symbol;
            at += length;
        }
        let padding = at.next_multiple_of(8) - at;
        let is_zero = padding == 0 || window(wire, at) >> (64 - padding) == 0;
        is_zero.then_some(at.div_ceil(8))
    }
}
