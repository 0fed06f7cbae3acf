#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bandwidth;
mod costs;
mod decision;
mod estimate;
mod guided;
mod heuristics;
mod judge;
mod link;
mod ras;
mod recall;
mod sample;
mod selector;
mod size;
mod table;
mod tally;
mod window;

pub use decision::{Admitted, Choice, Decision, Offer, Probe};
pub use estimate::{Packed, Transfer};
pub use guided::{Guide, Guided};
pub use heuristics::{Behaviour, Speed};
pub use judge::TrialResult;
pub use link::{DEFAULT_LINK, Link};
pub use ras::Ras;
pub use recall::{Recall, Recalled};
pub use sample::{Level, level};
pub use selector::{Gain, Mechanism, Offered, Selector};
pub use size::SizeClass;
pub use tally::Tally;
pub use window::Thresholds;
