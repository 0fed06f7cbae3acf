//! Packing by hand as in a program: plain loops over elements.

/// Loops over blocks of elements, the outermost first, or over listed places.
#[derive(Clone, Debug)]
pub struct Loops {
    /// The start in memory, in bytes.
    pub at: usize,
    /// The positions of blocks, in bytes.
    pub places: Places,
    /// The number of elements in a block.
    pub block: usize,
    /// Bytes of an element: 4, 8 or 16.
    pub element: usize,
}

/// The positions of blocks.
#[derive(Clone, Debug)]
pub enum Places {
    /// Three loops: count and stride in bytes.
    Nest([(usize, usize); 3]),
    /// Irregular positions.
    Listed(Vec<usize>),
}

/// The direction of the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From memory to the packed stream.
    Pack,
    /// From the packed stream to memory.
    Unpack,
}

/// Packs or unpacks all loops in order.
pub fn run(all: &[Loops], way: Way, memory: &mut [u8], packed: &mut [u8]) {
    let mut at = 0;
    for loops in all {
        at = match (loops.element, way) {
            (4, Way::Pack) => each::<4, _>(loops, at, |place, at, len| {
                elements::<4>(&memory[place..place + len], &mut packed[at..at + len]);
            }),
            (4, Way::Unpack) => each::<4, _>(loops, at, |place, at, len| {
                elements::<4>(&packed[at..at + len], &mut memory[place..place + len]);
            }),
            (8, Way::Pack) => each::<8, _>(loops, at, |place, at, len| {
                elements::<8>(&memory[place..place + len], &mut packed[at..at + len]);
            }),
            (8, Way::Unpack) => each::<8, _>(loops, at, |place, at, len| {
                elements::<8>(&packed[at..at + len], &mut memory[place..place + len]);
            }),
            (_, Way::Pack) => each::<16, _>(loops, at, |place, at, len| {
                elements::<16>(&memory[place..place + len], &mut packed[at..at + len]);
            }),
            (_, Way::Unpack) => each::<16, _>(loops, at, |place, at, len| {
                elements::<16>(&packed[at..at + len], &mut memory[place..place + len]);
            }),
        };
    }
}

/// Element by element.
#[inline(always)]
fn elements<const N: usize>(from: &[u8], to: &mut [u8]) {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
    for (from, to) in from.iter().zip(to) {
        *to = *from;
    }
}

/// Calls `copy` with each block's position in memory and in the stream, and its length. Returns the end in the stream.
#[inline(always)]
fn each<const N: usize, F: FnMut(usize, usize, usize)>(loops: &Loops, mut at: usize, mut copy: F) -> usize {
    let len = loops.block * N;
    let mut block = |place: usize| {
        // Most loops have single elements; a separate case lets the compiler know that.
        if len == N {
            copy(place, at, N)
        } else {
            copy(place, at, len)
        }
        at += len;
    };
    match &loops.places {
        Places::Nest([outer, middle, inner]) => {
            for i in 0..outer.0 {
                for j in 0..middle.0 {
                    let row = loops.at + i * outer.1 + j * middle.1;
                    for k in 0..inner.0 {
                        block(row + k * inner.1);
                    }
                }
            }
        }
        Places::Listed(places) => places.iter().for_each(|place| block(loops.at + place)),
    }
    at
}
