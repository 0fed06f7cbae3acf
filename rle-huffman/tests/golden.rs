//! Wires written by an encoder: they must stay readable as long as their version exists. `NAME.raw` is the message, `NAME.SETTING` its wire,
//! with the settings of `support/settings.rs`. The current encoder may write different wires, because its choices may be better.
//!
//! With `MPRESS_WRITE_GOLDEN=1`, missing files are written. Existing files never change.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

#[path = "support/settings.rs"]
mod settings;

use mpress_codec::conformance::{decode, encode, random_bytes, tiers};
use settings::SETTINGS;
use std::fs;
use std::path::{Path, PathBuf};

/// Messages from integers only, so that they are the same on every machine.
fn messages() -> [(&'static str, Vec<u8>); 8] {
    let noise = random_bytes(3, 8 * 6000);
    let noise = |i: usize| noise[i % noise.len()];
    [
        ("empty", Vec::new()),
        ("tail", b"12345".to_vec()),
        ("zeros", vec![0; 70_000]),
        ("noise", random_bytes(5, 700)),
        ("text", b"run lengths and codes; ".iter().copied().cycle().take(700).collect()),
        // Codes at the limit of 11 bits, and eight streams.
        (
            "skewed",
            (0..5000)
                .map(|i| (noise(2 * i).leading_zeros() + noise(2 * i + 1).trailing_zeros()) as u8)
                .collect(),
        ),
        ("runs", (0..250).flat_map(|i| vec![noise(i); usize::from(noise(i) % 24) + 1]).collect()),
        // Doubles whose high bytes have few values.
        (
            "doubles",
            (0..700_usize)
                .flat_map(|i| {
                    [
                        0,
                        0,
                        noise(3 * i),
                        noise(3 * i + 1),
                        noise(3 * i + 2),
                        noise(i) % 3,
                        0xf0 + noise(i) % 8,
                        0x3f,
                    ]
                })
                .collect(),
        ),
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

#[test]
fn written_wires() {
    for (name, raw) in messages() {
        assert!(golden(&format!("{name}.raw"), || raw.clone()) == raw, "{name}.raw has changed");
        for setting in SETTINGS {
            let file = format!("{name}.{}", setting.name);
            let wire = golden(&file, || encode(&mut (setting.make)(tiers()[0]).0, &raw));
            for simd in tiers() {
                let back = decode(&mut (setting.make)(simd).1, &wire, raw.len());
                assert!(back.as_ref() == Ok(&raw), "{file} at {simd:?} is not read");
            }
        }
    }
}
