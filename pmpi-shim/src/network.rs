//! A quick measurement of the network, for jobs that have no heuristics file of it.
//!
//! Every rank exchanges messages with one on another node, all at the same time, so that what is measured is the bandwidth
//! that a rank gets while the others send too. It takes some milliseconds.

use crate::peers::World;
use crate::sys::*;
use mpress::selector::Link;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Messages from which the latency follows, and how many of them.
const SHORT: usize = 8;
const SHORT_ROUNDS: usize = 20;
/// Messages from which the bandwidth follows: the first, and up to how long they may get.
const LONG: usize = 64 << 10;
const LONGEST: usize = 1 << 20;
/// Once an exchange takes so long, there is no need for a longer one.
const ENOUGH: Duration = Duration::from_millis(1);
const LONG_ROUNDS: usize = 2;

/// Measures the network if any rank wants that; all must call this. `None` too where not every node has as many ranks: then
/// there is no partner for each.
pub(crate) fn measure(world: &World, wanted: bool) -> Result<Option<Link>, c_int> {
    let Some((to, from)) = partners(world) else { return Ok(None) };
    let (mine, mut sum) = (u64::from(wanted), 0_u64);
    // SAFETY: a number, and a place for the answer.
    unsafe {
        ok(PMPI_Allreduce((&raw const mine).cast(), (&raw mut sum).cast(), 1, UINT64, SUM, COMM_WORLD))?;
    }
    if sum == 0 {
        return Ok(None);
    }
    // SAFETY: a collective call over the world; a place for the new communicator.
    let comm = unsafe {
        let mut comm = COMM_NULL;
        ok(PMPI_Comm_dup(COMM_WORLD, &raw mut comm))?;
        comm
    };
    let mut exchange = Exchange { comm, to, from, out: vec![0x5a; LONGEST], into: vec![0; LONGEST] };
    let link = exchange.link();
    let mut comm = comm;
    // SAFETY: a communicator of ours that nothing uses any more.
    unsafe { ok(PMPI_Comm_free(&raw mut comm))? };
    link.map(Some)
}

/// Whom this rank sends to and receives from: the rank of the same place on the next node, and on the one before.
fn partners(world: &World) -> Option<(c_int, c_int)> {
    let nodes = world.by_node();
    let (first, count) = (nodes.first()?.len(), nodes.len());
    if count < 2 || nodes.iter().any(|ranks| ranks.len() != first) {
        return None;
    }
    let node = nodes.iter().position(|ranks| ranks.contains(&world.rank))?;
    let place = nodes[node].iter().position(|&rank| rank == world.rank)?;
    Some((nodes[(node + 1) % count][place], nodes[(node + count - 1) % count][place]))
}

struct Exchange {
    comm: MPI_Comm,
    to: c_int,
    from: c_int,
    out: Vec<u8>,
    into: Vec<u8>,
}

impl Exchange {
    fn link(&mut self) -> Result<Link, c_int> {
        // The first messages make the connections.
        self.rounds(SHORT, 2)?;
        let latency = self.rounds(SHORT, SHORT_ROUNDS)?;
        self.rounds(LONG, 1)?;
        let mut len = LONG;
        loop {
            let time = self.rounds(len, LONG_ROUNDS)?;
            let net = (time - latency).max(1e-9);
            if len == LONGEST || Duration::from_secs_f64(time) >= ENOUGH {
                return Ok(Link { latency_us: latency * 1e6, bandwidth_mb_s: len as f64 / net * 1e-6 });
            }
            len *= 4;
        }
    }

    /// Exchanges messages of this length so often; gives the seconds of one, averaged over all ranks: all come to the same
    /// number, and so to the same next step.
    fn rounds(&mut self, len: usize, rounds: usize) -> Result<f64, c_int> {
        let count = c_int::try_from(len).map_err(|_| ERR_INTERN)?;
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let start = Instant::now();
            // SAFETY: both buffers have `LONGEST` bytes, and `len` is not above that.
            unsafe {
                ok(PMPI_Sendrecv(
                    self.out.as_ptr().cast(),
                    count,
                    BYTE,
                    self.to,
                    0,
                    self.into.as_mut_ptr().cast(),
                    count,
                    BYTE,
                    self.from,
                    0,
                    self.comm,
                    STATUS_IGNORE,
                ))?;
            }
            times.push(start.elapsed());
        }
        times.sort();
        let mine = u64::try_from(times[rounds / 2].as_nanos()).unwrap_or(u64::MAX);
        let (mut sum, mut size) = (0_u64, 1);
        // SAFETY: a number each, and places for the answers.
        unsafe {
            ok(PMPI_Comm_size(self.comm, &raw mut size))?;
            ok(PMPI_Allreduce((&raw const mine).cast(), (&raw mut sum).cast(), 1, UINT64, SUM, self.comm))?;
        }
        Ok(sum as f64 * 1e-9 / f64::from(size))
    }
}
