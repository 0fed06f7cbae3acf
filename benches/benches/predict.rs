//! The time of the tournament predictor per receive call: predict, then observe.
#![allow(clippy::unwrap_used, reason = "a benchmark reports by panicking")]

use criterion::{Criterion, Throughput};
use mpress_predict::{Envelope, Predictor, Tag, Tournament};
use std::hint::black_box;
use std::time::{Duration, Instant};

type Call = (Tag, Envelope);

/// Calls of a solver: `sweeps` sweeps of different lengths from a few sites, `iterations` times.
fn sweeps(sweeps: u64, iterations: usize) -> Vec<Call> {
    let sweep = |at: u64| {
        (0..6).map(move |step| {
            let message = Envelope {
                buffer: 0x5555_0000_0000 + step * 4096,
                count: 100 + at % 3,
                source: (at % 7) as i32,
                tag: (1000 * at + step) as i32,
                ..Envelope::default()
            };
            (0x1000 + at * 0x40, message)
        })
    };
    (0..sweeps).flat_map(sweep).collect::<Vec<_>>().repeat(iterations)
}

/// Unpredictable calls: a given number of messages in random order.
fn disorder(messages: u64) -> Vec<Call> {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % messages
    };
    let call =
        |which: u64| (0x1000 + which % 16 * 0x40, Envelope { buffer: which * 4096, ..Envelope::default() });
    (0..8000).map(|_| call(random())).collect()
}

fn pass(predictor: &mut Tournament, tagged: bool, calls: &[Call]) {
    for (tag, message) in calls {
        black_box(predictor.predict(tagged.then_some(*tag)));
        predictor.observe(*tag, *message);
    }
}

/// The minimum over many passes, in ns per call: on a machine with other work, criterion mostly measures that.
fn shortest(tagged: bool, calls: &[Call]) -> f64 {
    let mut predictor = Tournament::new();
    let passes = (0..250).map(|_| {
        let start = Instant::now();
        pass(&mut predictor, tagged, calls);
        start.elapsed()
    });
    passes.min().unwrap().as_nanos() as f64 / calls.len() as f64
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
        .configure_from_args();
    let programs = [
        ("7-sweeps", sweeps(7, 200)),
        ("80-sweeps", sweeps(80, 20)),
        ("disorder-50", disorder(50)),
        ("disorder-5000", disorder(5000)),
    ];
    for (name, calls) in &programs {
        let mut group = criterion.benchmark_group("tournament");
        group.throughput(Throughput::Elements(calls.len() as u64));
        for tagged in [false, true] {
            let mut predictor = Tournament::new();
            let name = format!("{name}/{}", if tagged { "tagged" } else { "untagged" });
            group.bench_function(name, |bencher| {
                bencher.iter(|| pass(&mut predictor, tagged, calls));
            });
        }
    }
    criterion.final_summary();
    for (name, calls) in &programs {
        let [untagged, tagged] = [false, true].map(|tagged| shortest(tagged, calls));
        println!("{name}: the shortest pass took {untagged:.1} ns per call, {tagged:.1} ns tagged");
    }
}
