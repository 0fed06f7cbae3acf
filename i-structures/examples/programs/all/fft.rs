//! Fast Fourier transform of N complex numbers, N and P powers of two, in blocks of N/P. Decimation in frequency: stage s pairs elements at distance
//! N/2^(s+1), so the first log2 P stages pair elements of different ranks, the others elements of the same rank. Each stage is a separate structure.
//! The result is left in bit-reversed order. A task computes 16 consecutive elements of each stage.
//!
//! Number of messages, requests plus values: in each of the first log2 P stages, the partner's rank fetches each element once. That makes 2 N log2 P
//! without a cache, 2 N log2 P / CB with one (N/P divisible by CB), and N log2 P / CB for a residual program. For N = 8192 this is 16,384 at 2 ranks,
//! as in Table 1 of the paper, 32,768 at 4 and 49,152 at 8.

use super::{Program, Task, options};
use mpress_i_structures::{IStructure, Node, Recorder, Result, Structure};
use std::{f64::consts::TAU, rc::Rc};

type Complex = [f64; 2];

/// The number of elements per task.
const RUN: usize = 16;

/// The transform on one rank.
pub(crate) struct Fft {
    node: Node,
    /// The input and the results of the stages.
    stages: Rc<[IStructure<Complex>]>,
    /// Half of the roots of unity: `exp(-2 pi i k / n)`.
    roots: Rc<[Complex]>,
    n: u64,
}

fn input(index: u64) -> Complex {
    [((index * 37) % 101) as f64 / 50.0 - 1.0, ((index * 53) % 89) as f64 / 44.0 - 1.0]
}

fn times(a: Complex, b: Complex) -> Complex {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

fn unit(turns: f64) -> Complex {
    let (sin, cos) = (turns * TAU).sin_cos();
    [cos, sin]
}

/// Element `index` of the next stage, from the element itself and its partner at distance `half`, for n elements.
fn butterfly(index: u64, half: u64, own: Complex, partner: Complex, roots: &[Complex]) -> Complex {
    if index & half == 0 {
        return [own[0] + partner[0], own[1] + partner[1]];
    }
    // exp(-2 pi i (index mod half) / (2 half)); there are n/2 `roots`.
    let root = (index & (half - 1)) as usize * (roots.len() / half as usize);
    times([partner[0] - own[0], partner[1] - own[1]], roots.get(root).copied().unwrap_or([f64::NAN; 2]))
}

impl Fft {
    /// A transform of n numbers.
    pub(crate) fn new(node: &Node, n: u64, block: Option<u64>) -> Result<Self> {
        let stages = (0..=n.ilog2()).map(|_| node.create(&options(n, block))).collect::<Result<_>>()?;
        let roots = (0..n / 2).map(|k| unit(-(k as f64) / n as f64)).collect();
        Ok(Self { node: node.clone(), stages, roots, n })
    }

    /// The stages, each with the distance of partners in the next one.
    fn halves(&self) -> impl Iterator<Item = (&IStructure<Complex>, u64)> {
        let n = self.n;
        self.stages.iter().zip((0..n.ilog2()).map(move |stage| n >> (stage + 1)))
    }
}

impl Program for Fft {
    fn structures(&self) -> Vec<Structure> {
        self.stages.iter().map(|stage| stage.untyped().clone()).collect()
    }

    fn record(&self, recorder: &mut Recorder) -> Result<()> {
        for (stage, half) in self.halves() {
            stage.local().try_for_each(|index| recorder.fetch(stage, index ^ half))?;
        }
        Ok(())
    }

    fn task(&self) -> Task {
        let (node, stages, roots, n) = (self.node.clone(), self.stages.clone(), self.roots.clone(), self.n);
        Box::pin(async move {
            let (Some(first), Some(last)) = (stages.first(), stages.last()) else { return Ok(()) };
            for index in first.local() {
                first.store(index, input(index))?;
            }
            let local: Vec<u64> = last.local().collect();
            for indices in local.chunks(RUN) {
                let (stages, roots, indices) = (stages.clone(), roots.clone(), indices.to_vec());
                node.spawn(async move {
                    let mut values: Vec<Complex> = indices.iter().map(|index| input(*index)).collect();
                    for (stage, (from, to)) in stages.iter().zip(stages.iter().skip(1)).enumerate() {
                        let half = n >> (stage + 1);
                        // Send all requests before waiting for the first.
                        let partners: Vec<_> = indices.iter().map(|index| from.fetch(index ^ half)).collect();
                        for ((index, value), partner) in indices.iter().zip(&mut values).zip(partners) {
                            *value = butterfly(*index, half, *value, partner.await?, &roots);
                            to.store(*index, *value)?;
                        }
                    }
                    Ok(())
                });
            }
            Ok(())
        })
    }

    /// The error of the first 64 elements of this rank, by the definition of the transform.
    fn error(&self) -> f64 {
        let (n, Some(last)) = (self.n, self.stages.last()) else { return f64::NAN };
        let (mut error, mut largest) = (0.0_f64, 0.0_f64);
        for index in last.local().take(64) {
            let frequency = if n == 1 { 0 } else { index.reverse_bits() >> (u64::BITS - n.ilog2()) };
            let mut exact = [0.0; 2];
            for k in 0..n {
                let term = times(input(k), unit(-((k * frequency % n) as f64) / n as f64));
                exact = [exact[0] + term[0], exact[1] + term[1]];
            }
            let Ok(Some(result)) = last.get(index) else { return f64::NAN };
            error = error.max((result[0] - exact[0]).hypot(result[1] - exact[1]));
            largest = largest.max(exact[0].hypot(exact[1]));
        }
        error / largest.max(f64::MIN_POSITIVE)
    }
}
