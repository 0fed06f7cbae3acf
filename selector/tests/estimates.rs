//! The basis of decisions: the length of a message, its redundancy, and the time that it takes.

use mpress_codec::Kind;
use mpress_selector::{Level, Link, Packed, SizeClass, Transfer, level};

const TEN_GBIT: Link = Link { latency_us: 0.0, bandwidth_mb_s: 1250.0 };

/// A codec of this ratio and these speeds in MB/s, for a message of 1 MB.
fn codec(ratio: f64, encode: f64, decode: f64) -> Packed {
    Packed { fraction: 1.0 / ratio, encode_ns: 1e9 / encode, decode_ns: 1e9 / decode }
}

#[test]
fn serial_gains_from_the_speed_that_theory_says() {
    // 1 / (1 / encode + 1 / decode) > bandwidth * ratio / (ratio - 1): 3750 MB/s here.
    let raw = TEN_GBIT.time_ns(1e6);
    assert!(codec(1.5, 7600.0, 7600.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) < raw);
    assert!(codec(1.5, 7400.0, 7400.0).time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000) > raw);
}

#[test]
fn pipelined_gains_up_to_the_ratio() {
    let transfer = Transfer::Pipelined { chunk: 1000, from: 0 };
    let raw = TEN_GBIT.time_ns(1e6);
    let gain = |codec: Packed| raw / codec.time_ns(transfer, &TEN_GBIT, 1_000_000);
    assert!((gain(codec(1.5, 8000.0, 8000.0)) - 1.5).abs() < 0.01);
    // 0.4 ns of coding and a third of 0.4 ns in the network stack for each byte, in place of 0.8 ns of the link.
    assert!((gain(codec(3.0, 5000.0, 5000.0)) - 1.5).abs() < 0.01, "bounded by the processor");
    assert!(gain(codec(1.5, 1000.0, 7000.0)) < 1.0);
    // Shorter messages are coded as a whole.
    let short = codec(1.5, 7000.0, 7000.0);
    let serial = short.time_ns(Transfer::Serial, &TEN_GBIT, 1_000_000);
    let transfer = Transfer::Pipelined { chunk: 1000, from: 1_000_001 };
    assert_eq!(short.time_ns(transfer, &TEN_GBIT, 1_000_000), serial);
}

#[test]
fn every_length_is_in_its_class() {
    for len in (1024..5000).chain([65_535, 65_536, 98_303, 98_304, (1 << 26) - 1, 1 << 26, usize::MAX - 1]) {
        let class = SizeClass::of(len);
        assert!(class.start() <= len && len < class.end(), "{len}: {class:?}");
    }
    assert_eq!(SizeClass::of(0), SizeClass::of(1024));
    assert_eq!(SizeClass::of(usize::MAX).index(), SizeClass::COUNT - 1);
}

#[test]
fn classes_follow_each_other() {
    let mut end = 1024;
    for (at, class) in SizeClass::all().enumerate() {
        assert_eq!((class.index(), class.start()), (at, end));
        end = class.end();
    }
    assert_eq!(end, usize::MAX);
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn noise_has_none_and_zeros_have_all() {
    for kind in Kind::ALL {
        assert_eq!(level(kind, &noise(10_000)), Level::None, "{kind:?}");
        assert_eq!(level(kind, &vec![0; 10_000]), Level::Extreme, "{kind:?}");
        assert_eq!(level(kind, &[7; 20]), Level::Unknown, "{kind:?}");
    }
}

#[test]
fn the_fewer_bits_are_noise_the_higher_the_level() {
    let message = |bits: u32| -> Vec<u8> {
        let noise = noise(8 * 2000);
        let words = noise.as_chunks().0.iter().zip(0_u32..);
        let word = |(noise, at): (&[u8; 8], u32)| {
            let smooth = (1.0 + f64::from(at) * 1e-5).to_bits();
            (smooth ^ (u64::from_le_bytes(*noise) & ((1 << bits) - 1))).to_le_bytes()
        };
        words.flat_map(word).collect()
    };
    let levels: Vec<_> =
        [0, 16, 32, 44, 50].into_iter().map(|bits| level(Kind::F64, &message(bits))).collect();
    assert!(levels.is_sorted_by(|a, b| a >= b), "{levels:?}");
    assert!(levels[0] >= Level::High && levels[4] < levels[0], "{levels:?}");
}

#[test]
fn records_of_several_numbers_are_seen_through() {
    let records: Vec<u8> = (0..1000_u32)
        .flat_map(|i| [f64::from(i) * 1e-6 + 1.0, -1e9, 3e-7])
        .flat_map(f64::to_le_bytes)
        .collect();
    assert!(level(Kind::F64, &records) >= Level::Medium);
}
