//! Elements of all types, and buffers that are not contiguous.

use crate::Job;
use crate::data::noise;
use mpi::datatype::{MutView, UserDatatype, View};
use mpi::traits::*;
use mpress_rsmpi::{compressed_send_receive_into, traits::*};
use std::fmt::Debug;

pub(crate) fn check(job: &Job) {
    of_type(job, |i| i as u8);
    of_type(job, |i| i as i8);
    of_type(job, |i| i as u16);
    of_type(job, |i| i as i16);
    of_type(job, |i| i as u32);
    of_type(job, |i| i as i32);
    of_type(job, |i| i as u64);
    of_type(job, |i| i as i64);
    of_type(job, |i| i);
    of_type(job, |i| i as isize);
    of_type(job, |i| i as f32);
    of_type(job, |i| i as f64);
    of_type(job, |i| i / 100 % 2 == 0);
    of_type(job, |i| Record { x: i as f64, n: i as i32, flags: [i as u8, 1, 2] });
    columns(job);
}

/// A struct with gaps, whose datatype is created again for each call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct Record {
    x: f64,
    n: i32,
    flags: [u8; 3],
}

// SAFETY: the datatype describes the fields at their offsets.
unsafe impl Equivalence for Record {
    type Out = UserDatatype;

    fn equivalent_datatype() -> UserDatatype {
        let (double, int, byte) =
            (f64::equivalent_datatype(), i32::equivalent_datatype(), u8::equivalent_datatype());
        let at = [0, std::mem::offset_of!(Self, n), std::mem::offset_of!(Self, flags)];
        let fields =
            UserDatatype::structured(&[1, 1, 3], &at.map(|at| at as mpi::Address), &[double, int, byte]);
        assert_eq!(size_of::<Self>(), 16);
        fields
    }
}

fn of_type<T: Equivalence + Clone + Default + PartialEq + Debug>(job: &Job, value: fn(usize) -> T) {
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let message = |rank: i32| (0..10_000).map(|i| value(rank as usize * 1000 + i / 4)).collect::<Vec<T>>();
    let (mine, expected) = (message(rank), message(previous.rank()));
    let mut room = vec![T::default(); mine.len() + 1];
    let status = compressed_send_receive_into(&mine[..], &next, &mut room[..], &previous).unwrap();
    assert_eq!(status.count(T::equivalent_datatype()), mine.len() as i32);
    assert_eq!(room[..mine.len()], expected);
    assert_eq!(room[mine.len()], T::default());
    mpi::request::scope(|scope| {
        let send = next.immediate_compressed_send(scope, &mine).unwrap();
        let (got, status) = previous.compressed_receive_vec::<T>().unwrap();
        assert_eq!(status.count(T::equivalent_datatype()), mine.len() as i32);
        assert_eq!(got, expected);
        send.wait().unwrap();
    });
}

/// A column of a matrix, sent from a column or a contiguous array into a column or a contiguous array.
fn columns(job: &Job) {
    const ROWS: usize = 3000;
    const COLUMNS: usize = 4;
    let (rank, next, previous) = job.ring();
    let (next, previous) = (job.world.process_at_rank(next), job.world.process_at_rank(previous));
    let column = UserDatatype::vector(ROWS as i32, 1, COLUMNS as i32, &f64::equivalent_datatype());
    let cell = |smooth: bool, rank: i32, row: usize| match smooth {
        true => f64::from(rank) + row as f64 * 1e-2,
        false => noise(rank, row) as f64,
    };
    for case in 0..8 {
        let (smooth, from_column, into_column) = (case & 1 == 0, case & 2 == 0, case & 4 == 0);
        let stride = |is_column| if is_column { COLUMNS } else { 1 };
        let mut mine = vec![0.0; ROWS * COLUMNS];
        for row in 0..ROWS {
            mine[row * stride(from_column)] = cell(smooth, rank, row);
        }
        let mut room = vec![-1.0; ROWS * COLUMNS];
        // SAFETY: the buffers hold a whole column.
        let out = unsafe { View::with_count_and_datatype(&mine[..], 1, &column) };
        mpi::request::scope(|scope| {
            // Immediate, because a blocking send around the ring may wait for its receive forever.
            let send = match from_column {
                true => Ok(next.immediate_compressed_send(scope, &out).unwrap()),
                false => Err(next.immediate_compressed_send(scope, &mine[..ROWS]).unwrap()),
            };
            let status = if into_column {
                // SAFETY: as above.
                let mut into = unsafe { MutView::with_count_and_datatype(&mut room[..], 1, &column) };
                previous.compressed_receive_into(&mut into).unwrap()
            } else {
                previous.compressed_receive_into(&mut room[..ROWS]).unwrap()
            };
            assert_eq!(status.count(f64::equivalent_datatype()), ROWS as i32);
            match send {
                Ok(send) => send.wait().unwrap(),
                Err(send) => send.wait().unwrap(),
            };
        });
        let stride = stride(into_column);
        for (at, &x) in room.iter().enumerate() {
            let is_cell = at % stride == 0 && at / stride < ROWS;
            let expected = if is_cell { cell(smooth, previous.rank(), at / stride) } else { -1.0 };
            assert_eq!(x, expected, "case {case}, {at}");
        }
    }
}
