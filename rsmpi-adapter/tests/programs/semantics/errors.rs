//! Errors are returned, and do not affect the next message.

use crate::Job;
use crate::data::{bytes, doubles};
use mpi::traits::*;
use mpress_rsmpi::{
    CompressedCommunicator, Error, Settings, Strategy, Streams, compressed_send_receive_into, traits::*,
};

pub(crate) fn check(job: &Job) {
    misuse(job);
    disagreement(job);
    wrong_settings(job);
    elements(job);
    if job.framed {
        truncated(job);
        short_broadcast(job);
        damaged(job);
    }
}

fn misuse(job: &Job) {
    let x = [0.0_f64; 1000];
    let (rank, size) = (job.world.rank(), job.world.size());
    assert_eq!(job.plain.this_process().compressed_send(&x[..]), Err(Error::NotCompressed));
    assert!(matches!(
        job.world.duplicate().any_process().compressed_receive_vec::<f64>(),
        Err(Error::NotCompressed)
    ));
    // If the send is impossible, no receive remains pending.
    let (from, to) = (job.world.this_process(), job.plain.this_process());
    let outcome = compressed_send_receive_into(&x[..], &to, &mut [0.0_f64; 1000][..], &from);
    assert_eq!(outcome.err(), Some(Error::NotCompressed));
    let me = job.world.this_process();
    assert_eq!(me.compressed_gather_into(&x[..]), Err(Error::Root { rank, root: rank }));
    let root = (rank + 1) % size;
    if root != rank {
        let other = job.world.process_at_rank(root);
        let outcome = other.compressed_scatter_into_root(&x[..], &mut [0.0_f64; 1000][..]);
        assert_eq!(outcome, Err(Error::Root { rank, root }));
    }
    let none: [mpi::Count; 0] = [];
    let parts = mpi::datatype::Partition::new(&x[..], &none[..], &none[..]);
    let outcome = me.compressed_scatter_varcount_into_root(&parts, &mut [0.0_f64; 1][..]);
    assert_eq!(outcome, Err(Error::Parts { parts: 0, ranks: size as usize }));
}

/// Settings that differ are an error on all ranks.
fn disagreement(job: &Job) {
    let threads = 1 + usize::from(job.world.rank() == 0);
    let outcome = CompressedCommunicator::new(&job.plain, &Settings { threads, ..Settings::default() });
    let is_said = matches!(&outcome, Err(Error::Disagreement(why)) if why.contains("different settings"));
    assert!(is_said || job.world.size() == 1);
    let guided = Settings { strategy: Strategy::Guided, ..Settings::default() };
    assert!(matches!(CompressedCommunicator::new(&job.plain, &guided), Err(Error::Settings(_))));
    let off = Settings { strategy: Strategy::Off, ..Settings::default() };
    let off = CompressedCommunicator::new(&job.plain, &off).unwrap();
    assert!((0..off.size()).all(|rank| !off.compresses_with(rank)));
}

/// Values set by the program are checked like those of variables.
fn wrong_settings(job: &Job) {
    for wrong in [
        Settings { threads: 0, ..Settings::default() },
        Settings { threshold: 8, ..Settings::default() },
        Settings { streams: Streams::From(8), ..Settings::default() },
    ] {
        assert!(matches!(CompressedCommunicator::new(&job.plain, &wrong), Err(Error::Settings(_))));
    }
}

/// Bytes that are not a whole number of doubles; the message is received anyway.
fn elements(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    for smooth in [true, false] {
        let (mine, short) = (bytes(smooth, rank, 8001), [rank]);
        mpi::request::scope(|scope| {
            let first = next.immediate_compressed_send(scope, &mine[..]).unwrap();
            let second = next.immediate_compressed_send(scope, &short[..]).unwrap();
            let outcome = previous.compressed_receive_vec::<f64>();
            assert_eq!(outcome.err(), Some(Error::Elements { message: 8001, element: 8 }));
            assert_eq!(previous.compressed_receive_vec::<i32>().unwrap().0, [previous.rank()]);
            first.wait().unwrap();
            second.wait().unwrap();
        });
    }
}

/// The frame fits the buffer, but its message does not.
fn truncated(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine = vec![f64::from(rank); 10_000];
    mpi::request::scope(|scope| {
        let send = next.immediate_compressed_send(scope, &mine[..]).unwrap();
        let outcome = previous.compressed_receive_into(&mut vec![0.0_f64; 9_999][..]);
        assert_eq!(outcome.err(), Some(Error::Truncated { message: 80_000, room: 79_992 }));
        send.wait().unwrap();
    });
}

/// A broadcast in compressed chunks is longer than the buffers of the ranks that are not its root.
fn short_broadcast(job: &Job) {
    let root = job.world.process_at_rank(0);
    let len = 100_000;
    let mut x = doubles(true, 0, len);
    x.truncate(len - usize::from(job.world.rank() > 0));
    let outcome = root.compressed_broadcast_into(&mut x[..]);
    match job.world.rank() {
        0 => assert_eq!(outcome, Ok(())),
        _ => assert_eq!(outcome, Err(Error::Truncated { message: len * 8, room: len * 8 - 8 })),
    }
}

/// A frame is altered in transit: plain rsmpi receives it and sends it on.
fn damaged(job: &Job) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let mine = doubles(true, rank, 2000);
    let mut frame = Vec::new();
    mpi::request::scope(|scope| {
        let send = next.immediate_compressed_send(scope, &mine[..]).unwrap();
        frame = previous.receive_vec::<u8>().0;
        send.wait().unwrap();
    });
    assert!(frame.len() < 16_000);
    for at in [0, 9, 12, 17, 24, 31, 32, frame.len() / 2, frame.len() - 1] {
        let mut wrong = frame.clone();
        wrong[at] ^= 1;
        for by_vec in [false, true] {
            mpi::request::scope(|scope| {
                let send = next.immediate_send(scope, &wrong[..]);
                let mut room = vec![0.0_f64; 2000];
                let outcome = match by_vec {
                    true => previous.compressed_receive_vec::<f64>().map(|_| ()),
                    false => previous.compressed_receive_into(&mut room[..]).map(|_| ()),
                };
                assert!(matches!(outcome, Err(Error::Frame(_))), "byte {at}: {outcome:?}");
                // The content of the buffer must not look like a frame.
                assert!(by_vec || room[..4].iter().all(|&x| x == 0.0));
                send.wait();
            });
        }
    }
    // The unaltered frame, sent back, decodes to the original message.
    mpi::request::scope(|scope| {
        let send = previous.immediate_send(scope, &frame[..]);
        let (back, _) = next.compressed_receive_vec::<f64>().unwrap();
        assert_eq!(back, mine);
        send.wait();
    });
}
