//! An MPI job as a command: the placement of its ranks and their environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::cluster::Cluster;
use crate::names::{Tag, host};
use crate::process::system;
use crate::{Error, Family, Mpi, Outcome, run_with_timeout, yielding};

/// The first steps of a shell inside a node: sets the node's host name and mounts a separate `/dev/shm`, in the mount namespace that `ip netns exec`
/// has created. So nodes share no memory, and files that a killed rank leaves there disappear with the job. If the mount is not possible, the rest
/// still works.
pub(crate) const BECOME: &str = r#"mount -t tmpfs tmpfs /dev/shm 2>/dev/null; hostname "$0" && exec "$@""#;

/// Where jobs run: on a cluster, or on this host over shared memory, with the same interface.
#[derive(Clone, Copy, Debug)]
pub enum Launcher<'a> {
    /// On this host.
    Local,
    /// On an emulated cluster.
    Cluster(&'a Cluster),
}

impl Launcher<'_> {
    /// A job with this number of ranks on every node, placed in blocks: with 2, ranks 0 and 1 are on the first node.
    #[must_use]
    pub fn mpirun(self, mpi: Mpi, ranks_per_node: usize) -> Job {
        let place = match self {
            Self::Local => Place::Local,
            Self::Cluster(cluster) => Place::Nodes(cluster.tag(), cluster.nodes()),
        };
        Job { mpi, ranks_per_node, place, env: Vec::new(), dir: None, program: Vec::new(), pinned: false }
    }

    /// The number of nodes: 1 on this host.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::Local => 1,
            Self::Cluster(cluster) => cluster.nodes(),
        }
    }
}

/// An MPI job, built like a [`Command`].
#[derive(Clone, Debug)]
pub struct Job {
    mpi: Mpi,
    ranks_per_node: usize,
    place: Place,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
    program: Vec<OsString>,
    pinned: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Local,
    Nodes(Tag, usize),
}

impl Job {
    /// Sets a variable for every rank on every node, but not for mpirun, so `LD_PRELOAD` works here.
    ///
    /// `MPRESS_` variables of the calling process are not passed to the ranks: the two MPIs differ in which variables they pass to which nodes, and
    /// ranks with different settings are never wanted.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Sets the working directory of the ranks; by default that of the calling process.
    pub fn current_dir(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.dir = Some(dir.as_ref().to_owned());
        self
    }

    /// Sets the program, to which [`Job::arg`] adds arguments.
    pub fn program(&mut self, program: impl AsRef<OsStr>) -> &mut Self {
        self.program = vec![program.as_ref().to_owned()];
        self
    }

    /// Adds an argument of the program.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.program.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments of the program.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.program.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Pins each rank to one processor, as on clusters: rank 0 to the first that this process may use, rank 1 to the next, and so on in turn.
    /// Otherwise the system may leave two busy ranks on one processor and two waiting ones on another for seconds, which would distort measurements.
    /// The threads of a rank share its processor.
    pub fn pinned(&mut self) -> &mut Self {
        self.pinned = true;
        self
    }

    /// Lets waiting ranks yield where the MPI would have them spin: with more ranks than processors, seconds would become minutes. The library for
    /// that is built in this folder and preloaded before the libraries that the environment names. Not for measurements.
    ///
    /// # Errors
    /// As for [`yielding`].
    pub fn yielding(&mut self, dir: &Path) -> Result<&mut Self, Error> {
        const PRELOAD: &str = "LD_PRELOAD";
        if let Some(library) = yielding(self.mpi, dir, None)? {
            let mut all = library.into_os_string();
            if let Some((_, others)) = self.env.iter().rev().find(|(name, _)| name == PRELOAD) {
                all.push(":");
                all.push(others);
            }
            self.env(PRELOAD, all);
        }
        Ok(self)
    }

    /// The MPI of the job.
    #[must_use]
    pub fn mpi(&self) -> Mpi {
        self.mpi
    }

    /// Whether messages go over the network, not only through shared memory.
    #[must_use]
    pub fn is_networked(&self) -> bool {
        matches!(self.place, Place::Nodes(_, nodes) if nodes > 1)
    }

