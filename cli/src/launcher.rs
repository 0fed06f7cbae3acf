//! What an MPI launcher tells its ranks through the environment.

use crate::detect::Mpi;

/// Set by Open MPI's launchers, and by Slurm's for programs that speak PMIx.
const OPEN_MPI: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"];

/// Set by hydra, MPICH's launcher, and by others that speak PMI.
const MPICH: [&str; 5] = ["PMI_RANK", "PMI_SIZE", "PMI_FD", "HYDI_CONTROL_FD", "HYDRA_CONTROL_FD"];

const RANK: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];

/// Some of the variables looked for, for messages.
pub(crate) const EXAMPLES: &str = "OMPI_COMM_WORLD_SIZE, PMIX_NAMESPACE, PMI_RANK";

/// The MPI of the launcher that started this process.
pub(crate) fn mpi() -> Option<Mpi> {
    mpi_by(|name| std::env::var_os(name).is_some())
}

fn mpi_by(is_set: impl Fn(&str) -> bool) -> Option<Mpi> {
    if OPEN_MPI.into_iter().any(&is_set) {
        return Some(Mpi::OpenMpi);
    }
    MPICH.into_iter().any(is_set).then_some(Mpi::Mpich)
}

/// The rank of this process in its job.
pub(crate) fn rank() -> Option<u64> {
    RANK.into_iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_told_apart() {
        let by = |set: &'static [&'static str]| mpi_by(|name| set.contains(&name));
        assert_eq!(by(&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"]), Some(Mpi::OpenMpi));
        assert_eq!(by(&["PMIX_NAMESPACE"]), Some(Mpi::OpenMpi));
        assert_eq!(by(&["PMI_RANK", "PMI_SIZE", "PMI_FD"]), Some(Mpi::Mpich));
        assert_eq!(by(&["HYDI_CONTROL_FD"]), Some(Mpi::Mpich));
        assert_eq!(by(&["SLURM_PROCID", "PATH"]), None);
    }
}
