//! Descriptions that no program should use give an error or a type that works.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod support;

use mpress_datatype::{
    Datatype, Dialect, Dimension, Distribution, Error, Order, PackError, Plan, Source, Target,
};
use support::{pack, unpack};

fn named(size: usize, align: usize) -> Result<Datatype, Error> {
    Datatype::named(Dialect::OpenMpi, size, align)
}

fn double() -> Datatype {
    named(8, 8).unwrap()
}

#[test]
fn what_does_not_fit_an_address_is_refused() {
    use Error::Overflow;
    let double = double();
    let (big, far) = (usize::MAX / 4, isize::MAX / 4);
    let error = |datatype: Result<Datatype, Error>| datatype.expect_err("it does not fit");
    assert_eq!(error(named(usize::MAX, 1)), Overflow);
    assert_eq!(error(Datatype::contiguous(big, &double)), Overflow);
    assert_eq!(error(Datatype::contiguous(usize::MAX, &double)), Overflow);
    assert_eq!(error(Datatype::vector(2, 1, far, &double)), Overflow);
    assert_eq!(error(Datatype::vector(2, big, 1, &double)), Overflow);
    assert_eq!(error(Datatype::vector(big, 1, -1, &double)), Overflow);
    assert_eq!(error(Datatype::hvector(3, 1, isize::MIN, &double)), Overflow);
    assert_eq!(error(Datatype::hvector(usize::MAX, 1, 0, &double)), Overflow);
    assert_eq!(error(Datatype::indexed(&[1], &[isize::MIN], &double)), Overflow);
    assert_eq!(error(Datatype::indexed_block(1, &[far], &double)), Overflow);
    assert_eq!(error(Datatype::hindexed(&[1, 1], &[isize::MIN, isize::MAX - 8], &double)), Overflow);
    assert_eq!(error(Datatype::hindexed_block(1, &[isize::MAX], &double)), Overflow);
    let types = [double.clone(), double.clone()];
    let structure = |places: [isize; 2]| Datatype::structure(&[1, 1], &places, &types);
    assert_eq!(error(structure([isize::MIN, 0])), Overflow);
    assert_eq!(error(structure([0, isize::MAX - 4])), Overflow);
    assert_eq!(error(Datatype::structure(&[big, 1], &[0, 0], &types)), Overflow);
    assert_eq!(error(Datatype::subarray(&[big, 9], &[1, 1], &[0, 0], Order::C, &double)), Overflow);
    assert_eq!(error(double.resized(isize::MAX, 1)), Overflow);
    assert_eq!(error(double.resized(isize::MIN, -1)), Overflow);
    let dimension = Dimension { global: big, distribution: Distribution::Block(None), processes: 2 };
    assert_eq!(error(Datatype::darray(1, &[dimension], Order::C, &double)), Overflow);
    // Each level doubles the size.
    let mut deep = double.clone();
    let refused = (0..100).find_map(|_| match Datatype::hvector(2, 1, 0, &deep) {
        Ok(next) => {
            deep = next;
            None
        }
        Err(error) => Some(error),
    });
    assert_eq!(refused, Some(Overflow));
    let huge = double.resized(0, isize::MAX / 2).unwrap();
    assert!(Plan::new(&huge, 2).is_ok());
    assert_eq!(Plan::new(&huge, 4).expect_err("too far apart"), Overflow);
    assert_eq!(Plan::new(&huge, usize::MAX).expect_err("too many"), Overflow);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    use Error::{Argument, Length};
    let double = double();
    let error = |datatype: Result<Datatype, Error>| datatype.expect_err("it makes no sense");
    assert_eq!(error(named(0, 1)), Argument);
    assert_eq!(error(named(8, 0)), Argument);
    assert_eq!(error(Datatype::indexed(&[1, 2], &[0], &double)), Length);
    assert_eq!(error(Datatype::hindexed(&[1], &[0, 8], &double)), Length);
    let types = [double.clone()];
    assert_eq!(error(Datatype::structure(&[1, 1], &[0, 8], &types)), Length);
    assert_eq!(error(Datatype::subarray(&[4], &[1, 1], &[0], Order::C, &double)), Length);
    assert_eq!(error(Datatype::subarray(&[], &[], &[], Order::C, &double)), Argument);
    assert_eq!(error(Datatype::subarray(&[4], &[3], &[2], Order::C, &double)), Argument);
    assert_eq!(error(Datatype::subarray(&[4], &[0], &[0], Order::C, &double)), Argument);
    assert_eq!(error(Datatype::subarray(&[4], &[1], &[usize::MAX], Order::Fortran, &double)), Argument);
    let of = |global, distribution, processes| [Dimension { global, distribution, processes }];
    for (rank, dimension) in [
        (0, of(4, Distribution::None, 2)),
        (0, of(4, Distribution::Block(Some(1)), 2)),
        (0, of(4, Distribution::Cyclic(Some(0)), 2)),
        (0, of(0, Distribution::Cyclic(None), 2)),
        (0, of(4, Distribution::Cyclic(None), 0)),
        (2, of(4, Distribution::Cyclic(None), 2)),
    ] {
        assert_eq!(error(Datatype::darray(rank, &dimension, Order::C, &double)), Argument, "{dimension:?}");
    }
    assert_eq!(error(Datatype::darray(0, &[], Order::C, &double)), Argument);
}

