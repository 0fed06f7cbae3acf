//! The edges of the wire formats: header, bound, stored blocks and planes, and the error for each refused wire.

use crate::header;
use crate::support_settings as settings;

use mpress_codec::DecodeErrorKind::{self, Corrupt, Length, Truncated, Unsupported};
use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_codec::{Codec, Encode};
use mpress_rle_huffman::{
    Huffman, HuffmanDecoder, HuffmanEncoder, Rle, RleDecoder, RleEncoder, ShannonFano, ShannonFanoDecoder,
    ShannonFanoEncoder, Symbol, Width,
};
use settings::SETTINGS;

#[test]
fn facts() {
    assert_eq!((Rle::ID.0, Rle::NAME, Rle::WIDTH), (14, "rle", 1));
    assert_eq!((Huffman::ID.0, Huffman::NAME, Huffman::WIDTH), (15, "huffman", 1));
    assert_eq!((ShannonFano::ID.0, ShannonFano::NAME, ShannonFano::WIDTH), (16, "shannon-fano", 1));
    const { assert!(!Rle::STATEFUL && !Huffman::STATEFUL && !ShannonFano::STATEFUL) };
    assert_eq!(Width::ALL.map(Width::bytes).map(Width::new), Width::ALL.map(Some));
    assert_eq!(Width::new(3), None);
}

#[test]
fn memory_is_what_is_promised() {
    assert!(size_of::<HuffmanEncoder>() <= 65 << 10 && size_of::<RleEncoder>() <= 65 << 10);
    assert!(size_of::<HuffmanDecoder>() <= 102 << 10, "{}", size_of::<HuffmanDecoder>());
    assert!(size_of::<RleDecoder>() <= 65 << 10);
}

#[test]
fn the_bound_is_reached_by_noise_and_never_passed() {
    for setting in SETTINGS {
        let (mut encoder, _) = (setting.make)(tiers()[0]);
        for len in [0_usize, 1, 7, 8, 300, 65_535, 65_536, 65_537, 200_000] {
            let bound = header(0, len).len() + len + len.div_ceil(65_536);
            assert_eq!(encoder.max_encoded_len(len), Some(bound));
            assert_eq!(encode(&mut encoder, &random_bytes(7, len)).len(), bound, "{}, {len}", setting.name);
        }
        assert_eq!(encoder.max_encoded_len(usize::MAX - 100), None);
    }
}

#[test]
fn wires_are_the_documented_ones() {
    let mut bytes = HuffmanEncoder::new(Width::One);
    assert_eq!(encode(&mut bytes, b""), [2, 0, 0]);
    assert_eq!(encode(&mut bytes, b"seven b"), *b"\x02\0\x07\0seven b");
    assert_eq!(encode(&mut bytes, &[0xab; 9]), [2, 0, 9, 1, 0x0a, 0xb0]);
    // Lengths 1, 2, 2 of 'a' to 'c': 0001 and 1 for a moving base, gamma(97 + 1), gamma(3), differences 0, 1, 0. Codes 0, 10, 11.
    let abc = [b"a".repeat(10), b"b".repeat(5), b"c".repeat(5)].concat();
    let expected = [2, 0, 20, 1, 0x18, 0x18, 0x9a, 0x00, 0x00, 0x2a, 0xaf, 0xfc];
    assert_eq!(encode(&mut bytes, &abc), expected);
    let mut runs = RleEncoder::new(Symbol::Of(Width::Two), Width::One);
    assert_eq!(encode(&mut runs, b"xyababababab!"), *b"\x02\x20\x0d\x01\x42xyab!");
    let mut long = RleEncoder::new(Symbol::Of(Width::One), Width::One);
    assert_eq!(encode(&mut long, &[7; 1 + 15 + 300]), [2, 0, 0xbc, 2, 1, 0xf1, 0xac, 0x02, 7]);
    // Doubles in which only the first byte varies.
    let doubles: Vec<u8> = (0..4).flat_map(|i| [i, 2, 3, 4, 5, 6, 7, 8]).collect();
    let mut planes = HuffmanEncoder::new(Width::Eight);
    let singles = (2..9).flat_map(|value| [0, value << 4]);
    let expected: Vec<u8> = [2, 0x18, 32, 0xfe, 0, 1, 2, 3].into_iter().chain(singles).collect();
    assert_eq!(encode(&mut planes, &doubles), expected);
}

