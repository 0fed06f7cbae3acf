//! The programs of the paper's section 4, and an irregular one, for any transport: tasks of one rank, and the pattern of their fetches.

pub(crate) mod fft;
pub(crate) mod product;
pub(crate) mod triangular;

use mpress_i_structures::{Caching, Deferral, Options, Recorder, Result, Structure};
use std::pin::Pin;

/// The task of a rank.
pub(crate) type Task = Pin<Box<dyn Future<Output = Result<()>>>>;

/// A program on one rank, with its structures.
pub(crate) trait Program {
    /// The structures that are fetched from, in the order of plans.
    fn structures(&self) -> Vec<Structure>;

    /// Notes what the rank will fetch.
    fn record(&self, recorder: &mut Recorder) -> Result<()>;

    /// The tasks of the rank, apart from those they spawn.
    fn task(&self) -> Task;

    /// Largest difference of this rank's results from those of a sequential program, relative to the largest of these.
    fn error(&self) -> f64;
}

/// A structure of a program: without a cache, or with cache blocks of a given number of elements, which are deferred as a whole.
pub(crate) fn options(len: u64, block: Option<u64>) -> Options {
    Options::new(len).caching(block.map_or(Caching::Off, Caching::Blocks)).deferral(Deferral::Block)
}
