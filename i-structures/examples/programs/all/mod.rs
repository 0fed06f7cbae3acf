//! The programs of the paper's section 4, and an irregular one, for any transport: the tasks of one rank, and the pattern of their fetches.

pub(crate) mod fft;
pub(crate) mod product;
pub(crate) mod triangular;

use mpress_i_structures::{Caching, Deferral, Options, Recorder, Result, Structure};
use std::pin::Pin;

/// The task of a rank.
pub(crate) type Task = Pin<Box<dyn Future<Output = Result<()>>>>;

/// A program on one rank, with its structures.
pub(crate) trait Program {
    /// The structures from which elements are fetched, in the order of plans.
    fn structures(&self) -> Vec<Structure>;

    /// Records the fetches of this rank.
    fn record(&self, recorder: &mut Recorder) -> Result<()>;

    /// The task of this rank, without those it spawns.
    fn task(&self) -> Task;

    /// The largest difference between this rank's results and those of a sequential program, relative to the largest of the latter.
    fn error(&self) -> f64;
}

/// The options of a program's structure: without a cache, or with cache blocks of `block` elements, which are deferred as a whole.
pub(crate) fn options(len: u64, block: Option<u64>) -> Options {
    Options::new(len).caching(block.map_or(Caching::Off, Caching::Blocks)).deferral(Deferral::Block)
}
