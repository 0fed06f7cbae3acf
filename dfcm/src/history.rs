//! The position of a continuing message in its sequence (format, section 6).
#![forbid(unsafe_code)]

use crate::format::PLACE;

/// The number of messages so far, modulo 256, in the low byte, and a digest of them in the other bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History(u32);

impl History {
    /// Before the first message.
    pub(crate) const START: Self = Self(0);

    pub(crate) fn to_bytes(self) -> [u8; PLACE] {
        self.0.to_le_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; PLACE]) -> Self {
        Self(u32::from_le_bytes(bytes))
    }

    /// The history after one more message with these lengths in bytes, after which the predictor's sum of all elements is `sum`.
    pub(crate) fn after(self, raw_len: usize, wire_len: usize, sum: u64) -> Self {
        let mix = |digest: u64, value: u64| {
            let product = (digest ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ product >> 32
        };
        let digest = [sum, raw_len as u64, wire_len as u64].into_iter().fold((self.0 >> 8).into(), mix);
        Self((digest >> 40 << 8) as u32 | self.0.wrapping_add(1) & 0xff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_256_messages_has_another_place() {
        let places = [(); 256].map({
            let mut history = History::START;
            move |()| {
                history = history.after(8, 20, 7);
                history.to_bytes()[0]
            }
        });
        assert!((0..256).all(|i| places[i] as usize == (i + 1) % 256));
    }

    #[test]
    fn the_digest_sees_lengths_and_data() {
        let base = History::START.after(8000, 7000, 1);
        assert_eq!(base, History::from_bytes(base.to_bytes()));
        let others = (0..64).map(|bit| (8000, 7000, 1 ^ 1 << bit)).chain([(8008, 7000, 1), (8000, 7001, 1)]);
        for (raw_len, wire_len, sum) in others {
            assert_ne!(base, History::START.after(raw_len, wire_len, sum), "{raw_len} {wire_len} {sum:x}");
        }
    }
}
