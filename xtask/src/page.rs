//! Page: follows pages as a reader does. Their blocks are the files, changes and commands of a crate outside the workspace, or of a copy of the workspace. So they cannot become
//! outdated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mpress_cluster::Mpi;

use crate::error::Error;
use crate::mpis;
use crate::paths::{Paths, create_folder, write};
use crate::step::{self, Done, Step};

/// A page.
struct Page {
    path: &'static str,
    /// The heading of each part (none: what is before the first heading), and the folder in which a reader follows it.
    parts: &'static [(&'static str, &'static str)],
    /// Variables for its commands.
    env: &'static [(&'static str, &'static str)],
}

/// The page on codecs of others.
const CODEC: Page = Page {
    path: "docs/adding-a-codec.md",
    parts: &[("## In a program of your own", "deltas"), ("## In the family", WORKSPACE)],
    env: &[],
};

/// The page on the codecs, for programs that use nothing else of mpress.
const CODECS: Page = Page {
    path: "docs/codecs.md",
    parts: &[("## In a program of your own", "numbers")],
    env: &[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")], // as below
};

/// The page for programs in Rust with rsmpi.
const RSMPI: Page = Page {
    path: "rsmpi-adapter/README.md",
    parts: &[("", "app")],
    // What is compressed does not depend on how fast the code is, so it need not be optimised, which would take most of the time.
    env: &[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")],
};

/// The folder in which a reader has a copy of the workspace.
const WORKSPACE: &str = "mpress";

/// The crates that the program of a reader takes from the registry; here they are those of the workspace.
const CRATES: [(&str, &str); 4] = [
    ("mpress", "engine"),
    ("mpress-codec", "codec"),
    ("mpress-diffpack", "diffpack"),
    ("mpress-rsmpi", "rsmpi-adapter"),
];

/// The MPI of a reader.
const MPI: Mpi = Mpi::OpenMpi;

/// The steps that follow the pages.
pub(crate) fn steps(paths: &Paths) -> Vec<Step<'_>> {
    vec![
        Step::call("page on adding a codec", || CODEC.follow(paths)),
        Step::call("page on codecs alone", || CODECS.follow(paths)),
        Step::call("page on programs in Rust", || RSMPI.follow(paths)),
    ]
}

impl Page {
    fn follow(&self, paths: &Paths) -> Result<Done, Error> {
        let page = paths.root().join(self.path);
        let page = fs::read_to_string(&page).map_err(Error::file(&page))?;
        // A reader's folder is not inside the project's.
        let all = tempfile::tempdir().map_err(Error::file("a folder for temporary files"))?;
        let tools = all.path().join("tools");
        mpis::under_usual_names(MPI, &tools)?;
        let mut count = 0;
        for (heading, folder) in self.parts {
            let reader = Reader { page: self, folder: &all.path().join(folder), tools: &tools, paths };
            let part = part(&page, heading).map_err(|message| wrong(self.path, message))?;
            reader.prepare(&part, *folder == WORKSPACE)?;
            let blocks = blocks(&part).map_err(|message| wrong(self.path, message))?;
            count += blocks.len();
            blocks.iter().try_for_each(|block| reader.follow(block))?;
        }
        Ok(Done::Ran(format!("{count} blocks")))
    }
}

/// A reader of a page: the folder in which he works, and that of the tools of his MPI.
struct Reader<'a> {
    page: &'a Page,
    folder: &'a Path,
    tools: &'a Path,
    paths: &'a Paths,
}

