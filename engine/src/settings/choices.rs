//! What settings with a few values choose.

/// What to print when the program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Nothing.
    #[default]
    None,
    /// The totals of the job, and what that was worth.
    Summary,
    /// Everything that was counted.
    Full,
}

/// What to do with messages that stay inside a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameNode {
    /// Pass them on untouched.
    #[default]
    Pass,
    /// Treat them like messages for another node. For tests: memory is faster than any codec.
    Compress,
}

/// Which reductions are compressed, where the layer above can do that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduce {
    /// None.
    Off,
    /// Those whose result does not depend on the order of the operations: on integers.
    #[default]
    Exact,
    /// Also sums, products, minima and maxima of floating-point numbers: in another order than the MPI's, so that the last bits of the
    /// result may differ from those without mpress.
    Reorder,
}

/// Which messages go in chunks, where the layer above can send them so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// Those for which it pays, if one thread codes them.
    #[default]
    Auto,
    /// None.
    Off,
    /// Those of at least this many bytes, no fewer than [`Streams::LEAST`].
    From(usize),
}

impl Streams {
    /// No shorter message goes in chunks, in bytes.
    pub const LEAST: usize = 4096;
}

/// Whether a rank that waits looks for the messages that it will most likely ask for next, where the layer above can do that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Predict {
    /// No.
    #[default]
    Off,
    /// Yes, as long as that gains time.
    On,
    /// It takes whatever has come from a rank that may send frames, whether that gains time or not. For tests.
    All,
}
