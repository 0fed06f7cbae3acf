//! Any description of a datatype is refused or gives a type. A type that fits is packed and unpacked with the same result at every tier, whole and
//! in pieces, and nothing outside its elements is written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpress_codec::simd::Simd;
use mpress_datatype::peer::{NAMED, Recipe, memory};
use mpress_datatype::{Dialect, Dimension, Distribution, Machine, Order, Plan, Source, Target};

/// Longer types are described but not packed.
const LONGEST: usize = 1 << 16;

/// Numbers from the input: mostly small, and some that soon overflow.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    fn place(&mut self) -> isize {
        const FAR: [isize; 8] = [
            isize::MAX,
            isize::MIN,
            isize::MAX / 2,
            isize::MIN / 2,
            1 << 31,
            -1 << 31,
            1 << 48,
            isize::MAX - 7,
        ];
        match self.byte() {
            byte @ 0..=199 => isize::from(byte) - 80,
            byte => FAR.get(usize::from(byte - 200)).copied().unwrap_or_else(|| isize::from(byte) * 37),
        }
    }

    fn count(&mut self) -> usize {
        const MANY: [usize; 6] = [usize::MAX, usize::MAX / 2, 1 << 31, 1 << 32, 1 << 60, 1 << 16];
        match self.byte() {
            byte @ 0..=249 => usize::from(byte % 32),
            byte => MANY[usize::from(byte - 250)],
        }
    }

    fn list<T>(&mut self, len: usize, mut next: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..len).map(|_| next(self)).collect()
    }

    fn recipe(&mut self, depth: usize) -> Recipe {
        if depth == 0 || self.0.is_empty() {
            return Recipe::Named(usize::from(self.byte()) % NAMED.len());
        }
        let kind = self.byte() % 13;
        let len = usize::from(self.byte() % 8);
        let order = if len.is_multiple_of(2) { Order::C } else { Order::Fortran };
        let old = |input: &mut Self| Box::new(input.recipe(depth - 1));
        match kind {
            0 => Recipe::Named(len),
            1 => Recipe::Dup(old(self)),
            2 => Recipe::Contiguous(self.count(), old(self)),
            3 => Recipe::Vector(self.count(), self.count(), self.place(), old(self)),
            4 => Recipe::Hvector(self.count(), self.count(), self.place(), old(self)),
            5 => Recipe::Indexed(self.list(len, Self::count), self.list(len, Self::place), old(self)),
            6 => Recipe::Hindexed(self.list(len, Self::count), self.list(len, Self::place), old(self)),
            7 => Recipe::IndexedBlock(self.count(), self.list(len, Self::place), old(self)),
            8 => Recipe::HindexedBlock(self.count(), self.list(len, Self::place), old(self)),
            9 => Recipe::Struct(
                self.list(len, Self::count),
                self.list(len, Self::place),
                self.list(len, |input| input.recipe(depth - 1)),
            ),
            10 => {
                let lists = [(); 3].map(|()| self.list(len, Self::count));
                let [sizes, subsizes, starts] = lists;
                Recipe::Subarray(sizes, subsizes, starts, order, old(self))
            }
            11 => {
                let dimension = |input: &mut Self| Dimension {
                    global: input.count(),
                    distribution: match input.byte() % 5 {
                        0 => Distribution::None,
                        1 => Distribution::Block(None),
                        2 => Distribution::Block(Some(input.count())),
                        3 => Distribution::Cyclic(None),
                        _ => Distribution::Cyclic(Some(input.count())),
                    },
                    processes: input.count(),
                };
                Recipe::Darray(self.count(), self.list(len, dimension), order, old(self))
            }
            _ => Recipe::Resized(self.place(), self.place(), old(self)),
        }
    }
}

/// A machine so small that every loop exhausts it.
fn tiny() -> Machine {
    let mut machine = Machine::DEFAULT;
    (machine.page, machine.tlb) = (64, 2);
    (machine.l1.bytes, machine.l2.bytes, machine.l3.bytes) = (256, 512, 1024);
    machine
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let (count, cut) = (input.count(), usize::from(input.byte()));
    let dialect = if cut.is_multiple_of(2) { Dialect::OpenMpi } else { Dialect::Mpich };
    let Ok(datatype) = input.recipe(6).build(dialect) else { return };
    let bounds = datatype.bounds();
    let Ok(plan) = Plan::new(&datatype, count) else { return };
    let (size, reach) = (plan.size(), plan.reach());
    let _ = (bounds, plan.class(), plan.reorders());
    assert!((1..=size.max(1)).contains(&plan.piece(1 << 18)));
    if size > LONGEST || reach.len() > LONGEST {
        return;
    }
    let old = memory(reach.len(), 1);
    let source = || {
        // SAFETY: this is the slice's memory.
        unsafe { Source::from_raw(old.as_ptr().wrapping_offset(reach.start.wrapping_neg()), reach.clone()) }
    };
    let cut = size * cut / 256;
    let mut first: Option<(Vec<u8>, Vec<u8>)> = None;
    for simd in Simd::available() {
        for plan in [plan.clone().with_simd(simd), plan.clone().with_simd(simd).with_machine(tiny())] {
            let (mut whole, mut pieces) = (vec![1; size], vec![2; size]);
            plan.pack(source(), 0..size, Target::new(&mut whole, 0)).expect("it fits");
            plan.pack(source(), 0..cut, Target::new(&mut pieces, 0)).expect("it fits");
            plan.pack(source(), cut..size, Target::new(&mut pieces[cut..], 0)).expect("it fits");
            assert!(whole == pieces, "packing in pieces differs");
            let mut unpacked = [(); 2].map(|()| vec![0; reach.len()]);
            let cuts: [&[usize]; 2] = [&[0, size], &[0, cut, size]];
            for (memory, cuts) in unpacked.iter_mut().zip(cuts) {
                for range in cuts.windows(2).map(|pair| pair[0]..pair[1]) {
                    let origin = memory.as_mut_ptr().wrapping_offset(reach.start.wrapping_neg());
                    // SAFETY: this is the slice's memory.
                    let target = unsafe { Target::from_raw(origin, reach.clone()) };
                    plan.unpack(Source::new(&whole[range.clone()], 0), range, target).expect("it fits");
                }
            }
            let [unpacked, in_pieces] = unpacked;
            assert!(unpacked == in_pieces, "unpacking in pieces differs");
            // Bytes that were not written are still 0; the others have their original values.
            assert!(
                unpacked.iter().zip(&old).all(|(new, old)| *new == 0 || new == old),
                "bytes in wrong places"
            );
            let result = (whole, unpacked);
            match &first {
                None => first = Some(result),
                Some(first) => assert!(*first == result, "tiers differ"),
            }
        }
    }
});
