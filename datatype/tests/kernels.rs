//! Copies of every width and length and transposes of every shape, at any address, give the same result at every tier as byte-by-byte copies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod support;

use mpress_codec::conformance::at_each_tier;
use mpress_datatype::peer::memory;
use mpress_datatype::{Class, Datatype, Dialect, Machine, Plan, Source, Target};
use support::variants;

fn bytes(len: usize) -> Datatype {
    Datatype::named(Dialect::OpenMpi, len, 1).unwrap()
}

/// Packs and unpacks one element whose bytes are at `places`, from and to addresses of any alignment.
fn compare(datatype: &Datatype, places: &[usize], what: &str) {
    let plan = Plan::new(datatype, 1).unwrap();
    assert_eq!(plan.size(), places.len(), "{what}");
    let len = plan.reach().end.unsigned_abs();
    at_each_tier(|simd| {
        for plan in variants(&plan, simd) {
            for (from_start, to_start) in [(0, 0), (0, 8), (4, 0), (3, 61), (16, 32)] {
                let old = memory(len + from_start, 0);
                let old = &old[from_start..];
                let expected: Vec<u8> = places.iter().map(|place| old[*place]).collect();
                let mut packed = vec![0xa5; places.len() + to_start + 1];
                plan.pack(Source::new(old, 0), 0..places.len(), Target::new(&mut packed[to_start..], 0))
                    .unwrap();
                assert!(packed[to_start..to_start + places.len()] == expected, "packing {what}, {simd:?}");
                assert_eq!(packed.last(), Some(&0xa5), "packing {what}, {simd:?}");

                let mut blank = memory(len + to_start, 77);
                let mut unpacked = blank[to_start..].to_vec();
                places.iter().zip(&expected).for_each(|(place, byte)| unpacked[*place] = *byte);
                let target = Target::new(&mut blank[to_start..], 0);
                let packed = &packed[to_start..to_start + places.len()];
                plan.unpack(Source::new(packed, 0), 0..places.len(), target).unwrap();
                assert!(blank[to_start..] == unpacked, "unpacking {what}, {simd:?}");
            }
        }
    });
}

#[test]
fn blocks_of_every_width() {
    for width in (1..=140).chain([191, 255, 256, 257, 300, 319, 320, 321, 511, 512, 513, 1000, 4099]) {
        let stride = width + 5;
        let datatype = Datatype::hvector(5, 1, stride as isize, &bytes(width)).unwrap();
        let places: Vec<_> = (0..5).flat_map(|i| (0..width).map(move |byte| i * stride + byte)).collect();
        compare(&datatype, &places, &format!("blocks of {width}"));
    }
}

/// Runs copied by loops, and those long enough for the C library.
#[test]
fn long_runs() {
    for len in (256..=700).chain([2047, 2048, 6480, (1 << 20) - 1, 1 << 20, (1 << 20) + 65]) {
        let plan = Plan::new(&bytes(len), 1).unwrap();
        at_each_tier(|simd| {
            let plan = plan.clone().with_simd(simd);
            for (from_start, to_start) in [(0, 0), (1, 63), (24, 40), (40, 24)] {
                let old = memory(len + from_start, 0);
                let mut packed = vec![0xa5; to_start + len + 1];
                let source = Source::new(&old[from_start..], 0);
                plan.pack(source, 0..len, Target::new(&mut packed[to_start..], 0)).unwrap();
                assert!(packed[to_start..to_start + len] == old[from_start..], "{len} bytes, {simd:?}");
                assert!(packed[..to_start].iter().all(|byte| *byte == 0xa5), "{len} bytes, {simd:?}");
                assert_eq!(packed.last(), Some(&0xa5), "{len} bytes, {simd:?}");
            }
        });
    }
}

#[test]
fn listed_runs_of_every_length() {
    for len in (1..=140).chain([255, 256, 257, 320, 511, 1000, 4099]) {
        // Runs of one length, and of several.
        for (others, class) in [(0, Class::FixedBlockVariableStride), (3, Class::VariableBlockVariableStride)]
        {
            let lens: Vec<_> = (0..6).map(|i| len + i % 2 * others).collect();
            let at: Vec<_> = (0..6).map(|i| (i * i + 1) * (len + 9)).collect();
            let displacements: Vec<_> = at.iter().map(|at| *at as isize).collect();
            let datatype = Datatype::hindexed(&lens, &displacements, &bytes(1)).unwrap();
            assert_eq!(Plan::new(&datatype, 1).unwrap().class(), class);
            let places: Vec<_> = at.iter().zip(&lens).flat_map(|(at, len)| *at..at + len).collect();
            compare(&datatype, &places, &format!("runs of {len}, every other one of {others} more"));
        }
    }
}

