//! `MPI_Pack` and `MPI_Unpack`: done here for elements that are not contiguous, if the MPI packs their bytes
//! and nothing else.

use crate::messages::context::Context;
use crate::mpi::arguments::{self, Position};
use crate::mpi::device;
use crate::mpi::predefined;
use crate::mpi::real;
use crate::mpi::span::Span;
use crate::mpi::sys::*;
use crate::operations::state::Shim;
use mpress_datatype::{Plan, Source, Target};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

/// For fewer bytes, the check costs more than packing here gains.
const LEAST: usize = 4 << 10;

pub(crate) unsafe fn pack(shim: &Shim, call: arguments::Pack, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    let elements = unsafe { Span::new(call.inbuf, call.incount, call.datatype) };
    let buffer = (call.outbuf, call.outsize, call.position);
    // SAFETY: as above.
    let Some((plan, at)) = (unsafe { shim.packs(&elements, buffer, call.comm) }) else { return pass() };
    // SAFETY: the program's elements, and a buffer with room for them.
    let packed = unsafe {
        let memory = Source::from_raw(elements.ptr().cast::<u8>(), plan.reach());
        let room = Target::from_raw(at.cast::<u8>(), reach_of(&plan));
        plan.pack(memory, 0..plan.size(), room)
    };
    // SAFETY: the program's own place.
    unsafe { done(packed.is_ok(), &plan, call.position) }
}

pub(crate) unsafe fn unpack(shim: &Shim, call: arguments::Unpack, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    let elements = unsafe { Span::new(call.outbuf, call.outcount, call.datatype) };
    let buffer = (call.inbuf.cast_mut(), call.insize, call.position);
    // SAFETY: as above.
    let Some((plan, at)) = (unsafe { shim.packs(&elements, buffer, call.comm) }) else { return pass() };
    // SAFETY: the program's elements, and a buffer with their bytes.
    let unpacked = unsafe {
        let memory = Target::from_raw(elements.ptr().cast::<u8>(), plan.reach());
        let bytes = Source::from_raw(at.cast::<u8>(), reach_of(&plan));
        plan.unpack(bytes, 0..plan.size(), memory)
    };
    // SAFETY: the program's own place.
    unsafe { done(unpacked.is_ok(), &plan, call.position) }
}

/// The whole packed stream.
fn reach_of(plan: &Plan) -> std::ops::Range<isize> {
    0..isize::try_from(plan.size()).unwrap_or(isize::MAX)
}

/// Advances the position. Both ranges are those of the plan, which has checked them.
unsafe fn done(copied: bool, plan: &Plan, position: Position) -> c_int {
    // SAFETY: the caller vouches for the place.
    unsafe {
        let (Some(at), Ok(len), true) = (position.get(), MPI_Count::try_from(plan.size()), copied) else {
            return ERR_INTERN;
        };
        position.set(at + len);
    }
    SUCCESS
}

impl Context {
    /// The plan to pack elements to or from a buffer of a given length, and the address there, if it is to be
    /// done here. Arguments that the MPI refuses are left to the MPI.
    unsafe fn packs(
        &self,
        elements: &Span,
        (buffer, size, position): (*mut c_void, MPI_Count, Position),
        comm: MPI_Comm,
    ) -> Option<(Plan, *mut c_void)> {
        if predefined::kind(elements.datatype()).is_some() || comm == COMM_NULL || buffer.is_null() {
            return None;
        }
        let len = elements.bytes().filter(|len| *len >= LEAST)?;
        // SAFETY: the caller vouches for the place.
        let at = usize::try_from(unsafe { position.get() }?).ok()?;
        let fits = at.checked_add(len).is_some_and(|end| usize::try_from(size).is_ok_and(|size| end <= size));
        if !fits || self.refused(elements) || device::is_device(buffer) {
            return None;
        }
        let plan = self.plan(elements).filter(|plan| plan.contiguous().is_none())?;
        static PLAINLY: OnceLock<bool> = OnceLock::new();
        PLAINLY.get_or_init(|| packs_plainly(self.own_comm)).then(|| (plan, buffer.wrapping_byte_add(at)))
    }
}

/// Whether packed numbers are their bytes, without a header, in host byte order.
fn packs_plainly(comm: MPI_Comm) -> bool {
    let (numbers, mut packed, mut end) = ([0x0102_0304_i32, 0x0506_0708], [[0_u8; 4]; 16], 0);
    // SAFETY: two numbers, a buffer with room for them and for a header, and a valid position.
    let code = unsafe {
        let room = packed.as_mut_ptr().cast();
        real::MPI_Pack(ptr::from_ref(&numbers).cast(), 2, INT32_T, room, 64, &raw mut end, comm)
    };
    code == SUCCESS && end == 8 && packed[..2] == numbers.map(i32::to_ne_bytes)
}
