//! The handlers of collectives: they find the buffers and blocks from the program's arguments.

use super::blocks::{equal, typed, varied};
use super::reduce::{self, counts};
use super::{direct, exchange, shared};
use crate::messages::agreed::How::{Blocking, Nonblocking};
use crate::mpi::arguments::{self, span};
use crate::operations::state::Shim;
use std::ffi::c_int;

/// Bcast.
pub(crate) unsafe fn bcast(shim: &Shim, call: arguments::Bcast, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { shared::bcast(shim, span(call.buffer, call.count, call.datatype), call.root, call.comm, pass) }
}

/// Ibcast.
pub(crate) unsafe fn ibcast(shim: &Shim, call: arguments::Ibcast, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        direct::ibcast(
            shim,
            span(call.buffer, call.count, call.datatype),
            call.root,
            Nonblocking(call.comm, call.request),
            pass,
        )
    }
}

/// Gather.
pub(crate) unsafe fn gather(shim: &Shim, call: arguments::Gather, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::gather(shim, mine, blocks, call.root, Blocking(call.comm), pass)
    }
}

/// Igather.
pub(crate) unsafe fn igather(shim: &Shim, call: arguments::Igather, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::gather(shim, mine, blocks, call.root, Nonblocking(call.comm, call.request), pass)
    }
}

/// Gatherv.
pub(crate) unsafe fn gatherv(shim: &Shim, call: arguments::Gatherv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        exchange::gather(shim, mine, blocks, call.root, Blocking(call.comm), pass)
    }
}

/// Igatherv.
pub(crate) unsafe fn igatherv(shim: &Shim, call: arguments::Igatherv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        exchange::gather(shim, mine, blocks, call.root, Nonblocking(call.comm, call.request), pass)
    }
}

/// Scatter.
pub(crate) unsafe fn scatter(shim: &Shim, call: arguments::Scatter, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let blocks = equal(call.sendbuf, call.sendcount, call.sendtype);
        let mine = span(call.recvbuf, call.recvcount, call.recvtype);
        exchange::scatter(shim, blocks, mine, call.root, Blocking(call.comm), pass)
    }
}

/// Iscatter.
pub(crate) unsafe fn iscatter(shim: &Shim, call: arguments::Iscatter, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let blocks = equal(call.sendbuf, call.sendcount, call.sendtype);
        let mine = span(call.recvbuf, call.recvcount, call.recvtype);
        exchange::scatter(shim, blocks, mine, call.root, Nonblocking(call.comm, call.request), pass)
    }
}

/// Scatterv.
pub(crate) unsafe fn scatterv(shim: &Shim, call: arguments::Scatterv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let blocks = varied(call.sendbuf, call.sendcounts, call.displs, call.sendtype);
        let mine = span(call.recvbuf, call.recvcount, call.recvtype);
        exchange::scatter(shim, blocks, mine, call.root, Blocking(call.comm), pass)
    }
}

/// Iscatterv.
pub(crate) unsafe fn iscatterv(shim: &Shim, call: arguments::Iscatterv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let blocks = varied(call.sendbuf, call.sendcounts, call.displs, call.sendtype);
        let mine = span(call.recvbuf, call.recvcount, call.recvtype);
        exchange::scatter(shim, blocks, mine, call.root, Nonblocking(call.comm, call.request), pass)
    }
}

/// Allgather.
pub(crate) unsafe fn allgather(shim: &Shim, call: arguments::Allgather, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        shared::allgather(shim, mine, blocks, call.comm, pass)
    }
}

/// Iallgather.
pub(crate) unsafe fn iallgather(shim: &Shim, call: arguments::Iallgather, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        direct::iallgather(shim, mine, blocks, Nonblocking(call.comm, call.request), pass)
    }
}

/// Allgatherv.
pub(crate) unsafe fn allgatherv(shim: &Shim, call: arguments::Allgatherv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        shared::allgather(shim, mine, blocks, call.comm, pass)
    }
}

