//! The reference kernel.
#![forbid(unsafe_code)]

use super::Kernel;
use crate::lanes::block::{Block, Body, Group, Widths, packed_bytes};
use crate::lanes::format::{GROUP, GROUPS};
use crate::lanes::past::{BEFORE, Past, Row};
use crate::lanes::predictor::drift;
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::lanes::{head, probe};
use crate::word::Word;
use mpress_codec::{Full, Out};

/// Portable code.
#[derive(Clone, Copy, Debug)]
pub(in crate::lanes) struct Scalar;

impl<W: Word> Kernel<W> for Scalar {
    #[inline(always)]
    fn residuals(self, window: View<'_>, lanes: usize, residuals: &mut Block) {
        let row = |steps| W::split(window.back::<W>(steps, lanes).as_flattened()).0.iter();
        let rows = row(0).zip(row(1)).zip(row(2).zip(row(3)));
        for (residual, ((element, first), (second, third))) in
            W::split_mut(residuals.bytes_mut()).0.iter_mut().zip(rows)
        {
            let (element, first) = (W::from_bytes(*element), W::from_bytes(*first));
            let (second, third) = (W::from_bytes(*second), W::from_bytes(*third));
            let prediction = first.plus(drift(first.minus(second), second.minus(third)));
            *residual = element.minus(prediction).zigzag().to_bytes();
        }
    }

    #[inline(always)]
    fn restore(self, residuals: &Block, lanes: usize, past: &mut Past) {
        for (i, group) in residuals.0.iter().enumerate() {
            let at = (BEFORE + i) * W::PER_GROUP;
            let (before, elements) = around::<W>(&mut past.elements, at, lanes);
            let (previous, differences) = around::<W>(&mut past.differences, at, lanes);
            let (predicted, predictions) = around::<W>(&mut past.predictions, at, lanes);
            for (j, residual) in words::<W>(group).iter().enumerate() {
                let element = W::from_bytes(predicted[j]).plus(W::from_bytes(*residual).unzigzag());
                let difference = element.minus(W::from_bytes(before[j]));
                let prediction = element.plus(drift(difference, W::from_bytes(previous[j])));
                elements[j] = element.to_bytes();
                differences[j] = difference.to_bytes();
                predictions[j] = prediction.to_bytes();
            }
        }
    }

    #[inline(always)]
    fn widths(self, residuals: &Block) -> Widths {
        let mut widths = [0; GROUPS];
        for (width, group) in widths.iter_mut().zip(&residuals.0) {
            let union = words::<W>(group).iter().fold(W::ZERO, |union, word| union | W::from_bytes(*word));
            *width = match union.width() {
                0 => 0,
                width => width.max(head::least::<W>()) as u8,
            };
        }
        widths
    }

    #[inline(always)]
    fn pack(self, residuals: &Block, widths: Widths, len: usize, out: &mut Out<'_>) -> Result<(), Full> {
        let mut body: Body = [0; size_of::<Body>()];
        let mut end = 0;
        for (i, (group, width)) in residuals.0.iter().zip(widths).enumerate() {
            pack_group::<W>(group, width, &mut body[end..]);
            end += packed_bytes::<W>(len.saturating_sub(i * GROUP).min(GROUP), width);
        }
        out.extend_from_slice(&body[..end])
    }

    #[inline(always)]
    fn unpack(self, body: &Body, widths: Widths, residuals: &mut Block) {
        let mut rest: &[u8] = body;
        for (group, width) in residuals.0.iter_mut().zip(widths) {
            unpack_group::<W>(rest, width, group);
            rest = &rest[packed_bytes::<W>(GROUP, width)..];
        }
    }

    #[inline(always)]
    fn bits(self, samples: &[&Sample], lanes: usize) -> u32 {
        let mut bits = 0;
        for sample in samples {
            let block = words::<W>(probe::back::<W>(sample, 0, lanes)).iter();
            let first = words::<W>(probe::back::<W>(sample, 1, lanes));
            let second = words::<W>(probe::back::<W>(sample, 2, lanes));
            for (element, (first, second)) in block.zip(first.iter().zip(second)) {
                let (element, first) = (W::from_bytes(*element), W::from_bytes(*first));
                let difference = element.minus(first).minus(first.minus(W::from_bytes(*second)));
                bits += difference.magnitude().width();
            }
        }
        bits
    }
}

/// Writes a group's words to the front of `packed`, followed by zeros up to a multiple of eight bytes.
#[inline(always)]
pub(super) fn pack_group<W: Word>(group: &Group, width: u8, packed: &mut [u8]) {
    let Some(packed) = packed.first_chunk_mut::<{ 2 * GROUP }>() else { return };
    let packed = packed.as_chunks_mut::<8>().0;
    let bits = lane_bits::<W>(width);
    let (mut at, mut carry) = (0, 0);
    for (i, words) in group.as_chunks().0.iter().enumerate() {
        let lane = together::<W>(u64::from_le_bytes(*words), width);
        let bit = i as u32 * bits % 64;
        carry |= lane << bit;
        packed[at % 16] = carry.to_le_bytes();
        let is_full = bit + bits >= 64;
        at += usize::from(is_full);
        carry = core::hint::select_unpredictable(is_full, lane >> 1 >> (63 - bit), carry);
    }
    packed[at % 16] = carry.to_le_bytes();
}

/// The inverse: reads a group from the front of `packed`.
#[inline(always)]
fn unpack_group<W: Word>(packed: &[u8], width: u8, group: &mut Group) {
    let Some(packed) = packed.first_chunk::<{ 2 * GROUP }>() else { return };
    let bits = lane_bits::<W>(width) as usize;
    for (i, words) in group.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let (byte, bit) = (i * bits / 8 % GROUP, i * bits % 8);
        let window = packed[byte..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        // A lane of more than 56 bits may extend into a ninth byte.
        let lane = window >> bit | u64::from(packed[byte + 8]) << 1 << (63 - bit);
        *words = apart::<W>(lane, width).to_le_bytes();
    }
}

/// Compacts the words of a 64-bit lane, of `width` bits each, at its lower end.
#[inline(always)]
fn together<W: Word>(words: u64, width: u8) -> u64 {
    if W::BITS == 32 { words & 0xffff_ffff | words >> 32 << width } else { words }
}

/// The inverse of [`together`]. Bits above the words may be set; they are cleared.
#[inline(always)]
fn apart<W: Word>(lane: u64, width: u8) -> u64 {
    let low = !u64::MAX.checked_shl(width.into()).unwrap_or(0);
    if W::BITS == 32 { lane & low | (lane >> width & low) << 32 } else { lane & low }
}

/// The bits of a lane with words of this width.
#[inline(always)]
pub(super) fn lane_bits<W: Word>(width: u8) -> u32 {
    u32::from(width) * (64 / W::BITS)
}

fn words<W: Word>(group: &Group) -> &[W::Bytes] {
    W::split(group).0
}

/// The words one step before the group at word `at` of a row in their lanes, and the group.
#[inline(always)]
fn around<W: Word>(row: &mut Row, at: usize, lanes: usize) -> (&[W::Bytes], &mut [W::Bytes]) {
    let (before, group) = W::split_mut(row.as_flattened_mut()).0.split_at_mut(at);
    (&before[at - lanes..][..W::PER_GROUP], &mut group[..W::PER_GROUP])
}
