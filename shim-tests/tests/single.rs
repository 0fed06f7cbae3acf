//! Programs of their own, in `programs/single`, see the same with the shim and without.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

#[allow(dead_code, reason = "others need the rest")]
mod support;

use mpress::report::JobReport;
use mpress_cluster::{Family, Launcher};
use std::ops::RangeInclusive;
use support::compare::{assert_framed, assert_same};
use support::{Plan, Rig, SHIM, Written, skip, two_nodes};

#[test]
fn messages_sent_while_others_finalize() {
    let Some(rig) = Rig::new("late") else { return };
    let job = rig.job(Launcher::Local, 2, "late", &[]);
    let without = job.run("without");
    assert_same(&without, &job.compressing().run("with"));
    assert_same(&without, &job.compressing().env("MPRESS_REPORT", "summary").run("with-report"));
}

#[test]
fn calls_that_wait_after_a_part_of_a_message() {
    let Some(rig) = Rig::new("held") else { return };
    // As in `compare_in_chunks`.
    let job = rig.job(Launcher::Local, 2, "held", &[]).env("OMPI_MCA_btl", "tcp,self");
    let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.run("without"), &with);
    assert_framed(&with, 400);
    // With windows, which Open MPI 4.1 does not have over TCP.
    let job = rig.job(Launcher::Local, 2, "held", &[]);
    assert_same(&job.run("windows-without"), &job.compressing().run("windows-with"));
}

/// Runs a program with and without the shim, with all messages compressed.
fn compare_program(name: &str) {
    let Some(rig) = Rig::beside_others(name) else { return };
    let job = rig.job(Launcher::Local, 2, name, &[]);
    assert_same(&job.run("without"), &job.compressing().run("with"));
}

#[test]
fn what_has_been_sent_arrives_without_further_calls() {
    compare_program("sent");
}

#[test]
fn attributes_of_the_program_are_not_copied() {
    let Some(rig) = Rig::beside_others("attributes") else { return };
    let job = rig.job(Launcher::Local, 2, "attributes", &[]);
    let without = job.run("without");
    assert!(without.logs.iter().all(|log| log.contains("end: copies=0 deletes=3\n")), "{:?}", without.logs);
    assert_same(&without, &job.compressing().run("with"));
    // On one node, the shim makes its communicators only when a datatype wakes it, after the program has set its
    // attributes. With few entries in the TLB, the program's datatype does so.
    let heuristics = rig.folder().join("heuristics");
    std::fs::create_dir_all(&heuristics).unwrap();
    let memory = "format = \"mpress memory heuristics\"\nversion = 1\nmade = \"by hand\"\n[memory]\n";
    let memory = format!("{memory}page_bytes = 4096\ntlb_entries = 8\n");
    std::fs::write(heuristics.join("memory.toml"), memory).unwrap();
    let job = job.preloading(&[SHIM, "packed.so"]).env("MPRESS_HEURISTICS", heuristics.to_str().unwrap());
    let awake = job.run("awake");
    assert_same(&without, &awake);
    // In MPI_Finalize it is still active.
    assert!(awake.stdout.contains("packed sends: 3\n"), "{}", awake.stdout);
}

#[test]
fn a_receive_is_cancelled_while_another_thread_waits_for_it() {
    compare_program("cancel");
}

/// By how much the memory of a program has grown, as it says, in KiB, and when.
fn grown_kib(written: &Written) -> Vec<(&str, i64)> {
    let lines = written.stdout.lines().filter_map(|line| line.strip_suffix(" KiB")?.split_once("grown by "));
    let grown: Vec<_> = lines.map(|(when, kib)| (when, kib.parse().unwrap())).collect();
    assert!(!grown.is_empty(), "{}", written.stdout);
    grown
}

#[test]
fn copies_of_pending_messages_are_bounded() {
    // 64 MiB of copies, 64 MiB of memory that is kept for later ones, and what the MPI needs.
    const MOST_KIB: i64 = 192 << 10;
    let Some(rig) = Rig::beside_others("pending") else { return };
    let job = rig.job(Launcher::Local, 2, "pending", &[]);
    let (without, with) = (job.run("without"), job.compressing().run("with"));
    assert_same(&without, &with);
    let (without, with) = (grown_kib(&without), grown_kib(&with));
    assert_eq!(without.len(), with.len());
    for ((when, without), (_, with)) in without.iter().zip(&with) {
        // The MPI, too, copies what MPI_Isendrecv_replace sends.
        assert!(*with < without.max(&0) + MOST_KIB, "{when}{with} KiB, without the shim {without} KiB");
    }
}

