//! What a job learns of the network, and that it is kept for the next one (`MPRESS_LINKS`).
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress::report::{Job, JobReport};
use mpress_cluster::{Cluster, Launcher, Rate};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use support::compare::assert_same;
use support::{Rig, Written, nodes_at, skip, two_nodes};

/// One test at a time: with more ranks than processors, waiting ranks do not see when chunks come.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn the_next_job_on_the_same_nodes_starts_with_the_link() {
    let Some(rig) = Rig::new("links") else { return };
    let _alone = alone();
    let Some(cluster) = two_nodes() else { return };
    let job = rig.job(Launcher::Cluster(&cluster), 1, "transparent", &["every_pair"]);
    let without = job.run("without");
    let file = rig.folder().join("links.toml");
    let text = || std::fs::read_to_string(&file).unwrap();
    let with = job.shimmed().env("MPRESS_LINKS", file.to_str().unwrap()).env("MPRESS_REPORT", "full");
    // If MPICH hung in MPI_Finalize, the output is lost, but the file is written.
    let lines = |name: &str| -> Option<Vec<String>> {
        let with = with.run(name);
        assert_same(&without, &with);
        Some(with.shim_lines()?.into_iter().map(str::to_owned).collect())
    };
    lines("first");
    let kept = text();
    assert_eq!(kept.matches("[[link]]").count(), 1, "{kept}");
    // The job trusts the file: these few messages do not show that it is wrong.
    let changed: Vec<_> = kept
        .lines()
        .map(|line| if line.starts_with("bandwidth_mb_s") { "bandwidth_mb_s = 77.0" } else { line })
        .collect();
    std::fs::write(&file, changed.join("\n")).unwrap();
    if let Some(lines) = lines("second") {
        assert!(lines.iter().any(|line| line.contains(" 77.0 MB/s")), "{lines:?}");
    }
    assert_eq!(text().matches("[[link]]").count(), 1, "{}", text());
    std::fs::write(&file, "no TOML").unwrap();
    if let Some(lines) = lines("third") {
        let about: Vec<_> = lines.iter().filter(|line| line.contains("links.toml")).collect();
        let [measured, not_kept] = about[..] else { panic!("{lines:?}") };
        assert!(measured.ends_with("; the network is measured"), "{measured}");
        assert!(not_kept.ends_with("; the link is not kept"), "{not_kept}");
    }
    assert_eq!(text(), "no TOML");
}

/// The emulated nodes, if there is a processor for each of the two ranks: on one, a rank does not see when
/// chunks come.
fn two_nodes_with_processors() -> Option<Cluster> {
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
        return skip("two processors are needed");
    }
    nodes_at(2, Some(Rate::gbit(1)))
}

/// Whether each of the two ranks of `trains` says that it had a processor nearly all the time; false if the
/// output was lost because MPICH hung in `MPI_Finalize`.
fn had_processors(job: &Written) -> bool {
    let of = |line: &str| {
        let mut words = line.strip_suffix(" us without a processor")?.split(" of ");
        let (queued, time) = (words.next()?, words.next()?);
        Some(20 * queued.parse::<u64>().ok()? <= time.parse().ok()?)
    };
    let ranks: Vec<bool> = job.stderr.iter().flat_map(|text| text.lines()).filter_map(of).collect();
    ranks == [true, true]
}

#[test]
fn a_job_counts_if_both_ranks_say_that_they_had_processors() {
    let had = |stderr: Option<String>| {
        let (name, stdout) = (String::new(), String::new());
        had_processors(&Written { name, logs: Vec::new(), stdout, stderr, failure: None })
    };
    let line = |queued: u32| format!("{queued} of 1000 us without a processor\n");
    assert!(had(Some(line(1) + &line(20))));
    assert!(!had(Some(line(1) + &line(900))));
    assert!(!had(Some(line(1))) && !had(None));
}

/// Runs jobs until one of them finds this bandwidth within a third. On a busy machine ranks do not see when
/// chunks come, so only jobs that had their processors count: one of three must be right. If there is no such
/// job, the test is skipped.
fn finds(mb_s: f64, what: &str, run: impl Fn() -> (Written, f64)) {
    const MOST: usize = 8;
    let (mut found, mut counted) = (Vec::new(), 0);
    while found.len() < MOST {
        let (job, one) = run();
        found.push(one);
        if (mb_s / 1.5..mb_s * 1.5).contains(&one) {
            return;
        }
        counted += usize::from(had_processors(&job));
        assert!(counted < 3, "{found:?} MB/s of {mb_s}, {what}");
    }
    let _none: Option<()> = skip(format!("the machine is too busy: {found:?} MB/s of {mb_s}, {what}"));
}

/// Chunks show the bandwidth, although ranks are late or compute.
#[test]
fn a_link_that_is_not_like_that_is_learned() {
    let Some(rig) = Rig::new("belief") else { return };
    let _alone = alone();
    let Some(cluster) = two_nodes_with_processors() else { return };
    let job = rig.job(Launcher::Cluster(&cluster), 1, "trains", &["none"]).pinned();
    let without = job.run("without");
    let file = rig.folder().join("links.toml");
    let with = job.shimmed().env("MPRESS_LINKS", file.to_str().unwrap());
    let bandwidth =
        |line: &str| line.strip_prefix("bandwidth_mb_s = ").map(|value| value.parse::<f64>().unwrap());
    let kept = || std::fs::read_to_string(&file).unwrap();
    assert_same(&without, &with.run("first"));
    for said in ["12.5", "1250.0"] {
        finds(125.0, &format!("where {said} were said"), || {
            let lines = kept();
            let changed = lines.lines().map(|line| match bandwidth(line) {
                Some(_) => format!("bandwidth_mb_s = {said}"),
                None => line.to_owned(),
            });
            std::fs::write(&file, changed.collect::<Vec<_>>().join("\n")).unwrap();
            let job = with.run(said);
            assert_same(&without, &job);
            (job, kept().lines().find_map(bandwidth).unwrap())
        });
    }
}

/// The network changes tenfold while a job runs.
#[test]
fn a_network_that_changes_is_followed() {
    let Some(rig) = Rig::new("change") else { return };
    let _alone = alone();
    let Some(cluster) = two_nodes_with_processors() else { return };
    let (file, ask) = (rig.folder().join("report.json"), rig.folder().join("ask"));
    let job = rig.job(Launcher::Cluster(&cluster), 1, "trains", &[ask.to_str().unwrap()]).pinned();
    let job = job.env("MPRESS_REPORT_FILE", file.to_str().unwrap()).shimmed();
    for (before, after) in [(1000, 100), (100, 1000)] {
        finds(after as f64 / 8.0, "after a change", || {
            let limit = |mbit| (0..2).for_each(|node| cluster.set_rate(node, Rate::mbit(mbit)).unwrap());
            limit(before);
            let job = std::thread::scope(|scope| {
                let job = scope.spawn(|| job.run("with"));
                while !job.is_finished() && !ask.exists() {
                    std::thread::sleep(Duration::from_millis(10));
                }
                limit(after);
                let asked = std::fs::remove_file(&ask);
                let job = job.join().unwrap();
                asked.unwrap();
                job
            });
            (job, reported(&file).bandwidth_mb_s)
        });
    }
}

fn reported(file: &Path) -> Job {
    JobReport::from_json(&std::fs::read_to_string(file).unwrap()).unwrap().job
}
