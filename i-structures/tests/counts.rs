//! The programs of the paper send exactly as many messages as Table 1 and the formulas in the programs say, for any order of
//! delivery.
//!
//! The matrix product without a cache sends millions of messages; that and all of Table 1 are checked with `--ignored`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[path = "../examples/programs/all/mod.rs"]
mod programs;

use mpress_i_structures::{Counts, Memory, Node, Plan, Result, simulated};
use programs::{Program, fft::Fft, product::Product, triangular::Triangular};

/// How a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Dis,
    Dissc(u64),
    Residual(u64),
}

impl Mode {
    fn block(self) -> Option<u64> {
        match self {
            Self::Dis => None,
            Self::Dissc(block) | Self::Residual(block) => Some(block),
        }
    }
}

fn total(nodes: &[Node]) -> Counts {
    let mut total = Counts::default();
    nodes.iter().for_each(|node| total += node.counts());
    total
}

fn finish(nodes: &[Node], seed: u64) {
    for result in simulated::finish(nodes, seed) {
        result.unwrap();
    }
}

/// Plans that were saved and loaded.
fn plans<P: Program>(nodes: &[Node], programs: &[P]) -> Vec<Plan> {
    let begun = nodes.iter().zip(programs).map(|(node, program)| {
        let mut recorder = node.record(&program.structures()).unwrap();
        program.record(&mut recorder).unwrap();
        node.begin_exchange(recorder).unwrap()
    });
    let begun: Vec<_> = begun.collect();
    finish(nodes, 4);
    let plans = nodes.iter().zip(begun).map(|(node, plan)| node.end_exchange(plan).unwrap());
    plans.map(|plan| Plan::from_bytes(&plan.to_bytes()).unwrap()).collect()
}

/// The counters of a run, summed over all ranks.
fn run<P: Program>(ranks: u32, mode: Mode, program: impl Fn(&Node, Option<u64>) -> Result<P>) -> Counts {
    let nodes = simulated::nodes(ranks, u64::from(ranks));
    let programs: Vec<_> = nodes.iter().map(|node| program(node, mode.block()).unwrap()).collect();
    let mut expected = None;
    if let Mode::Residual(_) = mode {
        let plans = plans(&nodes, &programs);
        expected = Some(plans.iter().map(Plan::values).sum::<u64>());
        for ((node, program), plan) in nodes.iter().zip(&programs).zip(&plans) {
            node.bind(plan, &program.structures()).unwrap();
        }
    }
    for (node, program) in nodes.iter().zip(&programs) {
        node.begin(program.task()).unwrap();
    }
    finish(&nodes, 3);
    let counts = total(&nodes);
    for (node, program) in nodes.iter().zip(&programs) {
        let error = program.error();
        assert!(error < 1e-9, "{mode:?}, {ranks} ranks: error {error}");
        assert_eq!((node.memory().tasks, node.memory().pending, node.memory().queues), (0, 0, 0));
    }
    assert!(total(&nodes) == counts && nodes.iter().all(|node| node.memory() != Memory::default()));
    match mode {
        Mode::Dis => {
            assert_eq!((counts.hits, counts.deferred_misses, counts.requests), (0, 0, counts.values))
        }
        Mode::Dissc(_) => assert!(counts.requests == counts.misses && counts.requests <= counts.values),
        Mode::Residual(_) => assert_eq!((counts.requests, counts.misses), (0, 0)),
    }
    if let Some(expected) = expected {
        assert!(counts.values >= expected);
    }
    counts
}

const MODES: [Mode; 9] = [
    Mode::Dis,
    Mode::Dissc(1),
    Mode::Dissc(2),
    Mode::Dissc(4),
    Mode::Dissc(8),
    Mode::Residual(1),
    Mode::Residual(2),
    Mode::Residual(4),
    Mode::Residual(8),
];

/// The number of messages of the matrix product.
fn product(n: u64, ranks: u64, mode: Mode) -> u64 {
    match mode {
        Mode::Dis => 2 * n * n * n * (ranks - 1) / ranks,
        Mode::Dissc(block) => 2 * n * n * (ranks - 1) / block,
        Mode::Residual(block) => n * n * (ranks - 1) / block,
    }
}

fn check_product(n: u64, ranks: u32, mode: Mode) -> u64 {
    let counts = run(ranks, mode, |node, block| Product::new(node, n, block));
    assert_eq!(counts.messages(), product(n, u64::from(ranks), mode), "n {n}, {ranks} ranks, {mode:?}");
    // A row of A and a column of B for each element of C.
    let fetches = counts.local + counts.hits + counts.misses + counts.deferred_misses;
    assert_eq!(fetches, 2 * n * n * n);
    counts.messages()
}

#[test]
fn matrix_product_sends_what_the_formula_says() {
    for ranks in [1, 2, 4, 8] {
        for mode in MODES {
            check_product(32, ranks, mode);
        }
    }
}

/// Table 1: messages by mode, for 2, 4, 8 ranks.
const TABLE_1: [(Mode, [u64; 3]); 5] = [
    (Mode::Dis, [2_097_152, 3_145_728, 3_670_016]),
    (Mode::Dissc(1), [32_768, 98_304, 229_376]),
    (Mode::Dissc(2), [16_384, 49_152, 114_688]),
    (Mode::Dissc(4), [8_192, 24_576, 57_344]),
    (Mode::Dissc(8), [4_096, 12_288, 28_672]),
];

#[test]
#[ignore = "a minute or two: 10 million messages"]
fn matrix_product_sends_what_table_1_says() {
    for (mode, messages) in TABLE_1 {
        for (ranks, expected) in [2, 4, 8].into_iter().zip(messages) {
            assert_eq!(check_product(128, ranks, mode), expected);
            if let Mode::Dissc(block) = mode {
                assert_eq!(check_product(128, ranks, Mode::Residual(block)), expected / 2);
            }
        }
    }
}

#[test]
fn matrix_product_with_a_cache_sends_what_table_1_says() {
    assert_eq!(check_product(128, 2, Mode::Dissc(8)), 4_096);
    assert_eq!(check_product(128, 2, Mode::Residual(8)), 2_048);
}

fn check_fft(n: u64, ranks: u32, mode: Mode) -> u64 {
    let counts = run(ranks, mode, |node, block| Fft::new(node, n, block));
    let fetches = n * u64::from(ranks.ilog2());
    let expected = match mode {
        Mode::Dis => 2 * fetches,
        Mode::Dissc(block) => 2 * fetches / block,
        Mode::Residual(block) => fetches / block,
    };
    assert_eq!(counts.messages(), expected, "n {n}, {ranks} ranks, {mode:?}");
    counts.messages()
}

#[test]
fn fft_sends_what_the_formula_says() {
    for ranks in [1, 2, 4, 8] {
        for mode in MODES {
            check_fft(512, ranks, mode);
        }
    }
    // The paper's numbers at 2 ranks.
    assert_eq!(check_fft(8192, 2, Mode::Dis), 16_384);
    assert_eq!(check_fft(8192, 2, Mode::Dissc(8)), 2_048);
    assert_eq!(check_fft(8192, 2, Mode::Residual(8)), 1_024);
}

#[test]
fn an_irregular_program_is_solved_in_any_order() {
    for ranks in [1, 2, 3, 8] {
        for mode in MODES {
            run(ranks, mode, |node, block| Triangular::new(node, 500, block));
        }
    }
}
