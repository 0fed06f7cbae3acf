//! How the shims interpret the version texts of MPIs: the tests of that file. The shims themselves are not
//! built for tests.

#[path = "../../pmpi-shim/src/mpi/family.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod family;
