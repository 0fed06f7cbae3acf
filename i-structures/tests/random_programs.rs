//! Random programs over the simulated transport, compared with a model without messages: every fetch gets the stored value, deadlocks are reported
//! with their fetches, second stores fail where they happen, and memory returns to its initial size.
//!
//! `MPRESS_RANDOM_PROGRAMS` sets their number (100,000 for the release check), `MPRESS_RANDOM_SEED` the first seed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use fastrand::Rng;
use mpress_i_structures::{
    Caching, Deferral, Distribution, Error, IStructure, Layout, Memory, Node, Options, Plan, Waiting,
    simulated,
};
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// Structure and index.
type Place = (usize, u64);

/// The steps of a task.
#[derive(Clone, Debug)]
enum Action {
    Fetch(Place),
    /// Requests all elements at once, then waits for each.
    FetchAll(Vec<Place>),
    /// Requests an element and drops the fetch.
    Ask(Place),
    /// Stores the values fetched so far, mixed with the place.
    Store(Place),
}

#[derive(Debug)]
struct Program {
    ranks: u32,
    structures: Vec<Options>,
    /// Rank and steps of each task.
    tasks: Vec<(u32, Vec<Action>)>,
    cache_limit: Option<usize>,
    residual: bool,
}

fn mix(sum: u64, value: u64) -> u64 {
    (sum.rotate_left(7) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn start(place: Place) -> u64 {
    mix(place.0 as u64 + 1, place.1 + 1)
}

fn structure(random: &mut Rng, ranks: u32, residual: bool) -> Options {
    let factor = random.u64(..100);
    let distribution = match random.u8(..4) {
        0 => Distribution::Block,
        1 => Distribution::Cyclic,
        2 => Distribution::BlockCyclic(random.u64(1..6)),
        _ => Distribution::Owner(Rc::new(move |index| {
            ((index * factor + index / 3) % u64::from(ranks)) as u32
        })),
    };
    let blocks = Caching::Blocks(random.u64(1..6));
    Options::new(random.u64(1..24))
        .distribution(distribution)
        .caching(if residual || random.bool() { blocks } else { Caching::Off })
        .deferral(if random.bool() { Deferral::Element } else { Deferral::Block })
}

impl Program {
    fn random(random: &mut Rng) -> Self {
        let ranks = random.u32(1..6);
        let residual = random.u8(..4) == 0;
        let structures: Vec<_> =
            (0..random.usize(1..4)).map(|_| structure(random, ranks, residual)).collect();
        let layouts: Vec<_> =
            structures.iter().map(|s| Layout::new(s.len, ranks, &s.distribution).unwrap()).collect();
        let mut places: Vec<Place> = structures
            .iter()
            .enumerate()
            .flat_map(|(s, options)| (0..options.len).map(move |i| (s, i)))
            .collect();
        random.shuffle(&mut places);
        // Usually a place is computed from earlier places, so that all can be computed, except with whole blocks. Sometimes one is left out.
        let wild = random.u8(..4) == 0;
        let forget = random.u8(..6) == 0;
        let mut tasks: Vec<(u32, Vec<Action>)> = Vec::new();
        for (number, place) in places.iter().enumerate() {
            if forget && random.u8(..8) == 0 {
                continue;
            }
            let known = if wild { places.len() } else { number };
            let any = |random: &mut Rng| places[random.usize(..known)];
            let mut actions = Vec::new();
            for _ in 0..random.usize(..4) {
                if known == 0 {
                    continue;
                }
                actions.push(match random.u8(..8) {
                    0 => Action::Ask(any(random)),
                    1 | 2 => Action::FetchAll((0..random.usize(1..5)).map(|_| any(random)).collect()),
                    _ => Action::Fetch(any(random)),
                });
            }
            actions.push(Action::Store(*place));
            let (owner, _) = layouts[place.0].locate(place.1).unwrap();
            let same = tasks.iter_mut().rev().find(|(rank, _)| *rank == owner).filter(|_| random.bool());
            match same {
                Some((_, task)) => task.extend(actions),
                None => tasks.push((owner, actions)),
            }
        }
        random.shuffle(&mut tasks);
        let cache_limit = (random.u8(..3) == 0).then(|| random.usize(..1000));
        Self { ranks, structures, tasks, cache_limit, residual }
    }

    fn layouts(&self) -> Vec<Layout> {
        self.structures.iter().map(|s| Layout::new(s.len, self.ranks, &s.distribution).unwrap()).collect()
    }

    /// The final contents, and the first fetches of tasks that cannot continue.
    fn model(&self) -> (HashMap<Place, u64>, HashSet<(u32, Place)>) {
        let layouts = self.layouts();
        let mut stored: HashMap<Place, u64> = HashMap::new();
        // An element can be fetched once it is stored; with deferral by blocks, another rank can fetch it once its block is full.
        let ready = |stored: &HashMap<Place, u64>, rank: u32, place: Place| {
            let (options, layout) = (&self.structures[place.0], &layouts[place.0]);
            let (owner, slot) = layout.locate(place.1).unwrap();
            let block = match (options.caching, options.deferral) {
                (Caching::Blocks(block), Deferral::Block) if owner != rank => block,
                _ => 1,
            };
            let first = slot / block * block;
            let mut slots = first..(first + block).min(layout.slots(owner));
            slots.all(|slot| stored.contains_key(&(place.0, layout.index(owner, slot).unwrap())))
        };
        let mut tasks: Vec<(u32, &[Action], u64)> =
            self.tasks.iter().map(|(rank, actions)| (*rank, &actions[..], 0)).collect();
        loop {
            let mut progress = false;
            for (rank, actions, sum) in &mut tasks {
                while let Some((action, rest)) = actions.split_first() {
                    match action {
                        Action::Ask(_) => {}
                        Action::Fetch(place) if ready(&stored, *rank, *place) => {
                            *sum = mix(*sum, stored[place])
                        }
                        Action::FetchAll(places)
                            if places.iter().all(|place| ready(&stored, *rank, *place)) =>
                        {
                            *sum = places.iter().fold(*sum, |sum, place| mix(sum, stored[place]));
                        }
                        Action::Store(place) => {
                            assert_eq!(stored.insert(*place, mix(start(*place), *sum)), None)
                        }
                        _ => break,
                    }
                    *actions = rest;
                    progress = true;
                }
            }
            if !progress {
                break;
            }
        }
        let stuck = tasks.iter().flat_map(|(rank, actions, _)| {
            let places = match actions.first() {
                Some(Action::Fetch(place)) => vec![*place],
                Some(Action::FetchAll(places)) => places.clone(),
                _ => Vec::new(),
            };
            places.into_iter().map(move |place| (*rank, place))
        });
        let stuck = stuck.filter(|(rank, place)| !ready(&stored, *rank, *place)).collect();
        (stored, stuck)
    }

    fn create(&self, node: &Node) -> Vec<IStructure<u64>> {
        self.structures.iter().map(|options| node.create(options).unwrap()).collect()
    }

    /// Plans, made by running only the access pattern.
    fn plans(&self, nodes: &[Node], seed: u64) -> Vec<Plan> {
        let all: Vec<_> = nodes.iter().map(|node| self.create(node)).collect();
        let begun: Vec<_> = nodes
            .iter()
            .zip(&all)
            .map(|(node, structures)| {
                let untyped: Vec<_> = structures.iter().map(|s| s.untyped().clone()).collect();
                let mut recorder = node.record(&untyped).unwrap();
                for (_, actions) in self.tasks.iter().filter(|(rank, _)| *rank == node.rank()) {
                    for action in actions {
                        match action {
                            Action::Fetch((s, i)) | Action::Ask((s, i)) => {
                                recorder.fetch(&structures[*s], *i).unwrap()
                            }
                            Action::FetchAll(places) => {
                                places.iter().for_each(|(s, i)| recorder.fetch(&structures[*s], *i).unwrap());
                            }
                            Action::Store(_) => {}
                        }
                    }
                }
                node.begin_exchange(recorder).unwrap()
            })
            .collect();
        assert!(simulated::finish(nodes, seed).iter().all(Result::is_ok));
        let plans = nodes.iter().zip(begun).map(|(node, plan)| node.end_exchange(plan).unwrap());
        let plans = plans.map(|plan| Plan::from_bytes(&plan.to_bytes()).unwrap()).collect();
        for (node, structures) in nodes.iter().zip(all) {
            structures.into_iter().for_each(|structure| node.free(structure).unwrap());
        }
        plans
    }
}

/// The values stored by the ranks, and the final sums of their tasks.
type Seen = Rc<RefCell<HashMap<Place, u64>>>;

async fn task(actions: Vec<Action>, structures: Vec<IStructure<u64>>, seen: Seen) -> Result<(), Error> {
    let mut sum = 0;
    for action in actions {
        match action {
            Action::Fetch((s, i)) => sum = mix(sum, structures[s].fetch(i).await?),
            Action::FetchAll(places) => {
                let fetches: Vec<_> = places.iter().map(|(s, i)| structures[*s].fetch(*i)).collect();
                for fetch in fetches {
                    sum = mix(sum, fetch.await?);
                }
            }
            Action::Ask((s, i)) => drop(structures[s].fetch(i)),
            Action::Store(place) => {
                let value = mix(start(place), sum);
                structures[place.0].store(place.1, value)?;
                assert_eq!(seen.borrow_mut().insert(place, value), None);
            }
        }
    }
    Ok(())
}

fn run(seed: u64) {
    let random = &mut Rng::with_seed(seed);
    let program = Program::random(random);
    let (stored, stuck) = program.model();
    let nodes = simulated::nodes(program.ranks, random.u64(..));
    let plans = program.residual.then(|| program.plans(&nodes, random.u64(..)));
    nodes.iter().for_each(|node| node.limit_cache(program.cache_limit));
    let before: Vec<_> = nodes.iter().map(Node::memory).collect();
    assert!(before.iter().all(|memory| *memory == Memory::default()), "seed {seed}: {before:?}");

    // A plan can be used for any number of runs.
    for _ in 0..2 {
        let counts: Vec<_> = nodes.iter().map(Node::counts).collect();
        let seen = Seen::default();
        let all: Vec<_> = nodes.iter().map(|node| program.create(node)).collect();
        for (rank, (node, structures)) in nodes.iter().zip(&all).enumerate() {
            if let Some(plans) = &plans {
                let untyped: Vec<_> = structures.iter().map(|s| s.untyped().clone()).collect();
                node.bind(&plans[rank], &untyped).unwrap();
            }
            for (_, actions) in program.tasks.iter().filter(|(of, _)| *of as usize == rank) {
                node.spawn(task(actions.clone(), structures.clone(), seen.clone()));
            }
            node.begin(async { Ok(()) }).unwrap();
        }
        let results = simulated::finish(&nodes, random.u64(..));
        assert_eq!(*seen.borrow(), stored, "seed {seed}");
        for result in results {
            if stuck.is_empty() {
                assert_eq!(result, Ok(()), "seed {seed}");
                continue;
            }
            let Err(Error::Deadlock { waiting, names }) = result else { panic!("seed {seed}: {result:?}") };
            assert!(waiting >= stuck.len() as u64 && !names.is_empty(), "seed {seed}");
            for Waiting { rank, address } in names {
                let of = |structures: &Vec<IStructure<u64>>| {
                    structures.iter().position(|s| s.id() == address.structure).map(|s| (s, address.index))
                };
                assert!(stuck.contains(&(rank, of(&all[rank as usize]).unwrap())), "seed {seed}: {address}");
            }
        }
        if program.residual && program.cache_limit.is_none() {
            let requests =
                nodes.iter().zip(&counts).map(|(node, before)| node.counts().requests - before.requests);
            assert_eq!(requests.sum::<u64>(), 0, "seed {seed}");
        }
        for (node, structures) in nodes.iter().zip(all) {
            structures.into_iter().for_each(|structure| node.free(structure).unwrap());
            assert_eq!(node.memory(), Memory::default(), "seed {seed}");
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[test]
fn every_fetch_gets_the_value_stored() {
    let first = number("MPRESS_RANDOM_SEED").unwrap_or(0);
    for seed in first..first + number("MPRESS_RANDOM_PROGRAMS").unwrap_or(3000) {
        run(seed);
    }
}
