//! The sizes of this machine's memory hierarchy (pages, TLB, caches), which determine the order in which datatypes are packed.
//!
//! Source: *Improving the Performance of MPI Derived Datatypes by Optimizing Memory-Access Cost* (Byna, Gropp, Sun, Thakur, 2003), section 5.3: the
//! page size is the system's; T_p is found by the microbenchmark of Saavedra et al. (`walk`). The caches are found in the same way. If a curve has no
//! clear step, the processor's own tables are used.

mod step;
mod walk;

use mpress::knowledge::Memory;
use mpress_datatype::Machine;
use nix::sys::prctl;
use nix::unistd::{SysconfVar, sysconf};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use step::{Sample, step};
use walk::Walk;

/// The maximum number of rounds of either measurement.
pub(super) const ROUNDS: usize = 7;
/// After this time, no round of pages or of caches begins that would not end in time, except the first.
const PAGES_TIME: Duration = Duration::from_millis(400);
const CACHES_TIME: Duration = Duration::from_millis(2000);

/// The maximum memory of a walk in bytes. Walks over pages touch only one line of each page.
const MOST: usize = 192 << 20;

/// The maximum number of lines of a walk that is relinked for each size.
const SHORT: usize = 1 << 15;

/// The numbers of pages in walks. First-level data TLBs have 16 to 256 entries, second-level ones 512 and more.
const PAGES: RangeInclusive<usize> = 8..=384;
/// The distance in pages from one access to the next. Some processors keep up to eight neighbouring pages in one entry, which does not help with
/// columns of matrices. An odd number reaches all sets of a TLB.
const APART: usize = 9;

/// Measures. `own` is the data from this processor's tables. Calls `begin` for each round.
pub(super) fn measure(own: &Machine, mut begin: impl FnMut()) -> Memory {
    let page = page();
    // Messages are in pages of the usual size: few programs have huge pages, and only for part of their memory.
    let small = SmallPages::only();
    let (line, page_bytes) = (own.line.max(16), page.unwrap_or(own.page));
    let random = &mut SmallRng::seed_from_u64(17);
    let curve = if small.is_some() { pages(page_bytes, line, random, &mut begin) } else { Vec::new() };
    let caches = caches(own, page_bytes, line, random, &mut begin);
    Memory { page_bytes: page, ..figures(&curve, &caches, own) }
}

/// The results from the curves: time by number of pages, and by bytes.
fn figures(pages: &[Sample], caches: &[Sample], own: &Machine) -> Memory {
    let [l1, l2, l3] = windows(own);
    Memory {
        page_bytes: None,
        tlb_entries: step(pages, &PAGES),
        l1_bytes: step(caches, &l1),
        l2_bytes: step(caches, &l2),
        l3_bytes: step(caches, &l3),
    }
}

/// The sizes at which a step belongs to the first, second and last cache: those nearer, as ratios, to the size in the processor's tables than to the
/// sizes of the neighbouring caches.
fn windows(own: &Machine) -> [RangeInclusive<usize>; 3] {
    let between = |one: usize, other: usize| (one as f64 * other as f64).sqrt() as usize;
    let (to_l2, to_l3) = (between(own.l1.bytes, own.l2.bytes), between(own.l2.bytes, own.l3.bytes));
    [own.l1.bytes / 4..=to_l2, to_l2..=to_l3, to_l3..=own.l3.bytes.saturating_mul(3).min(MOST)]
}

/// Numbers from the first to the last of a range, some per doubling.
fn sizes(range: &RangeInclusive<usize>, to_a_doubling: usize) -> Vec<usize> {
    let (first, last) = ((*range.start()).max(to_a_doubling), *range.end());
    let mut sizes: Vec<usize> = Vec::new();
    let mut octave = first.next_power_of_two() / 2;
    while octave <= last {
        sizes.extend((0..to_a_doubling).map(|part| octave + octave * part / to_a_doubling));
        octave *= 2;
    }
    sizes.retain(|size| (first..=last).contains(size));
    sizes
}

/// The place, in bytes, of an access in a walk over pages that touches one line of each. The lines use all sets of the first cache evenly.
fn spread(i: usize, page: usize, line: usize) -> usize {
    i * APART * page + i * line % page
}

