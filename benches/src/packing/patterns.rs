//! The access patterns: matrix transposes, and the exchanges of the applications in DDTBench.
//!
//! DDTBench's patterns follow their description in *Micro-Applications for Communication Data Access Patterns and MPI Datatypes* (Schneider,
//! Gerstenberger, Hoefler, EuroMPI 2012), table 1: the part of each array, and the constructors that describe it. Sizes are those of a rank in
//! common runs: WRF's CONUS grid of 12 km on 64 ranks, NPB's class C (LU undivided, MG on 64 ranks), 32,000 atoms per rank.

use super::loops::{Loops, Places};
use mpress_datatype::Order;
use mpress_datatype::peer::{Random, Recipe};

/// A datatype, one element of which is packed, and the equivalent loops of a program.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its name.
    pub name: String,
    /// The datatype.
    pub recipe: Recipe,
    /// The loops.
    pub loops: Vec<Loops>,
}

/// The side lengths of the transposed matrices.
const MATRICES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

const INT: usize = 2;
const DOUBLE: usize = 3;
const FLOAT: usize = 4;
const COMPLEX: usize = 7;

/// All patterns, the transposes first.
#[must_use]
pub fn all() -> Vec<Pattern> {
    let mut all: Vec<_> = MATRICES.into_iter().map(matrix).collect();
    all.extend(wrf());
    all.extend([milc(), lu_x(), lu_y()]);
    all.extend(mg());
    all.extend([lammps("lammps-full", &[24, 4, 4, 4, 8, 4]), lammps("lammps-atomic", &[24, 4, 4, 4])]);
    all.extend([specfem_oc(), specfem_cm(), specfem_mt(), fft()]);
    all
}

fn named(name: usize) -> Box<Recipe> {
    Box::new(Recipe::Named(name))
}

fn nest(at: usize, dims: [(usize, usize); 3], block: usize, element: usize) -> Loops {
    Loops { at, places: Places::Nest(dims), block, element }
}

/// The paper's transpose: a vector of the columns of a matrix of doubles.
fn matrix(n: usize) -> Pattern {
    let column = Recipe::Vector(n, 1, n as isize, named(DOUBLE));
    Pattern {
        name: format!("transpose-{n}"),
        recipe: Recipe::Hvector(n, 1, 8, Box::new(column)),
        loops: vec![nest(0, [(1, 0), (n, 8), (n, 8 * n)], 1, 8)],
    }
}

/// WRF: halos of weather fields of floats, in order of x, z, y: three 2-D, four 3-D and two 4-D ones (of two species). As subarrays and as nested
/// vectors, in both directions, with all fields in one structure.
fn wrf() -> Vec<Pattern> {
    const X: usize = 60;
    const Y: usize = 44;
    const Z: usize = 36;
    const HALO: usize = 3;
    // The number of levels of each field, and of consecutive fields in its fourth dimension.
    let fields = [(1, 1), (1, 1), (1, 1), (Z, 1), (Z, 1), (Z, 1), (Z, 1), (Z, 2), (Z, 2)];
    let mut patterns = Vec::new();
    for (direction, width, height) in [("x", HALO, Y), ("y", X, HALO)] {
        let (mut places, mut at, mut loops) = (vec![], 0_usize, vec![]);
        let (mut subarrays, mut vectors) = (vec![], vec![]);
        for (levels, species) in fields {
            // From the first inner cell on.
            let start = if direction == "x" { HALO } else { HALO * X * levels };
            let starts = if direction == "x" { vec![0, 0, 0, HALO] } else { vec![0, HALO, 0, 0] };
            subarrays.push(Recipe::Subarray(
                vec![species, Y, levels, X],
                vec![species, height, levels, width],
                starts,
                Order::C,
                named(FLOAT),
            ));
            let rows = Recipe::Vector(levels, width, X as isize, named(FLOAT));
            let slab = Recipe::Hvector(height, 1, (4 * X * levels) as isize, Box::new(rows));
            let all = Recipe::Hvector(species, 1, (4 * X * levels * Y) as isize, Box::new(slab));
            vectors.push(Recipe::Hindexed(vec![1], vec![4 * start as isize], Box::new(all)));
            places.push(at as isize);
            let dims = [(species, 4 * X * levels * Y), (height, 4 * X * levels), (levels, 4 * X)];
            loops.push(nest(at + 4 * start, dims, width, 4));
            at += 4 * X * Y * levels * species;
        }
        for (how, types) in [("sa", subarrays), ("vec", vectors)] {
            patterns.push(Pattern {
                name: format!("wrf-{direction}-{how}"),
                recipe: Recipe::Struct(vec![1; types.len()], places.clone(), types),
                loops: loops.clone(),
            });
        }
    }
    patterns
}

/// MILC: a face in the z direction of a four-dimensional lattice with an SU(3) vector, three complex floats, at each site; of every other site,
/// because those are stored together.
fn milc() -> Pattern {
    const SIDE: usize = 16;
    let (plane, site) = (SIDE * SIDE / 2, 6);
    let volume = plane * SIDE * site;
    let face = Recipe::Vector(SIDE, plane * site, volume as isize, named(FLOAT));
    Pattern {
        name: "milc-su3-zd".to_owned(),
        recipe: Recipe::Hvector(2, 1, (SIDE * volume * 4) as isize, Box::new(face)),
        loops: vec![nest(0, [(1, 0), (2, SIDE * volume * 4), (SIDE, volume * 4)], plane * site, 4)],
    }
}

