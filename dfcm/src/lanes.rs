//! Interleaved lanes: element *i* of a message belongs to lane *i* mod *K*, and each lane is predicted from its own last three elements. Codecs 19
//! and 20 (format, section 10).
//!
//! This is a stride predictor with the drift rule of cMPI (section 2.3 there). It is not a DFCM, which looks up what followed the same differences
//! earlier: it has no hash and no table.
//!
//! Lanes serve two purposes. They are independent, so a whole vector of elements can be predicted at once. And if a message consists of records of
//! *K* fields, or of a divisor of *K*, a lane is one field: the position in the record is known, whereas the plain codec must infer it with its hash.
//! So a lane needs no table.

mod block;
mod decode;
mod encode;
mod format;
mod head;
mod kernel;
mod past;
mod predictor;
mod probe;
mod window;

pub use decode::Decoder;
pub(crate) use decode::decode;
pub(crate) use encode::encode;
pub use encode::{Encoder, Lanes};
pub(crate) use format::GROUP;

/// The static description of codec 19: elements of 64 bits.
pub type Lanes64 = Lanes<u64>;
/// The static description of codec 20: elements of 32 bits.
pub type Lanes32 = Lanes<u32>;
/// Encodes 64-bit elements.
pub type Encoder64 = Encoder<u64>;
/// Encodes 32-bit elements.
pub type Encoder32 = Encoder<u32>;
/// Decodes 64-bit elements.
pub type Decoder64 = Decoder<u64>;
/// Decodes 32-bit elements.
pub type Decoder32 = Decoder<u32>;
