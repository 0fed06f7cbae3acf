//! The traits: the static description of a codec, its encoder, its decoder.
#![forbid(unsafe_code)]

use crate::{CodecId, DecodeError, DecodeErrorKind, EncodeError, Out};

/// The static description of a codec, available without an instance of it.
pub trait Codec {
    /// The wire byte that identifies this codec.
    const ID: CodecId;
    /// A short lower-case name for reports and settings.
    const NAME: &'static str;
    /// Length of an element in bytes. Messages of any other length are still coded without loss.
    const WIDTH: usize;
    /// Whether an instance *can* carry state from message to message that its counterpart must share. Encoders of other codecs may remember what
    /// worked for earlier messages; `reset` then changes their wires, but every decoder still reads them.
    const STATEFUL: bool;

    /// What [`encoder`](Self::encoder) makes.
    type Encoder: Encode;
    /// What [`decoder`](Self::decoder) makes.
    type Decoder: Decode;

    /// An encoder with the codec's default settings, which keeps no state from message to message, for the best SIMD tier of this CPU. The
    /// constructors of [`Self::Encoder`] take other settings.
    #[must_use]
    fn encoder() -> Self::Encoder;

    /// A decoder for the best SIMD tier of this CPU. It reads at least all messages of such encoders.
    #[must_use]
    fn decoder() -> Self::Decoder;
}

/// The state that every encoder and decoder can forget.
pub trait Reset {
    /// Forgets all messages so far. If the codec's decoders carry state, encoder and decoder must be reset at the same point in the sequence. The
    /// default does nothing, which suits encoders and decoders without state. A wrapper must pass the call on.
    fn reset(&mut self) {}
}

/// The encoder of a codec.
pub trait Encode: Reset {
    /// The maximum wire length of `raw_len` raw bytes in bytes; `None` if it overflows `usize`. It is the same for all encoders of a codec.
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize>;

    /// Whether encoding can make this message smaller, estimated from a few places in it. `Some(false)` only if encoding would gain nothing, so a
    /// layer that can send the message raw should call this first. `None` from a codec that cannot tell in a fraction of the time of a copy.
    fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
        let _ = raw;
        None
    }

    /// Appends the wire form of `raw` to `out`.
    ///
    /// # Errors
    /// Only if `out` has less room than `max_encoded_len(raw.len())`. With less room, encoding may still succeed if the wire fits: in mpress,
    /// encoders that keep no state from message to message always do, except diffpack's, which writes a block before it looks for a shorter form.
    /// After an error, `out` and the encoder's state are unchanged.
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError>;

    /// The number of bytes by which its reference made the last message of [`encode_with`](Self::encode_with) shorter, approximately; `Some(0)` before
    /// the first message, too. `None` if this encoder makes no use of references; most have no use for one.
    fn saved(&self) -> Option<usize> {
        None
    }

    /// Appends the wire form of `raw`, given another message of the same length. It may be, for example, the last message of a channel, if the receiver
    /// is known to have it. The decoder needs the same reference ([`Decode::decode_with`]). The default ignores the reference.
    ///
    /// # Errors
    /// As for [`encode`](Self::encode); [`Reference`](crate::EncodeErrorKind::Reference) if the reference is not as long as `raw`.
    fn encode_with(&mut self, reference: &[u8], raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        if reference.len() != raw.len() {
            return Err(EncodeError::reference(reference.len(), raw.len()));
        }
        self.encode(raw, out)
    }
}

/// The decoder of a codec.
pub trait Decode: Reset {
    /// Fills all remaining room of `out` with the message in `wire`. The caller must know the length of the message (from the frame header). The wire
    /// contains it as well, so room for any other length is an error. `out` must remain the same output and not be replaced by another one;
    /// [`decode_into`](crate::decode_into) checks that.
    ///
    /// # Errors
    /// If `wire` is not consumed exactly or `out` is not filled exactly. After an error, `out` has the same length as before the call, and a decoder
    /// that carries state refuses everything that depends on it ([`DecodeErrorKind::State`](crate::DecodeErrorKind::State)) until it is reset.
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError>;

    /// Does the same with a wire of [`Encode::encode_with`] and the same reference, or with one of [`Encode::encode`] and any reference. A different
    /// reference of the same length gives a different message; only a check of the message detects that. The default ignores the reference.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode); [`Reference`](crate::DecodeErrorKind::Reference) if the reference is not as long as the room of `out`.
    fn decode_with(&mut self, reference: &[u8], wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        if reference.len() != out.remaining() {
            return Err(DecodeError::new(DecodeErrorKind::Reference, 0));
        }
        self.decode(wire, out)
    }
}

/// References to and boxes of encoders and decoders are themselves encoders and decoders.
macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Reset + ?Sized> Reset for $pointer {
            #[inline]
            fn reset(&mut self) {
                (**self).reset();
            }
        }

        impl<T: Encode + ?Sized> Encode for $pointer {
            #[inline]
            fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
                (**self).max_encoded_len(raw_len)
            }
            #[inline]
            fn worthwhile(&self, raw: &[u8]) -> Option<bool> {
                (**self).worthwhile(raw)
            }
            #[inline]
            fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
                (**self).encode(raw, out)
            }
            #[inline]
            fn saved(&self) -> Option<usize> {
                (**self).saved()
            }
            #[inline]
            fn encode_with(&mut self, reference: &[u8], raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
                (**self).encode_with(reference, raw, out)
            }
        }

        impl<T: Decode + ?Sized> Decode for $pointer {
            #[inline]
            fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                (**self).decode(wire, out)
            }
            #[inline]
            fn decode_with(&mut self, reference: &[u8], wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
                (**self).decode_with(reference, wire, out)
            }
        }
    )*};
}

forward!(&mut T);
#[cfg(feature = "alloc")]
forward!(alloc::boxed::Box<T>);
