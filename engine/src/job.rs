//! The beginning of a job, but for its messages, which are the caller's: what processes must agree on before they exchange frames,
//! and what an engine knows before the first of them.

use crate::codecs;
use crate::frame::{FLOOR, Mark, SHORTEST};
use crate::guide::Record;
use crate::knowledge::Knowledge;
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::{Engine, network};
use std::fmt::Display;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::time::Duration;

/// What this process says in the handshake, with these settings; `None` if it has none that are valid. All processes must take
/// part, and take the minimum of each number, which [`heard`] understands.
#[must_use]
pub fn said(settings: Option<&Settings>) -> [u64; 3] {
    // The minimum of a number and of its complement are complements of each other only if all processes gave the same one. The
    // third is drawn at random by each.
    let number = settings.map_or(0, agreement);
    [number, !number, RandomState::new().hash_one(number)]
}

/// The mark of the job, if all processes have said the same: same version, same lengths of frames, same codecs, same settings.
#[must_use]
pub fn heard(least: [u64; 3]) -> Option<Mark> {
    // The least of many random numbers is small; its digest is as random as one of them.
    (least[0] == !least[1] && least[0] != 0).then(|| Mark(hash(&least[2]).to_le_bytes()))
}

/// What all processes must have in common, as a number that is not 0. How long each of them waits for the others is its own affair.
fn agreement(settings: &Settings) -> u64 {
    let codecs: Vec<_> = codecs::Codec::all().map(codecs::Codec::name).collect();
    let settings = Settings { patience: Duration::ZERO, ..settings.clone() };
    hash(&(env!("CARGO_PKG_VERSION"), FLOOR, SHORTEST, codecs, format!("{settings:?}"))).max(1)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Engine {
    /// The engine of a process of a job: with all that the files know that the settings name, and what it measures of the network
    /// where they know nothing of that. `nodes` has the node of each rank, by any number that tells them apart, and `rank` is that
    /// of this process. All processes must call this, with the same settings: [`network::measure`] needs them all.
    ///
    /// What cannot be read is told to `say`, in one line each, and done without.
    ///
    /// # Errors
    /// Those of the messages.
    pub fn start<X: network::Exchange>(
        settings: &Settings,
        nodes: &[i32],
        rank: usize,
        say: impl Fn(&dyn Display),
        messages: &mut X,
    ) -> Result<Self, X::Error> {
        let knowledge = settings.heuristics.as_deref().map_or_else(Knowledge::default, |folder| {
            let (knowledge, errors) = Knowledge::read(folder);
            errors.iter().for_each(|error| say(error));
            knowledge
        });
        let learns = |strategy| matches!(strategy, Strategy::Adaptive | Strategy::Measure);
        // All processes have the same settings, and so the same answer, whatever files they can read.
        let may_learn = learns(settings.strategy) || settings.strategy == Strategy::Guided;
        let files = settings.heuristics.is_some() || settings.strategy == Strategy::Guided;
        let mut settings = settings.clone();
        let record = match &settings.guide {
            Some(file) if settings.strategy == Strategy::Guided => Record::read(file).map_or_else(
                |error| {
                    say(&format!("{error}; the adaptive strategy is used"));
                    settings.strategy = Strategy::Adaptive;
                    None
                },
                Some,
            ),
            _ => None,
        };
        let engine = Self::new(&settings, &knowledge, record.as_ref());
        if let Some(part) = network::Part::of(nodes, rank).filter(|_| may_learn) {
            let wanted = learns(settings.strategy) && !knowledge.links_measured;
            // Where no file can make a difference between processes, all want the same.
            let by_any = if files { messages.sums([u64::from(wanted), 0])?[0] > 0 } else { wanted };
            if by_any {
                let link = network::measure(&part, messages)?;
                if wanted {
                    engine.set_link(link);
                }
            }
        }
        Ok(engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    fn least(of: &[[u64; 3]]) -> [u64; 3] {
        [0, 1, 2].map(|i| of.iter().map(|said| said[i]).min().unwrap())
    }

    #[test]
    fn who_says_the_same_has_one_mark() {
        let settings = Settings::default();
        let all = [said(Some(&settings)), said(Some(&settings.clone())), said(Some(&settings))];
        let mark = heard(least(&all)).unwrap();
        assert_eq!(heard(least(&all)), Some(mark));
        assert_ne!(heard(least(&all[..1])), heard(least(&all[1..2])), "drawn at random");
    }

    #[test]
    fn patience_may_differ() {
        let settings = Settings::default();
        let other = Settings { patience: settings.patience / 2, ..settings.clone() };
        assert!(heard(least(&[said(Some(&settings)), said(Some(&other))])).is_some());
    }

    #[test]
    fn who_differs_has_none() {
        let settings = Settings::default();
        let other = Settings { threads: settings.threads + 1, ..settings.clone() };
        for odd in [said(Some(&other)), said(None)] {
            assert_eq!(heard(least(&[said(Some(&settings)), odd])), None);
        }
        assert_eq!(heard(least(&[said(None), said(None)])), None);
    }
}
