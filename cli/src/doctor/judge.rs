//! The conclusions from the facts of all ranks.

use std::collections::BTreeSet;
use std::fmt;

use super::facts::{Chosen, Facts};
use crate::detect::Abi;

/// A line of the answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Well(String),
    /// Information only.
    Note(String),
    Wrong(String),
}

impl Finding {
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong(_))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, text) = match self {
            Self::Well(text) => ("ok   ", text),
            Self::Note(text) => ("note ", text),
            Self::Wrong(text) => ("WRONG", text),
        };
        write!(f, "{sign} {text}")
    }
}

/// The answer for the ranks of a job, of which there must be at least one.
/// `run`: whether the command contains `mpress run`.
pub(super) fn judge(ranks: &[Facts], run: bool) -> Vec<Finding> {
    let mut findings = vec![job(ranks)];
    findings.extend(library(ranks));
    findings.extend(mpi(ranks));
    findings.extend(tools(ranks));
    if !run {
        findings.push(Finding::Note(
            "start: put `mpress run --` before the program, unless it compresses by itself (mpress-rsmpi)"
                .to_owned(),
        ));
    }
    findings.extend(settings(ranks));
    findings
}

fn nodes(ranks: &[Facts]) -> BTreeSet<&str> {
    ranks.iter().map(|facts| facts.node.as_str()).collect()
}

fn job(ranks: &[Facts]) -> Finding {
    let nodes = nodes(ranks);
    let known: BTreeSet<u64> = ranks.iter().map(|facts| facts.rank).collect();
    if known.len() < ranks.len() {
        return Finding::Wrong(format!(
            "job: {} processes, but only {} different ranks: the launcher does not belong to an MPI, or runs each process on its own",
            ranks.len(),
            known.len()
        ));
    }
    if let Some(size) =
        ranks.iter().filter_map(|facts| facts.size).max().filter(|size| *size > ranks.len() as u64)
    {
        return Finding::Wrong(format!("job: {size} ranks were started, but only {} answered", ranks.len()));
    }
    let names: Vec<_> = nodes.iter().copied().collect();
    let count = |number: usize, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let (ranks, nodes) = (count(ranks.len(), "rank"), count(nodes.len(), "node"));
    Finding::Well(format!("job: {ranks} on {nodes} ({})", names.join(", ")))
}

/// The value of all ranks if it is the same; otherwise the value of each node.
fn same<'a, T: Ord>(ranks: &'a [Facts], what: impl Fn(&'a Facts) -> T) -> Result<T, String> {
    let mut said: Vec<(T, &str)> = Vec::new();
    for facts in ranks {
        let one = what(facts);
        if said.iter().all(|(other, _)| *other != one) {
            said.push((one, &facts.node));
        }
    }
    let nodes = said.iter().map(|(_, node)| *node).collect::<Vec<_>>().join(" and ");
    match said.pop() {
        Some((one, _)) if said.is_empty() => Ok(one),
        _ => Err(nodes),
    }
}

