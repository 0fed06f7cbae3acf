//! A program sees the same with the shim and without: the logs of the C programs in `programs` in both cases
//! are compared byte for byte, over shared memory and between the nodes of an emulated cluster.
//!
//! `cargo xtask test` sets the MPI and the shim (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress_cluster::{Cluster, Family, Launcher, Mpi};
use support::compare::{assert_framed, assert_same};
use support::{Rig, SHIM, Written, schedules, skip, two_nodes};

/// Scenarios that depend on the number and the placement of ranks.
const WITH_MANY: [&str; 14] = [
    "race",
    "two_peers_by_wildcard",
    "communicators",
    "two_communicators",
    "freed_communicators",
    "among_collectives",
    "matched_messages_kept",
    "collectives",
    "long_collectives",
    "collectives_at_a_time",
    "collectives_in_turn",
    "reductions",
    "reductions_in_turn",
    "overlapping_communicators",
];

/// Runs the same job without the shim, and under it with messages inside a node compressed. Both must write
/// the same.
fn compare_on_this_host(rig: &Rig, ranks: usize, args: &[&str]) -> (Written, Written) {
    let job = rig.job(Launcher::Local, ranks, "transparent", args);
    let without = job.run("without");
    let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
    assert_same(&without, &with);
    (without, with)
}

/// The same with all messages of 4 KiB or more in chunks, and memory of channels for few of them.
fn compare_in_chunks(rig: &Rig, ranks: usize, args: &[&str]) -> Written {
    // Over shared memory, Open MPI sends chunks only when the receiver asks for them, and then the shim sends
    // none.
    let job = rig.job(Launcher::Local, ranks, "transparent", args).env("OMPI_MCA_btl", "tcp,self");
    let without = job.run("without-chunks");
    let chunks = job
        .compressing()
        .env("MPRESS_STREAMS", "4096")
        .env("MPRESS_MEMORY", "64KiB")
        .env("MPRESS_REPORT", "summary");
    let chunks = chunks.run("chunks");
    assert_same(&without, &chunks);
    chunks
}

#[test]
fn every_call_on_this_host() {
    let Some(rig) = Rig::beside_others("every_call") else { return };
    let (without, with) = compare_on_this_host(&rig, 2, &["all"]);
    assert_framed(&with, 3000);

    assert_framed(&compare_in_chunks(&rig, 2, &["all"]), 3000);

    // With the default settings nothing is compressed inside a node.
    let job = rig.job(Launcher::Local, 2, "transparent", &["all"]);
    let passed = job.shimmed().env("MPRESS_REPORT", "summary").run("passed");
    assert_same(&without, &passed);
    assert_eq!(passed.framed().map(|(messages, _)| messages), Some(0));
}

#[test]
fn every_call_where_threads_are_allowed() {
    let Some(rig) = Rig::beside_others("threads") else { return };
    let (without, with) = compare_on_this_host(&rig, 2, &["multiple", "all"]);
    assert_framed(&with, 3000);
    if !without.logs[0].contains("thread 0") {
        skip::<()>(format!("{} does not grant MPI_THREAD_MULTIPLE", rig.mpi));
    }
}

#[test]
fn three_ranks_on_this_host() {
    let Some(rig) = Rig::beside_others("three_ranks") else { return };
    let (_, with) = compare_on_this_host(&rig, 3, &WITH_MANY);
    assert_framed(&with, 500);
    // At least ten broadcasts and ten all-gathers of three blocks.
    assert_framed(&compare_in_chunks(&rig, 3, &["long_collectives"]), 40);
}

/// With two ranks, other tests already include them.
#[test]
fn wrong_collectives_of_three_ranks() {
    let Some(rig) = Rig::beside_others("wrong_collectives") else { return };
    if rig.mpi.family() == Family::Mpich {
        skip::<()>("MPICH spins while it waits: more ranks than cores take it minutes");
        return;
    }
    let (without, _) = compare_on_this_host(&rig, 3, &["wrong_collectives"]);
    // Here the ranks also compare times.
    let job = rig.job(Launcher::Local, 3, "transparent", &["wrong_collectives"]);
    assert_same(&without, &job.compressing().env("MPRESS_STRATEGY", "adaptive").run("adaptive"));
}

