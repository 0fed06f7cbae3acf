//! Data of any length for the benchmarks by size.

use crate::corpus::File;
use std::path::Path;

/// A kind of data.
#[derive(Clone, Copy, Debug)]
pub struct Dataset {
    /// What the rows are called.
    pub name: &'static str,
    /// So many bytes of it, for elements of so many bytes; `None` where it rests on a file that is not here.
    pub make: fn(width: usize, len: usize) -> Option<Vec<u8>>,
}

/// Every kind of data. The same arguments always give the same bytes.
pub const DATASETS: &[Dataset] = &[
    Dataset { name: "real", make: real },
    Dataset {
        name: "smooth",
        make: |width, len| Some(if width == 4 { smooth_f32(len) } else { smooth_f64(len) }),
    },
    Dataset { name: "random", make: |_, len| Some(random(len)) },
    Dataset {
        name: "constant",
        make: |_, len| Some([0x40, 0x9a, 0x99, 0x3f].repeat(len / 4 + 1)[..len].into()),
    },
];

/// The messages of one real file behind each other, as often as it takes: NPB SP for doubles, NPB IS for words of
/// four bytes.
fn real(width: usize, len: usize) -> Option<Vec<u8>> {
    let name = if width == 4 { "is.i32" } else { "sp.f64" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let file = File::read(&folder.join(name)).ok().flatten()?;
    let bytes: Vec<u8> = file.messages().flatten().copied().collect();
    (!bytes.is_empty()).then(|| bytes.iter().copied().cycle().take(len).collect())
}

fn smooth_f64(len: usize) -> Vec<u8> {
    words(len, |i| (1.0 + 0.5 * (i as f64 * 0.001).sin()).to_le_bytes())
}

fn smooth_f32(len: usize) -> Vec<u8> {
    words(len, |i| (1.0 + 0.5 * (i as f32 * 0.001).sin()).to_le_bytes())
}

/// The counter-based generator SplitMix64 (Steele, Lea, Flood 2014).
fn random(len: usize) -> Vec<u8> {
    words(len, |i| {
        let z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    })
}

fn words<const N: usize>(len: usize, word: impl Fn(usize) -> [u8; N]) -> Vec<u8> {
    (0..len.div_ceil(N)).flat_map(word).take(len).collect()
}
