//! Results of `MPI_Type_get_envelope` and `MPI_Type_get_contents`: for each constructor, and results that no MPI returns.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use mpress_datatype::{
    Abi, Contents, Datatype, Dialect, Dimension, Distribution, Error, Order, Plan, Source, Target,
};
use proptest::prelude::*;

fn double() -> Datatype {
    Datatype::named(Dialect::Mpich, 8, 8).unwrap()
}

const ABIS: [Abi; 3] = [Abi::OPEN_MPI, Abi::MPICH, Abi::STANDARD];

/// Builds a type from one double.
fn build(abi: &Abi, combiner: i32, integers: &[i32], addresses: &[isize]) -> Result<Datatype, Error> {
    Datatype::from_contents(abi, combiner, Contents { integers, addresses, datatypes: &[double()] })
}

/// The bytes that two elements pack, from memory in which all bytes differ.
fn packed(datatype: &Datatype) -> Vec<u8> {
    let plan = Plan::new(datatype, 2).unwrap();
    let (low, len) = (plan.reach().start.min(0).unsigned_abs(), plan.reach().end.unsigned_abs());
    let memory: Vec<u8> = (0..low + len).map(|i| (i * 37 + i / 256) as u8).collect();
    let mut packed = vec![0; plan.size()];
    plan.pack(Source::new(&memory, low), 0..plan.size(), Target::new(&mut packed, 0)).unwrap();
    packed
}

#[test]
fn each_constructor_is_built_from_its_contents() {
    let double = double();
    let [c, fortran] = [Order::C, Order::Fortran];
    let dimension = |global, distribution, processes| Dimension { global, distribution, processes };
    let dimensions = [
        dimension(9, Distribution::Block(None), 2),
        dimension(7, Distribution::Cyclic(Some(2)), 2),
        dimension(3, Distribution::None, 1),
        dimension(5, Distribution::Cyclic(None), 1),
    ];
    for abi in ABIS {
        let Abi { distribute_none: none, distribute_block: block, distribute_cyclic: cyclic, .. } = abi;
        let default = abi.distribute_dflt_darg;
        let darray =
            [4, 3, 4, 9, 7, 3, 5, block, cyclic, none, cyclic, default, 2, default, default, 2, 2, 1, 1];
        let darray: Vec<_> = darray.into_iter().chain([abi.order_fortran]).collect();
        let cases: [(i32, &[i32], &[isize], _); 11] = [
            (abi.combiner_dup, &[], &[], Ok(double.dup())),
            (abi.combiner_contiguous, &[5], &[], Datatype::contiguous(5, &double)),
            (abi.combiner_vector, &[4, 2, -3], &[], Datatype::vector(4, 2, -3, &double)),
            (abi.combiner_hvector, &[4, 2], &[-30], Datatype::hvector(4, 2, -30, &double)),
            (abi.combiner_indexed, &[2, 1, 3, 7, -1], &[], Datatype::indexed(&[1, 3], &[7, -1], &double)),
            (abi.combiner_hindexed, &[2, 1, 3], &[50, -8], Datatype::hindexed(&[1, 3], &[50, -8], &double)),
            (abi.combiner_indexed_block, &[2, 3, 9, 1], &[], Datatype::indexed_block(3, &[9, 1], &double)),
            (abi.combiner_hindexed_block, &[2, 3], &[9, 90], Datatype::hindexed_block(3, &[9, 90], &double)),
            (
                abi.combiner_subarray,
                &[2, 6, 7, 2, 3, 4, 1, abi.order_c],
                &[],
                Datatype::subarray(&[6, 7], &[2, 3], &[4, 1], c, &double),
            ),
            (abi.combiner_darray, &darray, &[], Datatype::darray(3, &dimensions, fortran, &double)),
            (abi.combiner_resized, &[], &[-8, 100], double.resized(-8, 100)),
        ];
        for (combiner, integers, addresses, expected) in cases {
            let (built, expected) = (build(&abi, combiner, integers, addresses).unwrap(), expected.unwrap());
            assert_eq!((built.size(), built.bounds()), (expected.size(), expected.bounds()), "{combiner}");
            assert!(packed(&built) == packed(&expected), "{combiner}");
            // An extra number, a missing one, an extra type or a missing one.
            let integers_more = [integers, &[1]].concat();
            assert_eq!(build(&abi, combiner, &integers_more, addresses).unwrap_err(), Error::Length);
            let addresses_more = [addresses, &[1]].concat();
            assert_eq!(build(&abi, combiner, integers, &addresses_more).unwrap_err(), Error::Length);
            if let [integers_less @ .., _] = integers {
                assert_eq!(build(&abi, combiner, integers_less, addresses).unwrap_err(), Error::Length);
            }
            for datatypes in [&[][..], &[double.clone(), double.clone()]] {
                let contents = Contents { integers, addresses, datatypes };
                let refused = Datatype::from_contents(&abi, combiner, contents);
                assert_eq!(refused.unwrap_err(), Error::Length, "{combiner}");
            }
        }
        let types = [double.clone(), Datatype::named(Dialect::Mpich, 1, 1).unwrap()];
        let of = |integers: &[i32], addresses: &[isize], datatypes: &[Datatype]| {
            Datatype::from_contents(&abi, abi.combiner_struct, Contents { integers, addresses, datatypes })
        };
        let expected = Datatype::structure(&[2, 1], &[8, 3], &types).unwrap();
        let built = of(&[2, 2, 1], &[8, 3], &types).unwrap();
        assert_eq!((built.size(), built.bounds()), (expected.size(), expected.bounds()));
        assert!(packed(&built) == packed(&expected));
        assert_eq!(of(&[2, 2, 1], &[8], &types).unwrap_err(), Error::Length);
        assert_eq!(of(&[2, 2, 1], &[8, 3], &types[1..]).unwrap_err(), Error::Length);
        assert_eq!(of(&[3, 2, 1], &[8, 3], &types).unwrap_err(), Error::Length);
        assert_eq!(of(&[], &[], &[]).unwrap_err(), Error::Length);
        assert_eq!(of(&[0], &[], &[]).unwrap().size(), 0);
    }
}

