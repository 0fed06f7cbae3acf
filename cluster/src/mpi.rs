//! The two MPI libraries, by the names Debian gives their tools so that both can be installed.

use std::fmt;
use std::str::FromStr;

/// An MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpi {
    /// Open MPI.
    OpenMpi,
    /// MPICH.
    Mpich,
}

impl Mpi {
    /// Both.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// The short name used in paths and variables: `openmpi` or `mpich`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
        }
    }

    /// The name people know it by.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
        }
    }

    /// Its launcher.
    #[must_use]
    pub const fn mpirun(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpirun.openmpi",
            Self::Mpich => "mpirun.mpich",
        }
    }

    /// Its C compiler wrapper.
    #[must_use]
    pub const fn mpicc(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpicc.openmpi",
            Self::Mpich => "mpicc.mpich",
        }
    }

    /// Its Fortran compiler wrapper.
    #[must_use]
    pub const fn mpifort(self) -> &'static str {
        match self {
            Self::OpenMpi => "mpifort.openmpi",
            Self::Mpich => "mpifort.mpich",
        }
    }
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mpi {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mpi| mpi.name() == name)
            .ok_or_else(|| format!("`{name}` is no MPI known here (openmpi or mpich)"))
    }
}

#[cfg(test)]
mod tests {
    use super::Mpi;

    #[test]
    fn names_lead_back() {
        for mpi in Mpi::ALL {
            assert_eq!(mpi.to_string().parse(), Ok(mpi));
        }
        assert!("lam".parse::<Mpi>().is_err());
    }
}
