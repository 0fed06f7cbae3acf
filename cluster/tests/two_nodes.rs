//! A real cluster: its traffic, its speed, its counters, and its complete removal.
//!
//! Requires root. Without it, every test reports this on stderr and checks nothing.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mpress_cluster::{Cluster, Config, Error, Rate, sweep};
use nix::sched::{CloneFlags, setns};

/// Far longer than anything here takes, on a busy machine, too.
const LONG: Duration = Duration::from_secs(120);

/// A cluster, or `None` after a line with the reason.
fn cluster(config: Config) -> Option<Cluster> {
    match Cluster::permitted() {
        Ok(()) => Some(Cluster::new(config).unwrap()),
        Err(error) => skip(&error),
    }
}

/// Not with `eprintln!`: the test harness hides the output of passing tests, and a skip must never look like a pass.
fn skip<T>(reason: &Error) -> Option<T> {
    let _shown = writeln!(std::io::stderr(), "SKIPPED: {reason}");
    None
}

fn two(rate: Option<Rate>) -> Option<Cluster> {
    cluster(Config { nodes: 2, rate })
}

/// Runs `work` in a thread inside a node.
fn on_node<T: Send + 'static>(
    cluster: &Cluster,
    node: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::thread::JoinHandle<T> {
    let namespace = File::open(Path::new("/var/run/netns").join(cluster.namespace(node))).unwrap();
    std::thread::spawn(move || {
        setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
        work()
    })
}

/// Sends `bytes` bytes from one node to another over TCP and returns the time in seconds.
fn transfer(cluster: &Cluster, from: usize, to: usize, bytes: usize) -> f64 {
    let address: SocketAddr = format!("10.77.0.{}:7777", to + 1).parse().unwrap();
    let listener = on_node(cluster, to, move || TcpListener::bind(address).unwrap()).join().unwrap();
    let receiver = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        received.len()
    });
    let start = Instant::now();
    let sender = on_node(cluster, from, move || {
        let mut stream = TcpStream::connect_timeout(&address, LONG).unwrap();
        stream.write_all(&vec![7; bytes]).unwrap();
    });
    sender.join().unwrap();
    assert_eq!(receiver.join().unwrap(), bytes);
    start.elapsed().as_secs_f64()
}

/// Everything that a cluster of this process has left on the host.
fn left(cluster: &str) -> Vec<String> {
    let dirs =
        ["/var/run/netns", "/etc/netns", "/tmp"].into_iter().flat_map(|dir| fs::read_dir(dir).into_iter());
    let names = dirs.flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(cluster)).collect()
}

fn own_prefix(cluster: &Cluster) -> String {
    cluster.namespace(0).strip_suffix("-n0").unwrap().to_owned()
}

fn host_interfaces() -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir("/sys/class/net").unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn the_link_carries_what_it_is_capped_at_and_counts_it() {
    let Some(cluster) = two(Some(Rate::mbit(100))) else { return };
    let before = cluster.traffic().unwrap();
    let bytes = 4_000_000;
    let seconds = transfer(&cluster, 0, 1, bytes);
    let sent = cluster.traffic().unwrap().since(&before);

    // How close it gets to the rate depends on the load of the machine: 95 when idle.
    let mbit = bytes as f64 * 8.0 / seconds / 1e6;
    let _shown = writeln!(std::io::stderr(), "{mbit} Mbit/s over a link of 100");
    assert!(mbit < 104.0, "{mbit} Mbit/s over a link of 100");
    assert!((4_000_000..4_600_000).contains(&sent.sent(0)), "{sent:?}");
    assert!((1..400_000).contains(&sent.sent(1)), "acknowledgements alone: {sent:?}");
    assert_eq!(sent.total(), sent.sent(0) + sent.sent(1));

    let back = transfer(&cluster, 1, 0, bytes);
    assert!(bytes as f64 * 8.0 / back / 1e6 < 104.0, "the other direction took {back} s");
}

/// What the kernel reports about the queues of a node's interfaces.
fn limits(cluster: &Cluster, node: usize) -> String {
    let shown = Command::new("tc").args(["-n", &cluster.namespace(node), "-j", "qdisc", "show"]).output();
    String::from_utf8(shown.unwrap().stdout).unwrap()
}

