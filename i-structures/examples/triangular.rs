//! Sparse triangular solve, whose elements are produced in an order that the matrix decides: `triangular dissc --block 8`.

mod programs;

use programs::{command, triangular::Triangular};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    command::main("triangular", 10000, Triangular::new)
}
