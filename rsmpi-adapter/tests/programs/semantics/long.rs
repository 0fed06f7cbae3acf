//! Long messages, sent in chunks: blocking and immediate, to posted receives and unexpected.

use crate::Job;
use crate::data::{bits, doubles};
use mpi::Rank;
use mpi::request::scope;
use mpi::traits::*;
use mpress_rsmpi::{Error, compressed_send_receive_into, traits::*};

/// 8 MiB: sent in chunks unless another such message is pending.
const LEN: usize = 1 << 20;

/// Chunks, and the head of a stream, are at most this long; every frame of such a message is longer.
const CHUNK: usize = 128 << 10;

pub(crate) fn check(job: &Job) {
    unexpected(job);
    for smooth in [true, false] {
        posted(job, smooth);
        blocking(job, smooth);
    }
    waits_elsewhere(job);
    gathered(job);
    if job.framed {
        truncated(job);
        blocking(job, true);
    }
}

fn message(smooth: bool, rank: Rank) -> Vec<f64> {
    doubles(smooth, rank, LEN)
}

/// All ranks send before any rank receives, with a receive into a buffer and with one for any length.
fn unexpected(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (message(true, rank), message(true, previous.rank()));
    for by_vec in [false, true] {
        scope(|scope| {
            let send = next.immediate_compressed_send_with_tag(scope, &mine[..], 5).unwrap();
            job.plain.barrier();
            // rsmpi's own probe reports the length on the wire.
            let seen = previous.probe_with_tag(5).count(u8::equivalent_datatype()) as usize;
            assert!(
                !job.framed || job.world.size() == 1 || seen < CHUNK,
                "{seen} bytes are not the head of a stream"
            );
            let got = if by_vec {
                let (got, status) = job.world.any_process().compressed_receive_vec::<f64>().unwrap();
                assert_eq!((status.source_rank(), status.tag()), (previous.rank(), 5));
                got
            } else {
                let mut room = vec![0.0; LEN + 1];
                let status = previous.compressed_receive_into(&mut room[..]).unwrap();
                assert_eq!(status.count(f64::equivalent_datatype()), LEN as i32);
                room.truncate(LEN);
                room
            };
            assert_eq!(bits(&got), bits(&expected));
            send.wait().unwrap();
        });
    }
}

/// Each rank posts its receive before any message is sent; completed in several ways.
fn posted(job: &Job, smooth: bool) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (message(smooth, rank), message(smooth, previous.rank()));
    for way in 0..3 {
        let mut room = vec![0.0; LEN];
        scope(|scope| {
            let mut receive = previous.immediate_compressed_receive_into(scope, &mut room[..]).unwrap();
            job.plain.barrier();
            let mut send = match way {
                0 => next.immediate_compressed_synchronous_send(scope, &mine[..]).unwrap(),
                _ => next.immediate_compressed_send(scope, &mine[..]).unwrap(),
            };
            match way {
                0 => {
                    receive.wait_without_status().unwrap();
                    send.wait_without_status().unwrap();
                }
                1 => {
                    while let Err(same) = send.test().unwrap() {
                        send = same;
                        receive = match receive.test().unwrap() {
                            Ok(_) => return send.wait_without_status().unwrap(),
                            Err(same) => same,
                        };
                    }
                    drop(receive);
                }
                _ => {
                    drop(send);
                    drop(receive);
                }
            }
        });
        assert_eq!(bits(&room), bits(&expected), "way {way}");
    }
}

/// In both directions at the same time, and in sequence.
fn blocking(job: &Job, smooth: bool) {
    let (rank, next, previous) = job.ring();
    let (after, before) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (message(smooth, rank), message(smooth, previous));
    let mut room = vec![0.0; LEN];
    compressed_send_receive_into(&mine[..], &after, &mut room[..], &before).unwrap();
    assert_eq!(bits(&room), bits(&expected));
    for sender in 0..job.world.size() {
        if job.world.size() > 1 && rank == sender {
            after.compressed_send(&mine[..]).unwrap();
        } else if job.world.size() > 1 && previous == sender {
            room.fill(0.0);
            before.compressed_receive_into(&mut room[..]).unwrap();
            assert_eq!(bits(&room), bits(&expected));
        }
    }
}

/// A rank waits in rsmpi's own calls, which the adapter does not see, while its message is to be received.
fn waits_elsewhere(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (message(true, rank), message(true, previous.rank()));
    scope(|scope| {
        let send = (rank == 0).then(|| next.immediate_compressed_send(scope, &mine[..]).unwrap());
        if previous.rank() == 0 {
            let (got, _) = previous.compressed_receive_vec::<f64>().unwrap();
            assert_eq!(bits(&got), bits(&expected));
        }
        job.plain.barrier();
        send.map(|send| send.wait().unwrap());
    });
}

/// Blocks that are sent in chunks, in blocking and in immediate operations.
fn gathered(job: &Job) {
    const EACH: usize = 1 << 18;
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let root = job.world.process_at_rank(0);
    for smooth in [true, false] {
        let mine = doubles(smooth, rank, EACH);
        let all: Vec<f64> = (0..size).flat_map(|rank| doubles(smooth, rank as Rank, EACH)).collect();
        let (mut blocking, mut immediate) = (vec![0.0; all.len()], vec![0.0; all.len()]);
        job.world.compressed_all_gather_into(&mine[..], &mut blocking[..]).unwrap();
        scope(|scope| {
            let gather = job.world.immediate_compressed_all_gather_into(scope, &mine[..], &mut immediate[..]);
            gather.unwrap().wait().unwrap();
        });
        assert_eq!((bits(&blocking), bits(&immediate)), (bits(&all), bits(&all)));
        // Each rank sends its block to every rank.
        let turned: Vec<f64> = (0..size).flat_map(|_| mine.iter().copied()).collect();
        job.world.compressed_all_to_all_into(&turned[..], &mut blocking[..]).unwrap();
        assert_eq!(bits(&blocking), bits(&all));
        let mut room = if rank == 0 { all.clone() } else { vec![0.0; all.len()] };
        root.compressed_broadcast_into(&mut room[..]).unwrap();
        assert_eq!(bits(&room), bits(&all));
        let mut back = vec![0.0; EACH];
        if rank == 0 {
            root.compressed_scatter_into_root(&all[..], &mut back[..]).unwrap();
        } else {
            root.compressed_scatter_into(&mut back[..]).unwrap();
        }
        assert_eq!(bits(&back), bits(&mine));
    }
}

/// The head of the message fits the buffer, but the message does not.
fn truncated(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine = message(true, rank);
    let error = Error::Truncated { message: 8 * LEN, room: 8 * (LEN - 1) };
    if job.world.size() > 1 {
        for is_posted in [false, true] {
            let mut room = vec![0.0_f64; LEN - 1];
            scope(|scope| {
                let receive = is_posted
                    .then(|| previous.immediate_compressed_receive_into(scope, &mut room[..]).unwrap());
                job.plain.barrier();
                let send = next.immediate_compressed_send(scope, &mine[..]).unwrap();
                let outcome = match receive {
                    Some(receive) => receive.wait(),
                    None => previous.compressed_receive_into(&mut vec![0.0_f64; LEN - 1][..]),
                };
                assert_eq!(outcome.err(), Some(error.clone()));
                send.wait().unwrap();
            });
        }
    }
}
