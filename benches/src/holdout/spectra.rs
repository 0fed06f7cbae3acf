//! The transposition in a parallel FFT: complex amplitudes of many lines, a range of wave numbers for each receiver.

use super::waves::Waves;
use super::{Messages, Rng, bytes};
use rand::RngExt;
use rand_distr::StandardNormal;
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// Points per line, lines, and ranks that share them.
const POINTS: usize = 256;
const LINES: usize = 64;
const RANKS: usize = 8;

pub(super) fn blocks(rng: &mut Rng) -> Messages {
    let waves = Waves::new(rng);
    let fft = FftPlanner::new().plan_fft_forward(POINTS);
    let mut messages = Vec::new();
    for step in 0..8 {
        let mut lines: Vec<Complex<f64>> = (0..LINES * POINTS)
            .map(|i| {
                let place = [(i % POINTS) as f64 / POINTS as f64, (i / POINTS) as f64 / LINES as f64, 0.5];
                let noise: f64 = rng.sample(StandardNormal);
                Complex::new(waves.at(place, f64::from(step) * 0.05) + 1e-4 * noise, 0.0)
            })
            .collect();
        fft.process(&mut lines);
        for rank in 0..RANKS {
            let mine = rank * POINTS / RANKS..(rank + 1) * POINTS / RANKS;
            let block = lines.chunks(POINTS).flat_map(|line| &line[mine.clone()]);
            messages.push(bytes(block.map(|z| [z.re, z.im]).collect::<Vec<_>>().as_flattened()));
        }
    }
    messages
}