#[test]
fn what_no_mpi_answers_is_refused() {
    for abi in ABIS {
        for combiner in [abi.combiner_named, -1, 20, 113, 114, 115, i32::MAX, i32::MIN] {
            assert_eq!(build(&abi, combiner, &[1], &[]).unwrap_err(), Error::Combiner, "{combiner}");
            assert!(!abi.constructs(combiner), "{combiner}");
        }
        assert!(
            [abi.combiner_dup, abi.combiner_struct, abi.combiner_resized].map(|c| abi.constructs(c))
                == [true; 3]
        );
        let error = |combiner, integers: &[i32]| build(&abi, combiner, integers, &[]).unwrap_err();
        assert_eq!(error(abi.combiner_contiguous, &[-1]), Error::Argument);
        assert_eq!(error(abi.combiner_vector, &[2, -1, 3]), Error::Argument);
        assert_eq!(error(abi.combiner_indexed, &[-1]), Error::Argument);
        assert_eq!(error(abi.combiner_indexed, &[i32::MAX, 1, 1]), Error::Length);
        assert_eq!(error(abi.combiner_hindexed_block, &[i32::MAX, i32::MAX]), Error::Length);
        assert_eq!(error(abi.combiner_subarray, &[1, 4, 2, 1, 99]), Error::Argument);
        assert_eq!(error(abi.combiner_subarray, &[i32::MAX, 4, 2, 1, abi.order_c]), Error::Length);
        let darray = |size, distribution, argument, order| {
            error(abi.combiner_darray, &[size, 0, 1, 6, distribution, argument, 2, order])
        };
        assert_eq!(darray(2, abi.distribute_block, -7, abi.order_c), Error::Argument);
        assert_eq!(darray(2, 99, 3, abi.order_c), Error::Argument);
        assert_eq!(darray(2, abi.distribute_block, 3, 99), Error::Argument);
        assert_eq!(
            darray(3, abi.distribute_block, 3, abi.order_c),
            Error::Argument,
            "two processes, not three"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any result gives an error or a type for which a plan can be made.
    #[test]
    fn any_answers_are_an_error_or_a_type(
        abi in 0..3_usize,
        combiner in -1..120_i32,
        integers in proptest::collection::vec(prop_oneof![8 => -1..5_i32, 1 => 0..130_i32, 1 => any::<i32>()], 0..12),
        addresses in proptest::collection::vec(prop_oneof![5 => -20..200_isize, 1 => any::<isize>()], 0..5),
        datatypes in 0..3_usize,
    ) {
        let old = double();
        let datatypes: Vec<_> = [old.clone(), old.resized(-3, 20).unwrap()].into_iter().take(datatypes).collect();
        let contents = Contents { integers: &integers, addresses: &addresses, datatypes: &datatypes };
        if let Ok(datatype) = Datatype::from_contents(&ABIS[abi], combiner, contents)
            && let Ok(plan) = Plan::new(&datatype, 3)
        {
            prop_assert_eq!(Some(plan.size()), datatype.size().checked_mul(3));
            let mut packed = [0; 64];
            let end = plan.size().min(64);
            let _refused = plan.pack(Source::new(&[1; 300], 100), 0..end, Target::new(&mut packed, 0));
        }
    }
}

#[test]
fn contiguous_types_are_known_as_such() {
    let double = double();
    let is = |datatype: Result<Datatype, Error>| datatype.unwrap().is_contiguous();
    assert!(double.is_contiguous());
    assert!(is(Datatype::contiguous(7, &double)));
    assert!(is(Datatype::vector(3, 2, 2, &double)));
    assert!(is(Datatype::indexed(&[1, 2], &[4, 5], &double)), "it begins elsewhere, but has no gap");
    assert!(is(Datatype::structure(&[1, 1], &[0, 8], &[double.clone(), double.dup()])));
    assert!(is(Datatype::contiguous(0, &double)));
    assert!(is(double.resized(-8, 8)));
    assert!(!is(double.resized(0, 16)), "gaps between elements");
    assert!(!is(double.resized(0, 4)), "elements that overlap");
    assert!(!is(Datatype::vector(3, 1, 2, &double)));
    assert!(!is(Datatype::indexed(&[1, 1], &[1, 0], &double)), "in another order than in memory");
    assert!(!is(Datatype::subarray(&[4, 4], &[2, 2], &[0, 0], Order::C, &double)));
    // For any number of elements, as in plans.
    for count in [0, 1, 2, 1000] {
        let listed = Datatype::indexed(&[1, 2], &[4, 5], &double).unwrap();
        assert!(Plan::new(&listed, count).unwrap().contiguous().is_some());
    }
}
