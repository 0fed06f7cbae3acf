//! Parses the constants of the three ABIs, `src/mpi/abi/constants.txt`: for the builds, and for the test that
//! compares them with `mpi.h`.

/// The ABIs, in the order of the columns.
const ABIS: [&str; 3] = ["openmpi", "mpich", "standard"];

/// A constant, or a predefined datatype.
pub(crate) struct Constant<'a> {
    /// The type in C. For a predefined datatype the kind of its elements in Rust.
    pub(crate) ty: &'a str,
    /// The name without `MPI_`.
    pub(crate) name: &'a str,
    /// A number, `null`, or the name of a variable of the MPI.
    pub(crate) value: &'a str,
}

/// The constants of an ABI, in the order of the text.
///
/// # Panics
/// If there is no such ABI, or a line has too few or too many words; the message has it.
pub(crate) fn parse<'a>(text: &'a str, abi: &str) -> Vec<Constant<'a>> {
    let column = ABIS.iter().position(|known| *known == abi).unwrap_or_else(|| panic!("no ABI: {abi}"));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let constant = |line: &'a str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [ty, name, ref values @ ..] if values.len() == ABIS.len() => {
            Constant { ty, name, value: values[column] }
        }
        _ => panic!("not a constant: {line}"),
    };
    lines.map(constant).collect()
}

/// Rust for `src/mpi/abi/types.rs`.
pub(crate) fn rust(constants: &[Constant<'_>]) -> String {
    let (mut text, mut predefined) = (String::new(), String::new());
    for constant in constants {
        let Constant { ty, name, .. } = constant;
        let value = value(constant);
        if ty.starts_with("Kind::") {
            predefined += &format!("    ({value}, {ty}), // MPI_{name}\n");
        } else {
            text += &format!("pub const {name}: {} = {value};\n", type_in_rust(ty));
        }
    }
    text + "pub const PREDEFINED: &[(MPI_Datatype, Kind)] = &[\n" + &predefined + "];\n"
}

fn type_in_rust(ty: &str) -> String {
    match ty.strip_suffix('*') {
        None if ty == "int" => "c_int".to_owned(),
        None => ty.to_owned(),
        Some("void") => "*mut c_void".to_owned(),
        Some(ty) => format!("*mut {ty}"),
    }
}

fn value(constant: &Constant<'_>) -> String {
    match (constant.ty, constant.value) {
        ("int", number) => number.to_owned(),
        (_, "null") => "ptr::null_mut()".to_owned(),
        (ty, address) if ty.ends_with('*') => format!("ptr::without_provenance_mut({address})"),
        (_, number) if number.starts_with("0x") => format!("handle({number})"),
        (_, variable) => format!("handle!({variable})"),
    }
}