/// Together with the schedules between nodes, these are more than ten thousand; by default a part of them
/// runs.
#[test]
fn random_schedules_on_this_host() {
    let Some(rig) = Rig::beside_others("random") else { return };
    let count = schedules(4000);
    let text = count.to_string();
    assert_framed(&compare_in_chunks(&rig, 2, &["random", "1", &text]), 15 * count as u64 / 2);
    compare_on_this_host(&rig, 2, &["multiple", "random", "10000", &text]);
    // MPICH spins while it waits: with more ranks than cores this takes minutes.
    let count = if rig.mpi.family() == Family::Mpich { "50" } else { "1000" };
    let (_, with) = compare_on_this_host(&rig, 3, &["random", "20000", count]);
    assert_framed(&with, 500);
}

#[test]
fn random_schedules_between_two_nodes() {
    let Some(rig) = Rig::beside_others("random_nodes") else { return };
    let Some(cluster) = two_nodes() else { return };
    let count = schedules(2000);
    let with = compare_on_nodes(&rig, &cluster, 1, "random", &["random", "30000", &count.to_string()]);
    assert_framed(&with, 15 * count as u64 / 2);
    let threads = ["multiple", "random", "50000", &(count / 2).to_string()];
    let job = rig.job(Launcher::Cluster(&cluster), 1, "transparent", &threads);
    let chunks =
        job.shimmed().env("MPRESS_STRATEGY", "fixed:diffpack-balanced").env("MPRESS_STREAMS", "4096");
    assert_same(&job.run("random-without"), &chunks.run("random-chunks"));
    compare_on_nodes(&rig, &cluster, 2, "two-each", &["random", "40000", "16"]);
}

fn compare_on_nodes(
    rig: &Rig,
    cluster: &Cluster,
    ranks_per_node: usize,
    name: &str,
    args: &[&str],
) -> Written {
    let job = rig.job(Launcher::Cluster(cluster), ranks_per_node, "transparent", args);
    let without = job.run(&format!("{name}-without"));
    // With the default settings, for which this network may be too fast.
    assert_same(&without, &job.shimmed().run(&format!("{name}-adaptive")));
    let fixed = job.shimmed().env("MPRESS_STRATEGY", "fixed:diffpack-balanced");
    let with = fixed.env("MPRESS_REPORT", "summary").run(&format!("{name}-with"));
    assert_same(&without, &with);
    with
}

#[test]
fn every_call_between_two_nodes() {
    let Some(rig) = Rig::beside_others("nodes") else { return };
    let Some(cluster) = two_nodes() else { return };
    // MPICH spins while it waits: with more ranks than cores this takes minutes.
    let ranks_per_node = if rig.mpi.family() == Family::Mpich { 1 } else { 2 };
    let with = compare_on_nodes(&rig, &cluster, ranks_per_node, "all", &["all"]);
    assert_framed(&with, 3000);
    let with = compare_on_nodes(&rig, &cluster, 1, "multiple", &["multiple", "all"]);
    assert_framed(&with, 3000);
}

#[test]
fn nonblocking_broadcasts_and_allgathers_between_two_nodes() {
    let Some(rig) = Rig::beside_others("in_turn") else { return };
    let Some(cluster) = two_nodes() else { return };
    let args = ["collectives_in_turn"];
    // In each of 4 rounds, one broadcast and two blocks of an all-gather can be compressed; with 4 ranks, one
    // and four in each of 16 rounds.
    assert_framed(&compare_on_nodes(&rig, &cluster, 1, "one-each", &args), 12);
    if rig.mpi.family() == Family::OpenMpi {
        assert_framed(&compare_on_nodes(&rig, &cluster, 2, "two-each", &args), 80);
    }
}