#[test]
fn transposes_of_every_shape() {
    for width in [1, 2, 3, 4, 8, 12, 16, 24] {
        for (rows, columns) in
            [(1, 1), (2, 40), (40, 2), (4, 4), (8, 8), (16, 16), (17, 16), (16, 33), (31, 47), (64, 72)]
        {
            for gap in [0, 1, 5] {
                let row = (columns + gap) * width;
                let column = Datatype::hvector(rows, 1, row as isize, &bytes(width)).unwrap();
                let datatype = Datatype::hvector(columns, 1, width as isize, &column).unwrap();
                let places: Vec<_> = (0..columns)
                    .flat_map(|column| (0..rows).map(move |i| i * row + column * width))
                    .flat_map(|at| at..at + width)
                    .collect();
                compare(&datatype, &places, &format!("{rows} by {columns} of {width}, {gap} between rows"));
            }
        }
    }
}

/// Loops between and around the two loops of a transpose.
#[test]
fn transposes_inside_other_loops() {
    let element = bytes(8);
    let (i, j, k) = (20, 3, 18);
    let line = Datatype::hvector(k, 1, 8 * 20 * 3, &element).unwrap();
    let plane = Datatype::hvector(j, 1, 8 * 20, &line).unwrap();
    let cube = Datatype::hvector(i, 1, 8, &plane).unwrap();
    let two = Datatype::hvector(2, 1, 8 * 20 * 3 * 18 + 40, &cube).unwrap();
    let mut places = vec![];
    for two in 0..2 {
        for i in 0..i {
            for j in 0..j {
                for k in 0..k {
                    let at = two * (8 * 20 * 3 * 18 + 40) + 8 * (i + 20 * (j + 3 * k));
                    places.extend(at..at + 8);
                }
            }
        }
    }
    compare(&two, &places, "two cubes by lines");
    let plan = Plan::new(&two, 1).unwrap();
    assert_eq!((plan.class(), plan.reorders()), (Class::FixedBlockFixedStride, true));
}

/// More loops than fit in a nest.
#[test]
fn nests_of_many_loops() {
    let (mut datatype, mut places, mut span) = (bytes(8), vec![0], 8);
    for i in 0..11 {
        // Outer loops with small and with large strides.
        let stride = if i % 3 == 2 { span + 3 } else { 2 * span + 1 };
        datatype = Datatype::hvector(2, 1, stride as isize, &datatype).unwrap();
        places = (0..2).flat_map(|k| places.iter().map(move |place| place + k * stride)).collect();
        span += stride;
    }
    let places: Vec<_> = places.into_iter().flat_map(|place| place..place + 8).collect();
    compare(&datatype, &places, "eleven loops");
}

/// The same layout has the same form, no matter how it is described.
#[test]
fn descriptions_of_one_run_are_contiguous() {
    let double = Datatype::named(Dialect::OpenMpi, 8, 8).unwrap();
    let pair = Datatype::structure(&[1, 1], &[0, 8], &[double.clone(), double.dup()]).unwrap();
    let rows = Datatype::vector(7, 3, 3, &pair).unwrap();
    let listed = Datatype::indexed(&[1, 2, 4], &[0, 1, 3], &rows).unwrap();
    let plan = Plan::new(&listed, 5).unwrap();
    assert_eq!((plan.class(), plan.contiguous()), (Class::Contiguous, Some(0)));
    assert_eq!(plan.size(), 5 * 7 * 21 * 16);
    assert!(!plan.reorders());
}

#[test]
fn pieces_end_where_rows_of_tiles_end() {
    let double = Datatype::named(Dialect::OpenMpi, 8, 8).unwrap();
    let transpose = |n: usize| {
        let column = Datatype::vector(n, 1, n as isize, &double).unwrap();
        Plan::new(&Datatype::hvector(n, 1, 8, &column).unwrap(), 1).unwrap().with_machine(Machine::DEFAULT)
    };
    // Eight columns of doubles fill a line.
    assert_eq!(transpose(1024).piece(200_000), 4 * 8 * 1024 * 8);
    assert_eq!(transpose(1024).piece(1), 1, "eight columns are more than was asked for");
    assert_eq!(transpose(16).piece(1 << 20), 16 * 16 * 8, "no more than exists");
    assert_eq!(transpose(16).piece(usize::MAX), 16 * 16 * 8, "all at once");
    assert_eq!(Plan::new(&double, 100).unwrap().piece(300), 300);
}
