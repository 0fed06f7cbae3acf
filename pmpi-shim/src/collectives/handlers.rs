//! The MPI functions of collectives: each finds the buffers and blocks from the program's arguments.

use super::blocks::Given::{Equal, Typed, Varied};
use super::{blocks::Blocks, exchange, reduce, reduce::counts, spread};
use crate::messages::agreed::How;
use crate::mpi::{arguments, span::Span};
use crate::operations::state::Shim;
use std::ffi::c_int;

/// Defines the handlers of calls and of their nonblocking forms, which have the same arguments and a request. Each first takes the buffers from the
/// arguments. What it does with them is safe.
macro_rules! both {
    ($(
        $blocking:ident($arguments:ident), $nonblocking:ident($its_arguments:ident):
            |$shim:ident, $call:ident, $how:ident, $pass:ident| $buffers:pat = $taken:expr => $made:expr;
    )*) => {$(
        both!(@ $blocking($arguments), |$shim, $call, $pass|
            ($how, $buffers) = (How::Blocking($call.comm), $taken) => $made);
        both!(@ $nonblocking($its_arguments), |$shim, $call, $pass|
            ($how, $buffers) = (How::Nonblocking($call.comm, $call.request), $taken) => $made);
    )*};
    (@ $name:ident($arguments:ident), |$shim:ident, $call:ident, $pass:ident| $values:pat = $taken:expr => $made:expr) => {
        pub(crate) unsafe fn $name($shim: &Shim, $call: arguments::$arguments, $pass: impl Fn() -> c_int) -> c_int {
            // SAFETY: the program's own arguments.
            let $values = unsafe { $taken };
            $made
        }
    };
}

/// What this rank sends.
macro_rules! sent {
    ($call:ident) => {
        Span::new($call.sendbuf, $call.sendcount, $call.sendtype)
    };
}

/// What this rank receives.
macro_rules! received {
    ($call:ident) => {
        Span::new($call.recvbuf, $call.recvcount, $call.recvtype)
    };
}

both! {
    gather(Gather), igather(Igather): |shim, call, how, pass|
        (from, blocks) = (sent!(call), Blocks::new(call.recvbuf, Equal(call.recvcount, call.recvtype))) =>
        exchange::gather(shim, from, blocks, call.root, how, pass);
    gatherv(Gatherv), igatherv(Igatherv): |shim, call, how, pass|
        (from, blocks) = (sent!(call), Blocks::new(call.recvbuf, Varied(call.recvcounts, call.displs, call.recvtype))) =>
        exchange::gather(shim, from, blocks, call.root, how, pass);
    scatter(Scatter), iscatter(Iscatter): |shim, call, how, pass|
        (blocks, to) = (Blocks::new(call.sendbuf, Equal(call.sendcount, call.sendtype)), received!(call)) =>
        exchange::scatter(shim, blocks, to, call.root, how, pass);
    scatterv(Scatterv), iscatterv(Iscatterv): |shim, call, how, pass|
        (blocks, to) = (Blocks::new(call.sendbuf, Varied(call.sendcounts, call.displs, call.sendtype)), received!(call)) =>
        exchange::scatter(shim, blocks, to, call.root, how, pass);
    alltoall(Alltoall), ialltoall(Ialltoall): |shim, call, how, pass|
        (from, to) = (
            Blocks::new(call.sendbuf, Equal(call.sendcount, call.sendtype)),
            Blocks::new(call.recvbuf, Equal(call.recvcount, call.recvtype)),
        ) => exchange::alltoall(shim, from, to, how, pass);
    alltoallv(Alltoallv), ialltoallv(Ialltoallv): |shim, call, how, pass|
        (from, to) = (
            Blocks::new(call.sendbuf, Varied(call.sendcounts, call.sdispls, call.sendtype)),
            Blocks::new(call.recvbuf, Varied(call.recvcounts, call.rdispls, call.recvtype)),
        ) => exchange::alltoall(shim, from, to, how, pass);
    alltoallw(Alltoallw), ialltoallw(Ialltoallw): |shim, call, how, pass|
        (from, to) = (
            Blocks::new(call.sendbuf, Typed(call.sendcounts, call.sdispls, call.sendtypes)),
            Blocks::new(call.recvbuf, Typed(call.recvcounts, call.rdispls, call.recvtypes)),
        ) => exchange::alltoall(shim, from, to, how, pass);
    bcast(Bcast), ibcast(Ibcast): |shim, call, how, pass|
        span = Span::new(call.buffer, call.count, call.datatype) =>
        spread::bcast(shim, span, call.root, how, pass);
    allgather(Allgather), iallgather(Iallgather): |shim, call, how, pass|
        (from, blocks) = (sent!(call), Blocks::new(call.recvbuf, Equal(call.recvcount, call.recvtype))) =>
        spread::allgather(shim, from, blocks, how, pass);
    allgatherv(Allgatherv), iallgatherv(Iallgatherv): |shim, call, how, pass|
        (from, blocks) = (sent!(call), Blocks::new(call.recvbuf, Varied(call.recvcounts, call.displs, call.recvtype))) =>
        spread::allgather(shim, from, blocks, how, pass);
}

/// A reduction as the program calls it.
macro_rules! called {
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

handlers! {
    reduce(Reduce): |shim, call, pass| {
        reduce::reduce(shim, called!(call), reduce::Recipients::Root(call.root, call.count), pass)
    };
    allreduce(Allreduce): |shim, call, pass| reduce::reduce(shim, called!(call), reduce::Recipients::All(call.count), pass);
    reduce_scatter(Reduce_scatter): |shim, call, pass| {
        reduce::reduce(shim, called!(call), reduce::Recipients::Each(&counts(call.recvcounts)), pass)
    };
    reduce_scatter_block(Reduce_scatter_block): |shim, call, pass| {
        reduce::reduce(shim, called!(call), reduce::Recipients::Each(&|_| call.recvcount), pass)
    };
}
