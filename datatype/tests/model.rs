//! Compares plans with the type map of the standard: any nested type, every tier, whole and in pieces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod support;

use mpress_codec::conformance::at_each_tier;
use mpress_datatype::peer::{Random, memory, random};
use mpress_datatype::{Dialect, Plan};
use proptest::prelude::*;
use support::{Model, pack, unpack, variants};

/// Longer streams take more time without testing more.
const LONGEST: usize = 20_000;

fn compare(seed: u64) -> Result<(), TestCaseError> {
    let mut numbers = Random::new(seed);
    let recipe = random(&mut numbers, 4, false);
    let datatype = recipe.build(Dialect::OpenMpi).expect("small numbers");
    if datatype.size() > LONGEST {
        return Ok(());
    }
    let model = Model::of(&recipe);
    prop_assert_eq!(datatype.size(), model.bytes.len(), "size of {:?}", recipe);
    prop_assert_eq!(datatype.bounds(), model.bounds(), "bounds of {:?}", recipe);

    let count = numbers.count(0, 3);
    let plan = Plan::new(&datatype, count).expect("a few elements");
    let places = model.repeated(count);
    prop_assert_eq!(plan.size(), places.len());
    let low = places.iter().min().copied().unwrap_or(0);
    let len = places.iter().max().map_or(0, |high| high + 1 - low);
    prop_assert_eq!(plan.reach(), low..low + len);
    let old = memory(len as usize, 0);
    let packed: Vec<u8> = places.iter().map(|place| old[(place - low) as usize]).collect();
    let blank = memory(len as usize, 77);
    let mut unpacked = blank.clone();
    places.iter().zip(&packed).for_each(|(place, byte)| unpacked[(place - low) as usize] = *byte);

    // Cuts at any positions, some of them equal.
    let mut cuts: Vec<usize> = (0..numbers.count(0, 6)).map(|_| numbers.count(0, packed.len())).collect();
    cuts.extend([0, packed.len()]);
    cuts.sort_unstable();
    at_each_tier(|simd| {
        for plan in variants(&plan, simd) {
            assert!(pack(&plan, &old, low, 0..packed.len()) == packed, "packing {recipe:?}");
            let mut whole = blank.clone();
            unpack(&plan, &packed, 0..packed.len(), &mut whole, low);
            assert!(whole == unpacked, "unpacking {recipe:?}");
            let mut pieces = blank.clone();
            for cut in cuts.windows(2) {
                let range = cut[0]..cut[1];
                let piece = pack(&plan, &old, low, range.clone());
                assert!(piece == packed[range.clone()], "packing {range:?} of {recipe:?}");
                unpack(&plan, &piece, range.clone(), &mut pieces, low);
            }
            assert!(pieces == unpacked, "unpacking at {cuts:?} of {recipe:?}");
        }
    });
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_do_what_the_type_map_says(seed: u64) {
        compare(seed)?;
    }
}

#[test]
fn long_types_too() {
    for seed in 0..3000 {
        compare(seed).unwrap();
    }
}
