#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cell;
mod contest;
mod context;
mod decision;
mod epochs;
mod estimate;
mod flow;
mod guided;
mod heuristics;
mod ledger;
mod link;
mod nodes;
mod priors;
mod sample;
mod scales;
mod selector;
mod size;
mod tally;
mod trains;
mod trials;
mod window;

pub use decision::{Admitted, Choice, Decision, Offer, Probe};
pub use estimate::{Packed, Transfer};
pub use guided::{Guide, Guided};
pub use heuristics::{Behaviour, DEFAULT_LINKS, Speed};
pub use ledger::Gain;
pub use link::{Link, PEER_CLASSES, Peer, PeerClass};
pub use sample::{Level, level};
pub use selector::{Offered, Selector};
pub use size::SizeClass;
pub use tally::Tally;
pub use trials::ByTheClock;
pub use window::Thresholds;