#[test]
fn empty_types_have_no_bytes() {
    let double = double();
    let empty = [
        Datatype::contiguous(0, &double),
        Datatype::vector(0, 3, 4, &double),
        Datatype::vector(3, 0, 4, &double),
        Datatype::indexed(&[], &[], &double),
        Datatype::indexed(&[0, 0], &[3, 5], &double),
        Datatype::indexed_block(0, &[3, 5], &double),
        Datatype::structure(&[], &[], &[]),
        Datatype::contiguous(5, &Datatype::contiguous(0, &double).unwrap()),
    ];
    for datatype in empty {
        let datatype = datatype.unwrap();
        let bounds = datatype.bounds();
        assert_eq!((datatype.size(), bounds.extent, bounds.true_extent), (0, 0, 0));
        let plan = Plan::new(&datatype, 1000).unwrap();
        assert_eq!((plan.size(), plan.reach(), plan.contiguous()), (0, 0..0, Some(0)));
        plan.pack(Source::new(&[], 0), 0..0, Target::new(&mut [], 0)).unwrap();
        plan.unpack(Source::new(&[], 0), 0..0, Target::new(&mut [], 0)).unwrap();
        assert_eq!(plan.pack(Source::new(&[1], 0), 0..1, Target::new(&mut [0], 0)), Err(PackError::Range));
    }
    // No bytes, but bounds.
    let marked = Datatype::contiguous(0, &double).unwrap().resized(-4, 20).unwrap();
    assert_eq!((marked.size(), marked.bounds().lb, marked.bounds().extent), (0, -4, 20));
}

#[test]
fn memory_and_streams_that_are_too_short_are_refused_untouched() {
    let matrix = Datatype::vector(4, 2, 5, &double()).unwrap();
    let plan = Plan::new(&matrix, 1).unwrap();
    let memory = vec![7; plan.reach().len()];
    let mut packed = vec![9; plan.size()];
    let size = plan.size();
    let short = Source::new(&memory[1..], 0);
    assert_eq!(plan.pack(short, 0..size, Target::new(&mut packed, 0)), Err(PackError::Memory));
    assert_eq!(plan.pack(short, 0..1, Target::new(&mut packed, 0)), Err(PackError::Memory));
    let moved = Source::new(&memory, 8);
    assert_eq!(plan.pack(moved, 8..9, Target::new(&mut packed, 0)), Err(PackError::Memory));
    let source = Source::new(&memory, 0);
    assert_eq!(plan.pack(source, 0..size, Target::new(&mut packed[1..], 0)), Err(PackError::Range));
    assert_eq!(plan.pack(source, 0..size + 1, Target::new(&mut packed, 0)), Err(PackError::Range));
    assert_eq!(plan.pack(source, size + 1..size + 1, Target::new(&mut packed, 0)), Err(PackError::Range));
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = plan.pack(source, 2..1, Target::new(&mut packed, 0));
    assert_eq!(backwards, Err(PackError::Range));
    assert_eq!(plan.pack(source, 0..size, Target::new(&mut packed, size)), Err(PackError::Range));
    assert!(packed.iter().all(|byte| *byte == 9), "written by a call that failed");
    let mut other = memory.clone();
    let target = Target::new(&mut other[1..], 0);
    assert_eq!(plan.unpack(Source::new(&packed, 0), 0..size, target), Err(PackError::Memory));
    let target = Target::new(&mut other, 0);
    assert_eq!(plan.unpack(Source::new(&packed[1..], 0), 0..size, target), Err(PackError::Range));
    assert_eq!(memory, other, "written by a call that failed");
}

