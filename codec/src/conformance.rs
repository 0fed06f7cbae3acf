//! The suite that every codec must pass, once per SIMD tier. A codec's tests call [`run`] with a function that creates an encoder and a decoder; the
//! suite panics at the first violation and describes it.
//!
//! Compiled only with the feature `conformance`. This is the only part of the crate that needs std.
#![forbid(unsafe_code)]
#![allow(clippy::panic, clippy::expect_used, reason = "a test suite reports by panicking")]

mod data;
mod lengths;
mod room;
mod tiers;

use crate::{
    Codec, Decode, DecodeErrorKind, Encode, Out, codec_of, compress_with, decoded_len, decompress_with,
};
pub use data::{Family, families, header, random_bytes};
pub use room::run_tight;
use std::cell::Cell;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};
pub(crate) use tiers::kernel_chosen;
pub use tiers::{at_each_tier, tiers};

/// The message lengths to try, besides all up to 257.
const LENGTHS: [usize; 9] = [511, 1000, 1024, 1031, 4096, 9999, 65_537, 131_072, 300_001];

/// Runs the whole suite. `make` returns an encoder and a decoder without history. If the codec can carry state from message to message, run the suite
/// both for a pair that does and for one that does not.
///
/// # Panics
/// At the first violation of the contract of [`Encode`] or [`Decode`].
pub fn run<C: Codec, E: Encode, D: Decode>(make: impl Fn() -> (E, D)) {
    suite::<C, E, D>(make, Encoder::Forgets);
}

/// Runs the whole suite for an encoder whose wires depend on earlier messages, in a codec whose decoders carry no state.
///
/// # Panics
/// As for [`run`].
pub fn run_remembering<C: Codec, E: Encode, D: Decode>(make: impl Fn() -> (E, D)) {
    assert!(!C::STATEFUL, "the decoder would have to remember as well");
    suite::<C, E, D>(make, Encoder::Remembers);
}

/// Round-trips a message of each family through the default encoder and decoder of [`Codec`]. Does not try other SIMD tiers or state between
/// messages.
///
/// # Panics
/// If a message does not decode to itself.
pub fn run_defaults<C: Codec>() {
    let mut pair = (C::encoder(), C::decoder());
    for (name, generate) in families() {
        for len in [0, 5 * C::WIDTH + 1, 10_000] {
            round_trip(&mut pair, &generate(len), name);
        }
    }
}

/// What the wire of a message may depend on when decoders carry no state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoder {
    /// Only the message.
    Forgets,
    /// Earlier messages as well.
    Remembers,
}

fn suite<C: Codec, E: Encode, D: Decode>(make: impl Fn() -> (E, D), kind: Encoder) {
    assert!(C::WIDTH > 0 && !C::NAME.is_empty(), "facts");
    round_trips::<C, E, D>(&make);
    misaligned::<E, D>(&make);
    room::bound::<C, E, D>(&make, kind);
    described::<C, E, D>(&make);
    sequences::<C, E, D>(&make, kind);
    reset_is_fresh::<E, D>(&make);
    hostile::<C, E, D>(&make);
    lengths::wrong_lengths::<C, E, D>(&make);
    failed_decoder_recovers::<E, D>(&make);
    used_decoder_is_as_new::<C, E, D>(&make);
}

std::thread_local! {
    /// The fill byte of the memory for the last output of an encoder, and of a decoder.
    static ENCODED: Cell<u8> = const { Cell::new(0xa5) };
    static DECODED: Cell<u8> = const { Cell::new(0x5a) };
}

/// A fill byte other than the last one. If some bytes were never written, encoding or decoding the same input twice gives two results.
fn another(last: &Cell<u8>) -> u8 {
    last.set(!last.get());
    last.get()
}

/// Encodes `raw` into an output that already has a few bytes, which must not change.
///
/// # Panics
/// If the encoder fails although there is enough room, exceeds its bound, or changes the existing bytes.
pub fn encode(encoder: &mut impl Encode, raw: &[u8]) -> Vec<u8> {
    const LEAD: &[u8] = b"lead";
    let bound = encoder.max_encoded_len(raw.len()).expect("bound of a small message");
    let mut buf = vec![ENCODED.with(another); LEAD.len() + bound];
    let mut out = Out::from_slice(&mut buf);
    out.extend_from_slice(LEAD).expect("room for the lead");
    let place = out.place();
    encoder.encode(raw, &mut out).expect("encode with its bound of room");
    assert_eq!(out.place(), place, "encode put another output into the place of the one it was lent");
    let wire = out.written().strip_prefix(LEAD).expect("the lead is untouched");
    assert!(wire.len() <= bound, "{} wire bytes exceed the bound of {bound}", wire.len());
    wire.to_vec()
}

