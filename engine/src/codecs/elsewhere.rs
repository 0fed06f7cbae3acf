//! For tests: a decoder in safe code that reports success without filling the memory it was lent.

use mpress_codec::{Decode, DecodeError, Out, Reset};

pub(crate) struct Elsewhere {
    /// Whether it leaves an output of length 0 instead of one of the message's length.
    pub(crate) empty: bool,
}

impl Reset for Elsewhere {}

impl Decode for Elsewhere {
    fn decode(&mut self, _wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let len = if self.empty { 0 } else { out.len() + out.remaining() };
        *out = Out::from_slice(vec![0; len].leak());
        let _ = out.extend_zeroed(len);
        Ok(())
    }
}
