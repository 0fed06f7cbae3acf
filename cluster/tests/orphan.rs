//! A test that is killed: its job on this host ends, too.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mpress_cluster::{Launcher, Mpi};

/// Far longer than it takes, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Set in the process that is killed.
const KILLED: &str = "ORPHAN_KILLED";

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_job_ends_with_the_process_that_started_it() {
    if std::env::var_os(KILLED).is_some() {
        let outcome = Launcher::Local.mpirun(Mpi::OpenMpi, 1).program("x").run(Duration::from_secs(600));
        unreachable!("{outcome:?}");
    }
    // No MPI is needed.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orphan");
    let (mpirun, number) = (dir.join("mpirun.openmpi"), dir.join("number"));
    let _new: std::io::Result<()> = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let (folder, new) = (dir.display(), dir.join("new"));
    fs::write(&mpirun, format!("#!/bin/sh\ncd '{folder}'; echo $$ >new; mv new number; exec sleep 600\n"))
        .unwrap();
    fs::set_permissions(&mpirun, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.env("PATH", format!("{folder}:{path}")).env(KILLED, "1");
    let mut test = test.spawn().unwrap();
    wait_for("the job has not started", || number.exists());
    assert!(!new.exists());
    let job = fs::read_to_string(&number).unwrap();
    let stat = format!("/proc/{}/stat", job.trim());
    assert!(Path::new(&stat).exists());
    test.kill().unwrap();
    test.wait().unwrap();
    // Its number stays until its parent has waited for it.
    wait_for("the job goes on", || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
}
