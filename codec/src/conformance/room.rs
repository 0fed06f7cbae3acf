//! The room that an encoder needs never exceeds its bound.

use super::{Encoder, encode, families};
use crate::{Codec, Decode, Encode, EncodeError, Out, encode_into};
use std::vec;

/// Checks that the encoder named by [`Codec`] needs no more room than the wire takes. Other encoders may require their
/// bound.
///
/// # Panics
/// If a message is refused although its wire fits, or if its wire is different there.
pub fn run_tight<C: Codec>() {
    for (name, generate) in families() {
        for len in [0, 1, 64, 5 * C::WIDTH + 1, 2047, 10_000, 70_001] {
            let raw = generate(len);
            let mut encoder = C::encoder();
            let wire = encode(&mut encoder, &raw);
            for more in [0, 1, 63, 64, 200] {
                let mut room = vec![0; wire.len() + more];
                let used = encode_into(&mut encoder, &raw, &mut room);
                assert_eq!(used, Ok(wire.len()), "{name}, {len} bytes in the wire's length and {more}");
                assert!(room.starts_with(&wire), "{name}, {len} bytes: another wire");
            }
        }
    }
}

pub(super) fn bound<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D), kind: Encoder) {
    let encoder = make().0;
    assert_eq!(encoder.max_encoded_len(usize::MAX), None, "a bound above usize::MAX is no bound");
    for (name, generate) in families() {
        for len in [0, 1, C::WIDTH, 100, 1024, 5003] {
            let raw = generate(len);
            let (mut encoder, _) = make();
            let bound = encoder.max_encoded_len(len).expect("bound of a small message");
            let by_default = C::encoder().max_encoded_len(len);
            assert_eq!(Some(bound), by_default, "all encoders agree on the bound");
            let wire = encode(&mut make().0, &raw);
            let rooms =
                [bound.checked_sub(1), Some(wire.len()), wire.len().checked_sub(1), Some(wire.len() / 2)];
            for room in rooms.into_iter().flatten() {
                let mut buf = vec![0; room];
                let mut out = Out::from_slice(&mut buf);
                match encoder.encode(&raw, &mut out) {
                    Ok(()) => assert!(out.written() == wire, "{name}, {len} bytes: wire differs in {room}"),
                    Err(error) => {
                        assert_eq!(error, EncodeError::new(bound, room), "{name}, {len} bytes");
                        assert!(out.is_empty(), "{name}, {len} bytes: a refused encode wrote output");
                    }
                }
                if C::STATEFUL || kind == Encoder::Remembers {
                    encoder.reset();
                }
            }
            // The refused attempts did not change the encoder.
            assert_eq!(encode(&mut encoder, &raw), wire, "{name}, {len} bytes");
        }
    }
}