/// The time of an access to lines in different pages, by the number of pages, minus the time for the same number of neighbouring lines.
fn pages(page: usize, line: usize, random: &mut SmallRng, begin: &mut impl FnMut()) -> Vec<Sample> {
    let mut counts = sizes(&PAGES, 8);
    counts.retain(|count| count * APART * page <= MOST);
    let ns = rounds(PAGES_TIME, || {
        begin();
        let mut least = f64::INFINITY;
        let added = counts.iter().map(|count| {
            let far = Walk::new(&[*count], page, |i| spread(i, page, line), random).time(*count);
            let near = Walk::new(&[*count], page, |i| i * line, random).time(*count);
            least = least.min(near);
            far - near + least
        });
        added.collect()
    });
    counts.into_iter().zip(ns).map(|(size, ns)| Sample { size, ns }).collect()
}

/// The time of an access by the bytes of all lines of a walk.
fn caches(
    own: &Machine,
    page: usize,
    line: usize,
    random: &mut SmallRng,
    begin: &mut impl FnMut(),
) -> Vec<Sample> {
    let [first, _, last] = windows(own);
    let sizes = sizes(&(*first.start()..=*last.end()), 4);
    let counts: Vec<_> = sizes.iter().map(|bytes| bytes / line).collect();
    let ns = rounds(CACHES_TIME, || {
        begin();
        let (short, long) = counts.split_at(counts.partition_point(|count| *count <= SHORT));
        let mut ns: Vec<_> =
            short.iter().map(|count| Walk::new(&[*count], page, |i| i * line, random).time(*count)).collect();
        // Linking a separate walk for each long size would take longer than all the walks.
        let mut walk = Walk::new(long, page, |i| i * line, random);
        ns.extend(long.iter().map(|count| walk.time(*count)));
        ns
    });
    sizes.into_iter().zip(ns).map(|(size, ns)| Sample { size, ns }).collect()
}

/// The minimum over several rounds, each of which gives the times of one curve: other work on the machine only adds time.
fn rounds(time: Duration, mut round: impl FnMut() -> Vec<f64>) -> Vec<f64> {
    let begin = Instant::now();
    let mut least = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let ns = round();
        if least.is_empty() {
            least.clone_from(&ns);
        }
        least.iter_mut().zip(ns).for_each(|(least, ns)| *least = ns.min(*least));
        if begin.elapsed() + start.elapsed() > time {
            break;
        }
    }
    least
}

/// The system's page size in bytes.
fn page() -> Option<usize> {
    let page = sysconf(SysconfVar::PAGE_SIZE).ok()??;
    usize::try_from(page).ok().filter(|page| page.is_power_of_two())
}

/// While this lives, newly touched memory is in pages of the usual size, not in transparent huge pages.
struct SmallPages {
    before: bool,
}

impl SmallPages {
    /// `None` if the system refuses.
    fn only() -> Option<Self> {
        let before = prctl::get_thp_disable().ok()?;
        prctl::set_thp_disable(true).ok()?;
        Some(Self { before })
    }
}

impl Drop for SmallPages {
    fn drop(&mut self) {
        // It was allowed before, so it is now.
        let _restored: nix::Result<()> = prctl::set_thp_disable(self.before);
    }
}

/// The sizes in one line: first the measured ones, then those from the processor's tables.
pub(super) fn line(memory: &Memory, own: &Machine) -> String {
    let size = |bytes: usize| match bytes {
        bytes if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    };
    let figures = [
        ("page", memory.page_bytes, size(memory.page_bytes.unwrap_or(own.page))),
        ("T_p", memory.tlb_entries, memory.tlb_entries.unwrap_or(own.tlb).to_string()),
        ("L1", memory.l1_bytes, size(memory.l1_bytes.unwrap_or(own.l1.bytes))),
        ("L2", memory.l2_bytes, size(memory.l2_bytes.unwrap_or(own.l2.bytes))),
        ("L3", memory.l3_bytes, size(memory.l3_bytes.unwrap_or(own.l3.bytes))),
    ];
    let list = |is_measured: bool| {
        let here = figures.iter().filter(|(_, found, _)| found.is_some() == is_measured);
        here.map(|(name, _, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    let (measured, left) = (list(true), list(false));
    let measured = if measured.is_empty() { "nothing clear" } else { &measured };
    match left.as_str() {
        "" => format!("memory: {measured}"),
        left => format!("memory: {measured}; no clear step, so as the processor says: {left}"),
    }
}

#[cfg(test)]
mod tests;
