//! Runs the examples and the `semantics` program with two and three ranks: on this host, between the nodes of an emulated cluster, with
//! compression on and off, and under the shim.
//!
//! `cargo xtask test` sets the MPI and the shim to use (`MPRESS_TEST_MPI`, `MPRESS_TEST_SHIM`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

mod support;

use mpress_cluster::{Launcher, Mpi};
use support::{Rig, nodes};

/// Sends frames wherever they are shorter, also within a node, and long messages in chunks, however fast the network.
const FRAMED: [(&str, &str); 3] = [
    ("MPRESS_SAME_NODE", "compress"),
    ("MPRESS_STRATEGY", "fixed:diffpack-balanced"),
    ("MPRESS_STREAMS", "131072"),
];

/// Number of output lines, by number of ranks.
type Lines = fn(usize) -> usize;

/// The examples, and the number of lines that each prints.
const EXAMPLES: [(&str, Lines); 5] = [
    ("halo", |_| 1),
    ("broadcast", |ranks| ranks),
    ("gather", |ranks| ranks + 1),
    ("all_to_all", |ranks| ranks),
    ("immediate", |ranks| ranks),
];

#[test]
fn examples_on_this_host() {
    let Some(rig) = Rig::new() else { return };
    for ranks in [2, 3] {
        for (name, lines) in EXAMPLES {
            let run = |env: &[_]| rig.run(Launcher::Local, ranks, &[name], lines(ranks), env);
            let framed = run(&FRAMED);
            // With default settings, within a node: nothing is compressed.
            assert_eq!(framed.lines, run(&[]).lines, "{name}");
            assert_eq!((framed.stderr.as_str(), framed.lines[0].is_empty()), ("", false), "{name}");
        }
    }
}

#[test]
fn examples_between_nodes() {
    let Some(rig) = Rig::new() else { return };
    for ranks in [2, 3] {
        let Some(cluster) = nodes(ranks) else { return };
        for (name, lines) in EXAMPLES {
            let run = |launcher, per_node, env: &[_]| rig.run(launcher, per_node, &[name], lines(ranks), env);
            let here = run(Launcher::Local, ranks, &[]);
            let framed = run(Launcher::Cluster(&cluster), 1, &FRAMED[1..]);
            assert_eq!(framed.lines, here.lines, "{name}");
            assert_eq!(run(Launcher::Cluster(&cluster), 1, &[]).lines, here.lines, "{name}");
        }
    }
}

/// Rank 1 lacks the codec, or has another version of it, if told so. Then ranks use one of the engine's own codecs, or none.
#[test]
fn a_codec_of_the_program_is_used_if_all_ranks_have_it() {
    let Some(rig) = Rig::new() else { return };
    for (of_rank_1, expected) in
        [("1", "codec zeros: true"), ("2", "codec zeros: false"), ("none", "codec zeros: false")]
    {
        let run = rig.run(Launcher::Local, 2, &["own_codec", of_rank_1], 1, &FRAMED[..1]);
        assert_eq!(run.lines, [expected]);
        assert_eq!(
            run.stderr.contains("codec zeros (id 200, version 1) is not used"),
            of_rank_1 != "1",
            "{}",
            run.stderr
        );
    }
}

#[test]
fn ping_pong_compresses() {
    let Some(rig) = Rig::new() else { return };
    for ranks in [2, 3] {
        let ratio = |args: [&str; 2], env: &[_]| -> f64 {
            let program = ["ping_pong", "1048576", "5", args[0], args[1]];
            let line = rig.run(Launcher::Local, ranks, &program, 1, env).lines.remove(0);
            assert!(line.starts_with("bytes 1048576 rounds 5 median_us "), "{line}");
            line.split("ratio ").nth(1).unwrap().parse().unwrap()
        };
        assert!(ratio(["compressed", "smooth"], &FRAMED) > 1.5);
        assert!(ratio(["compressed", "random"], &FRAMED) == 1.0);
        assert!(ratio(["plain", "smooth"], &FRAMED) == 1.0);
        assert!(ratio(["compressed", "smooth"], &[]) == 1.0);
    }
}

