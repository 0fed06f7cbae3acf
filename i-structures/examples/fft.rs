//! Fast Fourier transform, as in the paper's section 4: `fft residual --block 8`.

mod programs;

use programs::{command, fft::Fft};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    command::main("fft", 8192, Fft::new)
}