#[test]
fn the_kernel_says_the_same_rate() {
    let Some(cluster) = two(Some(Rate::gbit(1))) else { return };
    for node in 0..2 {
        let text = limits(&cluster, node);
        assert!(text.contains("\"tbf\"") && text.contains("\"rate\":125000000"), "{text}");
        // With less, the link would be slower than its rate. The kernel counts it in ticks of its clock.
        let burst = text.split("\"burst\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
        let burst: u32 = burst.unwrap().parse().unwrap();
        assert!((65_000..=65_536).contains(&burst), "{text}");
    }
}

#[test]
fn without_a_rate_nothing_is_capped() {
    let Some(cluster) = two(None) else { return };
    transfer(&cluster, 0, 1, 20_000_000);
    for node in 0..2 {
        let text = limits(&cluster, node);
        assert!(text.contains("\"kind\"") && !text.contains("\"rate\""), "{text}");
    }
}

#[test]
fn many_to_one_share_the_receivers_link() {
    let Some(cluster) = cluster(Config { nodes: 3, rate: Some(Rate::mbit(100)) }) else { return };
    let cluster = &cluster;
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || transfer(cluster, 0, 2, 2_000_000));
        // Another address of the same node, because the port is the same.
        let address: SocketAddr = "10.77.0.3:7778".parse().unwrap();
        let listener = on_node(cluster, 2, move || TcpListener::bind(address).unwrap()).join().unwrap();
        let sender = on_node(cluster, 1, move || {
            TcpStream::connect(address).unwrap().write_all(&vec![7; 2_000_000]).unwrap();
        });
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        sender.join().unwrap();
        assert_eq!(received.len(), 2_000_000);
    });
    // 4 MB at 100 Mbit/s take 0.32 s; without a cap at the switch, half of that.
    assert!(start.elapsed().as_secs_f64() > 0.29, "{:?}", start.elapsed());
}

#[test]
fn nodes_know_each_other_by_name() {
    let Some(cluster) = two(None) else { return };
    let found = Command::new("ip")
        .args(["netns", "exec", &cluster.namespace(0), "getent", "hosts", "n0", "n1"])
        .output()
        .unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    let words: Vec<_> = text.split_whitespace().collect();
    assert_eq!(words, ["10.77.0.1", "n0", "10.77.0.2", "n1"]);
}

#[test]
fn nothing_is_left_and_two_stand_side_by_side() {
    let before = host_interfaces();
    let Some(one) = two(Some(Rate::mbit(100))) else { return };
    let Some(other) = two(Some(Rate::gbit(1))) else { return };
    let (one_name, other_name) = (own_prefix(&one), own_prefix(&other));
    assert_ne!(one_name, other_name);
    transfer(&one, 0, 1, 1000);
    transfer(&other, 0, 1, 1000);
    assert_eq!(host_interfaces(), before, "the host sees nothing of it");

    // A process inside does not prevent the removal.
    let mut inside =
        Command::new("ip").args(["netns", "exec", &one.namespace(1), "sleep", "600"]).spawn().unwrap();
    let inside_by = Instant::now() + LONG;
    while Command::new("ip").args(["netns", "pids", &one.namespace(1)]).output().unwrap().stdout.is_empty() {
        assert!(Instant::now() < inside_by, "the process did not enter the node");
        std::thread::sleep(Duration::from_millis(10));
    }
    one.tear_down().unwrap();
    assert!(!inside.wait().unwrap().success());
    assert_eq!(left(&one_name), Vec::<String>::new());
    transfer(&other, 0, 1, 1000);
    drop(other);
    assert_eq!(left(&other_name), Vec::<String>::new());
}

#[test]
fn a_panic_takes_the_cluster_down() {
    let Some(cluster) = two(None) else { return };
    let name = own_prefix(&cluster);
    let unwound = std::thread::spawn(move || {
        let _held = cluster;
        panic!("as a failing test does");
    });
    assert!(unwound.join().is_err());
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let Some(_cluster) = two(None) else { return };
    // A process that has ended; its number is not reused for a while.
    let mut gone = Command::new("true").spawn().unwrap();
    let stale = format!("mpress-{}-0", gone.id());
    gone.wait().unwrap();
    let added = Command::new("ip").args(["netns", "add", &format!("{stale}-n0")]).status().unwrap();
    assert!(added.success());
    fs::create_dir_all(format!("/etc/netns/{stale}-n0")).unwrap();
    // Another test's cluster may be sweeping it at the same time and then finds it gone.
    let _swept_by_one_of_us: Result<(), Error> = sweep();
    let gone_by = Instant::now() + LONG;
    while !left(&stale).is_empty() && Instant::now() < gone_by {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(left(&stale), Vec::<String>::new());
}

#[test]
fn a_cluster_without_nodes_is_refused() {
    let Err(error) = Cluster::new(Config { nodes: 0, rate: None }) else {
        panic!("made a cluster of nothing")
    };
    if let Error::NotPermitted(_) = error {
        skip::<()>(&error);
        return;
    }
    assert_eq!(error.to_string(), "a cluster has 1 to 250 nodes, not 0");
}
