//! From `MPI_Init` to `MPI_Finalize`: the ranks agree to use frames ([`startup`]), measure the network, and report at the end ([`finish`]).

pub(crate) mod finish;
pub(crate) mod handshake;
pub(crate) mod profile;
pub(crate) mod startup;