/// Iallgatherv.
pub(crate) unsafe fn iallgatherv(
    shim: &Shim,
    call: arguments::Iallgatherv,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let mine = span(call.sendbuf, call.sendcount, call.sendtype);
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        direct::iallgather(shim, mine, blocks, Nonblocking(call.comm, call.request), pass)
    }
}

/// Alltoall.
pub(crate) unsafe fn alltoall(shim: &Shim, call: arguments::Alltoall, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = equal(call.sendbuf, call.sendcount, call.sendtype);
        let to = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::alltoall(shim, from, to, Blocking(call.comm), pass)
    }
}

/// Ialltoall.
pub(crate) unsafe fn ialltoall(shim: &Shim, call: arguments::Ialltoall, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = equal(call.sendbuf, call.sendcount, call.sendtype);
        let to = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::alltoall(shim, from, to, Nonblocking(call.comm, call.request), pass)
    }
}

/// Alltoallv.
pub(crate) unsafe fn alltoallv(shim: &Shim, call: arguments::Alltoallv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = varied(call.sendbuf, call.sendcounts, call.sdispls, call.sendtype);
        let to = varied(call.recvbuf, call.recvcounts, call.rdispls, call.recvtype);
        exchange::alltoall(shim, from, to, Blocking(call.comm), pass)
    }
}

/// Ialltoallv.
pub(crate) unsafe fn ialltoallv(shim: &Shim, call: arguments::Ialltoallv, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = varied(call.sendbuf, call.sendcounts, call.sdispls, call.sendtype);
        let to = varied(call.recvbuf, call.recvcounts, call.rdispls, call.recvtype);
        exchange::alltoall(shim, from, to, Nonblocking(call.comm, call.request), pass)
    }
}

/// Alltoallw.
pub(crate) unsafe fn alltoallw(shim: &Shim, call: arguments::Alltoallw, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = typed(call.sendbuf, call.sendcounts, call.sdispls, call.sendtypes);
        let to = typed(call.recvbuf, call.recvcounts, call.rdispls, call.recvtypes);
        exchange::alltoall(shim, from, to, Blocking(call.comm), pass)
    }
}

/// Ialltoallw.
pub(crate) unsafe fn ialltoallw(shim: &Shim, call: arguments::Ialltoallw, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe {
        let from = typed(call.sendbuf, call.sendcounts, call.sdispls, call.sendtypes);
        let to = typed(call.recvbuf, call.recvcounts, call.rdispls, call.recvtypes);
        exchange::alltoall(shim, from, to, Nonblocking(call.comm, call.request), pass)
    }
}

/// The common arguments of Reduce, Allreduce, Reduce_scatter and Reduce_scatter_block.
macro_rules! reduction {
    ($call:ident) => {
        reduce::Call {
            from: $call.sendbuf,
            to: $call.recvbuf,
            datatype: $call.datatype,
            op: $call.op,
            comm: $call.comm,
        }
    };
}

/// Reduce.
pub(crate) unsafe fn reduce(shim: &Shim, call: arguments::Reduce, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { reduce::reduce(shim, reduction!(call), call.count, call.root, pass) }
}

/// Allreduce.
pub(crate) unsafe fn allreduce(shim: &Shim, call: arguments::Allreduce, pass: impl Fn() -> c_int) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { reduce::allreduce(shim, reduction!(call), call.count, pass) }
}

/// Reduce_scatter.
pub(crate) unsafe fn reduce_scatter(
    shim: &Shim,
    call: arguments::Reduce_scatter,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { reduce::reduce_scatter(shim, reduction!(call), counts(call.recvcounts), pass) }
}

/// Reduce_scatter_block.
pub(crate) unsafe fn reduce_scatter_block(
    shim: &Shim,
    call: arguments::Reduce_scatter_block,
    pass: impl Fn() -> c_int,
) -> c_int {
    // SAFETY: the program's own arguments.
    unsafe { reduce::reduce_scatter(shim, reduction!(call), |_| call.recvcount, pass) }
}
