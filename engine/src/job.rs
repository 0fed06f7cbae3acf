//! The start of a job: processes agree before they exchange frames, and an engine gets its knowledge before the first frame. The caller sends the
//! messages for both.

mod host;

pub use host::{host, nodes, place};

use crate::codecs;
use crate::frame::{FLOOR, Mark, SHORTEST, VERSION};
use crate::guide::Record;
use crate::knowledge::Knowledge;
use crate::links::Links;
use crate::settings::{Report, Settings};
use crate::strategy::Strategy;
use crate::{Engine, hierarchy, network, stats};
use mpress_selector::Link;
use std::fmt::Display;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of words that each process contributes: six for itself, and two for each private id of a codec.
pub const WORDS: usize = OWN + codecs::WORDS;
const OWN: usize = 6;

/// No word is larger: MPICH 4.0 compares `MPI_UINT64_T` as if it were signed.
pub const LARGEST: u64 = i64::MAX as u64;

/// The result of the agreement, the same in all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The mark of the job.
    pub mark: Mark,
    /// Whether any process wants the collective operations at the end of the job: for the report, or for a record of decisions.
    pub wants_words: bool,
    /// The codecs of others that all processes have, with the same id, name and version: bit i stands for the private id 192 + i
    /// ([`CodecId::PRIVATE`](mpress_codec::CodecId::PRIVATE)). For [`Settings::agreed`].
    pub codecs: u64,
}

/// Why processes cannot exchange frames. All of them get the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// Some have reported that they cannot.
    #[error("some ranks have wrong settings of mpress, or an MPI that it does not know")]
    Wrong,
    /// They are different builds, with other versions, codecs or formats.
    #[error("the ranks have different versions of mpress")]
    Versions,
    /// They have different settings.
    #[error("the ranks have different settings of mpress; its variables must reach all ranks")]
    Settings,
}

/// The words of this process in the handshake, with these settings; pass `None` if its settings are invalid. All processes must take part and compute
/// the minimum of each word, which is passed to [`agreement`].
#[must_use]
pub fn proposal(settings: Option<&Settings>) -> [u64; WORDS] {
    // The minimum of a number and the minimum of its opposite are opposites of each other only if all processes gave the same number. Each process
    // draws the fifth word at random.
    let Some(settings) = settings else { return [0; WORDS] };
    let (build, common) = (hash(&build()).max(1), hash(&format!("{:?}", settings.in_common())));
    let random = RandomState::new().hash_one(build) & LARGEST;
    let own = [build, opposite(build), common, opposite(common), random, u64::from(!settings.wants_words())];
    let of_others = settings.codecs.digests(|codec| hash(codec)).into_iter();
    let words = own.into_iter().chain(of_others.flat_map(|word| [word, opposite(word)]));
    let mut said = [0; WORDS];
    said.iter_mut().zip(words).for_each(|(said, word)| *said = word);
    said
}

/// Evaluates the words of all processes: whether versions, lengths of frames, codecs, formats and settings are the same, and which codecs of others
/// are.
///
/// # Errors
/// The difference.
pub fn agreement(least: [u64; WORDS]) -> Result<Agreed, Disagreement> {
    let [build, opposite_build, common, opposite_common, random, no_words, of_others @ ..] = least;
    if build == 0 {
        return Err(Disagreement::Wrong);
    }
    if build != opposite(opposite_build) {
        return Err(Disagreement::Versions);
    }
    if common != opposite(opposite_common) {
        return Err(Disagreement::Settings);
    }
    // The minimum of many random numbers is small; its digest is as random as one of them.
    let mark = Mark(digest(&random).to_le_bytes());
    let is_same = |[word, other]: &[u64; 2]| *word > 0 && *word == opposite(*other);
    let bits = of_others.as_chunks().0.iter().rev();
    let codecs = bits.fold(0, |bits, words| bits << 1 | u64::from(is_same(words)));
    Ok(Agreed { mark, wants_words: no_words == 0, codecs })
}

/// The properties of this build on which frames depend, and the sum of the counters at the end of the job.
fn build() -> impl Hash {
    let codecs: Vec<_> = codecs::Codec::all().map(|codec| (codec.name(), codec.wire())).collect();
    let formats = (VERSION, network::VERSION, hierarchy::VERSION);
    let counters = stats::words(&codecs::Table::default());
    (env!("CARGO_PKG_VERSION"), formats, FLOOR, SHORTEST, codecs, counters)
}

