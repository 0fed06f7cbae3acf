//! The codecs: the rows of an engine's table.

#[cfg(test)]
pub(crate) mod elsewhere;
mod families;
mod instances;
mod others;
mod table;
#[cfg(feature = "zstd")]
mod zstandard;

pub(crate) use instances::Instances;
pub(crate) use others::WORDS;
pub use others::{Codecs, CodecsError, Prior};
pub(crate) use table::{Setting, Table};

use mpress_codec::{CodecId, Decode, Encode, Kind};
use std::fmt;

/// An encoder, as used by the engine.
pub type Encoder = Box<dyn Encode + Send>;
/// A decoder, as used by the engine.
pub type Decoder = Box<dyn Decode + Send>;

/// A row of the table of codecs: a codec with its setting, as named in settings, heuristics and reports. The engine has its own rows; others add theirs
/// by [`Codecs`]. A row of the engine stays in the table if its feature is off, so that reports of differently built engines have the same rows.
pub struct Row {
    name: &'static str,
    /// The number of this setting among those that share codec ids; stored in frames. Their rows are consecutive.
    setting: u8,
    /// The newest version of the codec's format (the tables in `docs/format`) that it reads and may write; for third-party formats, the version of
    /// their use. Must be the same in all processes that exchange frames.
    wire: u8,
    /// The codec for words of this width, if any.
    member: fn(Width) -> Option<Member>,
    /// The kinds for which the adaptive strategy considers the codec.
    adaptive: &'static [Kind],
    /// What to expect of it where the heuristics say nothing.
    prior: Option<Prior>,
}

/// The codec of a row for words of one width.
#[derive(Clone, Copy)]
struct Member {
    id: CodecId,
    encoder: fn() -> Option<Encoder>,
    decoder: fn() -> Option<Decoder>,
}

/// The width of a message's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    W8,
    W16,
    W32,
    W64,
}

impl Width {
    const ALL: [Self; 4] = [Self::W8, Self::W16, Self::W32, Self::W64];

    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Int8 => Self::W8,
            Kind::Int16 => Self::W16,
            Kind::Int32 | Kind::F32 => Self::W32,
            // Bytes of unknown type are most often structures whose fields are aligned to 8.
            Kind::Int64 | Kind::F64 | Kind::Other => Self::W64,
        }
    }
}

/// The name in reports and records for messages without a codec.
pub(crate) const RAW: &str = "raw";

/// The adaptive strategy considers few codecs: an oracle that had all of them would be 1 to 2 % faster (`benches/record/replay.txt`), but what is not
/// considered need not be tried.
const NUMBERS: &[Kind] = &[Kind::F64, Kind::F32, Kind::Int64, Kind::Int32, Kind::Int16, Kind::Other];
/// LZO finds repeats in messages of any kind.
const ANY: &[Kind] = &Kind::ALL;
const BYTES: &[Kind] = &[Kind::Int8, Kind::Other];
const TEXT: &[Kind] = &[Kind::Int8];

/// The codecs in the order of reports. The first row is the raw message.
static TABLE: &[Row] = &[
    row("raw", 0, 0, families::none, &[]),
    row("diffpack-fast", 0, 1, families::diffpack_fast, NUMBERS),
    row("diffpack-balanced", 1, 1, families::diffpack_balanced, NUMBERS),
    row("diffpack-ratio", 2, 1, families::diffpack_ratio, NUMBERS),
    row("dfcm", 0, 1, families::dfcm, &[]),
    row("dfcm-lanes", 0, 2, families::dfcm_lanes, &[]),
    row("fpc", 0, 2, families::fpc, &[]),
    row("rice", 0, 2, families::rice, &[]),
    row("rle", 0, 2, families::rle, &[]),
    row("huffman", 0, 2, families::huffman, TEXT),
    row("shannon-fano", 0, 2, families::shannon_fano, &[]),
    row("lzo", 0, 1, families::lzo, ANY),
    row("lz77-fast", 0, 1, families::lz77_fast, TEXT),
    row("lz77", 1, 1, families::lz77, &[]),
    row("zstd", 0, 1, families::zstd, BYTES),
];

/// A row of the engine.
const fn row(
    name: &'static str,
    setting: u8,
    wire: u8,
    member: fn(Width) -> Option<Member>,
    adaptive: &'static [Kind],
) -> Row {
    Row { name, setting, wire, member, adaptive, prior: None }
}