impl Reader<'_> {
    /// What there is before the first block.
    fn prepare(&self, part: &[&str], has_workspace: bool) -> Result<(), Error> {
        create_folder(self.folder)?;
        if has_workspace {
            return copy_workspace(self.paths.root(), self.folder);
        }
        use_workspace(self.paths, part, self.folder)?;
        // What is compiled is kept for the next time.
        let (target, link) = (self.target(), self.folder.join("target"));
        create_folder(&target)?;
        std::os::unix::fs::symlink(target, &link).map_err(Error::file(link))
    }

    fn follow(&self, block: &Block<'_>) -> Result<(), Error> {
        match block {
            Block::File(path, text) => write(&self.folder.join(path), text),
            Block::Change(path, lines) => {
                let file = self.folder.join(path);
                let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
                write(&file, changed(path, &text, lines).map_err(|message| wrong(self.page.path, message))?)
            }
            Block::Commands(text, printed) => {
                let mut shell = Command::new("sh");
                shell.args(["-ec", text]).current_dir(self.folder).env("CARGO_TARGET_DIR", self.target());
                shell.env("CARGO_NET_OFFLINE", "true").env("MPICC", MPI.mpicc());
                let before = std::env::var_os("PATH").unwrap_or_default();
                let path = std::iter::once(self.tools.to_owned()).chain(std::env::split_paths(&before));
                shell.env("PATH", std::env::join_paths(path).unwrap_or(before));
                shell.envs(self.page.env.iter().copied());
                mpis::permit(&mut shell);
                let Some(printed) = printed else { return step::run("commands of the page", &mut shell) };
                let output = shell.stderr(Stdio::inherit()).output().map_err(Error::file("sh"))?;
                let found = String::from_utf8_lossy(&output.stdout);
                if output.status.success() && found == *printed {
                    return Ok(());
                }
                Err(wrong(
                    self.page.path,
                    format!(
                        "the page says that `{}` prints {printed:?}, but it prints {found:?}",
                        text.trim()
                    ),
                ))
            }
        }
    }

    fn target(&self) -> PathBuf {
        self.paths.target("pages")
    }
}

/// What is published is not yet in a registry.
fn use_workspace(paths: &Paths, part: &[&str], folder: &Path) -> Result<(), Error> {
    let named =
        CRATES.iter().filter(|(name, _)| part.iter().any(|line| line.starts_with(&format!("{name} = "))));
    let patches = named.map(|(name, dir)| format!("{name} = {{ path = {:?} }}\n", paths.root().join(dir)));
    let patches: String = patches.collect();
    write(&folder.join(".cargo/config.toml"), format!("[patch.crates-io]\n{patches}"))?;
    // The versions that the workspace was built with need not be fetched.
    let lock = "Cargo.lock";
    fs::copy(paths.root().join(lock), folder.join(lock)).map(drop).map_err(Error::file(lock))
}

/// Copies the files that git does not ignore.
fn copy_workspace(root: &Path, folder: &Path) -> Result<(), Error> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let files = step::output(&mut git)?;
    // Files that were removed but not yet committed are still listed.
    let there = files.split_terminator('\0').filter(|file| root.join(file).symlink_metadata().is_ok());
    let mut copy = Command::new("cp");
    copy.args(["--archive", "--parents", "--target-directory"]).arg(folder).args(there).current_dir(root);
    step::output(&mut copy).map(drop)
}

/// The lines of a page below this heading, up to the next one of the same level; without a heading, those before the first one. What looks like a heading inside a block is none.
fn part<'a>(page: &'a str, heading: &str) -> Result<Vec<&'a str>, String> {
    let (mut lines, mut is_fenced, mut is_there) = (Vec::new(), false, heading.is_empty());
    for line in page.lines() {
        is_fenced ^= line.starts_with("```");
        if !is_fenced && line.starts_with("## ") {
            is_there = line == heading;
        } else if is_there {
            lines.push(line);
        }
    }
    if lines.is_empty() { Err(format!("there is no part `{heading}`")) } else { Ok(lines) }
}

/// A block of the page.
#[derive(Debug, PartialEq)]
pub(crate) enum Block<'a> {
    /// A file with this path: its contents.
    File(&'a str, String),
    /// A file with this path: lines that stay, are removed and are added (` `, `-`, `+`).
    Change(&'a str, Vec<&'a str>),
    /// Commands, and their output, if the page gives it.
    Commands(String, Option<String>),
}

/// The blocks of a part, in their order. The last line of text before a file or a change is its path.
pub(crate) fn blocks<'a>(part: &[&'a str]) -> Result<Vec<Block<'a>>, String> {
    let (mut blocks, mut path) = (Vec::new(), None);
    let mut lines = part.iter().copied();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            if !line.is_empty() {
                path = line.strip_prefix('`').and_then(|line| line.strip_suffix("`:"));
            }
            continue;
        };
        let block: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text = || block.iter().map(|line| format!("{line}\n")).collect();
        match (language, path, blocks.last_mut()) {
            ("sh", ..) => blocks.push(Block::Commands(text(), None)),
            ("text", None, Some(Block::Commands(_, printed))) => *printed = Some(text()),
            ("diff", Some(path), _) => blocks.push(Block::Change(path, block)),
            (_, Some(path), _) => blocks.push(Block::File(path, text())),
            _ => {
                return Err(format!("a block of {language} is neither a file nor a command: {block:?}"));
            }
        }
    }
    Ok(blocks)
}