#[test]
fn messages_that_are_too_long_leave_nothing_behind() {
    let Some(rig) = Rig::beside_others("too_short") else { return };
    let job = rig.job(Launcher::Local, 2, "too_short", &[]);
    let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.run("without"), &with);
    // While 64 MiB are being sent, nothing is compressed.
    assert_framed(&with, 2 * 6000);
}

#[test]
fn an_error_handler_that_does_not_come_back() {
    let Some(rig) = Rig::beside_others("jump") else { return };
    let job = rig.job(Launcher::Local, 2, "jump", &[]);
    assert_same(&job.run("without"), &job.compressing().run("with"));
}

#[test]
fn user_level_threads() {
    let Some(rig) = Rig::new("contexts") else { return };
    let job = rig.job(Launcher::Local, 2, "contexts", &[]);
    let with = job.compressing_over("switching.so").env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.over("switching.so").run("without"), &with);
    assert_framed(&with, 60);
}

#[test]
fn another_thread_after_an_error_handler_that_does_not_come_back() {
    let Some(rig) = Rig::new("siblings") else { return };
    let args: &[&str] = if rig.mpi.family() == Family::Mpich { &["alone"] } else { &[] };
    let job = rig.job(Launcher::Local, 2, "siblings", args);
    assert_same(&job.run("without"), &job.compressing().run("with"));
}

#[test]
fn a_job_that_ends_while_its_processes_exit() {
    let Some(rig) = Rig::beside_others("exit") else { return };
    let job = rig.job(Launcher::Local, 2, "exit", &[]);
    assert_same(&job.run("without"), &job.compressing().run("with"));
}

/// The growth of a rank's resident memory in each phase of `memory`, in KiB.
fn growth(written: &Written) -> Vec<i64> {
    written.assert_well();
    let of = |line: &str| {
        let mut words = line.split(": ").nth(2)?.split(' ');
        let (before, after) = (words.next()?, words.nth(1)?);
        Some(after.parse::<i64>().ok()? - before.parse::<i64>().ok()?)
    };
    written.stdout.lines().filter(|line| line.contains(" KiB, ")).map(|line| of(line).unwrap()).collect()
}

#[test]
fn memory_does_not_grow_with_the_number_of_messages() {
    let Some(rig) = Rig::new("memory") else { return };
    // One leaked allocation for each long message would exceed this.
    const NOISE_KIB: i64 = 512;
    let grows_as_without = |launcher: Launcher<'_>, ranks_per_node, count| {
        let job = rig.job(launcher, ranks_per_node, "memory", &[count]);
        let without = job.run("without");
        let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
        assert_same(&without, &with);
        let (without_kib, with_kib) = (growth(&without), growth(&with));
        assert_eq!((without_kib.len(), with_kib.len()), (6, 6), "{}", with.stdout);
        let most = without_kib.iter().max().unwrap() + NOISE_KIB;
        assert!(with_kib.iter().all(|&kib| kib <= most), "{}\n{}", without.stdout, with.stdout);
        assert_framed(&with, 1000);
    };
    grows_as_without(Launcher::Local, 2, "200000");
    let Some(cluster) = two_nodes() else { return };
    grows_as_without(Launcher::Cluster(&cluster), 1, "60000");
}

#[test]
fn the_report_says_why_nothing_was_compressed() {
    let Some(rig) = Rig::new("synchronous") else { return };
    let job = rig.job(Launcher::Local, 2, "one_message", &[]);
    let with = job.compressing().env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.run("without"), &with);
    let Some(lines) = with.shim_lines() else { return };
    let told = "mpress: one_message: nothing was compressed: 1 synchronous sends (800.0 kB)";
    assert!(lines.contains(&told), "{lines:?}");
}

#[test]
fn collectives_in_which_one_rank_goes_another_way() {
    let Some(rig) = Rig::new("other_way") else { return };
    let job = rig.job(Launcher::Local, 2, "other_way", &[]);
    let without = job.run("without");
    assert_same(&without, &job.compressing().run("with"));
    // Here the ranks also compare times.
    assert_same(&without, &job.compressing().env("MPRESS_STRATEGY", "adaptive").run("adaptive"));
}

