//! An emulated cluster on one machine, and MPI jobs on it.
//!
//! Every node is a network namespace with one interface, `eth0`, capped to the rate of a real network. All
//! nodes hang on one switch, which has a namespace of its own: nothing appears among the interfaces of the
//! host, its firewall does not see the traffic, and several clusters stand beside each other.
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
//! Making namespaces needs root; [`Cluster::permitted`] says whether it would work. [`Launcher`] lets the same
//! code run a job on a cluster or, without one, on this host.
//!
//! A program that handles Ctrl-C calls [`tear_down_all`] there: a cluster is otherwise torn down by its `Drop`
//! alone, and what a killed process left is swept by the next [`Cluster::new`].

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
