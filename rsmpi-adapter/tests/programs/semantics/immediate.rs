//! Immediate collective operations, compared with plain rsmpi, completed in each of the possible ways.

use crate::Job;
use crate::collectives::{EACH, counts};
use crate::data::{bits, doubles};
use mpi::Count;
use mpi::datatype::{Partition, PartitionMut};
use mpi::request::{LocalScope, scope};
use mpi::traits::*;
use mpress_rsmpi::traits::*;
use mpress_rsmpi::{Request, wait_any};

pub(crate) fn check(job: &Job) {
    for smooth in [true, false] {
        for (way, each) in EACH.into_iter().enumerate() {
            for root in 0..job.world.size() {
                broadcast(job, smooth, each, root, way);
                rooted(job, smooth, each, root, way + 1);
                rooted_varcount(job, smooth, each, root, way + 2);
            }
            all(job, smooth, each, way);
            all_varcount(job, smooth, each, way);
        }
    }
    several(job);
    in_turn(job);
}

/// One of the ways to complete a request.
fn complete<'a, D: ?Sized>(mut request: Request<'a, D, &LocalScope<'a>>, way: usize) {
    match way % 4 {
        0 => drop(request.wait().unwrap()),
        1 => {
            while let Err(same) = request.test().unwrap() {
                request = same;
            }
        }
        2 => drop(request),
        _ => {
            let mut list = vec![request];
            assert!(matches!(wait_any(&mut list).unwrap(), Some((0, _))));
            assert!(wait_any(&mut list).unwrap().is_none());
        }
    }
}

fn broadcast(job: &Job, smooth: bool, each: usize, root: i32, way: usize) {
    let expected = doubles(smooth, root, each);
    let mut room = if job.world.rank() == root { expected.clone() } else { vec![0.0; each] };
    let process = job.world.process_at_rank(root);
    scope(|scope| {
        complete(process.immediate_compressed_broadcast_into(scope, &mut room[..]).unwrap(), way);
    });
    assert_eq!(bits(&room), bits(&expected));
}

fn rooted(job: &Job, smooth: bool, each: usize, root: i32, way: usize) {
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let (process, plain) = (job.world.process_at_rank(root), job.plain.process_at_rank(root));
    let mine = doubles(smooth, rank, each);
    let (mut back, mut expected_back) = (vec![0.0; each], vec![0.0; each]);
    if rank == root {
        let (mut all, mut expected) = (vec![0.0; size * each], vec![0.0; size * each]);
        scope(|scope| {
            complete(
                process.immediate_compressed_gather_into_root(scope, &mine[..], &mut all[..]).unwrap(),
                way,
            );
        });
        plain.gather_into_root(&mine[..], &mut expected[..]);
        assert_eq!(bits(&all), bits(&expected));
        all.reverse();
        scope(|scope| {
            complete(
                process.immediate_compressed_scatter_into_root(scope, &all[..], &mut back[..]).unwrap(),
                way,
            );
        });
        plain.scatter_into_root(&all[..], &mut expected_back[..]);
    } else {
        scope(|scope| complete(process.immediate_compressed_gather_into(scope, &mine[..]).unwrap(), way));
        plain.gather_into(&mine[..]);
        scope(|scope| {
            complete(process.immediate_compressed_scatter_into(scope, &mut back[..]).unwrap(), way);
        });
        plain.scatter_into(&mut expected_back[..]);
    }
    assert_eq!(bits(&back), bits(&expected_back));
}

fn rooted_varcount(job: &Job, smooth: bool, each: usize, root: i32, way: usize) {
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let (process, plain) = (job.world.process_at_rank(root), job.plain.process_at_rank(root));
    let (counts, starts, total) = counts(size, each);
    let mine = doubles(smooth, rank, rank as usize * each);
    let (mut back, mut expected_back) = (vec![0.0; mine.len()], vec![0.0; mine.len()]);
    if rank == root {
        let (mut all, mut expected) = (vec![-1.0; total], vec![-1.0; total]);
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        scope(|scope| {
            let started =
                process.immediate_compressed_gather_varcount_into_root(scope, &mine[..], &mut parts);
            complete(started.unwrap(), way);
        });
        let mut parts = PartitionMut::new(&mut expected[..], &counts[..], &starts[..]);
        plain.gather_varcount_into_root(&mine[..], &mut parts);
        assert_eq!(bits(&all), bits(&expected));
        all.reverse();
        let parts = Partition::new(&all[..], &counts[..], &starts[..]);
        scope(|scope| {
            let started =
                process.immediate_compressed_scatter_varcount_into_root(scope, &parts, &mut back[..]);
            complete(started.unwrap(), way);
        });
        plain.scatter_varcount_into_root(&parts, &mut expected_back[..]);
    } else {
        scope(|scope| {
            complete(process.immediate_compressed_gather_varcount_into(scope, &mine[..]).unwrap(), way);
        });
        plain.gather_varcount_into(&mine[..]);
        scope(|scope| {
            complete(process.immediate_compressed_scatter_varcount_into(scope, &mut back[..]).unwrap(), way);
        });
        plain.scatter_varcount_into(&mut expected_back[..]);
    }
    assert_eq!(bits(&back), bits(&expected_back));
}

