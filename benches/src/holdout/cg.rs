//! Conjugate gradients on a diffusion problem with coefficients that jump between cells: planes of the search direction.

use super::{Messages, Rng, bytes};
use rand::RngExt;
use rand_distr::{Exp1, StandardNormal};

/// Cells along a side.
const SIDE: usize = 48;

pub(super) fn planes(rng: &mut Rng) -> Messages {
    let cells = SIDE.pow(3);
    let conductivity: Vec<f64> = (0..cells).map(|_| rng.sample::<f64, _>(Exp1) + 0.1).collect();
    let mut residual: Vec<f64> = (0..cells).map(|_| rng.sample(StandardNormal)).collect();
    let mut direction = residual.clone();
    let mut square = dot(&residual, &residual);
    let mut messages = Vec::new();
    for _ in 0..60 {
        messages.push(bytes(&direction[SIDE * SIDE..2 * SIDE * SIDE]));
        messages.push(bytes(&direction[cells - SIDE * SIDE..]));
        let image = apply(&conductivity, &direction);
        let alpha = square / dot(&direction, &image);
        residual.iter_mut().zip(&image).for_each(|(r, q)| *r -= alpha * q);
        let before = std::mem::replace(&mut square, dot(&residual, &residual));
        let beta = square / before;
        direction.iter_mut().zip(&residual).for_each(|(p, r)| *p = r + beta * *p);
    }
    messages
}

/// The matrix: fluxes through the six sides of each cell, zero beyond the boundary.
fn apply(conductivity: &[f64], x: &[f64]) -> Vec<f64> {
    let cell = |i: usize| {
        let flux = |stride: usize, up: bool| {
            let along = i / stride % SIDE;
            let inside = if up { along + 1 < SIDE } else { along > 0 };
            let other = if up { i + stride } else { i.wrapping_sub(stride) };
            match inside {
                true => (conductivity[i] + conductivity[other]) * (x[i] - x[other]),
                false => 2.0 * conductivity[i] * x[i],
            }
        };
        [1, SIDE, SIDE * SIDE].map(|stride| flux(stride, false) + flux(stride, true)).iter().sum()
    };
    (0..x.len()).map(cell).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
