//! The file layout of the installed library, and its description for pkg-config. The build script, `cargo xtask capi` and the tests share it, so
//! that the tests check what users get.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// The file name of the library, as the linker looks for it (`-lmpress_c`) and as cargo builds it.
pub(crate) const SHARED: &str = "libmpress_c.so";
/// The static library.
pub(crate) const STATIC: &str = "libmpress_c.a";
/// The header.
pub(crate) const HEADER: &str = "mpress.h";

/// The system libraries that a static Rust library needs: `rustc --print native-static-libs` with glibc.
const PRIVATE: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// The name by which programs look for the shared library when they start. It changes with every version that may be incompatible: before version
/// 1, these are the minor versions, as usual in cargo.
pub(crate) fn soname(version: &str) -> String {
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("0"), Some(minor)) => format!("{SHARED}.0.{minor}"),
        (major, _) => format!("{SHARED}.{}", major.unwrap_or(version)),
    }
}

/// Installs header, libraries and `mpress.pc` under `prefix`. `built` is the folder in which cargo has put the libraries.
pub(crate) fn install(header: &Path, built: &Path, prefix: &Path, version: &str) -> io::Result<()> {
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let pkg_config = lib.join("pkgconfig");
    fs::create_dir_all(&include)?;
    fs::create_dir_all(&pkg_config)?;
    put(&include.join(HEADER), |place| fs::copy(header, place).map(|_| ()))?;
    put(&lib.join(STATIC), |place| fs::copy(built.join(STATIC), place).map(|_| ()))?;
    let file = format!("{SHARED}.{version}");
    put(&lib.join(&file), |place| fs::copy(built.join(SHARED), place).map(|_| ()))?;
    for name in [soname(version), SHARED.to_owned()] {
        put(&lib.join(name), |place| symlink(&file, place))?;
    }
    put(&pkg_config.join("mpress.pc"), |place| fs::write(place, description(version)))
}

/// Replaces a file atomically: a program that uses the old one keeps it.
fn put(place: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let half_done = place.with_added_extension("new");
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    match fs::remove_file(&half_done) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
        _ => {}
    }
    make(&half_done).and_then(|()| fs::rename(&half_done, place)).map_err(named)
}

/// The text of `mpress.pc`. Its paths are relative to itself, so the whole prefix can be moved.
fn description(version: &str) -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         libdir=${{prefix}}/lib\n\
         includedir=${{prefix}}/include\n\
         \n\
         Name: mpress\n\
         Description: Lossless run-time compression of MPI messages: codecs and engine, for C\n\
         URL: https://github.com/mpress-hpc/mpress\n\
         Version: {version}\n\
         Cflags: -I${{includedir}}\n\
         Libs: -L${{libdir}} -lmpress_c\n\
         Libs.private: {PRIVATE}\n"
    )
}
