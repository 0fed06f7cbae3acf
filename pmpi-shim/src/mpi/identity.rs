//! The loaded MPI, as it describes itself.

use crate::mpi::{family::Family, symbol::Symbol, sys::*};

/// The family of the loaded MPI. May be called before the MPI is initialised.
pub(crate) fn family() -> Family {
    // SAFETY: room for the longest version.
    let version = written(|text, len| unsafe { PMPI_Get_library_version(text, len) });
    Family::of(&version.unwrap_or_default())
}

/// Why calls must be passed on in this process, if they must. The MPI must be initialised.
pub(crate) fn doubt() -> Option<String> {
    let (mut version, mut subversion) = (0, 0);
    PMPI_Get_version(&mut version, &mut subversion);
    if let Some(missing) = NEEDED.iter().find(|function| function.get().is_none()) {
        return Some(format!("the MPI has no {}", missing.name()));
    }
    if tolerates_faults() {
        return Some("the MPI tolerates failed processes".to_owned());
    }
    let is_known = (version, subversion) <= KNOWN;
    (!is_known).then(|| {
        format!(
            "the MPI is of the standard {version}.{subversion}, and mpress knows standards up to {}.{}",
            KNOWN.0, KNOWN.1
        )
    })
}

/// Whether the job has been started so that the program may go on after a process has failed (ULFM). It revokes its communicators then, so that no
/// rank waits in them for ever; messages on a communicator of the layer's own would not end.
fn tolerates_faults() -> bool {
    // Open MPI from 5.0 on: a `bool`, set from all that may set its parameter `mpi_ft_enable`, such as `mpirun --with-ft`.
    static OPEN_MPI: Symbol = Symbol::of("ompi_ftmpi_enabled\0");
    // SAFETY: the MPI's own variable, which is only written while it is initialised.
    let is_on = OPEN_MPI.get().is_some_and(|variable| unsafe { *variable.cast::<u8>() } != 0);
    // MPICH has no such variable to be read.
    let is_asked_for = |value: &std::ffi::OsStr| {
        !["", "0", "no", "off", "false"].iter().any(|no| value.eq_ignore_ascii_case(no))
    };
    is_on || std::env::var_os("MPIR_CVAR_ENABLE_FT").is_some_and(|value| is_asked_for(&value))
}

/// Functions of MPI 3.0 that the shim cannot do without. Those for lengths are deprecated since 4.1.
static NEEDED: [Symbol; 4] = [
    Symbol::of("PMPI_Type_size_x\0"),
    Symbol::of("PMPI_Get_elements_x\0"),
    Symbol::of("PMPI_Status_set_elements_x\0"),
    Symbol::of("PMPI_Imrecv\0"),
];

/// The version of the standard whose calls the table has.
const KNOWN: (c_int, c_int) = (5, 0);