/// The result of all decoders of these codes for a wire, at every tier.
fn refused(wire: &[u8], len: usize, decoders: &str) -> DecodeErrorKind {
    let mut kinds = Vec::new();
    for setting in SETTINGS.iter().filter(|setting| setting.name.starts_with(decoders)) {
        for simd in tiers() {
            kinds.push(decode(&mut (setting.make)(simd).1, wire, len).unwrap_err());
        }
    }
    assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{wire:?}: {kinds:?}");
    kinds[0]
}

#[test]
fn broken_headers_and_blocks_are_refused() {
    for code in ["rle", "huffman", "fano"] {
        for (wire, len, kind) in [
            (&[][..], 0, Truncated),
            (&[2], 0, Truncated),
            (&[2, 0], 0, Truncated),
            // The header of the old version 1.
            (&[1, 0], 0, Unsupported),
            (&[0, 0], 0, Unsupported),
            (&[2, 0x80, 0], 0, Corrupt),
            (&[2, 1, 0], 0, Corrupt),
            (&[2, 4, 0], 0, Corrupt),
            // A length in more bytes than it needs, and a wrong length.
            (&[2, 0, 0x80, 0], 0, Corrupt),
            (&[2, 0, 1], 0, Length),
            (&[2, 0, 0], 8, Length),
            (&[2, 0, 8], 8, Truncated),
            (&[2, 0, 0, 0], 0, Length),
            (&[2, 0, 2, 0, 7], 2, Truncated),
            (&[2, 0, 2, 0, 7, 7, 7], 2, Length),
            // A plane that does not exist, and planes of no bytes.
            (&[2, 0, 2, 2, 7, 7], 2, Corrupt),
            (&[2, 8, 2, 4, 7, 7], 2, Corrupt),
            (&[2, 0x18, 2, 1, 7, 7], 2, Corrupt),
        ] {
            assert_eq!(refused(wire, len, code), kind, "{code}: {wire:?}");
        }
    }
    // Settings that only run lengths have.
    assert_eq!(refused(&[2, 0x20, 0], 0, "huffman"), Corrupt);
    assert_eq!(refused(&[2, 0x40, 0], 0, "fano"), Corrupt);
    assert_eq!(decode(&mut RleDecoder::new(), &[2, 0x60, 0], 0), Ok(Vec::new()));
}

#[test]
fn a_plane_without_a_whole_symbol_is_never_coded() {
    for symbol in Width::ALL {
        for planes in Width::ALL {
            for len in 0..8 * planes.bytes() {
                let elements = len / planes.bytes();
                for raw in [vec![0; len], random_bytes(1, len)] {
                    // Also after a full block, which is short because it is all zeros.
                    for before in [0, 1 << 16] {
                        let raw = [&vec![0; before], &raw[..]].concat();
                        let wire = encode(&mut RleEncoder::new(Symbol::Of(symbol), planes), &raw);
                        assert_eq!(decode(&mut RleDecoder::new(), &wire, raw.len()), Ok(raw));
                        if len > 0 && elements < symbol.bytes() {
                            let head = wire[wire.len() - len - 1];
                            assert_eq!(head, 0, "{len} bytes, {planes:?}, {symbol:?}");
                        }
                    }
                }
            }
        }
    }
    // Wires of earlier encoders, which did not do this, are decoded.
    assert_eq!(decode(&mut RleDecoder::new(), b"\x02\x60\x05\x0112345", 5), Ok(b"12345".to_vec()));
}

#[test]
fn broken_tokens_are_refused() {
    for (tokens, kind) in [
        (&[][..], Truncated),
        (&[0x02, 7], Truncated),
        (&[0x0f], Truncated),
        (&[0xf1, 0x80], Truncated),
        // Neither literals nor repeats; repeats without a symbol; more than fits.
        (&[0x00], Corrupt),
        (&[0x80], Corrupt),
        (&[0x81, 7], Corrupt),
        (&[0x0f, 0, 7], Corrupt),
        // Counts that are too long.
        (&[0x0f, 0x80, 0x80, 0x80, 0x00], Corrupt),
        (&[0x0f, 0xff, 0xff, 0x7f], Corrupt),
        (&[0x71, 7, 0], Length),
    ] {
        let wire = [&[2, 0, 8, 1], tokens].concat();
        assert_eq!(refused(&wire, 8, "rle"), kind, "{tokens:?}");
    }
    assert_eq!(
        decode(&mut RleDecoder::new(), &[2, 0, 8, 1, 0x31, 7, 0x31, 8], 8),
        Ok(vec![7, 7, 7, 7, 8, 8, 8, 8])
    );
    assert_eq!(decode(&mut RleDecoder::new(), &[2, 0, 8, 1, 0x31, 7, 0x40], 8), Ok(vec![7; 8]));
}

