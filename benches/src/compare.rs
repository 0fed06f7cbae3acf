//! The comparison of codecs on files of messages: the part of `compare` between arguments and output.

mod labels;
mod markdown;
mod measure;
mod plot;
mod report;
mod table;

pub use markdown::markdown;
pub use measure::{Settings, measure};
pub use plot::plot;
pub use report::{Figures, Line, Record, Report, geometric_mean};
pub use table::table;

use crate::Result;
use crate::codecs::{self, Role, Subject};
use crate::peers::MISSING;

/// The rows to run: the named ones, or without names all except variants; with the peers if requested.
///
/// # Errors
/// If a name is not that of a row.
pub fn choose(names: Option<&[String]>, variants: bool, peers: bool) -> Result<Vec<&'static Subject>> {
    if let Some(unknown) =
        names.iter().copied().flatten().find(|name| !codecs::all().any(|row| row.name == **name))
    {
        if let Some((_, library)) = MISSING.iter().find(|(name, _)| name == unknown) {
            return Err(format!("{unknown}: {}", without(library)).into());
        }
        let known: Vec<_> = codecs::all().map(|row| row.name).collect();
        return Err(format!("no codec `{unknown}`; there are {}", known.join(", ")).into());
    }
    let wanted = |row: &&Subject| match (names, row.role) {
        (Some(names), _) if names.iter().any(|name| name == row.name) => true,
        (_, Role::Peer) => peers,
        (_, Role::Variant) => variants,
        (names, Role::Baseline | Role::Codec) => names.is_none(),
    };
    Ok(codecs::all().filter(wanted).collect())
}

/// Lines about peers that this build lacks.
#[must_use]
pub fn missing_peers() -> Vec<String> {
    MISSING.iter().map(|(name, library)| format!("LEFT OUT: {name}: {}", without(library))).collect()
}

fn without(library: &str) -> String {
    format!("built without {library}; `cargo xtask setup` installs it, then build again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(rows: Result<Vec<&'static Subject>>) -> Vec<&'static str> {
        rows.unwrap().iter().map(|row| row.name).collect()
    }

    #[test]
    fn rows_are_chosen() {
        let some = ["zstd-1", "dfcm", "dfcm-lines15"].map(str::to_owned);
        assert_eq!(names(choose(Some(&some), false, false)), ["dfcm", "dfcm-lines15", "zstd-1"]);
        let usual = names(choose(None, false, false));
        assert_eq!(usual[0], "memcpy");
        assert!(["dfcm", "diffpack-fast", "rice", "huffman"].iter().all(|name| usual.contains(name)));
        assert!(!["dfcm-lines15", "pco-8"].iter().any(|name| usual.contains(name)));
        assert!(names(choose(None, false, true)).starts_with(&usual));
        assert!(names(choose(None, true, false)).contains(&"diffpack-fast-nohints"));
        assert!(names(choose(Some(&some), false, true)).contains(&"pco-8"));
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let error = choose(Some(&["dfcn".into()]), false, false).unwrap_err().to_string();
        assert!(error.starts_with("no codec `dfcn`; there are memcpy, dfcm, "), "{error}");
    }
}
