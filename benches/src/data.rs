//! Data of any length for the benchmarks by size.

use crate::corpus::{File, Piece};
use crate::element::Element;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

/// A kind of data.
#[derive(Clone, Copy, Debug)]
pub struct Dataset {
    /// The name of the rows.
    pub name: &'static str,
    /// Its element type.
    pub element: Element,
    /// `len` bytes of the data; `None` if they come from a file that does not exist here.
    pub make: fn(len: usize) -> Option<Vec<u8>>,
}

/// All kinds of data. The same length always gives the same bytes.
pub const DATASETS: &[Dataset] = &[
    Dataset { name: "real-f64", element: Element::F64, make: |len| real("sp.f64", len) },
    Dataset { name: "real-i32", element: Element::I32, make: |len| real("is.i32", len) },
    Dataset { name: "smooth-f64", element: Element::F64, make: |len| Some(smooth(len)) },
    Dataset { name: "random-f64", element: Element::F64, make: |len| Some(random(len)) },
    Dataset { name: "constant-f64", element: Element::F64, make: |len| Some(constant(len)) },
];

/// The concatenated messages of a file of the corpus, repeated as often as needed. The corpus is next to the repository.
fn real(name: &str, len: usize) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let file = File::read(&folder.join(name)).ok().flatten()?;
    let bytes = file.pieces(Piece::Bytes(usize::MAX)).concat();
    (!bytes.is_empty()).then(|| bytes.iter().copied().cycle().take(len).collect())
}

fn smooth(len: usize) -> Vec<u8> {
    (0..len.div_ceil(8))
        .flat_map(|i| (1.0 + 0.5 * (i as f64 * 0.001).sin()).to_le_bytes())
        .take(len)
        .collect()
}

fn random(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut bytes);
    bytes
}

fn constant(len: usize) -> Vec<u8> {
    1.2_f64.to_le_bytes().iter().copied().cycle().take(len).collect()
}