#[test]
fn overlapping_blocks_are_unpacked_in_order() {
    let byte = named(1, 1).unwrap();
    // Each block begins in the middle of the previous one.
    let overlapping = Datatype::hvector(50, 8, 4, &byte).unwrap();
    let across = Datatype::hvector(40, 1, 4, &Datatype::hvector(40, 8, 12, &byte).unwrap()).unwrap();
    let still = Datatype::hvector(9, 1, 0, &named(8, 8).unwrap()).unwrap();
    for datatype in [overlapping, across, still] {
        let plan = Plan::new(&datatype, 1).unwrap();
        let stream: Vec<u8> = (0..plan.size()).map(|i| (i * 31 + i / 256) as u8).collect();
        let mut at_once = vec![0; plan.reach().len()];
        unpack(&plan, &stream, 0..plan.size(), &mut at_once, 0);
        let mut by_byte = vec![0; plan.reach().len()];
        (0..plan.size()).for_each(|i| unpack(&plan, &stream[i..=i], i..i + 1, &mut by_byte, 0));
        assert!(at_once == by_byte);
        assert_eq!(pack(&plan, &at_once, 0, 0..plan.size()).len(), plan.size());
    }
}

/// Parts are shared, so a short description takes little memory, no matter what it spans.
#[test]
fn types_of_astronomical_size_can_be_described_and_used_in_part() {
    let mut datatype = double();
    let halves = |part: &Datatype| {
        let parts = [part.clone(), part.dup()];
        Datatype::structure(&[1, 1], &[0, 0], &parts)
    };
    // Alternately a list and a loop, and a byte longer each time.
    let thirds = |part: &Datatype| Datatype::hindexed_block(1, &[0, 1, 0], part);
    while let Ok(next) = thirds(&datatype).and_then(|part| halves(&part)) {
        datatype = next;
    }
    assert!(datatype.size() > 1 << 58);
    let plan = Plan::new(&datatype, 1).unwrap();
    let memory: Vec<u8> = (0..plan.reach().len()).map(|i| i as u8).collect();
    assert!(memory.len() < 100);
    let middle = plan.size() / 2 - 40;
    let packed = pack(&plan, &memory, 0, middle..middle + 81);
    for (i, byte) in packed.iter().enumerate() {
        assert_eq!(pack(&plan, &memory, 0, middle + i..middle + i + 1), [*byte]);
    }
    assert_eq!(packed[40..48], memory[..8], "the second half begins at the front");
    let wide = Datatype::vector(1 << 50, 1, 1 << 9, &named(1, 1).unwrap()).unwrap();
    let plan = Plan::new(&wide, 1).unwrap();
    let mut packed = [0];
    let source = Source::new(&memory, 0);
    assert_eq!(plan.pack(source, 0..1, Target::new(&mut packed, 0)), Err(PackError::Memory));
}

/// Each level refers to the previous one three times; the output must not repeat it.
#[test]
fn debug_output_of_shared_parts_is_bounded() {
    let mut datatype = double();
    for _ in 0..9 {
        let list = Datatype::hindexed_block(1, &[0, 1 << 20, 8], &datatype).unwrap();
        datatype = Datatype::structure(&[1, 1, 1], &[0, 5, 3], &[list.clone(), double(), list]).unwrap();
    }
    let plan = Plan::new(&datatype, 2).unwrap();
    for text in [format!("{datatype:?}"), format!("{plan:?}"), format!("{datatype:#?}")] {
        assert!(text.len() < 4000, "{} bytes of text", text.len());
    }
    // The maximum depth of a type.
    let mut deep = double();
    while let Ok(next) = Datatype::hvector(2, 1, 1, &deep) {
        deep = next;
    }
    let text = format!("{deep:?}");
    assert!(text.len() < 10_000, "{} bytes of text", text.len());
}

