//! Compresses every message of a corpus alone, checks that it comes back, and prints ratio and speed.
#![forbid(unsafe_code)]

use cpu_time::ThreadTime;
use mpress_benches::codecs::{Pair, SUBJECTS, Subject};
use mpress_benches::corpus::File;
use mpress_codec::Out;
use mpress_codec::simd::{Level, Tier};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const USAGE: &str = "corpus [--level scalar|avx2|avx512] [--passes N] DIR...";
/// Messages from here on are long: the network's speed decides.
const LONG: usize = 16 * 1024;
/// Messages up to here are short: what a message costs before its first element decides.
const SHORT: usize = 4 * 1024;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Some messages of a file, compressed by one codec.
struct Set<'a> {
    messages: Vec<&'a [u8]>,
    wires: Vec<Vec<u8>>,
    encode: Vec<Duration>,
    decode: Vec<Duration>,
}

/// A codec on a file: all messages, the long ones, the short ones.
struct Row<'a> {
    subject: &'static Subject,
    file: &'a File,
    pair: Pair,
    sets: [Set<'a>; 3],
}

impl<'a> Set<'a> {
    fn new(file: &'a File, wanted: impl Fn(usize) -> bool) -> Self {
        let messages = file.messages().filter(|message| wanted(message.len())).collect();
        Self { messages, wires: Vec::new(), encode: Vec::new(), decode: Vec::new() }
    }

    /// Encodes and decodes every message once and checks the result.
    fn check(&mut self, (encoder, decoder): &mut Pair) -> Result<()> {
        encoder.reset();
        decoder.reset();
        for message in &self.messages {
            let room = encoder.max_encoded_len(message.len()).ok_or("a message without a bound")?;
            let mut wire = vec![0; room];
            let mut out = Out::from_slice(&mut wire);
            encoder.encode(message, &mut out)?;
            let len = out.len();
            wire.truncate(len);
            let mut raw = vec![0; message.len()];
            decoder.decode(&wire, &mut Out::from_slice(&mut raw))?;
            if raw != *message {
                return Err("a message did not come back as it was".into());
            }
            self.wires.push(wire);
        }
        Ok(())
    }

    /// One timed pass in each direction. The clock is the thread's own: what else the machine does is not counted.
    fn pass(&mut self, (encoder, decoder): &mut Pair, buffer: &mut [u8]) -> Result<()> {
        encoder.reset();
        let start = ThreadTime::now();
        for message in &self.messages {
            encoder.encode(message, &mut Out::from_slice(buffer))?;
        }
        self.encode.push(start.elapsed());
        decoder.reset();
        let start = ThreadTime::now();
        for (wire, message) in self.wires.iter().zip(&self.messages) {
            decoder.decode(wire, &mut Out::from_slice(&mut buffer[..message.len()]))?;
        }
        self.decode.push(start.elapsed());
        Ok(())
    }

    fn raw_len(&self) -> f64 {
        self.messages.iter().map(|message| message.len() as f64).sum()
    }

    /// Ratio, and the GB/s of encoding and decoding.
    fn figures(&self) -> Option<[f64; 3]> {
        let wire: f64 = self.wires.iter().map(|wire| wire.len() as f64).sum();
        let speed = |times: &[Duration]| self.raw_len() / median(times) / 1e9;
        (!self.messages.is_empty()).then(|| [self.raw_len() / wire, speed(&self.encode), speed(&self.decode)])
    }
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64)
}

