//! The table of codecs by tier, data and size, for any measurement.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark reports by panicking")]

use criterion::measurement::Measurement;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use mpress_benches::aligned::Aligned;
use mpress_benches::codecs::{CODECS, Role, Subject};
use mpress_benches::coder::Coder;
use mpress_benches::data::{DATASETS, Dataset};
use mpress_codec::simd::Simd;
use mpress_corpus::cold::Work;
use std::time::Duration;

/// From the shortest message worth a frame to a long message.
const SIZES: [usize; 4] = [1 << 10, 16 << 10, 256 << 10, 4 << 20];
/// The longest message that is also measured with cold caches, which matter less for longer ones.
const COLD: usize = 16 << 10;

/// Short enough for the whole table to take minutes; criterion's arguments lengthen it.
pub(crate) fn short<M: Measurement>(criterion: Criterion<M>) -> Criterion<M> {
    criterion
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200))
        .nresamples(10_000)
        .without_plots()
}

pub(crate) fn codecs<M: Measurement>(criterion: &mut Criterion<M>) {
    let mut work = Work::default();
    for dataset in DATASETS {
        let Some(data) = (dataset.make)(SIZES[SIZES.len() - 1]) else {
            eprintln!("SKIPPED: {} for lack of its file", dataset.name);
            continue;
        };
        for subject in CODECS.iter().filter(|subject| subject.role == Role::Codec) {
            if (subject.make)(dataset.element, Simd::SCALAR).unwrap().is_none() {
                continue;
            }
            let mut group = criterion.benchmark_group(format!("{}/{}", subject.name, dataset.name));
            print!("{}/{}, ratio at each length:", subject.name, dataset.name);
            for raw in SIZES.map(|len| &data[..len]) {
                print!(
                    " {} {:.3}",
                    raw.len(),
                    raw.len() as f64 / checked_wire(subject, dataset, raw).len() as f64
                );
            }
            println!();
            for raw in SIZES.map(|len| Aligned::from(&data[..len])) {
                for simd in Simd::available() {
                    size(&mut group, subject, dataset, simd, &raw);
                }
                if raw.len() <= COLD {
                    cold(&mut group, subject, dataset, &mut work, &raw);
                }
            }
        }
    }
}

fn make(subject: &Subject, dataset: &Dataset, simd: Simd) -> Box<dyn Coder> {
    (subject.make)(dataset.element, simd).unwrap().unwrap()
}

/// The wire of a message, which must be the same at each tier, after a round trip at each.
fn checked_wire(subject: &Subject, dataset: &Dataset, raw: &[u8]) -> Vec<u8> {
    let wires = Simd::available().map(|simd| {
        let mut coder = make(subject, dataset, simd);
        let mut wire = vec![0; coder.bound(raw.len()).unwrap()];
        let len = coder.encode(raw, &mut wire).unwrap();
        wire.truncate(len);
        let mut back = vec![0; raw.len()];
        coder.decode(&wire, &mut back).unwrap();
        assert!(back == raw, "{}: the message did not round-trip", subject.name);
        wire
    });
    wires.reduce(|a, b| if a == b { a } else { panic!("{}: tiers differ", subject.name) }).unwrap()
}

/// The codec itself, in both directions: no message is sent raw here.
fn size<M: Measurement>(
    group: &mut BenchmarkGroup<'_, M>,
    subject: &Subject,
    dataset: &Dataset,
    simd: Simd,
    raw: &[u8],
) {
    let wire = checked_wire(subject, dataset, raw);
    let mut coder = make(subject, dataset, simd);
    let mut buffer = Aligned::zeroed(coder.bound(raw.len()).unwrap());
    let mut back = Aligned::zeroed(raw.len());

    let name = simd.tier().name();
    group.throughput(Throughput::Bytes(raw.len() as u64));
    group.bench_function(BenchmarkId::new(format!("encode/{name}"), raw.len()), |bencher| {
        bencher.iter(|| coder.encode(raw, &mut buffer));
    });
    group.bench_function(BenchmarkId::new(format!("decode/{name}"), raw.len()), |bencher| {
        bencher.iter(|| coder.decode(&wire, &mut back));
    });
}

/// The same at the best tier, with the codec's code and data and the message evicted from the caches before each call.
fn cold<M: Measurement>(
    group: &mut BenchmarkGroup<'_, M>,
    subject: &Subject,
    dataset: &Dataset,
    work: &mut Work,
    raw: &[u8],
) {
    let wire = checked_wire(subject, dataset, raw);
    let mut coder = make(subject, dataset, Simd::detect());
    let mut buffer = Aligned::zeroed(coder.bound(raw.len()).unwrap());
    let mut back = Aligned::zeroed(raw.len());

    group.throughput(Throughput::Bytes(raw.len() as u64));
    // A few calls in each sample: what evicts takes milliseconds.
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(BenchmarkId::new("encode/cold", raw.len()), |bencher| {
        // After a verdict, as in an engine: it may ask for the code of the encoder.
        let encode = |()| (coder.verdict(raw), coder.encode(raw, &mut buffer));
        bencher.iter_batched(|| work.run(), encode, BatchSize::PerIteration);
    });
    group.bench_function(BenchmarkId::new("decode/cold", raw.len()), |bencher| {
        bencher.iter_batched(|| work.run(), |()| coder.decode(&wire, &mut back), BatchSize::PerIteration);
    });
    group.sampling_mode(SamplingMode::Auto);
}
