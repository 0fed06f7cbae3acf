//! The names of settings, and of other variables with the prefix `MPRESS_`.

/// The keys of settings, as in a file. Variables have them in capitals after [`PREFIX`].
pub(super) const KEYS: [&str; 21] = [
    "strategy",
    "heuristics",
    "links",
    "guide",
    "threshold",
    "report",
    "report_file",
    "same_node",
    "threads",
    "streams",
    "memory",
    "reduce",
    "clock",
    "predict",
    "predict_memory",
    "trace",
    "record",
    "record_limit",
    "patience",
    "disable",
    "dump_config",
];

/// The settings that are on or off; in a file they may be booleans.
pub(super) const FLAGS: [&str; 2] = ["disable", "dump_config"];

pub(super) const PREFIX: &str = "MPRESS_";

/// The variable with the name of the settings file.
pub(super) const CONFIG: &str = "MPRESS_CONFIG";

/// The variable with the folder of the libraries, which the command reads.
const LIBDIR: &str = "MPRESS_LIBDIR";

/// Variables that builds and tests of the project read; also those whose names begin with [`TEST`].
const PROJECT: [&str; 6] = [
    "MPRESS_COMMIT",
    "MPRESS_DATATYPES",
    "MPRESS_RANDOM_PROGRAMS",
    "MPRESS_RANDOM_SEED",
    "MPRESS_REQUIRE_SIMD",
    "MPRESS_WRITE_GOLDEN",
];
const TEST: &str = "MPRESS_TEST_";

/// The environment variable of a setting.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase())
}

/// Whether something else reads a variable that is not a setting.
pub(super) fn is_read_elsewhere(name: &str) -> bool {
    [CONFIG, LIBDIR].contains(&name) || PROJECT.contains(&name) || name.starts_with(TEST)
}

/// An unknown variable, with the one that it was most likely meant to be: at most a third of the letters after the prefix differ.
pub(super) fn described(name: &str) -> String {
    let own = name.strip_prefix(PREFIX).unwrap_or(name);
    let known = KEYS.into_iter().map(variable).chain([CONFIG, LIBDIR].map(str::to_owned));
    let nearest = known.map(|known| (strsim::osa_distance(own, &known[PREFIX.len()..]), known)).min();
    match nearest {
        Some((distance, known)) if 3 * distance <= own.len() => format!("{name} (did you mean {known}?)"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules_of_clusters_are_like_no_setting() {
        for name in ["ROOT", "HOME", "DIR", "VERSION", "LIB", "BIN", "INC", "PREFIX", "BASE", ""] {
            assert_eq!(described(&format!("{PREFIX}{name}")), format!("{PREFIX}{name}"));
        }
        for (name, meant) in
            [("REPROT", "REPORT"), ("TREADS", "THREADS"), ("CONFIGS", "CONFIG"), ("LIB_DIR", "LIBDIR")]
        {
            assert!(described(&format!("{PREFIX}{name}")).ends_with(&format!("mean {PREFIX}{meant}?)")));
        }
    }
}
