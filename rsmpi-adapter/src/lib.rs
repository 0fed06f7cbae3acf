#![doc = include_str!("../README.md")]

mod attached;
mod collectives;
mod communicator;
mod context;
mod destination;
mod error;
mod request;
mod root;
mod shim;
mod source;
mod span;

pub use collectives::CompressedCollectives;
pub use communicator::CompressedCommunicator;
pub use destination::CompressedDestination;
pub use error::{Error, Result};
pub use mpress::{
    Codecs, Destination, Engine, FrameError, Kind, Line, Predict, RawReason, Reduce, Report, SameNode,
    Settings, SettingsError, Stats, Strategy, Streams, selector::SizeClass,
};
pub use request::{Request, wait_any};
pub use root::CompressedRoot;
pub use source::{CompressedSource, compressed_send_receive_into, compressed_send_receive_into_with_tags};

/// All traits, to be imported in addition to those of [`mpi::traits`].
pub mod traits {
    pub use crate::{CompressedCollectives, CompressedDestination, CompressedRoot, CompressedSource};
}
