//! The same as `codecs`, in cycles per byte of the CPU's time stamp counter, which runs at its nominal clock.

#[cfg(target_arch = "x86_64")]
mod by_size;

#[cfg(target_arch = "x86_64")]
fn main() {
    use criterion::Criterion;
    use criterion_cycles_per_byte::CyclesPerByte;

    // A separate directory: criterion would compare cycles with the nanoseconds of the last run of `codecs`.
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "../target".into());
    let criterion = by_size::short(Criterion::default().with_measurement(CyclesPerByte));
    let criterion =
        criterion.output_directory(std::path::Path::new(&target).join("criterion-cycles").as_path());
    let mut criterion = criterion.configure_from_args();
    by_size::codecs(&mut criterion);
    criterion.final_summary();
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("SKIPPED: this processor has no cycle counter that programs may read");
}
