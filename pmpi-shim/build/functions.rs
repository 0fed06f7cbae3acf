//! Parses the prototypes of MPI's functions, `src/functions.txt`, into Rust. For the builds of the shims and
//! of the preload library.

/// A function of MPI. All of them return an error code.
pub(crate) struct Function<'a> {
    /// The name without `MPI_`.
    pub(crate) name: &'a str,
    /// Names, and Rust types.
    pub(crate) arguments: Vec<(&'a str, String)>,
}

/// All functions, in the order of the text.
///
/// # Panics
/// If a line is not a prototype; the message has the line.
pub(crate) fn parse(text: &str) -> Vec<Function<'_>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| prototype(line).unwrap_or_else(|| panic!("not a prototype: {line}"))).collect()
}

/// The functions of a call: itself and its large-count form, as far as they exist.
///
/// # Panics
/// If the call has no prototype.
pub(crate) fn forms<'a>(functions: &'a [Function<'a>], call: &str) -> Vec<&'a Function<'a>> {
    let is_form = |name: &str| name == call || name.strip_suffix("_c") == Some(call);
    let forms: Vec<_> = functions.iter().filter(|function| is_form(function.name)).collect();
    assert!(!forms.is_empty(), "MPI_{call} has no prototype");
    forms
}

fn prototype(line: &str) -> Option<Function<'_>> {
    let (name, rest) = line.strip_prefix("int MPI_")?.split_once('(')?;
    let arguments = rest.strip_suffix(");")?;
    let arguments = match arguments {
        "void" => Vec::new(),
        list => list.split(',').map(argument).collect::<Option<_>>()?,
    };
    Some(Function { name, arguments })
}

/// Parses for example `const int counts[]`: a name, with the type before and after it.
fn argument(text: &str) -> Option<(&str, String)> {
    let text = text.trim();
    let (text, is_array) = text.strip_suffix("[]").map_or((text, false), |text| (text, true));
    let start = text.rfind([' ', '*'])? + 1;
    let (before, name) = text.split_at(start);
    let pointers = before.matches('*').count() + usize::from(is_array);
    let is_const = before.starts_with("const ");
    let base = before.trim_start_matches("const ").trim_end_matches([' ', '*']);
    if base.ends_with("_function") {
        return Some((name, base.to_owned())); // a pointer in C, an `Option` in Rust
    }
    let base = match base {
        "int" => "c_int",
        "char" => "c_char",
        "void" => "c_void",
        other => other,
    };
    let innermost = match (pointers, is_const) {
        (0, _) => return Some((name, base.to_owned())),
        (_, true) => "*const ",
        (_, false) => "*mut ",
    };
    Some((name, "*mut ".repeat(pointers - 1) + innermost + base))
}
