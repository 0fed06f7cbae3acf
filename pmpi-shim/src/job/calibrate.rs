//! Measures the network for `mpress calibrate`, which loads this library as a plugin, so that the command
//! itself needs no MPI.
//!
//! It exports functions that are not MPI's: [`mpress_calibrate_begin`], [`mpress_calibrate_network`] and
//! [`mpress_calibrate_end`], called in this order by every rank. No calls are intercepted meanwhile. Errors
//! of the MPI end the job with the MPI's own message, by the default error handler.
//!
//! Ranks with nothing to send sleep while they wait: where there are more ranks than cores, a spinning rank
//! takes time from the others.

use crate::job::handshake::{Agreement, handshake};
use crate::job::startup::make_world;
use crate::messages::world::World;
use crate::mpi::channel::{count, test};
use crate::mpi::sys::*;
use crate::mpi::{inside, open, real};
use mpress::{SameNode, Settings};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// This rank's location. The command has the same struct in `cli/src/calibrate/plugin.rs`.
#[repr(C)]
struct Place {
    rank: c_int,
    ranks: c_int,
    nodes: c_int,
    /// Valid from `begin` to `end`; opaque to the caller.
    world: *mut World,
}

/// A measurement. The command has the same struct.
#[repr(C)]
struct Measurement {
    /// [`ALONE`] or [`TOGETHER`].
    what: c_int,
    /// The length of the messages.
    bytes: u64,
    /// The value, in the unit of `what`.
    value: f64,
}

/// Microseconds that a message takes one way, while no other rank sends.
const ALONE: c_int = 0;
/// MB/s (10^6 bytes per second) received by a rank, while all ranks of the sending nodes send.
const TOGETHER: c_int = 1;

/// Callback for a measurement, with the caller's context.
type Hear = unsafe extern "C" fn(*mut c_void, *const Measurement);

/// The longest message measured; the others are shorter by powers of 4.
const LONGEST: usize = 4 << 20;
/// Seconds of ping-pong per message length, or one round trip if that takes longer.
const ALONE_TIME: f64 = 0.1;
/// Greatest number of round trips; more add nothing.
const ALONE_TIMES: f64 = 1001.0;
/// If a round trip takes longer than this many seconds, longer messages are left out.
const TOO_LONG: f64 = 1.0;
/// When all send, messages get longer until an exchange takes this many seconds; then a round has as many
/// exchanges as take `ROUND_TIME`.
const EXCHANGE_TIME: f64 = 0.02;
const ROUND_TIME: f64 = 0.3;
const ROUNDS: usize = 3;

/// Initialises the MPI and finds the locations of the ranks.
///
/// # Safety
/// `place` must be writable. To be called once.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_calibrate_begin(place: *mut Place) -> c_int {
    let begin = || {
        // SAFETY: MPI allows null arguments.
        ok(unsafe { open::MPI_Init(ptr::null_mut(), ptr::null_mut()) })?;
        let (rank, ranks) = rank_and_size(COMM_WORLD)?;
        let nodes = match handshake(COMM_WORLD, &Ok(Settings::default()), None, (rank, ranks), None)? {
            Agreement::Reached(_, nodes, _) => nodes,
            Agreement::Doubtful(why) => {
                if rank == 0 {
                    say!("mpress: {why}");
                }
                return Err(ERR_OTHER);
            }
        };
        // The number of the hosts is needed only to keep the link for later jobs.
        let world = make_world(COMM_WORLD, rank, nodes, 0, SameNode::Pass)?;
        let nodes = c_int::try_from(world.count()).map_err(|_| ERR_INTERN)?;
        Ok(Place { rank, ranks, nodes, world: Box::into_raw(Box::new(world)) })
    };
    // The MPI's own calls of MPI functions must not start the shim.
    match inside(begin) {
        // SAFETY: guaranteed by the caller.
        Ok(found) => unsafe { place.write(found) },
        Err(code) => return code,
    }
    SUCCESS
}

