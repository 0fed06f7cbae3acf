//! The Debian package: the tree below /usr, packed by dpkg-deb.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{VERSION, epoch, filled, glibc};
use crate::build;
use crate::error::Error;
use crate::paths::{Paths, copied, write};
use crate::step::{self, output};

/// The Debian revision, which counts from 1.
const REVISION: u32 = 1;

/// The system libraries that binaries may need, and the packages that contain them.
const LIBRARIES: [(&str, &str); 1] = [("libgcc_s.so.1", "libgcc-s1")];
/// The system libraries that libc6 contains.
const OF_LIBC: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"];
/// A library that the program has loaded before it loads a shim; a system without this MPI does not load that shim.
const OF_THE_PROGRAM: &str = "libmpi.so.40";

/// The mail address of the package's maintainer.
const MAIL: &str = "mpress-hpc@users.noreply.github.com";

/// The architecture of the package, by Debian's name.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Packs the Debian package.
pub(super) fn pack(paths: &Paths, tree: &Path, out: &Path) -> Result<PathBuf, Error> {
    let root = out.join("deb");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(Error::file(&root))?;
    }
    let usr = root.join("usr");
    let mut binaries = vec![copied(&tree.join("bin/mpress"), usr.join("bin/mpress"))?];
    // Other programs do not link these libraries, so they belong in a private folder.
    for library in build::shims().chain([build::PRELOAD.to_owned()]) {
        binaries.push(copied(&tree.join("lib").join(&library), usr.join("lib/mpress").join(&library))?);
    }
    let share =
        |path: &str, place: &str| copied(&tree.join("share").join(path), usr.join("share").join(place));
    share("bash-completion/completions/mpress", "bash-completion/completions/mpress")?;
    share("zsh/site-functions/_mpress", "zsh/vendor-completions/_mpress")?;
    share("fish/vendor_completions.d/mpress.fish", "fish/vendor_completions.d/mpress.fish")?;
    share("doc/mpress/third-party.txt", "doc/mpress/third-party.txt")?;
    let mut packed = Vec::new();
    let manual = tree.join("share/man/man1");
    for page in fs::read_dir(&manual).map_err(Error::file(&manual))? {
        let page = page.map_err(Error::file(&manual))?;
        packed.push(copied(&page.path(), usr.join("share/man/man1").join(page.file_name()))?);
    }

    let doc = usr.join("share/doc/mpress");
    let mit = fs::read_to_string(paths.root().join("LICENSE-MIT")).map_err(Error::file("LICENSE-MIT"))?;
    write(&doc.join("copyright"), copyright(&mit))?;
    let version = format!("{VERSION}-{REVISION}");
    let date = output(Command::new("date").args(["-R", "-u", "-d", &format!("@{}", epoch(paths))]))?;
    let maintainer = format!("The mpress developers <{MAIL}>");
    let changelog = format!(
        "mpress ({version}) unstable; urgency=medium\n\n  * Version {VERSION}; its changes are in the project's CHANGELOG.md.\n\n \
         -- {maintainer}  {}\n",
        date.trim()
    );
    write(&doc.join("changelog.Debian"), changelog)?;
    packed.push(doc.join("changelog.Debian"));
    step::run("gzip", Command::new("gzip").arg("-9n").args(&packed))?;

    let size = settled(&usr)?;
    let control = filled(include_str!("../../dist/deb/control"), &glibc::needed(&binaries)?)
        .replace("@REVISION@", &version)
        .replace("@ARCHITECTURE@", architecture())
        .replace("@MAINTAINER@", &maintainer)
        .replace("@LIBRARIES@", &libraries(&binaries)?)
        .replace("@SIZE@", &size.to_string());
    let sums = "find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum";
    let sums = output(Command::new("sh").args(["-e", "-c", sums]).current_dir(&root))?;
    write(&root.join("DEBIAN/control"), control)?;
    write(&root.join("DEBIAN/md5sums"), sums)?;
    settled(&root)?;

    let file = out.join(format!("mpress_{version}_{}.deb", architecture()));
    let mut dpkg = Command::new("dpkg-deb");
    // The fastest level; the highest level takes six times as long for a package that is a tenth smaller.
    dpkg.args(["--root-owner-group", "-Zxz", "-z1", "--build"]).arg(&root).arg(&file);
    step::run("Debian package", dpkg.env("SOURCE_DATE_EPOCH", epoch(paths).to_string()))?;
    fs::remove_dir_all(&root).map_err(Error::file(&root))?;
    Ok(file)
}

/// The packages that contain the libraries that these binaries need, except libc6.
fn libraries(binaries: &[PathBuf]) -> Result<String, Error> {
    let text = output(Command::new("readelf").arg("--dynamic").args(binaries))?;
    let mut packages = Vec::new();
    for line in text.lines().filter(|line| line.contains("(NEEDED)")) {
        let name = line.split(['[', ']']).nth(1).unwrap_or_default();
        match LIBRARIES.iter().find(|(library, _)| *library == name) {
            Some((_, package)) if packages.contains(package) => {}
            Some((_, package)) => packages.push(package),
            None if OF_LIBC.contains(&name) || name == OF_THE_PROGRAM => {}
            None => {
                let message = format!("no package of Debian is known for {name}: see LIBRARIES");
                return Err(Error::Program { run: "Debian package".to_owned(), message });
            }
        }
    }
    Ok(packages.into_iter().map(|package| format!(", {package}")).collect())
}

/// The licences in Debian's format.
fn copyright(mit: &str) -> String {
    let (years, text) = mit.split_once("Permission is").unwrap_or(("", mit));
    let holder = years.lines().find_map(|line| line.strip_prefix("Copyright (c) ")).unwrap_or_default();
    let mut licence = String::new();
    for line in format!("Permission is{text}").trim_end().lines() {
        licence += if line.is_empty() { " ." } else { " " };
        licence += line;
        licence.push('\n');
    }
    include_str!("../../dist/deb/copyright")
        .replace("@HOLDER@", holder)
        .replace("@MIT@", licence.trim_end())
        .replace("@REPOSITORY@", env!("CARGO_PKG_REPOSITORY"))
}

/// Sets the permissions of all files independently of the umask. Returns their size in KiB, as Debian counts it.
fn settled(path: &Path) -> Result<u64, Error> {
    let is_folder = path.is_dir();
    let mode = if is_folder || path.ends_with("bin/mpress") { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Error::file(path))?;
    if !is_folder {
        return Ok(fs::metadata(path).map_err(Error::file(path))?.len().div_ceil(1024));
    }
    let mut size = 1;
    for entry in fs::read_dir(path).map_err(Error::file(path))? {
        size += settled(&entry.map_err(Error::file(path))?.path())?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copyright_has_the_licence_indented() {
        let text = copyright(include_str!("../../../LICENSE-MIT"));
        assert!(text.contains("Copyright: 20") && text.contains("\n Permission is hereby granted"), "{text}");
        assert!(text.contains("\n .\n The above copyright notice") && !text.contains('@'), "{text}");
    }
}
