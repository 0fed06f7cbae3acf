//! Division by a constant divisor: for a power of two, the usual case, it is a shift.

/// A divisor, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    number: u64,
    /// The shift, if it is a power of two.
    shift: Option<u32>,
}

impl Divisor {
    /// A divisor; 0 is replaced by 1.
    pub(crate) fn new(number: u64) -> Self {
        let number = number.max(1);
        Self { number, shift: number.is_power_of_two().then(|| number.trailing_zeros()) }
    }

    pub(crate) fn get(self) -> u64 {
        self.number
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        match self.shift {
            Some(shift) => (dividend >> shift, dividend & (self.number - 1)),
            None => (dividend / self.number, dividend % self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_remainders() {
        for number in [1, 2, 3, 7, 8, 1 << 40, (1 << 40) + 1, 1 << 63, u64::MAX] {
            for dividend in [0, 1, 2, 6, 7, 8, 9, 1 << 40, u64::MAX - 1, u64::MAX] {
                assert_eq!(Divisor::new(number).divide(dividend), (dividend / number, dividend % number));
            }
        }
        assert_eq!(Divisor::new(0), Divisor::new(1));
    }
}