impl Settings {
    /// The settings that must be the same in all processes of a job; the others have their defaults. The time that a process waits for the others may
    /// differ. So may codecs of others, on which processes agree one by one, and the output at the end, which the first process chooses. Of a path,
    /// only whether it is set counts, because processes may start in different folders; of a record of decisions that is read, also the name of the
    /// file.
    #[must_use]
    pub fn in_common(&self) -> Self {
        let own = Self::default();
        let is_set = |path: &Option<PathBuf>| path.as_ref().map(|_| PathBuf::new());
        let guide = self.guide.as_ref().filter(|_| self.strategy == Strategy::Guided);
        Self {
            heuristics: is_set(&self.heuristics),
            links: is_set(&self.links),
            guide: guide.map(|guide| guide.file_name().unwrap_or_default().into()),
            trace: is_set(&self.trace),
            record: is_set(&self.record),
            patience: own.patience,
            report: own.report,
            report_file: own.report_file,
            dump_config: own.dump_config,
            unknown: own.unknown,
            codecs: own.codecs,
            ..self.clone()
        }
    }

    /// The same settings after the agreement of all processes: engines made with them use the codecs of others that all of them have, and refuse frames
    /// of any other.
    #[must_use]
    pub fn agreed(&self, agreed: &Agreed) -> Self {
        Self { codecs: self.codecs.agreed(agreed.codecs), ..self.clone() }
    }

    /// Whether there is a report at the end, on standard error or in a file.
    #[must_use]
    pub fn wants_report(&self) -> bool {
        self.report != Report::None || self.report_file.is_some()
    }

    /// Whether there is output at the end: a report, or a record of decisions, which the guided strategy reads and does not write.
    fn wants_words(&self) -> bool {
        self.wants_report() || (self.guide.is_some() && self.strategy.learns())
    }
}

