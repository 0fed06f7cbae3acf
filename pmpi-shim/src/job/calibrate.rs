//! Measures the network for `mpress calibrate`, which loads this library as a plugin, so that the command itself needs no MPI.
//!
//! It exports functions that are not MPI's: [`mpress_calibrate_2_begin`], [`mpress_calibrate_2_network`] and [`mpress_calibrate_2_end`], called in
//! this order by every rank. Their number changes with their arguments, so that those of command and shim agree. No calls are intercepted meanwhile.
//! Errors of the MPI end the job with the MPI's own message, by the default error handler.
//!
//! Ranks with nothing to send sleep while they wait: where there are more ranks than cores, a spinning rank takes time from the others.

use crate::job::handshake::{Agreement, handshake};
use crate::mpi::{channel::count, channel::test, inside, open, real, sys::*};
use mpress::network::survey::{LONGEST, Messages, Neighbours, survey};
use mpress::{Settings, network::by_node};
use std::{ptr, sync::OnceLock, time::Duration, time::Instant};

/// This rank's location. The command has the same struct in `cli/src/calibrate/plugin.rs`.
#[repr(C)]
struct Place {
    rank: c_int,
    ranks: c_int,
    nodes: c_int,
}

/// Callback for a figure of [`survey`]: what it is, the length of its messages, and its value. The first argument is the caller's context.
type Hear = unsafe extern "C" fn(*mut c_void, what: c_int, bytes: u64, value: f64);

/// This rank, and the node of each rank; set by `begin`.
static RANKS: OnceLock<(c_int, Vec<c_int>)> = OnceLock::new();

/// Initialises the MPI and finds the locations of the ranks.
///
/// # Safety
/// `place` must be writable. To be called once.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_calibrate_2_begin(place: *mut Place) -> c_int {
    let begin = || {
        // SAFETY: MPI allows null arguments.
        ok(unsafe { open::MPI_Init(ptr::null_mut(), ptr::null_mut()) })?;
        let (rank, ranks) = rank_and_size(COMM_WORLD)?;
        match handshake(COMM_WORLD, &Ok(Settings::default()), None, (rank, ranks), None)? {
            Agreement::Reached(_, of_ranks, _) => {
                let nodes = count(by_node(&of_ranks).len())?;
                RANKS.get_or_init(|| (rank, of_ranks));
                Ok(Place { rank, ranks, nodes })
            }
            Agreement::Doubtful(why) => {
                if rank == 0 {
                    say!("mpress: {why}");
                }
                Err(ERR_OTHER)
            }
        }
    };
    // The MPI's own calls of MPI functions must not start the shim.
    match inside(begin) {
        Ok(found) => {
            // SAFETY: guaranteed by the caller.
            unsafe { place.write(found) };
            SUCCESS
        }
        Err(code) => code,
    }
}

/// Measures the network, if there are several nodes. On rank 0, `hear` is called for each figure as soon as it is known.
///
/// # Safety
/// `hear` must be callable with `context`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mpress_calibrate_2_network(hear: Hear, context: *mut c_void) -> c_int {
    let Some((rank, nodes)) = RANKS.get() else { return ERR_OTHER };
    let mut messages = Bytes { out: vec![0x5a; LONGEST], into: vec![1; LONGEST], ranks: nodes.len() };
    let measured = survey(nodes, rank.unsigned_abs() as usize, &mut messages, |what, bytes, value| {
        if *rank == 0 {
            // SAFETY: guaranteed by the caller.
            unsafe { hear(context, what as c_int, bytes as u64, value) };
        }
    });
    measured.err().unwrap_or(SUCCESS)
}

/// Sleeps until all ranks have arrived, then finalizes the MPI. To be called once, last.
#[unsafe(no_mangle)]
extern "C" fn mpress_calibrate_2_end() -> c_int {
    let Some((_, nodes)) = RANKS.get() else { return ERR_OTHER };
    let all_here = share(0.0, nodes.len());
    // SAFETY: the last call of the MPI.
    all_here.and_then(|_| ok(unsafe { PMPI_Finalize() })).err().unwrap_or(SUCCESS)
}

/// Memory of the test messages, of at most [`LONGEST`] bytes.
struct Bytes {
    out: Vec<u8>,
    into: Vec<u8>,
    ranks: usize,
}

impl Messages for Bytes {
    type Error = c_int;

    fn send(&mut self, to: usize, len: usize) -> Result<(), c_int> {
        let out = self.out.get(..len).ok_or(ERR_INTERN)?;
        // SAFETY: a buffer of `len` bytes.
        ok(unsafe { real::MPI_Send(out.as_ptr().cast(), count(len)?, BYTE, count(to)?, 0, COMM_WORLD) })
    }

    fn receive(&mut self, from: usize, len: usize) -> Result<(), c_int> {
        let into = self.into.get_mut(..len).ok_or(ERR_INTERN)?.as_mut_ptr().cast();
        // SAFETY: a buffer of `len` bytes.
        ok(unsafe { real::MPI_Recv(into, count(len)?, BYTE, count(from)?, 0, COMM_WORLD, STATUS_IGNORE) })
    }

    /// Yields the processor meanwhile: the longer the exchange takes, the less often it is polled.
    fn exchange(&mut self, (to, from): Neighbours, len: usize) -> Result<(), c_int> {
        const NAP: Duration = Duration::from_micros(20);
        let of = |rank: Option<usize>| rank.map_or(Ok(PROC_NULL), count);
        let (to, from, mut requests, mut done) = (of(to)?, of(from)?, [REQUEST_NULL; 2], 0);
        let out = self.out.get(..len).ok_or(ERR_INTERN)?.as_ptr().cast();
        let into = self.into.get_mut(..len).ok_or(ERR_INTERN)?.as_mut_ptr().cast();
        let [receiving, sending] = &mut requests;
        let start = Instant::now();
        // SAFETY: buffers of `len` bytes that live until both requests are done.
        unsafe {
            ok(real::MPI_Irecv(into, count(len)?, BYTE, from, 1, COMM_WORLD, receiving))?;
            ok(real::MPI_Isend(out, count(len)?, BYTE, to, 1, COMM_WORLD, sending))?;
            loop {
                ok(real::MPI_Testall(2, requests.as_mut_ptr(), &raw mut done, STATUSES_IGNORE))?;
                if done != 0 {
                    return Ok(());
                }
                rest(start.elapsed() / 64, NAP, 5 * NAP);
            }
        }
    }

    fn share(&mut self, mine: f64) -> Result<Vec<f64>, c_int> {
        share(mine, self.ranks)
    }
}

/// An all-gather of one value per rank. The longer a rank waits, the longer it sleeps between polls.
fn share(mine: f64, ranks: usize) -> Result<Vec<f64>, c_int> {
    const SHORTEST: Duration = Duration::from_micros(50);
    const DEEPEST: Duration = Duration::from_millis(10);
    let (mut all, bytes, mut request) = (vec![0.0_f64; ranks], count(size_of::<f64>())?, REQUEST_NULL);
    let start = Instant::now();
    // SAFETY: a send buffer of one number and a receive buffer of one per rank; both live until the request is complete.
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
