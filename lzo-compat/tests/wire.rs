//! The edges of the wire formats: header, bound, lengths, distances, and refused wires.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes};
use mpress_codec::{Codec, Encode};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};

fn wire<F: Format>(raw: &[u8]) -> Vec<u8> {
    encode(&mut Encoder::<F>::new(Effort::Fast), raw)
}

/// Decodes a wire of a message of `len` bytes.
fn read<F: Format>(wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    decode(&mut Decoder::<F>::new(), wire, len)
}

#[test]
fn facts() {
    assert_eq!((Lzo1x::ID.0, Lzo1x::NAME, Lzo1x::WIDTH, Lzo1x::STATEFUL), (17, "lzo1x", 1, false));
    assert_eq!((Lz77::ID.0, Lz77::NAME, Lz77::WIDTH, Lz77::STATEFUL), (18, "lz77", 1, false));
}

#[test]
fn an_empty_message_is_a_header_or_an_end_mark() {
    assert_eq!(wire::<Lz77>(b""), [1, 0]);
    assert_eq!(wire::<Lzo1x>(b""), [0x11, 0, 0]);
}

#[test]
fn a_short_message_is_literals() {
    assert_eq!(wire::<Lz77>(b"abc"), *b"\x01\x03\x30\0\0abc");
    assert_eq!(wire::<Lzo1x>(b"abc"), *b"\x14abc\x11\0\0");
}

#[test]
fn a_copy_is_what_the_page_says() {
    let raw = b"abcdefgh12345abcdefgh-----------------";
    // 13 literals; 8 bytes from distance 13; one literal; 16 bytes from distance 1; no final literals.
    let lz77 = b"\x01\x06\xd4\x0d\0abcdefgh12345\x1c\x01\0-";
    assert_eq!(wire::<Lz77>(raw), lz77);
    assert_eq!(read::<Lz77>(lz77, raw.len()), Ok(raw.to_vec()));
    // The same: 111 100 01, 1; 001 01110, 0 with no literals.
    let lzo = b"\x1eabcdefgh12345\xf1\x01-\x2e\0\0\x11\0\0";
    assert_eq!(wire::<Lzo1x>(raw), lzo);
    assert_eq!(read::<Lzo1x>(lzo, raw.len()), Ok(raw.to_vec()));
}

/// Noise is the worst case.
fn bound_is_exact<F: Format>(bound: impl Fn(usize) -> usize) {
    for len in (0..600).chain([16_397, 16_398, 16_399, 16_400, 70_000, 300_000]) {
        let raw = random_bytes(len as u64, len);
        assert_eq!(F::encoder().max_encoded_len(len), Some(bound(len)), "{len} bytes");
        assert_eq!(wire::<F>(&raw).len(), bound(len), "{len} bytes");
    }
    assert_eq!(F::encoder().max_encoded_len(usize::MAX), None);
    assert_eq!(F::encoder().max_encoded_len(usize::MAX - 4), None);
    assert!(F::encoder().max_encoded_len(usize::MAX / 2).is_some());
    assert_eq!(Encoder::<F>::new(Effort::Normal).max_encoded_len(9), Some(bound(9)));
}

#[test]
fn the_bounds_are_reached() {
    bound_is_exact::<Lz77>(|len| match len {
        0 => 2,
        1..15 => len + 5,
        15..143 => len + 6,
        143..16_399 => len + 7,
        _ => len + 8,
    });
    bound_is_exact::<Lzo1x>(|len| match len {
        0 => 3,
        1..=238 => len + 4,
        _ => len + 4 + (len - 18).div_ceil(255),
    });
}

