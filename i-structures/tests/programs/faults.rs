//! Faults over an MPI: `faults CASE` prints a line per rank with the outcome of the case, and succeeds if the ranks can continue.

use mpi::traits::{Communicator, CommunicatorCollectives};
use mpress_i_structures::{
    Caching, Deferral, Error, IStructure, Memory, MpiTransport, Node, Options, Plan, Result, Structure,
};

type Failed = Box<dyn std::error::Error>;

fn main() -> std::result::Result<(), Failed> {
    let case = std::env::args().nth(1).ok_or("which case?")?;
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let world = universe.world();
    let transport = MpiTransport::new(&world)?;
    let communicator = transport.communicator();
    let node = Node::new(transport);
    let outcome = match &*case {
        "index" => index(&node),
        "twice" => twice(&node),
        "unknown" => unknown(&node),
        "parameters" => parameters(&node),
        "freed" => freed(&node),
        "plan" => plan(&node),
        "disagreement" => disagreement(&node),
        "early" => early(&node),
        "churn" => churn(&node),
        "compress" => {
            compress(&node)?;
            let stats = communicator.stats();
            let of = |(kind, _, line): (mpress_rsmpi::Kind, &str, mpress_rsmpi::Line)| {
                format!("{} {} {}", kind.name(), line.messages, line.wire_bytes < line.raw_bytes)
            };
            Ok(stats.lines().map(of).collect::<Vec<_>>().join(", "))
        }
        _ => return Err("there is no such case".into()),
    };
    let outcome = match outcome {
        Ok(text) => text,
        // The other ranks are still in it.
        Err(error) if case == "churn" => {
            eprintln!("{}: {error}", node.rank());
            world.abort(1)
        }
        Err(error) => error.to_string(),
    };
    println!("{}: {outcome}", node.rank());
    // The ranks can continue.
    let sum: IStructure<u32> = node.create(&Options::new(node.size().into()))?;
    let (one, rank) = (sum.clone(), u64::from(node.rank()));
    node.run(async move {
        let before = if rank == 0 { 0 } else { one.fetch(rank - 1).await? };
        one.store(rank, before + 1)
    })?;
    if sum.get(rank)? != Some(node.rank() + 1) {
        return Err("the next run has a wrong result".into());
    }
    world.barrier();
    Ok(())
}

/// One task on each rank.
fn on_each(node: &Node, array: &IStructure<f64>, fetched: Option<u64>) -> Result<String> {
    let array = array.clone();
    node.run(async move {
        if let Some(index) = fetched {
            array.fetch(index).await?;
        }
        Ok(())
    })?;
    Ok("no error".into())
}

fn index(node: &Node) -> Result<String> {
    let array = node.create(&Options::new(10))?;
    on_each(node, &array, (node.rank() == 1).then_some(10))
}

fn twice(node: &Node) -> Result<String> {
    let array: IStructure<f64> = node.create(&Options::new(10))?;
    let last = node.rank() + 1 == node.size();
    node.run(async move {
        for index in array.local() {
            array.store(index, 1.0)?;
        }
        if last { array.store(9, 2.0) } else { Ok(()) }
    })?;
    Ok("no error".into())
}

/// Rank 0 never creates the structure.
fn unknown(node: &Node) -> Result<String> {
    if node.rank() == 0 {
        let outcome = node.run(async { Ok(()) });
        // Creates it now, so that the structure numbers of the ranks agree again.
        node.create::<f64>(&Options::new(10))?;
        outcome?;
        return Ok("no error".into());
    }
    let array = node.create(&Options::new(10))?;
    on_each(node, &array, Some(0))
}

/// Rank 0 creates it with elements of another type.
fn parameters(node: &Node) -> Result<String> {
    if node.rank() == 0 {
        node.create::<i64>(&Options::new(10))?;
        node.run(async { Ok(()) })?;
        return Ok("no error".into());
    }
    let array = node.create(&Options::new(10))?;
    on_each(node, &array, Some(0))
}

/// Rank 0 has freed it.
fn freed(node: &Node) -> Result<String> {
    let array = node.create(&Options::new(10))?;
    if node.rank() == 0 {
        node.free(array.clone())?;
        node.run(async { Ok(()) })?;
        return Ok("no error".into());
    }
    on_each(node, &array, Some(0))
}

fn exchange(node: &Node, array: &IStructure<f64>) -> Result<Plan> {
    let mut recorder = node.record(&[array.untyped().clone()])?;
    (0..array.layout().len()).try_for_each(|index| recorder.fetch(array, index))?;
    node.exchange(recorder)
}

