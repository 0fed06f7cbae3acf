//! Where launchers tell a process of its rank, in its environment. Also for the `mpress` command, which takes this file in.

/// Where launchers say which rank a process is: Open MPI's, those that speak PMI or PMIx, Slurm, MVAPICH's, PALS, ALPS, Flux.
pub(crate) const RANKS: [&str; 9] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "SLURM_PROCID",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "ALPS_APP_PE",
    "FLUX_TASK_RANK",
    "PMI_ID",
];

/// And which of its node.
pub(crate) const LOCAL_RANKS: [&str; 6] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
];
