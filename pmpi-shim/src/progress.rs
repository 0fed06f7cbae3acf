//! Pending operations are advanced in every wrapped call, and while such a call waits.
//!
//! Messages in chunks need this ([`Streams`](crate::messages::streams::Streams)): while this process sends any, it does not wait in the MPI, but
//! advances all pending operations and polls the MPI ([`until`]).

use crate::messages::{error::raise, streams::Arriving};
use crate::mpi::{arguments::Out, nested, sys::*};
use crate::operations::active::{Active, Started, UnderWay};
use crate::operations::{requests::Waits, state::Shim, state::shared};

/// The shared state, if this call is to be handled: the shim is active, and the call is the program's own.
#[inline]
pub(crate) fn active() -> Option<&'static Shim> {
    let shim = shared()?;
    if nested() {
        return None;
    }
    shim.requests.begin_call(shim);
    if shim.requests.has_detached() || !shim.streams.is_idle() || shim.streams.has_left() {
        advance(shim);
    }
    Some(shim)
}

/// A call of the program has returned this code; if it has succeeded, it has made a request.
#[inline]
pub(crate) fn made(code: c_int, request: Out<MPI_Request>) -> c_int {
    if code == SUCCESS
        && let Some(shim) = shared()
        && !nested()
    {
        shim.requests.forget(request.get());
    }
    code
}

pub(crate) fn advance(shim: &Shim) {
    if shim.requests.has_detached() {
        // A program may free thousands of requests, for example in the calls between two of its messages.
        const AT_A_TIME: usize = 16;
        shim.requests.sweep(shim, AT_A_TIME);
    }
    if !shim.streams.is_idle() {
        // Where several threads may call the MPI, each advances its own requests.
        if !shim.multiple {
            shim.requests.each_moving(|active| _ = active.advance(shim));
        }
        Arriving::sweep(shim);
    }
    if shim.streams.has_left() {
        shim.streams.sweep();
    }
}

/// Advances pending operations between steps of encoding, which takes time: pending receives, too, if they are few.
pub(crate) fn advance_while_encoding(shim: &Shim) {
    const FEW: usize = 64;
    if !shim.multiple && shim.requests.len() <= FEW {
        shim.requests.each(|active| {
            // Error handlers of the program are not called in a call that sends.
            if !active.operation.is_persistent {
                active.advance(shim);
            }
        });
    }
}

/// Polls until there is an answer; meanwhile advances pending operations, and looks for messages that the program is expected to ask for next.
pub(crate) fn until<R>(shim: &Shim, mut ask: impl FnMut() -> Option<R>) -> R {
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        advance(shim);
        shim.prefetch.step(shim, &shim.unexpected);
        std::thread::yield_now();
    }
}

/// Waits for an operation, and stores its status where the program wants it.
pub(crate) fn wait(shim: &Shim, mut active: Active, status: Out<MPI_Status>) -> c_int {
    let _waits = Waits::begin();
    until(shim, || (shim.may_wait() || active.is_complete(shim)).then_some(()));
    active.wait(shim, status)
}

/// Ends a nonblocking call that has started an operation: the program gets its request. An error goes to the handler of `comm`.
pub(crate) fn hand_out(shim: &Shim, comm: MPI_Comm, started: Started, request: Out<MPI_Request>) -> c_int {
    let give = |active| {
        request.set(shim.requests.hand_out(active));
        SUCCESS
    };
    started.map_or_else(|error| raise(comm, error), give)
}

/// Waits for two operations at the same time; returns the codes of both. `status` is that of the first.
pub(crate) fn wait_for_both(
    shim: &Shim,
    mut first: Active,
    mut second: Active,
    status: Out<MPI_Status>,
) -> (c_int, c_int) {
    let _waits = Waits::begin();
    until(shim, || {
        (shim.may_wait() || [first.is_complete(shim), second.is_complete(shim)] == [true, true]).then_some(())
    });
    let code = second.wait(shim, Out::IGNORED);
    (first.wait(shim, status), code)
}

/// Waits until `are_few` holds for the pending messages.
pub(crate) fn wait_for_messages(shim: &Shim, messages: &mut UnderWay, are_few: impl Fn(&UnderWay) -> bool) {
    until(shim, || {
        messages.test(shim);
        are_few(messages).then_some(())
    });
}
