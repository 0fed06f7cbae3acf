//! The decoder.
#![forbid(unsafe_code)]

use crate::block::{EACH, Widths, window};
use crate::copies::{CHUNK, Copies, Expand};
use crate::format::{BLOCK, COPIES, FORMAT, GROUPS, Head, RECORDS};
use crate::kernel::{self, Kernel, Work};
use crate::predictor::{Malformed, Predictor, Slots};
use crate::rebuild::{Form, Packed, Scratch};
use crate::records::{COLUMN, Layout, PIECE, column_width, scatter};
use crate::split::count;
use crate::word::Word;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated, Unsupported};
use mpress_codec::simd::Simd;
use mpress_codec::support::{Wire, length};
use mpress_codec::{Decode, DecodeError, Full, Out, Reset};

/// Decodes messages of words `W`, encoded with any effort. Takes at most 30 KiB of memory.
#[derive(Clone, Debug)]
pub struct Decoder<W> {
    simd: Simd,
    scratch: Scratch,
    word: PhantomData<W>,
}

impl<W: Word> Decoder<W> {
    /// A decoder.
    #[must_use]
    pub fn new() -> Self {
        Self { simd: Simd::detect(), scratch: Scratch::new(), word: PhantomData }
    }

    /// Uses a kernel of this tier. The result is the same at every tier.
    #[must_use]
    pub fn with_simd(mut self, simd: Simd) -> Self {
        self.simd = simd;
        self
    }
}

impl<W: Word> Default for Decoder<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Word> Reset for Decoder<W> {}

impl<W: Word> Decode for Decoder<W> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        out.all_or_nothing(|out| W::decode(self, wire, out))
    }
}

impl<W: Word> Decoder<W> {
    /// Decodes a message.
    pub(crate) fn message(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let (raw_len, start) = (out.remaining(), out.len());
        let mut wire = Wire::new(wire);
        let flags = wire.byte()?;
        if flags & !(RECORDS | COPIES) != FORMAT {
            return Err(DecodeError::new(Unsupported, 0));
        }
        if length::read(&mut wire)? != raw_len as u64 {
            return Err(DecodeError::new(Length, 1));
        }
        let copies = flags & COPIES != 0;
        let Self { simd, scratch, .. } = self;
        if flags & RECORDS != 0 {
            scratch.records(*simd, &mut wire, copies, out)?;
        } else {
            let words = raw_len / W::WIDTH;
            scratch.read::<W>(*simd, &mut wire, words, copies, &mut Slots::new(), out, start)?;
        }
        let full = DecodeError::new(Length, wire.at);
        out.extend_from_slice(wire.take(out.remaining())?).map_err(|Full { .. }| full)?;
        wire.finish()
    }
}

/// Reads the blocks of `words` words: of a message, of a column of records, or of the literals of a block of copies. The words in `out` from `start` on
/// predict them. So that there is one instance of the code for a block for each word and tier, all three call it.
struct Read<'a, 'w, 'o> {
    simd: Simd,
    scratch: &'a mut Scratch,
    wire: &'a mut Wire<'w>,
    words: usize,
    /// Whether there may be blocks of copies.
    copies: bool,
    slots: &'a mut Slots,
    out: &'a mut Out<'o>,
    start: usize,
}

impl<W: Word> Work<W> for Read<'_, '_, '_> {
    type Output = Result<(), DecodeError>;

    #[inline(always)]
    fn run<K: Kernel<W>>(self, kernel: K) -> Result<(), DecodeError> {
        let Self { simd, scratch, wire, words, copies, slots, out, start } = self;
        scratch.window.forget();
        let mut left = words;
        while left > 0 {
            let words = left.min(W::BLOCK);
            let place = wire.at;
            let head = wire.head()?;
            if copies && let Some(units) = head.units() {
                scratch.copies::<W>(simd, wire, (place, units), words, slots, out, start)?;
            } else {
                scratch.block(kernel, wire, (place, head), words, slots, out, start)?;
            }
            left -= words;
        }
        Ok(())
    }
}

/// What blocks have on the wire.
trait Blocks<'a> {
    fn head(&mut self) -> Result<Head, DecodeError>;
    fn slot<W: Word>(&mut self, head: Head, slots: &mut Slots) -> Result<u16, DecodeError>;
    fn malformed(&self, malformed: Malformed) -> DecodeError;
    fn stream<'w, W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        head: Head,
        words: usize,
        widths: &'w mut Widths,
    ) -> Result<Packed<'w>, DecodeError>
    where
        'a: 'w;
}

