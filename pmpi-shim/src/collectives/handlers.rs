//! The MPI functions of collectives: each finds the buffers and blocks from the program's arguments.

use super::blocks::{equal, typed, varied};
use super::reduce::{self, counts};
use super::{exchange, spread};
use crate::messages::agreed::{How, Wanted};
use crate::mpi::arguments;
use crate::mpi::span::Span;
use crate::operations::state::Shim;
use std::ffi::c_int;

/// The handlers of calls and of their nonblocking forms, whose arguments have the same names, and a request.
macro_rules! both {
    ($(
        $blocking:ident($arguments:ident), $nonblocking:ident($its_arguments:ident):
            |$shim:ident, $call:ident, $how:ident, $pass:ident| $made:expr;
    )*) => {
        handlers! {$(
            $blocking($arguments): |$shim, $call, $pass| {
                let $how = How::Blocking($call.comm);
                $made
            };
            $nonblocking($its_arguments): |$shim, $call, $pass| {
                let $how = How::Nonblocking($call.comm, Wanted::new($call.request));
                $made
            };
        )*}
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
    gather(Gather), igather(Igather): |shim, call, how, pass| {
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::gather(shim, sent!(call), blocks, call.root, how, pass)
    };
    gatherv(Gatherv), igatherv(Igatherv): |shim, call, how, pass| {
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        exchange::gather(shim, sent!(call), blocks, call.root, how, pass)
    };
    scatter(Scatter), iscatter(Iscatter): |shim, call, how, pass| {
        let blocks = equal(call.sendbuf, call.sendcount, call.sendtype);
        exchange::scatter(shim, blocks, received!(call), call.root, how, pass)
    };
    scatterv(Scatterv), iscatterv(Iscatterv): |shim, call, how, pass| {
        let blocks = varied(call.sendbuf, call.sendcounts, call.displs, call.sendtype);
        exchange::scatter(shim, blocks, received!(call), call.root, how, pass)
    };
    alltoall(Alltoall), ialltoall(Ialltoall): |shim, call, how, pass| {
        let from = equal(call.sendbuf, call.sendcount, call.sendtype);
        let to = equal(call.recvbuf, call.recvcount, call.recvtype);
        exchange::alltoall(shim, from, to, how, pass)
    };
    alltoallv(Alltoallv), ialltoallv(Ialltoallv): |shim, call, how, pass| {
        let from = varied(call.sendbuf, call.sendcounts, call.sdispls, call.sendtype);
        let to = varied(call.recvbuf, call.recvcounts, call.rdispls, call.recvtype);
        exchange::alltoall(shim, from, to, how, pass)
    };
    alltoallw(Alltoallw), ialltoallw(Ialltoallw): |shim, call, how, pass| {
        let from = typed(call.sendbuf, call.sendcounts, call.sdispls, call.sendtypes);
        let to = typed(call.recvbuf, call.recvcounts, call.rdispls, call.recvtypes);
        exchange::alltoall(shim, from, to, how, pass)
    };
    bcast(Bcast), ibcast(Ibcast): |shim, call, how, pass| {
        spread::bcast(shim, Span::new(call.buffer, call.count, call.datatype), call.root, how, pass)
    };
    allgather(Allgather), iallgather(Iallgather): |shim, call, how, pass| {
        let blocks = equal(call.recvbuf, call.recvcount, call.recvtype);
        spread::allgather(shim, sent!(call), blocks, how, pass)
    };
    allgatherv(Allgatherv), iallgatherv(Iallgatherv): |shim, call, how, pass| {
        let blocks = varied(call.recvbuf, call.recvcounts, call.displs, call.recvtype);
        spread::allgather(shim, sent!(call), blocks, how, pass)
    };
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
        reduce::reduce(shim, called!(call), reduce::Wanted::At(call.root, call.count), pass)
    };
    allreduce(Allreduce): |shim, call, pass| reduce::reduce(shim, called!(call), reduce::Wanted::All(call.count), pass);
    reduce_scatter(Reduce_scatter): |shim, call, pass| {
        reduce::reduce(shim, called!(call), reduce::Wanted::Own(&counts(call.recvcounts)), pass)
    };
    reduce_scatter_block(Reduce_scatter_block): |shim, call, pass| {
        reduce::reduce(shim, called!(call), reduce::Wanted::Own(&|_| call.recvcount), pass)
    };
}
