//! Settings with a few values to choose from.

/// What to print when the program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Nothing.
    #[default]
    None,
    /// The totals of the job, and the gain.
    Summary,
    /// Everything that was counted.
    Full,
}

/// What to do with messages that stay inside a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameNode {
    /// Send them unchanged.
    #[default]
    Pass,
    /// Treat them like messages for another node. For tests: memory is faster than any codec.
    Compress,
}

/// Which reductions are compressed, if the layer above supports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduce {
    /// None.
    Off,
    /// Those whose result does not depend on the order of operations: on integers.
    #[default]
    Exact,
    /// Also sums, products, minima and maxima of floating-point numbers: in another order than the MPI's, so the last bits of the result may differ
    /// from those without mpress.
    Reorder,
}

/// Which messages are sent in chunks, if the layer above supports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Those for which it pays, if a single thread codes them.
    #[default]
    Auto,
    /// None.
    Off,
    /// Those of at least this number of bytes, which is at least [`Streams::LEAST`].
    From(usize),
}

impl Streams {
    /// The minimum length in bytes of messages in chunks.
    pub const LEAST: usize = 4096;
}

/// Whether a waiting rank receives the messages that the program will most likely ask for next, if the layer above supports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predict {
    /// No.
    #[default]
    Off,
    /// Yes, as long as that saves time.
    On,
    /// Receives everything that has arrived from a rank that may send frames, whether that saves time or not. For tests.
    All,
}
