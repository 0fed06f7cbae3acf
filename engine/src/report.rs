//! The report at the end of a job: the messages sent, the effect of compression on them, and the gain. As text for the terminal, and as JSON
//! (`docs/format/report.md`) for `mpress report` and other programs.

mod ahead;
mod calls;
mod clock;
mod program;
mod tables;
mod text;
mod verdict;

pub use ahead::Ahead;
pub use calls::{Call, Communicator, InMpi};
pub use clock::Clock;
pub use program::program_name;
pub use tables::{Subject, Tables, communicators};

use crate::engine::{Destination, Engine};
use crate::settings::Settings;
use crate::stats::{Line, RawReason, Stats};
use mpress_codec::Kind;
use mpress_selector::Thresholds;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const FORMAT: &str = "mpress report";
const VERSION: u32 = 1;

/// A complete report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    format: String,
    version: u32,
    /// The job.
    pub job: Job,
    /// All messages long enough for compression, of all ranks, to processes that understand frames.
    pub total: Counts,
    /// By element kind and codec.
    pub codecs: Vec<CodecCounts>,
    /// The messages sent raw, by the reason.
    #[serde(default)]
    pub raw: Vec<RawCounts>,
    /// Those that referred to earlier ones; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referring: Option<Counts>,
    /// By destination, and for each destination by length.
    pub destinations: Vec<DestinationCounts>,
    /// By element kind, the compression window of rank 0, if it has sent such messages.
    pub windows: Vec<Window>,
    /// The gain of the adaptive strategy by its own estimate.
    pub gain: Gain,
    /// Calls that were not considered, by kind of call.
    #[serde(default)]
    pub passed: Vec<Passed>,
    /// The results of receiving messages before the program asks for them; `None` if that was off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    /// The time in MPI calls; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_mpi: Option<InMpi>,
    /// The savings, in one line.
    pub verdict: String,
}

/// Calls and messages that the layer above the engine does not compress, but counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// Their description, in the plural.
    pub calls: String,
    /// Their number, over all ranks.
    pub count: u64,
    /// Their bytes, if they are known: then these are messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Passed {
    fn text(&self) -> String {
        let Self { calls, count, bytes } = self;
        bytes.map_or_else(
            || format!("{count} {calls}"),
            |bytes| format!("{count} {calls} ({})", text::bytes(bytes)),
        )
    }
}

/// The results of predicted receives, summed over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Receive calls for which there was a prediction.
    pub predicted: u64,
    /// The correct predictions among them.
    pub right: u64,
    /// Messages that were decoded, completely or in part, before the program asked for them.
    pub early: u64,
    /// Seconds of decoding that were complete when the program asked for the messages, minus the time of copying them.
    pub moved_s: f64,
}

/// A description of the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub program: String,
    /// The number of processes.
    pub ranks: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// Seconds from the beginning of MPI to its end.
    pub seconds: f64,
    /// The strategy.
    pub strategy: String,
    /// The latency of the network as rank 0 knows it, in microseconds.
    pub latency_us: f64,
    /// The effective bandwidth of the network as rank 0 knows it, in MB/s (10^6 bytes a second).
    pub bandwidth_mb_s: f64,
}

/// Counted messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Messages sent.
    pub messages: u64,
    /// Their bytes as the program sent them.
    pub raw_bytes: u64,
    /// Their bytes on the wire. With the strategy `measure`: the bytes that would have been sent.
    pub wire_bytes: u64,
    /// Seconds of encoding.
    pub encode_s: f64,
    /// Seconds of decoding received messages.
    pub decode_s: f64,
}

/// Counted messages of a kind and codec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodecCounts {
    /// The name of the kind.
    pub kind: String,
    /// The name of the codec, or `raw`.
    pub codec: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Messages that were sent raw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCounts {
    /// Why they were not compressed.
    pub reason: String,
    /// Their number.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Counted messages for a destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DestinationCounts {
    /// Its name.
    pub destination: String,
    /// All messages.
    pub total: Counts,
    /// By length, the shortest first.
    pub sizes: Vec<SizeCounts>,
}

