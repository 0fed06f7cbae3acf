//! `mpress manual`: man pages and shell completions, for packagers. Hidden from the help, because users get the files.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Write man pages and shell completions, laid out as below a prefix such as /usr/local
#[derive(Args)]
pub(crate) struct Options {
    /// The prefix
    #[arg(long, value_name = "DIR")]
    prefix: PathBuf,
}

/// Why the files are not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub(crate) struct Error {
    path: PathBuf,
    source: std::io::Error,
}

/// The folder below a prefix in which each shell looks for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/mpress"),
    (Shell::Zsh, "share/zsh/site-functions/_mpress"),
    (Shell::Fish, "share/fish/vendor_completions.d/mpress.fish"),
];

/// Writes the files for this command line.
pub(crate) fn run<C: CommandFactory>(options: &Options) -> Result<(), Error> {
    let man = options.prefix.join("share/man/man1");
    let failed = |path: &Path, source| Error { path: path.to_owned(), source };
    fs::create_dir_all(&man).map_err(|source| failed(&man, source))?;
    clap_mangen::generate_to(visible::<C>(), &man).map_err(|source| failed(&man, source))?;
    for (shell, name) in COMPLETIONS {
        let file = options.prefix.join(name);
        if let Some(dir) = file.parent() {
            fs::create_dir_all(dir).map_err(|source| failed(dir, source))?;
        }
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut visible::<C>(), "mpress", &mut text);
        fs::write(&file, text).map_err(|source| failed(&file, source))?;
    }
    Ok(())
}

/// The command line without hidden parts. There is no page about `help`, which would be empty.
fn visible<C: CommandFactory>() -> clap::Command {
    let all = C::command();
    let shown: Vec<_> = all.get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
    let mut command = clap::Command::new("mpress").subcommands(shown).disable_help_subcommand(true);
    if let Some(about) = all.get_about() {
        command = command.about(about.clone());
    }
    if let Some(about) = all.get_long_about() {
        command = command.long_about(about.clone());
    }
    command.version(env!("CARGO_PKG_VERSION"))
}
