//! When to copy a loop nest in an order other than described, and in blocks of what size: sections 5.2 and 5.3 of *Improving the Performance of MPI
//! Derived Datatypes by Optimizing Memory-Access Cost* (Byna, Gropp, Sun, Thakur, 2003).

use crate::machine::{Cache, Machine};

/// The innermost loop: `n` blocks of `width` bytes, `stride` bytes apart. n, W and S of the paper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inner {
    pub(crate) width: usize,
    pub(crate) stride: usize,
    pub(crate) n: usize,
}

impl Inner {
    /// The number of pages that the loop touches: R_p.
    pub(crate) fn pages(&self, machine: &Machine) -> usize {
        let page = machine.page.max(1);
        match page.checked_div(self.stride) {
            // All iterations access the same block.
            None => self.width.div_ceil(page),
            Some(0) => self.n.saturating_mul(self.width.div_ceil(page)),
            Some(references) => self.n.div_ceil(references),
        }
    }

    /// Whether the loop evicts data that its next run could reuse: it touches more pages than the TLB holds (R_p >= T_p), or more lines than fit in
    /// the cache sets that this stride reaches. Strides that are powers of two reach few sets.
    pub(crate) fn exhausts(&self, machine: &Machine) -> bool {
        self.pages(machine) >= machine.tlb
            || !self.fits(machine, machine.l1)
            || !self.fits(machine, machine.l2)
    }

    fn fits(&self, machine: &Machine, cache: Cache) -> bool {
        let line = machine.line.max(1);
        let lines = self.n.saturating_mul(self.width.div_ceil(line));
        if self.stride < line {
            return self.n.saturating_mul(self.stride) <= cache.bytes;
        }
        let sets = (cache.bytes / line / cache.ways.max(1)).max(1);
        // A stride of 2^k lines reaches one set in 2^k.
        let step = (1_usize << (self.stride / line).trailing_zeros().min(31)).min(sets);
        let reached = if self.stride.is_multiple_of(line) { sets / step } else { sets };
        lines <= reached.saturating_mul(cache.ways)
    }
}

/// The number of loop iterations in a block, a multiple of 16. A block takes half of the TLB's pages, which leaves the other half for the buffer on
/// the other side.
pub(crate) fn block(machine: &Machine) -> usize {
    (machine.tlb / 2 / 16 * 16).clamp(16, 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The machine of the paper: a TLB of 64 entries for 16 KB pages, 32 KB of two-way L1, 4 MB of two-way L2.
    const ORIGIN_2000: Machine = Machine {
        page: 16 << 10,
        tlb: 64,
        line: 128,
        l1: Cache { bytes: 32 << 10, ways: 2 },
        l2: Cache { bytes: 4 << 20, ways: 2 },
        ..Machine::DEFAULT
    };

    fn column(n: usize) -> Inner {
        Inner { width: 8, stride: 8 * n, n }
    }

    #[test]
    fn pages_are_those_of_the_paper() {
        assert_eq!(column(256).pages(&ORIGIN_2000), 256 / 8);
        assert_eq!(column(512).pages(&ORIGIN_2000), 512 / 4);
        assert_eq!(column(2048).pages(&ORIGIN_2000), 2048);
        assert_eq!(column(8192).pages(&ORIGIN_2000), 8192);
        let rows = Inner { width: 40_000, stride: 100_000, n: 10 };
        assert_eq!(rows.pages(&ORIGIN_2000), 30);
        assert_eq!(Inner { width: 8, stride: 0, n: 10 }.pages(&ORIGIN_2000), 1);
    }

    #[test]
    fn small_matrices_stay_as_they_are_and_large_ones_do_not() {
        assert!(!Inner { width: 8, stride: 800, n: 100 }.exhausts(&ORIGIN_2000));
        for n in [1024, 2048, 4096, 8192] {
            assert!(column(n).exhausts(&ORIGIN_2000), "{n}");
        }
    }

    #[test]
    fn powers_of_two_exhaust_sets_before_pages() {
        let machine = Machine { tlb: 2048, ..Machine::DEFAULT };
        // 32 lines at a distance of 4 KiB map to one 8-way set of L1; with one line more between them, they spread over all sets.
        assert!(Inner { width: 8, stride: 4096, n: 32 }.exhausts(&machine));
        assert!(!Inner { width: 8, stride: 4096 + 64, n: 32 }.exhausts(&machine));
    }

    #[test]
    fn blocks_take_half_the_tlb() {
        assert_eq!(block(&ORIGIN_2000), 32);
        assert_eq!(block(&Machine { tlb: 3, ..ORIGIN_2000 }), 16);
        assert_eq!(block(&Machine { tlb: usize::MAX, ..ORIGIN_2000 }), 1024);
    }
}