impl DestinationCounts {
    /// Where its messages went, for titles: `inside the node`, or `to other nodes`.
    #[must_use]
    pub fn place(&self) -> String {
        if self.destination == Destination::SameNode.name() {
            "inside the node".to_owned()
        } else {
            format!("to {}", self.destination)
        }
    }
}

/// Counted messages of a size class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeCounts {
    /// The length in bytes of the shortest.
    pub from: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A compression window over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The name of the kind.
    pub kind: String,
    /// The thresholds after each change; the last are those at the end.
    pub thresholds: Vec<Threshold>,
}

/// Both thresholds of a compression window at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Threshold {
    /// The number of messages of the kind until then.
    pub messages: u64,
    /// Length in bytes of the shortest inside; `None` if nothing is inside.
    pub smallest: Option<u64>,
    /// Length in bytes of the shortest that are too long; `None` if no length is too long.
    pub end: Option<u64>,
}

/// Seconds gained, summed over ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// As predicted for each message.
    pub predicted_s: f64,
    /// With the actual lengths and encoding times.
    pub measured_s: f64,
    /// The seconds that all messages for which the adaptive strategy decided would have taken raw, one after another, each with the network estimate
    /// at that time.
    pub raw_s: f64,
    /// The result of the trials by the clock, if the job was long enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
}

/// The contribution of one process to the report: counters to be summed over all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    words: Vec<u64>,
}

/// The number of words in a share before the counters.
const GAINS: usize = 3 + clock::WORDS;

impl Share {
    /// The share of a process.
    #[must_use]
    pub fn of(engine: &Engine) -> Self {
        let (stats, gain) = (engine.stats(), engine.gain());
        // Negative gains wrap around; their sum is correct again.
        let [expected, measured, raw] =
            [gain.expected_ns, gain.measured_ns, gain.raw_ns].map(|ns| (ns as i64).cast_unsigned());
        let words = [[expected, measured, raw].as_slice(), &clock::words(engine.trial_result())].concat();
        Self { words: [&words[..], stats.as_words()].concat() }
    }

    /// The counters as a flat array, to be summed over processes element by element, with wrap-around. The length is the same for all processes of
    /// the same build whose engines have the same codecs.
    #[must_use]
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// The same, to receive the sum.
    pub fn as_words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    fn gain(&self) -> Gain {
        let seconds = |at: usize| self.words[at].cast_signed() as f64 * 1e-9;
        let clock = Clock::of(self.clock_words());
        Gain { predicted_s: seconds(0), measured_s: seconds(1), raw_s: seconds(2), clock }
    }

    /// Whether any process made enough trials by the clock for a result.
    fn has_tried(&self) -> bool {
        clock::has_tried(self.clock_words())
    }

    fn clock_words(&self) -> [u64; clock::WORDS] {
        self.words[3..].first_chunk().copied().unwrap_or_default()
    }

    /// The counters, of the codecs of this engine.
    fn stats(&self, engine: &Engine) -> Stats {
        engine.stats().with_words(&self.words[GAINS..])
    }
}

/// A job, as the layer above the engine knows it.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The program.
    pub program: String,
    /// The number of processes.
    pub ranks: u64,
    /// The number of nodes.
    pub nodes: u64,
    /// From the beginning of MPI to its end.
    pub time: Duration,
    /// Calls that the layer does not compress.
    pub passed: Vec<Passed>,
    /// The results of prediction, if the layer predicts.
    pub prediction: Option<Prediction>,
    /// The time in MPI calls, if the layer measures it.
    pub in_mpi: Option<InMpi>,
}

