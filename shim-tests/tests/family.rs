//! How the shims interpret the version texts of MPIs. The shims of some ABIs are not built for tests, so this
//! includes the file.

#[path = "../../pmpi-shim/src/mpi/family.rs"]
#[allow(dead_code, reason = "the shim needs the rest")]
mod family;

use family::Family;

#[test]
fn libraries_name_themselves_at_the_beginning() {
    for (version, family) in [
        ("Open MPI v5.0.11, package: Open MPI", Family::OpenMpi),
        ("MPICH Version:      4.3.2\nMPICH Release date: Mon Oct  6", Family::Mpich),
        ("Intel(R) MPI Library 2021.18.0 for Linux* OS\n", Family::Intel),
        ("MVAPICH2 Version      :\t2.3.7", Family::Mpich),
        ("MPI VERSION    : CRAY MPICH version 8.1.28.29 (ANL base 3.4a2)", Family::Mpich),
        ("", Family::Unknown),
        ("Some Open MPI", Family::Unknown),
    ] {
        assert_eq!(Family::of(version), family, "{version}");
    }
}