/// Measures the network, if there are several nodes. On rank 0, `hear` is called for each measurement as it
/// is made.
///
/// # Safety
/// `place` must be as `mpress_calibrate_begin` left it; `hear` must be callable with `context`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_calibrate_network(
    place: *const Place,
    hear: Hear,
    context: *mut c_void,
) -> c_int {
    // SAFETY: guaranteed by the caller; `begin` made the world, and only `end` frees it.
    let world = unsafe { &*(*place).world };
    let tell = |what, bytes: usize, value| {
        if world.rank == 0 {
            let measurement = Measurement { what, bytes: bytes as u64, value };
            // SAFETY: guaranteed by the caller.
            unsafe { hear(context, &raw const measurement) };
        }
    };
    let mut bench = Bench {
        rank: world.rank,
        ranks: world.nodes.len(),
        out: vec![0x5a; LONGEST],
        into: vec![1; LONGEST],
    };
    let nodes = world.by_node();
    let first = |node: usize| nodes.get(node).and_then(|ranks| ranks.first()).copied();
    let mut measure = || {
        if let Some(pair) = first(0).zip(first(1)) {
            bench.alone(pair, |bytes, us| tell(ALONE, bytes, us))?;
            let (bytes, mb_s) = bench.together(&steps(world, &nodes), &nodes)?;
            tell(TOGETHER, bytes, mb_s);
        }
        Ok(())
    };
    measure().err().unwrap_or(SUCCESS)
}

/// Sleeps until all ranks have arrived, then finalizes the MPI.
///
/// # Safety
/// `place` must be as `mpress_calibrate_begin` left it. To be called once, last.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_calibrate_end(place: *mut Place) -> c_int {
    // SAFETY: guaranteed by the caller; `begin` leaked the box.
    let world = unsafe { Box::from_raw((*place).world) };
    let all_here = share(0.0, world.nodes.len());
    // SAFETY: every rank finalizes the MPI here.
    all_here.and_then(|_| ok(unsafe { PMPI_Finalize() })).err().unwrap_or(SUCCESS)
}

/// The ranks that a rank sends to and receives from, or `MPI_PROC_NULL`.
type Neighbours = (c_int, c_int);

/// The steps in which all ranks of a node send, with each rank's neighbours.
///
/// Each rank sends to the rank that is N ranks after it, where N is the number of ranks on the largest node;
/// if all nodes have N, this is its counterpart on the next node. If one node has more ranks than all others
/// together, some of its ranks have no neighbour on another node. First every second node sends, then the
/// others: TCP shares the link with its own acknowledgements, so messages in both directions get little more
/// bandwidth in total than in one.
fn steps(world: &World, nodes: &[Vec<c_int>]) -> Vec<Neighbours> {
    let node = |rank: c_int| nodes.iter().position(|ranks| ranks.contains(&rank)).unwrap_or(0);
    let own = node(world.rank);
    let (ring, by) = (nodes.concat(), nodes.iter().map(Vec::len).max().unwrap_or(0));
    let at = ring.iter().position(|&rank| rank == world.rank).unwrap_or(0);
    let rank = |at: usize| ring.get(at % ring.len()).copied().unwrap_or(world.rank);
    let (to, from) = (rank(at + by), rank(at + ring.len() - by));
    let sends = |step: usize, node: usize| node % 2 == step;
    let flows = |step: usize, from: usize, to: usize| sends(step, from) && !sends(step, to);
    let step = |step| {
        let to = if flows(step, own, node(to)) { to } else { PROC_NULL };
        (to, if flows(step, node(from), own) { from } else { PROC_NULL })
    };
    (0..2).map(step).collect()
}

