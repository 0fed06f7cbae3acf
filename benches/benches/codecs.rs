//! Every codec of the table by tier, data and size, in wall-clock time and bytes per second.

mod by_size;

use criterion::{Criterion, criterion_group, criterion_main};

criterion_group! {
    name = benches;
    config = by_size::short(Criterion::default());
    targets = by_size::codecs
}
criterion_main!(benches);
