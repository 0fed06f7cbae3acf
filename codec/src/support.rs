//! What the codecs of mpress share: words, vectors of them, the wire as it is read, the length on it, and the entry to code for a SIMD tier. Not for others: it is not
//! documented, and may change with each minor version.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod entry;
pub mod length;
mod wire;
mod word;

pub use crate::kernels;
#[cfg(target_arch = "x86_64")]
pub use entry::{Avx2, Avx512};
pub use entry::{Task, code, prefetch, run};
pub use wire::Wire;
pub use word::Word;
