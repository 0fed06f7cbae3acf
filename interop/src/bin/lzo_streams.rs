//! Exchanges LZO1X streams with liblzo2: `cargo run --release -p mpress-interop --bin lzo_streams -- COUNT [SEED]`.

use std::process::ExitCode;

#[cfg(peer_lzo)]
fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let (Some(Ok(count)), Ok(seed)) = (numbers.next(), numbers.next().unwrap_or(Ok(0))) else {
        eprintln!("usage: lzo_streams COUNT [SEED]");
        return ExitCode::FAILURE;
    };
    match mpress_interop::lzo_streams::exchange(count, seed) {
        Ok(sum) => {
            println!(
                "{} messages of {} bytes went both ways; liblzo2's streams: {} bytes, ours: {} bytes",
                sum.streams, sum.raw, sum.theirs, sum.ours
            );
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("{line}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(peer_lzo))]
fn main() -> ExitCode {
    eprintln!("liblzo2 is not installed");
    ExitCode::FAILURE
}