fn library(ranks: &[Facts]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for facts in ranks {
        if let Err(why) = &facts.library {
            let finding = Finding::Wrong(format!("library: on {}: {why}", facts.node));
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    if findings.is_empty() {
        findings.push(match same(ranks, |facts| (&facts.version, &facts.library)) {
            Ok((version, Ok((path, _)))) => {
                Finding::Well(format!("library: {path} of mpress {version} on every node"))
            }
            Ok((_, Err(why))) => Finding::Wrong(format!("library: {why}")),
            Err(nodes) => Finding::Wrong(format!("library: {nodes} have different builds")),
        });
    }
    findings
}

fn mpi(ranks: &[Facts]) -> Vec<Finding> {
    let program = match same(ranks, |facts| &facts.program) {
        Ok(Ok(path)) => path,
        Ok(Err(why)) => return vec![Finding::Wrong(format!("program: {why}"))],
        Err(nodes) => return vec![Finding::Wrong(format!("program: not the same on {nodes}"))],
    };
    if let Some(why) = ranks.iter().find_map(|facts| facts.out_of_reach.as_ref()) {
        return vec![Finding::Wrong(format!("program: {program} {why}, so nothing can be preloaded"))];
    }
    let (abi, file) = match same(ranks, |facts| &facts.mpi) {
        Ok(Some((abi, Some(file)))) => (*abi, file),
        Ok(Some((abi, None))) => {
            let text = "is linked to an MPI that is not found (set LD_LIBRARY_PATH)";
            return vec![Finding::Wrong(format!("MPI: {program} {text}, ABI {}", abi.name()))];
        }
        Ok(None) => {
            let text = "is not linked to a known MPI (it may be a script); mpress finds the MPI at its first MPI call";
            return vec![Finding::Note(format!("MPI: {program} {text}"))];
        }
        Err(nodes) => return vec![Finding::Wrong(format!("MPI: {program} finds different ones on {nodes}"))],
    };
    let mut findings = vec![Finding::Well(format!("MPI: {file} for {program}, ABI {}", abi.name()))];
    if ranks.iter().any(|facts| facts.missing.contains(&abi)) {
        findings.push(Finding::Wrong(format!("library: the shim for the ABI {} is missing", abi.name())));
    }
    let launcher = ranks.iter().find_map(|facts| facts.launcher);
    // Any launcher may start a program of the standard's ABI.
    if launcher.is_some_and(|launcher| launcher != abi) && abi != Abi::Standard {
        let text = "it belongs to another MPI than the program, so each rank may run as a job of its own; use the mpirun of the program's MPI";
        findings.push(Finding::Wrong(format!("launcher: {text}")));
    }
    findings
}

fn tools(ranks: &[Facts]) -> Vec<Finding> {
    let tools: BTreeSet<_> = ranks.iter().flat_map(|facts| &facts.tools).collect();
    let text = |wraps: bool| {
        if wraps {
            "wraps MPI functions, see \"Other tools\" in docs/shim.md"
        } else {
            "wraps no MPI function"
        }
    };
    tools
        .iter()
        .map(|(path, wraps)| Finding::Note(format!("tool: {path} is preloaded, too; it {}", text(*wraps))))
        .collect()
}

fn settings(ranks: &[Facts]) -> Vec<Finding> {
    if let Some((why, facts)) = ranks.iter().find_map(|facts| Some((facts.settings.as_ref().err()?, facts))) {
        return vec![Finding::Wrong(format!("settings: on {}: {why}", facts.node))];
    }
    let chosen = match same(ranks, |facts| facts.settings.as_ref().map(|chosen| &chosen.text)) {
        Ok(_) => ranks.first().and_then(|facts| facts.settings.as_ref().ok()),
        Err(nodes) => return vec![Finding::Wrong(format!("settings: not the same on {nodes}"))],
    };
    let Some(chosen) = chosen else { return Vec::new() };
    let mut findings = vec![Finding::Well("settings: the same on every rank".to_owned())];
    for facts in ranks {
        let why = facts.settings.as_ref().ok().and_then(|chosen| chosen.unusable.as_ref());
        let finding = why.map(|why| Finding::Wrong(format!("settings: on {}: {why}", facts.node)));
        findings.extend(finding.filter(|finding| !findings.contains(finding)));
    }
    findings.extend(chosen.unknown.iter().map(|line| Finding::Note(format!("settings: {line}"))));
    findings.push(verdict(chosen, nodes(ranks).len()));
    findings
}

/// Whether messages would be compressed.
fn verdict(chosen: &Chosen, nodes: usize) -> Finding {
    let none = |why: &str| format!("messages: none would be compressed: {why}");
    if chosen.disabled {
        Finding::Wrong(none("MPRESS_DISABLE is 1"))
    } else if chosen.off {
        Finding::Wrong(none("MPRESS_STRATEGY is off"))
    } else if nodes < 2 && !chosen.same_node {
        // As it should be there: nothing has to be changed.
        Finding::Note(none("all ranks are on one node (MPRESS_SAME_NODE=compress is for trials)"))
    } else {
        let between = if chosen.same_node { "between all ranks" } else { "between nodes" };
        Finding::Well(format!("messages: those {between} would be compressed where that saves time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(rank: u64, node: &str) -> Facts {
        let settings = Chosen {
            text: "t".into(),
            disabled: false,
            off: false,
            same_node: false,
            unusable: None,
            unknown: None,
        };
        Facts {
            rank,
            node: node.into(),
            version: "0.1.0".into(),
            library: Ok(("/lib/libmpress.so".into(), 7)),
            program: Ok("/home/me/app".into()),
            out_of_reach: None,
            mpi: Some((Abi::Mpich, Some("/lib/libmpi.so.12".into()))),
            size: Some(2),
            launcher: Some(Abi::Mpich),
            missing: vec![Abi::Standard],
            settings: Ok(settings),
            tools: Vec::new(),
        }
    }

    fn wrong(ranks: &[Facts]) -> Vec<String> {
        let findings = judge(ranks, true);
        findings.iter().filter(|finding| finding.is_wrong()).map(ToString::to_string).collect()
    }

    #[test]
    fn a_job_on_two_nodes_is_well() {
        let ranks = [facts(0, "n0"), facts(1, "n1")];
        let text: Vec<_> = judge(&ranks, true).iter().map(ToString::to_string).collect();
        assert_eq!(wrong(&ranks), Vec::<String>::new(), "{text:?}");
        assert!(
            text[0].contains("2 ranks on 2 nodes (n0, n1)")
                && text.iter().any(|line| line.contains("ABI mpich")),
            "{text:?}"
        );
        assert!(text.last().unwrap().contains("would be compressed"), "{text:?}");
    }

    #[test]
    fn a_command_without_run_may_be_meant() {
        let findings = judge(&[facts(0, "n0"), facts(1, "n1")], false);
        let said: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let found = said.iter().any(|line| {
            line.starts_with("note  start: put `mpress run --` before") && line.contains("mpress-rsmpi")
        });
        assert!(found, "{said:?}");
    }

    #[test]
    fn a_job_on_one_node_is_a_note() {
        let ranks = [facts(0, "n0"), facts(1, "n0")];
        assert_eq!(wrong(&ranks), Vec::<String>::new());
        let last = judge(&ranks, true).pop().unwrap().to_string();
        assert!(
            last.starts_with("note  messages: none would be compressed: all ranks are on one node"),
            "{last}"
        );
        let mut off = ranks;
        off.iter_mut().for_each(|facts| facts.settings.as_mut().unwrap().off = true);
        assert!(wrong(&off)[0].contains("MPRESS_STRATEGY is off"));
    }

    #[test]
    fn what_is_in_the_way_is_found() {
        let two = || vec![facts(0, "n0"), facts(1, "n1")];
        let change = |change: fn(&mut Facts)| {
            let mut ranks = two();
            change(&mut ranks[1]);
            wrong(&ranks).join("\n")
        };
        assert!(change(|facts| facts.rank = 0).contains("only 1 different rank"));
        assert!(
            change(|facts| facts.library = Err("there is no libmpress.so".into()))
                .contains("on n1: there is no")
        );
        assert!(
            change(|facts| facts.library = Ok(("/lib/libmpress.so".into(), 8))).contains("different builds")
        );
        assert!(
            change(|facts| facts.mpi = Some((Abi::Mpich, Some("/opt/libmpi.so.12".into()))))
                .contains("different ones on n0 and n1")
        );
        assert!(change(|facts| facts.settings = Err("MPRESS_X: unknown".into())).contains("on n1: MPRESS_X"));
        assert!(
            change(|facts| facts.settings.as_mut().unwrap().text = "other".into())
                .contains("not the same on n0 and n1")
        );
        assert!(change(|facts| facts.program = Err("`app` is not found".into())).contains("program: "));
        let is_static = |facts: &mut Facts| facts.out_of_reach = Some("is linked statically".into());
        let told = "WRONG program: /home/me/app is linked statically, so nothing can be preloaded";
        assert_eq!(change(is_static), told);

        let all = |change: fn(&mut Facts)| {
            let mut ranks = two();
            ranks.iter_mut().for_each(change);
            wrong(&ranks).join("\n")
        };
        assert!(all(|facts| facts.settings.as_mut().unwrap().disabled = true).contains("MPRESS_DISABLE"));
        assert!(all(|facts| facts.settings.as_mut().unwrap().off = true).contains("off"));
        assert!(all(|facts| facts.launcher = Some(Abi::OpenMpi)).contains("a job of its own"));
        // It is linked to no MPI, but it is no script.
        let alone = |facts: &mut Facts| {
            (facts.out_of_reach, facts.mpi) = (Some("is linked statically".into()), None);
        };
        assert_eq!(all(alone), told);
        assert!(all(|facts| facts.size = Some(3)).contains("3 ranks were started, but only 2"));
        assert!(all(|facts| facts.missing = vec![Abi::Mpich]).contains("shim for the ABI mpich"));
        assert!(all(|facts| facts.mpi = Some((Abi::Mpich, None))).contains("not found"));
        let unusable = |facts: &mut Facts| facts.settings.as_mut().unwrap().unusable = Some("/h: bad".into());
        assert_eq!(change(unusable), "WRONG settings: on n1: /h: bad");
        assert_eq!(all(unusable).lines().count(), 2, "a line for each node");
    }
}