#[test]
fn broken_codes_are_refused() {
    // Lengths 1 and 1 of the symbols 0 and 1: 0001 and 0 for a fixed base, gamma(1), gamma(2), differences 0 and 0; then eight bits of codes.
    let good = [0b0001_0101, 0b0000_0000, 0b0101_0011];
    for (codes, kind) in [
        (&good[..0], Truncated),
        (&good[..1], Truncated),
        (&good[..2], Truncated),
        // One value: a missing value, and bits after it.
        (&[0x0f], Truncated),
        (&[0x01, 0x2f], Corrupt),
        // First lengths of 12 and 15 bits.
        (&[0xc0, 0, 0, 0], Corrupt),
        (&[0xf0, 0, 0, 0], Corrupt),
        // A gamma code of nine zeros; a symbol above 255: gamma(256) and a run of 2.
        (&[0b0001_0000, 0, 0, 0], Corrupt),
        (&[0b0001_0000, 0b0000_0100, 0b0000_0001, 0, 0], Corrupt),
        // Lengths of 0, of 12, and of 12 by a difference of ten; a difference with twelve ones.
        (&[0b0001_0101, 0b0110_0000, 0, 0], Corrupt),
        (&[0b1011_0101, 0b0100_0000, 0, 0], Corrupt),
        (&[0b0010_0101, 0b0111_1111, 0b1111_0000, 0, 0], Corrupt),
        (&[0b0001_0101, 0b0111_1111, 0b1111_1000, 0, 0], Corrupt),
        // Lengths 1, 1 and 1; bits after the lengths.
        (&[0b0001_0101, 0b1000_0000, 0b1000_0000, 0, 0], Corrupt),
        (&[0b0001_0101, 0b0000_0001, 0, 0], Corrupt),
        // Bytes after the stream.
        (&[good[0], good[1], good[2], 9], Length),
    ] {
        let wire = [&[2, 0, 8, 1], codes].concat();
        for code in ["huffman1", "fano1"] {
            let result = refused(&wire, 8, code);
            assert_eq!(result, kind, "{code}: {codes:?}");
        }
    }
    let wire = [&[2, 0, 8, 1], &good[..]].concat();
    assert_eq!(decode(&mut HuffmanDecoder::new(), &wire, 8), Ok(vec![0, 1, 0, 1, 0, 0, 1, 1]));
    let seven = [&[2, 0, 7, 1], &good[..]].concat();
    assert_eq!(decode(&mut HuffmanDecoder::new(), &seven, 7), Err(Corrupt), "a bit after the stream's end");
}

#[test]
fn broken_streams_are_refused() {
    // The same code, and four streams of 16 bytes.
    let wire = |sizes: [u8; 3], len: usize| {
        let sizes = sizes.map(|size| [size, 0]);
        [&[2, 0, 0x80, 4, 1, 0b0001_0101, 0][..], sizes.as_flattened(), &[0b0101_0011; 64][..len]].concat()
    };
    let raw = [0, 1, 0, 1, 0, 0, 1, 1].repeat(64);
    assert_eq!(decode(&mut HuffmanDecoder::new(), &wire([16; 3], 64), 512), Ok(raw));
    for (sizes, len, kind) in [
        // Too short, too long, past the wire's end; a last stream past the wire's end.
        ([16, 15, 16], 64, Corrupt),
        ([16, 16, 17], 64, Corrupt),
        ([16, 0, 16], 64, Corrupt),
        ([16, 200, 16], 64, Truncated),
        ([16, 16, 16], 63, Truncated),
        ([16, 16, 16], 48, Truncated),
        ([16, 16, 16], 47, Truncated),
    ] {
        for code in ["huffman1", "fano1"] {
            assert_eq!(refused(&wire(sizes, len), 512, code), kind, "{code}: {sizes:?}, {len}");
        }
    }
}

#[test]
fn one_decoder_reads_both_prefix_codes() {
    let raw: Vec<u8> = (0..3000_u32).map(|i| (i * i % 251).trailing_zeros() as u8).collect();
    let fano = encode(&mut ShannonFanoEncoder::new(Width::Two), &raw);
    let huffman = encode(&mut HuffmanEncoder::new(Width::Two), &raw);
    assert!(huffman.len() <= fano.len());
    assert_eq!(decode(&mut HuffmanDecoder::new(), &fano, raw.len()).as_ref(), Ok(&raw));
    assert_eq!(decode(&mut ShannonFanoDecoder::new(), &huffman, raw.len()).as_ref(), Ok(&raw));
}
