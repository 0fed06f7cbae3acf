//! The C interface: builds header, libraries and `mpress.pc` and installs them below a prefix.

use std::path::Path;

use crate::error::Error;
use crate::paths::Paths;
use crate::step::run;

#[path = "../../capi/install.rs"]
mod install;

/// Builds the libraries and installs them with everything needed to compile C programs.
pub(crate) fn install(paths: &Paths, prefix: &Path) -> Result<(), Error> {
    run("build of the C interface", paths.cargo().args(["build", "--release", "-p", "mpress-capi"]))?;
    let header = paths.root().join("capi").join(install::HEADER);
    let version = env!("CARGO_PKG_VERSION"); // the version of the whole workspace
    install::install(&header, &paths.target("release"), prefix, version).map_err(Error::file(prefix))?;
    println!("installed: {}", prefix.join("include").join(install::HEADER).display());
    println!(
        "installed: {} ({})",
        prefix.join("lib").join(install::SHARED).display(),
        install::soname(version)
    );
    println!("installed: {}", prefix.join("lib").join(install::STATIC).display());
    println!(
        "compile with: PKG_CONFIG_PATH={}/lib/pkgconfig pkg-config --cflags --libs mpress",
        prefix.display()
    );
    Ok(())
}
