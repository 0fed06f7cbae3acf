#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cycle;
mod envelope;
mod initialisation;
mod predictor;
mod single_cycle;
mod tagging;
mod tournament;
pub mod trace;
mod trial;
mod two_level;
mod window;

pub use cycle::{Bettercycle, Cycle, Discovery};
pub use envelope::{Envelope, Id, Interner};
pub use predictor::{Predictor, Tag, hits};
pub use single_cycle::SingleCycle;
pub use tagging::{PerTag, TagBettercycle, TagCycle, Tagging};
pub use tournament::Tournament;
pub use trial::Trial;
pub use two_level::TwoLevel;
pub use window::{Replace, Window};
