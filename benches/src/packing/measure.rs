//! The measurement: all methods of a pattern in turn, several rounds. The median of a turn counts, and of the turns the best one: other work on
//! the machine only ever adds. All buffers begin at a page, and each turn has others. Short messages are packed several times for each time that
//! is taken, since the clock may step by a tenth of what one takes.

use super::loops::{self, Way};
use super::patterns::Pattern;
use crate::Result;
use mpress_codec::simd::Level;
use mpress_datatype::peer::Peer;
use mpress_datatype::{Dialect, Plan, Source, Target};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Turns that each method has.
const ROUNDS: usize = 7;
/// Bytes that a method packs in a turn, about, and how often at least and at most.
const TURN: usize = 64 << 20;
const TIMES: (usize, usize) = (3, 100);

/// Bytes that are packed for each time that is taken, at least about.
const TIMED: usize = 256 << 10;

/// Bytes from which on buffers are kept from turn to turn.
const LARGE: usize = 16 << 20;

/// What packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// This project.
    Mpress,
    /// An MPI, by its place in the list of them.
    Mpi(usize),
    /// A plain loop.
    Loop,
    /// As many bytes, neighbours in memory already.
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
/// If the pattern is none.
pub fn measure(pattern: &Pattern, way: Way, level: Level, peers: &mut [Peer]) -> Result<Vec<Line>> {
    let datatype = pattern.recipe.build(Dialect::OpenMpi)?;
    let plan = Plan::new(&datatype, 1)?.with_level(level);
    let (size, reach) = (plan.size(), plan.reach());
    // The loops count from the address that is given to the MPI.
    let origin = reach.start.min(0).unsigned_abs();
    let low = reach.start.min(0);
    let len = usize::try_from(reach.end - low)?;
    // How pages lie in caches is a matter of luck, so each turn has others; large buffers have every place anyway.
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
                // The first one warms up.
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

/// Finds out whether the loops and the datatype are the same, and whether what was packed is unpacked again.
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

/// Bytes that begin at a page.
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