#[test]
fn semantics_on_this_host() {
    let Some(rig) = Rig::new() else { return };
    for ranks in [2, 3] {
        rig.run(Launcher::Local, ranks, &["semantics", "framed"], 1, &FRAMED);
        rig.run(Launcher::Local, ranks, &["semantics"], 1, &[]);
        let disabled = [FRAMED[0], FRAMED[1], ("MPRESS_DISABLE", "1")];
        rig.run(Launcher::Local, ranks, &["semantics"], 1, &disabled);
    }
    rig.run(Launcher::Local, 1, &["semantics"], 1, &FRAMED);
}

#[test]
fn semantics_by_the_adaptive_strategy() {
    let Some(rig) = Rig::new() else { return };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("adapter-{}", rig.mpi));
    std::fs::create_dir_all(&folder).unwrap();
    let memory = "format = \"mpress memory heuristics\"\nversion = 1\nmade = \"by hand\"\n[memory]\npage_bytes = 4096\n";
    std::fs::write(folder.join("memory.toml"), memory).unwrap();
    let env = [FRAMED[0], ("MPRESS_HEURISTICS", folder.to_str().unwrap()), ("MPRESS_THREADS", "2")];
    let written = rig.run(Launcher::Local, 2, &["semantics", "adaptive"], 1, &env);
    // A folder need not have all files.
    assert!(!written.stderr.lines().any(|line| line.starts_with("mpress:")), "{}", written.stderr);
}

#[test]
fn semantics_between_nodes() {
    let Some(rig) = Rig::new() else { return };
    let Some(cluster) = nodes(3) else { return };
    rig.run(Launcher::Cluster(&cluster), 1, &["semantics", "framed"], 1, &FRAMED[1..]);
    drop(cluster);
    // MPICH spins while it waits, so with more ranks than cores it takes minutes.
    if rig.mpi == Mpi::OpenMpi {
        let Some(cluster) = nodes(2) else { return };
        let both = [("MPRESS_SAME_NODE", "compress"), FRAMED[1], FRAMED[2]];
        rig.run(Launcher::Cluster(&cluster), 2, &["semantics", "framed"], 1, &both);
    }
}

/// The shim compresses, and the adapter does not.
#[test]
fn under_the_shim_everything_is_passed_to_it() {
    let Some(rig) = Rig::new() else { return };
    let shim = ("LD_PRELOAD", rig.shim.to_str().unwrap());
    let env = [shim, FRAMED[0], FRAMED[1], ("MPRESS_REPORT", "summary")];
    for ranks in [2, 3] {
        let written = rig.run(Launcher::Local, ranks, &["semantics"], 1, &env);
        let summary = written.stderr.lines().find(|line| line.contains(" messages compressed over "));
        let compressed: u64 = summary.and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap();
        assert!(compressed > 100, "{summary:?}");
    }
    // If the shim is loaded but not active, the adapter compresses.
    let inactive = [shim, FRAMED[1]];
    rig.run(Launcher::Local, 2, &["semantics"], 1, &inactive);
}

#[test]
fn ranks_that_disagree_are_an_error_on_all() {
    let Some(rig) = Rig::new() else { return };
    let rank = r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]"#;
    let differ = rig.fail(2, "broadcast", &format!(r#"{rank} && export MPRESS_THREADS=2; exec "$0""#));
    assert!(differ.contains("the ranks have different settings of mpress"), "{differ}");
    let wrong = rig.fail(2, "broadcast", &format!(r#"{rank} && export MPRESS_REPORT=loud; exec "$0""#));
    assert!(wrong.contains("some ranks have wrong settings") || wrong.contains("loud"), "{wrong}");
}

/// Rank 0 waits for rank 1, which has wrong arguments.
#[test]
fn an_error_on_one_rank_ends_the_job() {
    let Some(rig) = Rig::new() else { return };
    let rank = r#"[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]"#;
    let said = rig.fail(2, "ping_pong", &format!(r#"{rank} && set -- many; exec "$0" "$@""#));
    assert!(said.contains("rank 1: invalid digit"), "{said}");
}