fn all(job: &Job, smooth: bool, each: usize, way: usize) {
    let size = job.world.size() as usize;
    let mine = doubles(smooth, job.world.rank(), each * size);
    let (mut all, mut expected) = (vec![0.0; size * each], vec![0.0; size * each]);
    scope(|scope| {
        let started = job.world.immediate_compressed_all_gather_into(scope, &mine[..each], &mut all[..]);
        complete(started.unwrap(), way);
    });
    job.plain.all_gather_into(&mine[..each], &mut expected[..]);
    assert_eq!(bits(&all), bits(&expected));
    scope(|scope| {
        let started = job.world.immediate_compressed_all_to_all_into(scope, &mine[..], &mut all[..]);
        complete(started.unwrap(), way + 1);
    });
    job.plain.all_to_all_into(&mine[..], &mut expected[..]);
    assert_eq!(bits(&all), bits(&expected));
}

fn all_varcount(job: &Job, smooth: bool, each: usize, way: usize) {
    let (rank, size) = (job.world.rank() as usize, job.world.size() as usize);
    let (counts, starts, total) = counts(size, each);
    let mine = doubles(smooth, rank as i32, rank * each);
    let (mut all, mut expected) = (vec![-1.0; total], vec![-1.0; total]);
    let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
    scope(|scope| {
        let started = job.world.immediate_compressed_all_gather_varcount_into(scope, &mine[..], &mut parts);
        complete(started.unwrap(), way);
    });
    let mut parts = PartitionMut::new(&mut expected[..], &counts[..], &starts[..]);
    job.plain.all_gather_varcount_into(&mine[..], &mut parts);
    assert_eq!(bits(&all), bits(&expected));

    let sends: Vec<Count> = (0..size).map(|to| (rank * to * each / 2) as Count).collect();
    let starts: Vec<Count> = (0..size).map(|to| sends[..to].iter().sum()).collect();
    // Never empty: MPICH takes two empty vectors for one aliased buffer.
    let mine = doubles(smooth, rank as i32, sends.iter().sum::<Count>() as usize + 1);
    let (mut all, mut expected) = (vec![-1.0; mine.len()], vec![-1.0; mine.len()]);
    let out = Partition::new(&mine[..], &sends[..], &starts[..]);
    let mut parts = PartitionMut::new(&mut all[..], &sends[..], &starts[..]);
    scope(|scope| {
        let started = job.world.immediate_compressed_all_to_all_varcount_into(scope, &out, &mut parts);
        complete(started.unwrap(), way + 1);
    });
    let mut parts = PartitionMut::new(&mut expected[..], &sends[..], &starts[..]);
    job.plain.all_to_all_varcount_into(&out, &mut parts);
    assert_eq!(bits(&all), bits(&expected));
}

/// Several messages and collective operations pending at the same time, completed in any order.
fn several(job: &Job) {
    const EACH: usize = 5000;
    let (rank, next, previous) = job.ring();
    let size = job.world.size() as usize;
    let mine = doubles(true, rank, EACH);
    let from_all: Vec<f64> = (0..size).flat_map(|rank| doubles(true, rank as i32, EACH)).collect();
    let (mut gathered, mut received, mut from_last) =
        (vec![0.0; size * EACH], vec![0.0; EACH], vec![0.0; EACH]);
    let last = job.world.size() - 1;
    if rank == last {
        from_last.copy_from_slice(&mine);
    }
    scope(|scope| {
        let source = job.world.process_at_rank(previous);
        let mut requests = vec![
            job.world
                .process_at_rank(last)
                .immediate_compressed_broadcast_into(scope, &mut from_last[..])
                .unwrap(),
            job.world.immediate_compressed_all_gather_into(scope, &mine[..], &mut gathered[..]).unwrap(),
            source.immediate_compressed_receive_into(scope, &mut received[..]).unwrap(),
        ];
        job.world.process_at_rank(next).compressed_send(&mine[..]).unwrap();
        let mut completed = 0;
        while wait_any(&mut requests).unwrap().is_some() {
            completed += 1;
        }
        assert_eq!(completed, 3);
    });
    assert_eq!(bits(&gathered), bits(&from_all));
    assert_eq!(bits(&received), bits(&doubles(true, previous, EACH)));
    assert_eq!(bits(&from_last), bits(&doubles(true, last, EACH)));
}

/// The ranks wait one after the other; each is blocked in a receive until its turn. No rank's operation may depend on another rank's
/// progress in its wait.
fn in_turn(job: &Job) {
    const EACH: usize = 40_000;
    let (rank, size) = (job.world.rank(), job.world.size());
    let mine = doubles(true, rank, EACH);
    for first in 0..size {
        let turn = (rank + size - first) % size;
        let before = job.world.stats().total();
        let (mut gathered, mut room) = (vec![0.0; size as usize * EACH], vec![0.0; EACH]);
        if rank == first {
            room.copy_from_slice(&mine);
        }
        scope(|scope| {
            let root = job.world.process_at_rank(first);
            let broadcast = root.immediate_compressed_broadcast_into(scope, &mut room[..]).unwrap();
            let gather = job.world.immediate_compressed_all_gather_into(scope, &mine[..], &mut gathered[..]);
            if turn > 0 {
                job.plain.process_at_rank((rank + size - 1) % size).receive::<u8>();
            }
            broadcast.wait().unwrap();
            gather.unwrap().wait().unwrap();
            if turn < size - 1 {
                job.plain.process_at_rank((rank + 1) % size).send(&1_u8);
            }
        });
        // Both are encoded once, regardless of the number of receivers.
        let messages = job.world.stats().total().messages - before.messages;
        let expected = u64::from(rank == first) + 1;
        assert!(!job.framed || size == 1 || messages == expected, "{messages} frames");
        assert_eq!(bits(&room), bits(&doubles(true, first, EACH)));
        assert_eq!(bits(&gathered[first as usize * EACH..][..EACH]), bits(&room));
    }
}
