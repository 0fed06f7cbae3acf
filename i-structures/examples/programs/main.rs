//! The programs of the paper's section 4, and an irregular one, over MPI: runs one, checks its result, and prints its counts. For example `mpirun -n
//! 4 programs mm dis,dissc,residual --block 8`.

mod all;

use all::{Program, fft::Fft, product::Product, triangular::Triangular};
use clap::{Parser, ValueEnum};
use mpi::{
    collective::SystemOperation,
    topology::SimpleCommunicator,
    traits::{Communicator, CommunicatorCollectives},
};
use mpress_i_structures::{Counts, MpiTransport, Node, Plan, Result};
use std::{error::Error, fs, path::PathBuf, time::Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Without a cache: each fetch of a remote element is a request and a value.
    Dis,
    /// With a cache.
    Dissc,
    /// With a cache and a plan: only values.
    Residual,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Name {
    /// Dense matrix product.
    Mm,
    /// Fast Fourier transform.
    Fft,
    /// Sparse triangular solve.
    Triangular,
}

#[derive(Debug, Parser)]
struct Arguments {
    program: Name,
    #[arg(value_delimiter = ',', default_value = "dissc")]
    modes: Vec<Mode>,
    /// Elements of a cache block (CB).
    #[arg(long, default_value_t = 8)]
    block: u64,
    /// Rows of the matrices (default 128), complex numbers (8192), or unknowns (10000).
    #[arg(long)]
    size: Option<u64>,
    /// Bytes of each rank's cache; unlimited by default.
    #[arg(long)]
    cache: Option<usize>,
    /// Number of runs; the one with the median time is printed.
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// Loads the plan of rank R from PLAN.R, or saves it there if there is none.
    #[arg(long)]
    plan: Option<PathBuf>,
    /// Prints a row: program,mode,block,ranks,messages,seconds.
    #[arg(long)]
    csv: bool,
}

/// The largest relative error that rounding can explain.
const ROUNDING: f64 = 1e-9;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let world = universe.world();
    let node = Node::new(MpiTransport::new(&world)?);
    node.limit_cache(arguments.cache);
    for mode in &arguments.modes {
        match arguments.program {
            Name::Mm => run("mm", 128, *mode, &arguments, &world, &node, Product::new),
            Name::Fft => run("fft", 8192, *mode, &arguments, &world, &node, Fft::new),
            Name::Triangular => run("triangular", 10_000, *mode, &arguments, &world, &node, Triangular::new),
        }?;
    }
    Ok(())
}

/// Runs a program of size `default` unless a size is given.
fn run<P: Program>(
    name: &str,
    size: u64,
    mode: Mode,
    arguments: &Arguments,
    world: &SimpleCommunicator,
    node: &Node,
    program: impl Fn(&Node, u64, Option<u64>) -> Result<P>,
) -> std::result::Result<(), Box<dyn Error>> {
    let block = (mode != Mode::Dis).then_some(arguments.block);
    let make = || program(node, arguments.size.unwrap_or(size), block);

    let mut plan = None;
    if mode == Mode::Residual {
        plan = Some(make_plan(node, &make()?, arguments.plan.as_deref())?);
    }
    let mut all: Vec<(f64, Counts)> = Vec::new();
    for _ in 0..arguments.runs.max(1) {
        let program = make()?;
        world.barrier();
        let (before, start) = (node.counts(), Instant::now());
        if let Some(plan) = &plan {
            node.bind(plan, &program.structures())?;
        }
        node.run(program.task())?;
        world.barrier();
        let (seconds, counts) = (start.elapsed().as_secs_f64(), node.counts());
        let (mut total, mut error) = (numbers(counts), 0.0);
        for (after, before) in total.iter_mut().zip(numbers(before)) {
            *after -= before;
        }
        let mine = total;
        world.all_reduce_into(&mine, &mut total, SystemOperation::sum());
        // A NaN is not a valid result, and MPI does not define reductions of it.
        let here = Some(program.error()).filter(|error| error.is_finite()).unwrap_or(f64::INFINITY);
        world.all_reduce_into(&here, &mut error, SystemOperation::max());
        if error > ROUNDING {
            return Err(format!("the result is wrong: relative error {error}").into());
        }
        let [local, hits, misses, deferred_misses, requests, values, control, bytes, evicted] = total;
        let total =
            Counts { local, hits, misses, deferred_misses, requests, values, control, bytes, evicted };
        all.push((seconds, total));
        program.structures().into_iter().try_for_each(|structure| node.free_untyped(&structure))?;
    }
    all.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let (0, Some((seconds, counts))) = (world.rank(), all.get(all.len() / 2)) {
        print(name, mode, arguments, world.size(), *seconds, counts);
    }
    Ok(())
}

fn numbers(of: Counts) -> [u64; 9] {
    let Counts { local, hits, misses, deferred_misses, requests, values, control, bytes, evicted } = of;
    [local, hits, misses, deferred_misses, requests, values, control, bytes, evicted]
}

fn make_plan<P: Program>(
    node: &Node,
    program: &P,
    file: Option<&std::path::Path>,
) -> std::result::Result<Plan, Box<dyn Error>> {
    let file = file.map(|file| format!("{}.{}", file.display(), node.rank()));
    let plan = match file.as_ref().filter(|file| fs::exists(file).unwrap_or(false)) {
        Some(file) => Plan::from_bytes(&fs::read(file)?)?,
        None => {
            let mut recorder = node.record(&program.structures())?;
            program.record(&mut recorder)?;
            node.exchange(recorder)?
        }
    };
    if let Some(file) = file {
        fs::write(file, plan.to_bytes())?;
    }
    program.structures().into_iter().try_for_each(|structure| node.free_untyped(&structure))?;
    Ok(plan)
}

fn print(name: &str, mode: Mode, arguments: &Arguments, ranks: i32, seconds: f64, counts: &Counts) {
    let block = if mode == Mode::Dis { 1 } else { arguments.block };
    let mode = match mode {
        Mode::Dis => "dis",
        Mode::Dissc => "dissc",
        Mode::Residual => "residual",
    };
    let messages = counts.messages();
    if arguments.csv {
        println!("{name},{mode},{block},{ranks},{messages},{seconds:.6}");
        return;
    }
    let Counts { local, hits, misses, deferred_misses, requests, values, control, bytes, evicted } = counts;
    println!("{name} {mode}, blocks of {block}, {ranks} ranks: {seconds:.3} s");
    println!("fetches   {local} local, {hits} hits, {misses} misses, {deferred_misses} deferred misses");
    println!("messages  {messages}: {requests} requests, {values} values; {bytes} bytes; {control} others");
    println!("evicted   {evicted} blocks");
}