/// Runs of noise of one length with short copies between them: they would exceed the bound if every copy were taken.
#[test]
fn the_bounds_are_never_passed() {
    fn run<F: Format>(raw: &[u8], what: &str) {
        for &effort in Effort::ALL {
            let wire = encode(&mut Encoder::<F>::new(effort), raw);
            assert!(wire.len() <= F::encoder().max_encoded_len(raw.len()).unwrap());
            assert!(read::<F>(&wire, raw.len()).as_deref() == Ok(raw), "{what}");
        }
    }
    for noise in (1..30).chain([142, 143, 150, 273, 274, 300]) {
        for copy in 4..10 {
            for distance in [9, 2048, 2049, 16_384, 16_385, 49_151] {
                let mut raw = random_bytes(7, distance + 40);
                while raw.len() < distance + 3000 {
                    raw.extend(random_bytes(raw.len() as u64, noise));
                    (0..copy).for_each(|_| raw.push(raw[raw.len() - distance]));
                }
                let what = format!("{noise} literals, {copy} bytes from {distance}");
                run::<Lz77>(&raw, &what);
                run::<Lzo1x>(&raw, &what);
            }
        }
    }
}

#[test]
fn a_long_run_takes_few_bytes() {
    for (len, lz77, lzo) in [(1 << 20, 2 + 4 + 3 + 3, 8 + 4112), (1000, 2 + 4 + 3 + 2, 14)] {
        let raw = vec![0; len];
        assert!(wire::<Lz77>(&raw).len() <= lz77, "{}", wire::<Lz77>(&raw).len());
        assert!(wire::<Lzo1x>(&raw).len() <= lzo, "{}", wire::<Lzo1x>(&raw).len());
    }
}

/// Copies that a decoder moves in strides: up to the end of the output, and with bytes after them.
#[test]
fn long_copies_of_every_length_come_back() {
    for distance in [15, 16, 17, 31, 32, 33, 100] {
        let lead = random_bytes(distance as u64, distance);
        for len in 19..140 {
            for behind in [0, 1, 14] {
                let tail = &lead[..behind];
                let copy = lead.iter().cycle().take(len);
                let raw: Vec<u8> = lead.iter().chain(copy).chain(tail).copied().collect();
                let mut lz77 = vec![1, (raw.len() % 8) as u8, 0xff, distance as u8, 0, (distance - 15) as u8];
                lz77.push((len - 19) as u8);
                lz77.extend(&lead);
                if behind > 0 {
                    lz77.extend([(behind << 4) as u8, 0, 0]);
                    lz77.extend(tail);
                }
                assert_eq!(
                    read::<Lz77>(&lz77, raw.len()),
                    Ok(raw.clone()),
                    "{len} from {distance}, {behind}"
                );
                for &effort in Effort::ALL {
                    let wire = encode(&mut Encoder::<Lz77>::new(effort), &raw);
                    assert_eq!(read::<Lz77>(&wire, raw.len()), Ok(raw.clone()), "{len} from {distance}");
                    let wire = encode(&mut Encoder::<Lzo1x>::new(effort), &raw);
                    assert_eq!(read::<Lzo1x>(&wire, raw.len()), Ok(raw.clone()), "{len} from {distance}");
                }
            }
        }
    }
}

#[test]
fn lz77_refuses() {
    let refused = |wire: &[u8], len, kind| {
        assert_eq!(read::<Lz77>(wire, len), Err(kind), "{wire:?} for {len} bytes");
    };
    refused(&[], 0, Truncated);
    refused(&[1], 0, Truncated);
    refused(&[0, 0], 0, Unsupported);
    refused(&[2], 0, Unsupported);
    refused(&[1, 1], 0, Length);
    refused(&[1, 8], 0, Corrupt);
    refused(&[1, 0, 0], 0, Length);
    // One literal.
    refused(&[1, 1, 0x10, 0, 0], 1, Truncated);
    refused(&[1, 1, 0x10, 0, 0, b'a', 0], 1, Length);
    refused(&[1, 1, 0x20, 0, 0, b'a', b'b'], 1, Length);
    // No copy, but a length of one; neither a copy nor literals.
    refused(&[1, 1, 0x11, 0, 0, b'a'], 1, Corrupt);
    refused(&[1, 1, 0x00, 0, 0], 1, Corrupt);
    // A copy from before the message, although the output has bytes there; a copy beyond the end.
    refused(&[1, 5, 0x10, 2, 0, b'a'], 5, Corrupt);
    refused(&[1, 4, 0x10, 1, 0, b'a'], 4, Length);
    assert_eq!(read::<Lz77>(&[1, 5, 0x10, 1, 0, b'a'], 5), Ok(b"aaaaa".to_vec()));
    // Lengths: 15 literals with a length of one byte, of seven, of eight; more literals than exist; more than any integer holds.
    let with = |length: &[u8]| [&[1, 7, 0xf0, 0, 0], length, &[b'x'; 15]].concat();
    assert_eq!(read::<Lz77>(&with(&[0]), 15), Ok(vec![b'x'; 15]));
    assert_eq!(read::<Lz77>(&with(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]), 15), Ok(vec![b'x'; 15]));
    refused(&with(&[0x80; 7]), 15, Corrupt);
    refused(&with(&[0x80; 6])[..11], 15, Truncated);
    refused(&with(&[1]), 15, Truncated);
    refused(&with(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]), 15, Truncated);
    refused(&[1, 5, 0x1f, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, b'a'], 5, Length);
}