#[test]
fn a_handle_that_is_no_datatype() {
    compare_program("no_type");
}

#[test]
fn a_short_part_of_a_collective_waits_for_no_rank() {
    compare_program("late_root");
}

#[test]
fn a_collective_fails_after_its_communicator_was_freed() {
    let Some(rig) = Rig::beside_others("freed") else { return };
    let job = |handler: &str| rig.job(Launcher::Local, 2, "freed", &[handler]);
    let without = job("returns").run("without");
    assert_same(&without, &job("returns").compressing().run("with"));
    // Open MPI 5 itself calls the handler.
    let with = job("handler").compressing().run("with-handler");
    assert_same(&without, &with);
    assert!(with.stdout.contains("handler called 0 times"), "{}", with.stdout);
}

#[test]
fn codecs_are_given_the_kind_of_elements_with_gaps() {
    let Some(rig) = Rig::beside_others("kinds") else { return };
    let file = rig.folder().join("report.json");
    let job = rig.job(Launcher::Local, 2, "kinds", &[]);
    let with = job.compressing().env("MPRESS_REPORT_FILE", file.to_str().unwrap()).run("with");
    assert_same(&job.run("without"), &with);
    // If MPICH hung in MPI_Finalize, there is no report.
    let Ok(report) = std::fs::read_to_string(&file) else { return };
    let report = JobReport::from_json(&report).unwrap();
    let compressed = |kind: &str| {
        let lines = report.codecs.iter().filter(|line| line.kind == kind && line.codec != "raw");
        lines.map(|line| line.counts.messages).sum::<u64>()
    };
    // A block of the broadcast, and two of the all-gather.
    assert_eq!((compressed("f64"), compressed("f32"), report.total.messages), (1, 2, 3), "{report:?}");
}

#[test]
fn a_thread_polls_while_another_starts_the_request() {
    compare_program("progress_thread");
}

#[test]
fn a_probe_for_any_source_passes_over_a_message_that_is_coming() {
    let Some(rig) = Rig::new("other_source") else { return };
    if rig.mpi.family() == Family::Mpich {
        skip::<()>("MPICH alone does not find the messages of a rank that has left it");
        return;
    }
    // Not over shared memory: there the receiver may fetch a long message without the sender, and all chunks
    // come at once.
    let job = rig.job(Launcher::Local, 3, "other_source", &[]).env("OMPI_MCA_btl", "tcp,self");
    let with = job.compressing().env("MPRESS_STREAMS", "off").env("MPRESS_REPORT", "summary").run("with");
    assert_same(&job.run("without"), &with);
    assert_framed(&with, 12);
}

#[test]
fn the_buffer_of_a_communicator() {
    compare_program("other_buffers");
}

/// Programs that this one starts must not inherit settings that the shim makes for the MPI.
#[test]
fn the_environment_is_left_as_it_was() {
    let Some(rig) = Rig::new("environment") else { return };
    let job = rig.job(Launcher::Local, 2, "environment", &[]);
    assert_same(&job.run("without"), &job.compressing().run("with"));
    let job = job.env("OMPI_MCA_mpi_event_tick_rate", "200").env("UCX_RNDV_THRESH", "64k");
    assert_same(&job.run("set-without"), &job.compressing().run("set-with"));
}

#[test]
fn memory_of_receives_that_are_unpacked_here_is_bounded() {
    let Some(rig) = Rig::new("columns") else { return };
    let job = rig.job(Launcher::Local, 2, "columns", &[]);
    let without = job.run("without");
    let (compressing, plain) = (job.compressing().run("with"), job.shimmed().run("standby"));
    assert_same(&without, &compressing);
    assert_same(&without, &plain);
    // With MPICH, frames need memory for each receive.
    let bounded = if rig.mpi.family() == Family::Mpich { vec![plain] } else { vec![compressing, plain] };
    for with in bounded {
        let kib = grown_kib(&with)[0].1;
        // 64 MiB of copies, and what the MPI needs.
        assert!(kib < 100 << 10, "{}: {kib} KiB", with.name);
    }
}

#[test]
fn an_index_that_the_mpi_has_not_set() {
    compare_program("no_index");
}

