//! Where MPIs of one ABI differ, by what they say of themselves. Without the rest of the shim, for the tests.

/// Whose library it is: where MPIs of one ABI differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    OpenMpi,
    /// MPICH, and what is made from it.
    Mpich,
    /// The same by Intel.
    Intel,
    /// For these the way is taken that is right with all MPIs.
    Unknown,
}

impl Family {
    /// By the beginning of `MPI_Get_library_version`'s answer.
    pub(crate) fn of(version: &str) -> Self {
        let begins = |names: &[&str]| names.iter().any(|name| version.starts_with(name));
        if begins(&["Open MPI"]) {
            Self::OpenMpi
        } else if begins(&["MPICH", "MVAPICH"]) || version.contains("CRAY MPICH") {
            Self::Mpich
        } else if begins(&["Intel(R) MPI"]) {
            Self::Intel
        } else {
            Self::Unknown
        }
    }

    /// Whether a frame may be received into elements of several bytes, not all of the last of which it fills. MPICH takes that
    /// for an error. (Into a contiguous buffer of ours, Open MPI would write beyond the end where a message is too long.)
    pub(crate) fn takes_partial_elements(self) -> bool {
        self == Self::OpenMpi
    }

    /// Whether a message that is too long is written beyond the end of a buffer in one piece, as by Open MPI 4.1. In two pieces it
    /// is not.
    pub(crate) fn overruns(self) -> bool {
        !matches!(self, Self::Mpich | Self::Intel)
    }

    /// Whether an error of a request goes to the handler of its communicator. With MPICH it does so for persistent requests
    /// only; of others the handler of `MPI_COMM_WORLD` hears. Open MPI frees a failed persistent request.
    pub(crate) fn calls_own_handler(self) -> bool {
        self == Self::OpenMpi
    }

    /// Whether sums of integers of 8 and 16 bits are the same wherever an element is, and in any order. Open MPI saturates them where it uses
    /// vectors, and wraps them at the end of a buffer.
    pub(crate) fn wraps_short_sums(self) -> bool {
        matches!(self, Self::Mpich | Self::Intel)
    }

    /// Whether a synchronous send may go to a process that has freed the communicator meanwhile, as the standard allows. Intel MPI 2021.18
    /// dies of it; heads of messages in chunks are such sends.
    pub(crate) fn answers_for_freed_communicators(self) -> bool {
        self != Self::Intel
    }
}

#[cfg(test)]
mod tests {
    use super::Family;

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
}
