//! Persistent requests. The program has a request of the MPI that is never started; each start begins an ordinary operation of the shim, which the
//! completion calls find by that handle.

use crate::handlers::{recv, send, send::By};
use crate::messages::{error::raise, peers::Origin, recorder::Receive};
use crate::mpi::{arguments, arguments::Out, open, span::Envelope, sys::*};
use crate::operations::active::{Action, Mode, Started, Template};
use crate::operations::{requests::Found, state::Shim};

handlers! {
    send_init(Send_init): |shim, call, pass| init_send(shim, Mode::Standard, call.message(), call.request, pass);
    bsend_init(Bsend_init): |shim, call, pass| init_send(shim, Mode::Buffered, call.message(), call.request, pass);
    ssend_init(Ssend_init): |shim, call, pass| init_send(shim, Mode::Synchronous, call.message(), call.request, pass);
    rsend_init(Rsend_init): |shim, call, pass| init_send(shim, Mode::Ready, call.message(), call.request, pass);
    // Even a short receive is handled here if its source may send frames: its message may be in the unexpected queue. So is every receive that is
    // recorded.
    recv_init(Recv_init): |shim, call, pass| {
        let message = call.message();
        let ours =
            shim.probe_peers(message.asked()).is_some() && !shim.refused(&message.span);
        let traced = shim.to_trace(&message);
        if !ours && traced.is_none() {
            return pass();
        }
        init(shim, Action::Receive, message, traced, call.request, pass)
    };
    start(Start): |shim, call, pass| start_one(shim, call.request, pass);
    startall(Startall): |shim, call, pass| {
        let arguments::Startall { count, array_of_requests: requests } = call;
        if shim.requests.is_empty() || count <= 0 || requests.is_null() {
            return pass();
        }
        for at in 0..count.unsigned_abs() as usize {
            let request = Out::new(requests.add(at));
            let code = start_one(shim, request, || open::MPI_Start(request.ptr()));
            if code != SUCCESS {
                return code;
            }
        }
        SUCCESS
    };
}

fn init_send(
    shim: &Shim,
    mode: Mode,
    message: Envelope,
    request: Out<MPI_Request>,
    pass: impl Fn() -> c_int,
) -> c_int {
    // Recorded messages are handled here, too: the MPI's own `MPI_Start` does not say what is sent.
    if shim.frame_candidate(mode, &message).is_err() && shim.sampled(&message).is_none() {
        return pass();
    }
    init(shim, Action::Send(mode), message, None, request, pass)
}

fn init(
    shim: &Shim,
    action: Action,
    mut message: Envelope,
    traced: Option<Receive>,
    request: Out<MPI_Request>,
    pass: impl Fn() -> c_int,
) -> c_int {
    let code = pass();
    if code != SUCCESS {
        return code;
    }
    let datatype = match shim.hold(&mut message.span) {
        Ok(datatype) => datatype,
        Err(code) => return raise(message.comm, code),
    };
    let origin = Origin { comm: message.comm, peers: shim.all_peers(message.comm) };
    let template = Template { action, message, origin, _datatype: datatype, traced };
    shim.requests.put(request.get(), None, Some(template));
    SUCCESS
}

fn start_one(shim: &Shim, request: Out<MPI_Request>, pass: impl Fn() -> c_int) -> c_int {
    let Some(handle) = request.read() else { return pass() };
    let mut record = match shim.requests.use_one(handle, false) {
        Found::Record(record) => record,
        // Started already: a call waits for it.
        Found::AtWork => return raise(COMM_WORLD, ERR_REQUEST),
        Found::Nothing => return pass(),
    };
    let handler = record.template().map_or(COMM_WORLD, |template| template.origin.handler());
    let is_started = record.active().is_some();
    let started = match record.template().filter(|_| !is_started) {
        Some(template) => start_operation(shim, template),
        // Already started, or not persistent: an error of the program, for which the MPI uses the same code.
        None => Err(ERR_REQUEST.into()),
    };
    let result = started.map(|active| *record.slot() = Some(active));
    shim.requests.end_use(std::iter::once((&mut handle.clone(), record)));
    result.map_or_else(|error| raise(handler, error), |()| SUCCESS)
}

/// Begins the operation of a request. If the program has freed the communicator, the handle may belong to another one by now, so its peers are not
/// looked up.
fn start_operation(shim: &Shim, template: &Template) -> Started {
    let message = &template.message;
    let is_live = template.origin.peers.as_ref().is_some_and(|peers| !peers.ended());
    match template.action {
        Action::Send(mode) if is_live => {
            shim.sample(message, "start");
            send::begin(shim, mode, message, false, By::usual(false))
        }
        Action::Send(mode) => send::as_is(mode, message),
        Action::Receive => {
            shim.trace_start(template.traced.as_ref());
            if is_live {
                shim.expect_more(message);
            }
            if is_live || message.peer == PROC_NULL {
                return recv::start_any(shim, message, true);
            }
            match template.origin.peers.as_ref().filter(|peers| peers.frames_with(message.peer)) {
                Some(peers) => recv::start(shim, message, peers, true),
                None => recv::as_is(shim, message, true),
            }
        }
    }
}
