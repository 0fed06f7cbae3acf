//! Every codec of the table by level, data and size. `README.md` says how to run a part of it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark reports by panicking")]

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mpress_benches::codecs::{SUBJECTS, Subject};
use mpress_benches::data::DATASETS;
use mpress_codec::Out;
use mpress_codec::simd::Level;
use std::time::Duration;

/// From the least that is worth a frame to a long message; 3424 bytes is the mean of NPB LU.
const SIZES: [usize; 7] = [1 << 10, 3424, 1 << 13, 1 << 14, 1 << 17, 1 << 20, 4 << 20];

fn codecs(criterion: &mut Criterion) {
    for subject in SUBJECTS.iter().filter(|subject| !subject.variant) {
        for dataset in DATASETS {
            let Some(data) = (dataset.make)(subject.width, SIZES[SIZES.len() - 1]) else {
                eprintln!("SKIPPED: {} for {}, for lack of its file", dataset.name, subject.name);
                continue;
            };
            let mut group = criterion.benchmark_group(format!("{}/{}", subject.name, dataset.name));
            print!("{}/{}, ratio at each length:", subject.name, dataset.name);
            for raw in SIZES.map(|len| &data[..len]) {
                print!(" {} {:.3}", raw.len(), raw.len() as f64 / checked_wire(subject, raw).len() as f64);
            }
            println!();
            for raw in SIZES.map(|len| &data[..len]) {
                for level in Level::available() {
                    size(&mut group, subject, level, raw);
                }
            }
        }
    }
}

/// The wire of a message, the same at each level, after its round trip at each.
fn checked_wire(subject: &Subject, raw: &[u8]) -> Vec<u8> {
    let wires = Level::available().map(|level| {
        let (mut encoder, mut decoder) = (subject.make)(level).unwrap();
        let mut wire = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
        let mut out = Out::from_slice(&mut wire);
        encoder.encode(raw, &mut out).unwrap();
        let len = out.len();
        wire.truncate(len);
        let mut back = vec![0; raw.len()];
        decoder.decode(&wire, &mut Out::from_slice(&mut back)).unwrap();
        assert!(back == raw, "{}: the message did not come back", subject.name);
        wire
    });
    wires.reduce(|a, b| if a == b { a } else { panic!("{}: levels differ", subject.name) }).unwrap()
}

fn size(group: &mut BenchmarkGroup<'_, WallTime>, subject: &Subject, level: Level, raw: &[u8]) {
    let wire = checked_wire(subject, raw);
    let (mut encoder, mut decoder) = (subject.make)(level).unwrap();
    let mut buffer = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
    let mut back = vec![0; raw.len()];

    let name = level.tier().name();
    group.throughput(Throughput::Bytes(raw.len() as u64));
    group.bench_function(BenchmarkId::new(format!("encode/{name}"), raw.len()), |bencher| {
        bencher.iter(|| encoder.encode(raw, &mut Out::from_slice(&mut buffer)));
    });
    group.bench_function(BenchmarkId::new(format!("decode/{name}"), raw.len()), |bencher| {
        bencher.iter(|| decoder.decode(&wire, &mut Out::from_slice(&mut back)));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    targets = codecs
}
criterion_main!(benches);
