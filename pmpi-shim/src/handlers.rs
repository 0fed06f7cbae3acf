//! Handlers of the program's point-to-point calls, and of calls that complete requests, pack data, free datatypes, or give a communicator an info.

pub(crate) mod completion;
pub(crate) mod info;
pub(crate) mod matched_probe;
pub(crate) mod packing;
pub(crate) mod persistent;
pub(crate) mod probe;
pub(crate) mod recv;
pub(crate) mod send;
pub(crate) mod sendrecv;
