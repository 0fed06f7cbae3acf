//! The predictors of FPC as published: fcm and dfcm, one value at a time.
#![forbid(unsafe_code)]

use super::WIDTH;

/// The shift of the hash of values for each value, and the lowest bit of a value that the hash uses.
const FCM_SHIFT: u32 = 6;
const FCM_FROM: u32 = 48;
/// The same for the hash of differences.
const DFCM_SHIFT: u32 = 2;
const DFCM_FROM: u32 = 40;

/// Both predictors during a stream.
pub(super) struct Predictor<'a> {
    /// Indexed by the hash of the previous values: the value that followed.
    fcm: &'a mut [u64],
    /// Indexed by the hash of the previous differences: the difference that followed.
    dfcm: &'a mut [u64],
    fcm_hash: u64,
    dfcm_hash: u64,
    last: u64,
}

impl<'a> Predictor<'a> {
    /// Predictors at the start of a stream. `tables` holds both tables, of the same length and all zeros.
    pub(super) fn new(tables: &'a mut [u64]) -> Self {
        let (fcm, dfcm) = tables.split_at_mut(tables.len() / 2);
        Self { fcm, dfcm, fcm_hash: 0, dfcm_hash: 0, last: 0 }
    }

    /// Zeroes all entries that these values have written to since the start of a stream.
    pub(super) fn forget(mut self, values: &[[u8; WIDTH]]) {
        for value in values {
            let (fcm, dfcm) = self.places();
            self.fcm[fcm] = 0;
            self.dfcm[dfcm] = 0;
            self.go_on(u64::from_le_bytes(*value));
        }
    }

    /// Predicts a value and learns the value that `reveal` returns, given the predictions of fcm and dfcm.
    #[inline(always)]
    pub(super) fn step(&mut self, reveal: impl FnOnce(u64, u64) -> u64) -> u64 {
        let (fcm, dfcm) = self.places();
        let value = reveal(self.fcm[fcm], self.last.wrapping_add(self.dfcm[dfcm]));
        self.fcm[fcm] = value;
        self.dfcm[dfcm] = value.wrapping_sub(self.last);
        self.go_on(value);
        value
    }

    /// The table indices for the next value.
    #[inline(always)]
    fn places(&self) -> (usize, usize) {
        // The masks reduce the hashes; applied here, they show the compiler that an index is within its table.
        let fcm = self.fcm_hash as usize & self.fcm.len().wrapping_sub(1);
        (fcm, self.dfcm_hash as usize & self.dfcm.len().wrapping_sub(1))
    }

    /// Makes `value` the previous one.
    #[inline(always)]
    fn go_on(&mut self, value: u64) {
        let difference = value.wrapping_sub(self.last);
        self.fcm_hash = self.fcm_hash << FCM_SHIFT ^ value >> FCM_FROM;
        self.dfcm_hash = self.dfcm_hash << DFCM_SHIFT ^ difference >> DFCM_FROM;
        self.last = value;
    }

    #[cfg(test)]
    pub(super) fn knows_nothing(&self) -> bool {
        self.fcm.iter().chain(self.dfcm.iter()).all(|entry| *entry == 0)
    }
}
