//! Reads blocks: the residuals of each block, and the words made from them (format, section 3).
#![forbid(unsafe_code)]

use super::rebuild::{DecodeWindow, Form, Scratch};
use super::stream::{read_head, slot, stream};
use crate::format::{BLOCK, Domain, GROUPS, Head, Predictor, Slots};
use crate::kernel::block::{Block, Widths, count};
use crate::kernel::{self, Kernel, Work, portable};
use crate::word::Word;
use mpress_codec::DecodeErrorKind::{Corrupt, Length};
use mpress_codec::simd::Simd;
use mpress_codec::{DecodeError, Full, Out};
use mpress_codec_support::{self as support, Wire};

/// Prefetches the code for blocks, and the wire.
pub(super) fn prefetch<W: Word>(simd: Simd, wire: &[u8]) {
    if wire.len() <= kernel::SHORT {
        kernel::prefetch::<W, Read<'_, '_, '_>>(simd, 3 << 10, &[]);
        support::prefetch(Predictor::from_wire::<W> as *const u8, 896);
        support::prefetch(wire.as_ptr(), wire.len());
    }
}

/// Reads the blocks of `words` words of a message or of a column of records. The predictors use the words in `out` from `start` on,
/// and those of the reference, which is empty if there is none.
pub(super) struct Read<'a, 'w, 'o> {
    pub(super) scratch: &'a mut Scratch,
    pub(super) wire: &'a mut Wire<'w>,
    pub(super) words: usize,
    pub(super) reference: &'a [u8],
    pub(super) out: &'a mut Out<'o>,
    pub(super) start: usize,
}

impl<W: Word> Work<W> for Read<'_, '_, '_> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), DecodeError> {
        let Self { scratch, wire, words, reference, out, start } = self;
        let slots = &mut Slots::new();
        let mut left = words;
        while left > 0 {
            let words = left.min(W::BLOCK);
            scratch.block(kernel, wire, (words, reference), slots, out, start)?;
            left -= words;
        }
        Ok(())
    }
}

