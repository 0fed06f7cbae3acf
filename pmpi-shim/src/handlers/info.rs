//! Infos of communicators: the key `mpress_strategy` sets a communicator's strategy; some assertions are not passed on to the MPI.

use crate::mpi::{arguments, sys::*};
use crate::operations::state::Shim;
use mpress::Strategy;
use std::ffi::CStr;

const KEY: &CStr = c"mpress_strategy";
/// Assertions about a program's messages that our frames and probes violate: frames are shorter than their receives, and our probes for frames use
/// wildcards (MPI 4.0, section 7.4.4).
const ASSERTIONS: [&CStr; 3] =
    [c"mpi_assert_exact_length", c"mpi_assert_no_any_tag", c"mpi_assert_no_any_source"];
/// Greatest length of a strategy's name.
const MAX_VALUE: usize = 63;

/// The handlers of the calls that give a communicator an info, and this communicator; null if there is none when the call returns.
macro_rules! infos {
    ($($name:ident $Name:ident: |$call:ident| $comm:expr;)*) => {$(
        pub(crate) unsafe fn $name(
            shim: &Shim,
            $call: arguments::$Name,
            pass: impl Fn(MPI_Info) -> c_int,
        ) -> c_int {
            let code = without_assertions($call.info, pass);
            if code == SUCCESS {
                take_over(shim, $comm, $call.info);
            }
            code
        }
    )*};
}

infos! {
    comm_set_info Comm_set_info: |call| call.comm;
    comm_dup_with_info Comm_dup_with_info: |call| call.newcomm.get();
    comm_idup_with_info Comm_idup_with_info: |call| COMM_NULL;
    comm_split_type Comm_split_type: |call| call.newcomm.get();
    dist_graph_create Dist_graph_create: |call| call.comm_dist_graph.get();
    dist_graph_create_adjacent Dist_graph_create_adjacent: |call| call.comm_dist_graph.get();
    comm_create_from_group Comm_create_from_group: |call| call.newcomm.get();
    intercomm_create_from_groups Intercomm_create_from_groups: |call| call.newintercomm.get();
}

/// Calls a function of the MPI with this info, without the assertions that do not hold.
fn without_assertions(info: MPI_Info, call: impl FnOnce(MPI_Info) -> c_int) -> c_int {
    let mut there = ASSERTIONS.into_iter().filter(|key| look_up(info, key).is_some()).peekable();
    if there.peek().is_none() {
        return call(info);
    }
    let mut copy = INFO_NULL;
    // SAFETY: the info of a call, and our own copy of it, which alone is changed and freed.
    unsafe {
        let made = ok(PMPI_Info_dup(info, &mut copy))
            .and_then(|()| there.try_for_each(|key| ok(PMPI_Info_delete(copy, key.as_ptr()))));
        let code = made.map_or_else(|code| code, |()| call(copy));
        if copy != INFO_NULL {
            PMPI_Info_free(&raw mut copy);
        }
        code
    }
}

/// The value of a key in an info.
fn look_up(info: MPI_Info, key: &CStr) -> Option<String> {
    if info == INFO_NULL {
        return None;
    }
    let (mut value, mut found) = ([0_u8; MAX_VALUE + 1], 0);
    let place = value.as_mut_ptr().cast::<c_char>();
    // SAFETY: the info of a call; the buffer is a byte longer than the length passed.
    let asked = unsafe { PMPI_Info_get(info, key.as_ptr(), MAX_VALUE as c_int, place, &raw mut found) };
    let value = CStr::from_bytes_until_nul(&value).ok()?;
    (asked == SUCCESS && found != 0).then(|| value.to_string_lossy().into_owned())
}

/// Applies the strategy of an info to a communicator, if there is one.
fn take_over(shim: &Shim, comm: MPI_Comm, info: MPI_Info) {
    let Some(text) = look_up(info, KEY).filter(|_| comm != COMM_NULL) else { return };
    match text.parse::<Strategy>() {
        Ok(strategy) => _ = shim.all_peers(comm).map(|peers| peers.set_strategy(strategy)),
        Err(expected) if shim.world.rank == 0 => {
            say!("mpress: info key mpress_strategy={text}: expected {expected}; the key is ignored");
        }
        Err(_) => {}
    }
}
