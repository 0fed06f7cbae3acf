//! Dense matrix product C = A B of n x n doubles, in blocks of rows. Each element of C is a task that fetches a row of A, which is local, and a
//! column of B, of which 1/P is local.
//!
//! Number of messages, requests plus values, for P ranks, n divisible by P, and rows of n/P * n elements divisible by CB. Without a cache, each of
//! the n^3 products fetches an element of B, which is remote for (P - 1)/P of them: 2 n^3 (P - 1)/P. With a cache, each rank fetches each remote
//! block once: 2 n^2 (P - 1)/CB. A residual program sends only the values: n^2 (P - 1)/CB. This is Table 1 of the paper for n = 128.

use super::{Program, Task, options};
use mpress_i_structures::{IStructure, Node, Recorder, Result, Structure};
use std::{cell::RefCell, rc::Rc};

/// The product on one rank.
pub(crate) struct Product {
    node: Node,
    n: u64,
    a: IStructure<f64>,
    b: IStructure<f64>,
    /// The rows of this rank, in row-major order.
    c: Rc<RefCell<Vec<f64>>>,
}

/// An entry of A or B.
fn entry(matrix: u64, row: u64, column: u64) -> f64 {
    ((row * 31 + column * 17 + matrix * 7) % 23) as f64 - 11.0
}

impl Product {
    /// A product of matrices of n x n.
    pub(crate) fn new(node: &Node, n: u64, block: Option<u64>) -> Result<Self> {
        let a = node.create(&options(n * n, block))?;
        let b = node.create(&options(n * n, block))?;
        Ok(Self { node: node.clone(), n, a, b, c: Rc::default() })
    }
}

impl Program for Product {
    fn structures(&self) -> Vec<Structure> {
        vec![self.a.untyped().clone(), self.b.untyped().clone()]
    }

    fn record(&self, recorder: &mut Recorder) -> Result<()> {
        if self.a.local().next().is_some() {
            (0..self.n * self.n).try_for_each(|index| recorder.fetch(&self.b, index))?;
        }
        Ok(())
    }

    fn task(&self) -> Task {
        let (node, n, a, b, c) = (self.node.clone(), self.n, self.a.clone(), self.b.clone(), self.c.clone());
        Box::pin(async move {
            let own: Vec<u64> = a.local().collect();
            *c.borrow_mut() = vec![0.0; own.len()];
            for index in own.iter().copied() {
                a.store(index, entry(0, index / n, index % n))?;
                b.store(index, entry(1, index / n, index % n))?;
            }
            for (place, index) in own.into_iter().enumerate() {
                let (a, b, c) = (a.clone(), b.clone(), c.clone());
                node.spawn(async move {
                    let (row, column) = (index / n, index % n);
                    let mut sum = 0.0;
                    for k in 0..n {
                        // Send both requests before waiting for the first.
                        let (left, right) = (a.fetch(row * n + k), b.fetch(k * n + column));
                        sum += left.await? * right.await?;
                    }
                    if let Some(result) = c.borrow_mut().get_mut(place) {
                        *result = sum;
                    }
                    Ok(())
                });
            }
            Ok(())
        })
    }

    fn error(&self) -> f64 {
        let n = self.n;
        let (mut error, mut largest) = (0.0_f64, 0.0_f64);
        for (index, result) in self.a.local().zip(self.c.borrow().iter()) {
            let exact: f64 = (0..n).map(|k| entry(0, index / n, k) * entry(1, k, index % n)).sum();
            error = error.max((result - exact).abs());
            largest = largest.max(exact.abs());
        }
        error / largest.max(f64::MIN_POSITIVE)
    }
}
