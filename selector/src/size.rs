//! Size classes: message lengths, two to an octave.

const OCTAVES_START: usize = 10;
const OCTAVES_END: usize = 26;

/// A class of message lengths that behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeClass(u8);

impl SizeClass {
    /// The number of classes: they start at 1 KiB, and the last contains all lengths from 64 MiB on.
    pub const COUNT: usize = 2 * (OCTAVES_END - OCTAVES_START) + 1;

    /// The class of a length in bytes. Lengths below 1 KiB are in the first.
    #[inline]
    #[must_use]
    pub const fn of(len: usize) -> Self {
        if len < 1 << OCTAVES_START {
            return Self(0);
        }
        if len >> OCTAVES_END != 0 {
            return Self((Self::COUNT - 1) as u8);
        }
        let octave = len.ilog2() as usize;
        let upper = (len >> (octave - 1)) & 1;
        Self((2 * (octave - OCTAVES_START) + upper) as u8)
    }

    /// All classes, the shortest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// The length in bytes of the shortest messages of this class.
    #[must_use]
    pub const fn start(self) -> usize {
        let octave = OCTAVES_START + self.0 as usize / 2;
        (1 << octave) + if self.0 % 2 == 1 { 1 << (octave - 1) } else { 0 }
    }

    /// The upper limit of lengths in this class in bytes, exclusive; `usize::MAX` for the last.
    #[must_use]
    pub const fn end(self) -> usize {
        if self.index() + 1 == Self::COUNT { usize::MAX } else { Self(self.0 + 1).start() }
    }

    /// The index of the class in the order of [`all`](Self::all).
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
