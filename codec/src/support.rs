//! What the codecs of mpress share: words, vectors of them, and the wire as it is read. Not for others: it changes without notice.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod wire;
mod word;

pub use wire::Wire;
pub use word::Word;
