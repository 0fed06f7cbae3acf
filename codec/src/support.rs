//! What the codecs of mpress share: words, and the wire as it is read. Not for others: it changes without notice.

mod wire;
mod word;

pub use wire::Wire;
pub use word::Word;
