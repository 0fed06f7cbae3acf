//! What an MPI launcher tells its ranks through the environment.

use crate::detect::Abi;
use crate::ranks;

/// Set by Open MPI's launchers, and by Slurm's for programs that use PMIx.
const OPEN_MPI: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"];

/// Set by hydra, MPICH's launcher, and by others that use PMI.
const MPICH: [&str; 5] = ["PMI_RANK", "PMI_SIZE", "PMI_FD", "HYDI_CONTROL_FD", "HYDRA_CONTROL_FD"];

const SIZE: [&str; 5] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE"];

/// The library names of the MPIs for which the launcher may have started this process, most likely first; empty without a launcher.
pub(crate) fn libraries() -> &'static [&'static str] {
    libraries_by(|name| std::env::var_os(name).is_some())
}

fn libraries_by(is_set: impl Fn(&str) -> bool) -> &'static [&'static str] {
    if OPEN_MPI.into_iter().any(&is_set) {
        &["libmpi.so.40", "libmpi_abi.so.1"]
    } else if MPICH.into_iter().any(is_set) {
        &["libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"]
    } else {
        &[]
    }
}

/// The ABI of the MPI that the launcher of this process belongs to, if that is certain: Slurm, PMI and PMIx work with all.
pub(crate) fn abi() -> Option<Abi> {
    let is_set = |name: &&str| std::env::var_os(name).is_some();
    if is_set(&"OMPI_COMM_WORLD_SIZE") {
        Some(Abi::OpenMpi)
    } else if ["HYDI_CONTROL_FD", "HYDRA_CONTROL_FD"].iter().any(is_set) {
        Some(Abi::Mpich)
    } else {
        None
    }
}

/// The rank of this process in its job.
pub(crate) fn rank() -> Option<u64> {
    number(&ranks::RANKS)
}

/// Whether the launcher says that this is the first rank on its node.
pub(crate) fn is_first_on_node() -> bool {
    number(&ranks::LOCAL_RANKS) == Some(0)
}

/// The number of ranks in its job.
pub(crate) fn size() -> Option<u64> {
    number(&SIZE)
}

fn number(names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_told_apart() {
        let by = |set: &'static [&'static str]| libraries_by(|name| set.contains(&name)).first().copied();
        assert_eq!(by(&["OMPI_COMM_WORLD_SIZE", "PMIX_RANK"]), Some("libmpi.so.40"));
        assert_eq!(by(&["PMIX_NAMESPACE"]), Some("libmpi.so.40"));
        assert_eq!(by(&["PMI_RANK", "PMI_SIZE", "PMI_FD"]), Some("libmpi.so.12"));
        assert_eq!(by(&["HYDI_CONTROL_FD"]), Some("libmpi.so.12"));
        assert_eq!(by(&["SLURM_PROCID", "PATH"]), None);
    }
}
