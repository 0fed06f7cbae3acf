//! The two predictors of FPC, in four lanes (format, sections 3 and 4).
//!
//! In a decoder every look-up waits for the previous value: a dependency chain of a dozen cycles. Lanes are independent, so four such chains run in
//! parallel.
#![forbid(unsafe_code)]

use crate::block::{Lanes, Row, RowBytes, Step};
use crate::format::{ENTRIES, HASH_SHIFT, LANES, PICKED, ROW_STEPS, ROWS};
use crate::word::Word;
use core::hint::select_unpredictable;

/// The tables of a lane.
#[derive(Clone, Debug)]
struct Tables<W> {
    /// Indexed by the hash of the previous values: the value that followed.
    fcm: [W; ENTRIES],
    /// Indexed by the hash of the previous differences: the difference that followed.
    dfcm: [W; ENTRIES],
    /// Prevents the tables of two lanes from being 4 KiB apart: the CPU would take a load there for one of recently stored data (format, section 9).
    _apart: [W; 40],
}

/// The hashes of a lane.
#[derive(Clone, Copy, Debug)]
struct Hashes {
    /// The hash of the previous values.
    fcm: u64,
    /// The hash of the previous differences. Its type differs in width from that of the hash of values. Otherwise the compiler would combine both in
    /// a vector, and every look-up would wait for the transfers there and back.
    dfcm: u32,
}

impl Hashes {
    const START: Self = Self { fcm: 0, dfcm: 0 };

    /// Predicts the value after `last` and learns the value that `reveal` returns, given the predictions of fcm and dfcm.
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
    /// The previous value of each lane.
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

    /// Resets to the start state.
    pub(crate) fn start(&mut self) {
        for tables in &mut self.tables {
            tables.fcm.fill(W::ZERO);
            tables.dfcm.fill(W::ZERO);
        }
        self.hashes = [Hashes::START; LANES];
        self.last = [W::ZERO; LANES];
    }

    /// Computes the smaller of the two residuals of each value of a block and its length in bytes, with [`PICKED`] set if the residual is dfcm's.
    /// Only whole steps of `values` are used.
    #[inline(always)]
    pub(crate) fn residuals(
        &mut self,
        values: &[W::Bytes],
        residuals: &mut [Step<W::Bytes>],
        lengths: &mut [Step<u8>],
    ) {
        let steps = values.len() / LANES;
        // There is no dependency chain to hide, so this processes one lane after the other, which needs fewer variables.
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

    /// Begins decoding a block: stores each lane's previous value at the front of `values`.
    #[inline(always)]
    pub(crate) fn begin(&self, values: &mut Lanes<W>) {
        for (lane, last) in values.iter_mut().zip(&self.last) {
            lane[0] = last.to_bytes();
        }
    }

    /// Turns the residuals of row `row` into values. A nonzero pick selects dfcm.
    #[inline(always)]
    pub(crate) fn values(&mut self, row: usize, picks: &RowBytes, residuals: &Row<W>, values: &mut Lanes<W>) {
        // The remainder has no effect; it shows the compiler that the row is in the block.
        let first = row % ROWS * ROW_STEPS;
        // A local copy, so that the loop can keep it in registers.
        let mut hashes = self.hashes;
        // Unrolled by hand, because no compiler unrolls this much: offsets in a row become constants, which leaves the registers to the hashes. A
        // loop decodes a tenth slower.
        macro_rules! steps {
            ($($step:literal)*) => {$(
                for lane in 0..LANES {
                    // Loaded again rather than kept in a variable, because there are too few registers.
                    let last = W::from_bytes(values[lane][first + $step]);
                    hashes[lane].step(&mut self.tables[lane], last, |by_fcm, by_dfcm| {
                        // Unpredictable on noisy data, so no branch.
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

    /// Ends a block of `steps` steps.
    #[inline(always)]
    pub(crate) fn end(&mut self, steps: usize, values: &Lanes<W>) {
        for (lane, last) in values.iter().zip(&mut self.last) {
            *last = W::from_bytes(lane[steps]);
        }
    }
}