/// The names of the engine's codecs that can be selected, and `raw`, in the order of reports.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// A codec: one of the engine's own, or a codec of others given to [`Codecs`].
#[derive(Clone, Copy)]
pub struct Codec(&'static Row);

impl PartialEq for Codec {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Codec {}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The version is left out: settings must be equal in all processes, which agree on versions separately.
        write!(f, "Codec({})", self.name())
    }
}

impl Codec {
    /// The engine's own codec with this name; `None` if there is none, or not in this build.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|codec| codec.name() == name)
    }

    /// The engine's own codecs in this build.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..TABLE.len()).filter_map(Self::at).filter(|codec| codec.is_here())
    }

    /// The name of the codec.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The kinds for which the adaptive strategy considers the codec.
    #[must_use]
    pub fn adaptive_kinds(self) -> &'static [Kind] {
        self.0.adaptive
    }

    /// Whether PRAcTICaL-MPI has the codec (section 2), so that the strategy `ras` considers it for all kinds that it supports.
    #[must_use]
    pub fn is_of_practical(self) -> bool {
        ["fpc", "rice", "rle", "huffman", "lzo"].contains(&self.name())
    }

    /// An encoder and a decoder for messages of a kind, for measurements; `None` if the codec does not support the kind.
    #[must_use]
    pub fn instances(self, kind: Kind) -> Option<(Encoder, Decoder)> {
        let member = (self.0.member)(Width::of(kind))?;
        Some(((member.encoder)()?, (member.decoder)()?))
    }

    /// The newest version of its format.
    pub(crate) fn wire(self) -> u8 {
        self.0.wire
    }

    /// The engine's own codec with this index in the order of [`names`], which is also its offer to a selector ([`Knowledge::selector`]). Its feature
    /// may be off.
    ///
    /// [`Knowledge::selector`]: crate::Knowledge::selector
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        TABLE.get(index).filter(|_| index > 0).map(Self)
    }

    /// Whether the codec is in this build.
    fn is_here(self) -> bool {
        self.members().next().is_some()
    }

    /// The codec for each width of words that it supports.
    fn members(self) -> impl Iterator<Item = Member> {
        Width::ALL.into_iter().filter_map(self.0.member)
    }

    /// The member of the codec with this frame id.
    fn member_of(self, id: CodecId) -> Option<Member> {
        self.members().find(|member| member.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_found_by_name_and_index() {
        assert_eq!(Codec::named("raw"), None);
        assert_eq!(Codec::named("gzip"), None);
        assert_eq!(Codec::at(0), None);
        for (index, name) in names().enumerate().skip(1) {
            let codec = Codec::at(index).unwrap();
            assert_eq!(codec.name(), name);
            assert_eq!(Codec::named(name), Some(codec).filter(|codec| codec.is_here()));
        }
        assert_eq!(Codec::at(TABLE.len()), None);
    }

    #[test]
    fn versions_of_formats_are_those_that_encoders_write() {
        // These have no separate version.
        let others = ["lzo", "zstd"];
        let numbers: Vec<u8> = (0..4000).flat_map(|i| (f64::from(i) * 1e-3 + 1.0).to_le_bytes()).collect();
        let repeats: Vec<u8> = numbers[..800].repeat(30);
        let record =
            |i: u32| [&(i * i).to_le_bytes()[..], &[7, 8, i as u8], &(i as u16).to_le_bytes()].concat();
        let records: Vec<u8> = (0..4000).flat_map(record).collect();
        for codec in Codec::all().filter(|codec| !others.contains(&codec.name())) {
            for kind in Kind::ALL {
                let Some((mut encoder, _)) = codec.instances(kind) else { continue };
                for message in [&numbers, &repeats, &records] {
                    let mut room = vec![0; encoder.max_encoded_len(message.len()).unwrap()];
                    mpress_codec::encode_into(&mut *encoder, message, &mut room).unwrap();
                    // With diffpack the low bits say what the message has.
                    let is_diffpack = codec.name().starts_with("diffpack");
                    let version = if is_diffpack { room[0] >> 4 } else { room[0] };
                    assert_eq!(version, codec.wire(), "{}", codec.name());
                }
            }
        }
    }
}
