#![doc = include_str!("../README.md")]
#![allow(non_camel_case_types, reason = "types have the names that C knows them by")]

mod channels;
mod codec;
mod engine;
mod error;
mod handshake;
mod kind;
mod memory;
mod report;
mod settings;
mod status;

pub use channels::*;
pub use codec::*;
pub use engine::*;
pub use error::mpress_last_error;
pub use handshake::*;
pub use kind::*;
pub use report::*;
pub use settings::*;
pub use status::*;

#[cfg(not(panic = "unwind"))]
compile_error!("this crate catches panics at its border, which needs panic = \"unwind\"");

/// Every handle may be used by several threads at the same time.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<mpress_codec>();
    shared::<mpress_settings>();
    shared::<mpress_engine>();
    shared::<mpress_frame>();
};
