//! Packs the codes of 64 symbols at a time: looks them up in registers that hold the whole table, joins them in pairs until four codes form a word,
//! and shifts all words to their positions at once.

use super::scalar;
use super::vector::{LANES, V, load, load_words, store_words};
use crate::bits::{STAGE, Writer};
use crate::entropy::Codes;
use core::arch::x86_64::*;
use mpress_codec::{Full, Out};

/// One byte for each symbol.
type Table = [V; 4];

/// The entries of 64 symbols.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn look_up(table: Table, symbols: V) -> V {
    let low = _mm512_permutex2var_epi8(table[0], symbols, table[1]);
    let high = _mm512_permutex2var_epi8(table[2], symbols, table[3]);
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(symbols), low, high)
}

/// The tables of the codes' low bytes, and of their upper bits with the length in the upper half of a byte.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn tables(codes: &Codes) -> [Table; 2] {
    let (mut low, mut high) = ([0; 256], [0; 256]);
    for (symbol, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
        [*low, *high] = (codes.codes[symbol] | u16::from(codes.lengths[symbol]) << 12).to_le_bytes();
    }
    [load_table(&low), load_table(&high)]
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn load_table(bytes: &[u8; 256]) -> Table {
    let mut table = [_mm512_setzero_si512(); 4];
    for (v, bytes) in table.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
        *v = load(bytes);
    }
    table
}

/// Joins entries in 16-bit lanes to words of four codes in 64-bit lanes, and returns their lengths too.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn fours(entries: V) -> [V; 2] {
    let codes = _mm512_and_si512(entries, _mm512_set1_epi16(0xfff));
    let lengths = _mm512_srli_epi16::<12>(entries);
    // The first of two codes is in the low half of a lane and goes before the second.
    let second = _mm512_srli_epi32::<16>(lengths);
    let first = _mm512_sllv_epi32(_mm512_and_si512(codes, _mm512_set1_epi32(0xffff)), second);
    let codes = _mm512_or_si512(first, _mm512_srli_epi32::<16>(codes));
    let lengths = _mm512_and_si512(_mm512_add_epi32(lengths, second), _mm512_set1_epi32(0xffff));

    let second = _mm512_srli_epi64::<32>(lengths);
    let first = _mm512_sllv_epi64(_mm512_and_si512(codes, _mm512_set1_epi64(0xffff_ffff)), second);
    let codes = _mm512_or_si512(first, _mm512_srli_epi64::<32>(codes));
    let lengths = _mm512_and_si512(_mm512_add_epi64(lengths, second), _mm512_set1_epi64(0xffff));
    [codes, lengths]
}

/// The prefix sums of the lanes.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn sums(mut v: V) -> V {
    let zero = _mm512_setzero_si512();
    v = _mm512_add_epi64(v, _mm512_alignr_epi64::<7>(v, zero));
    v = _mm512_add_epi64(v, _mm512_alignr_epi64::<6>(v, zero));
    _mm512_add_epi64(v, _mm512_alignr_epi64::<4>(v, zero))
}

/// A stream being written: codes that end at bit `end`, relative to some byte, and its last eight words.
#[derive(Clone, Copy)]
struct Tail {
    codes: V,
    end: V,
}

/// Appends words of at least 7 bits. Earlier bits in the first byte of a word then all belong to the word before it. So words do not wait for each
/// other, only for the sum of their lengths. Returns the words' bytes and their offsets.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn behind(tail: &mut Tail, codes: V, lengths: V) -> [V; 2] {
    let (seven, all) = (_mm512_set1_epi64(7), _mm512_set1_epi64(64));
    let ends = _mm512_add_epi64(tail.end, sums(lengths));
    let starts = _mm512_sub_epi64(ends, lengths);
    let bit = _mm512_and_si512(starts, seven);
    let before = _mm512_alignr_epi64::<7>(codes, tail.codes);
    // A shift by 64 gives 0.
    let first = _mm512_sllv_epi64(before, _mm512_sub_epi64(all, bit));
    let rest = _mm512_srlv_epi64(_mm512_sllv_epi64(codes, _mm512_sub_epi64(all, lengths)), bit);
    let big_endian = _mm512_shuffle_epi8(_mm512_or_si512(first, rest), load(&REVERSED));
    *tail = Tail { codes, end: _mm512_permutexvar_epi64(seven, ends) };
    [big_endian, _mm512_srli_epi64::<3>(starts)]
}

/// A permutation that reverses the bytes of each word.
const REVERSED: [u8; LANES] = {
    let mut places = [0; LANES];
    let mut i = 0;
    while i < LANES {
        places[i] = ((i % 16) ^ 7) as u8;
        i += 1;
    }
    places
};

/// The number of groups of 64 symbols whose words are computed before any is stored. They fit in the buffer but not in registers; from registers,
/// each word would have to be extracted.
const BATCH: usize = 4;

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pack(symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
    // Words of four 1-bit codes would be too short.
    if symbols.len() < LANES || codes.lengths.contains(&1) {
        return scalar::pack(symbols, codes, out);
    }
    let (groups, rest) = symbols.as_chunks::<LANES>();
    let tables = tables(codes);
    let (mut words, mut places) = ([[0; 8]; 2 * BATCH], [[0; 8]; 2 * BATCH]);
    let mut stage = STAGE;
    let mut tail = Tail { codes: _mm512_setzero_si512(), end: _mm512_setzero_si512() };
    for batch in groups.chunks(BATCH) {
        let halves = words.as_chunks_mut::<2>().0.iter_mut().zip(places.as_chunks_mut::<2>().0);
        for (group, (words, places)) in batch.iter().zip(halves) {
            for (i, [codes, lengths]) in all_fours(tables, load(group)).into_iter().enumerate() {
                let [bytes, at] = behind(&mut tail, codes, lengths);
                store_words(&mut words[i], bytes);
                store_words(&mut places[i], at);
            }
        }
        let pairs = words.as_flattened().iter().zip(places.as_flattened());
        for (word, place) in pairs.take(batch.len() * 16) {
            if let Some(to) = stage.get_mut(*place as usize..).and_then(|rest| rest.first_chunk_mut()) {
                *to = word.to_ne_bytes();
            }
        }
        // The partly filled byte stays.
        let whole = end_of(tail) / 8;
        out.extend_from_slice(&stage[..whole])?;
        stage[0] = stage[whole];
        tail.end = _mm512_and_si512(tail.end, _mm512_set1_epi64(7));
    }
    let mut bits = Writer::with_bits(u64::from(stage[0]) << 56, end_of(tail) as u32, &mut stage);
    bits.put_codes(rest, codes, out)?;
    bits.finish(out)
}

/// The sixteen words of 64 symbols, and their lengths.
#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn all_fours([low, high]: [Table; 2], symbols: V) -> [[V; 2]; 2] {
    let (low, high) = (look_up(low, symbols), look_up(high, symbols));
    // Each 16 bytes give two words of the front half and two of the back half.
    let front = fours(_mm512_unpacklo_epi8(low, high));
    let back = fours(_mm512_unpackhi_epi8(low, high));
    [[0, 1, 8, 9, 2, 3, 10, 11], [4, 5, 12, 13, 6, 7, 14, 15]].map(|order| {
        let order = load_words(&order);
        [
            _mm512_permutex2var_epi64(front[0], order, back[0]),
            _mm512_permutex2var_epi64(front[1], order, back[1]),
        ]
    })
}

#[target_feature(enable = "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt")]
#[inline]
fn end_of(tail: Tail) -> usize {
    _mm_cvtsi128_si64(_mm512_castsi512_si128(tail.end)) as usize
}
