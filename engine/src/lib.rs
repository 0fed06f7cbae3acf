#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod blocks;
mod buffer;
mod codecs;
mod engine;
mod frame;
mod policy;
pub mod report;
mod settings;
mod stats;

pub use buffer::Buffer;
pub use codecs::names as codec_names;
pub use engine::Engine;
pub use frame::{FLOOR, Frame, FrameError, HEADER_LEN, Incoming};
pub use mpress_codec::{CodecId, DecodeError, DecodeErrorKind, Kind};
pub use policy::Destination;
pub use settings::{Report, SameNode, Settings, SettingsError};
pub use stats::Stats;
