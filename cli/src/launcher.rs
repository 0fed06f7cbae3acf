//! What an MPI launcher tells its ranks through the environment.

use crate::detect::Abi;
use crate::ranks;

const SIZE: [&str; 5] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE"];

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
