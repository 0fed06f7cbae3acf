//! The encoder: header, blocks and planes (`docs/format/planes.md`).
#![forbid(unsafe_code)]

use crate::block::private::Plane;
use crate::block::{Code, Scratch};
use crate::format::{BLOCK, HEADER, PLANES_SHIFT, SETTING_SHIFT, VERSION};
use crate::kernel::{self, Kernel, Work};
use crate::width::Width;
use mpress_codec::simd::Simd;
use mpress_codec::{Encode, EncodeError, Full, Out, Reset, length};
use mpress_codec_support::put_header;

/// Encodes messages with the code `C`. Takes 64 KiB of memory.
#[derive(Clone, Debug)]
pub struct Encoder<C: Code> {
    setting: <C::Plane as Plane>::Setting,
    planes: Width,
    simd: Simd,
    scratch: Scratch,
}

impl<C: Code> Encoder<C> {
    pub(crate) const fn with_setting(
        setting: <C::Plane as Plane>::Setting,
        planes: Width,
        simd: Simd,
    ) -> Self {
        Self { setting, planes, simd, scratch: Scratch::ZERO }
    }

    /// Uses a kernel of this tier. The wire is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<C: Code> Reset for Encoder<C> {}

impl<C: Code> Encode for Encoder<C> {
    /// `raw_len`, 1 byte per block, and the header (planes, section 5).
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        raw_len.checked_add(raw_len.div_ceil(BLOCK))?.checked_add(HEADER + length::bytes(raw_len))
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let most = self.max_encoded_len(raw.len());
        out.attempt(most, |out| C::encode_message(self, raw, out))
    }
}

impl<C: Code> Encoder<C> {
    /// Encodes a message.
    pub(crate) fn message(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), Full> {
        let Self { setting, planes, simd, scratch } = self;
        kernel::with(*simd, Message::<C::Plane> { setting: *setting, planes: *planes, scratch, raw, out })
    }
}

struct Message<'a, 'b, P: Plane> {
    setting: P::Setting,
    planes: Width,
    scratch: &'a mut Scratch,
    raw: &'a [u8],
    out: &'a mut Out<'b>,
}

impl<P: Plane> Work for Message<'_, '_, P> {
    type Output = Result<(), Full>;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> Result<(), Full> {
        let Self { setting, planes, scratch, .. } = self;
        let (sender, bits) = P::begin(setting, planes, self.raw);
        let flags = planes.log2() << PLANES_SHIFT | bits << SETTING_SHIFT;
        put_header(&[VERSION, flags], self.raw.len(), self.out)?;
        for block in self.raw.chunks(BLOCK) {
            encode_block::<P, K>(sender, kernel, planes, block, scratch, self.out)?;
        }
        Ok(())
    }
}

#[inline(always)]
fn encode_block<P: Plane, K: Kernel>(
    sender: P::Sender,
    kernel: K,
    planes: Width,
    block: &[u8],
    scratch: &mut Scratch,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let start = out.len();
    let elements = block.len() / planes.bytes();
    let (whole, tail) = block.split_at(elements * planes.bytes());
    let dealt = match planes {
        Width::One => whole,
        _ => {
            let dealt = &mut scratch.0[..whole.len()];
            kernel.split(whole, planes, dealt);
            dealt
        }
    };
    let mut head = 0;
    out.extend_from_slice(&[head])?;
    for (plane, bit) in dealt.chunks_exact(elements.max(1)).zip(0..) {
        if P::encode(sender, kernel, plane, out)? {
            head |= 1 << bit;
        } else if planes != Width::One {
            out.extend_from_slice(plane)?;
        }
    }
    if head == 0 {
        // The block itself, so that a decoder need not join planes.
        out.truncate(start + 1);
        return out.extend_from_slice(block);
    }
    if let Some(byte) = out.written_mut().get_mut(start) {
        *byte = head;
    }
    out.extend_from_slice(tail)
}
