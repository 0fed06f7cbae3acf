//! Generates Rust from the calls and the prototypes: the MPI functions that the shim calls, its exports, and
//! the arguments of handlers.

use crate::calls::{Section, Treatment};
use crate::functions::{self, Function};

/// Rows for the macro in `src/mpi/sys.rs`. Functions that are not wrapped, are [harmless](HARMLESS), and take
/// handles, numbers, and places of single results or statuses alone, are safe, with references for these
/// places.
pub(crate) fn functions(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let wrapped: Vec<_> = forms(sections, functions).map(|form| form.name).collect();
    let row = |function: &Function<'_>| {
        let Function { name, .. } = function;
        match safe(function).filter(|_| !wrapped.contains(name)) {
            Some(arguments) => format!("PMPI_{name} ({arguments});\n"),
            None => format!("[unsafe] PMPI_{name} ({});\n", declared(function)),
        }
    };
    format!("functions! {{\n{}}}\n", functions.iter().map(row).collect::<String>())
}

/// Parts of the names of functions that neither free nor complete anything.
const HARMLESS: [&str; 18] = [
    "_get_",
    "Get_",
    "_size",
    "_rank",
    "_group",
    "_test_",
    "Test_",
    "Query_",
    "Initialized",
    "Finalized",
    "Status_set_",
    "_dup",
    "_contiguous",
    "_set_errhandler",
    "_call_errhandler",
    "Add_error_code",
    "Error_class",
    "Abort",
];

/// The arguments of a safe function; `None` if it may not be harmless, or some may be an array, a text, a buffer
/// or a callback.
fn safe(function: &Function<'_>) -> Option<String> {
    if !HARMLESS.iter().any(|part| function.name.contains(part)) {
        return None;
    }
    let argument = |(name, ty): &(&str, String)| {
        let of = ty.strip_prefix("*mut ").map(|of| ("&mut ", of));
        let (reference, of) = of.or(ty.strip_prefix("*const ").map(|of| ("&", of))).unwrap_or(("", ty));
        let is_one = !of.starts_with('*') && of != "c_char" && of != "c_void" && !of.ends_with("_function");
        let is_array = name.starts_with("array_of_") || name.starts_with("ranks");
        (is_one && !is_array).then(|| format!("{name}: {reference}{of}"))
    };
    Some(function.arguments.iter().map(argument).collect::<Option<Vec<_>>>()?.join(", "))
}

/// The content of `mpi::open`: other names for the same functions, and one for both forms of a call.
pub(crate) fn open(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let name =
        |form: &Function<'_>| format!("pub(crate) use crate::mpi::sys::PMPI_{0} as MPI_{0};\n", form.name);
    let both = |(form, counts): (&Function<'_>, Vec<&str>)| {
        let list = |each: fn(&str) -> String| counts.iter().map(|count| each(count)).collect::<String>();
        format!(
            "pub(crate) unsafe fn MPI_{name}_any({declared}) -> c_int {{
    // SAFETY: the caller gives what the MPI function asks for.
    unsafe {{
        match ({tried}) {{
            ({fit}) => MPI_{name}({names}),
            _ => MPI_{name}_c({names}),
        }}
    }}
}}
",
            name = form.name.trim_end_matches("_c"),
            declared = declared(form),
            names = names(form),
            tried = list(|count| format!("c_int::try_from({count}),")),
            fit = list(|count| format!("Ok({count}),")),
        )
    };
    let names: String = forms(sections, functions).map(name).collect();
    names + &large(sections, functions).map(both).collect::<String>()
}

/// The large-count forms that differ from the other form in the types of some counts alone, with these
/// counts.
fn large<'a>(
    sections: &'a [Section<'_>],
    functions: &'a [Function<'a>],
) -> impl Iterator<Item = (&'a Function<'a>, Vec<&'a str>)> {
    let calls = sections.iter().flat_map(|section| &section.calls);
    calls.filter_map(|call| {
        let [int, large] = functions::forms(functions, call)[..] else { return None };
        let differ = int.arguments.iter().zip(&large.arguments).filter(|(int, large)| int != large);
        let count = |(int, large): (&(&str, String), &'a (&'a str, String))| {
            (int.1 == "c_int" && large.1 == "MPI_Count").then_some(large.0)
        };
        Some((large, differ.map(count).collect::<Option<_>>()?))
    })
}

/// The content of `mpi::real`.
pub(crate) fn real(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let function = |name: &str, form: &Function<'_>| {
        format!(
            "pub(crate) unsafe fn MPI_{name}({declared}) -> c_int {{
    // SAFETY: the caller gives what the MPI function asks for.
    inside(|| unsafe {{ super::open::MPI_{name}({names}) }})
}}
",
            declared = declared(form),
            names = names(form),
        )
    };
    let each: String = forms(sections, functions).map(|form| function(form.name, form)).collect();
    let any =
        |(form, _): (&Function<'_>, _)| function(&format!("{}_any", form.name.trim_end_matches("_c")), form);
    each + &large(sections, functions).map(any).collect::<String>()
}