impl<'a> Blocks<'a> for Wire<'a> {
    #[inline(always)]
    fn head(&mut self) -> Result<Head, DecodeError> {
        self.take_array().map(|bytes| Head(u16::from_le_bytes(bytes)))
    }

    /// The slot of the block's predictor, which the block may define.
    #[inline(always)]
    fn slot<W: Word>(&mut self, head: Head, slots: &mut Slots) -> Result<u16, DecodeError> {
        if head.code() != Head::DEFINED {
            return Ok(head.code());
        }
        match Predictor::from_wire::<W>(self.rest()) {
            Ok((predictor, len)) => {
                self.at += len;
                Ok(slots.define(predictor))
            }
            Err(malformed) => Err(self.malformed(malformed)),
        }
    }

    fn malformed(&self, malformed: Malformed) -> DecodeError {
        match malformed {
            Malformed::Truncated => DecodeError::new(Truncated, self.bytes.len()),
            Malformed::Corrupt => self.corrupt(),
        }
    }

    /// Reads past a stream of `words` residuals in at least one group, and returns its packed groups. Stores their widths in `widths`.
    #[inline(always)]
    fn stream<'w, W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        head: Head,
        words: usize,
        widths: &'w mut Widths,
    ) -> Result<Packed<'w>, DecodeError>
    where
        'a: 'w,
    {
        let groups = words.div_ceil(W::LANES);
        let bits = head.offset_bits();
        let rest = self.rest();
        self.take((groups * bits as usize).div_ceil(8))?;
        offsets(kernel, rest, head, widths);
        let last = widths[..groups.min(GROUPS)].last().copied().unwrap_or(0);
        let (sum, too_wide) = sum(widths, groups, W::BITS);
        if too_wide {
            return Err(self.corrupt());
        }
        let missing = groups * W::LANES - words;
        let len = sum * W::LANES / 8 - usize::from(last) * missing / 8;
        let wire = self.rest();
        self.take(len)?;
        Ok(Packed { wire, widths })
    }
}

/// Unpacks the widths of a stream's groups from the offsets at the front of `wire`: eight offsets take as many bytes as one has bits. Widths past the
/// last group are arbitrary.
#[inline(always)]
fn offsets<W: Word, K: Kernel<W>>(kernel: K, wire: &[u8], head: Head, widths: &mut Widths) {
    let bits = head.offset_bits();
    let minimums = u64::from(head.minimum()) * EACH;
    if bits == 0 {
        for eight in widths.as_chunks_mut().0 {
            *eight = minimums.to_le_bytes();
        }
        return;
    }
    for (eight, i) in widths.as_chunks_mut::<8>().0.iter_mut().zip(0..) {
        let mut spare = [0; 8];
        let packed = u64::from_le_bytes(*window(wire, i * bits as usize, &mut spare));
        // No sum exceeds 127 + 127, so nothing carries.
        *eight = (kernel.spread(packed, bits) + minimums).to_le_bytes();
    }
}

/// The sum of some widths, and whether one of them exceeds `most`. Reads eight at a time, as they were stored.
#[inline(always)]
fn sum(widths: &Widths, groups: usize, most: u32) -> (usize, bool) {
    const PAIRS: u64 = 0x00ff_00ff_00ff_00ff;
    let (mut sum, mut above) = (0, 0);
    for (eight, i) in widths.as_chunks().0.iter().zip(0..) {
        let left = groups.saturating_sub(i * 8).min(8) as u32;
        if left == 0 {
            break;
        }
        let eight = u64::from_le_bytes(*eight) << (64 - 8 * left);
        above |= eight | (eight & (EACH * 127)).wrapping_add(EACH * u64::from(127 - most));
        let pairs = (eight & PAIRS) + (eight >> 8 & PAIRS);
        sum += pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    }
    (sum as usize, above & (EACH * 128) != 0)
}

impl Scratch {
    /// Reads blocks as [`Read`] says.
    #[expect(clippy::too_many_arguments, reason = "what blocks are read with")]
    fn read<W: Word>(
        &mut self,
        simd: Simd,
        wire: &mut Wire<'_>,
        words: usize,
        copies: bool,
        slots: &mut Slots,
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        kernel::with::<W, _>(simd, Read { simd, scratch: self, wire, words, copies, slots, out, start })
    }

    /// Reads records, as many as fit in the remaining room (format, section 10).
    fn records(
        &mut self,
        simd: Simd,
        wire: &mut Wire<'_>,
        copies: bool,
        out: &mut Out<'_>,
    ) -> Result<(), DecodeError> {
        let place = wire.at;
        let rest = wire.rest();
        let (layout, len) = Layout::from_wire(rest).map_err(|malformed| wire.malformed(malformed))?;
        wire.at += len;
        let full = DecodeError::new(Length, place);
        let mut left = out.remaining() / layout.stride();
        while left > 0 {
            let records = left.min(PIECE);
            let start = out.len();
            out.extend_zeroed(records * layout.stride()).map_err(|Full { .. }| full)?;
            let piece = out.written_mut().get_mut(start..).unwrap_or_default();
            let stride = layout.stride();
            for (at, width) in layout.fields() {
                let mut column = [MaybeUninit::uninit(); COLUMN];
                let mut column = Out::new(&mut column[..records * column_width(width)]);
                let (out, slots) = (&mut column, &mut Slots::new());
                match width {
                    8 => self.read::<u64>(simd, wire, records, copies, slots, out, 0)?,
                    4 => self.read::<u32>(simd, wire, records, copies, slots, out, 0)?,
                    _ => self.read::<u16>(simd, wire, records, copies, slots, out, 0)?,
                }
                match width {
                    8 => scatter::<8, 8>(column.written(), piece, at, stride),
                    4 => scatter::<4, 4>(column.written(), piece, at, stride),
                    2 => scatter::<2, 2>(column.written(), piece, at, stride),
                    _ => scatter::<2, 1>(column.written(), piece, at, stride),
                }
            }
            left -= records;
        }
        Ok(())
    }

