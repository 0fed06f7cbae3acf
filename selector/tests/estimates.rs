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

const GIGABIT: Link = Link { latency_us: 0.0, bandwidth_mb_s: 125.0 };
const PIPELINED: Transfer = Transfer::Pipelined { chunk: 63 << 10, from: 128 << 10 };
const LEN: usize = 100_000_000;

/// The same for a message of a hundred.
fn long(ratio: f64, encode: f64, decode: f64) -> Packed {
    let one = codec(ratio, encode, decode);
    Packed { encode_ns: 100.0 * one.encode_ns, decode_ns: 100.0 * one.decode_ns, ..one }
}

#[test]
fn pipelined_gains_up_to_the_ratio() {
    let raw = GIGABIT.time_ns(1e8);
    let gain = |codec: Packed| raw / codec.time_ns(PIPELINED, &GIGABIT, LEN);
    assert!((gain(long(1.5, 1000.0, 1000.0)) - 1.5).abs() < 0.01);
    assert!(gain(long(3.0, 200.0, 5000.0)) < 1.5, "bounded by the processor");
    assert!(gain(long(1.5, 110.0, 7000.0)) < 1.0);
    // Shorter messages are coded as a whole.
    let (short, from) = (codec(1.5, 7000.0, 7000.0), 1_000_001);
    let serial = short.time_ns(Transfer::Serial, &GIGABIT, 1_000_000);
    let transfer = Transfer::Pipelined { chunk: 63 << 10, from };
    assert_eq!(short.time_ns(transfer, &GIGABIT, 1_000_000), serial);
    assert_eq!(short.chunk(transfer, &GIGABIT, 1_000_000), None);
}

#[test]
fn the_faster_way_is_taken() {
    let fast = Link { latency_us: 0.0, bandwidth_mb_s: 12_500.0 };
    for (link, is_pipelined) in [(&GIGABIT, true), (&fast, false)] {
        let codec = long(2.0, 3000.0, 3000.0);
        assert_eq!(codec.chunk(PIPELINED, link, LEN).is_some(), is_pipelined);
        let serial = codec.time_ns(Transfer::Serial, link, LEN);
        assert_eq!(codec.time_ns(PIPELINED, link, LEN) < serial, is_pipelined);
    }
}

#[test]
fn chunks_are_as_long_as_fits_on_the_wire() {
    let chunk = |ratio: f64, len: usize| codec(ratio, 3000.0, 3000.0).chunk(PIPELINED, &GIGABIT, len);
    assert_eq!(chunk(1.0, LEN), Some(63 << 10));
    let shorter = chunk(2.0, LEN).unwrap();
    assert!((100 << 10..126 << 10).contains(&shorter) && shorter.is_multiple_of(8), "{shorter}");
    assert_eq!(chunk(10.0, LEN), Some(4 * (63 << 10)), "bounded");
    let quarter = codec(2.0, 30_000.0, 30_000.0).chunk(PIPELINED, &GIGABIT, 200_004).unwrap();
    assert_eq!(quarter, 50_008, "at least four");
    for fraction in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let odd = Packed { fraction, encode_ns: 0.0, decode_ns: 0.0 };
        let chunk = odd.chunk(PIPELINED, &GIGABIT, LEN);
        assert!(chunk.is_none_or(|chunk| (63 << 10..=252 << 10).contains(&chunk)), "{chunk:?}");
    }
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
