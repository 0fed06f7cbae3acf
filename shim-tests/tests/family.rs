//! How the shims interpret the version texts of MPIs. The shims are not built for tests, so the tests in that
//! file run here.

#[path = "../../pmpi-shim/src/mpi/family.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod family;
