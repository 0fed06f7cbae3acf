//! Tests the conformance suite itself, on the simplest codec possible and on faulty variants of it that the suite must detect.
#![cfg(feature = "conformance")]

use mpress_codec::{
    Codec, CodecId, Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Out, Reset, conformance,
};

/// The fault of a [`Stored`].
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    AcceptsTrailing,
    ChangesAByte,
    LeavesOutput,
    Remembers,
    ChecksNoRoom,
    LeavesAByteUnwritten,
    EncodesElsewhere,
    DecodesElsewhere,
    StaysSpoilt,
}

/// Replaces `out` by an output over other memory, with the same contents and length, so that only its address differs.
fn elsewhere(out: &mut Out<'_>) {
    let mut other = Out::from_slice(vec![0; out.len() + out.remaining()].leak());
    let _ = other.extend_from_slice(out.written());
    *out = other;
}

struct Stored {
    fault: Fault,
    messages: usize,
    /// Decoding a wire of another length changes the decoder, and no reset undoes that.
    spoilt: bool,
}

impl Codec for Stored {
    const ID: CodecId = CodecId(255);
    const NAME: &'static str = "stored";
    const WIDTH: usize = 1;
    const STATEFUL: bool = false;

    type Encoder = Self;
    type Decoder = Self;

    fn encoder() -> Self {
        Self { fault: Fault::None, messages: 0, spoilt: false }
    }

    fn decoder() -> Self {
        Self::encoder()
    }
}

impl Reset for Stored {
    fn reset(&mut self) {
        self.messages = 0;
    }
}

impl Encode for Stored {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        raw_len.checked_add(1)
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let error = EncodeError::new(raw.len() + 1, out.remaining());
        if self.fault != Fault::ChecksNoRoom && error.needed > error.available {
            return Err(error);
        }
        if self.fault == Fault::EncodesElsewhere {
            elsewhere(out);
        }
        self.messages += 1;
        let mark = if self.fault == Fault::Remembers { self.messages as u8 } else { 7 };
        if self.fault == Fault::LeavesAByteUnwritten {
            // SAFETY: there is room for at least one byte. The byte is initialised, because the memory that `conformance::encode` lends is
            // initialised; no other call follows, because the suite ends at this fault.
            unsafe { out.assume_written(1) };
        } else {
            out.extend_from_slice(&[mark]).map_err(|_| error)?;
        }
        out.extend_from_slice(raw).map_err(|_| error)
    }
}

impl Decode for Stored {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let Some((mark, raw)) = wire.split_first() else {
            return Err(DecodeError::new(DecodeErrorKind::Truncated, 0));
        };
        let is_any = matches!(self.fault, Fault::Remembers | Fault::LeavesAByteUnwritten);
        if !is_any && *mark != 7 {
            return Err(DecodeError::new(DecodeErrorKind::Corrupt, 0));
        }
        let room = out.remaining();
        if raw.len() < room {
            if self.fault == Fault::LeavesOutput {
                let _ = out.extend_from_slice(raw);
            }
            return Err(DecodeError::new(DecodeErrorKind::Truncated, wire.len()));
        }
        if raw.len() > room && self.fault != Fault::AcceptsTrailing {
            self.spoilt = self.fault == Fault::StaysSpoilt;
            return Err(DecodeError::new(DecodeErrorKind::Length, wire.len()));
        }
        if self.fault == Fault::DecodesElsewhere {
            elsewhere(out);
        }
        let at = out.len();
        let full = DecodeError::new(DecodeErrorKind::Length, wire.len());
        out.extend_from_slice(&raw[..room]).map_err(|_| full)?;
        if (self.fault == Fault::ChangesAByte || self.spoilt) && room > 200 {
            out.written_mut()[at + 200] ^= 1;
        }
        Ok(())
    }
}

fn finds(fault: Fault) -> bool {
    std::panic::catch_unwind(|| {
        let new = || Stored { fault, ..Stored::encoder() };
        conformance::run::<Stored, _, _>(|| (new(), new()));
    })
    .is_err()
}

#[test]
fn a_sound_codec_passes() {
    assert!(!finds(Fault::None));
    conformance::run_defaults::<Stored>();
}

#[test]
fn every_fault_is_found() {
    for fault in [
        Fault::AcceptsTrailing,
        Fault::ChangesAByte,
        Fault::LeavesOutput,
        Fault::Remembers,
        Fault::ChecksNoRoom,
        Fault::LeavesAByteUnwritten,
        Fault::EncodesElsewhere,
        Fault::DecodesElsewhere,
        Fault::StaysSpoilt,
    ] {
        assert!(finds(fault), "fault {} went unseen", fault as u8);
    }
}
