//! A smooth random field: travelling plane waves, weaker at shorter wavelengths.

use super::Rng;
use rand::RngExt;
use std::f64::consts::TAU;

pub(super) struct Waves(Vec<Wave>);

struct Wave {
    /// The number of waves over the unit cube in each direction.
    number: [f64; 3],
    frequency: f64,
    phase: f64,
    amplitude: f64,
}

impl Waves {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let wave = |_| {
            let number = [(); 3].map(|()| rng.random_range(-6..=6_i8).into());
            let length: f64 = number.iter().map(|k: &f64| k * k).sum::<f64>().max(1.0);
            let (frequency, phase) = (rng.random_range(0.2..2.0), rng.random_range(0.0..TAU));
            Wave { number, frequency, phase, amplitude: length.powf(-0.8) }
        };
        Self((0..12).map(wave).collect())
    }

    /// The field at a position in the unit cube and a time.
    pub(super) fn at(&self, place: [f64; 3], time: f64) -> f64 {
        let value = |wave: &Wave| {
            let along: f64 = wave.number.iter().zip(place).map(|(k, x)| k * x).sum();
            wave.amplitude * (TAU * along + wave.frequency * time + wave.phase).sin()
        };
        self.0.iter().map(value).sum()
    }
}
