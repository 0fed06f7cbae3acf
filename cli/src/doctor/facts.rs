//! What a rank finds where it runs, as a line of JSON on its standard output.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use mpress::{Knowledge, SameNode, Settings, Strategy};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadRef};
use serde::{Deserialize, Serialize};

use crate::detect::Abi;
use crate::{detect, launcher, libraries, program};

/// What the line begins with, among what else a launcher may write.
const MARK: &str = "mpress-doctor ";

/// What a rank has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    pub(super) rank: u64,
    pub(super) node: String,
    pub(super) version: String,
    /// The library to preload, and a digest of it and of its shims; or why there is none.
    pub(super) library: Result<(String, u64), String>,
    pub(super) program: Result<String, String>,
    /// The ABI of what the program is linked to, if it is linked to an MPI, and the file, if it is found.
    pub(super) mpi: Option<(Abi, Option<String>)>,
    /// How many ranks the launcher says there are.
    pub(super) size: Option<u64>,
    /// The ABI of the MPI that the launcher belongs to, where that is certain.
    pub(super) launcher: Option<Abi>,
    /// Shims that are missing beside the library.
    pub(super) missing: Vec<Abi>,
    pub(super) settings: Result<Chosen, String>,
    /// Other libraries that are preloaded, and whether they wrap MPI functions.
    pub(super) tools: Vec<(String, bool)>,
}

/// What of the settings matters here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    /// Those that all ranks must have in common, as a file of settings.
    pub(super) text: String,
    pub(super) disabled: bool,
    pub(super) off: bool,
    pub(super) same_node: bool,
    /// Whether the network was measured; why the figures cannot be read, if so.
    pub(super) measured: Result<bool, String>,
}

impl Facts {
    pub(super) fn of_this_rank(preload: Result<PathBuf, libraries::Error>, command: &[OsString]) -> Self {
        let program = command.first().ok_or(program::Error::None).and_then(|name| program::find(name));
        let mpi = program.as_ref().ok().and_then(|program| detect::linked_to(program));
        let missing = preload.as_ref().map_or_else(|_| Vec::new(), |path| missing(path));
        let preloaded = std::env::var_os("LD_PRELOAD");
        let tools = tools(preloaded.as_deref(), preload.as_deref().ok());
        let library = preload.map_err(|error| error.to_string()).and_then(|path| {
            let digest = digest(&path)?;
            Ok((path.display().to_string(), digest))
        });
        Self {
            rank: launcher::rank().unwrap_or(0),
            node: nodename(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tools,
            library,
            program: program.map(|path| path.display().to_string()).map_err(|error| error.to_string()),
            mpi: mpi.map(|(abi, path)| (abi, path.map(|path| path.display().to_string()))),
            size: launcher::size(),
            launcher: launcher::abi(),
            missing,
            settings: Settings::from_vars(std::env::vars_os())
                .map(|settings| chosen(&settings))
                .map_err(|error| error.to_string()),
        }
    }

    pub(super) fn say(&self) {
        if let Ok(text) = serde_json::to_string(self) {
            println!("{MARK}{text}");
        }
    }

    /// What a rank said in this line, if it did; `Err` if it is not understood.
    pub(super) fn read(line: &str) -> Option<Result<Self, String>> {
        // Launchers may put something in front.
        let (_, text) = line.split_once(MARK)?;
        Some(serde_json::from_str(text).map_err(|error| error.to_string()))
    }
}

fn chosen(settings: &Settings) -> Chosen {
    let measured = match &settings.heuristics {
        None => Ok(false),
        Some(folder) => match Knowledge::read(folder) {
            (knowledge, errors) if errors.is_empty() => Ok(knowledge.links_measured),
            (_, errors) => Err(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
        },
    };
    Chosen {
        text: settings.in_common().to_toml(),
        disabled: settings.disable,
        off: settings.strategy == Strategy::Off,
        same_node: settings.same_node == SameNode::Compress,
        measured,
    }
}

fn nodename() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

const ABIS: [Abi; 3] = [Abi::OpenMpi, Abi::Mpich, Abi::Standard];

/// The shims that are not beside the library.
fn missing(preload: &Path) -> Vec<Abi> {
    ABIS.into_iter().filter(|abi| libraries::shim(preload, *abi).is_err()).collect()
}

/// Of the library and the shims beside it. No safeguard: it tells other builds apart.
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

/// The other libraries among those preloaded.
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
