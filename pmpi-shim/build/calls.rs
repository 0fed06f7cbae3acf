//! Parses the list of calls, `src/calls.txt`: for the builds, and for tests that compare it with the
//! documentation and with the shim's exports.

/// How the calls of a section are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Treatment {
    /// They are followed by the handshake.
    Starting,
    /// Each has its own handler.
    Handled,
    /// They are passed on, and what the program has begun is advanced before.
    Advancing,
    /// They are passed on, and counted.
    Passed,
    /// They are passed on, and may wake the shim.
    Committing,
    /// They are passed on, and begin or end something that the shim must outlive.
    Living,
}

impl Treatment {
    /// Whether each call has its own handler.
    pub(crate) fn is_handled(self) -> bool {
        self == Self::Handled
    }
}

/// A group of calls.
pub(crate) struct Section<'a> {
    pub(crate) treatment: Treatment,
    pub(crate) name: &'a str,
    /// How they are treated, for the documentation.
    pub(crate) what: &'a str,
    /// Their names, without `MPI_`.
    pub(crate) calls: Vec<&'a str>,
}

/// The sections of the list, in order.
///
/// # Panics
/// If the text does not have the format described at its head; the message has the line.
pub(crate) fn parse(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((title, what)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            let (treatment, name) = match title.split_once(": ") {
                Some(("starting", name)) => (Treatment::Starting, name),
                Some(("advancing", name)) => (Treatment::Advancing, name),
                Some(("passed", name)) => (Treatment::Passed, name),
                Some(("committing", name)) => (Treatment::Committing, name),
                Some(("living", name)) => (Treatment::Living, name),
                Some(_) => panic!("a section with an unknown prefix: {line}"),
                None => (Treatment::Handled, title),
            };
            sections.push(Section { treatment, name, what: what.trim(), calls: Vec::new() });
            continue;
        }
        let section = sections.last_mut().unwrap_or_else(|| panic!("in no section: {line}"));
        section.calls.extend(line.split_whitespace());
    }
    sections
}