/// The sums are the same as those of the MPI only up to rounding; the values that the program checks are the
/// same.
#[test]
fn sums_of_reals_are_compressed_where_the_order_is_free() {
    let Some(rig) = Rig::beside_others("reals") else { return };
    let Some(cluster) = two_nodes() else { return };
    // MPICH spins while it waits.
    let ranks_per_node = if rig.mpi.family() == Family::Mpich { 1 } else { 2 };
    let job = rig.job(Launcher::Cluster(&cluster), ranks_per_node, "reals", &[]);
    let without = job.run("without");
    let fixed = job
        .shimmed()
        .env("MPRESS_STRATEGY", "fixed:diffpack-balanced")
        .env("MPRESS_REPORT", "summary")
        .env("MPRESS_STREAMS", "off");
    let framed = |reduce: &str| {
        let with = fixed.env("MPRESS_REDUCE", reduce).run(reduce);
        assert_same(&without, &with);
        with.framed().map(|(messages, _)| messages)
    };
    let [off, exact, reorder] = ["off", "exact", "reorder"].map(framed);
    if let (Some(off), Some(exact), Some(reorder)) = (off, exact, reorder) {
        // Each rank sends a part of the vector to the other node twice in each of the 40 reductions of
        // integers and 20 of reals.
        assert_eq!(off, 0);
        assert!(exact >= 40 && reorder >= exact + 40, "{exact} and {reorder} messages compressed");
    }
}

#[test]
fn two_ranks_on_each_of_two_nodes() {
    let Some(rig) = Rig::beside_others("two_each") else { return };
    let Some(cluster) = two_nodes() else { return };
    let with = compare_on_nodes(&rig, &cluster, 2, "many", &WITH_MANY);
    assert_framed(&with, 300);
}

#[test]
fn a_wrong_setting_is_one_line_and_changes_nothing() {
    let Some(rig) = Rig::beside_others("wrong_setting") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair", "probes"]);
    let without = job.run("without");
    for (name, value, line) in [
        ("MPRESS_REPORT", "loud", "MPRESS_REPORT=loud: expected none, summary or full"),
        (
            "MPRESS_STRATEGY",
            "best",
            "MPRESS_STRATEGY=best: expected adaptive, ras, guided, fixed:CODEC, off or measure",
        ),
        ("MPRESS_CONFIG", "/none/mpress.toml", "/none/mpress.toml: No such file"),
    ] {
        let with = job.compressing().env(name, value).run(name);
        assert_same(&without, &with);
        let lines = with.shim_lines().unwrap();
        assert!(lines.len() == 1 && lines[0].contains(line), "{lines:?}");
    }
}

#[test]
fn an_unknown_setting_is_one_line_and_switches_nothing_off() {
    let Some(rig) = Rig::beside_others("unknown_setting") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]);
    let without = job.run("without");
    let with = job.compressing().env("MPRESS_ROOT", "/opt").env("MPRESS_STRATGEY", "off");
    let with = with.env("MPRESS_REPORT", "summary").run("with");
    assert_same(&without, &with);
    assert!(with.framed().unwrap().0 > 0);
    let lines = with.shim_lines().unwrap();
    let about: Vec<_> = lines.iter().filter(|line| line.contains("MPRESS_ROOT")).collect();
    assert!(about.len() == 1 && about[0].contains("did you mean MPRESS_STRATEGY?"), "{lines:?}");
}

/// Errors in these do not prevent the compression of messages.
#[test]
fn a_file_that_cannot_be_used_is_one_line_and_the_program_runs_on() {
    let Some(rig) = Rig::beside_others("unusable") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]);
    let without = job.run("without");
    let summary = job.compressing().env("MPRESS_REPORT", "summary");
    for (name, value, line) in [
        ("MPRESS_HEURISTICS", "/dev", "/dev/compression.toml: "),
        ("MPRESS_REPORT_FILE", "/none/report.json", "/none/report.json: No such file"),
    ] {
        let with = summary.env(name, value).run(name);
        assert_same(&without, &with);
        assert!(with.shim_lines().unwrap().iter().any(|said| said.contains(line)), "{:?}", with.shim_lines());
        assert_framed(&with, 10);
    }
    let guided = summary.env("MPRESS_STRATEGY", "guided").env("MPRESS_GUIDE", "/none/guide").run("guided");
    assert_same(&without, &guided);
    let lines = guided.shim_lines().unwrap();
    assert!(lines.iter().any(|line| line.contains("/none/guide: No such file")), "{lines:?}");
}