/// Decodes `wire` into exactly `len` bytes.
///
/// # Panics
/// If the decoder violates its contract on the contents of the output.
pub fn decode(decoder: &mut impl Decode, wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    const LEAD: &[u8] = b"lead";
    let mut buf = vec![DECODED.with(another); LEAD.len() + len];
    let mut out = Out::from_slice(&mut buf);
    out.extend_from_slice(LEAD).expect("room for the lead");
    let place = out.place();
    let result = decoder.decode(wire, &mut out);
    assert_eq!(out.place(), place, "decode put another output into the place of the one it was lent");
    let written = out.written();
    assert!(written.starts_with(LEAD), "decode changed what was there before it");
    match result {
        Ok(()) => {
            assert_eq!(written.len(), LEAD.len() + len, "Ok, but the output is not full");
            Ok(written[LEAD.len()..].to_vec())
        }
        Err(error) => {
            assert_eq!(written.len(), LEAD.len(), "an error left output behind: {error}");
            assert!(error.offset <= wire.len(), "error offset past the wire: {error}");
            Err(error.kind)
        }
    }
}

fn round_trip<E: Encode, D: Decode>((encoder, decoder): &mut (E, D), raw: &[u8], what: &str) -> Vec<u8> {
    let wire = encode(encoder, raw);
    let back = decode(decoder, &wire, raw.len());
    // No assert_eq: a message of 300 KB is useless in a panic.
    match back {
        Err(kind) => panic!("{what}, {} bytes: its own wire was refused as {kind:?}", raw.len()),
        Ok(back) => assert!(
            back == raw,
            "{what}, {} bytes: first differing byte at {:?}",
            raw.len(),
            back.iter().zip(raw).position(|(a, b)| a != b)
        ),
    }
    wire
}

fn round_trips<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    for (name, generate) in families() {
        for len in (0..=257).chain(LENGTHS) {
            round_trip(&mut make(), &generate(len), name);
        }
        for tail in 0..C::WIDTH {
            round_trip(&mut make(), &generate(640 * C::WIDTH + tail), name);
        }
    }
}

fn misaligned<E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    for (name, generate) in families() {
        let raw = generate(3001);
        let mut wires = Vec::new();
        for start in 0..16 {
            let mut buf = vec![0xc3; start];
            buf.extend_from_slice(&raw);
            wires.push(round_trip(&mut make(), &buf[start..], name));
        }
        assert!(wires.iter().all(|w| *w == wires[0]), "{name}: the wire depends on the message's address");
    }
}

/// A self-describing message round-trips, damage is detected, and no more is allocated than allowed.
fn described<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    for (name, generate) in families() {
        for len in [0, 1, 3 * C::WIDTH, 300] {
            let raw = generate(len);
            let message = compress_with(C::ID, &mut make().0, &raw).expect("memory");
            let decode = |message: &[u8], most| {
                decompress_with::<u8>(C::ID, &mut make().1, message, most).map_err(|error| error.kind)
            };
            assert!(decode(&message, len).as_ref() == Ok(&raw), "{name}, {len} bytes");
            assert_eq!((codec_of(&message), decoded_len(&message)), (Ok(C::ID), Ok(len)), "{name}");
            if let Some(less) = len.checked_sub(1) {
                assert_eq!(decode(&message, less), Err(DecodeErrorKind::TooLong), "{name}, {len} bytes");
            }
            for bit in 0..message.len() * 8 {
                let mut flipped = message.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(
                    decode(&flipped, 1000).is_err(),
                    "{name}, {len} bytes: damage in bit {bit} not found"
                );
            }
            for n in 0..message.len() {
                assert!(decode(&message[..n], len).is_err(), "{name}, {len} bytes: cut at {n}");
            }
        }
    }
}

fn sequences<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D), kind: Encoder) {
    let mut pair = make();
    for round in 0..3 {
        for (name, generate) in families() {
            for len in [1024 + round, 0, 77, 4096, 16 * C::WIDTH, 20_000] {
                let raw = generate(len);
                let wire = round_trip(&mut pair, &raw, name);
                if C::STATEFUL {
                    continue;
                }
                // Messages may arrive at any decoder, in any order.
                let back = decode(&mut make().1, &wire, len);
                assert!(back.as_ref() == Ok(&raw), "{name}: stateless, yet a new decoder cannot read it");
                if kind == Encoder::Forgets {
                    assert_eq!(wire, encode(&mut make().0, &raw), "{name}: stateless, yet it remembers");
                }
            }
        }
    }
}

fn reset_is_fresh<E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    let mut pair = make();
    for (name, generate) in families() {
        let raw = generate(6000);
        round_trip(&mut pair, &generate(9001), name);
        pair.0.reset();
        pair.1.reset();
        let wire = round_trip(&mut pair, &raw, name);
        assert_eq!(
            wire,
            encode(&mut make().0, &raw),
            "{name}: after reset the wire differs from a fresh encoder's"
        );
        pair.0.reset();
        pair.1.reset();
    }
}

