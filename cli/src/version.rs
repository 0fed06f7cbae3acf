//! The text of `mpress --version`: the version, the commit it was built from, and the codecs of this build.

use std::sync::LazyLock;

/// The commit, if the build sets it: `cargo xtask build` and `cargo xtask dist` set this variable.
const COMMIT: Option<&str> = option_env!("MPRESS_COMMIT");

/// The lines after the name of the command.
pub(crate) fn long() -> &'static str {
    static LINES: LazyLock<String> = LazyLock::new(lines);
    &LINES
}

fn lines() -> String {
    let codecs: Vec<_> = mpress::Codec::all().map(|codec| codec.name()).collect();
    let commit = COMMIT.filter(|commit| !commit.is_empty()).unwrap_or("unknown");
    format!("{}\ncommit: {commit}\ncodecs: {}", env!("CARGO_PKG_VERSION"), codecs.join(" "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_says_what_is_in_this_build() {
        let text = super::lines();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], env!("CARGO_PKG_VERSION"));
        assert!(lines[1].starts_with("commit: "), "{text}");
        for codec in ["diffpack-fast", "dfcm", "lzo", "zstd"] {
            assert!(lines[2].split(' ').any(|word| word == codec), "{text}");
        }
    }
}
