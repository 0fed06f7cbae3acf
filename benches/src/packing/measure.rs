//! The measurement: all methods of a pattern in turn, in several rounds. The result is the median within a turn, and the best turn, because other
//! work on the machine can only add time. All buffers start at a page, and each turn uses different ones. Short messages are packed several times per
//! time measurement, because the resolution of the clock may be a tenth of the time for one.

use super::loops::{self, Way};
use super::patterns::Pattern;
use crate::Result;
use mpress_codec::simd::Simd;
use mpress_datatype::peer::Peer;
use mpress_datatype::{Dialect, Plan, Source, Target};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The number of turns per method.
const ROUNDS: usize = 7;
/// The approximate number of bytes that a method packs in a turn, and the minimum and maximum number of repetitions.
const TURN: usize = 64 << 20;
const TIMES: (usize, usize) = (3, 100);

/// The approximate minimum number of bytes packed per time measurement.
const TIMED: usize = 256 << 10;

/// From this number of bytes on, buffers are kept from turn to turn.
const LARGE: usize = 16 << 20;

/// A packing method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// This project.
    Mpress,
    /// An MPI, by its index in the list of MPIs.
    Mpi(usize),
    /// A plain loop.
    Loop,
    /// A copy of the same number of contiguous bytes.
    Memcpy,
}

/// A result.
#[derive(Clone, Debug)]
pub struct Line {
    /// The pattern's name.
    pub pattern: String,
    /// Packed bytes.
    pub bytes: usize,
    /// The method's name.
    pub method: String,
    /// 10^9 packed bytes per second.
    pub gbps: f64,
}

/// Measures all methods on one pattern.
///
/// # Errors
/// If the pattern is invalid.
pub fn measure(pattern: &Pattern, way: Way, simd: Simd, peers: &mut [Peer]) -> Result<Vec<Line>> {
    let datatype = pattern.recipe.build(Dialect::OpenMpi)?;
    let plan = Plan::new(&datatype, 1)?.with_simd(simd);
    let (size, reach) = (plan.size(), plan.reach());
    // The loops are relative to the address passed to the MPI.
    let origin = reach.start.min(0).unsigned_abs();
    let low = reach.start.min(0);
    let len = usize::try_from(reach.end - low)?;
    // The mapping of pages to caches is random, so each turn uses other pages; large buffers use all places anyway.
    let mut buffers = Vec::new();
    let repeats = (TIMED / size.max(1)).max(1);
    let times = (TURN / (size.max(1) * repeats)).clamp(TIMES.0, TIMES.1);

    let methods = [Method::Mpress, Method::Loop, Method::Memcpy];
    let methods: Vec<_> = methods.into_iter().chain((0..peers.len()).map(Method::Mpi)).collect();
    let mut all = vec![Duration::MAX; methods.len()];
    for _ in 0..ROUNDS {
        if buffers.is_empty() || len <= LARGE {
            let (mut memory, packed) = (Pages::new(len), Pages::new(size));
            let bytes = memory.bytes().iter_mut().enumerate();
            bytes.for_each(|(i, byte)| *byte = (i * 131 + i / 4099) as u8);
            check(pattern, &plan, memory.bytes(), origin)?;
            buffers.push((memory, packed));
        }
        let Some((memory, packed)) = buffers.last_mut() else { continue };
        let (memory, packed) = (memory.bytes(), packed.bytes());
        for (method, best) in methods.iter().zip(&mut all) {
            let mut turn = Vec::new();
            if let Method::Mpi(peer) = method {
                let results = peers[*peer].time(&pattern.recipe, 1, low..reach.end, times + 1, repeats);
                let results = results.iter().skip(1);
                turn.extend(results.map(|times| if way == Way::Pack { times.pack } else { times.unpack }));
            }
            for i in 0..=times {
                if let Method::Mpi(_) = method {
                    break;
                }
                let start = Instant::now();
                for _ in 0..repeats {
                    once(*method, way, pattern, &plan, memory, origin, packed)?;
                }
                let time = start.elapsed();
                // The first one is a warm-up.
                turn.extend((i > 0).then_some(time));
            }
            *best = median(turn).min(*best);
        }
    }
    let name = |method: &Method| match method {
        Method::Mpress => "mpress",
        Method::Mpi(peer) => peers[*peer].name(),
        Method::Loop => "loop",
        Method::Memcpy => "memcpy",
    };
    let line = |(method, time): (&Method, Duration)| Line {
        pattern: pattern.name.clone(),
        bytes: size,
        method: name(method).to_owned(),
        gbps: (size * repeats) as f64 / 1e9 / time.as_secs_f64(),
    };
    Ok(methods.iter().zip(all).map(line).collect())
}

fn once(
    method: Method,
    way: Way,
    pattern: &Pattern,
    plan: &Plan,
    memory: &mut [u8],
    origin: usize,
    packed: &mut [u8],
) -> Result<()> {
    let size = plan.size();
    match (method, way) {
        (Method::Mpress, Way::Pack) => {
            plan.pack(Source::new(memory, origin), 0..size, Target::new(packed, 0))?;
        }
        (Method::Mpress, Way::Unpack) => {
            plan.unpack(Source::new(packed, 0), 0..size, Target::new(memory, origin))?;
        }
        (Method::Memcpy, Way::Pack) => packed.copy_from_slice(&memory[..size]),
        (Method::Memcpy, Way::Unpack) => memory[..size].copy_from_slice(packed),
        (Method::Loop, _) => loops::run(&pattern.loops, way, memory, packed),
        (Method::Mpi(_), _) => {}
    }
    black_box((memory, packed));
    Ok(())
}

/// Checks that the loops match the datatype, and that unpacking reverses packing.
fn check(pattern: &Pattern, plan: &Plan, memory: &mut [u8], origin: usize) -> Result<()> {
    let (mut ours, mut theirs) = (vec![0; plan.size()], vec![1; plan.size()]);
    plan.pack(Source::new(memory, origin), 0..plan.size(), Target::new(&mut ours, 0))?;
    loops::run(&pattern.loops, Way::Pack, memory, &mut theirs);
    let mut back = vec![0; memory.len()];
    plan.unpack(Source::new(&ours, 0), 0..plan.size(), Target::new(&mut back, origin))?;
    let mut again = vec![0; plan.size()];
    plan.pack(Source::new(&back, origin), 0..plan.size(), Target::new(&mut again, 0))?;
    if ours != theirs || again != ours {
        return Err(format!("{}: the datatype and the loops are not the same", pattern.name).into());
    }
    Ok(())
}

/// Bytes that start at a page.
struct Pages(Vec<u8>, usize);

impl Pages {
    const PAGE: usize = 4096;

    fn new(len: usize) -> Self {
        Self(vec![1; len + Self::PAGE], len)
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = self.0.as_ptr().align_offset(Self::PAGE).min(Self::PAGE);
        &mut self.0[start..start + self.1]
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The geometric mean of some ratios.
#[must_use]
pub fn geometric_mean(ratios: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}
