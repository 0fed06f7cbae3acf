//! Toolchain: the libraries that the compiler in use has for a target.

use std::fs;
use std::process::Command;

use crate::paths::Paths;

/// The file names of the libraries for this target; empty if the target is not installed.
pub(crate) fn libraries(paths: &Paths, target: &str) -> Vec<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.current_dir(paths.root()).args(["--print", "target-libdir", "--target", target]);
    let Ok(output) = rustc.output() else { return Vec::new() };
    let dir = String::from_utf8_lossy(&output.stdout);
    let files = fs::read_dir(dir.trim()).into_iter().flatten().flatten();
    files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether code that needs only `core` can be compiled for this target.
pub(crate) fn has_core(paths: &Paths, target: &str) -> bool {
    libraries(paths, target).iter().any(|name| name.starts_with("libcore-") && name.ends_with(".rlib"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_known() {
        let paths = Paths::find().unwrap();
        assert!(has_core(&paths, &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)));
        assert!(!has_core(&paths, "no-such-target"));
    }
}
