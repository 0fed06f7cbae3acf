//! The trait family: facts about a codec, its encoder, its decoder.
#![forbid(unsafe_code)]

use crate::{CodecId, DecodeError, EncodeError, Out};

/// Facts about a codec that are known without an instance of it.
pub trait Codec {
    /// The wire byte that names this codec.
    const ID: CodecId;
    /// A short lower-case name for reports and settings.
    const NAME: &'static str;
    /// Bytes of one element. Messages whose length is no multiple of it are still coded without loss.
    const WIDTH: usize;
    /// Whether an instance *can* carry state from message to message. Without it `reset` has no effect.
    const STATEFUL: bool;

    /// The most wire bytes that `raw_len` raw bytes can take, or `None` where that overflows `usize`.
    fn max_encoded_len(raw_len: usize) -> Option<usize>;
}

/// The sending side of a codec.
pub trait Encode {
    /// The most wire bytes that `raw_len` raw bytes can take; see [`Codec::max_encoded_len`].
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize>;

    /// Whether encoding this message can make it smaller, by a look at a few places of it. `Some(false)` only where
    /// encoding would gain nothing, so that a layer that can send the message as it is should ask first. `None` from a codec
    /// that has no way to say so in a fraction of the time that copying the message takes.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        let _ = raw;
        None
    }

    /// Appends the wire form of `raw` to `out`.
    ///
    /// # Errors
    /// Only if `out` has less room than `max_encoded_len(raw.len())`. This is checked before anything else:
    /// on an error `out` and the encoder's state are as they were.
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError>;

    /// Forgets all messages encoded so far. The decoder must be reset at the same place of the sequence.
    fn reset(&mut self);
}

/// The receiving side of a codec.
pub trait Decode {
    /// Fills all the room that `out` has left with the message that `wire` holds. How long the message is
    /// must be known beforehand (the frame header says it). `out` must be the one that came in, not another put into its
    /// place; [`decode_into`](crate::decode_into) checks that.
    ///
    /// # Errors
    /// Unless `wire` is consumed wholly and `out` filled exactly. On an error `out` is back at the length
    /// it came with, and a decoder that carries state refuses whatever rests on it
    /// ([`DecodeErrorKind::State`](crate::DecodeErrorKind::State)) until it is reset.
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;

    /// Forgets all messages decoded so far.
    fn reset(&mut self);
}
