#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)] // allowed again only in `kernel` and `memory`: copies, and the bounds they are checked against

extern crate alloc;
#[cfg(feature = "peer")]
extern crate std;

mod blocking;
mod bounds;
mod datatype;
mod error;
mod kernel;
mod machine;
mod memory;
#[cfg(feature = "peer")]
pub mod peer;
mod plan;
mod shape;

pub use bounds::{Bounds, Dialect};
pub use datatype::{Abi, Contents, Datatype, Dimension, Distribution, Order};
pub use error::{Error, PackError};
pub use machine::{Cache, Machine};
pub use memory::{Source, Target};
pub use plan::{Class, Plan};
