//! The interface of the benchmarks to a codec, from one slice into another.

use crate::Result;
use mpress_codec::{Decode, Encode, Out};
use std::hint::black_box;

/// What to do with a message, decided before encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Encoding would gain nothing: send it raw.
    Raw,
    /// Encode it, and send it raw if it does not become smaller.
    Encode,
    /// Encode it, and send the result in any case: the decoder must see every message.
    Always,
}

/// An encoder and a decoder.
pub trait Coder {
    /// The maximum encoded length of `raw_len` bytes, in bytes.
    ///
    /// # Errors
    /// If there is no such number.
    fn bound(&self, raw_len: usize) -> Result<usize>;

    /// What to do with a message. Called first, as in an engine, and included in the encoding time.
    fn verdict(&self, _raw: &[u8]) -> Verdict {
        Verdict::Encode
    }

    /// Encodes `raw` into the front of `wire`, which has room for the bound, and returns the length in bytes.
    ///
    /// # Errors
    /// The codec's errors.
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize>;

    /// Decodes `wire` into `raw`, which has the length of the message.
    ///
    /// # Errors
    /// The codec's errors.
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()>;

    /// Forgets all messages so far.
    fn reset(&mut self) {}
}

impl dyn Coder {
    /// Prepares a message for sending: raw if encoding does not make it shorter. Returns the encoded length in bytes, or `None` for raw.
    ///
    /// # Errors
    /// The codec's errors.
    pub fn pack(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<Option<usize>> {
        let verdict = self.verdict(raw);
        if verdict != Verdict::Raw {
            let len = self.encode(raw, wire)?;
            if len < raw.len() || verdict == Verdict::Always {
                return Ok(Some(len));
            }
        }
        copy(raw, wire)?;
        Ok(None)
    }

    /// Restores a message from the result of `pack`, or from the message itself if it was sent raw.
    ///
    /// # Errors
    /// The codec's errors.
    pub fn unpack(&mut self, packed: Option<&[u8]>, original: &[u8], raw: &mut [u8]) -> Result<()> {
        match packed {
            Some(wire) => self.decode(wire, raw),
            None => copy(original, raw),
        }
    }
}

/// Copies a raw message in a way that the compiler cannot optimise out.
fn copy(from: &[u8], to: &mut [u8]) -> Result<()> {
    let to = to.get_mut(..from.len()).ok_or("no room for the raw message")?;
    to.copy_from_slice(from);
    black_box(to);
    Ok(())
}

/// Sends every message raw: the cost of memory accesses alone.
pub(crate) struct Memcpy;

impl Coder for Memcpy {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(raw_len)
    }
    fn verdict(&self, _raw: &[u8]) -> Verdict {
        Verdict::Raw
    }
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        copy(raw, wire)?;
        Ok(raw.len())
    }
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        copy(wire, raw)
    }
}

/// A codec of this project.
pub(crate) struct Ours<E, D> {
    pub(crate) encoder: E,
    pub(crate) decoder: D,
    /// Whether state carries over from message to message.
    pub(crate) continuing: bool,
}

impl<E: Encode, D: Decode> Coder for Ours<E, D> {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        Ok(self.encoder.max_encoded_len(raw_len).ok_or("a message too long to have a bound")?)
    }
    fn verdict(&self, raw: &[u8]) -> Verdict {
        match self.encoder.worthwhile(raw) {
            _ if self.continuing => Verdict::Always,
            Some(false) => Verdict::Raw,
            _ => Verdict::Encode,
        }
    }
    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        let mut out = Out::from_slice(wire);
        self.encoder.encode(raw, &mut out)?;
        Ok(out.len())
    }
    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        Ok(self.decoder.decode(wire, &mut Out::from_slice(raw))?)
    }
    fn reset(&mut self) {
        self.encoder.reset();
        self.decoder.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes messages of one length one byte longer, and all others one byte shorter.
    struct Odd;

    impl Coder for Odd {
        fn bound(&self, raw_len: usize) -> Result<usize> {
            Ok(raw_len + 1)
        }
        fn encode(&mut self, raw: &[u8], _wire: &mut [u8]) -> Result<usize> {
            Ok(if raw.len() == 3 { 4 } else { raw.len() - 1 })
        }
        fn decode(&mut self, _wire: &[u8], raw: &mut [u8]) -> Result<()> {
            raw.fill(7);
            Ok(())
        }
    }

    #[test]
    fn what_does_not_shrink_goes_raw() {
        let coder: &mut dyn Coder = &mut Odd;
        let mut wire = [0; 8];
        assert_eq!(coder.pack(b"four", &mut wire).unwrap(), Some(3));
        assert_eq!(coder.pack(b"abc", &mut wire).unwrap(), None);
        assert_eq!(&wire[..3], b"abc");
        let mut raw = [0; 3];
        coder.unpack(None, b"abc", &mut raw).unwrap();
        assert_eq!(&raw, b"abc");
        coder.unpack(Some(b"x"), b"abc", &mut raw).unwrap();
        assert_eq!(raw, [7; 3]);
    }

    #[test]
    fn a_copy_is_raw() {
        let coder: &mut dyn Coder = &mut Memcpy;
        assert_eq!(coder.pack(b"abc", &mut [0; 3]).unwrap(), None);
    }
}
