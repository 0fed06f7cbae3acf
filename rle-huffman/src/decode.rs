//! The decoder: header, blocks and planes (`docs/format/planes.md`).
#![forbid(unsafe_code)]

use crate::block::private::Plane;
use crate::block::{Code, Scratch};
use crate::format::{BLOCK, PLANES_SHIFT, SETTING_SHIFT, VERSION, ZERO};
use crate::kernel::{self, Kernel, Work};
use crate::width::Width;
use mpress_codec::DecodeErrorKind::{Corrupt, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, Out, Reset};
use mpress_codec_support::Wire;

/// Decodes messages of the code `C`, encoded with any settings. Takes 64 KiB of memory plus tables.
#[derive(Clone, Debug)]
pub struct Decoder<C: Code> {
    receiver: <C::Plane as Plane>::Receiver,
    simd: Simd,
    scratch: Scratch,
}

impl<C: Code> Decoder<C> {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { receiver: <C::Plane as Plane>::RECEIVER, simd: Simd::detect(), scratch: Scratch::ZERO }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<C: Code> Default for Decoder<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Code> Reset for Decoder<C> {}

impl<C: Code> Decode for Decoder<C> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| C::decode_message(self, wire, out))
    }
}

impl<C: Code> Decoder<C> {
    /// Decodes a message.
    pub(crate) fn message(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let Self { receiver, simd, scratch } = self;
        kernel::with(*simd, Message::<C::Plane> { receiver, scratch, wire: Wire::new(wire), out })
    }
}

struct Message<'a, 'b, 'w, P: Plane> {
    receiver: &'a mut P::Receiver,
    scratch: &'a mut Scratch,
    wire: Wire<'w>,
    out: &'a mut Out<'b>,
}

impl<P: Plane> Work for Message<'_, '_, '_, P> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel>(mut self, kernel: K) -> Result<(), DecodeError> {
        let wire = &mut self.wire;
        let before = *wire;
        if wire.byte()? != VERSION {
            return Err(before.error(Unsupported));
        }
        let before = *wire;
        let flags = wire.byte()?;
        let (receiver, scratch) = (self.receiver, self.scratch);
        if flags & ZERO != 0 {
            return Err(before.error(Corrupt));
        }
        P::open(receiver, flags >> SETTING_SHIFT).ok_or_else(|| before.error(Corrupt))?;
        wire.message_len(self.out.remaining())?;
        let planes = Width::from_log2(flags >> PLANES_SHIFT);
        while self.out.remaining() > 0 {
            decode_block::<P, K>(receiver, kernel, planes, scratch, wire, self.out)?;
        }
        wire.finish()
    }
}

#[inline(always)]
fn decode_block<P: Plane, K: Kernel>(
    receiver: &mut P::Receiver,
    kernel: K,
    planes: Width,
    scratch: &mut Scratch,
    wire: &mut Wire<'_>,
    out: &mut Out<'_>,
) -> Result<(), DecodeError> {
    let len = out.remaining().min(BLOCK);
    let before = *wire;
    let head = wire.byte()?;
    if head == 0 {
        return out.extend_from_slice(wire.take(len)?).map_err(|full| wire.full(full));
    }
    let elements = len / planes.bytes();
    if u32::from(head) >> planes.bytes() != 0 || elements == 0 {
        return Err(before.error(Corrupt));
    }
    let start = out.len();
    let block = &mut out.extend_zeroed(len).map_err(|full| wire.full(full))?[start..];
    if planes == Width::One {
        return P::decode(receiver, kernel, wire, block);
    }
    // Stored planes are read from the wire, coded ones from the scratch memory.
    let mut of_block: [&[u8]; 8] = [&[]; 8];
    let rooms = scratch.0.chunks_exact_mut(elements);
    for ((plane, room), bit) in of_block.iter_mut().zip(rooms).zip(0..planes.bytes()) {
        *plane = match head >> bit & 1 {
            0 => wire.take(elements)?,
            _ => {
                P::decode(receiver, kernel, wire, room)?;
                room
            }
        };
    }
    let (whole, tail) = block.split_at_mut(elements * planes.bytes());
    kernel.join(&of_block, planes, whole);
    tail.copy_from_slice(wire.take(tail.len())?);
    Ok(())
}
