//! The facts that a rank finds on its node, as a line of JSON on its standard output.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use mpress::{SameNode, Settings, Strategy};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadRef};
use serde::{Deserialize, Serialize};

use crate::detect::Abi;
use crate::{detect, launcher, libraries, program};

/// The start of the line, which distinguishes it from other output of a launcher.
const MARK: &str = "mpress-doctor ";

/// The findings of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) rank: u64,
    pub(super) node: String,
    pub(super) version: String,
    /// The library to preload, and a digest of it and its shims; or the reason why there is none.
    pub(super) library: Result<(String, u64), String>,
    pub(super) program: Result<String, String>,
    /// The reason why nothing can be preloaded into the program, if so.
    pub(super) out_of_reach: Option<String>,
    /// The ABI of the MPI that the program is linked to, if any, and the MPI's file, if found.
    pub(super) mpi: Option<(Abi, Option<String>)>,
    /// The number of ranks according to the launcher.
    pub(super) size: Option<u64>,
    /// The ABI of the MPI that the launcher belongs to, if that is certain.
    pub(super) launcher: Option<Abi>,
    /// Shims that are missing next to the library.
    pub(super) missing: Vec<Abi>,
    pub(super) settings: Result<Chosen, String>,
    /// Other preloaded libraries, and whether they wrap MPI functions.
    pub(super) tools: Vec<(String, bool)>,
}

/// The settings that matter here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    /// Those that must be equal on all ranks, as a settings file.
    pub(super) text: String,
    pub(super) disabled: bool,
    pub(super) off: bool,
    pub(super) same_node: bool,
    /// Why a file of a setting cannot be used, if so.
    pub(super) unusable: Option<String>,
    /// The line about variables that are no settings.
    pub(super) unknown: Option<String>,
}

impl Facts {
    pub(super) fn of_this_rank(preload: Result<PathBuf, libraries::Error>, command: &[OsString]) -> Self {
        let program = command.first().ok_or(program::Error::None).and_then(|name| program::find(name));
        let out_of_reach = program.as_ref().ok().and_then(|program| detect::out_of_reach(program));
        let mpi = program.as_ref().ok().and_then(|program| detect::linked_to(program));
        let missing = preload.as_ref().map_or_else(|_| Vec::new(), |path| missing(path));
        let preloaded = std::env::var_os("LD_PRELOAD");
        let tools = tools(preloaded.as_deref(), preload.as_deref().ok());
        let library = preload.map_err(|error| error.to_string()).and_then(|path| {
            let digest = digest(&path)?;
            Ok((path.display().to_string(), digest))
        });
        let rank = launcher::rank().unwrap_or(0);
        Self {
            rank,
            node: nodename(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tools,
            library,
            program: program.map(|path| path.display().to_string()).map_err(|error| error.to_string()),
            out_of_reach: out_of_reach.map(str::to_owned),
            mpi: mpi.map(|(abi, path)| (abi, path.map(|path| path.display().to_string()))),
            size: launcher::size(),
            launcher: launcher::abi(),
            missing,
            settings: Settings::from_vars(std::env::vars_os())
                .map(|settings| chosen(&settings, rank))
                .map_err(|error| error.to_string()),
        }
    }

    pub(super) fn say(&self) {
        if let Ok(text) = serde_json::to_string(self) {
            println!("{MARK}{text}");
        }
    }

    /// Parses the line of a rank, if it is one; `Err` if its content cannot be parsed.
    pub(super) fn read(line: &str) -> Option<Result<Self, String>> {
        // Launchers may add a prefix.
        let (_, text) = line.split_once(MARK)?;
        Some(serde_json::from_str(text).map_err(|error| error.to_string()))
    }
}

fn chosen(settings: &Settings, rank: u64) -> Chosen {
    Chosen {
        text: settings.in_common().to_toml(),
        disabled: settings.disable,
        off: settings.strategy == Strategy::Off,
        same_node: settings.same_node == SameNode::Compress,
        unusable: settings.check_files(rank == 0).err().filter(|_| !settings.disable),
        unknown: settings.unknown_line(),
    }
}

fn nodename() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

const ABIS: [Abi; 3] = [Abi::OpenMpi, Abi::Mpich, Abi::Standard];

/// The shims that are missing next to the library.
fn missing(preload: &Path) -> Vec<Abi> {
    ABIS.into_iter().filter(|abi| libraries::shim(preload, *abi).is_err()).collect()
}

/// A digest of the library and the shims next to it. Not cryptographic: it distinguishes builds.
fn digest(preload: &Path) -> Result<u64, String> {
    let shims = ABIS.iter().filter_map(|abi| libraries::shim(preload, *abi).ok());
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for path in std::iter::once(preload.to_owned()).chain(shims) {
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        for word in bytes.chunks(8) {
            let word = word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
            digest = (digest ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
    }
    Ok(digest)
}

/// The other libraries among the preloaded ones.
fn tools(preloaded: Option<&OsStr>, ours: Option<&Path>) -> Vec<(String, bool)> {
    let text = preloaded.map(OsStr::to_string_lossy).unwrap_or_default();
    let paths = text.split([':', ' ']).filter(|path| !path.is_empty()).map(Path::new);
    let is_ours =
        |path: &Path| Some(path) == ours || path.file_name() == Some(OsStr::new(libraries::PRELOAD));
    paths.filter(|path| !is_ours(path)).map(|path| (path.display().to_string(), wraps_mpi(path))).collect()
}

fn wraps_mpi(path: &Path) -> bool {
    fn exports<'a>(data: impl ReadRef<'a>) -> Option<bool> {
        let file = ElfFile64::<Endianness, _>::parse(data).ok()?;
        let is_mpi = |name: &str| name.starts_with("MPI_") || name.starts_with("PMPI_");
        let mut symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
        Some(symbols.any(|symbol| symbol.name().is_ok_and(is_mpi)))
    }
    std::fs::read(path).ok().and_then(|bytes| exports(bytes.as_slice())).unwrap_or(false)
}
