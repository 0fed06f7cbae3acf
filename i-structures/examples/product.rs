//! Dense matrix product, as in the paper's section 4: `product dissc --block 8`.

mod programs;

use programs::{command, product::Product};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    command::main("mm", 128, Product::new)
}