/// A struct for the arguments of each call that has a handler, for all of its forms. Calls with the same
/// arguments share a struct.
pub(crate) fn arguments(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let mut known: Vec<(String, &str)> = Vec::new();
    let mut text = String::new();
    let is_handled = |section: &&Section<'_>| section.treatment.is_handled();
    let handled = sections.iter().filter(is_handled);
    for &call in handled.flat_map(|section| &section.calls) {
        let forms = functions::forms(functions, call);
        let field = |(at, (name, _)): (usize, &(&str, String))| match place(name, common_type(&forms, at)) {
            Some(of) => format!("    pub(crate) {name}: Out<{of}>,\n"),
            None => format!("    pub(crate) {name}: {},\n", common_type(&forms, at)),
        };
        let fields: String = forms[0].arguments.iter().enumerate().map(field).collect();
        if let Some((_, first)) = known.iter().find(|(others, _)| *others == fields) {
            text += &format!("pub(crate) type {call} = {first};\n");
        } else {
            text += &format!("/// Of `MPI_{call}`.\npub(crate) struct {call} {{\n{fields}}}\n");
            known.push((fields, call));
        }
    }
    text
}

/// The calls that have handlers, for users of a layer.
pub(crate) fn calls(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let mut text = String::new();
    for section in sections.iter().filter(|section| section.treatment.is_handled()) {
        for call in &section.calls {
            let forms = functions::forms(functions, call);
            for form in &forms {
                text += &format!(
                    "/// `MPI_{name}`, made with this layer; without one by the MPI alone.
///
/// # Safety
/// As for `MPI_{name}`. A request or matched message of a layer must be completed with the same layer.
pub unsafe fn MPI_{name}(layer: Option<&Shim>, {declared}) -> c_int {{
{pass}    let Some(shim) = layer else {{ return pass({given}) }};
{handled}}}
",
                    name = form.name,
                    declared = declared(form),
                    pass = pass(section.treatment, form),
                    given = given(section.treatment, form),
                    handled = handled(&forms, form),
                );
            }
        }
    }
    text
}

/// The exported functions, to which the preload library redirects the program's calls.
pub(crate) fn exports(sections: &[Section<'_>], functions: &[Function<'_>]) -> String {
    let (mut calls, mut sorts, mut text) = (0, 0, String::new());
    for section in sections {
        for call in &section.calls {
            let forms = functions::forms(functions, call);
            for form in &forms {
                let body = measured(form, calls) + &body(section.treatment, form, sorts);
                text += &export(form, &body);
            }
            calls += 1;
        }
        sorts += usize::from(section.treatment == Treatment::Passed);
    }
    text
}

/// Measures a call, with what it is about: a communicator and a peer, or requests.
fn measured(form: &Function<'_>, call: usize) -> String {
    let has = |name: &str, kind: &str| form.arguments.iter().any(|(known, of)| *known == name && of == kind);
    let has_request = has("request", "*mut MPI_Request");
    let waits = ["Wait", "Test", "Start", "Request_free"].iter().any(|prefix| form.name.starts_with(prefix));
    let about = if has("comm", "MPI_Comm") {
        // A collective has no peer, but its request is waited for.
        let none = if has_request { "ANY_SOURCE" } else { "PROC_NULL" };
        let peer = ["source", "dest"].into_iter().find(|name| has(name, "c_int")).unwrap_or(none);
        match has_request {
            true => format!("About::starting(comm, {peer}, unsafe {{ Out::new(request) }})"),
            false => format!("About::with(comm, {peer})"),
        }
    } else if waits && has("array_of_requests", "*mut MPI_Request") {
        format!("unsafe {{ About::requests({}, array_of_requests) }}", form.arguments[0].0)
    } else if waits && has_request {
        "unsafe { About::requests(1, request) }".to_owned()
    } else {
        "About::Nothing".to_owned()
    };
    let safety = if about.contains("unsafe") { "    // SAFETY: the caller's own requests.\n" } else { "" };
    format!("{safety}    let _measured = profile::in_call({call}, || {about});\n")
}

fn export(form: &Function<'_>, body: &str) -> String {
    format!(
        "#[unsafe(export_name = \"mpress_MPI_{name}\")]
unsafe extern \"C-unwind\" fn MPI_{name}({declared}) -> c_int {{
{body}}}
",
        name = form.name,
        declared = declared(form),
    )
}

/// The calls that end a communicator.
const FREEING: [&str; 2] = ["Comm_free", "Comm_disconnect"];

