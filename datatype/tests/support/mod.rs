//! The type map of a datatype as the standard defines it, byte by byte, and ways to run plans with checks.
#![allow(dead_code, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use mpress_codec::simd::Simd;
use mpress_datatype::peer::{NAMED, Recipe};
use mpress_datatype::{Bounds, Distribution, Machine, Order, Plan, Source, Target};
use std::ops::Range;

/// A type map (MPI 3.1, section 4.1), with the markers that `resized` sets.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// The bytes, in order.
    pub(crate) bytes: Vec<isize>,
    lb: isize,
    ub: isize,
    marked: bool,
    align: isize,
}

impl Model {
    const NONE: Self = Self { bytes: Vec::new(), lb: 0, ub: 0, marked: false, align: 1 };

    pub(crate) fn bounds(&self) -> Bounds {
        let (low, high) = (self.bytes.iter().min(), self.bytes.iter().max());
        let (true_lb, true_ub) = low.zip(high).map_or((0, 0), |(low, high)| (*low, high + 1));
        Bounds { lb: self.lb, extent: self.extent(), true_lb, true_extent: true_ub - true_lb }
    }

    fn extent(&self) -> isize {
        self.ub - self.lb
    }

    fn basic(size: usize, align: usize) -> Self {
        let (ub, align) = (size as isize, align as isize);
        Self { bytes: (0..ub).collect(), lb: 0, ub, marked: false, align }
    }

    /// Types at displacements, block by block. After each block the extent is rounded up to the alignment.
    fn placed(blocks: &[Vec<(isize, &Self)>]) -> Self {
        let mut all: Option<Self> = None;
        for block in blocks {
            for (at, part) in block {
                let (lb, ub) = (at + part.lb, at + part.ub);
                let placed = part.bytes.iter().map(|byte| at + byte);
                let Some(all) = &mut all else {
                    all = Some(Self { bytes: placed.collect(), lb, ub, ..**part });
                    continue;
                };
                all.bytes.extend(placed);
                all.align = all.align.max(part.align);
                match (all.marked, part.marked) {
                    (true, false) => {}
                    (false, true) => (all.lb, all.ub, all.marked) = (lb, ub, true),
                    _ => (all.lb, all.ub) = (all.lb.min(lb), all.ub.max(ub)),
                }
            }
            if let Some(all) = all.as_mut().filter(|all| !all.marked) {
                all.ub = all.lb + (all.extent() + all.align - 1) / all.align * all.align;
            }
        }
        all.unwrap_or(Self::NONE)
    }

    /// A block of elements at a displacement in bytes.
    fn block(&self, (len, at): (usize, isize)) -> Vec<(isize, &Self)> {
        (0..len as isize).map(|i| (at + i * self.extent(), self)).collect()
    }

    /// Blocks of elements at displacements in bytes.
    fn blocks(&self, blocks: impl IntoIterator<Item = (usize, isize)>) -> Self {
        Self::placed(&blocks.into_iter().map(|block| self.block(block)).collect::<Vec<_>>())
    }

    /// The same blocks as elements of one block, with one rounding at the end.
    fn vector(&self, blocks: impl IntoIterator<Item = (usize, isize)>) -> Self {
        Self::placed(&[blocks.into_iter().flat_map(|block| self.block(block)).collect()])
    }

