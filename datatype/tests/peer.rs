//! The MPIs used in tests: how they are started.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test reports by panicking")]

use mpress_corpus::shared::skipped;
use mpress_datatype::peer::Peer;
use std::{env, fs, process};

/// Another user could own a folder with a predictable name, and so control what is compiled and run there.
#[test]
fn peers_are_not_compiled_in_a_folder_that_others_can_make() {
    let planted: Vec<_> = ["openmpi", "mpich"]
        .map(|name| env::temp_dir().join(format!("mpress-datatype-{}-{name}", process::id())))
        .into();
    for folder in &planted {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("theirs"), "not ours").unwrap();
    }
    for peer in Peer::all() {
        match peer {
            Ok(peer) => drop(peer),
            Err(why) => skipped(&format!("a folder of its own for {why}")),
        }
    }
    for folder in &planted {
        assert_eq!(fs::read_dir(folder).expect("another's folder was removed").count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