/// The body of an export. `sort`: the category of a call that is counted.
fn body(treatment: Treatment, form: &Function<'_>, sort: usize) -> String {
    let pass = pass(treatment, form);
    let made = |call: String| match makes_a_request(form) {
        true => format!(
            "    let code = {call};\n    // SAFETY: the caller's own place for the request.\n    made(code, unsafe {{ Out::new(request) }})\n"
        ),
        false => format!("    {call}\n"),
    };
    match treatment {
        Treatment::Starting => {
            pass + "    if nested() {\n        return pass();\n    }\n    starting(pass)\n"
        }
        Treatment::Advancing if FREEING.contains(&form.name) => {
            pass + "    active();\n    // SAFETY: the caller's own argument.\n    freeing(unsafe { Out::new(comm) }, pass)\n"
        }
        Treatment::Advancing => pass + "    active();\n" + &made("pass()".to_owned()),
        Treatment::Passed => {
            pass + &format!("    if active().is_some() {{\n        uncompressed::count({sort});\n    }}\n")
                + &made("pass()".to_owned())
        }
        Treatment::Committing => {
            pass + "    // SAFETY: the caller's own argument.\n    committing(unsafe { Out::new(datatype) }, pass)\n"
        }
        Treatment::Living if form.name.ends_with("_init") => {
            pass + "    if nested() { pass() } else { session_beginning(pass) }\n"
        }
        Treatment::Living => {
            pass + "    active();\n    if nested() { pass() } else { session_ending(pass) }\n"
        }
        Treatment::Handled => {
            "    // SAFETY: the arguments are the caller's own, for the function it meant to call.\n"
                .to_owned()
                + &made(format!("unsafe {{ calls::MPI_{}(active(), {}) }}", form.name, names(form)))
        }
    }
}

/// Whether the MPI makes a request in this call: it is the last argument, after those of the operation. Calls
/// that use one have it first.
fn makes_a_request(form: &Function<'_>) -> bool {
    matches!(&*form.arguments, [_, .., ("request", of)] if of == "*mut MPI_Request")
}

/// Passes a call on unchanged.
fn pass(treatment: Treatment, form: &Function<'_>) -> String {
    let module = if treatment == Treatment::Starting { "real" } else { "open" };
    format!(
        "    let pass = |{}| {{
        // SAFETY: the arguments are the caller's own, for the function it meant to call.
        unsafe {{ {module}::MPI_{}({}) }}
    }};
",
        given(treatment, form),
        form.name,
        names(form)
    )
}

/// The argument that a handler may replace: an info.
fn given(treatment: Treatment, form: &Function<'_>) -> &'static str {
    let may = treatment.is_handled() && form.arguments.iter().any(|(name, _)| *name == "info");
    if may { "info" } else { "" }
}

/// Passes a call to its handler.
fn handled(forms: &[&Function<'_>], form: &Function<'_>) -> String {
    let field = |(at, (name, ty)): (usize, &(&str, String))| {
        let is_common = common_type(forms, at) == *ty;
        if place(name, ty).is_some() && is_common {
            return format!("{name}: Out::new({name})");
        }
        let constant = if ty.starts_with("*mut") { ".cast_const()" } else { "" };
        if is_common { (*name).to_owned() } else { format!("{name}: {name}{constant}.into()") }
    };
    let call = forms[0].name;
    format!(
        "    // SAFETY: handlers ask of their arguments what the MPI function asks of them.
    unsafe {{ handlers::{}(shim, arguments::{call} {{ {} }}, pass) }}
",
        call.to_lowercase(),
        form.arguments.iter().enumerate().map(field).collect::<Vec<_>>().join(", "),
    )
}

/// What is at the place that an argument is, if it is one for a single value.
fn place<'a>(name: &str, ty: &'a str) -> Option<&'a str> {
    let of = ty.strip_prefix("*mut ").filter(|of| *of == "c_int" || of.starts_with("MPI_"));
    of.filter(|_| !name.starts_with("array_of_"))
}

/// The type of an argument for the handler, which all forms of a call share.
///
/// # Panics
/// If there is none.
fn common_type<'a>(forms: &[&'a Function<'_>], at: usize) -> &'a str {
    let mut types = forms.iter().map(|form| form.arguments[at].1.as_str());
    match (types.next(), types.next()) {
        (Some(one), None) => one,
        (Some(int), Some(large)) if int == large => int,
        (Some("c_int"), Some("MPI_Count")) => "MPI_Count",
        (Some("*const c_int"), Some("*const MPI_Count" | "*const MPI_Aint")) => "Numbers",
        (Some("*mut c_int"), Some("*mut MPI_Count")) => "Numbers",
        other => panic!("MPI_{}, argument {at}: no type for {other:?}", forms[0].name),
    }
}

/// All functions of the list, including large-count forms.
fn forms<'a>(
    sections: &'a [Section<'_>],
    functions: &'a [Function<'a>],
) -> impl Iterator<Item = &'a Function<'a>> {
    let calls = sections.iter().flat_map(|section| &section.calls);
    calls.flat_map(|call| functions::forms(functions, call))
}

/// The arguments as in a declaration.
fn declared(function: &Function<'_>) -> String {
    function.arguments.iter().map(|(name, ty)| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
}

/// The arguments as in a call.
fn names(function: &Function<'_>) -> String {
    function.arguments.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
