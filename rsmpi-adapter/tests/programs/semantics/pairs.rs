//! Blocking messages around the ring.

use crate::Job;
use crate::data::{LENGTHS, bits, bytes, doubles};
use mpi::traits::*;
use mpress_rsmpi::{compressed_send_receive_into_with_tags, traits::*};

pub(crate) fn check(job: &Job) {
    for smooth in [true, false] {
        for (tag, len) in (100..).zip(LENGTHS) {
            around(job, smooth, len, tag);
            vectors(job, smooth, len, tag);
        }
        for len in 1018..1060 {
            odd_bytes(job, smooth, len);
        }
    }
    values(job);
    mixed(job);
    huge_room(job);
}

/// Receives into a longer buffer: the room after the message is unchanged, and the status describes the message.
fn around(job: &Job, smooth: bool, len: usize, tag: i32) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (doubles(smooth, rank, len), doubles(smooth, previous.rank(), len));
    let mut room = vec![-1.0_f64; len + 5];
    let status =
        compressed_send_receive_into_with_tags(&mine[..], &next, tag, &mut room[..], &previous, tag).unwrap();
    assert_eq!(bits(&room[..len]), bits(&expected));
    assert!(room[len..].iter().all(|&x| x == -1.0));
    assert_eq!((status.source_rank(), status.tag()), (previous.rank(), tag));
    assert_eq!(status.count(f64::equivalent_datatype()), len as i32);
    assert_eq!(status.count(u8::equivalent_datatype()), 8 * len as i32);
}

/// Receives without knowing length, source or tag; senders take turns, and every other one sends synchronously.
fn vectors(job: &Job, smooth: bool, len: usize, tag: i32) {
    let (rank, _, _) = job.ring();
    for sender in 1..job.world.size() {
        if rank == sender {
            let root = job.world.process_at_rank(0);
            let mine = doubles(smooth, rank, len);
            if sender % 2 == 0 {
                root.compressed_send_with_tag(&mine[..], tag).unwrap();
            } else {
                root.compressed_synchronous_send_with_tag(&mine[..], tag).unwrap();
            }
        } else if rank == 0 {
            // From any source.
            let (values, status) = job.world.any_process().compressed_receive_vec::<f64>().unwrap();
            assert_eq!(status.tag(), tag);
            assert_eq!(status.count(f64::equivalent_datatype()), len as i32);
            assert_eq!(bits(&values), bits(&doubles(smooth, status.source_rank(), len)));
        }
    }
    job.plain.barrier();
}

/// Bytes can have the length of a frame without being one.
fn odd_bytes(job: &Job, smooth: bool, len: usize) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (bytes(smooth, rank, len), bytes(smooth, previous.rank(), len));
    mpi::request::scope(|scope| {
        let send = next.immediate_compressed_send(scope, &mine[..]).unwrap();
        let (values, status) = previous.compressed_receive_vec::<u8>().unwrap();
        assert_eq!(values, expected);
        assert_eq!(status.count(u8::equivalent_datatype()), len as i32);
        send.wait().unwrap();
    });
    let mut room = vec![0_u8; len];
    compressed_send_receive_into_with_tags(&mine[..], &next, 0, &mut room[..], &previous, 0).unwrap();
    assert_eq!(room, expected);
}

/// Single values, by their type.
fn values(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    mpi::request::scope(|scope| {
        let x = Box::leak(Box::new(f64::from(rank) + 0.5));
        let send = next.immediate_compressed_send_with_tag(scope, x, 3).unwrap();
        let (y, status) = previous.compressed_receive::<f64>().unwrap();
        assert_eq!((y, status.tag()), (f64::from(previous.rank()) + 0.5, 3));
        send.wait().unwrap();
    });
}

/// Messages sent by rsmpi's own methods are received, too.
fn mixed(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let (mine, expected) = (doubles(true, rank, 3000), doubles(true, previous.rank(), 3000));
    mpi::request::scope(|scope| {
        let send = next.immediate_send(scope, &mine[..]);
        let (values, _) = previous.compressed_receive_vec::<f64>().unwrap();
        assert_eq!(values, expected);
        send.wait();
    });
}

/// A buffer of more bytes than an `int` can count; its pages are never touched.
fn huge_room(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mut room = vec![0.0_f64; 300_000_000];
    for smooth in [true, false] {
        let mine = doubles(smooth, rank, 5000);
        let status =
            compressed_send_receive_into_with_tags(&mine[..], &next, 0, &mut room[..], &previous, 0).unwrap();
        assert_eq!(status.count(f64::equivalent_datatype()), 5000);
        assert_eq!(
            bits(&room[..5001]),
            bits(&[&doubles(smooth, previous.rank(), 5000)[..], &[0.0]].concat())
        );
    }
}
