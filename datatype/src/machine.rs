//! The machine properties that packing depends on: pages, the TLB, caches.

use core::fmt::{Display, Formatter, Result};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A data cache of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Size in bytes.
    pub bytes: usize,
    /// Associativity: the number of lines in a set.
    pub ways: usize,
}

/// The sizes that determine the order in which a type is copied.
///
/// They affect the speed only, never the result; any values are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// Page size in bytes: P_s of the paper.
    pub page: usize,
    /// Pages covered by the first-level data TLB: T_p of the paper.
    pub tlb: usize,
    /// Cache line size in bytes.
    pub line: usize,
    /// The first-level data cache.
    pub l1: Cache,
    /// The second-level cache.
    pub l2: Cache,
    /// The last-level cache, as far as one core can fill it.
    pub l3: Cache,
}

impl Machine {
    /// The values assumed if the processor does not report them: the smallest of server processors of the last ten years.
    pub const DEFAULT: Self = Self {
        page: 4096,
        tlb: 64,
        line: 64,
        l1: Cache { bytes: 32 << 10, ways: 8 },
        l2: Cache { bytes: 256 << 10, ways: 8 },
        l3: Cache { bytes: 8 << 20, ways: 16 },
    };

    /// The values that this processor reports (CPUID), and [`DEFAULT`](Self::DEFAULT) for those it does not. They are read once; later calls take a
    /// few loads.
    #[must_use]
    pub fn detect() -> Self {
        static FIELDS: [AtomicUsize; 9] = [const { AtomicUsize::new(0) }; 9];
        let fields = FIELDS.each_ref().map(|field| field.load(Ordering::Relaxed));
        // Concurrent callers find the same values, so a mix of their stores is consistent.
        if !fields.contains(&0) {
            return Self::of(fields);
        }
        let found = tables::read(Self::DEFAULT);
        for (field, value) in FIELDS.iter().zip(found.fields()) {
            field.store(value.max(1), Ordering::Relaxed);
        }
        found
    }

    fn fields(&self) -> [usize; 9] {
        let Self { page, tlb, line, l1, l2, l3 } = *self;
        [page, tlb, line, l1.bytes, l1.ways, l2.bytes, l2.ways, l3.bytes, l3.ways]
    }

    fn of([page, tlb, line, l1, l1_ways, l2, l2_ways, l3, l3_ways]: [usize; 9]) -> Self {
        let cache = |bytes, ways| Cache { bytes, ways };
        Self { page, tlb, line, l1: cache(l1, l1_ways), l2: cache(l2, l2_ways), l3: cache(l3, l3_ways) }
    }
}

/// All figures in one line; sizes in bytes.
impl Display for Machine {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { page, tlb, line, l1, l2, l3 } = self;
        write!(f, "page {page}, T_p {tlb}, line {line}")?;
        for (name, Cache { bytes, ways }) in [("L1", l1), ("L2", l2), ("L3", l3)] {
            write!(f, ", {name} {bytes} in {ways} ways")?;
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod tables {
    use super::{Cache, Machine};
    use core::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};

    /// Replaces values by those that the processor reports.
    pub(super) fn read(mut machine: Machine) -> Machine {
        let (standard, extended) = (__cpuid(0).eax, __cpuid(0x8000_0000).eax);
        // Intel's leaf and AMD's, in the same format.
        let caches =
            if extended >= 0x8000_001d && __cpuid(0x8000_001d).eax & 0x1f != 0 { 0x8000_001d } else { 4 };
        if caches != 4 || standard >= 4 {
            (0..8).map(|i| __cpuid_count(caches, i)).for_each(|leaf| cache(&mut machine, &leaf));
        }
        if standard >= 0x18 {
            let last = __cpuid_count(0x18, 0).eax.min(16);
            let entries = (0..=last).filter_map(|i| first_tlb(&__cpuid_count(0x18, i)));
            machine.tlb = entries.max().unwrap_or(machine.tlb);
        }
        if extended >= 0x8000_0005 {
            let entries = __cpuid(0x8000_0005).ebx >> 16 & 0xff;
            machine.tlb = if entries > 0 { entries as usize } else { machine.tlb };
        }
        machine
    }

    /// Reads a leaf that describes a cache: type and level in EAX, line, partitions and ways in EBX, sets in ECX.
    fn cache(machine: &mut Machine, leaf: &CpuidResult) {
        let field = |shift: u32, bits: u32| (leaf.ebx >> shift & ((1 << bits) - 1)) as usize + 1;
        let (line, partitions, ways) = (field(0, 12), field(12, 10), field(22, 10));
        let sets = leaf.ecx as usize + 1;
        // 1 is for data, 3 for data and code.
        if !matches!(leaf.eax & 0x1f, 1 | 3) {
            return;
        }
        let cache = Cache { bytes: line * partitions * ways * sets, ways };
        match leaf.eax >> 5 & 7 {
            1 => (machine.l1, machine.line) = (cache, line),
            2 => machine.l2 = cache,
            3 => machine.l3 = cache,
            _ => {}
        }
    }

    /// The number of entries, if the leaf describes a first-level data TLB for pages of 4 KiB.
    fn first_tlb(leaf: &CpuidResult) -> Option<usize> {
        let (kind, level) = (leaf.edx & 0x1f, leaf.edx >> 5 & 7);
        let ways = (leaf.ebx >> 16) as usize;
        (matches!(kind, 1 | 3 | 4) && level == 1 && leaf.ebx & 1 == 1).then_some(ways * leaf.ecx as usize)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod tables {
    pub(super) fn read(machine: super::Machine) -> super::Machine {
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_figures_are_in_one_line() {
        use alloc::string::ToString;
        let text =
            "page 4096, T_p 64, line 64, L1 32768 in 8 ways, L2 262144 in 8 ways, L3 8388608 in 16 ways";
        assert_eq!(Machine::DEFAULT.to_string(), text);
    }

    #[test]
    fn what_is_detected_is_plausible_and_stays() {
        let machine = Machine::detect();
        assert_eq!(Machine::detect(), machine);
        assert!(machine.page.is_power_of_two() && machine.line.is_power_of_two(), "{machine:?}");
        assert!((16..=4096).contains(&machine.tlb), "{machine:?}");
        for cache in [machine.l1, machine.l2, machine.l3] {
            assert!(cache.bytes >= 4096 && (1..=64).contains(&cache.ways), "{machine:?}");
        }
        assert!(machine.l1.bytes <= machine.l2.bytes, "{machine:?}");
    }
}