#[test]
fn lzo1x_refuses() {
    let refused = |wire: &[u8], len, kind| {
        assert_eq!(read::<Lzo1x>(wire, len), Err(kind), "{wire:?} for {len} bytes");
    };
    refused(&[], 0, Truncated);
    refused(&[0x11, 0], 0, Truncated);
    refused(&[0x11, 0, 0, 0], 0, Length);
    refused(&[0x11, 0, 0], 1, Length);
    // LZO-RLE, version 1.
    refused(&[0x11, 1, 0x12, b'a', 0x11, 0, 0], 1, Unsupported);
    // An end mark with literals, and one of another length.
    refused(&[0x12, b'a', 0x11, 1, 0, b'b'], 2, Corrupt);
    refused(&[0x12, b'a', 0x12, 0, 0], 1, Corrupt);
    // The bytes of an end mark, as the length and the distance of another instruction.
    refused(&[0x12, b'a', 0x10, 0, 0x11, 0, 0], 1, Corrupt);
    // Copies from before the message, by each instruction.
    for copy in [&[0x84, 0][..], &[0x40, 1], &[0x21, 4, 0], &[0x19, 4, 0], &[0x00, 1]] {
        refused(&[&[0x12, b'a'], copy, &[0x11, 0, 0]].concat(), 20, Corrupt);
    }
    refused(&[&[0x15], &[b'a'; 4][..], &[0, 0, 0x11, 0, 0]].concat(), 20, Corrupt);
    // Beyond the end.
    refused(&[0x14, b'a', b'b', b'c', 0x11, 0, 0], 2, Length);
    refused(&[0x12, b'a', 0x40, 0, 0x11, 0, 0], 3, Length);
    assert_eq!(read::<Lzo1x>(&[0x12, b'a', 0x40, 0, 0x11, 0, 0], 4), Ok(b"aaaa".to_vec()));
    // Two bytes after a few literals; three after a run, from a distance above 2048.
    assert_eq!(read::<Lzo1x>(&[0x13, b'a', b'b', 0x05, 0, b'c', 0x11, 0, 0], 5), Ok(b"ababc".to_vec()));
    // A length without an end.
    refused(&[&[0x12, b'a', 0x20][..], &[0; 5000]].concat(), 100, Truncated);
    refused(&[&[0x12, b'a', 0x20][..], &[0; 5000], &[1, 0, 0, 0x11, 0, 0]].concat(), 100, Length);
    refused(&[0; 5000], 100, Truncated);
}

#[test]
fn three_bytes_come_from_behind_the_near_ones_after_a_run() {
    let raw = random_bytes(3, 2049);
    let head = [&[0][..], &[0; 7], &[(2049 - 18 - 7 * 255) as u8], &raw, &[0x00, 0, 0x11, 0, 0]].concat();
    let back = read::<Lzo1x>(&head, 2052).unwrap();
    assert_eq!((&back[..2049], &back[2049..]), (&raw[..], &raw[..3]));
}

#[test]
fn normal_finds_what_fast_passes_by() {
    // After this much noise `Fast` takes large steps.
    let (noise, word) = (random_bytes(1, 800), b"once upon a time");
    let raw = [&word[..], &noise, word, &random_bytes(2, 20)].concat();
    let of = |effort| encode(&mut Encoder::<Lz77>::new(effort), &raw).len();
    assert!(of(Effort::Normal) < raw.len() && of(Effort::Normal) <= of(Effort::Fast));
}