impl Scratch {
    /// Reads a block.
    #[inline(always)]
    fn block<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        (words, reference): (usize, &[u8]),
        slots: &mut Slots,
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        let full = DecodeError::new(Length, wire.at);
        let corrupt = DecodeError::new(Corrupt, wire.at);
        let head = read_head(wire)?;
        if head.code() == Head::STORED {
            if head != Head::stored() {
                return Err(corrupt);
            }
            return out.extend_from_slice(wire.take(words * W::WIDTH)?).map_err(|_| full);
        }
        let slot = slot::<W>(wire, head, slots)?;
        let predictor = slots.get(slot).ok_or(wire.corrupt())?;
        let is_fixed = matches!(predictor.domain, Domain::Fixed(_));
        let refers = predictor.domain == Domain::Reference;
        if head.has(Head::STRIP) && !is_fixed || refers && reference.is_empty() {
            return Err(corrupt);
        }
        if out.len() == start {
            kernel.prefetch_rebuild(predictor);
        }
        if predictor.domain == Domain::Lookback {
            return kernel.apart(|| self.look_back(kernel, wire, head, words, out, start));
        }
        if refers {
            let block = (predictor, words, reference);
            return kernel.apart(|| self.refer(kernel, wire, head, block, out, start));
        }
        let maximum = if predictor.has_maximum() { W::load(wire.take(W::WIDTH)?, 0) } else { W::ZERO };
        let form = Form { predictor, maximum, words };
        let mut widths = [0; GROUPS];
        let packed = if head.has(Head::STRIP) {
            kernel.apart(|| self.stripped(kernel, wire, head, words))?;
            None
        } else if head.has(Head::SPLIT) {
            kernel.apart(|| self.collect(kernel, wire, head, words))?;
            None
        } else {
            Some(stream::<W, K>(kernel, wire, head, words, &mut widths)?)
        };
        kernel.rebuild(packed, &form, self, start, out).map_err(|_| full)
    }

    /// Reads a block of words that are near earlier ones, after its head (format, section 6).
    #[inline(always)]
    fn look_back<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        head: Head,
        words: usize,
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        self.residuals(kernel, wire, head, words)?;
        self.other.0 = *self.words.block();
        let place = wire.at;
        let head = read_head(wire)?;
        if head.0 & !(Head::WIDTHS | Head::SPLIT) != 0 {
            return Err(DecodeError::new(Corrupt, place));
        }
        self.residuals(kernel, wire, head, words)?;
        append_near::<W>(&self.other, self.words.block(), words, out, start)
            .map_err(|_| DecodeError::new(Length, place))
    }

    /// Reads a block of differences from a reference, after its definition (format, section 5).
    #[inline(always)]
    fn refer<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        head: Head,
        (predictor, words, reference): (&Predictor, usize, &[u8]),
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        let full = DecodeError::new(Length, wire.at);
        let (at, reach) = (out.len() - start, predictor.reach() * W::WIDTH);
        // The words of the reference themselves.
        if head.0 & (Head::WIDTHS | Head::SPLIT) == 0 && reach == 0 {
            let same = reference.get(at..at + words * W::WIDTH).unwrap_or_default();
            return out.extend_from_slice(same).map_err(|_| full);
        }
        self.residuals(kernel, wire, head, words)?;
        if reach == 0 {
            let same = reference.get(at..).unwrap_or_default();
            kernel.apart(|| portable::undo_against::<W>(same, self.words.groups_mut()));
            return out.extend_from_slice(&self.words.block()[..words * W::WIDTH]).map_err(|_| full);
        }
        // The differences of the words are the sums of the reference's differences and the residuals.
        let inside = reach <= at && reference.len() - at >= BLOCK;
        if !inside {
            self.window.fill(reference, at, reach);
        }
        let (bytes, at) = if inside { (reference, at) } else { (self.window.bytes(), DecodeWindow::AT) };
        kernel.difference(bytes, at, predictor.lags(), self.other.groups_mut());
        kernel.apart(|| portable::add_zigzagged::<W>(&self.other, self.words.groups_mut()));
        let form = Form { predictor: &predictor.in_domain(Domain::Integer), maximum: W::ZERO, words };
        kernel.rebuild(None, &form, self, start, out).map_err(|_| full)
    }

    /// Reads strip counts and residuals, and shifts the zeros in again (format, section 5).
    #[inline(always)]
    fn stripped<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        head: Head,
        words: usize,
    ) -> Result<(), DecodeError> {
        let mut counts = [0; GROUPS];
        let packed = wire.take(words.div_ceil(W::LANES).div_ceil(2))?;
        for (pair, packed) in counts.as_chunks_mut().0.iter_mut().zip(packed) {
            *pair = [packed & 15, packed >> 4];
        }
        self.residuals(kernel, wire, head, words)?;
        kernel.apart(|| portable::unstrip::<W>(self.words.groups_mut(), &counts));
        Ok(())
    }

    /// Reads residuals, in one stream or two, to the block of `words`.
    #[inline(always)]
    fn residuals<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        head: Head,
        words: usize,
    ) -> Result<(), DecodeError> {
        if head.has(Head::SPLIT) {
            return kernel.apart(|| self.collect(kernel, wire, head, words));
        }
        let mut widths = [0; GROUPS];
        let packed = stream::<W, K>(kernel, wire, head, words, &mut widths)?;
        kernel.unpack(packed.wire, packed.widths, words, self.words.groups_mut());
        Ok(())
    }

    /// Reads both streams of a split block.
    #[inline(always)]
    fn collect<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        head: Head,
        words: usize,
    ) -> Result<(), DecodeError> {
        let mut mask = [0; _];
        let bits = wire.take(words.div_ceil(8))?;
        mask[..bits.len()].copy_from_slice(bits);
        if !words.is_multiple_of(8) {
            mask[words / 8] &= (1 << (words % 8)) - 1;
        }
        let place = wire.at;
        let narrow_head = read_head(wire)?;
        if narrow_head.0 & !Head::WIDTHS != 0 {
            return Err(DecodeError::new(Corrupt, place));
        }
        let wide_words = count(&mask);
        let Scratch { words: residuals, wide, narrow, .. } = self;
        for (head, words, to) in
            [(head, wide_words, &mut *wide), (narrow_head, words - wide_words, &mut *narrow)]
        {
            let mut widths: Widths = [0; GROUPS];
            let packed = stream::<W, K>(kernel, wire, head, words, &mut widths)?;
            kernel.unpack(packed.wire, packed.widths, words, to.groups_mut());
        }
        kernel.collect(wide, narrow, &mask, residuals.groups_mut());
        Ok(())
    }
}

/// Appends words: each is its difference plus the word at its distance before it. A distance of 0 means the previous word.
fn append_near<W: Word>(
    distances: &Block,
    differences: &[u8],
    words: usize,
    out: &mut Out<'_>,
    start: usize,
) -> Result<(), Full> {
    let first = (out.len() - start) / W::WIDTH;
    out.extend_zeroed(words * W::WIDTH)?;
    let message = W::split_mut(out.written_mut().get_mut(start..).unwrap_or_default()).0;
    let mut distance = 1;
    let residuals = W::split(&distances.0).0.iter().zip(W::split(differences).0);
    for (at, (this, difference)) in (first..message.len()).zip(residuals) {
        let this = W::from_bytes(*this).to_u64();
        // A distance greater than any address points before the message, where words are zero.
        distance = if this == 0 { distance } else { usize::try_from(this).unwrap_or(usize::MAX) };
        let before = at.checked_sub(distance).and_then(|from| message.get(from));
        let before = before.map_or(W::ZERO, |word| W::from_bytes(*word));
        let word = before.plus(W::from_bytes(*difference).unzigzag());
        if let Some(to) = message.get_mut(at) {
            *to = word.to_bytes();
        }
    }
    Ok(())
}