#[test]
fn blocks_without_elements_reach_nowhere() {
    let double = double();
    let wide = double.resized(0, isize::MAX / 2).unwrap();
    let far = isize::MAX / 2;
    let empty = [
        Datatype::vector(2, 0, far, &double),
        Datatype::vector(0, usize::MAX, far, &double),
        Datatype::hvector(2, 0, isize::MIN, &double),
        Datatype::vector(5, 0, 3, &wide),
        Datatype::indexed(&[0], &[isize::MIN], &double),
        Datatype::hindexed(&[0], &[isize::MIN], &double),
        Datatype::indexed_block(0, &[far], &double),
        Datatype::hindexed_block(0, &[isize::MAX], &double),
        Datatype::structure(&[0], &[isize::MAX], std::slice::from_ref(&double)),
    ];
    for (i, datatype) in empty.into_iter().enumerate() {
        let datatype = datatype.unwrap_or_else(|error| panic!("constructor {i}: {error}"));
        assert_eq!((datatype.size(), datatype.bounds().extent), (0, 0), "constructor {i}");
    }
    // With one block there is no stride.
    let one = Datatype::vector(1, 3, far, &double).unwrap();
    assert_eq!((one.size(), one.bounds().extent), (24, 24));
    // An empty block does not count.
    let some = Datatype::indexed(&[0, 2, 0], &[isize::MIN, 3, far], &double).unwrap();
    let bounds = some.bounds();
    assert_eq!((some.size(), bounds.lb, bounds.extent), (16, 24, 16));
    // The second process begins past all indices.
    let block = Distribution::Block(Some(usize::MAX));
    let dimension = Dimension { global: 4, distribution: block, processes: 2 };
    let of = |rank| Datatype::darray(rank, &[dimension], Order::C, &double).unwrap();
    assert_eq!((of(0).size(), of(1).size()), (32, 0));
    assert_eq!((of(0).bounds().extent, of(1).bounds().extent), (32, 32));
}

/// MPI 3.1, section 4.1.2: an empty structure has an empty type map; section 4.1.6: its only bounds are 0.
#[test]
fn empty_structures_take_the_dialect_of_what_they_are_put_together_with() {
    for dialect in [Dialect::OpenMpi, Dialect::Mpich] {
        let nothing = Datatype::structure(&[], &[], &[]).unwrap();
        assert_eq!((nothing.size(), nothing.bounds().lb, nothing.bounds().extent), (0, 0, 0));
        let marked = nothing.resized(-4, 100).unwrap();
        let double = Datatype::named(dialect, 8, 8).unwrap();
        let of = |types: &[Datatype]| {
            let lens = vec![1; types.len()];
            let places: Vec<_> = (0..types.len() as isize).map(|i| 200 * i).collect();
            Datatype::structure(&lens, &places, types).unwrap().bounds()
        };
        // In both orders, and with an empty structure without its own bounds.
        for types in [[marked.clone(), double.clone()], [marked.dup(), of_none(&double)]] {
            let bounds = of(&types);
            let expected = match dialect {
                // Only bounds that were set count.
                Dialect::OpenMpi => (-4, 100),
                // All bounds count, and a structure is padded.
                Dialect::Mpich => (-4, 216),
            };
            assert_eq!((bounds.lb, bounds.extent), expected, "{dialect:?}");
        }
        // Only Open MPI pads lists of structures.
        let list = Datatype::hindexed(&[1, 1], &[0, 9], &of_none(&double)).unwrap();
        assert_eq!(list.bounds().extent, if dialect == Dialect::OpenMpi { 24 } else { 17 });
    }

    /// The same type after an empty one.
    fn of_none(old: &Datatype) -> Datatype {
        let nothing = Datatype::structure(&[], &[], &[]).unwrap();
        Datatype::structure(&[1, 1], &[0, 0], &[nothing, old.clone()]).unwrap()
    }
}

#[test]
fn dialects_are_not_mixed() {
    let one = named(8, 8).unwrap();
    let other = Datatype::named(Dialect::Mpich, 8, 8).unwrap();
    let mixed = |lens: [usize; 2], types: &[Datatype]| {
        Datatype::structure(&lens, &[0, 8], types).expect_err("two dialects")
    };
    assert_eq!(mixed([1, 1], &[one.clone(), other.clone()]), Error::Argument);
    assert_eq!(mixed([1, 1], &[other.clone(), one.clone()]), Error::Argument);
    // Whether or not there are elements of the type.
    assert_eq!(mixed([1, 0], &[one.clone(), other.clone()]), Error::Argument);
    let nothing = Datatype::structure(&[], &[], &[]).unwrap();
    let part = Datatype::structure(&[1, 1], &[0, 8], &[nothing, other.clone()]).unwrap();
    assert_eq!(mixed([1, 1], &[one.clone(), part]), Error::Argument);
    assert_eq!(mixed([1, 1], &[one.clone(), Datatype::contiguous(0, &other).unwrap()]), Error::Argument);
    assert_eq!(Datatype::pair(&one, &other).expect_err("two dialects"), Error::Argument);
}