/// A text with a change. The lines that stay and go must be in it once.
fn changed(path: &str, text: &str, change: &[&str]) -> Result<String, String> {
    let kept = |other: char| move |line: &&&str| !line.starts_with(other);
    let of = |line: &&str| line.get(1..).unwrap_or_default().to_owned() + "\n";
    let old: Vec<String> = change.iter().filter(kept('+')).map(of).collect();
    let new: String = change.iter().filter(kept('-')).map(of).collect();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    let places: Vec<_> = lines
        .windows(old.len().max(1))
        .enumerate()
        .filter(|(_, lines)| *lines == old)
        .map(|(at, _)| at)
        .collect();
    let [at] = places[..] else {
        return Err(format!(
            "{} places in {path} have these lines, not one:\n{}",
            places.len(),
            old.concat()
        ));
    };
    Ok([lines[..at].concat(), new, lines[at + old.len()..].concat()].concat())
}

fn wrong(page: &str, message: String) -> Error {
    Error::Program { run: page.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked here without running the step, which compiles: every file that the page changes has the lines that the page gives, and every block is
    /// valid.
    #[test]
    fn the_page_names_lines_that_there_are() {
        let paths = Paths::find().unwrap();
        let page = fs::read_to_string(paths.root().join(CODEC.path)).unwrap();
        let (mut files, mut changes) = (std::collections::BTreeMap::new(), 0);
        for (heading, _) in CODEC.parts {
            let earlier = std::mem::take(&mut files);
            for block in blocks(&part(&page, heading).unwrap()).unwrap() {
                match block {
                    Block::File(path, text) => _ = files.insert(path, text),
                    Block::Change(path, lines) => {
                        let there = || fs::read_to_string(paths.root().join(path)).ok();
                        // The files that commands copy are files of the first part.
                        let own = path.strip_prefix("deltas/").and_then(|path| earlier.get(path).cloned());
                        let text = files.get(path).cloned().or_else(there).or(own).unwrap();
                        files.insert(path, changed(path, &text, &lines).unwrap());
                        changes += 1;
                    }
                    Block::Commands(..) => {}
                }
            }
        }
        assert!(files.len() > 10 && changes > 10, "{changes} changes of {} files", files.len());
    }

    #[test]
    fn blocks_are_files_changes_and_commands() {
        let page = "\n## A\n\n`a/b.rs`:\n\n```rust\nfn a() {}\n## C\n```\n\n```diff\n fn\n```\n\nIt prints:\n\n<!-- run by x -->\n```sh\nls\n```\n\n```text\nb.rs\n```\n\n## B\n```sh\n```\n";
        let expected = [
            Block::File("a/b.rs", "fn a() {}\n## C\n".into()),
            Block::Change("a/b.rs", vec![" fn"]),
            Block::Commands("ls\n".into(), Some("b.rs\n".into())),
        ];
        assert_eq!(blocks(&part(page, "## A").unwrap()).unwrap(), expected);
        assert_eq!(part("Text.\n\n## A\nMore.\n", "").unwrap(), ["Text.", ""]);
        assert!(part(page, "## C").is_err());
        assert!(blocks(&["Text.", "```rust", "```"]).is_err(), "of no file");
    }

    #[test]
    fn the_copy_has_the_files_of_git() {
        let copy = tempfile::tempdir().unwrap();
        let error = copy_workspace(copy.path(), copy.path()).unwrap_err().to_string();
        assert!(error.contains("git ls-files"), "{error}");
        let root = Paths::find().unwrap().root().to_owned();
        copy_workspace(&root, copy.path()).unwrap();
        assert!(copy.path().join("xtask/src/main.rs").is_file() && !copy.path().join("target").exists());
    }

    #[test]
    fn a_change_has_one_place() {
        let text = "a\nb\n\nc\nb\n";
        assert_eq!(changed("f", text, &[" a", "-b", "+d", "", "+e"]).unwrap(), "a\nd\n\ne\nc\nb\n");
        for wrong in [&[" b", "+d"][..], &[" x"], &["+x"], &[" a", " c"]] {
            assert!(changed("f", text, wrong).is_err(), "{wrong:?}");
        }
    }
}
