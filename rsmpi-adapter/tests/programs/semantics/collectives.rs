//! Collective operations, compared with those of plain rsmpi.

use crate::Job;
use crate::data::{bits, doubles};
use mpi::Count;
use mpi::datatype::{MutView, Partition, PartitionMut, UserDatatype};
use mpi::traits::*;
use mpress_rsmpi::traits::*;

/// Elements per rank: below and above the threshold, and around lengths where the MPIs change algorithm.
pub(crate) const EACH: [usize; 5] = [0, 100, 2048, 5003, 60_000];

pub(crate) fn check(job: &Job) {
    for smooth in [true, false] {
        for each in EACH {
            for root in 0..job.world.size() {
                broadcast(job, smooth, each, root);
                rooted(job, smooth, each, root);
                rooted_varcount(job, smooth, each, root);
            }
            all(job, smooth, each);
            all_varcount(job, smooth, each);
        }
    }
    columns(job);
}

fn broadcast(job: &Job, smooth: bool, each: usize, root: i32) {
    let expected = doubles(smooth, root, each);
    let mut room = if job.world.rank() == root { expected.clone() } else { vec![0.0; each] };
    job.world.process_at_rank(root).compressed_broadcast_into(&mut room[..]).unwrap();
    assert_eq!(bits(&room), bits(&expected));
}

fn rooted(job: &Job, smooth: bool, each: usize, root: i32) {
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let (process, plain) = (job.world.process_at_rank(root), job.plain.process_at_rank(root));
    let mine = doubles(smooth, rank, each);
    let (mut back, mut expected_back) = (vec![0.0; each], vec![0.0; each]);
    if rank == root {
        let (mut all, mut expected) = (vec![0.0; size * each], vec![0.0; size * each]);
        process.compressed_gather_into_root(&mine[..], &mut all[..]).unwrap();
        plain.gather_into_root(&mine[..], &mut expected[..]);
        assert_eq!(bits(&all), bits(&expected));
        all.reverse();
        process.compressed_scatter_into_root(&all[..], &mut back[..]).unwrap();
        plain.scatter_into_root(&all[..], &mut expected_back[..]);
    } else {
        process.compressed_gather_into(&mine[..]).unwrap();
        plain.gather_into(&mine[..]);
        process.compressed_scatter_into(&mut back[..]).unwrap();
        plain.scatter_into(&mut expected_back[..]);
    }
    assert_eq!(bits(&back), bits(&expected_back));
}

/// Counts of all ranks, one of them 0; displacements with gaps.
pub(crate) fn counts(size: usize, each: usize) -> (Vec<Count>, Vec<Count>, usize) {
    let counts: Vec<Count> = (0..size).map(|rank| (rank * each) as Count).collect();
    let starts = (0..size).map(|rank| counts[..rank].iter().sum::<Count>() + rank as Count).collect();
    let total = counts.iter().sum::<Count>() as usize + size;
    (counts, starts, total)
}

fn rooted_varcount(job: &Job, smooth: bool, each: usize, root: i32) {
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let (process, plain) = (job.world.process_at_rank(root), job.plain.process_at_rank(root));
    let (counts, starts, total) = counts(size, each);
    let mine = doubles(smooth, rank, rank as usize * each);
    let (mut back, mut expected_back) = (vec![0.0; mine.len()], vec![0.0; mine.len()]);
    if rank == root {
        let (mut all, mut expected) = (vec![-1.0; total], vec![-1.0; total]);
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        process.compressed_gather_varcount_into_root(&mine[..], &mut parts).unwrap();
        let mut parts = PartitionMut::new(&mut expected[..], &counts[..], &starts[..]);
        plain.gather_varcount_into_root(&mine[..], &mut parts);
        assert_eq!(bits(&all), bits(&expected));
        all.reverse();
        let parts = Partition::new(&all[..], &counts[..], &starts[..]);
        process.compressed_scatter_varcount_into_root(&parts, &mut back[..]).unwrap();
        plain.scatter_varcount_into_root(&parts, &mut expected_back[..]);
    } else {
        process.compressed_gather_varcount_into(&mine[..]).unwrap();
        plain.gather_varcount_into(&mine[..]);
        process.compressed_scatter_varcount_into(&mut back[..]).unwrap();
        plain.scatter_varcount_into(&mut expected_back[..]);
    }
    assert_eq!(bits(&back), bits(&expected_back));
}

