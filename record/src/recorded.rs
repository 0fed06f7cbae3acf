//! What ranks have recorded, and the sentences that tell the user.

use crate::samples::Kept;
use crate::trace::Written;
use std::path::Path;

/// The result of recording on one rank, or the sum of those of all ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The receive calls.
    pub calls: Written,
    /// The messages.
    pub kept: Kept,
    /// The number of ranks on which something could not be written.
    pub failed: u64,
}

impl Recorded {
    /// The numbers as words, to be summed over all ranks.
    #[must_use]
    pub fn words(&self) -> [u64; 7] {
        let (calls, kept) = (&self.calls, &self.kept);
        [calls.calls, calls.missing, kept.messages, kept.seen, kept.bytes, kept.seen_bytes, self.failed]
    }

    /// The result with these numbers.
    #[must_use]
    pub fn of_words([calls, missing, messages, seen, bytes, seen_bytes, failed]: [u64; 7]) -> Self {
        let calls = Written { calls, missing, error: None };
        Self { calls, kept: Kept { seen, seen_bytes, messages, bytes }, failed }
    }

    /// What to tell the user at the end of a run on this number of ranks. `trace` and `samples`: the folders of receive calls and of messages, if
    /// they were to be recorded.
    #[must_use]
    pub fn lines(&self, trace: Option<&Path>, samples: Option<&Path>, ranks: u64) -> Vec<String> {
        let Self { calls: Written { calls, missing, .. }, kept, failed } = self;
        let missing = match missing {
            0 => String::new(),
            _ => format!("; {missing} more are missing, for the disk was too slow, or a trace ended early"),
        };
        let of_calls =
            |folder: &Path| format!("{calls} receive calls are recorded in {}{missing}", folder.display());
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let of_messages = |folder: &Path| {
            let (messages, seen, bytes, all) =
                (kept.messages, kept.seen, mib(kept.bytes), mib(kept.seen_bytes));
            let folder = folder.display();
            format!("{messages} of {seen} messages ({bytes:.1} of {all:.1} MiB) are recorded in {folder}")
        };
        let lines = [
            trace.filter(|_| *calls > 0 || *failed == 0).map(of_calls),
            samples.filter(|_| kept.messages > 0 || *failed == 0).map(of_messages),
            (*failed > 0).then(|| format!("{failed} of {ranks} ranks could not record all")),
        ];
        lines.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sentence_is_said_where_it_is_true() {
        let (trace, samples) = (Some(Path::new("t")), Some(Path::new("s")));
        let all = Recorded::of_words([7, 0, 2, 5, 1 << 20, 3 << 20, 0]);
        let of_messages = "2 of 5 messages (1.0 of 3.0 MiB) are recorded in s";
        assert_eq!(all.lines(trace, samples, 4), ["7 receive calls are recorded in t", of_messages]);
        assert_eq!(all.lines(None, samples, 4), [of_messages]);
        assert_eq!(all.words(), [7, 0, 2, 5, 1 << 20, 3 << 20, 0]);
        // Nothing was recorded, because nothing could be.
        let none = Recorded::of_words([0, 0, 0, 5, 0, 1, 3]);
        assert_eq!(none.lines(trace, samples, 4), ["3 of 4 ranks could not record all"]);
        let some = Recorded::of_words([7, 2, 0, 0, 0, 0, 1]).lines(trace, samples, 4);
        assert_eq!(some.len(), 2);
        assert!(some[0].starts_with("7 receive calls are recorded in t; 2 more are missing"), "{some:?}");
    }
}
