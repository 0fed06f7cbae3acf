//! Halo faces of finite-difference codes on a 3-D grid: heat, an advected tracer, sound.

use super::waves::Waves;
use super::{Messages, Rng, bytes};
use bytemuck::Pod;
use num_traits::Float;
use rand::RngExt;

/// A field on a grid, the last direction contiguous.
struct Field<T> {
    size: [usize; 3],
    cells: Vec<T>,
}

impl<T: Copy> Field<T> {
    fn new(size: [usize; 3], value: impl Fn([f64; 3]) -> T) -> Self {
        let of = |at: [usize; 3]| value([0, 1, 2].map(|d| at[d] as f64 / size[d] as f64));
        Self { size, cells: places(size).map(of).collect() }
    }

    fn get(&self, [i, j, k]: [usize; 3]) -> T {
        self.cells[(i * self.size[1] + j) * self.size[2] + k]
    }

    /// The neighbour one cell up or down a direction, with periodic boundaries.
    fn neighbour(&self, mut at: [usize; 3], direction: usize, up: bool) -> T {
        let last = self.size[direction] - 1;
        at[direction] = match (at[direction], up) {
            (0, false) => last,
            (here, false) => here - 1,
            (here, true) if here == last => 0,
            (here, true) => here + 1,
        };
        self.get(at)
    }

    /// A new field from the old one, cell by cell.
    fn step(&self, cell: impl Fn([usize; 3]) -> T) -> Self {
        Self { size: self.size, cells: places(self.size).map(cell).collect() }
    }

    /// The first face in each direction, as a program packs it.
    fn faces(&self) -> [Vec<T>; 3] {
        [0, 1, 2].map(|d| places(self.size).filter(|at| at[d] == 1).map(|at| self.get(at)).collect())
    }
}

fn places([x, y, z]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..x).flat_map(move |i| (0..y).flat_map(move |j| (0..z).map(move |k| [i, j, k])))
}

fn real<T: Float>(x: f64) -> T {
    T::from(x).unwrap_or_else(T::zero)
}

/// Heat spreads from hot spots: explicit Euler, seven points.
pub(super) fn heat<T: Float + Pod>(rng: &mut Rng) -> Messages {
    let waves = Waves::new(rng);
    let mut field = Field::new([80, 56, 48], |place| real::<T>(300.0 + 40.0 * waves.at(place, 0.0)));
    let (factor, six) = (real::<T>(0.12), real::<T>(6.0));
    let mut messages = Vec::new();
    for step in 0..120 {
        field = field.step(|at| {
            let around = (0..3).flat_map(|d| [field.neighbour(at, d, false), field.neighbour(at, d, true)]);
            field.get(at) + factor * (around.fold(T::zero(), |sum, x| sum + x) - six * field.get(at))
        });
        if step % 5 == 4 {
            messages.extend(field.faces().map(|face| bytes(&face)));
        }
    }
    messages
}

/// A few clouds in clean air, advected by a steady wind: upwind differences. Most of it is zero.
pub(super) fn tracer(rng: &mut Rng) -> Messages {
    let clouds: Vec<([f64; 3], f64)> =
        (0..8).map(|_| ([(); 3].map(|()| rng.random()), rng.random_range(0.08..0.2))).collect();
    let mut field = Field::new([80, 64, 48], |place| {
        let cloud = |(centre, radius): &([f64; 3], f64)| {
            let distance: f64 = (0..3).map(|d| (place[d] - centre[d]).powi(2)).sum();
            (1.0 - distance / (radius * radius)).max(0.0)
        };
        clouds.iter().map(cloud).sum::<f64>() as f32
    });
    let wind = [0.3_f32, 0.25, 0.2];
    let mut messages = Vec::new();
    for step in 0..120 {
        field = field.step(|at| {
            let here = field.get(at);
            (0..3).fold(here, |sum, d| sum - wind[d] * (here - field.neighbour(at, d, false)))
        });
        if step % 3 == 2 {
            messages.extend(field.faces().map(|face| bytes(&face)));
        }
    }
    messages
}

/// Sound waves: pressure and velocity on a staggered grid, with the four values of a cell next to each other.
pub(super) fn acoustic(rng: &mut Rng) -> Messages {
    let waves = Waves::new(rng);
    let mut field =
        Field::new([44, 40, 36], |place| [101_325.0 + 200.0 * waves.at(place, 0.0), 0.0, 0.0, 0.0]);
    // The speed of sound, the density of air, and a time step well below the limit for a grid spacing of 1 m.
    let (sound, density, dt) = (340.0_f64, 1.2, 0.4 / 340.0);
    let mut messages = Vec::new();
    for step in 0..90 {
        field = field.step(|at| {
            let mut cell: [f64; 4] = field.get(at);
            for d in 0..3 {
                cell[d + 1] -= dt / density * (field.neighbour(at, d, true)[0] - cell[0]);
            }
            cell
        });
        field = field.step(|at| {
            let mut cell = field.get(at);
            let inflow: f64 = (0..3).map(|d| field.neighbour(at, d, false)[d + 1] - cell[d + 1]).sum();
            cell[0] += dt * density * sound * sound * inflow;
            cell
        });
        if step % 6 == 5 {
            messages.extend(field.faces().map(|face| bytes(face.as_flattened())));
        }
    }
    messages
}