/// The order in which datatypes are packed depends on the heuristics: how many pages the TLB holds. On one
/// node the shim is on standby until it packs a datatype faster.
#[test]
fn datatypes_are_packed_for_the_machine_in_the_heuristics() {
    let Some(rig) = Rig::beside_others("machine") else { return };
    let job = rig.job(Launcher::Local, 2, "machine", &[]).preloading(&[SHIM, "packed.so"]);
    let packed = |name: &str, memory: &str| {
        let folder = rig.folder().join(format!("heuristics-{name}"));
        std::fs::create_dir_all(&folder).unwrap();
        let head = "format = \"mpress memory heuristics\"\nversion = 1\nmade = \"by hand\"\n[memory]\n";
        std::fs::write(folder.join("memory.toml"), format!("{head}{memory}\n")).unwrap();
        let written = job.env("MPRESS_HEURISTICS", folder.to_str().unwrap()).run(name);
        written.assert_well();
        let line = written.logs[0].lines().find(|line| line.contains("packed=")).unwrap().to_owned();
        (line, written)
    };
    let (line, _) = packed("many", "page_bytes = 4096\ntlb_entries = 64");
    assert!(line.contains("wrong=0 packed=0"), "{line}");
    let (line, _) = packed("few", "page_bytes = 4096\ntlb_entries = 8");
    assert!(line.contains("wrong=0 packed=1"), "{line}");
    let (line, written) = packed("bad", "tlb_entries = 0");
    assert!(line.contains("wrong=0"), "{line}");
    let lines = written.shim_lines().unwrap();
    let bad =
        "memory.toml: memory.tlb_entries = 0: expected 1 to 1048576; the processor's own tables are used";
    assert_eq!(lines.iter().filter(|line| line.contains(bad)).count(), 1, "{lines:?}");
}

#[test]
fn a_run_is_recorded_and_replayed() {
    let Some(rig) = Rig::beside_others("guided") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]);
    let without = job.run("without");
    let guide = rig.folder().join("guide.toml");
    let json = rig.folder().join("report.json");
    let guided = job.compressing().env("MPRESS_GUIDE", guide.to_str().unwrap());
    assert_same(&without, &guided.env("MPRESS_STRATEGY", "adaptive").run("record"));
    assert!(std::fs::read_to_string(&guide).unwrap().contains("[[decision]]"));
    let replay = guided.env("MPRESS_STRATEGY", "guided").env("MPRESS_REPORT_FILE", json.to_str().unwrap());
    assert_same(&without, &replay.run("replay"));
    let report = std::fs::read_to_string(&json).unwrap();
    assert!(report.contains("\"strategy\": \"guided\""), "{report}");
    let world = "\"communicator\": \"MPI_COMM_WORLD, 2 ranks\"";
    for part in ["\"in_mpi\"", "\"call\": \"MPI_Send\"", world, "\"peers_s\""] {
        assert!(report.contains(part), "no {part} in {report}");
    }
}

#[test]
fn a_communicator_may_have_a_strategy_of_its_own() {
    let Some(rig) = Rig::beside_others("info") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["info"]);
    let without = job.run("without");
    let with = job.compressing().env("MPRESS_STRATEGY", "off").env("MPRESS_REPORT", "full").run("with");
    assert_same(&without, &with);
    let lines = with.shim_lines().unwrap().join("\n");
    for word in ["dfcm ", "diffpack-ratio ", "mpress_strategy=best: expected adaptive"] {
        assert!(lines.contains(word), "no {word} in {lines}");
    }
    let told = |written: &Written| {
        let line = written.stdout.lines().find_map(|line| line.strip_prefix("told: ")).unwrap();
        let counts = line.split(", ").map(|count| count.rsplit(' ').next().unwrap().parse::<u32>().unwrap());
        counts.collect::<Vec<_>>()
    };
    assert_eq!(told(&with), [0, 0, 0]);
    // Without the shim the MPI has them, or this would prove nothing. (Some MPIs forget some of them.)
    let proves =
        if Mpi::ALL.contains(&rig.mpi) { !told(&without).contains(&0) } else { told(&without) != [0, 0, 0] };
    assert!(proves, "{}", without.stdout);
}

