#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod files;
mod recorded;
mod recorder;
mod samples;
mod trace;

pub use files::{Run, make_folder};
pub use mpress_predict::trace::Kind as CallKind;
pub use recorded::Recorded;
pub use recorder::Recorder;
pub use samples::{Kept, Message, Samples};
pub use trace::{Call, Sink, Trace, Written};
