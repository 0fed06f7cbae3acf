//! The traits: the static description of a codec, its encoder, its decoder.
#![forbid(unsafe_code)]

use crate::{CodecId, DecodeError, EncodeError, Out};

/// The static description of a codec, available without an instance of it.
pub trait Codec {
    /// The wire byte that identifies this codec.
    const ID: CodecId;
    /// A short lower-case name for reports and settings.
    const NAME: &'static str;
    /// Length of an element in bytes. Messages of any other length are still coded without loss.
    const WIDTH: usize;
    /// Whether an instance *can* carry state from message to message that its counterpart must share. Encoders of other codecs may remember what was
    /// good for earlier messages; then `reset` changes their wires, which every decoder reads.
    const STATEFUL: bool;

    /// The maximum wire length of `raw_len` raw bytes in bytes; `None` if it overflows `usize`.
    fn max_encoded_len(raw_len: usize) -> Option<usize>;
}

/// The encoder of a codec.
pub trait Encode {
    /// The maximum wire length of `raw_len` raw bytes in bytes; see [`Codec::max_encoded_len`].
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize>;

    /// Whether encoding can make this message smaller, estimated from a few places in it. `Some(false)` only if encoding would gain nothing, so a
    /// layer that can send the message raw should call this first. `None` from a codec that cannot tell in a fraction of the time it takes to copy
    /// the message.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        let _ = raw;
        None
    }

    /// Appends the wire form of `raw` to `out`.
    ///
    /// # Errors
    /// Only if `out` has less room than `max_encoded_len(raw.len())`. This is checked first: after an error, `out` and the encoder's state are
    /// unchanged.
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError>;

    /// Forgets all messages encoded so far. The decoder must be reset at the same point in the sequence.
    fn reset(&mut self);
}

/// The decoder of a codec.
pub trait Decode {
    /// Fills all remaining room of `out` with the message in `wire`. The length of the message must be known in advance (from the frame header).
    /// `out` must still be the same output afterwards, not be replaced by another one; [`decode_into`](crate::decode_into) checks that.
    ///
    /// # Errors
    /// If `wire` is not consumed exactly or `out` is not filled exactly. After an error, `out` has the same length as before the call, and a decoder
    /// that carries state refuses everything that depends on it ([`DecodeErrorKind::State`](crate::DecodeErrorKind::State)) until it is reset.
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;

    /// Forgets all messages decoded so far.
    fn reset(&mut self);
}
