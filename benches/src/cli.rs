//! The common part of these programs: argument parsing, error messages and exit status.

use crate::Result;
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// Parses the arguments and runs `work`. Any error is printed as one line on standard error, with a nonzero exit status.
pub fn run<A: Parser + CommandFactory>(work: impl FnOnce(A) -> Result<()>) -> ExitCode {
    let name = A::command().get_name().to_owned();
    let line = match A::try_parse() {
        Ok(args) => match work(args) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error.to_string(),
        },
        Err(help) if !help.use_stderr() => {
            // A failure to print cannot be reported either.
            let _unwritten: std::io::Result<()> = help.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => first_paragraph(&error.to_string()),
    };
    eprintln!("{name}: {line}");
    ExitCode::FAILURE
}

/// clap's error message, without its hints about help.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    line.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_arguments_are_one_line() {
        let error = "error: the following arguments were not provided:\n  <DIR>\n\nUsage: x\n";
        assert_eq!(first_paragraph(error), "the following arguments were not provided: <DIR>");
    }
}