/// Cells along an edge of the grid of NAS LU.
const LINE: usize = 162;

/// NAS LU: a line of cells of five doubles, contiguous in memory.
fn lu_x() -> Pattern {
    Pattern {
        name: "nas-lu-x".to_owned(),
        recipe: Recipe::Contiguous(5 * LINE, named(DOUBLE)),
        loops: vec![nest(0, [(1, 0), (1, 0), (1, 0)], 5 * LINE, 8)],
    }
}

/// NAS LU: the same in the other direction.
fn lu_y() -> Pattern {
    let line = 5 * (LINE + 2);
    Pattern {
        name: "nas-lu-y".to_owned(),
        recipe: Recipe::Vector(LINE, 5, line as isize, named(DOUBLE)),
        loops: vec![nest(0, [(1, 0), (1, 0), (LINE, 8 * line)], 5, 8)],
    }
}

/// NAS MG: faces of a cube of doubles.
fn mg() -> [Pattern; 3] {
    const N: usize = 128;
    const ROW: usize = N + 2;
    let inner = 8 * (1 + ROW + ROW * ROW);
    let face = |name: &str, dims: [(usize, usize); 2], block: usize| {
        let rows = Recipe::Hvector(dims[1].0, block, dims[1].1 as isize, named(DOUBLE));
        let face = Recipe::Hvector(dims[0].0, 1, dims[0].1 as isize, Box::new(rows));
        Pattern {
            name: format!("nas-mg-{name}"),
            recipe: Recipe::Hindexed(vec![1], vec![inner as isize], Box::new(face)),
            loops: vec![nest(inner, [(1, 0), dims[0], dims[1]], block, 8)],
        }
    };
    [
        face("x", [(N, 8 * ROW * ROW), (N, 8 * ROW)], 1),
        face("y", [(1, 0), (N, 8 * ROW * ROW)], N),
        face("z", [(1, 0), (N, 8 * ROW)], N),
    ]
}

/// `count` sorted numbers out of `all`.
fn chosen(count: usize, all: usize, seed: u64) -> Vec<usize> {
    let mut numbers = Random::new(seed);
    let mut chosen: Vec<_> = (0..count).map(|_| numbers.count(0, all - 1)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The same elements of several arrays. The widths are in bytes, with one type per array.
fn gathered(name: &str, arrays: &[(usize, usize, usize)], all: usize, chosen: &[usize]) -> Pattern {
    let (mut places, mut types, mut loops, mut at) = (vec![], vec![], vec![], 0);
    for &(element, size, block) in arrays {
        let displacements = chosen.iter().map(|i| (i * block) as isize).collect();
        types.push(Recipe::IndexedBlock(block, displacements, named(element)));
        places.push(at as isize);
        let listed = chosen.iter().map(|i| i * block * size).collect();
        loops.push(Loops { at, places: Places::Listed(listed), block, element: size });
        at += (all * block * size).next_multiple_of(64);
    }
    let recipe = match types.pop() {
        Some(only) if types.is_empty() => only,
        last => {
            types.extend(last);
            Recipe::Struct(vec![1; types.len()], places, types)
        }
    };
    Pattern { name: name.to_owned(), recipe, loops }
}

/// LAMMPS: the data of atoms near a face: positions, tags, types, masks, and so on, each in its own array.
fn lammps(name: &str, arrays: &[usize]) -> Pattern {
    const ATOMS: usize = 32_000;
    let arrays: Vec<_> = arrays
        .iter()
        .map(|bytes| match bytes {
            24 => (DOUBLE, 8, 3),
            8 => (DOUBLE, 8, 1),
            _ => (INT, 4, 1),
        })
        .collect();
    gathered(name, &arrays, ATOMS, &chosen(3000, ATOMS, 1))
}

/// SPECFEM3D_GLOBE, outer core: one float at each point on a surface of an unstructured mesh.
fn specfem_oc() -> Pattern {
    gathered("specfem3d-oc", &[(FLOAT, 4, 1)], 250_000, &chosen(6000, 250_000, 2))
}

/// SPECFEM3D_GLOBE, crust and mantle with the inner core: three floats per point of both meshes.
fn specfem_cm() -> Pattern {
    gathered("specfem3d-cm", &[(FLOAT, 4, 3), (FLOAT, 4, 3)], 250_000, &chosen(6000, 250_000, 3))
}

/// SPECFEM3D_GLOBE: a transposed three-dimensional matrix with three floats per element.
fn specfem_mt() -> Pattern {
    const ROWS: usize = 256;
    const COLUMNS: usize = 384;
    let column = Recipe::Vector(ROWS, 3, (3 * COLUMNS) as isize, named(FLOAT));
    Pattern {
        name: "specfem3d-mt".to_owned(),
        recipe: Recipe::Hvector(COLUMNS, 1, 12, Box::new(column)),
        loops: vec![nest(0, [(1, 0), (COLUMNS, 12), (ROWS, 12 * COLUMNS)], 3, 4)],
    }
}

/// A two-dimensional FFT: the block of a matrix of complex doubles that is sent to one of four processes, transposed.
fn fft() -> Pattern {
    const N: usize = 1536;
    const PART: usize = N / 4;
    let column = Recipe::Vector(PART, 1, N as isize, named(COMPLEX));
    Pattern {
        name: "fft2".to_owned(),
        recipe: Recipe::Hvector(PART, 1, 16, Box::new(column)),
        loops: vec![nest(0, [(1, 0), (PART, 16), (PART, 16 * N)], 1, 16)],
    }
}