/// Each rank starts in a folder of its own, which the program leaves.
#[test]
fn paths_of_settings_count_from_the_folder_of_the_start() {
    let Some(rig) = Rig::beside_others("moved") else { return };
    let script = r#"cd "$START" && mkdir -p "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" &&
        cd "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$0" "$@""#;
    let job = rig.job(Launcher::Local, 2, "one_message", &[".."]);
    let job = job.env("START", rig.folder().to_str().unwrap()).wrapped(script);
    let with = job.compressing().env("MPRESS_STRATEGY", "adaptive").env("MPRESS_RECORD", "samples");
    let with = with.env("MPRESS_GUIDE", "guide.toml").env("MPRESS_REPORT_FILE", "report.json").run("with");
    assert_same(&job.run("without"), &with);
    let start = rig.folder().join("0");
    assert!(start.join("guide.toml").is_file());
    assert!(start.join("samples/one_message.2.r0.f64").is_file());
    let report = std::fs::read_to_string(start.join("report.json")).unwrap();
    assert!(JobReport::from_json(&report).unwrap().total.messages > 0, "{report}");
}

#[test]
fn waits_count_for_the_communicator_of_their_requests() {
    let Some(rig) = Rig::beside_others("waited") else { return };
    let file = rig.folder().join("report.json");
    let job = rig.job(Launcher::Local, 2, "waited", &[]).compressing();
    job.env("MPRESS_REPORT_FILE", file.to_str().unwrap()).run("with").assert_well();
    // If MPICH hung in MPI_Finalize, there is no report.
    let Ok(report) = std::fs::read_to_string(&file) else { return };
    let in_mpi = JobReport::from_json(&report).unwrap().in_mpi.unwrap();
    let seconds =
        |name: &str| in_mpi.communicators.iter().find(|one| one.communicator.contains(name)).unwrap();
    assert!(seconds("WORLD").seconds > 0.2, "{in_mpi:?}");
    assert!(in_mpi.peers_s.iter().sum::<f64>() < 0.1, "{in_mpi:?}");
}

/// The number of messages that referred to earlier ones, by the report; 0 if it does not tell of any.
fn referring(written: &Written) -> Option<u64> {
    let lines = written.shim_lines()?;
    let told = lines.iter().find_map(|line| line.split("referring to earlier messages: ").nth(1));
    Some(told.map_or(0, |told| told.split(' ').next().unwrap().parse().unwrap()))
}

#[test]
fn messages_refer_to_those_of_earlier_steps() {
    // In each of the first 60 steps, each rank sends 22 messages. By the first message of a step, each rank learns
    // that the other one has received those of the step before, except two that come late in some steps. So a message
    // refers to an earlier one, except the first two of each tag and communicator, and some of two with the same tag.
    const LEAST: u64 = 60 * 20 * 2 * 3 / 4;
    let Some(rig) = Rig::new("steps") else { return };
    // As in `a_probe_for_any_source_passes_over_a_message_that_is_coming`.
    let job = rig.job(Launcher::Local, 2, "steps", &[]).env("OMPI_MCA_btl", "tcp,self");
    let without = job.run("without");
    assert!(without.logs.iter().all(|log| log.matches("wrong=0 ").count() == 3), "{:?}", without.logs);
    let fixed = job.compressing().env("MPRESS_STRATEGY", "fixed:diffpack-fast").env("MPRESS_REPORT", "full");
    let refers = |job: Plan<'_>, name: &str, expected: RangeInclusive<u64>| {
        let with = job.run(name);
        assert_same(&without, &with);
        // If MPICH hung in MPI_Finalize, the report is lost.
        if let Some(messages) = referring(&with) {
            assert!(expected.contains(&messages), "{name}: {messages} messages referred to earlier ones");
        }
    };
    refers(fixed.env("MPRESS_MEMORY", "64MiB"), "all", LEAST..=u64::MAX);
    refers(fixed.env("MPRESS_MEMORY", "0"), "none", 0..=0);
    refers(fixed.env("MPRESS_MEMORY", "64KiB"), "few", 1..=LEAST);
    refers(fixed.env("MPRESS_PREDICT", "all"), "ahead", 1..=u64::MAX);
    refers(fixed.env("MPRESS_STREAMS", "4096"), "chunks", LEAST..=u64::MAX);
    refers(fixed.env("MPRESS_STRATEGY", "adaptive"), "adaptive", 0..=u64::MAX);
}
