//! Ctrl-C and SIGTERM: what a handler calls also ends processes that are no jobs, such as those of cargo.
//!
//! The only test in its process: nothing can be started afterwards.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use mpress_cluster::tear_down_all;

#[test]
fn children_and_their_children_end() {
    // Like cargo, which starts a test, which starts a job in a session of its own, which ignores SIGTERM.
    let job = "trap '' TERM; echo $$; for second in $(seq 60); do sleep 1; done";
    let mut cargo = Command::new("sh");
    cargo.args(["-c", "setsid sh -c \"$0\" & wait", job]).stdout(Stdio::piped());
    let mut cargo = cargo.spawn().unwrap();
    let mut number = String::new();
    BufReader::new(cargo.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let number: u32 = number.trim().parse().unwrap();
    // Someone must wait for it, as every step does.
    let waiting = std::thread::spawn(move || cargo.wait().unwrap());
    tear_down_all();
    assert!(!waiting.join().unwrap().success());
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
}
