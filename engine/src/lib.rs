#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod blocks;
mod budget;
mod buffer;
mod codecs;
mod decide;
mod engine;
mod frame;
mod guide;
mod hierarchy;
pub mod job;
pub mod knowledge;
mod links;
mod memory;
pub mod network;
pub mod race;
pub mod report;
mod settings;
pub mod size;
mod spread;
mod stats;
mod strategy;
mod stream;
mod traffic;
pub mod waiting;

pub use budget::{Counted, Pending};
pub use buffer::Buffer;
pub use codecs::{Codec, Codecs, CodecsError, Decoder, Encoder, Prior, Row, names as codec_names};
pub use decide::Considered;
pub use engine::{Destination, Engine, Outgoing, Pieces, Tail};
pub use frame::{FLOOR, FrameError, HEADER_LEN, Header, Incoming, Mark, SHORTEST, frame_len, may_be_frame};
pub use guide::Record;
pub use hierarchy::{Edge, Hierarchy, Relayed};
pub use knowledge::Knowledge;
pub use memory::Channel;
pub use mpress_codec::{CodecId, Decode, DecodeError, DecodeErrorKind, Encode, Kind, Out, Reset};
pub use mpress_selector as selector;
pub use settings::{Predict, Reduce, Report, SameNode, Settings, SettingsError, Streams};
pub use spread::Spread;
pub use stats::{Line, RawReason, Stats};
pub use strategy::{Strategy, StrategyError};
pub use stream::{FRONT, SentAt, Stream};

/// The error in a TOML file, in one line.
fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().lines().next().unwrap_or("not TOML");
    match error.span() {
        Some(span) => {
            let line = text.get(..span.start).unwrap_or_default().matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message.to_owned(),
    }
}