    /// The command that runs the job, to be started by a thread that waits for its end: the job ends with that thread.
    #[must_use]
    pub fn command(&self) -> Command {
        // It has its own process group, so Ctrl-C does not reach it. It gets SIGTERM when the thread that has started it ends, so it does not outlive
        // a killed test.
        let mut command = system("setpriv");
        command.args(["--pdeathsig", "TERM"]);
        if let Place::Nodes(tag, _) = self.place {
            command.args(["ip", "netns", "exec", &tag.node(0), "unshare", "--uts", "--ipc", "/bin/sh", "-c"]);
            command.args([BECOME, &host(0)]);
        }
        command.arg(self.mpi.mpirun());
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"MPRESS_") {
                command.env_remove(name);
            }
        }
        match self.mpi.family() {
            Family::OpenMpi => self.open_mpi(&mut command),
            Family::Mpich => self.mpich(&mut command),
        }
        if self.pinned {
            let rank = match self.mpi.family() {
                Family::OpenMpi => "OMPI_COMM_WORLD_RANK",
                Family::Mpich => "PMI_RANK",
            };
            command.args(["/bin/sh", "-c", &pinning(rank), "sh"]);
        }
        if !self.env.is_empty() {
            // The same method for both MPIs, all nodes and all values; an empty value crashes MPICH's -genv.
            command.arg("env").args(self.env.iter().map(|(name, value)| {
                let mut pair = name.clone();
                pair.push("=");
                pair.push(value);
                pair
            }));
        }
        command.args(&self.program);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    fn open_mpi(&self, command: &mut Command) {
        // With more ranks than cores, a waiting rank must yield.
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        // With binding, each node would put its first rank on core 0, which all nodes share.
        command.args(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]);
        if let Place::Nodes(tag, nodes) = self.place {
            // Its session directories are removed with the cluster.
            let (kind, agent, dir, inside) = match self.mpi {
                Mpi::OpenMpi5 => ("--prtemca", "plm_ssh_agent", "prte_tmpdir_base", "prte_if_include"),
                _ => ("--mca", "plm_rsh_agent", "orte_tmpdir_base", "oob_tcp_if_include"),
            };
            command.args([kind, agent]).arg(tag.agent());
            command.args([kind, dir]).arg(tag.dir());
            command.args([kind, inside, "eth0", "--mca", "btl_tcp_if_include", "eth0"]);
            command.args(["--mca", "pml", "ob1", "--map-by", "slot"]);
            command.args(["-H", &self.slots(nodes)]);
        }
        command.args(["-n", &self.ranks().to_string()]);
    }

    fn mpich(&self, command: &mut Command) {
        if let Place::Nodes(tag, nodes) = self.place {
            // Otherwise UCX finds shared memory that works across namespaces and does not use the links.
            command.env("UCX_TLS", "tcp,self").env("UCX_NET_DEVICES", "eth0");
            command.args(["-launcher", "ssh", "-launcher-exec"]).arg(tag.agent());
            command.args(["-iface", "eth0", "-hosts", &self.slots(nodes)]);
        }
        command.args(["-n", &self.ranks().to_string()]);
    }

    /// The total number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        match self.place {
            Place::Local => self.ranks_per_node,
            Place::Nodes(_, nodes) => self.ranks_per_node * nodes,
        }
    }

    /// `n0:2,n1:2`: both MPIs fill a node before they continue with the next one.
    fn slots(&self, nodes: usize) -> String {
        let slots = (0..nodes).map(|node| format!("{}:{}", host(node), self.ranks_per_node));
        slots.collect::<Vec<_>>().join(",")
    }

    /// Runs the job until it ends or the limit is reached, and ends all of its processes.
    ///
    /// # Errors
    /// As for [`run_with_timeout`].
    pub fn run(&self, limit: Duration) -> Result<Outcome, Error> {
        run_with_timeout(&mut self.command(), limit)
    }
}

/// Shell commands that run another command on the processor of this rank, or on any if that is not possible.
fn pinning(rank: &str) -> String {
    let processors = processors();
    if processors.is_empty() {
        return "exec \"$@\"".to_owned();
    }
    let cases: String =
        processors.iter().enumerate().map(|(at, cpu)| format!("{at}) cpu={cpu};; ")).collect();
    let cpu = format!("cpu=; case $((${{{rank}:-0}} % {})) in {cases}esac", processors.len());
    format!("{cpu}; command -v taskset >/dev/null || cpu=; exec ${{cpu:+taskset -c $cpu}} \"$@\"")
}

/// The processors that this process may use; empty if unknown.
pub(crate) fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu) == Ok(true)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(job: &Job) -> String {
        crate::process::line(&job.command())
    }

    #[test]
    fn a_local_job_is_plain_mpirun() {
        let mut job = Launcher::Local.mpirun(Mpi::Mpich, 2);
        job.program("./app").args(["1", "2"]);
        assert_eq!(words(&job), "setpriv --pdeathsig TERM mpirun.mpich -n 2 ./app 1 2");
        assert!(!job.is_networked());
        let mut job = Launcher::Local.mpirun(Mpi::OpenMpi, 4);
        job.program("./app").env("LD_PRELOAD", "/x.so").env("EMPTY", "");
        let expected = "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none -n 4 env LD_PRELOAD=/x.so EMPTY= ./app";
        assert!(words(&job).ends_with(expected), "{}", words(&job));
    }

    #[test]
    fn pinned_ranks_take_turns_on_the_processors() {
        let ran = |rank: usize| {
            let script = "mine=$(taskset -cp $$); echo ${mine##* }";
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &pinning("PMI_RANK"), "sh", "/bin/sh", "-c", script]);
            let output = command.env("PMI_RANK", rank.to_string()).env("cpu", "x").output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        for (rank, cpu) in processors().iter().cycle().enumerate().take(processors().len() + 1) {
            assert_eq!(ran(rank), cpu.to_string());
        }
    }

    #[test]
    fn a_job_on_nodes_starts_on_the_first() {
        let tag = Tag::new();
        let mut job = Launcher::Local.mpirun(Mpi::OpenMpi, 2);
        job.place = Place::Nodes(tag, 2);
        let text = words(job.program("./app"));
        let start = format!(" ip netns exec {} unshare --uts --ipc /bin/sh -c ", tag.node(0));
        assert!(text.contains(&start), "{text}");
        assert!(text.ends_with(" -H n0:2,n1:2 -n 4 ./app"), "{text}");
        assert!(job.is_networked());
        assert_eq!(job.ranks(), 4);
        job.mpi = Mpi::Mpich;
        let text = words(&job);
        assert!(text.ends_with(" -iface eth0 -hosts n0:2,n1:2 -n 4 ./app"), "{text}");
    }
}