/// State for sending the test messages.
struct Bench {
    rank: c_int,
    ranks: usize,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Bench {
    /// One-way times in microseconds between two ranks, while the others sleep.
    fn alone(&mut self, (ping, pong): (c_int, c_int), tell: impl Fn(usize, f64)) -> Result<(), c_int> {
        for power in 0..=LONGEST.ilog2() / 2 {
            let len = 1 << (2 * power);
            // One round trip to wake the ranks and to connect.
            self.ping_pong(ping, pong, len)?;
            let mut seconds = self.ping_pong(ping, pong, len)?;
            let once = self.heard_from(ping, seconds)?;
            let times = (ALONE_TIME / once).clamp(0.0, ALONE_TIMES) as usize;
            if times > 1 {
                let mut all = Vec::with_capacity(times);
                for _ in 0..times {
                    all.push(self.ping_pong(ping, pong, len)?);
                }
                seconds = median(all);
            }
            tell(len, self.heard_from(ping, seconds)? * 0.5e6);
            if once > TOO_LONG {
                break;
            }
        }
        Ok(())
    }

    /// Seconds of a round trip; 0 on ranks that take no part.
    fn ping_pong(&mut self, ping: c_int, pong: c_int, len: usize) -> Result<f64, c_int> {
        let start = Instant::now();
        if self.rank == ping {
            self.send(pong, len)?;
            self.receive(pong, len)?;
        } else if self.rank == pong {
            self.receive(ping, len)?;
            self.send(ping, len)?;
        } else {
            return Ok(0.0);
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn send(&self, to: c_int, len: usize) -> Result<(), c_int> {
        let out = self.out.get(..len).ok_or(ERR_INTERN)?;
        // SAFETY: a buffer of `len` bytes.
        ok(unsafe { real::MPI_Send(out.as_ptr().cast(), count(len)?, BYTE, to, 0, COMM_WORLD) })
    }

    fn receive(&mut self, from: c_int, len: usize) -> Result<(), c_int> {
        let into = self.into.get_mut(..len).ok_or(ERR_INTERN)?;
        // SAFETY: a buffer of `len` bytes.
        ok(unsafe {
            real::MPI_Recv(into.as_mut_ptr().cast(), count(len)?, BYTE, from, 0, COMM_WORLD, STATUS_IGNORE)
        })
    }

    /// The bandwidth in MB/s at which a rank receives while all send, the median over nodes and steps, and
    /// the length of the messages.
    fn together(&mut self, steps: &[Neighbours], nodes: &[Vec<c_int>]) -> Result<(usize, f64), c_int> {
        // Short enough for a hundred ranks that share one slow link.
        let mut len = 64 << 10;
        let mut slowest = self.slowest_exchange(steps, len)?;
        while slowest < EXCHANGE_TIME && len < LONGEST {
            len *= 4;
            slowest = self.slowest_exchange(steps, len)?;
        }
        let times = (ROUND_TIME / slowest).clamp(1.0, 1e4) as usize;
        let mut all = Vec::new();
        for &step in steps {
            // Disturbances only make a round slower.
            let mut fastest = vec![f64::INFINITY; nodes.len()];
            for _ in 0..ROUNDS {
                self.meet()?;
                let start = Instant::now();
                for _ in 0..times {
                    self.exchange(step, len)?;
                }
                let receives = step.1 != PROC_NULL;
                let seconds = share(if receives { start.elapsed().as_secs_f64() } else { 0.0 }, self.ranks)?;
                // TCP shares a link unfairly among the ranks of a node: the last one to finish counts.
                for (fastest, ranks) in fastest.iter_mut().zip(nodes) {
                    let seconds = ranks.iter().filter_map(|&rank| seconds.get(usize::try_from(rank).ok()?));
                    *fastest = fastest.min(seconds.copied().fold(0.0, f64::max));
                }
            }
            // Nodes that received nothing have a time of 0.
            let receiving = fastest.into_iter().filter(|&seconds| seconds > 0.0);
            all.extend(receiving.map(|seconds| (len * times) as f64 / seconds * 1e-6));
        }
        Ok((len, median(all)))
    }

    /// Seconds of the slowest rank for one exchange; the same on all ranks.
    fn slowest_exchange(&mut self, steps: &[Neighbours], len: usize) -> Result<f64, c_int> {
        let mut slowest = 1e-9_f64;
        for &step in steps {
            // One exchange to connect.
            self.exchange(step, len)?;
            self.meet()?;
            let start = Instant::now();
            self.exchange(step, len)?;
            let all = share(start.elapsed().as_secs_f64(), self.ranks)?;
            slowest = all.into_iter().fold(slowest, f64::max);
        }
        Ok(slowest)
    }

    /// Sends a message to one neighbour and receives one from the other. Yields the processor meanwhile: the
    /// longer the exchange takes, the less often it is polled.
    fn exchange(&mut self, (to, from): Neighbours, len: usize) -> Result<(), c_int> {
        const NAP: Duration = Duration::from_micros(20);
        let (out, into) =
            (self.out.get(..len).ok_or(ERR_INTERN)?, self.into.get_mut(..len).ok_or(ERR_INTERN)?);
        let mut requests = [REQUEST_NULL; 2];
        let [receiving, sending] = &mut requests;
        let mut done = 0;
        let start = Instant::now();
        // SAFETY: buffers of `len` bytes that live until both requests are done.
        unsafe {
            ok(real::MPI_Irecv(into.as_mut_ptr().cast(), count(len)?, BYTE, from, 1, COMM_WORLD, receiving))?;
            ok(real::MPI_Isend(out.as_ptr().cast(), count(len)?, BYTE, to, 1, COMM_WORLD, sending))?;
            loop {
                ok(real::MPI_Testall(2, requests.as_mut_ptr(), &raw mut done, STATUSES_IGNORE))?;
                if done != 0 {
                    return Ok(());
                }
                rest(start.elapsed() / 64, NAP, 5 * NAP);
            }
        }
    }

    /// A value of `rank`, broadcast to all ranks.
    fn heard_from(&self, rank: c_int, mine: f64) -> Result<f64, c_int> {
        let all = share(mine, self.ranks)?;
        usize::try_from(rank).ok().and_then(|rank| all.get(rank)).copied().ok_or(ERR_INTERN)
    }

    /// Synchronises the ranks: the first exchange wakes them up.
    fn meet(&self) -> Result<(), c_int> {
        share(0.0, self.ranks)?;
        share(0.0, self.ranks).map(drop)
    }
}

/// An all-gather of one value per rank. The longer a rank waits, the longer it sleeps between polls.
fn share(mine: f64, ranks: usize) -> Result<Vec<f64>, c_int> {
    const SHORTEST: Duration = Duration::from_micros(50);
    const DEEPEST: Duration = Duration::from_millis(10);
    let mut all = vec![0.0_f64; ranks];
    let bytes = count(size_of::<f64>())?;
    let mut request = REQUEST_NULL;
    let start = Instant::now();
    // SAFETY: a send buffer of one number and a receive buffer of one per rank; both live until the request
    // is complete.
    unsafe {
        let (mine, all) = ((&raw const mine).cast(), all.as_mut_ptr().cast());
        ok(PMPI_Iallgather(mine, bytes, BYTE, all, bytes, BYTE, COMM_WORLD, &raw mut request))?;
    }
    loop {
        if let Some(done) = test(&mut request) {
            return done.map(|_| all);
        }
        rest(start.elapsed() / 16, SHORTEST, DEEPEST);
    }
}

/// Yields the processor: sleeps for `nap`, at most `most`, or yields once if that is less than `least`.
fn rest(nap: Duration, least: Duration, most: Duration) {
    if nap < least {
        std::thread::yield_now();
    } else {
        std::thread::sleep(nap.min(most));
    }
}

/// The median; 0 if there are no values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