/// The shim must not end together with the world, because frames still arrive.
#[test]
fn communicators_of_sessions() {
    let Some(rig) = Rig::beside_others("sessions") else { return };
    if rig.mpi == Mpi::OpenMpi {
        skip::<()>("Open MPI 4.1 has no sessions");
        return;
    }
    let job = rig.job(Launcher::Local, 2, "sessions", &[]);
    let without = job.run("without");
    let summary = job.compressing().env("MPRESS_REPORT", "summary");
    // As in `compare_in_chunks`.
    let chunks = summary.env("MPRESS_STREAMS", "4096").env("OMPI_MCA_btl", "tcp,self");
    // For MPICH, the world ends with the last session, and so the report has all messages.
    let least = if rig.mpi.family() == Family::Mpich { 90 } else { 45 };
    for with in [summary.run("with"), chunks.run("chunks")] {
        assert_same(&without, &with);
        assert_framed(&with, least);
    }
    assert_same(&without, &job.shimmed().run("standby"));
}

/// Rank 1 enters the handshake after the others have detected a delay, but before their time limit.
#[test]
fn a_late_rank_is_waited_for() {
    let Some(rig) = Rig::new("patience") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]).env("SLOW_START", "8");
    let without = job.run("without");
    let with =
        job.compressing_over("slow_start.so").env("MPRESS_PATIENCE", "12").env("MPRESS_REPORT", "summary");
    let with = with.run("with");
    assert_same(&without, &with);
    assert_framed(&with, 10);
    let lines = with.shim_lines().unwrap();
    let waited = lines.iter().filter(|line| line.contains("rank 0 has waited 6 s in MPI_Init")).count();
    assert_eq!((waited, lines.len()), (1, 3), "{lines:?}");
}

#[test]
fn the_strategy_of_a_communicator_holds_in_its_collectives() {
    let Some(rig) = Rig::beside_others("info_collectives") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["info_collectives"]);
    let without = job.run("without");
    let with = job.compressing().env("MPRESS_REPORT", "full").run("with");
    assert_same(&without, &with);
    let lines = with.shim_lines().unwrap().join("\n");
    for (word, there) in [("dfcm ", true), ("diffpack-ratio ", true), ("diffpack-balanced ", false)] {
        let used = lines.lines().any(|line| line.contains(" f64 ") && line.contains(word));
        assert_eq!(used, there, "{word}: {lines}");
    }
}

/// MPICH can make about two thousand communicators, and the program may need each of them. When the tags are
/// used up, the MPI makes the collectives of new communicators.
#[test]
fn many_communicators_with_collectives() {
    let Some(rig) = Rig::beside_others("many_communicators") else { return };
    let job = rig.job(Launcher::Local, 2, "communicators", &["3000", "1500"]);
    let without = job.run("without");
    let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
    assert_same(&without, &with);
    assert_framed(&with, 3000);
    let few = job.compressing_over("few_tags.so").env("MPRESS_REPORT", "summary").run("few");
    assert_same(&without, &few);
    assert_framed(&few, 3000);
    if let (Some((few, _)), Some((all, _))) = (few.framed(), with.framed()) {
        assert!(few < all, "{few} of {all}");
    }
}

#[test]
fn the_report_is_what_was_asked_for() {
    let Some(rig) = Rig::beside_others("report") else { return };
    let job = rig.job(Launcher::Local, 2, "transparent", &["every_pair"]).compressing();
    let lines_of = |value| {
        let written = job.env("MPRESS_REPORT", value).run(value);
        written.assert_well();
        written.shim_lines().unwrap().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines_of("none"), Vec::<String>::new());
    let summary = lines_of("summary");
    assert_eq!(summary.len(), 2, "{summary:?}");
    assert!(summary[0].starts_with("mpress: ") && summary[0].contains("over 2 ranks"), "{summary:?}");
    let full = lines_of("full");
    assert!(full.len() > 10, "{full:?}");
    for word in ["f64", "diffpack", "raw", "f32"] {
        assert!(full.iter().skip(2).any(|line| line.contains(word)), "no {word} in {full:#?}");
    }
}
