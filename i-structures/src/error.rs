//! Errors.

use crate::{address::Address, address::StructureId, transport::TransportError};
use std::fmt;
use thiserror::Error;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error. Ranks, indices and blocks are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A second store into an element.
    #[error("{0} is stored a second time")]
    StoredTwice(Address),
    /// An index beyond the end.
    #[error("{address} does not exist: the structure has {len} elements")]
    OutOfRange {
        /// The address.
        address: Address,
        /// Number of elements of the structure.
        len: u64,
    },
    /// A store by a rank other than the owner.
    #[error("{address} can be stored only by its owner, rank {owner}")]
    NotOwner {
        /// The address.
        address: Address,
        /// Its owner.
        owner: u32,
    },
    /// The structure was freed.
    #[error("{0} was freed")]
    Freed(StructureId),
    /// The owner of a remote element refused the request.
    #[error("the owner of {address}, rank {owner}, refuses the request: {reason}")]
    Refused {
        /// The address of the fetch.
        address: Address,
        /// Its owner.
        owner: u32,
        /// Why.
        reason: Refusal,
    },
    /// No rank can continue and no message is in transit.
    #[error("deadlock: {waiting} fetches wait for elements that no rank stores: {}", list(.names))]
    Deadlock {
        /// The number of waiting fetches on all ranks.
        waiting: u64,
        /// Some of them.
        names: Vec<Waiting>,
    },
    /// Another rank has failed.
    #[error("rank {rank} has failed: {why}")]
    Peer {
        /// Its number.
        rank: u32,
        /// Its error.
        why: String,
    },
    /// The limit of messages kept for structures that this rank has not created yet (65,536, or 256 MiB)
    /// was exceeded.
    #[error("rank {from} sends more for structures that this rank has not created yet than it keeps")]
    TooEarly {
        /// The sender of the last one.
        from: u32,
    },
    /// A message that cannot be decoded or does not fit its structure.
    #[error("rank {from} has sent an invalid message: {what}")]
    Protocol {
        /// Its sender.
        from: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// Invalid options.
    #[error("options of a structure: {0}")]
    Options(&'static str),
    /// More elements or bytes than this machine can address or allocate.
    #[error("a structure with {0} elements on this rank does not fit into memory")]
    TooLarge(u64),
    /// A plan made for other parameters.
    #[error("the plan is for other parameters: {0}")]
    Plan(&'static str),
    /// A plan file that cannot be read.
    #[error("plan file: {0}")]
    PlanFile(&'static str),
    /// A call within a run that is only allowed outside, or vice versa.
    #[error("{0}")]
    Misuse(&'static str),
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// An error returned by the program.
    #[error("{0}")]
    Program(String),
}

/// Why an owner refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has freed the structure.
    Freed,
    /// Its structure with this number has other parameters.
    OtherParameters,
    /// It has no such block.
    NoSuchBlock,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Freed => "it has freed the structure",
            Self::OtherParameters => "its structure of this number has other parameters",
            Self::NoSuchBlock => "it has no such block",
        })
    }
}

/// A waiting fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// The rank that waits.
    pub rank: u32,
    /// The address of the fetch.
    pub address: Address,
}

fn list(names: &[Waiting]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("rank {} for {}", name.rank, name.address)).collect();
    names.join(", ")
}
