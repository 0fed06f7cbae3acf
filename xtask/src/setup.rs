//! Setup: the system packages that everything else needs, installed if they are missing.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::step;

/// The packages that a command needs; each needs those of the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Need {
    /// A build from source. It needs no MPI.
    Build,
    /// Packages of what was built.
    Dist,
    Demo,
    /// Everything that any command needs.
    All,
}

/// A package of Debian, and the program to look up on systems without such packages.
type Package = (&'static str, Option<&'static str>);

/// Rust links with it.
const BUILD: [Package; 2] = [("gcc", Some("cc")), ("libc6-dev", None)];

/// `readelf` and `strip`; gcc needs it as well.
const DIST: [Package; 1] = [("binutils", Some("readelf"))];

const DEMO: [Package; 4] = [
    ("gfortran", Some("gfortran")),
    ("openmpi-bin", Some("mpirun.openmpi")),
    ("libopenmpi-dev", Some("mpicc.openmpi")),
    ("iproute2", Some("ip")),
];

/// The packages for everything else.
const OTHERS: [Package; 10] = [
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

/// The packages for this need, and the programs.
fn packages(need: Need) -> (Vec<&'static str>, Vec<Option<&'static str>>) {
    let all: [(Need, &[Package]); 4] =
        [(Need::Build, &BUILD), (Need::Dist, &DIST), (Need::Demo, &DEMO), (Need::All, &OTHERS)];
    all.into_iter().filter(|(of, _)| *of <= need).flat_map(|(_, packages)| packages.iter().copied()).unzip()
}

/// Makes sure that the packages are installed; takes almost no time if they are.
pub(crate) fn ensure(need: Need) -> Result<(), Error> {
    let (packages, tools) = packages(need);
    if !is_debian() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let missing: Vec<_> = tools.into_iter().flatten().filter(|tool| !is_in(&path, tool)).collect();
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
    is_in(&std::env::var_os("PATH").unwrap_or_default(), tool)
}

/// Whether a program is in one of the folders of this path, or in those of the administrator.
fn is_in(path: &OsStr, tool: &str) -> bool {
    let also = ["/usr/sbin", "/sbin"].map(Path::new).map(Path::to_owned);
    std::env::split_paths(path).chain(also).any(|dir| dir.join(tool).is_file())
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
    fn a_build_needs_a_linker_alone() {
        let (build, tools) = packages(Need::Build);
        assert_eq!(build, ["gcc", "libc6-dev"]);
        let folder = tempfile::tempdir().unwrap();
        let missing =
            || tools.iter().flatten().filter(|tool| !is_in(folder.path().as_os_str(), tool)).count();
        assert_eq!(missing(), 1);
        fs::write(folder.path().join("cc"), "").unwrap();
        assert_eq!(missing(), 0);

        let all = [Need::Dist, Need::Demo, Need::All].map(|need| packages(need).0);
        assert_eq!(all[0], ["gcc", "libc6-dev", "binutils"]);
        assert!(all[1].starts_with(&all[0]) && !all[1].contains(&"mpich"));
        assert!(all[2].starts_with(&all[1]) && all[2].contains(&"mpich"));
    }

    #[test]
    fn tools_are_found() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("no-such-tool-here"));
    }
}
