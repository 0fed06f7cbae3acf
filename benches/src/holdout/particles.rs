//! Molecular dynamics: a Lennard-Jones liquid in a periodic box, in reduced units, with velocity Verlet and a cell list.

use super::{Messages, Rng, bytes};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Face-centred cubic cells along a side of the box, with four particles each.
const CELLS: usize = 8;
const DENSITY: f64 = 0.8442;
const TEMPERATURE: f64 = 1.0;
const CUTOFF: f64 = 2.5;
const DT: f64 = 0.004;

type Vector = [f64; 3];

struct Liquid {
    side: f64,
    place: Vec<Vector>,
    velocity: Vec<Vector>,
    force: Vec<Vector>,
}

/// Ghost exchange: position and velocity of the particles near the lower and the upper face in each direction.
pub(super) fn ghosts(rng: &mut Rng) -> Messages {
    let record = |liquid: &Liquid, i: usize| bytes([liquid.place[i], liquid.velocity[i]].as_flattened());
    run(rng, record)
}

/// Particles that change their owner: a structure of number, species, flags, position, velocity.
pub(super) fn migrants(rng: &mut Rng) -> Messages {
    run(rng, |liquid, i| {
        let number = bytes(&[i as i64]);
        let species_and_flags = bytes(&[i as i32 % 3, 0x10]);
        [number, species_and_flags, bytes(&liquid.place[i]), bytes(&liquid.velocity[i])].concat()
    })
}

/// The same with a force field's data of an atom: number, type, molecule and image as 32-bit integers, position, velocity, and one of a few charges.
pub(super) fn atoms(rng: &mut Rng) -> Messages {
    run(rng, |liquid, i| {
        let number = i as i32;
        let integers = bytes(&[number + 1, 1 + number % 3, 1 + number / 3, 512 << 10 | 512]);
        let charge = [-0.8476, 0.4238, 0.4238][i % 3];
        [integers, bytes(&liquid.place[i]), bytes(&liquid.velocity[i]), bytes(&[charge])].concat()
    })
}

fn run(rng: &mut Rng, record: impl Fn(&Liquid, usize) -> Vec<u8>) -> Messages {
    let mut liquid = Liquid::new(rng);
    let mut messages = Vec::new();
    for step in 0..180 {
        liquid.step();
        if step >= 60 && step % 8 == 0 {
            for (direction, upper) in [0, 1, 2].into_iter().flat_map(|d| [(d, false), (d, true)]) {
                let near = |i: &usize| {
                    let x = liquid.place[*i][direction];
                    if upper { liquid.side - x < CUTOFF } else { x < CUTOFF }
                };
                let near = (0..liquid.place.len()).filter(near);
                messages.push(near.flat_map(|i| record(&liquid, i)).collect());
            }
        }
    }
    messages
}

impl Liquid {
    fn new(rng: &mut Rng) -> Self {
        let count = 4 * CELLS.pow(3);
        let side = (count as f64 / DENSITY).cbrt();
        let corners = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]];
        let place = |i: usize| {
            let cell = i / 4;
            let cell = [cell / (CELLS * CELLS), cell / CELLS % CELLS, cell % CELLS];
            [0, 1, 2].map(|d| (cell[d] as f64 + corners[i % 4][d] + 0.25) * side / CELLS as f64)
        };
        let place: Vec<_> = (0..count).map(place).collect();
        let velocity =
            (0..count).map(|_| [(); 3].map(|()| TEMPERATURE.sqrt() * rng.sample::<f64, _>(StandardNormal)));
        let velocity = velocity.collect();
        let force = vec![[0.0; 3]; count];
        let mut liquid = Self { side, place, velocity, force };
        liquid.find_forces();
        liquid
    }

    fn step(&mut self) {
        self.kick();
        for (place, velocity) in self.place.iter_mut().zip(&self.velocity) {
            for d in 0..3 {
                place[d] = (place[d] + DT * velocity[d]).rem_euclid(self.side);
            }
        }
        self.find_forces();
        self.kick();
    }

    /// Half a velocity step, for particles of mass 1.
    fn kick(&mut self) {
        for (velocity, force) in self.velocity.iter_mut().flatten().zip(self.force.iter().flatten()) {
            *velocity += 0.5 * DT * force;
        }
    }

    fn find_forces(&mut self) {
        // Cells no narrower than the cutoff, so all neighbours are in the 27 cells around.
        let along = (self.side / CUTOFF) as usize;
        let cell_of =
            |place: &Vector| place.map(|x| ((x / self.side * along as f64) as usize).min(along - 1));
        let flat = |cell: [usize; 3]| (cell[0] * along + cell[1]) * along + cell[2];
        let mut cells = vec![Vec::new(); along.pow(3)];
        for (i, place) in self.place.iter().enumerate() {
            cells[flat(cell_of(place))].push(i);
        }
        for (i, place) in self.place.iter().enumerate() {
            let cell = cell_of(place);
            let mut force = [0.0; 3];
            for around in 0..27 {
                let shift = [around / 9, around / 3 % 3, around % 3];
                let other = [0, 1, 2].map(|d| (cell[d] + shift[d] + along - 1) % along);
                for &j in cells[flat(other)].iter().filter(|&&j| j != i) {
                    self.add_force(place, &self.place[j], &mut force);
                }
            }
            self.force[i] = force;
        }
    }

    /// Adds the force of the nearest image of `other` on a particle at `place`.
    fn add_force(&self, place: &Vector, other: &Vector, force: &mut Vector) {
        let apart = [0, 1, 2].map(|d| {
            let x = place[d] - other[d];
            match self.side / 2.0 {
                half if x > half => x - self.side,
                half if x < -half => x + self.side,
                _ => x,
            }
        });
        let square: f64 = apart.iter().map(|x| x * x).sum();
        if square < CUTOFF * CUTOFF {
            let sixth = square.powi(-3);
            let strength = 24.0 * sixth * (2.0 * sixth - 1.0) / square;
            (0..3).for_each(|d| force[d] += strength * apart[d]);
        }
    }
}
