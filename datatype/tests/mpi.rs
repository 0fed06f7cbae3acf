//! Compares random types with the MPIs of this machine: size, bounds, packed bytes, unpacked memory.
//!
//! `MPRESS_DATATYPES=100000 cargo test --release -p mpress-datatype --test mpi` tries this number of types; the default is smaller.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod support;

use mpress_codec::simd::Simd;
use mpress_corpus::shared::skipped;
use mpress_datatype::peer::{Peer, Random, Recipe, memory, random};
use mpress_datatype::{Abi, Dialect, Plan};
use std::collections::BTreeMap;
use support::{pack, unpack, variants};

/// The number of types in an ordinary run.
const TYPES: u64 = 2000;
/// The maximum span of a type in bytes.
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
        if mistaken(&recipe, peer.dialect()) {
            continue;
        }
        if plan.reach().len() <= LONGEST && plan.size() <= LONGEST {
            return (recipe, count, plan);
        }
    }
}

/// Whether the MPI is known to handle this type, or one it is made from, incorrectly. Open MPI 4.1 treats a stride of -1 byte as not given; MPICH 4.0
/// packs predefined pairs with negative extents incorrectly.
fn mistaken(recipe: &Recipe, dialect: Dialect) -> bool {
    let extent = |recipe: &Recipe| recipe.build(dialect).expect("small numbers").bounds().extent;
    let here = match (dialect, recipe) {
        (Dialect::OpenMpi, Recipe::Hvector(_, _, -1, _)) => true,
        (Dialect::OpenMpi, Recipe::Vector(_, _, stride, old)) if stride * extent(old) == -1 => true,
        (Dialect::OpenMpi, _) => extent(recipe) == -1,
        (Dialect::Mpich, _) => extent(recipe) < 0,
    };
    here || recipe.old().iter().any(|old| mistaken(old, dialect))
}

/// The differences for the type of this seed, if any.
fn compare(peer: &mut Peer, seed: u64) -> Result<Sample, String> {
    let mut numbers = Random::new(seed);
    let (recipe, count, plan) = sample(&mut numbers, peer);
    let datatype = recipe.build(peer.dialect()).expect("small numbers");
    let reach = plan.reach();
    let answer = peer.examine(&recipe, count, reach.clone());
    let check = |same: bool, what: &str| {
        if same { Ok(()) } else { Err(format!("{what} of {count} x {recipe:?}")) }
    };
    let bounds = (datatype.bounds(), answer.bounds);
    check(datatype.size() == answer.size, "size")?;
    check(bounds.0 == bounds.1, &format!("bounds, {bounds:?},"))?;
    check(plan.size() == answer.packed.len(), "packed size")?;

    let (abi, decoded) = peer.contents(&recipe);
    let known = if peer.dialect() == Dialect::Mpich { Abi::MPICH } else { Abi::OPEN_MPI };
    check(abi == known, &format!("numbers, {abi:?},"))?;
    let decoded = decoded.map_err(|error| format!("{error}, decoding {recipe:?}"))?;
    check(decoded.size() == answer.size && decoded.bounds() == answer.bounds, "decoded size or bounds")?;
    let decoded = Plan::new(&decoded, count).expect("a few elements");

    let (low, old, blank) = (reach.start, memory(reach.len(), 0), memory(reach.len(), 77));
    let simd = Simd::available().nth(seed as usize % Simd::available().count()).expect("a tier");
    // The standard forbids unpacking to overlapping blocks, and MPIs differ in the result.
    let mut marks = vec![0_u8; reach.len()];
    unpack(&plan, &vec![1; plan.size()], 0..plan.size(), &mut marks, low);
    let disjoint = marks.iter().filter(|mark| **mark == 1).count() == plan.size();
    let mut cuts: Vec<usize> = (0..numbers.count(0, 5)).map(|_| numbers.count(0, plan.size())).collect();
    cuts.extend([0, plan.size()]);
    cuts.sort_unstable();
    check(pack(&decoded, &old, low, 0..decoded.size()) == answer.packed, "decoded bytes")?;
    for plan in variants(&plan, simd) {
        check(pack(&plan, &old, low, 0..plan.size()) == answer.packed, "packed bytes")?;
        let mut whole = blank.clone();
        unpack(&plan, &answer.packed, 0..plan.size(), &mut whole, low);
        check(!disjoint || whole == answer.unpacked, "unpacked bytes")?;
        let mut pieces = blank.clone();
        for cut in cuts.windows(2) {
            let range = cut[0]..cut[1];
            let piece = pack(&plan, &old, low, range.clone());
            check(piece == answer.packed[range.clone()], "bytes packed in pieces")?;
            unpack(&plan, &piece, range, &mut pieces, low);
        }
        check(pieces == whole, "bytes unpacked in pieces")?;
    }
    let constructor = format!("{recipe:?}").split('(').next().unwrap_or_default().to_owned();
    Ok(Sample { constructor, disjoint })
}

struct Sample {
    constructor: String,
    disjoint: bool,
}

fn compare_all(peer: &mut Peer) {
    let mut constructors = BTreeMap::<String, u64>::new();
    let (mut overlapping, mut wrong) = (0, Vec::new());
    for seed in 0..types() {
        match compare(peer, seed) {
            Ok(sample) => {
                *constructors.entry(sample.constructor).or_default() += 1;
                overlapping += u64::from(!sample.disjoint);
            }
            Err(what) => wrong.push(what),
        }
    }
    println!(
        "{}: {} types, {overlapping} of them with blocks that overlap: {constructors:?}",
        peer.name(),
        types()
    );
    // The simplest failures are the most informative.
    wrong.sort_by_key(String::len);
    let simplest = wrong.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{}: {} types differ:\n{simplest}", peer.name(), wrong.len());
}

#[test]
fn random_types_are_what_the_mpis_make_of_them() {
    for peer in Peer::all() {
        match peer {
            Ok(mut peer) => compare_all(&mut peer),
            Err(why) => skipped(&format!("datatypes against {why}")),
        }
    }
}
