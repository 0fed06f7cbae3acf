//! The build script of the layer alone, which is built for the MPI that the crate `mpi` is built for.
#![allow(clippy::panic, clippy::expect_used, reason = "a build script fails by panicking")]

#[allow(dead_code, reason = "the tests need the rest")]
mod calls;
mod constants;
mod exports;
mod functions;
mod made;

use std::process::Command;

fn main() {
    made::make(abi(), "");
}

/// The ABI of that MPI, from the world communicator in its `mpi.h`.
fn abi() -> &'static str {
    // The variables that `mpi-sys` uses.
    for name in ["MPICC", "MPI_PKG_CONFIG", "CRAY_MPICH_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let found = build_probe_mpi::probe().unwrap_or_else(|errors| panic!("there is no MPI: {errors:?}"));
    let mut compiler = Command::new(found.mpicc.as_deref().unwrap_or("cc"));
    compiler.args(["-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"]);
    compiler.args(found.include_paths.iter().map(|path| format!("-I{}", path.display())));
    let output = compiler.output().expect("there is a C compiler, as for all of Rust");
    let text = String::from_utf8_lossy(&output.stdout);
    let world = text.lines().find_map(|line| line.strip_prefix("#define MPI_COMM_WORLD "));
    match world {
        Some(world) if world.contains("ompi_mpi_comm_world") => "openmpi",
        Some(world) if world.contains("0x44000000") => "mpich",
        Some(world) if world.contains("0x00000101") || world.contains("0x101") => "standard",
        other => panic!("{compiler:?}: an MPI of no ABI that is known: MPI_COMM_WORLD is {other:?}"),
    }
}
