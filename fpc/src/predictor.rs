//! The two predictors of FPC, in four lanes side by side (format, sections 3 and 4).
//!
//! In a decoder every look-up waits for the value before it: a chain of a dozen cycles. Lanes know nothing of each
//! other, so four such chains run at the same time.
#![forbid(unsafe_code)]

use crate::block::{Lanes, Row, RowBytes, Step};
use crate::format::{ENTRIES, HASH_SHIFT, LANES, PICKED, ROW_STEPS, ROWS};
use crate::word::Word;
use core::hint::select_unpredictable;

/// What a lane has learned.
#[derive(Clone, Debug)]
struct Tables<W> {
    /// By the hash of the values before: the value that followed.
    fcm: [W; ENTRIES],
    /// By the hash of the differences before: the difference that followed.
    dfcm: [W; ENTRIES],
    /// The tables of two lanes must not lie 4 KiB apart: a processor takes a load there for one of what it has just
    /// stored (format, section 9).
    _apart: [W; 40],
}

/// The hashes of a lane.
#[derive(Clone, Copy, Debug)]
struct Hashes {
    /// Of the values before.
    fcm: u64,
    /// Of the differences before. It is of another width than the hash of values, or the compiler would pair both in
    /// a vector, and every look-up would wait for its way there and back.
    dfcm: u32,
}

impl Hashes {
    const START: Self = Self { fcm: 0, dfcm: 0 };

    /// Predicts the value after `last`, and learns it from `reveal`, which gets the predictions of fcm and of dfcm.
    #[inline(always)]
    fn step<W: Word>(&mut self, tables: &mut Tables<W>, last: W, reveal: impl FnOnce(W, W) -> W) {
        let fcm = &mut tables.fcm[self.fcm as usize % ENTRIES];
        let dfcm = &mut tables.dfcm[self.dfcm as usize % ENTRIES];
        let value = reveal(*fcm, last.plus(*dfcm));
        let difference = value.minus(last);
        *fcm = value;
        *dfcm = difference;
        self.fcm = self.fcm << HASH_SHIFT ^ value.top(W::TOP_BITS) as u64;
        self.dfcm = self.dfcm << HASH_SHIFT ^ difference.top(W::TOP_BITS) as u32;
    }
}

/// The predictors of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Predictor<W> {
    tables: [Tables<W>; LANES],
    hashes: [Hashes; LANES],
    /// The value before.
    last: [W; LANES],
}

impl<W: Word> Predictor<W> {
    pub(crate) const fn new() -> Self {
        const {
            let tables = [const {
                Tables { fcm: [W::ZERO; ENTRIES], dfcm: [W::ZERO; ENTRIES], _apart: [W::ZERO; 40] }
            }; LANES];
            Self { tables, hashes: [Hashes::START; LANES], last: [W::ZERO; LANES] }
        }
    }

    /// Goes to the start state.
    pub(crate) fn start(&mut self) {
        for tables in &mut self.tables {
            tables.fcm.fill(W::ZERO);
            tables.dfcm.fill(W::ZERO);
        }
        self.hashes = [Hashes::START; LANES];
        self.last = [W::ZERO; LANES];
    }

    /// The lesser of the two residuals of each value of a block, its length in bytes, and [`PICKED`] with that where
    /// it is the residual of dfcm. Of `values` whole steps count.
    #[inline(always)]
    pub(crate) fn residuals(
        &mut self,
        values: &[W::Bytes],
        residuals: &mut [Step<W::Bytes>],
        lengths: &mut [Step<u8>],
    ) {
        let steps = values.len() / LANES;
        // Nothing waits here, so one lane after the other: fewer variables than all at once.
        for lane in 0..LANES {
            let (tables, mut hashes, mut last) = (&mut self.tables[lane], self.hashes[lane], self.last[lane]);
            let places = residuals.iter_mut().zip(lengths.iter_mut());
            for (value, (residual, length)) in values[lane * steps..][..steps].iter().zip(places) {
                let value = W::from_bytes(*value);
                hashes.step(tables, last, |by_fcm, by_dfcm| {
                    let (by_fcm, by_dfcm) = (value ^ by_fcm, value ^ by_dfcm);
                    let lesser = by_fcm.min(by_dfcm);
                    residual[lane] = lesser.to_bytes();
                    length[lane] = lesser.byte_len() | (u8::from(by_dfcm < by_fcm) * PICKED);
                    value
                });
                last = value;
            }
            (self.hashes[lane], self.last[lane]) = (hashes, last);
        }
    }

    /// Begins a block to decode: each lane's value before it comes to the front of `values`.
    #[inline(always)]
    pub(crate) fn begin(&self, values: &mut Lanes<W>) {
        for (lane, last) in values.iter_mut().zip(&self.last) {
            lane[0] = last.to_bytes();
        }
    }

    /// Turns the residuals of row `row` into values. A pick other than 0 says dfcm.
    #[inline(always)]
    pub(crate) fn values(&mut self, row: usize, picks: &RowBytes, residuals: &Row<W>, values: &mut Lanes<W>) {
        // The remainder changes nothing. It shows the compiler that the row is in the block.
        let first = row % ROWS * ROW_STEPS;
        // Not through `self`: what a loop keeps in registers it must own.
        let mut hashes = self.hashes;
        // Written out, as no compiler unrolls so much: places in a row are constants so, and the registers are left to
        // the hashes. A loop decodes a tenth slower.
        macro_rules! steps {
            ($($step:literal)*) => {$(
                for lane in 0..LANES {
                    // Not from a variable, of which there would be too many for the registers.
                    let last = W::from_bytes(values[lane][first + $step]);
                    hashes[lane].step(&mut self.tables[lane], last, |by_fcm, by_dfcm| {
                        // Which it is cannot be foreseen on noisy data: no branch.
                        let picked = picks[$step * LANES + lane] != 0;
                        let prediction = select_unpredictable(picked, by_dfcm, by_fcm);
                        let value = W::from_bytes(residuals[$step * LANES + lane]) ^ prediction;
                        values[lane][first + $step + 1] = value.to_bytes();
                        value
                    });
                }
            )*};
        }
        steps!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        self.hashes = hashes;
    }

    /// Ends a block of this many steps.
    #[inline(always)]
    pub(crate) fn end(&mut self, steps: usize, values: &Lanes<W>) {
        for (lane, last) in values.iter().zip(&mut self.last) {
            *last = W::from_bytes(lane[steps]);
        }
    }
}
