//! Random types against the MPIs of this machine: size, bounds, packed bytes, unpacked memory.
//!
//! `MPRESS_DATATYPES=100000 cargo test --release -p mpress-datatype --test mpi` tries so many; without it, fewer.

mod support;

use mpress_codec::conformance::skipped;
use mpress_codec::simd::Level;
use mpress_datatype::Plan;
use mpress_datatype::peer::{Peer, Random, Recipe, memory, random};
use support::{pack, unpack, variants};

/// Types that are tried in an ordinary run.
const TYPES: u64 = 2000;
/// Bytes of memory that one may reach over.
const LONGEST: usize = 200_000;

fn types() -> u64 {
    std::env::var("MPRESS_DATATYPES").map_or(TYPES, |types| types.parse().expect("a number of types"))
}

/// A type that is not too long, and a number of elements.
fn sample(numbers: &mut Random, peer: &Peer) -> (Recipe, usize, Plan) {
    loop {
        let depth = numbers.count(1, 4);
        let recipe = random(numbers, depth, false);
        let count = numbers.count(1, 3);
        let datatype = recipe.build(peer.dialect()).expect("small numbers");
        let plan = Plan::new(&datatype, count).expect("a few elements");
        if plan.reach().len() <= LONGEST && plan.size() <= LONGEST {
            return (recipe, count, plan);
        }
    }
}

fn compare(peer: &mut Peer) -> u64 {
    let mut constructors = std::collections::BTreeMap::<String, u64>::new();
    let mut overlapping = 0;
    for seed in 0..types() {
        let mut numbers = Random::new(seed);
        let (recipe, count, plan) = sample(&mut numbers, peer);
        let name = format!("{recipe:?}").split('(').next().unwrap_or_default().to_owned();
        *constructors.entry(name).or_default() += 1;
        let datatype = recipe.build(peer.dialect()).expect("small numbers");
        let reach = plan.reach();
        let answer = peer.examine(&recipe, count, reach.clone());
        let of = format!("of {count} x {recipe:?}, {}", peer.name());
        assert_eq!(datatype.size(), answer.size, "size {of}");
        assert_eq!(datatype.bounds(), answer.bounds, "bounds {of}");
        assert_eq!(plan.size(), answer.packed.len(), "packed size {of}");

        let (low, old, blank) = (reach.start, memory(reach.len(), 0), memory(reach.len(), 77));
        let level = Level::available().nth(seed as usize % Level::available().count()).expect("a level");
        // Blocks that overlap must not be unpacked to, says the standard; MPIs then do what they like.
        let mut marks = vec![0_u8; reach.len()];
        unpack(&plan, &vec![1; plan.size()], 0..plan.size(), &mut marks, low);
        let disjoint = marks.iter().filter(|mark| **mark == 1).count() == plan.size();
        overlapping += u64::from(!disjoint);
        let mut cuts: Vec<usize> = (0..numbers.count(0, 5)).map(|_| numbers.count(0, plan.size())).collect();
        cuts.extend([0, plan.size()]);
        cuts.sort_unstable();
        for plan in variants(&plan, level) {
            assert!(pack(&plan, &old, low, 0..plan.size()) == answer.packed, "packed bytes {of}");
            let mut whole = blank.clone();
            unpack(&plan, &answer.packed, 0..plan.size(), &mut whole, low);
            assert!(!disjoint || whole == answer.unpacked, "unpacked bytes {of}");
            let mut pieces = blank.clone();
            for cut in cuts.windows(2) {
                let range = cut[0]..cut[1];
                let piece = pack(&plan, &old, low, range.clone());
                assert!(piece == answer.packed[range.clone()], "packed bytes {range:?} {of}");
                unpack(&plan, &piece, range, &mut pieces, low);
            }
            assert!(pieces == whole, "unpacked bytes at {cuts:?} {of}");
        }
    }
    println!("{}: {constructors:?}, {overlapping} of them with blocks that overlap", peer.name());
    types()
}

#[test]
fn random_types_are_what_the_mpis_make_of_them() {
    for peer in Peer::all() {
        match peer {
            Ok(mut peer) => println!("{}: {} types", peer.name(), compare(&mut peer)),
            Err(why) => skipped(&format!("datatypes against {why}")),
        }
    }
}
