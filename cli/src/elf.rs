//! The libraries that an executable needs: as listed in its file, and as its own loader resolves them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};

/// The relevant contents of an executable.
#[derive(Debug)]
pub(crate) struct Elf {
    /// The names of the libraries that it is linked to directly.
    pub(crate) needed: Vec<String>,
    /// Its loader, if it is linked dynamically.
    interpreter: Option<PathBuf>,
}

impl Elf {
    /// `None` if the file is not a 64-bit ELF file, such as a script.
    pub(crate) fn read(program: &Path) -> Option<Self> {
        // Reads only the needed parts: some executables are large, and all ranks start at once.
        let cache = ReadCache::new(File::open(program).ok()?);
        let header = FileHeader64::<Endianness>::parse(&cache).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, &cache).ok()?;
        let interpreter = segments.iter().find_map(|segment| segment.interpreter(endian, &cache).ok()?);
        let interpreter = interpreter.and_then(|path| Some(PathBuf::from(std::str::from_utf8(path).ok()?)));

        let dynamic = header.sections(endian, &cache).ok()?.dynamic_table(endian, &cache).ok()?;
        let libraries = dynamic.iter().filter(|entry| entry.tag == DT_NEEDED);
        let needed = libraries.filter_map(|entry| dynamic.string(entry).ok());
        let needed = needed.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        Some(Self { needed, interpreter })
    }

    /// Whether no loader loads libraries into it, so that none can be preloaded.
    pub(crate) fn is_static(&self) -> bool {
        self.interpreter.is_none()
    }

    /// The names of all libraries that it loads, including indirect ones.
    pub(crate) fn all_libraries(&self, program: &Path) -> Vec<String> {
        self.library_files(program).into_iter().map(|(name, _)| name).collect()
    }

    /// The same with the files that are found, or the name if none is found.
    ///
    /// Asks the program's own loader, which knows the search paths. It only lists libraries and runs no code of the
    /// program.
    pub(crate) fn library_files(&self, program: &Path) -> Vec<(String, PathBuf)> {
        let Some(interpreter) = self.interpreter.as_ref().filter(|path| path.is_absolute()) else {
            return Vec::new();
        };
        let mut loader = Command::new(interpreter);
        loader.arg("--list").arg(program).env_remove("LD_PRELOAD").stdin(Stdio::null()).stderr(Stdio::null());
        let output = loader.output().map(|output| output.stdout).unwrap_or_default();
        listed(&String::from_utf8_lossy(&output))
    }
}

/// Names and files in lines such as `libm.so.6 => /lib/libm.so.6 (0x7f...)`.
fn listed(text: &str) -> Vec<(String, PathBuf)> {
    let of_line = |line: &str| {
        let (first, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let name = first.rsplit('/').next().unwrap_or(first).to_owned();
        let file =
            rest.strip_prefix("=> ").and_then(|rest| rest.rsplit_once(" (")).map_or(first, |(file, _)| file);
        (!name.is_empty()).then(|| (name, PathBuf::from(file)))
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_needs_libc() {
        let this = std::env::current_exe().unwrap();
        let elf = Elf::read(&this).unwrap();
        assert!(elf.needed.iter().any(|name| name.starts_with("libc.so")), "{elf:?}");
        assert!(elf.all_libraries(&this).iter().any(|name| name.starts_with("libc.so")));
    }

    #[test]
    fn other_files_are_none() {
        assert!(Elf::read(Path::new("/etc/passwd")).is_none());
        assert!(Elf::read(Path::new("/no/such/file")).is_none());
        assert!(Elf::read(Path::new("/tmp")).is_none());
    }

    #[test]
    fn the_loaders_list_is_read() {
        let text = "\tlinux-vdso.so.1 (0x7ffd)\n\tlibmpi.so.40 => /lib/libmpi.so.40 (0x7f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n\tlibgone.so.1 => not found\n";
        let names = ["linux-vdso.so.1", "libmpi.so.40", "ld-linux-x86-64.so.2", "libgone.so.1"];
        let listed = listed(text);
        assert_eq!(listed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
        assert_eq!(listed[1].1, Path::new("/lib/libmpi.so.40"));
    }
}
