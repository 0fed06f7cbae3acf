//! What this crate asks of a message layer.

use thiserror::Error;

/// A failure of the message layer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("transport: {0}")]
pub struct TransportError(pub String);

/// What most of a message consists of, from its beginning on: a hint for message layers that compress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing in particular.
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

/// A message layer. Every message arrives once, whole, in any order, and comes from the rank that is said.
pub trait Transport {
    /// This rank.
    fn rank(&self) -> u32;

    /// Number of ranks, at least 1.
    fn size(&self) -> u32;

    /// What tells this group of ranks from others, in plans; the same on all ranks.
    fn communicator(&self) -> u64;

    /// Sends a message to another rank. Does not wait for its receipt.
    ///
    /// # Errors
    /// [`TransportError`] if it cannot be sent.
    fn send(&mut self, to: u32, message: Vec<u8>, content: Content) -> Result<(), TransportError>;

    /// The next message, with its sender, or none if there is none at the moment. Does not wait.
    ///
    /// # Errors
    /// [`TransportError`] if messages cannot be received.
    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, TransportError>;

    /// Called when the rank can do nothing but wait for messages. May sleep for a short time. Returns whether the last message has come so
    /// long ago that the rank should take part in the search for a deadlock; if it never does, deadlocks are not found.
    ///
    /// # Errors
    /// [`TransportError`] if the message layer has failed.
    fn idle(&mut self) -> Result<bool, TransportError>;
}
