//! The network: namespaces, the switch, links, rate caps. All calls of `ip` and `tc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::job::processors;
use crate::names::{NETNS_ETC, Tag, address, host};
use crate::process::{call, end, wait_until};
use crate::rate::Rate;

/// Neighbour discovery and similar traffic would count as bytes of the job. The machine's congestion control is inherited, and BBR is slow after short
/// messages; a namespace may not choose CUBIC where the machine's is another.
const SETTINGS: &str = "set -e; cd /proc/sys/net; f=ipv6/conf/default/disable_ipv6; [ ! -e $f ] || echo 1 >$f; \
    f=ipv4/tcp_congestion_control; [ ! -w $f ] || echo reno >$f";

/// The maximum time a packet may be queued before it is dropped. TCP keeps its own queue far below this.
const QUEUE: &str = "50ms";

/// The maximum time for killed processes to disappear.
const DYING: Duration = Duration::from_secs(5);

/// Creates the switch and the nodes. On an error the caller must remove what exists.
pub(crate) fn raise(tag: Tag, nodes: usize, rate: Option<Rate>) -> Result<(), Error> {
    let switch = tag.switch();
    namespace(&switch)?;
    ip(&switch, &["link", "add", "br0", "type", "bridge", "mcast_snooping", "0"])?;
    ip(&switch, &["link", "set", "br0", "up"])?;
    for node in 0..nodes {
        let (name, port) = (tag.node(node), host(node));
        write_hosts(&name, nodes)?;
        namespace(&name)?;
        ip(&name, &["link", "add", "eth0", "type", "veth", "peer", "name", &port, "netns", &switch])?;
        ip(&switch, &["link", "set", &port, "master", "br0", "up"])?;
        ip(&name, &["link", "set", "lo", "up"])?;
        ip(&name, &["address", "add", &format!("{}/24", address(node)), "dev", "eth0"])?;
        ip(&name, &["link", "set", "eth0", "up"])?;
        steer(&name, "eth0", node)?;
        steer(&switch, &port, node)?;
        if let Some(rate) = rate {
            limit(tag, node, nodes, rate)?;
        }
    }
    Ok(())
}

/// Lets one processor receive all packets of a node's interface. Otherwise each is received on the processor that sent it or whose timer released it,
/// and they overtake each other. Kernels without this setting are left as they are.
fn steer(namespace: &str, interface: &str, node: usize) -> Result<(), Error> {
    let processors = processors();
    let Some(processor) = processors.get(node % processors.len().max(1)) else { return Ok(()) };
    // Groups of 32 bits, the highest first.
    let mask = format!("{:x}{}", 1_u32 << (processor % 32), ",0".repeat(processor / 32));
    let script = format!("f=/sys/class/net/{interface}/queues/rx-0/rps_cpus; [ ! -w $f ] || echo {mask} >$f");
    call("ip", &["netns", "exec", namespace, "/bin/sh", "-c", &script]).map(drop)
}

/// Caps the link of one of `nodes` nodes.
pub(crate) fn limit(tag: Tag, node: usize, nodes: usize, rate: Rate) -> Result<(), Error> {
    cap(&tag.node(node), "eth0", rate)?;
    // With two nodes the sender's cap is also the receiver's; with more, several can send to one.
    if nodes > 2 { cap(&tag.switch(), &host(node), rate) } else { Ok(()) }
}

fn namespace(name: &str) -> Result<(), Error> {
    call("ip", &["netns", "add", name])?;
    call("ip", &["netns", "exec", name, "/bin/sh", "-c", SETTINGS]).map(drop)
}

fn ip(namespace: &str, args: &[&str]) -> Result<(), Error> {
    call("ip", &[&["-n", namespace], args].concat()).map(drop)
}

fn cap(namespace: &str, interface: &str, rate: Rate) -> Result<(), Error> {
    let (bits, burst) = (format!("{}bit", rate.bits_per_second()), rate.burst().to_string());
    let bucket = ["rate", &bits, "burst", &burst, "latency", QUEUE];
    let place = ["-n", namespace, "qdisc", "replace", "dev", interface, "root", "tbf"];
    call("tc", &[&place[..], &bucket[..]].concat()).map(drop)
}

/// Writes the file that `ip netns exec` mounts over `/etc/hosts`.
fn write_hosts(namespace: &str, nodes: usize) -> Result<(), Error> {
    let dir = etc(namespace);
    // Another cluster may be removing the parent at the same time because it was empty.
    let made = (0..3).map(|_| fs::create_dir_all(&dir)).find(|made| made.is_ok());
    made.unwrap_or_else(|| fs::create_dir_all(&dir)).map_err(Error::file(&dir))?;
    let lines = (0..nodes).map(|node| format!("{} {}\n", address(node), host(node)));
    let text = std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(lines).collect::<String>();
    let path = dir.join("hosts");
    fs::write(&path, text).map_err(Error::file(&path))
}

fn etc(namespace: &str) -> PathBuf {
    Path::new(NETNS_ETC).join(namespace)
}

/// The number of bytes that a node has sent, from the counter of its interface.
pub(crate) fn bytes_sent(tag: Tag, node: usize) -> Result<u64, Error> {
    let counter = "/sys/class/net/eth0/statistics/tx_bytes";
    let text = call("ip", &["netns", "exec", &tag.node(node), "cat", counter])?;
    text.trim().parse().map_err(|_| Error::Command {
        command: format!("cat {counter}"),
        message: format!("`{}` is not a number", text.trim()),
    })
}

/// Ends every process in the namespaces and removes the namespaces. Continues after an error, and returns the
/// first one.
pub(crate) fn remove(namespaces: &[String]) -> Result<(), Error> {
    // A namespace without a name persists, with its links, as long as a process is in it.
    let emptied = wait_until(DYING, || {
        let pids: Vec<u32> = namespaces.iter().flat_map(|name| pids(name)).collect();
        pids.iter().copied().for_each(end);
        pids.is_empty()
    });
    let mut first = if emptied {
        Ok(())
    } else {
        let message = format!("processes in {} do not end", namespaces.join(", "));
        Err(Error::Command { command: "kill".to_owned(), message })
    };
    for name in namespaces {
        first = first.and(call("ip", &["netns", "delete", name]).map(drop));
    }
    first
}

fn pids(namespace: &str) -> Vec<u32> {
    let text = call("ip", &["netns", "pids", namespace]).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}
