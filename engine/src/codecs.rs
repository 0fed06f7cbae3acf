//! The table of codecs.

#[cfg(test)]
pub(crate) mod elsewhere;
mod families;
#[cfg(any(feature = "zstd", feature = "lz4"))]
mod general;
mod instances;

pub(crate) use instances::Instances;

use mpress_codec::{CodecId, Decode, Encode, Kind};
use std::sync::LazyLock;

/// An encoder, as used by the engine.
pub type Encoder = Box<dyn Encode + Send>;
/// A decoder, as used by the engine.
pub type Decoder = Box<dyn Decode + Send>;

/// A codec with its setting, as named in settings, heuristics and reports. A row stays in the table if its feature is off, so that reports of
/// differently built engines have the same rows.
struct Row {
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
/// LZ4 finds repeats in messages of any kind.
const ANY: &[Kind] = &Kind::ALL;
const BYTES: &[Kind] = &[Kind::Int8, Kind::Other];
const TEXT: &[Kind] = &[Kind::Int8];

/// The codecs in the order of reports. The first row is the raw message.
static TABLE: [Row; COUNT] = [
    Row { name: "raw", setting: 0, wire: 0, member: families::none, adaptive: &[] },
    Row { name: "diffpack-fast", setting: 0, wire: 1, member: families::diffpack_fast, adaptive: NUMBERS },
    Row {
        name: "diffpack-balanced",
        setting: 1,
        wire: 1,
        member: families::diffpack_balanced,
        adaptive: NUMBERS,
    },
    Row { name: "diffpack-ratio", setting: 2, wire: 1, member: families::diffpack_ratio, adaptive: NUMBERS },
    Row { name: "dfcm", setting: 0, wire: 1, member: families::dfcm, adaptive: &[] },
    Row { name: "dfcm-lanes", setting: 0, wire: 1, member: families::dfcm_lanes, adaptive: &[] },
    Row { name: "fpc", setting: 0, wire: 1, member: families::fpc, adaptive: &[] },
    Row { name: "rice", setting: 0, wire: 2, member: families::rice, adaptive: &[] },
    Row { name: "rle", setting: 0, wire: 2, member: families::rle, adaptive: &[] },
    Row { name: "huffman", setting: 0, wire: 2, member: families::huffman, adaptive: TEXT },
    Row { name: "shannon-fano", setting: 0, wire: 2, member: families::shannon_fano, adaptive: &[] },
    Row { name: "lzo", setting: 0, wire: 1, member: families::lzo, adaptive: &[] },
    Row { name: "lz77-fast", setting: 0, wire: 1, member: families::lz77_fast, adaptive: TEXT },
    Row { name: "lz77", setting: 1, wire: 1, member: families::lz77, adaptive: &[] },
    Row { name: "lz4", setting: 0, wire: 1, member: families::lz4, adaptive: ANY },
    Row { name: "zstd", setting: 0, wire: 1, member: families::zstd, adaptive: BYTES },
];

/// The number of rows in the table.
pub(crate) const COUNT: usize = 16;

/// The names of the codecs that can be selected, and `raw`, in the order of reports.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.name)
}

/// A row of the table other than the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec(u8);

impl Codec {
    /// The codec with this name; `None` if there is none, or not in this build.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|codec| codec.name() == name)
    }

    /// All codecs of this build.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..COUNT)
            .filter_map(Self::at)
            .filter(|codec| Width::ALL.iter().any(|width| (codec.row().member)(*width).is_some()))
    }

    /// The name of the codec.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The kinds for which the adaptive strategy considers the codec.
    #[must_use]
    pub fn adaptive_kinds(self) -> &'static [Kind] {
        self.row().adaptive
    }

    /// Whether PRAcTICaL-MPI has the codec (section 2), so that the strategy `ras` considers it for all kinds that it supports.
    #[must_use]
    pub fn is_of_practical(self) -> bool {
        ["fpc", "rice", "rle", "huffman", "lzo"].contains(&self.name())
    }

    /// An encoder and a decoder for messages of a kind, for measurements; `None` if the codec does not support the kind.
    #[must_use]
    pub fn instances(self, kind: Kind) -> Option<(Encoder, Decoder)> {
        let member = (self.row().member)(Width::of(kind))?;
        Some(((member.encoder)()?, (member.decoder)()?))
    }

    /// The number of its setting among those that share its codec ids, as stored in frames.
    pub(crate) fn setting(self) -> u8 {
        self.row().setting
    }

    /// The newest version of its format.
    pub(crate) fn wire(self) -> u8 {
        self.row().wire
    }

    /// Its index in the order of [`names`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The codec with this index. Its feature may be off.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        if (1..COUNT).contains(&index) { Some(Self(index as u8)) } else { None }
    }

    /// The member of the codec with this frame id.
    fn member_of(self, id: CodecId) -> Option<Member> {
        Width::ALL.into_iter().filter_map(self.row().member).find(|member| member.id == id)
    }

    fn row(self) -> &'static Row {
        &TABLE[self.index()]
    }

    /// The codec for messages of a kind; `None` if it does not support the kind.
    pub(crate) fn of(self, kind: Kind) -> Option<Setting> {
        let width = Width::of(kind);
        (self.row().member)(width).map(|member| Setting { codec: self, width, id: member.id })
    }
}

/// A codec for messages of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) codec: Codec,
    width: Width,
    /// The id in its frames.
    pub(crate) id: CodecId,
}

/// The first codec in the table that writes frames with this id. Settings of one codec share an id.
pub(crate) fn reader(id: CodecId) -> Option<Codec> {
    static READERS: LazyLock<[Option<Codec>; 256]> = LazyLock::new(|| {
        std::array::from_fn(|id| Codec::all().find(|codec| codec.member_of(CodecId(id as u8)).is_some()))
    });
    READERS[usize::from(id.0)]
}

/// The codec that wrote a frame with this id and setting; the first one if the setting is unknown.
pub(crate) fn used(id: CodecId, setting: u8) -> Option<Codec> {
    let first = reader(id)?;
    let other = Codec::at(first.index() + usize::from(setting));
    other.filter(|codec| codec.setting() == setting && codec.member_of(id).is_some()).or(Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_found_by_name_and_id() {
        assert_eq!(Codec::named("raw"), None);
        assert_eq!(Codec::named("gzip"), None);
        for codec in Codec::all() {
            assert_eq!(Codec::named(codec.name()), Some(codec));
            assert_eq!(Codec::at(codec.index()), Some(codec));
            for kind in Kind::ALL {
                let Some(setting) = codec.of(kind) else {
                    assert!(!codec.adaptive_kinds().contains(&kind), "{codec:?} {kind:?}");
                    continue;
                };
                assert!(reader(setting.id).is_some(), "{codec:?} {kind:?}");
                assert_eq!(used(setting.id, codec.setting()), Some(codec), "{kind:?}");
            }
        }
        assert_eq!(reader(CodecId::RAW), None);
        assert_eq!(reader(CodecId::BLOCKS), None);
        assert_eq!(used(CodecId::RAW, 0), None);
        for unknown in [1, 100, 255] {
            assert_eq!(used(CodecId::DFCM_F64, unknown), reader(CodecId::DFCM_F64));
        }
    }

    #[test]
    fn versions_of_formats_are_those_that_encoders_write() {
        // These have no separate version.
        let others = ["lzo", "lz4", "zstd"];
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