fn all(job: &Job, smooth: bool, each: usize) {
    let size = job.world.size() as usize;
    let mine = doubles(smooth, job.world.rank(), each * size);
    let (mut all, mut expected) = (vec![0.0; size * each], vec![0.0; size * each]);
    job.world.compressed_all_gather_into(&mine[..each], &mut all[..]).unwrap();
    job.plain.all_gather_into(&mine[..each], &mut expected[..]);
    assert_eq!(bits(&all), bits(&expected));
    job.world.compressed_all_to_all_into(&mine[..], &mut all[..]).unwrap();
    job.plain.all_to_all_into(&mine[..], &mut expected[..]);
    assert_eq!(bits(&all), bits(&expected));
}

fn all_varcount(job: &Job, smooth: bool, each: usize) {
    let (rank, size) = (job.world.rank() as usize, job.world.size() as usize);
    let (counts, starts, total) = counts(size, each);
    let mine = doubles(smooth, rank as i32, rank * each);
    let (mut all, mut expected) = (vec![-1.0; total], vec![-1.0; total]);
    let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
    job.world.compressed_all_gather_varcount_into(&mine[..], &mut parts).unwrap();
    let mut parts = PartitionMut::new(&mut expected[..], &counts[..], &starts[..]);
    job.plain.all_gather_varcount_into(&mine[..], &mut parts);
    assert_eq!(bits(&all), bits(&expected));

    // Each rank receives a number proportional to both ranks: asymmetric, and sometimes 0.
    let sends: Vec<Count> = (0..size).map(|to| (rank * to * each / 2) as Count).collect();
    let starts: Vec<Count> = (0..size).map(|to| sends[..to].iter().sum()).collect();
    // Never empty: MPICH takes two empty vectors for one aliased buffer.
    let mine = doubles(smooth, rank as i32, sends.iter().sum::<Count>() as usize + 1);
    let (mut all, mut expected) = (vec![-1.0; mine.len()], vec![-1.0; mine.len()]);
    let out = Partition::new(&mine[..], &sends[..], &starts[..]);
    let mut parts = PartitionMut::new(&mut all[..], &sends[..], &starts[..]);
    job.world.compressed_all_to_all_varcount_into(&out, &mut parts).unwrap();
    let mut parts = PartitionMut::new(&mut expected[..], &sends[..], &starts[..]);
    job.plain.all_to_all_varcount_into(&out, &mut parts);
    assert_eq!(bits(&all), bits(&expected));
}

/// Receives into buffers that are not contiguous.
fn columns(job: &Job) {
    const ROWS: usize = 4000;
    let (rank, size) = (job.world.rank(), job.world.size() as usize);
    let column = UserDatatype::vector(ROWS as i32, 1, 2, &f64::equivalent_datatype());
    let interleaved = |values: Vec<f64>| values.into_iter().flat_map(|x| [x, -1.0]).collect::<Vec<f64>>();
    let of_root = interleaved(doubles(true, 0, ROWS));
    let mut room = if rank == 0 { of_root.clone() } else { vec![-1.0; 2 * ROWS] };
    // SAFETY: the buffer holds a whole column.
    let mut view = unsafe { MutView::with_count_and_datatype(&mut room[..], 1, &column) };
    job.world.process_at_rank(0).compressed_broadcast_into(&mut view).unwrap();
    assert_eq!(bits(&room), bits(&of_root));

    // The extent of a column ends with its last element: the next column begins there.
    let mine = doubles(rank % 2 == 0, rank, ROWS);
    let (mut all, mut expected) = (vec![-1.0; size * 2 * ROWS], vec![-1.0; size * 2 * ROWS]);
    // SAFETY: the buffers hold this number of columns.
    unsafe {
        let count = size as Count;
        let mut view = MutView::with_count_and_datatype(&mut all[..], count, &column);
        job.world.compressed_all_gather_into(&mine[..], &mut view).unwrap();
        let mut view = MutView::with_count_and_datatype(&mut expected[..], count, &column);
        job.plain.all_gather_into(&mine[..], &mut view);
    }
    assert_eq!(bits(&all), bits(&expected));
}