impl JobReport {
    /// The report on a job: the sum of all shares, and the windows of this engine.
    #[must_use]
    pub fn new(about: &About, settings: &Settings, sum: &Share, engine: &Engine) -> Self {
        let (stats, gain, link) = (sum.stats(engine), sum.gain(), engine.link());
        let destinations = Destination::ALL.map(|to| DestinationCounts {
            destination: to.name().into(),
            total: counts(&stats.sent_to(to)),
            sizes: stats
                .sizes(to)
                .map(|(size, line)| SizeCounts { from: size.start() as u64, counts: counts(&line) })
                .collect(),
        });
        let codecs = stats.lines().map(|(kind, codec, line)| CodecCounts {
            kind: kind.name().into(),
            codec: codec.into(),
            counts: counts(&line),
        });
        let windows = Kind::ALL.into_iter().filter_map(|kind| {
            let (now, history) = engine.window(kind);
            let thresholds = history.iter().chain([&now]).map(threshold).collect();
            (now.messages > 0).then(|| Window { kind: kind.name().into(), thresholds })
        });
        let total = counts(&stats.total());
        Self {
            format: FORMAT.into(),
            version: VERSION,
            job: Job {
                program: about.program.clone(),
                ranks: about.ranks,
                nodes: about.nodes,
                seconds: about.time.as_secs_f64(),
                strategy: settings.strategy.to_string(),
                latency_us: link.latency_us,
                bandwidth_mb_s: link.bandwidth_mb_s,
            },
            total,
            codecs: codecs.collect(),
            raw: stats.raw().map(|(reason, line)| raw_counts(reason, &line)).collect(),
            referring: Some(stats.referring()).filter(|line| line.messages > 0).map(|line| counts(&line)),
            destinations: destinations.into_iter().filter(|to| to.total.messages > 0).collect(),
            windows: windows.collect(),
            gain,
            passed: about.passed.iter().filter(|passed| passed.count > 0).cloned().collect(),
            prediction: about.prediction,
            in_mpi: about.in_mpi.clone(),
            verdict: verdict::verdict(&total, &gain, sum.has_tried(), link, about, settings),
        }
    }

    /// The program's name and the verdict, as one line.
    #[must_use]
    pub fn headline(&self) -> String {
        match &*self.job.program {
            "" => self.verdict.clone(),
            program => format!("{program}: {}", self.verdict),
        }
    }

    /// The calls that were not considered, as one line; `None` if there were none.
    #[must_use]
    pub fn passed_line(&self) -> Option<String> {
        let all: Vec<_> = self.passed.iter().map(Passed::text).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The results of prediction, as one line; `None` if it was off.
    #[must_use]
    pub fn prediction_line(&self) -> Option<String> {
        let Prediction { predicted, right, early, moved_s } = self.prediction?;
        Some(format!(
            "{right} of {predicted} receives right, {early} messages decoded early, {moved_s:.3} s gained"
        ))
    }

    /// The time in MPI, as one line; `None` if it was not measured.
    #[must_use]
    pub fn in_mpi_line(&self) -> Option<String> {
        let [least, mean, most] = self.in_mpi.as_ref()?.range();
        Some(format!("{mean:.3} s on average over the ranks, from {least:.3} s to {most:.3} s"))
    }

    /// Parses a report.
    ///
    /// # Errors
    /// One line: why it is not a report.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        // First check the format: a later version may have other fields.
        match serde_json::from_str::<Head>(text) {
            Ok(head) if head.format == FORMAT && head.version == VERSION => {}
            _ => return Err(format!("not a file of {FORMAT}, version {VERSION}")),
        }
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The report as JSON.
    ///
    /// # Errors
    /// One line; there is no known cause.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

impl Counts {
    /// Raw bytes over wire bytes; 1 if no message was sent.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.wire_bytes == 0 { 1.0 } else { self.raw_bytes as f64 / self.wire_bytes as f64 }
    }
}

fn counts(line: &Line) -> Counts {
    Counts {
        messages: line.messages,
        raw_bytes: line.raw_bytes,
        wire_bytes: line.wire_bytes,
        encode_s: line.encode_ns as f64 * 1e-9,
        decode_s: line.decode_ns as f64 * 1e-9,
    }
}

fn raw_counts(reason: RawReason, line: &Line) -> RawCounts {
    RawCounts { reason: reason.name().into(), messages: line.messages, bytes: line.raw_bytes }
}

fn threshold(thresholds: &Thresholds) -> Threshold {
    let empty = thresholds.smallest >= thresholds.end;
    Threshold {
        messages: thresholds.messages,
        smallest: (!empty).then_some(thresholds.smallest as u64),
        end: (thresholds.end != usize::MAX).then_some(thresholds.end as u64),
    }
}
