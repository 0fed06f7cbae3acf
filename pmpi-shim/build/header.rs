//! Reads the `mpi.h` of the MPI that `MPICC` names: which calls of the table it declares, and with which arguments. For the builds of
//! the shim and of the preload library.

use crate::calls::{Call, Section};
use build_probe_mpi::Library;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::FileHeader;
use std::path::Path;
use std::process::Command;

/// The MPI that `MPICC` names.
pub(crate) fn probe() -> Library {
    println!("cargo:rerun-if-env-changed=MPICC");
    build_probe_mpi::probe().unwrap_or_else(|errors| {
        let reasons: Vec<_> = errors.iter().map(ToString::to_string).collect();
        panic!("no MPI found (set MPICC to a compiler wrapper): {}", reasons.join("; "))
    })
}

/// What is to be read of `mpi.h`: the calls of the table.
pub(crate) fn builder(mpi: &Library, sections: &[Section<'_>]) -> bindgen::Builder {
    let mut builder = bindgen::builder()
        .header_contents("wrapper.h", "#include <mpi.h>")
        .layout_tests(true)
        .generate_comments(false)
        .merge_extern_blocks(true);
    for path in &mpi.include_paths {
        builder = builder.clang_arg(format!("-I{}", path.display()));
    }
    for call in sections.iter().flat_map(|section| &section.calls) {
        builder = builder.allowlist_function(format!("PMPI_{}(_c)?", call.name));
    }
    builder
}

/// A call of the table, or its large-count form.
pub(crate) struct Function<'a> {
    pub(crate) section: &'a Section<'a>,
    pub(crate) call: &'a Call<'a>,
    /// Without `MPI_`.
    pub(crate) name: String,
    /// Names and types, where `mpi.h` declares it.
    pub(crate) arguments: Option<Vec<(String, String)>>,
}

/// All functions of the table, in its order.
pub(crate) fn functions<'a>(sections: &'a [Section<'a>], bindings: &str) -> Vec<Function<'a>> {
    let mut functions = Vec::new();
    for section in sections {
        for call in &section.calls {
            for name in [call.name.to_owned(), format!("{}_c", call.name)] {
                let arguments = prototype(bindings, &name);
                functions.push(Function { section, call, name, arguments });
            }
        }
    }
    functions
}

/// A prototype as bindgen writes it: `a: T, b: U`. `None` if the MPI has no such function.
fn prototype(bindings: &str, name: &str) -> Option<Vec<(String, String)>> {
    let (_, rest) = bindings.split_once(&format!("pub fn PMPI_{name}("))?;
    let (arguments, _) = rest.split_once(") -> ::std::os::raw::c_int;")?;
    let arguments = arguments.split(',').filter_map(|argument| argument.split_once(':'));
    Some(arguments.map(|(name, ty)| (name.trim().to_owned(), ty.trim().to_owned())).collect())
}

/// The name by which programs that are linked to this MPI ask the loader for it: a library is linked to it in `out` to see that.
pub(crate) fn soname(mpi: &Library, out: &Path) -> String {
    let (source, library) = (out.join("empty.c"), out.join("empty.so"));
    std::fs::write(&source, "").expect("OUT_DIR is writable");
    let mut linker: Command = cc::Build::new().get_compiler().to_command();
    linker.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&library).arg(source);
    linker.args(mpi.lib_paths.iter().map(|path| format!("-L{}", path.display())));
    linker.args(mpi.libs.iter().map(|lib| format!("-l{lib}")));
    let status = linker.status().expect("there is a C compiler");
    assert!(status.success(), "{linker:?} failed");
    let needed = needed(&std::fs::read(library).expect("it was just written"));
    let name = needed.iter().find(|name| name.starts_with("libmpi"));
    name.unwrap_or_else(|| panic!("no MPI among the libraries {needed:?}")).clone()
}

/// The libraries that a library is linked to.
fn needed(file: &[u8]) -> Vec<String> {
    let read = || -> object::Result<Vec<String>> {
        let header = FileHeader64::<object::Endianness>::parse(file)?;
        let endian = header.endian()?;
        let dynamic = header.sections(endian, file)?.dynamic_table(endian, file)?;
        let libraries = dynamic.iter().filter(|entry| entry.tag == DT_NEEDED);
        libraries.map(|entry| Ok(String::from_utf8_lossy(dynamic.string(entry)?).into_owned())).collect()
    };
    read().expect("the linker writes 64-bit ELF files")
}
