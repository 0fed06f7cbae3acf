//! What is pending: requests of the program, operations that no longer have one, and messages that came before the program asked for them.

pub(crate) mod active;
pub(crate) mod prefetch;
pub(crate) mod requests;
pub(crate) mod state;
pub(crate) mod unexpected;
