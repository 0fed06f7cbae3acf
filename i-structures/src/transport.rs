//! The interface to a message layer.

use thiserror::Error;

/// A failure of the message layer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("transport: {0}")]
pub struct TransportError(pub String);

/// The content of most of a message, from its start: a hint for message layers that compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Unknown or mixed.
    Other,
    /// Integers of 8 bits.
    Int8,
    /// Integers of 16 bits.
    Int16,
    /// Integers of 32 bits.
    Int32,
    /// Integers of 64 bits.
    Int64,
    /// Floating-point numbers of 32 bits.
    F32,
    /// Floating-point numbers of 64 bits.
    F64,
}

/// A message layer. Every message arrives once, complete, in any order, and with its true sender.
pub trait Transport {
    /// The number of this rank.
    fn rank(&self) -> u32;

    /// The number of ranks, at least 1.
    fn size(&self) -> u32;

    /// Identifies this group of ranks in plans; the same on all ranks.
    fn communicator(&self) -> u64;

    /// Sends a message to another rank. Does not wait for its receipt.
    ///
    /// # Errors
    /// [`TransportError`] if it cannot be sent.
    fn send(&mut self, to: u32, message: Vec<u8>, content: Content) -> Result<(), TransportError>;

    /// The next message with its sender, or `None` if there is none at the moment. Does not wait.
    ///
    /// # Errors
    /// [`TransportError`] if messages cannot be received.
    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, TransportError>;

    /// Called when the rank can only wait for messages. May sleep for a short time. Returns whether the last message arrived so long ago that the
    /// rank should take part in the search for a deadlock; if it never returns `true`, deadlocks are not detected.
    ///
    /// # Errors
    /// [`TransportError`] if the message layer has failed.
    fn idle(&mut self) -> Result<bool, TransportError>;
}
