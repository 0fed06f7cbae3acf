//! An emulated cluster on one machine, and MPI jobs on it.
//!
//! Every node is a network namespace with one interface, `eth0`, capped to the rate of a real network. All nodes are connected to one switch, which
//! has its own namespace. So nothing appears among the host's interfaces, the host's firewall does not see the traffic, and several clusters can
//! exist at the same time.
//!
//! ```no_run
//! use mpress_cluster::{Cluster, Config, Mpi, Rate};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), mpress_cluster::Error> {
//! let cluster = Cluster::new(Config { nodes: 2, rate: Some(Rate::mbit(100)) })?;
//! let before = cluster.traffic()?;
//! let mut job = cluster.mpirun(Mpi::OpenMpi, 2); // ranks 0 and 1 on n0, 2 and 3 on n1
//! job.env("LD_PRELOAD", "/opt/mpress/lib/libmpress.so").program("./app").args(["64", "64"]);
//! let outcome = job.run(Duration::from_secs(60))?;
//! println!("{outcome:?}, {} bytes on the wire", cluster.traffic()?.since(&before).total());
//! # Ok(())
//! # } // the cluster is gone here
//! ```
//!
//! Creating namespaces requires root; [`Cluster::permitted`] checks whether it would work. [`Launcher`] lets the same code run a job on a cluster or,
//! without one, on this host.
//!
//! A program that handles Ctrl-C should call [`tear_down_all`] there. Otherwise only `Drop` tears a cluster down, and the next [`Cluster::new`]
//! removes what a killed process left. A job ends with the thread that has started it, no matter how the thread ends (util-linux's `setpriv`).

#![forbid(unsafe_code)]

mod cluster;
mod error;
mod job;
mod mpi;
mod names;
mod net;
mod patience;
mod process;
mod rate;
mod registry;
mod run;
mod sweep;
mod traffic;
mod yielding;

pub use cluster::{Cluster, Config};
pub use error::Error;
pub use job::{Job, Launcher};
pub use mpi::{Abi, Family, Mpi};
pub use patience::Finished;
pub use rate::Rate;
pub use registry::{interrupted, tear_down_all};
pub use run::{Outcome, Partial, run_with_timeout};
pub use sweep::sweep;
pub use traffic::Traffic;
pub use yielding::yielding;