    pub(crate) fn of(recipe: &Recipe) -> Self {
        let scaled = |old: &Self, places: &[isize]| -> Vec<isize> {
            places.iter().map(|place| place * old.extent()).collect()
        };
        let zip = |lens: &[usize], places: &[isize]| -> Vec<(usize, isize)> {
            lens.iter().copied().zip(places.iter().copied()).collect()
        };
        match recipe {
            Recipe::Named(name) => match NAMED[*name] {
                [(size, align)] => Self::basic(*size, *align),
                [one, two] => {
                    let (one, two) = (Self::basic(one.0, one.1), Self::basic(two.0, two.1));
                    let at = (one.ub + two.align - 1) / two.align * two.align;
                    Self::placed(&[vec![(0, &one)], vec![(at, &two)]])
                }
                _ => unreachable!(),
            },
            Recipe::Dup(old) => Self::of(old),
            Recipe::Contiguous(count, old) => Self::of(old).blocks([(*count, 0)]),
            Recipe::Vector(count, len, stride, old) => {
                let old = Self::of(old);
                old.vector((0..*count as isize).map(|i| (*len, i * stride * old.extent())))
            }
            Recipe::Hvector(count, len, stride, old) => {
                Self::of(old).vector((0..*count as isize).map(|i| (*len, i * stride)))
            }
            Recipe::Indexed(lens, places, old) => {
                let old = Self::of(old);
                old.blocks(zip(lens, &scaled(&old, places)))
            }
            Recipe::Hindexed(lens, places, old) => Self::of(old).blocks(zip(lens, places)),
            Recipe::IndexedBlock(len, places, old) => {
                let old = Self::of(old);
                old.blocks(scaled(&old, places).into_iter().map(|place| (*len, place)))
            }
            Recipe::HindexedBlock(len, places, old) => {
                Self::of(old).blocks(places.iter().map(|place| (*len, *place)))
            }
            Recipe::Struct(lens, places, types) => {
                let types: Vec<_> = types.iter().map(Self::of).collect();
                let blocks = types.iter().zip(zip(lens, places)).map(|(old, block)| old.block(block));
                Self::placed(&blocks.collect::<Vec<_>>())
            }
            Recipe::Subarray(sizes, subsizes, starts, order, old) => {
                let parts: Vec<Vec<usize>> =
                    starts.iter().zip(subsizes).map(|(start, len)| (*start..start + len).collect()).collect();
                Self::of(old).elements(sizes, &parts, *order)
            }
            Recipe::Darray(rank, dimensions, order, old) => {
                let mut rank = *rank;
                let mut parts: Vec<Vec<usize>> = vec![];
                for dimension in dimensions.iter().rev() {
                    let at = rank % dimension.processes;
                    rank /= dimension.processes;
                    let len = match dimension.distribution {
                        Distribution::None => dimension.global,
                        Distribution::Block(len) => {
                            len.unwrap_or(dimension.global.div_ceil(dimension.processes))
                        }
                        Distribution::Cyclic(len) => len.unwrap_or(1),
                    };
                    let of_rank = |i: &usize| i / len % dimension.processes == at;
                    parts.insert(0, (0..dimension.global).filter(of_rank).collect());
                }
                let sizes: Vec<_> = dimensions.iter().map(|dimension| dimension.global).collect();
                Self::of(old).elements(&sizes, &parts, *order)
            }
            Recipe::Resized(lb, extent, old) => {
                Self { lb: *lb, ub: lb + extent, marked: true, ..Self::of(old) }
            }
        }
    }

    /// The elements of an array with these indices.
    fn elements(&self, sizes: &[usize], parts: &[Vec<usize>], order: Order) -> Self {
        let (mut sizes, mut parts) = (sizes.to_vec(), parts.to_vec());
        if order == Order::C {
            sizes.reverse();
            parts.reverse();
        }
        let (mut places, mut step) = (vec![0], 1);
        for (size, indices) in sizes.iter().zip(&parts) {
            places = indices.iter().flat_map(|i| places.iter().map(move |place| place + i * step)).collect();
            step *= size;
        }
        let extent = self.extent();
        let parts = self.vector(places.into_iter().map(|place| (1, place as isize * extent)));
        Self { lb: 0, ub: step as isize * extent, marked: true, ..parts }
    }

    /// The bytes of `count` elements.
    pub(crate) fn repeated(&self, count: usize) -> Vec<isize> {
        let extent = self.extent();
        (0..count as isize).flat_map(|i| self.bytes.iter().map(move |byte| byte + i * extent)).collect()
    }
}

/// A machine so small that every loop exhausts its TLB and caches.
pub(crate) fn tiny() -> Machine {
    let mut machine = Machine::DEFAULT;
    (machine.page, machine.tlb) = (64, 2);
    (machine.l1.bytes, machine.l2.bytes, machine.l3.bytes) = (256, 512, 1024);
    machine
}

/// Packs a range of the stream from memory whose first byte is at `low`.
pub(crate) fn pack(plan: &Plan, memory: &[u8], low: isize, range: Range<usize>) -> Vec<u8> {
    let mut packed = vec![0xa5; range.len() + 1];
    let reach = low..low + memory.len() as isize;
    // SAFETY: this is the slice's memory, given by an address that may lie outside of it.
    #[allow(unsafe_code)]
    let source = unsafe { Source::from_raw(memory.as_ptr().wrapping_offset(-low), reach) };
    plan.pack(source, range, Target::new(&mut packed, 0)).expect("to pack");
    assert_eq!(packed.pop(), Some(0xa5), "a byte too many was packed");
    packed
}

/// Unpacks a range of the stream.
pub(crate) fn unpack(plan: &Plan, packed: &[u8], range: Range<usize>, memory: &mut [u8], low: isize) {
    let reach = low..low + memory.len() as isize;
    // SAFETY: this is the slice's memory.
    #[allow(unsafe_code)]
    let target = unsafe { Target::from_raw(memory.as_mut_ptr().wrapping_offset(-low), reach) };
    plan.unpack(Source::new(packed, 0), range, target).expect("to unpack");
}

/// A plan at every tier, for this machine and for a tiny one.
pub(crate) fn variants(plan: &Plan, simd: Simd) -> [Plan; 2] {
    let plan = plan.clone().with_simd(simd);
    [plan.clone().with_machine(tiny()), plan]
}
