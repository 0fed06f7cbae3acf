//! What mpress says on stderr: whether it worked, and how many messages it compressed.

/// The number of compressed messages in the report; 0 if there is no report.
pub(crate) fn compressed(stderr: &str) -> u64 {
    let line = stderr.lines().find(|line| line.contains(" messages compressed over "));
    line.and_then(|line| line.rsplit("mpress: ").next()?.split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// The line that says why mpress does nothing in this job.
pub(crate) fn idle(stderr: &str) -> Option<&str> {
    stderr.lines().find(|line| line.contains("mpress: ") && line.ends_with("pass through uncompressed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_found_among_what_a_program_writes() {
        let line = "OK (skipped=69)\n..mpress: 12 of 90 messages compressed over 2 ranks: 3 kB raw\n";
        assert_eq!(compressed(line), 12);
        assert_eq!(compressed("mpress: 0 of 24 messages compressed over 4 ranks\n"), 0);
        assert_eq!(compressed("OK (skipped=69)\n"), 0);
    }

    #[test]
    fn mpress_says_that_it_does_nothing() {
        let line = "mpress: no shim for this MPI; messages pass through uncompressed";
        assert_eq!(idle(&format!("x\n{line}\n")), Some(line));
        assert_eq!(idle("mpress: 24 of 24 messages compressed over 2 ranks\n"), None);
    }
}
