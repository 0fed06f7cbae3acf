//! Deals residuals to two streams and collects them again, by permuting all words of a vector or, with 16 bits, of half a vector.

use crate::format::BLOCK;
use crate::kernel::block::{Block, Groups, Mask};
use crate::word::Word;
use core::arch::x86_64::*;
use mpress_codec_support::avx2::{Bytes, V, VECTOR, equal, load, load_part, splat, store_part};

/// For each mask of four or eight words: the source of each word when it is moved, as eight lane numbers of a byte each. A word of 64
/// bits takes two lanes.
struct Moves<const MASKS: usize> {
    /// The words in the mask; the rest is in any order.
    compact: [[u8; 8]; MASKS],
    /// The inverse, for the words in the mask and for the others. The highest bit is set for those in the mask.
    spread: [[u8; 8]; MASKS],
}

static OF_FOUR: Moves<16> = Moves::new();
static OF_EIGHT: Moves<256> = Moves::new();

impl<const MASKS: usize> Moves<MASKS> {
    const fn new() -> Self {
        let words = MASKS.trailing_zeros() as usize;
        let lanes = 8 / words;
        let mut moves = Self { compact: [[0; 8]; MASKS], spread: [[0; 8]; MASKS] };
        let mut mask = 0;
        while mask < MASKS {
            let mut used = [0; 2];
            let mut word = 0;
            while word < words {
                let is_in = mask >> word & 1;
                let mut lane = 0;
                while lane < lanes {
                    if is_in == 1 {
                        moves.compact[mask][used[1] * lanes + lane] = (word * lanes + lane) as u8;
                    }
                    moves.spread[mask][word * lanes + lane] =
                        (used[is_in] * lanes + lane) as u8 | (is_in as u8) << 7;
                    lane += 1;
                }
                used[is_in] += 1;
                word += 1;
            }
            mask += 1;
        }
        moves
    }
}

/// The number of words moved at once.
const fn count<W: Word>() -> usize {
    if W::BITS == 64 { 4 } else { 8 }
}

/// The bits of a mask for the `i`th set of words that are moved at once.
#[inline(always)]
fn bits<W: Word>(mask: &Mask, i: usize) -> u8 {
    match W::BITS {
        64 => mask[i / 2] >> (i % 2 * 4) & 15,
        _ => mask[i],
    }
}

/// The lane numbers for this mask, from the table for words of 64 bits or that for others: each repeated (16 bits) or extended by its sign.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn numbers<W: Word>(of_four: &[[u8; 8]; 16], of_eight: &[[u8; 8]; 256], mask: u8) -> V {
    let numbers = match W::BITS {
        64 => of_four[usize::from(mask & 15)],
        _ => of_eight[usize::from(mask)],
    };
    let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(numbers));
    match W::BITS {
        16 => _mm256_castsi128_si256(_mm_unpacklo_epi8(bytes, bytes)),
        _ => _mm256_cvtepi8_epi32(bytes),
    }
}

/// The words with these lane numbers, whose highest bit is ignored.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn moved<W: Word>(v: V, numbers: V) -> V {
    match W::BITS {
        // Both bytes of each word.
        16 => {
            let even = _mm256_add_epi8(numbers, numbers);
            _mm256_shuffle_epi8(v, _mm256_add_epi8(even, _mm256_set1_epi16(0x0100)))
        }
        _ => _mm256_permutevar8x32_epi32(v, numbers),
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn above<W: Word>(residuals: &Block, width: u32) -> Mask {
    let mut mask = [0; _];
    let zero = _mm256_setzero_si256();
    let outside = _mm256_xor_si256(splat(W::mask(width)), equal::<u64>(zero, zero));
    // For each vector: all ones in the words that have no bits in `outside`.
    let inside = |v: &Bytes| equal::<W>(_mm256_and_si256(load(v), outside), zero);
    let vectors = residuals.0.as_chunks::<VECTOR>().0;
    match W::BITS {
        // Eight bytes at a time, because that is how they are counted: a load would wait until single stores are in the cache.
        64 => {
            let bits = |v| _mm256_movemask_pd(_mm256_castsi256_pd(inside(v))) as u64;
            for (to, vectors) in mask.as_chunks_mut().0.iter_mut().zip(vectors.as_chunks::<16>().0) {
                *to = vectors.iter().rev().fold(0, |all, v| all << 4 | bits(v) ^ 15).to_le_bytes();
            }
        }
        32 => {
            let bits = |v| _mm256_movemask_ps(_mm256_castsi256_ps(inside(v))) as u64;
            for (to, vectors) in mask.as_chunks_mut().0.iter_mut().zip(vectors.as_chunks::<8>().0) {
                *to = vectors.iter().rev().fold(0, |all, v| all << 8 | bits(v) ^ 255).to_le_bytes();
            }
        }
        _ => {
            for (to, [low, high]) in mask.as_chunks_mut().0.iter_mut().zip(vectors.as_chunks().0) {
                let bytes = _mm256_permute4x64_epi64::<0xd8>(_mm256_packs_epi16(inside(low), inside(high)));
                *to = (!_mm256_movemask_epi8(bytes)).to_le_bytes();
            }
        }
    }
    mask
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn deal<W: Word>(
    residuals: &Block,
    mask: &Mask,
    words: usize,
    wide: &mut Block,
    narrow: &mut Block,
) {
    let bytes = count::<W>() * W::WIDTH;
    let (mut wides, mut narrows) = (0, 0);
    for i in 0..words.div_ceil(count::<W>()) {
        let (is_wide, v) = (bits::<W>(mask, i), load_part(&residuals.0, i * bytes));
        let compact = |mask| numbers::<W>(&OF_FOUR.compact, &OF_EIGHT.compact, mask);
        store_part(&mut wide.0, wides, moved::<W>(v, compact(is_wide)));
        store_part(&mut narrow.0, narrows, moved::<W>(v, compact(!is_wide)));
        let wide_bytes = is_wide.count_ones() as usize * W::WIDTH;
        wides += wide_bytes;
        narrows += bytes - wide_bytes;
    }
    // Words past the last one are not in the mask, so they are at the end of the narrow ones.
    let ends = [(wide, wides), (narrow, (words * W::WIDTH).saturating_sub(wides))];
    for (block, end) in ends {
        store_part(&mut block.0, end, _mm256_setzero_si256());
        store_part(&mut block.0, end + VECTOR, _mm256_setzero_si256());
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn collect<W: Word>(wide: &Block, narrow: &Block, mask: &Mask, residuals: &mut Groups) {
    let bytes = count::<W>() * W::WIDTH;
    let (mut wides, mut narrows) = (0, 0);
    for i in 0..BLOCK / bytes {
        let is_wide = bits::<W>(mask, i);
        let numbers = numbers::<W>(&OF_FOUR.spread, &OF_EIGHT.spread, is_wide);
        let from_narrow = moved::<W>(load_part(&narrow.0, narrows), numbers);
        let from_wide = moved::<W>(load_part(&wide.0, wides), numbers);
        // Numbers are sign-extended or repeated, so each byte of a word in the mask has its highest bit set.
        let v = _mm256_blendv_epi8(from_narrow, from_wide, numbers);
        store_part(residuals.as_flattened_mut(), i * bytes, v);
        let wide_bytes = is_wide.count_ones() as usize * W::WIDTH;
        wides += wide_bytes;
        narrows += bytes - wide_bytes;
    }
}
