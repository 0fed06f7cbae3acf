//! The environment variables in which launchers tell a process its rank. The `mpress` command also includes
//! this file.

/// The rank in the job: Open MPI's launchers, those that use PMI or PMIx, Slurm, MVAPICH's, PALS, ALPS, Flux.
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

/// The rank on the node.
pub(crate) const LOCAL_RANKS: [&str; 6] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
];
