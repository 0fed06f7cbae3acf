//! Reads the table of calls, `src/calls.txt`: for the build, and for the tests that compare it with the documentation and with what the
//! shim exports.

/// When the shim handles the calls of a section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Also while it is not active.
    Always,
    /// While it is active.
    Active,
    /// Never: they are passed on, and counted.
    Passed,
}

/// Calls of which the same becomes.
pub(crate) struct Section<'a> {
    pub(crate) when: When,
    pub(crate) name: &'a str,
    /// What becomes of them, for the documentation.
    pub(crate) what: &'a str,
    pub(crate) calls: Vec<Call<'a>>,
}

/// A call, without `MPI_`.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Vec<&'a str>,
    /// Lines of Rust.
    pub(crate) handler: Vec<&'a str>,
}

/// The sections of the table, in its order.
///
/// # Panics
/// Where the text is not as its head says; the message has the line.
pub(crate) fn parse(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((title, what)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            let (when, name) = match title.split_once(": ") {
                Some(("always", name)) => (When::Always, name),
                Some(("passed", name)) => (When::Passed, name),
                Some(_) => panic!("a section of an unknown sort: {line}"),
                None => (When::Active, title),
            };
            sections.push(Section { when, name, what: what.trim(), calls: Vec::new() });
            continue;
        }
        let section = sections.last_mut().unwrap_or_else(|| panic!("in no section: {line}"));
        let mut words = line.split_whitespace();
        if section.when == When::Passed {
            let plain = |name| Call { name, arguments: Vec::new(), handler: Vec::new() };
            section.calls.extend(words.map(plain));
        } else if line.starts_with(' ') {
            let call = section.calls.last_mut().unwrap_or_else(|| panic!("of no call: {line}"));
            call.handler.push(line.trim());
        } else if let Some(name) = words.next() {
            section.calls.push(Call { name, arguments: words.collect(), handler: Vec::new() });
        }
    }
    sections
}
