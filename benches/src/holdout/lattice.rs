//! Lattice Boltzmann: the 19 populations of each cell of a face (D3Q19, one relaxation time; Qian, d'Humieres,
//! Lallemand 1992).

use super::waves::Waves;
use super::{Messages, Rng, bytes};

const SIDE: usize = 28;
/// The rate at which populations relax to equilibrium.
const RELAXATION: f64 = 1.2;

type Cell = [f64; 19];

/// The velocities: all of -1, 0, 1 in each direction except the eight corners.
fn velocities() -> [[i32; 3]; 19] {
    let mut all = (0..27).map(|i| [i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1]).filter(|c| length(*c) < 3);
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

fn length(velocity: [i32; 3]) -> i32 {
    velocity.iter().map(|x| x * x).sum()
}

pub(super) fn faces(rng: &mut Rng) -> Messages {
    let velocities = velocities();
    let waves = [(); 3].map(|()| Waves::new(rng));
    let start = |i: usize| {
        let place = places(i).map(|x| x as f64 / SIDE as f64);
        equilibrium(&velocities, 1.0, [0, 1, 2].map(|d| 0.02 * waves[d].at(place, 0.0)))
    };
    let mut cells: Vec<Cell> = (0..SIDE.pow(3)).map(start).collect();
    let mut messages = Vec::new();
    for step in 0..100 {
        cells.iter_mut().for_each(|cell| collide(&velocities, cell));
        cells = (0..cells.len()).map(|i| stream(&velocities, &cells, i)).collect();
        if step % 5 == 4 {
            let direction = step / 5 % 3;
            let face = (0..cells.len()).filter(|i| places(*i)[direction] == 0).map(|i| cells[i]);
            messages.push(bytes(face.collect::<Vec<_>>().as_flattened()));
        }
    }
    messages
}

fn places(i: usize) -> [usize; 3] {
    [i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE]
}

fn equilibrium(velocities: &[[i32; 3]; 19], density: f64, flow: [f64; 3]) -> Cell {
    let square: f64 = flow.iter().map(|u| u * u).sum();
    velocities.map(|velocity| {
        let weight = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0][length(velocity) as usize];
        let along: f64 = velocity.iter().zip(flow).map(|(c, u)| f64::from(*c) * u).sum();
        weight * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
    })
}

fn collide(velocities: &[[i32; 3]; 19], cell: &mut Cell) {
    let density: f64 = cell.iter().sum();
    let momentum = |d: usize| velocities.iter().zip(&*cell).map(|(c, f)| f64::from(c[d]) * f).sum::<f64>();
    let goal = equilibrium(velocities, density, [0, 1, 2].map(|d| momentum(d) / density));
    cell.iter_mut().zip(goal).for_each(|(f, goal)| *f += RELAXATION * (goal - *f));
}

/// Each population moves from the cell it left.
fn stream(velocities: &[[i32; 3]; 19], cells: &[Cell], i: usize) -> Cell {
    let here = places(i);
    std::array::from_fn(|q| {
        let from = [0, 1, 2].map(|d| (here[d] as i32 - velocities[q][d]).rem_euclid(SIDE as i32) as usize);
        cells[(from[0] * SIDE + from[1]) * SIDE + from[2]][q]
    })
}
