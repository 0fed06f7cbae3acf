//! The memory file: pages, TLB and caches of the machine, for layers that pack datatypes. Format: `docs/format/heuristics.md`.

use super::{File, KnowledgeError, parse};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::Path;

/// The name of the memory file in a folder of heuristics.
pub const MEMORY_FILE: &str = "memory.toml";

/// The memory hierarchy of a machine, as far as it was measured. What is `None` is as the processor says.
///
/// Source: *Improving the Performance of MPI Derived Datatypes by Optimizing Memory-Access Cost* (Byna, Gropp, Sun, Thakur, 2003), sections 5.2 and
/// 5.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The size of a page in bytes, a power of two: P_s of the paper.
    pub page_bytes: Option<usize>,
    /// The number of pages that the first-level data TLB holds: T_p of the paper.
    pub tlb_entries: Option<usize>,
    /// The size of the first-level data cache in bytes.
    pub l1_bytes: Option<usize>,
    /// The size of the second-level cache in bytes.
    pub l2_bytes: Option<usize>,
    /// The size of the last-level cache in bytes, as far as one core can fill it.
    pub l3_bytes: Option<usize>,
}

/// The memory file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryFile {
    format: String,
    version: u32,
    /// When, where and with which command it was measured.
    pub made: String,
    /// The figures.
    pub memory: Memory,
}

impl MemoryFile {
    /// A file of these figures.
    #[must_use]
    pub fn new(made: String, memory: Memory) -> Self {
        Self { format: Self::FORMAT.into(), version: Self::VERSION, made, memory }
    }
}

impl File for MemoryFile {
    const FORMAT: &str = "mpress memory heuristics";

    fn head(&self) -> (&str, u32) {
        (&self.format, self.version)
    }
}

const PAGE_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 30;
const TLB_ENTRIES: RangeInclusive<u64> = 1..=1 << 20;
const CACHE_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 40;

impl Memory {
    /// Reads the memory file of a folder of heuristics. Without one nothing is known.
    ///
    /// # Errors
    /// If there is a file that cannot be used.
    pub fn read(folder: &Path) -> Result<Self, KnowledgeError> {
        let file = folder.join(MEMORY_FILE);
        let memory = match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.to_string()),
        };
        memory.map_err(|why| KnowledgeError { file, why })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let MemoryFile { memory, .. } = parse(text)?;
        if let Some(page) = memory.page_bytes.filter(|page| !page.is_power_of_two()) {
            return Err(format!("memory.page_bytes = {page}: not a power of two"));
        }
        for (name, value, range) in [
            ("page_bytes", memory.page_bytes, PAGE_BYTES),
            ("tlb_entries", memory.tlb_entries, TLB_ENTRIES),
            ("l1_bytes", memory.l1_bytes, CACHE_BYTES),
            ("l2_bytes", memory.l2_bytes, CACHE_BYTES),
            ("l3_bytes", memory.l3_bytes, CACHE_BYTES),
        ] {
            if let Some(value) = value.filter(|value| !range.contains(&(*value as u64))) {
                let (least, most) = range.into_inner();
                return Err(format!("memory.{name} = {value}: expected {least} to {most}"));
            }
        }
        Ok(memory)
    }
}
