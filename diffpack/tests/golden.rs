//! Wires written by an encoder: they must stay readable as long as the format exists. `NAME.raw` is the message, `NAME.CODEC.EFFORT` its wire,
//! `NAME.reference` its reference, if it has one. The current encoder may write different wires, because its choices may be better.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use mpress_codec::{Codec, Decode, Encode, Out};
use mpress_diffpack::{Decoder, Diffpack, Effort, Encoder, Word};
use std::fs;
use std::path::{Path, PathBuf};

/// Messages from integers and powers of two only, so that they are the same on every machine.
fn messages() -> [(&'static str, Vec<u8>); 15] {
    let words =
        |n: u64, word: &dyn Fn(u64) -> u64| (0..n).flat_map(|i| word(i).to_le_bytes()).collect::<Vec<u8>>();
    let noise = random_bytes(3, 8 * 2000);
    let noise = |i: u64| u64::from_le_bytes(*noise[8 * i as usize..].first_chunk().unwrap());
    [
        ("empty", Vec::new()),
        ("tail", b"12345".to_vec()),
        ("zeros", vec![0; 5000]),
        ("noise", random_bytes(5, 2500)),
        ("ramp", words(300, &|i| i * i * i + 1000)),
        ("records", words(700, &|i| ((i % 5) << 40) + (i / 5) * (i % 5 + 3) + noise(i) % 8)),
        ("rows", words(1500, &|i| (i % 37) * (i % 37) * 10_000 + (i / 37) * 500 + noise(i) % 16)),
        ("whole", words(600, &|i| ((noise(i) % 1000) as f64 * 0.25).to_bits())),
        ("level", words(600, &|i| noise(i) >> 20 | 0x3f << 56 | (i % 2) << 63)),
        ("repeats", words(900, &|i| noise(i * 7 / 3 % (50 + i / 9)))),
        (
            "structures",
            (0..400)
                .flat_map(|i| {
                    let [kind, flag] = [noise(i) % 5, noise(i) >> 9 & 1].map(|byte| byte as u8);
                    let number = (7 * i as u32).to_le_bytes();
                    let level = (noise(i) >> 20 | 0x3f << 56).to_le_bytes();
                    [&number[..], &[2, 0, kind, flag], &level].concat()
                })
                .collect(),
        ),
        // Points of three words, each several times: units.
        ("points", words(1800, &|i| noise(1 + 3 * (noise(i / 3) % (40 + i / 60)) + i % 3))),
        // A symmetric matrix whose halves differ in the last bits: near copies; and a level around it: runs.
        (
            "mirrored",
            words(2000, &|i| {
                let (row, column) = (i / 40, i % 40);
                let (low, high) = (row.min(column), row.max(column));
                if high > 25 {
                    0x3eb << 52
                } else {
                    noise(low * 26 + high) ^ (noise(i) % 3 * u64::from(row > column))
                }
            }),
        ),
        // Structures whose fields repeat.
        (
            "copied",
            (0..500)
                .flat_map(|i| {
                    let from = noise(i) % (20 + i / 10);
                    [&noise(from).to_le_bytes()[..], &(noise(i) as u32).to_le_bytes(), &[1, 2, 0, i as u8]]
                        .concat()
                })
                .collect(),
        ),
        (
            "strewn",
            words(900, &|i| match noise(i) % 5 {
                0 => noise(i) >> 30,
                1 => noise(i) >> 50,
                _ => 0,
            }),
        ),
    ]
}

/// Messages with references.
fn referring() -> [(&'static str, [Vec<u8>; 2]); 3] {
    let noise = random_bytes(4, 8 * 1400);
    let word = |i: usize| u64::from_le_bytes(*noise[8 * i..].first_chunk().unwrap());
    let words =
        |word: &dyn Fn(usize) -> u64| (0..700).flat_map(|i| word(i).to_le_bytes()).collect::<Vec<u8>>();
    let more = |i: usize| match i / 256 {
        0 => u64::from(i.is_multiple_of(5)) * (word(i) % 9),
        1 => word(i) % 100,
        _ => 1_000_000 + 17 * i as u64 + word(i) % 4,
    };
    let differs = |i: usize| i > 256 && i.is_multiple_of(8);
    let structures = |step: usize| {
        let structure = |i: usize| {
            let [kind, flag] = [word(i + step) % 5, word(i) >> 9 & 1].map(|byte| byte as u8);
            let number = (7 * i as u32).to_le_bytes();
            let level = ((word(i) >> 12 | 0x3f << 56) + (word(i + step) % 1000)).to_le_bytes();
            [&number[..], &[2, 0, kind, flag], &level].concat()
        };
        (0..400).flat_map(structure).collect::<Vec<u8>>()
    };
    [
        // Words that are equal to the reference's, a little more, and more by a ramp.
        ("later", [words(&|i| word(i).wrapping_add(more(i))), words(&word)]),
        // Equal words, except that one in eight differs.
        ("some", [words(&word), words(&|i| word(if differs(i) { i + 700 } else { i }))]),
        // Structures of which only some fields have changed, by a little.
        ("changed", [structures(1), structures(0)]),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(name: &str, bytes: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let path = folder().join(name);
    if std::env::var_os("MPRESS_WRITE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, bytes()).unwrap();
    }
    fs::read(path).unwrap()
}

fn run<W: Word>() {
    for (name, raw) in messages() {
        assert!(golden(&format!("{name}.raw"), || raw.clone()) == raw, "{name}.raw has changed");
        for &effort in Effort::ALL {
            let file = format!("{name}.{}.{}", Diffpack::<W>::NAME, effort.name());
            let wire = golden(&file, || encode(&mut Encoder::<W>::new(effort), &raw));
            for simd in tiers() {
                let back = decode(&mut Decoder::<W>::new().with_simd(simd), &wire, raw.len());
                assert!(back.as_ref() == Ok(&raw), "{file} at {simd:?} is not read");
            }
        }
    }
}

fn run_referring<W: Word>() {
    for (name, [raw, reference]) in referring() {
        assert!(
            golden(&format!("{name}.raw"), || raw.clone()) == raw
                && golden(&format!("{name}.reference"), || reference.clone()) == reference
        );
        for &effort in Effort::ALL {
            let file = format!("{name}.{}.{}", Diffpack::<W>::NAME, effort.name());
            let wire = golden(&file, || {
                let mut encoder = Encoder::<W>::new(effort);
                let mut wire = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
                let mut out = Out::from_slice(&mut wire);
                encoder.encode_with(&reference, &raw, &mut out).unwrap();
                out.written().to_vec()
            });
            let are_records = name == "changed" && effort != Effort::Fast;
            assert_eq!(wire[0], 1 << 4 | 2 | u8::from(are_records), "{file} does not need the reference");
            for simd in tiers() {
                let mut back = vec![0; raw.len()];
                let mut out = Out::from_slice(&mut back);
                Decoder::<W>::new().with_simd(simd).decode_with(&reference, &wire, &mut out).unwrap();
                assert!(back == raw, "{file} at {simd:?} is not read");
            }
        }
    }
}

#[test]
fn written_wires_with_a_reference() {
    run_referring::<u64>();
    run_referring::<u32>();
    run_referring::<u16>();
}

#[test]
fn written_wires_of_words_of_64() {
    run::<u64>();
}

#[test]
fn written_wires_of_words_of_32() {
    run::<u32>();
}

#[test]
fn written_wires_of_words_of_16() {
    run::<u16>();
}