    /// Reads a block of copies (format, section 9).
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "what a block is read with")]
    fn copies<W: Word>(
        &mut self,
        simd: Simd,
        wire: &mut Wire<'_>,
        (place, units): (usize, (u16, u16)),
        words: usize,
        slots: &mut Slots,
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        let corrupt = DecodeError::new(Corrupt, place);
        let copies = Copies::from_wire(units, wire.take_array()?, words).ok_or(corrupt)?;
        let mut literals = [MaybeUninit::uninit(); BLOCK + CHUNK];
        let mut literals = Out::new(&mut literals);
        self.literals::<W>(simd, wire, copies.literal_words(), slots, &mut literals)?;
        let literals = literals.extend_zeroed(CHUNK).map_err(|_| corrupt)?;
        let expand = Expand::<W> { copies, wire: wire.rest(), literals, start, out, word: PhantomData };
        let len = kernel::compiled(simd, expand).map_err(|malformed| wire.malformed(malformed))?;
        wire.take(len).map(|_| ())
    }

    /// Reads the block of the `words` literals of a block of copies. It is none of copies itself.
    fn literals<W: Word>(
        &mut self,
        simd: Simd,
        wire: &mut Wire<'_>,
        words: usize,
        slots: &mut Slots,
        literals: &mut Out<'_>,
    ) -> Result<(), DecodeError> {
        self.read::<W>(simd, wire, words, false, slots, literals, 0)?;
        self.window.forget();
        Ok(())
    }

    /// Reads a block after its head, which was at offset `at` of the wire.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "what a block is read with")]
    fn block<W: Word, K: Kernel<W>>(
        &mut self,
        kernel: K,
        wire: &mut Wire<'_>,
        (place, head): (usize, Head),
        words: usize,
        slots: &mut Slots,
        out: &mut Out<'_>,
        start: usize,
    ) -> Result<(), DecodeError> {
        let len = words * W::WIDTH;
        let full = DecodeError::new(Length, place);
        if head.code() == Head::STORED {
            if head != Head::stored() {
                return Err(DecodeError::new(Corrupt, place));
            }
            return out.extend_from_slice(wire.take(len)?).map_err(|_| full);
        }
        let slot = wire.slot::<W>(head, slots)?;
        let predictor = slots.get(slot).ok_or(wire.corrupt())?;
        let mut maximum = W::ZERO;
        if !predictor.is_difference() {
            maximum = W::load(wire.take(W::WIDTH)?, 0);
        }
        let mut strip = [0; GROUPS];
        if head.has(Head::STRIP) {
            if !predictor.is_difference() {
                return Err(DecodeError::new(Corrupt, place));
            }
            let groups = words.div_ceil(W::LANES);
            for (pair, counts) in strip.as_chunks_mut().0.iter_mut().zip(wire.take(groups.div_ceil(2))?) {
                *pair = [counts & 15, counts >> 4];
            }
        }
        let strip = head.has(Head::STRIP).then_some(&strip);
        let form = Form { predictor, maximum, strip, words };
        let mut widths = [0; GROUPS];
        let packed = if head.has(Head::SPLIT) {
            self.collect(kernel, wire, head, words)?;
            None
        } else {
            Some(wire.stream::<W, K>(kernel, head, words, &mut widths)?)
        };
        kernel.rebuild(packed, &form, self, start, out).map_err(|_| full)
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
        let narrow_head = wire.head()?;
        if !narrow_head.is_plain() {
            return Err(DecodeError::new(Corrupt, place));
        }
        let wide_words = count(&mask);
        let Scratch { words: residuals, wide, other: narrow, .. } = self;
        let mut widths = [0; GROUPS];
        let packed = wire.stream::<W, K>(kernel, head, wide_words, &mut widths)?;
        kernel.unpack(packed.wire, packed.widths, wide_words, wide.groups_mut());
        let packed = wire.stream::<W, K>(kernel, narrow_head, words - wide_words, &mut widths)?;
        kernel.unpack(packed.wire, packed.widths, words - wide_words, narrow.groups_mut());
        kernel.collect(wide, narrow, &mask, residuals.groups_mut());
        Ok(())
    }
}
