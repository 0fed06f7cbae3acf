//! What this crate asks of a message layer.

use thiserror::Error;

/// A failure of the message layer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("transport: {0}")]
pub struct TransportError(pub String);

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
    fn send(&mut self, to: u32, message: Vec<u8>) -> Result<(), TransportError>;

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
