//! `MPI_Type_free`; `MPI_Pack` and `MPI_Unpack`: done here for elements that are not contiguous, if the MPI packs their bytes and nothing else.

use crate::messages::{context::Context, error::raise};
use crate::mpi::{
    arguments, arguments::Numbers, device, predefined, real, span::Span, span::is_valid, sys::*,
};
use crate::operations::state::Shim;
use mpress_datatype::{Plan, Source, Target};
use std::{ptr, sync::OnceLock};

/// For fewer bytes, the check costs more than packing here gains.
const LEAST: usize = 4 << 10;

handlers! {
    pack(Pack): |shim, call, pass| {
        let elements = Span::new(call.inbuf, call.incount, call.datatype);
        let packed = (call.outbuf, call.outsize, call.position);
        shim.copies(&elements, packed, call.comm, pass, |plan, elements, packed| {
            let (from, to) = (Source::from_raw(elements, plan.reach()), Target::from_raw(packed, reach_of(plan)));
            plan.pack(from, 0..plan.size(), to).is_ok()
        })
    };
    unpack(Unpack): |shim, call, pass| {
        let elements = Span::new(call.outbuf, call.outcount, call.datatype);
        let packed = (call.inbuf.cast_mut(), call.insize, call.position);
        shim.copies(&elements, packed, call.comm, pass, |plan, elements, packed| {
            let (from, to) = (Source::from_raw(packed, reach_of(plan)), Target::from_raw(elements, plan.reach()));
            plan.unpack(from, 0..plan.size(), to).is_ok()
        })
    };
}

/// The whole packed stream.
fn reach_of(plan: &Plan) -> std::ops::Range<isize> {
    0..isize::try_from(plan.size()).unwrap_or(isize::MAX)
}

impl Context {
    /// Packs elements to, or unpacks them from, the position in a buffer of a given length, and advances the position. `copy` gets the plan and the
    /// addresses of elements and packed bytes; the buffer has room for all of them.
    ///
    /// # Safety
    /// The arguments must be the program's.
    unsafe fn copies(
        &self,
        elements: &Span,
        (buffer, size, position): (*mut c_void, MPI_Count, Numbers),
        comm: MPI_Comm,
        pass: impl Fn() -> c_int,
        copy: impl FnOnce(&Plan, *mut u8, *mut u8) -> bool,
    ) -> c_int {
        if comm == COMM_NULL || buffer.is_null() || position.is_null() {
            return pass();
        }
        // SAFETY: the caller vouches for the place.
        let at = unsafe { position.at(0) };
        let found = || {
            let room = usize::try_from(size.checked_sub(at)?).ok()?;
            Some((usize::try_from(at).ok()?, self.packs(elements, room)?))
        };
        let Some((start, plan)) = found().filter(|_| !device::is_device(buffer)) else { return pass() };
        if !copy(&plan, elements.ptr().cast(), buffer.wrapping_byte_add(start).cast()) {
            return raise(comm, ERR_INTERN);
        }
        // SAFETY: as above.
        unsafe { position.set(0, at + plan.size() as MPI_Count) };
        SUCCESS
    }

    /// The plan to pack elements to or from `room` bytes, if it is to be done here. Arguments that the MPI refuses are left to the MPI.
    fn packs(&self, elements: &Span, room: usize) -> Option<Plan> {
        static PLAINLY: OnceLock<bool> = OnceLock::new();
        let is_derived = predefined::kind(elements.datatype()).is_none();
        if !is_derived || !(LEAST..=room).contains(&elements.bytes()?) || self.refused(elements) {
            return None;
        }
        let plan = self.plan(elements).filter(|plan| plan.contiguous().is_none())?;
        PLAINLY.get_or_init(|| packs_plainly(self.own_comm)).then_some(plan)
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

handlers! {
    type_free(Type_free): |shim, call, pass| {
        // Null, or the place of a handle.
        if let Some(datatype) = call.datatype.read()
            && predefined::kind(datatype).is_none()
            && is_valid(datatype)
        {
            shim.datatypes.forget(datatype);
        }
        pass()
    };
}
