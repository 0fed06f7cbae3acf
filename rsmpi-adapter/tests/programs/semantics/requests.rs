//! Immediate messages, completed in any order by waiting, testing and dropping.

use crate::Job;
use crate::data::{bits, doubles};
use mpi::request::{StaticScope, scope};
use mpi::traits::*;
use mpress_rsmpi::{traits::*, wait_any};

const MESSAGES: usize = 6;
const LEN: usize = 20_000;

pub(crate) fn check(job: &Job) {
    in_any_order(job);
    dropped(job);
    by_wait_any(job);
    statically(job);
}

/// Every other message is noise, which does not become a frame.
fn message(rank: i32, at: usize) -> Vec<f64> {
    doubles(at.is_multiple_of(2), rank + 10 * at as i32, LEN)
}

fn in_any_order(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine: Vec<_> = (0..MESSAGES).map(|at| message(rank, at)).collect();
    let mut rooms = vec![vec![0.0_f64; LEN]; MESSAGES];
    scope(|scope| {
        let receives: Vec<_> = rooms
            .iter_mut()
            .map(|room| previous.immediate_compressed_receive_into(scope, &mut room[..]).unwrap())
            .collect();
        let sends: Vec<_> = mine
            .iter()
            .enumerate()
            .map(|(at, message)| match at % 2 {
                0 => next.immediate_compressed_send(scope, &message[..]).unwrap(),
                _ => next.immediate_compressed_synchronous_send(scope, &message[..]).unwrap(),
            })
            .collect();
        for (at, receive) in receives.into_iter().enumerate().rev() {
            let got = receive.wait_for_data().unwrap();
            assert_eq!(bits(got), bits(&message(previous.rank(), at)));
        }
        for mut send in sends {
            while let Err(request) = send.test().unwrap() {
                send = request;
            }
        }
    });
}

fn dropped(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine = message(rank, 0);
    let mut room = vec![0.0_f64; LEN];
    scope(|scope| {
        let receive = previous.immediate_compressed_receive_into(scope, &mut room[..]).unwrap();
        let send = next.immediate_compressed_send(scope, &mine[..]).unwrap();
        drop(receive);
        drop(send);
    });
    assert_eq!(bits(&room), bits(&message(previous.rank(), 0)));
}

fn by_wait_any(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine: Vec<_> = (0..MESSAGES).map(|at| message(rank, at)).collect();
    let mut rooms = vec![vec![0.0_f64; LEN]; MESSAGES];
    let mut tags = Vec::new();
    scope(|scope| {
        let mut receives = Vec::new();
        for (tag, room) in (0..).zip(&mut rooms) {
            receives.push(
                previous.immediate_compressed_receive_into_with_tag(scope, &mut room[..], tag).unwrap(),
            );
        }
        let sends: Vec<_> = (0..)
            .zip(&mine)
            .map(|(tag, message)| next.immediate_compressed_send_with_tag(scope, &message[..], tag).unwrap())
            .collect();
        while let Some((_, status)) = wait_any(&mut receives).unwrap() {
            tags.push(status.tag());
            assert_eq!(status.count(f64::equivalent_datatype()), LEN as i32);
        }
        sends.into_iter().for_each(|send| send.wait_without_status().unwrap());
    });
    tags.sort_unstable();
    assert_eq!(tags, (0..MESSAGES as i32).collect::<Vec<_>>());
    for (at, room) in rooms.iter().enumerate() {
        assert_eq!(bits(room), bits(&message(previous.rank(), at)));
    }
}

/// Static buffers need no scope, and their requests may be forgotten.
fn statically(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine = Vec::leak(message(rank, 0));
    let send = next.immediate_compressed_send(StaticScope, &*mine).unwrap();
    let (got, _) = previous.compressed_receive_vec::<f64>().unwrap();
    assert_eq!(bits(&got), bits(&message(previous.rank(), 0)));
    std::mem::forget(send);
}
