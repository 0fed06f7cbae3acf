//! Packs groups to bits and back: eight lanes of one width, by shifts within lanes and byte permutations across them.

use crate::format::{BLOCK, GROUP};
use crate::kernel::avx2::{ahead, spans_nine, sum_and_ends};
use crate::kernel::block::{Block, Groups, Widths, byte_bits};
use crate::kernel::scalar::{packed_len, used};
use crate::word::Word;
use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use mpress_codec::support::avx512::{Layout, load, load_to_the_end, load_unchecked, store};
use mpress_codec::{Full, Out};

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack<W: Word>(
    residuals: &Block,
    widths: &Widths,
    words: usize,
    out: &mut Out<'_>,
) -> Result<(), Full> {
    let used = used::<W>(widths, words);
    let (sum, least, greatest) = sum_and_ends(widths, used.len());
    let len = packed_len::<W>(used, words, sum);
    // What follows relies on it, and `append` on groups of a vector at most.
    if u32::from(greatest) > W::BITS {
        return Err(Full);
    }
    // One permutation packs the lanes.
    let plain = u32::from(least) * W::PER_LANE >= 8 && !spans_nine::<W>(widths);
    if out.remaining() < len + GROUP {
        let mut packed = [MaybeUninit::uninit(); BLOCK + GROUP];
        let mut packed = Out::new(&mut packed);
        // SAFETY: no group is longer than a vector, so a packed block is no longer than a block.
        unsafe { append::<W>(residuals, used, len, plain, &mut packed) };
        return out.extend_from_slice(packed.written());
    }
    // SAFETY: the condition.
    unsafe { append::<W>(residuals, used, len, plain, out) };
    Ok(())
}

/// Appends groups of these widths, packed to `len` bytes.
///
/// # Safety
/// `out` has room for them and a vector. No width exceeds a word's, and the groups take `len` bytes, or less than a vector more if the last one is not
/// kept whole.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
unsafe fn append<W: Word>(residuals: &Block, widths: &[u8], len: usize, plain: bool, out: &mut Out<'_>) {
    let mut at = out.len();
    let to = out.as_mut_ptr().cast::<u8>();
    for (group, width) in residuals.groups().iter().zip(widths) {
        let lanes = Layout::together::<W>(load(group), *width);
        let bits = u32::from(*width) * W::PER_LANE;
        let layout = Layout::of::<W>(*width);
        let packed = if plain {
            layout.packed::<W, true>(lanes, *width)
        } else if bits < 8 {
            let low = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(lanes)) as u64;
            _mm512_zextsi128_si512(_mm_cvtsi64_si128(_pext_u64(low, byte_bits(bits)) as i64))
        } else {
            layout.packed::<W, false>(lanes, *width)
        };
        // SAFETY: all groups before this one are kept whole, so it begins within the `len` bytes, which have a vector of room behind them.
        unsafe { _mm512_storeu_si512(to.add(at).cast(), packed) };
        // There are eight lanes.
        at += bits as usize;
    }
    // SAFETY: no group is longer than a vector, so the stores covered all of these bytes.
    unsafe { out.assume_written(len) };
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn unpack<W: Word>(wire: &[u8], widths: &Widths, words: usize, residuals: &mut Groups) {
    if spans_nine::<W>(widths) {
        unpack_groups::<W, false>(wire, widths, words, residuals);
    } else {
        unpack_groups::<W, true>(wire, widths, words, residuals);
    }
}

/// `NARROW`: no lane spans nine bytes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn unpack_groups<W: Word, const NARROW: bool>(
    wire: &[u8],
    widths: &Widths,
    words: usize,
    residuals: &mut Groups,
) {
    let (mut at, ahead, end) = (0, ahead(wire), (wire.len() + 1).saturating_sub(GROUP));
    for (group, width) in residuals.iter_mut().zip(used::<W>(widths, words)) {
        // Bound, so that nothing else need be.
        let width = (*width).min(W::BITS as u8);
        _mm_prefetch::<_MM_HINT_T0>(wire.as_ptr().wrapping_add(at + ahead).cast());
        // SAFETY: before the end there is a vector.
        let packed = if at < end { unsafe { load_unchecked(wire, at) } } else { load_to_the_end(wire, at) };
        at += usize::from(width) * W::PER_LANE as usize;
        store(group, Layout::of::<W>(width).apart::<W, NARROW>(packed, width));
    }
}