fn hostile<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    use DecodeErrorKind::Truncated;
    for (name, generate) in families() {
        for len in [0, 1, 3 * C::WIDTH, 41 * C::WIDTH + C::WIDTH / 2, 1500] {
            let raw = generate(len);
            let wire = encode(&mut make().0, &raw);
            let refused = |wire: &[u8], len: usize, how: &str| -> DecodeErrorKind {
                match decode(&mut make().1, wire, len) {
                    Ok(_) => panic!("{name}, {} raw bytes: {how} was accepted", raw.len()),
                    Err(kind) => kind,
                }
            };
            for n in 0..wire.len() {
                let how: String = format!("the prefix of {n} of {} bytes", wire.len());
                assert_eq!(refused(&wire[..n], len, &how), Truncated, "{name}, {len} raw bytes: {how}");
            }
            let mut longer = wire.clone();
            longer.push(0);
            refused(&longer, len, "a trailing byte");
            refused(&wire, len + 1, "an output one too long");
            if len > 0 {
                refused(&wire, len - 1, "an output one too short");
            }
            // A flipped bit may give other data (the frame's check detects that), but nothing worse.
            for bit in 0..wire.len() * 8 {
                let mut flipped = wire.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let _ = decode(&mut make().1, &flipped, len);
            }
        }
    }
    for seed in 0..2000 {
        let wire = random_bytes(seed, (seed % 300) as usize);
        let _ = decode(&mut make().1, &wire, (seed % 97) as usize * 8);
    }
    // Most noise is refused at the header, so some of it follows the start of a valid wire.
    for (i, (_, generate)) in (0..).zip(families()) {
        let raw = generate(900);
        let wire = encode(&mut make().0, &raw);
        for kept in 0..wire.len().min(100) {
            let noise = random_bytes(i * 100 + kept as u64, wire.len() - kept);
            let _ = decode(&mut make().1, &[&wire[..kept], &noise].concat(), raw.len());
        }
    }
}

/// After an error, a decoder either works as if the error had not occurred, or refuses everything until it is reset.
fn failed_decoder_recovers<E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    for (name, generate) in families() {
        let (mut encoder, mut decoder) = make();
        let first = generate(2048);
        let wire = encode(&mut encoder, &first);
        decode(&mut decoder, &wire[..wire.len() / 2], first.len()).expect_err("half a wire");
        match decode(&mut decoder, &wire, first.len()) {
            Ok(back) => assert!(back == first, "{name}: wrong data after an error"),
            Err(kind) => assert_eq!(kind, DecodeErrorKind::State, "{name}: refused for another reason"),
        }
        encoder.reset();
        decoder.reset();
        round_trip(&mut (encoder, decoder), &generate(4000), name);
    }
}

/// After any wires and a reset, a decoder gives the same result as a new one for every wire. Before the reset, it either decodes a valid wire or
/// reports that it has lost the sequence.
fn used_decoder_is_as_new<C: Codec, E: Encode, D: Decode>(make: &impl Fn() -> (E, D)) {
    let mut used = make().1;
    for (i, (name, generate)) in (0..).zip(families()) {
        for len in [5 * C::WIDTH + 1, 700, 4097] {
            let raw = generate(len);
            let wire = encode(&mut make().0, &raw);
            for (hostile, len) in damaged(&wire, len, i) {
                let _ = decode(&mut used, &hostile, len);
                match decode(&mut used, &wire, raw.len()) {
                    Ok(back) => assert!(back == raw, "{name}: a used decoder gives wrong data"),
                    Err(kind) => {
                        assert_eq!(kind, DecodeErrorKind::State, "{name}: refused by a used decoder")
                    }
                }
                used.reset();
                let as_new = decode(&mut used, &hostile, len) == decode(&mut make().1, &hostile, len);
                assert!(as_new, "{name}: a used decoder reads a damaged wire differently");
                used.reset();
                let back = decode(&mut used, &wire, raw.len());
                assert!(
                    back.as_ref() == Ok(&raw),
                    "{name}: after a reset, a used decoder does not give the message"
                );
                used.reset();
            }
        }
    }
}

/// Damaged versions of the wire of a message of `len` bytes, each with the length to decode it to.
fn damaged(wire: &[u8], len: usize, seed: u64) -> Vec<(Vec<u8>, usize)> {
    let mut all = Vec::new();
    let noise = random_bytes(seed, wire.len().max(64));
    let place = |i: usize| usize::from(u16::from_le_bytes([noise[i], noise[i + 1]])) % wire.len();
    for other in [0, len / 2, len - 1, len + 1, len + 8, 2 * len] {
        all.push((wire.to_vec(), other));
    }
    for i in 0..16 {
        // Most of the important bits are near the front.
        let at = if i % 2 == 0 { i / 2 % wire.len() } else { place(i) };
        let mut flipped = wire.to_vec();
        flipped[at] ^= 1 << (noise[i] % 8);
        all.push((flipped, len));
        all.push((wire[..at].to_vec(), len));
        all.push(([&wire[..at], &noise[at..wire.len()]].concat(), len));
    }
    all
}
