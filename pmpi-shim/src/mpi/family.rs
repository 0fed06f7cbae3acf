//! Differences between MPIs of one ABI, by their version strings. It uses nothing else of the shim, so that its test can include this file
//! (`shim-tests/tests/family.rs`).

/// The family of the MPI library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    OpenMpi,
    /// MPICH and its derivatives.
    Mpich,
    /// Intel's derivative of MPICH.
    Intel,
    /// Treated in the way that is correct with all MPIs.
    Unknown,
}

impl Family {
    /// The family, from the beginning of `MPI_Get_library_version`'s result.
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

    /// Whether a frame may be received into elements of several bytes of which it fills the last only in part. MPICH reports that as an error. (With
    /// our own contiguous buffer instead, Open MPI would write beyond its end if a message is too long.)
    pub(crate) fn takes_partial_elements(self) -> bool {
        self == Self::OpenMpi
    }

    /// Whether a message that is too long is written beyond the end of a contiguous buffer, as by Open MPI 4.1. With a buffer in two pieces it is
    /// not.
    pub(crate) fn overruns(self) -> bool {
        !matches!(self, Self::Mpich | Self::Intel)
    }

    /// Whether an error of a request is reported to its communicator's handler. MPICH does so only for persistent requests; for others it calls the
    /// handler of `MPI_COMM_WORLD`. Open MPI frees a failed persistent request.
    pub(crate) fn calls_own_handler(self) -> bool {
        self == Self::OpenMpi
    }

    /// Whether sums of 8- and 16-bit integers are the same for every element position and order. Open MPI saturates them where it uses vectors, and
    /// wraps them at the end of a buffer.
    pub(crate) fn wraps_short_sums(self) -> bool {
        matches!(self, Self::Mpich | Self::Intel)
    }

    /// Whether a synchronous send may go to a process that has freed the communicator meanwhile, as the standard allows. It crashes Intel MPI
    /// 2021.18; heads of messages in chunks are such sends.
    pub(crate) fn answers_for_freed_communicators(self) -> bool {
        self != Self::Intel
    }
}