fn main() -> Result<()> {
    let (mut level, mut passes) = (Level::detect(), 11);
    let mut folders = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--level" => {
                let name = args.next().ok_or(USAGE)?;
                let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name).ok_or(USAGE)?;
                level = Level::new(tier).ok_or("this machine does not have that level")?;
            }
            "--passes" => passes = args.next().ok_or(USAGE)?.parse()?,
            _ if arg.starts_with('-') => return Err(USAGE.into()),
            _ => folders.push(arg),
        }
    }
    if folders.is_empty() || passes < 7 {
        return Err(format!("{USAGE} (at least 7 passes)").into());
    }
    let mut files = Vec::new();
    for folder in &folders {
        files.extend(File::read_all(Path::new(folder))?);
    }
    header(level, passes);

    let mut rows = Vec::new();
    for file in &files {
        for subject in SUBJECTS.iter().filter(|subject| subject.width == 0 || subject.width == file.width) {
            let wanted: [fn(usize) -> bool; 3] = [|_| true, |len| len >= LONG, |len| len <= SHORT];
            let sets = wanted.map(|wanted| Set::new(file, wanted));
            let mut row = Row { subject, file, pair: (subject.make)(level)?, sets };
            for set in &mut row.sets {
                set.check(&mut row.pair)
                    .map_err(|error| format!("{} {}: {error}", file.name, subject.name))?;
            }
            rows.push(row);
        }
    }
    let longest = files.iter().flat_map(File::messages).map(<[u8]>::len).max().unwrap_or(0);
    let mut buffer = vec![0; longest * 2 + 64];
    // Pass by pass over all rows: what disturbs the machine for a while disturbs them all.
    for _ in 0..passes {
        for row in &mut rows {
            for set in &mut row.sets {
                set.pass(&mut row.pair, &mut buffer)?;
            }
        }
    }
    report(&rows);
    Ok(())
}

fn header(level: Level, passes: usize) {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    let rustc = Command::new("rustc").arg("-V").output().map(|output| output.stdout).unwrap_or_default();
    println!("machine:  {}, {}", cpu.unwrap_or("unknown").trim(), std::env::consts::ARCH);
    println!("compiler: {}", String::from_utf8_lossy(&rustc).trim());
    println!(
        "level:    {}; median of {passes} passes of processor time; each message alone\n",
        level.tier().name()
    );
}

fn report(rows: &[Row<'_>]) {
    println!(
        "{:24}{:13}{:>9}{:>10} | {:^20} | {:^20} | {:^27}",
        "", "", "", "", "all messages", "from 16 KiB", "up to 4 KiB"
    );
    println!(
        "{:24}{:13}{:>9}{:>10} | {:>6}{:>7}{:>7} | {:>6}{:>7}{:>7} | {:>7}{:>10}{:>10}",
        "codec",
        "file",
        "messages",
        "bytes",
        "ratio",
        "enc",
        "dec",
        "ratio",
        "enc",
        "dec",
        "bytes",
        "enc us",
        "dec us"
    );
    for row in rows {
        let [all, long, short] = &row.sets;
        print!(
            "{:24}{:13}{:>9}{:>10}{}{}",
            row.subject.name,
            row.file.name,
            all.messages.len(),
            all.raw_len(),
            cells(all.figures()),
            cells(long.figures())
        );
        let each = |times: &[Duration]| median(times) * 1e6 / short.messages.len() as f64;
        if !short.messages.is_empty() {
            let bytes = short.raw_len() / short.messages.len() as f64;
            print!(" | {bytes:>7.0}{:>10.3}{:>10.3}", each(&short.encode), each(&short.decode));
        }
        println!();
    }
    println!("\nGeometric means over the files, speeds in GB/s of raw bytes");
    for subject in SUBJECTS {
        for extension in ["f64", "f32", "i64", "i32", "bin"] {
            let of_set = |set: usize| {
                let named =
                    |row: &&Row<'_>| row.subject.name == subject.name && row.file.name.ends_with(extension);
                mean(rows.iter().filter(named).filter_map(|row| row.sets[set].figures()).collect())
            };
            if let Some(all) = of_set(0) {
                println!("{:24}{extension:32}{}{}", subject.name, cells(Some(all)), cells(of_set(1)));
            }
        }
    }
}

/// The geometric mean of each column.
fn mean(figures: Vec<[f64; 3]>) -> Option<[f64; 3]> {
    let column = |i: usize| (figures.iter().map(|row| row[i].ln()).sum::<f64>() / figures.len() as f64).exp();
    (!figures.is_empty()).then(|| [0, 1, 2].map(column))
}

fn cells(figures: Option<[f64; 3]>) -> String {
    match figures {
        Some([ratio, encode, decode]) => format!(" | {ratio:>6.4}{encode:>7.2}{decode:>7.2}"),
        None => format!(" | {:>20}", "-"),
    }
}
