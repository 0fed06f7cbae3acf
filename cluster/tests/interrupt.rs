//! Ctrl-C: the function that a handler calls ends the jobs and tears down every cluster.
//!
//! The only test in its process: nothing can be started afterwards.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use mpress_cluster::{Cluster, Config, Error, Mpi, run_with_timeout, tear_down_all};

#[test]
fn a_handler_takes_everything_down() {
    if let Err(error) = Cluster::permitted() {
        // Not with `eprintln!`: the test harness hides the output of passing tests.
        let _shown = writeln!(std::io::stderr(), "SKIPPED: {error}");
        return;
    }
    let cluster = Cluster::new(Config { nodes: 2, rate: None }).unwrap();
    let namespaces = [0, 1].map(|node| Path::new("/var/run/netns").join(cluster.namespace(node)));
    assert!(namespaces.iter().all(|path| path.exists()));

    let start = Instant::now();
    let job = cluster.mpirun(Mpi::OpenMpi, 1).program("sleep").arg("600").clone();
    let running = std::thread::spawn(move || job.run(Duration::from_secs(300)));
    std::thread::sleep(Duration::from_millis(1500));
    tear_down_all();
    assert!(!namespaces.iter().any(|path| path.exists()));
    // Without Open MPI it could not be started, which is acceptable here.
    let ended = running.join().unwrap();
    assert!(matches!(ended, Err(Error::Interrupted | Error::Start { .. })), "{ended:?}");
    // It ended neither at its limit nor at its normal end.
    assert!(start.elapsed() < Duration::from_secs(250));

    assert!(matches!(Cluster::new(Config { nodes: 2, rate: None }), Err(Error::Interrupted)));
    let refused = run_with_timeout(&mut std::process::Command::new("true"), Duration::from_secs(1));
    assert!(matches!(refused, Err(Error::Interrupted)));
}
