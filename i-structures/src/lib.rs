#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod address;
mod bytes;
mod cache;
mod counts;
mod detector;
mod distribution;
mod divisor;
mod element;
mod error;
mod executor;
mod handle;
mod hash;
mod message;
mod node;
mod options;
#[cfg(feature = "mpi")]
mod over_mpi;
mod parked;
mod pending;
mod plan;
mod plan_file;
mod segment;
pub mod simulated;
mod state;
mod transport;
mod waiter;

pub use address::{Address, StructureId};
pub use counts::{Counts, Memory};
pub use distribution::{Distribution, Layout};
pub use element::{Element, ElementState};
pub use error::{Error, Refusal, Result, Waiting};
pub use handle::{Fetch, IStructure, Structure};
pub use node::{Node, Step};
pub use options::{Caching, Deferral, Options};
#[cfg(feature = "mpi")]
pub use over_mpi::MpiTransport;
pub use plan::{Plan, Recorder};
pub use transport::{Content, Transport, TransportError};
