//! Sparse triangular solve L x = b: an unknown is stored when those in its row are known, in an order that depends on the matrix. The unknowns are
//! distributed cyclically. Elements of a block depend on each other through other ranks, so blocks are deferred element by element.

use super::{Program, Task, options};
use mpress_i_structures::{Deferral, Distribution, IStructure, Node, Recorder, Result, Structure};

/// The solve on one rank.
pub(crate) struct Triangular {
    node: Node,
    n: u64,
    x: IStructure<f64>,
}

/// The columns of a row's entries below the diagonal, and their values; the diagonal is 2.
fn row(index: u64) -> impl Iterator<Item = (u64, f64)> {
    let mut random = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let count = if index == 0 { 0 } else { 1 + index % 7 };
    (0..count).map(move |_| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % index, ((random >> 32) % 9) as f64 / 32.0 - 0.125)
    })
}

fn right(index: u64) -> f64 {
    (index % 13) as f64 - 6.0
}

impl Triangular {
    /// A solve of n unknowns.
    pub(crate) fn new(node: &Node, n: u64, block: Option<u64>) -> Result<Self> {
        let options = options(n, block).distribution(Distribution::Cyclic).deferral(Deferral::Element);
        Ok(Self { node: node.clone(), n, x: node.create(&options)? })
    }
}

impl Program for Triangular {
    fn structures(&self) -> Vec<Structure> {
        vec![self.x.untyped().clone()]
    }

    fn record(&self, recorder: &mut Recorder) -> Result<()> {
        self.x.local().flat_map(row).try_for_each(|(column, _)| recorder.fetch(&self.x, column))
    }

    fn task(&self) -> Task {
        let (node, x) = (self.node.clone(), self.x.clone());
        Box::pin(async move {
            // Last rows first, so that nearly all fetches precede the store.
            let own: Vec<u64> = x.local().collect();
            for index in own.into_iter().rev() {
                let x = x.clone();
                node.spawn(async move {
                    let fetches: Vec<_> =
                        row(index).map(|(column, value)| (x.fetch(column), value)).collect();
                    let mut sum = right(index);
                    for (fetch, value) in fetches {
                        sum -= value * fetch.await?;
                    }
                    x.store(index, sum / 2.0)
                });
            }
            Ok(())
        })
    }

    fn error(&self) -> f64 {
        let mut exact: Vec<f64> = Vec::new();
        for index in 0..self.n {
            let sum: f64 =
                row(index).filter_map(|(column, value)| Some(value * exact.get(column as usize)?)).sum();
            exact.push((right(index) - sum) / 2.0);
        }
        let (mut error, mut largest) = (0.0_f64, 0.0_f64);
        for index in self.x.local() {
            let Ok(Some(result)) = self.x.get(index) else { return f64::NAN };
            let exact = exact.get(index as usize).copied().unwrap_or(f64::NAN);
            error = error.max((result - exact).abs());
            largest = largest.max(exact.abs());
        }
        error / largest.max(f64::MIN_POSITIVE)
    }
}