/// Each rank binds a plan to structures with other parameters.
fn plan(node: &Node) -> Result<String> {
    let options = Options::new(40).caching(Caching::Blocks(4)).deferral(Deferral::Block);
    let array = node.create(&options)?;
    let plan = exchange(node, &array)?;
    let other: IStructure<f64> = node.create(&options.caching(Caching::Blocks(8)))?;
    let structures: [Structure; 1] = [other.untyped().clone()];
    node.bind(&plan, &structures).map(|()| "no error".into())
}

/// Rank 0 records for a structure with other parameters.
fn disagreement(node: &Node) -> Result<String> {
    let block = if node.rank() == 0 { 2 } else { 4 };
    let array = node.create(&Options::new(40).caching(Caching::Blocks(block)))?;
    exchange(node, &array)?;
    Ok("no error".into())
}

/// More requests for a structure that rank 0 has not created than it keeps.
fn early(node: &Node) -> Result<String> {
    let options = Options::new(70_000 * u64::from(node.size()));
    if node.rank() == 0 {
        let outcome = node.run(async { Ok(()) });
        if node.memory().parked > 1 << 16 {
            return Err(Error::Program(format!("{} messages are kept", node.memory().parked)));
        }
        node.create::<f64>(&options)?;
        outcome?;
        return Ok("no error".into());
    }
    let array: IStructure<f64> = node.create(&options)?;
    let last = node.rank() + 1 == node.size();
    node.run(async move {
        let fetches: Vec<_> = (0..if last { 70_000 } else { 0 }).map(|index| array.fetch(index)).collect();
        for fetch in fetches {
            fetch.await?;
        }
        Ok(())
    })?;
    Ok("no error".into())
}

/// Structures are freed and created again 10,000 times, 25 of them in each run.
fn churn(node: &Node) -> Result<String> {
    let mut before = 0;
    for round in 0..400_u64 {
        let caching = if round % 3 == 0 { Caching::Off } else { Caching::Blocks(4) };
        let options = Options::new(64).caching(caching);
        let arrays: Vec<IStructure<f64>> = (0..25).map(|_| node.create(&options)).collect::<Result<_>>()?;
        let (tasks, own) = (arrays.clone(), node.clone());
        node.run(async move {
            for (number, array) in (0..).zip(&tasks) {
                let value = |index: u64| (round * 10_000 + number * 100 + index) as f64;
                for index in array.local() {
                    array.store(index, value(index))?;
                }
                for index in [0, 25, 63] {
                    let found = array.fetch(index).await?;
                    if found != value(index) {
                        return Err(Error::Program(format!("{found} instead of {}", value(index))));
                    }
                }
            }
            // In every other round, within the run.
            if round % 2 == 0 { tasks.into_iter().try_for_each(|array| own.free(array)) } else { Ok(()) }
        })?;
        if round % 2 == 1 {
            arrays.into_iter().try_for_each(|array| node.free(array))?;
        }
        // Ranks that are ahead may have sent messages of the next round.
        let memory = node.memory();
        if (Memory { parked: 0, capacity: 0, ..memory }) != Memory::default()
            || memory.parked + memory.capacity > 200
        {
            return Err(Error::Program(format!("round {round}: {memory:?}")));
        }
        if round == 40 {
            before = resident();
        }
    }
    // Pages of 4 KiB: 9,000 leaked structures of 64 elements would take more.
    let growth = resident().saturating_sub(before);
    Ok(if growth < 512 { "no growth".into() } else { format!("{growth} pages more") })
}

/// The number of resident pages of the process.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}

/// Each rank fetches whole blocks of smooth values from the next one.
fn compress(node: &Node) -> Result<()> {
    let (rank, ranks) = (u64::from(node.rank()), u64::from(node.size()));
    let options = Options::new(4096 * ranks).caching(Caching::Blocks(2048)).deferral(Deferral::Block);
    let array: IStructure<f64> = node.create(&options)?;
    node.run(async move {
        for index in array.local() {
            array.store(index, (index as f64 / 1000.0).sin())?;
        }
        for index in (0..4096).map(|slot| (rank + 1) % ranks * 4096 + slot) {
            if array.fetch(index).await? != (index as f64 / 1000.0).sin() {
                return Err(Error::Program(format!("element {index} is wrong")));
            }
        }
        Ok(())
    })
}
