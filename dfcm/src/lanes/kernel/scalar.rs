//! The reference kernel.
#![forbid(unsafe_code)]

use super::Kernel;
use crate::lanes::block::{Block, Body, Group, Widths, packed_len, used};
use crate::lanes::format::GROUPS;
use crate::lanes::past::{BEFORE, Past, Row};
use crate::lanes::predictor::drift;
use crate::lanes::probe::Sample;
use crate::lanes::window::View;
use crate::lanes::{head, probe};
use crate::word::Word;
use mpress_codec::{Full, Out};
use mpress_codec_support::pack;

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
        pack::pack::<W>(&residuals.0, used(&widths, len), packed_len::<W>(&widths, len), out)
    }

    #[inline(always)]
    fn unpack(self, body: &Body, widths: &Widths, residuals: &mut Block) {
        pack::unpack::<W>(body, widths, true, &mut residuals.0);
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

fn words<W: Word>(group: &Group) -> &[W::Bytes] {
    W::split(group).0
}

/// The words one step before the group at word `at` of a row in their lanes, and the group.
#[inline(always)]
fn around<W: Word>(row: &mut Row, at: usize, lanes: usize) -> (&[W::Bytes], &mut [W::Bytes]) {
    let (before, group) = W::split_mut(row.as_flattened_mut()).0.split_at_mut(at);
    (&before[at - lanes..][..W::PER_GROUP], &mut group[..W::PER_GROUP])
}
