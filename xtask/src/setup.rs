//! Setup: the system packages that everything else needs, installed if they are missing.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::step;

/// The packages that a command needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Demo,
    /// Everything that any command needs.
    All,
}

/// Debian's packages for the demo, and for each the program to look up on systems without such packages.
const DEMO: [(&str, Option<&str>); 6] = [
    ("gcc", Some("gcc")),
    ("libc6-dev", None),
    ("gfortran", Some("gfortran")),
    ("openmpi-bin", Some("mpirun.openmpi")),
    ("libopenmpi-dev", Some("mpicc.openmpi")),
    ("iproute2", Some("ip")),
];

/// The packages for everything else.
const OTHERS: [(&str, Option<&str>); 10] = [
    ("g++", Some("g++")),
    ("make", Some("make")),
    ("libclang-dev", None),
    ("mpich", Some("mpirun.mpich")),
    ("libmpich-dev", Some("mpicc.mpich")),
    // The peers of the benchmarks, with which streams are also exchanged. A build without them leaves those peers out.
    ("libaec-dev", None),
    ("libblosc-dev", None),
    ("liblzo2-dev", None),
    // mpi4py, whose test suite runs under the shim.
    ("python3-venv", Some("python3")),
    // C programs find the C interface through it. (Its tests use valgrind if that is installed.)
    ("pkg-config", Some("pkg-config")),
];

/// Makes sure that the packages are installed; takes almost no time if they are.
pub(crate) fn ensure(need: Need) -> Result<(), Error> {
    let others = OTHERS.into_iter().filter(|_| need == Need::All);
    let (packages, tools): (Vec<_>, Vec<_>) = DEMO.into_iter().chain(others).unzip();
    if !is_debian() {
        let missing: Vec<_> = tools.into_iter().flatten().filter(|tool| !is_on_path(tool)).collect();
        return match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::OtherSystem { missing: missing.join(" "), packages: packages.join(" ") }),
        };
    }
    let installed = installed(&packages);
    let missing: Vec<_> = packages.into_iter().filter(|package| !installed.contains(*package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_root() {
        let line = format!("sudo apt-get update && sudo apt-get {} {}", INSTALL.join(" "), missing.join(" "));
        return Err(Error::NeedsRoot(line));
    }
    install(&missing)
}

/// Whether this program is available. Few users need it, and its package has the same name. Installs it if that is possible without
/// confirmation.
pub(crate) fn offer(program: &str) -> bool {
    offered(program, || if is_debian() && is_root() { install(&[program]) } else { Ok(()) })
}

fn offered(program: &str, install: impl FnOnce() -> Result<(), Error>) -> bool {
    if !is_on_path(program)
        && let Err(error) = install()
    {
        eprintln!("setup: {program} cannot be installed: {error}");
    }
    is_on_path(program)
}

const INSTALL: [&str; 3] = ["install", "-y", "--no-install-recommends"];

fn install(packages: &[&str]) -> Result<(), Error> {
    eprintln!("setup: installing {}", packages.join(" "));
    let apt_get = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        step::run("setup", command.env("DEBIAN_FRONTEND", "noninteractive").args(args))
    };
    apt_get(&["update"])?;
    apt_get(&[&INSTALL[..], packages].concat())
}

fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    is_debian_release(&release) && is_on_path("dpkg-query")
}

fn is_debian_release(text: &str) -> bool {
    let ids = text.lines().filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")));
    let mut words = ids.flat_map(|value| value.trim_matches('"').split(' '));
    words.any(|word| matches!(word, "debian" | "ubuntu"))
}

pub(crate) fn is_on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let also = ["/usr/sbin", "/sbin"].map(Path::new).map(Path::to_owned);
    std::env::split_paths(&path).chain(also).any(|dir| dir.join(tool).is_file())
}

/// The installed ones of these packages; a package that was removed but not purged does not count.
fn installed(packages: &[&str]) -> std::collections::BTreeSet<String> {
    let format = "--showformat=${Package} ${db:Status-Status}\n";
    // The exit status says that some are unknown; the output is about the others.
    let output = Command::new("dpkg-query").args(["--show", format]).args(packages).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_suffix(" installed")).map(str::to_owned).collect()
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_and_its_children_are_known() {
        assert!(is_debian_release("NAME=x\nID=debian\n"));
        assert!(is_debian_release("ID=ubuntu\nID_LIKE=debian\n"));
        assert!(is_debian_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"));
        assert!(!is_debian_release("ID=fedora\nID_LIKE=\"rhel centos\"\nVARIANT_ID=debian\n"));
        assert!(!is_debian_release(""));
    }

    #[test]
    fn what_cannot_be_installed_is_done_without() {
        let fails = || Err(Error::NeedsRoot("x".to_owned()));
        assert!(!offered("no-such-tool-here", fails));
        assert!(offered("sh", fails));
    }

    #[test]
    fn tools_are_found() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("no-such-tool-here"));
    }
}