/// The link that the first process finds in the file, for all processes.
fn kept_link<X: network::Exchange>(
    file: &Path,
    place: u64,
    rank: usize,
    say: impl Fn(&dyn Display),
    messages: &mut X,
) -> Result<Option<Link>, X::Error> {
    let links = if rank == 0 { Links::read(file).map(|links| links.find(place)) } else { Ok(None) };
    let mine = links.unwrap_or_else(|why| {
        say(&format!("{}: {why}; the network is measured", file.display()));
        None
    });
    let words = mine.map_or([0; 2], |link| [link.latency_us.to_bits(), link.bandwidth_mb_s.to_bits()]);
    // The others add zeros.
    let [latency_us, bandwidth_mb_s] = messages.sums(words)?.map(f64::from_bits);
    Ok(Some(Link { latency_us, bandwidth_mb_s }).filter(Link::is_sane))
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A digest as a word of the handshake.
fn hash(value: &impl Hash) -> u64 {
    digest(value) & LARGEST
}

/// The opposite of a word: the greater the word, the smaller its opposite.
fn opposite(word: u64) -> u64 {
    LARGEST.wrapping_sub(word)
}

impl Engine {
    /// Creates the engine of a process of a job, with the contents of the files in the settings, and with a link: the one that an earlier job has
    /// kept ([`Settings::links`](crate::Settings::links)), or else a measurement. `nodes` has for each rank a number that identifies its node; `rank` is
    /// that of this process. `place` is a number that identifies the nodes and the number of ranks on each, the same for all jobs there: the link is
    /// kept under it. All processes must call this with the same settings: [`network::measure`] needs them all.
    ///
    /// Files that cannot be read are reported to `say`, in one line each, and ignored.
    ///
    /// # Errors
    /// Those of the messages.
    pub fn start<X: network::Exchange>(
        settings: &Settings,
        nodes: &[i32],
        place: u64,
        rank: usize,
        say: impl Fn(&dyn Display),
        messages: &mut X,
    ) -> Result<Self, X::Error> {
        for (name, id, version) in settings.codecs.not_agreed() {
            say(&format!(
                "codec {name} (id {}, version {version}) is not used: not all ranks have agreed on it",
                id.0
            ));
        }
        // Reading files takes longer in some processes than in others.
        let beginning = Instant::now();
        let knowledge = settings.heuristics.as_deref().map_or_else(Knowledge::default, |folder| {
            let (knowledge, errors) = Knowledge::read(folder);
            errors.iter().for_each(|error| say(error));
            knowledge
        });
        // All processes have the same settings, and so the same result, whichever files they can read.
        let guided = settings.strategy == Strategy::Guided;
        let needs_link = settings.strategy.needs_link();
        let mut settings = settings.clone();
        let record = match &settings.guide {
            Some(file) if guided => Record::read_with(file, &settings.codecs).map_or_else(
                |error| {
                    say(&format!("{error}; the adaptive strategy is used"));
                    settings.strategy = Strategy::Adaptive;
                    None
                },
                Some,
            ),
            _ => None,
        };
        let mut engine = Self::new(&settings, &knowledge, record.as_ref()).begun(beginning);
        if let Some(part) = network::Part::of(nodes, rank).filter(|_| needs_link) {
            let kept = match &settings.links {
                Some(file) => kept_link(file, place, rank, &say, messages)?,
                None => None,
            };
            engine.set_link(match kept {
                Some(link) => link,
                None => network::measure(&part, messages)?,
            });
            engine.keeps_link = settings.links.filter(|_| rank == 0).map(|file| (file, place));
        }
        Ok(engine)
    }

    /// Keeps the current estimate of the link for later jobs, if the settings name a file for it and this is the first process. To be called at the
    /// end of a job.
    ///
    /// # Errors
    /// One line, with the file: why it cannot be read or written.
    pub fn keep_link(&self) -> Result<(), String> {
        let Some((file, place)) = &self.keeps_link else { return Ok(()) };
        Links::keep(file, *place, self.link())
            .map_err(|why| format!("{}: {why}; the link is not kept", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn least(of: &[[u64; WORDS]]) -> [u64; WORDS] {
        std::array::from_fn(|i| of.iter().map(|said| said[i]).min().unwrap())
    }

    /// The agreement of two processes with these settings.
    fn both(one: &Settings, other: &Settings) -> Result<bool, Disagreement> {
        agreement(least(&[proposal(Some(one)), proposal(Some(other))])).map(|agreed| agreed.wants_words)
    }

    #[test]
    fn who_says_the_same_has_one_mark() {
        let settings = Settings::default();
        let all = [proposal(Some(&settings)), proposal(Some(&settings.clone())), proposal(Some(&settings))];
        let agreed = agreement(least(&all)).unwrap();
        assert_eq!(agreement(least(&all)), Ok(agreed));
        assert_ne!(agreement(least(&all[..1])), agreement(least(&all[1..2])), "drawn at random");
        assert!(!agreed.wants_words);
    }

    #[test]
    fn words_are_the_same_as_signed_numbers() {
        for _ in 0..100 {
            assert!(proposal(Some(&Settings::default())).iter().all(|word| *word <= LARGEST));
        }
    }

    #[test]
    fn what_is_one_processs_own_affair_may_differ() {
        let settings = Settings::default();
        for other in [
            Settings { patience: settings.patience / 2, ..settings.clone() },
            Settings { dump_config: true, ..settings.clone() },
        ] {
            assert_eq!(both(&settings, &other), Ok(false));
        }
        // Processes may start in different folders.
        for strategy in [Strategy::Adaptive, Strategy::Guided] {
            let [one, other] = ["/here", "/there"].map(|folder| {
                let path = |name: &str| Some(Path::new(folder).join(name));
                let (heuristics, links, guide) = (path("h"), path("l"), path("g"));
                let (trace, record) = (path(""), path(""));
                Settings { strategy, heuristics, links, guide, trace, record, ..settings.clone() }
            });
            assert_eq!(both(&one, &other), Ok(strategy.learns()));
        }
        // The launcher may give variables only to the first process.
        for first in [
            Settings { report: Report::Full, ..settings.clone() },
            Settings { report_file: Some("x".into()), ..settings.clone() },
            Settings { guide: Some("x".into()), ..settings.clone() },
        ] {
            assert_eq!(both(&first, &settings), Ok(true), "all take part");
        }
    }

    #[test]
    fn who_differs_has_none() {
        let settings = Settings::default();
        let other = Settings { threads: settings.threads + 1, ..settings.clone() };
        assert_eq!(both(&settings, &other), Err(Disagreement::Settings));
        let guided = |file: &str| Settings {
            strategy: Strategy::Guided,
            guide: Some(file.into()),
            ..settings.clone()
        };
        assert_eq!(both(&guided("a"), &guided("b")), Err(Disagreement::Settings));
        let there = || Some(PathBuf::from("/there"));
        for other in [
            Settings { heuristics: there(), ..settings.clone() },
            Settings { links: there(), ..settings.clone() },
            Settings { trace: there(), ..settings.clone() },
            Settings { record: there(), ..settings.clone() },
        ] {
            assert_eq!(both(&settings, &other), Err(Disagreement::Settings), "{other:?}");
        }
        let ours = proposal(Some(&settings));
        let mut another_build = ours;
        another_build[..2].copy_from_slice(&[ours[0] ^ 1 << 62, opposite(ours[0] ^ 1 << 62)]);
        for (of, why) in [
            (vec![ours, proposal(None)], Disagreement::Wrong),
            (vec![proposal(None), proposal(None)], Disagreement::Wrong),
            (vec![ours, another_build], Disagreement::Versions),
        ] {
            assert_eq!(agreement(least(&of)), Err(why));
        }
    }
}
