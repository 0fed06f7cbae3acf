//! Codecs of others: rows that users add to the engine's own, and the agreement on them. Rules: `docs/format/frame.md`, section "Codecs of others".

use super::{Codec, Encoder, Member, Row, TABLE, Table, Width};
use crate::strategy::{Strategy, StrategyError};
use mpress_codec::{CodecId, Kind};
use mpress_selector::{Behaviour, Level, Selector, Speed};
use std::sync::Arc;

/// The number of words that a process contributes to the handshake for codecs of others: two for each private id.
pub(crate) const WORDS: usize = 2 * IDS;

/// The number of private ids. A bit for each says whether processes have its codec in common.
const IDS: usize = 64;
const _: () = assert!(*CodecId::PRIVATE.end() as usize - *CodecId::PRIVATE.start() as usize == IDS - 1);

/// The fixed time of a message in microseconds, where a prior is all that is known.
const START_US: f64 = 1.0;

/// What to expect of a codec before it has been tried, where the heuristics (`compression.toml`) do not have its name. The adaptive strategy corrects it
/// by what it sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Raw bytes over compressed bytes, from 0.5 to below 10^6.
    pub ratio: f64,
    /// Raw GB (10^9 bytes) encoded in a second, from 10^-6 to below 10^4.
    pub encode_gb_s: f64,
    /// Raw GB decoded in a second, in the same range.
    pub decode_gb_s: f64,
}

impl Prior {
    /// For messages of a kind, whatever their redundancy.
    pub(super) fn behaviour(self, codec: &'static str, kind: Kind) -> Behaviour<'static> {
        let speed = |gb_s: f64| Speed { start_us: START_US, mb_s: gb_s * 1e3, cold_us: 0.0 };
        let (encode, decode) = (speed(self.encode_gb_s), speed(self.decode_gb_s));
        Behaviour { kind, level: Level::Unknown, codec, ratio: self.ratio, encode, decode }
    }
}

impl Row {
    /// A row for a codec of others, with the id and the name from its [`mpress_codec::Codec`] and this version of its format. The engine makes as
    /// many of its [encoders](mpress_codec::Codec::encoder) and [decoders](mpress_codec::Codec::decoder) as threads use at the same time, and resets
    /// decoders before each message. Put the row into a static variable:
    ///
    /// ```
    /// # use mpress::{Decode, DecodeError, Encode, Out, Reset};
    /// # use mpress_codec::{CodecId, EncodeError};
    /// # struct Mine;
    /// # impl mpress_codec::Codec for Mine {
    /// #     const ID: CodecId = CodecId(192);
    /// #     const NAME: &'static str = "mine";
    /// #     const WIDTH: usize = 8;
    /// #     const STATEFUL: bool = false;
    /// #     type Encoder = Self;
    /// #     type Decoder = Self;
    /// #     fn encoder() -> Self { Self }
    /// #     fn decoder() -> Self { Self }
    /// # }
    /// # impl Reset for Mine {}
    /// # impl Encode for Mine {
    /// #     fn max_encoded_len(&self, raw_len: usize) -> Option<usize> { Some(raw_len) }
    /// #     fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
    /// #         out.within(Some(raw.len()), |out| out.extend_from_slice(raw))
    /// #     }
    /// # }
    /// # impl Decode for Mine {
    /// #     fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
    /// #         out.extend_from_slice(wire).map_err(|_| DecodeError::new(mpress::DecodeErrorKind::Length, 0))
    /// #     }
    /// # }
    /// use mpress::{Codecs, Kind, Prior, Row};
    ///
    /// static MINE: Row = Row::of::<Mine>(1)
    ///     .for_kinds(&[Kind::F64, Kind::Int64])
    ///     .with_prior(Prior { ratio: 2.5, encode_gb_s: 3.0, decode_gb_s: 5.0 });
    ///
    /// let codecs = Codecs::new([&MINE])?;
    /// assert_eq!(codecs.strategy("fixed:mine")?.to_string(), "fixed:mine");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn of<C>(version: u8) -> Self
    where
        C: mpress_codec::Codec + 'static,
        C::Encoder: Send + 'static,
        C::Decoder: Send + 'static,
    {
        Self { name: C::NAME, setting: 0, wire: version, member: member::<C>, adaptive: &[], prior: None }
    }

    /// The same codec, considered by the adaptive strategy for messages of these kinds. Without this, there are none. The strategy that is fixed on
    /// the codec uses it for all kinds in either case.
    #[must_use]
    pub const fn for_kinds(self, kinds: &'static [Kind]) -> Self {
        Self { adaptive: kinds, ..self }
    }

    /// The same codec, with these expectations. Without them it is expected to gain nothing until it has been tried.
    #[must_use]
    pub const fn with_prior(self, prior: Prior) -> Self {
        Self { prior: Some(prior), ..self }
    }
}

/// The one member of a codec of others, for words of each width.
fn member<C>(_: Width) -> Option<Member>
where
    C: mpress_codec::Codec + 'static,
    C::Encoder: Send + 'static,
    C::Decoder: Send + 'static,
{
    let encoder = || Some(Box::new(C::encoder()) as Encoder);
    Some(Member { id: C::ID, encoder, decoder: || Some(Box::new(C::decoder())) })
}

/// The codecs of others that a process has ([`Settings::codecs`](crate::Settings::codecs)). Engines use those on which all processes have agreed
/// ([`Settings::agreed`](crate::Settings::agreed)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codecs {
    /// By ascending id.
    named: Vec<(CodecId, Codec)>,
    /// Bit i: all processes have the same codec with the i-th private id.
    agreed: u64,
}

/// Why codecs of others are refused. `Display` prints one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecsError {
    /// The id is not one for codecs of others.
    #[error("codec {name} has the id {}, but codecs of others have one of {} to {}", .id.0, CodecId::PRIVATE.start(), CodecId::PRIVATE.end())]
    Id {
        /// The name of the codec.
        name: &'static str,
        /// Its id.
        id: CodecId,
    },
    /// Two codecs have the same id.
    #[error("the codecs {} and {} have the same id {}", .names[0], .names[1], .id.0)]
    SameId {
        /// Their names.
        names: [&'static str; 2],
        /// Their id.
        id: CodecId,
    },
    /// The name is not allowed in settings, heuristics and reports.
    #[error("{0:?} is no name of a codec: 1 to {longest} of the characters a to z, 0 to 9 and -", longest = LONGEST)]
    Name(&'static str),
    /// Another codec, perhaps one of the engine's own, has the same name.
    #[error("there are two codecs with the name {0}")]
    SameName(&'static str),
    /// A prior outside the limits in [`Prior`].
    #[error("no codec is like the prior of {0}: {1:?}")]
    Prior(&'static str, Prior),
    /// There are more codecs for a kind than the adaptive strategy can compare.
    #[error("there are {codecs} codecs for messages of kind {}, but the adaptive strategy compares at most {}", .kind.name(), Selector::CANDIDATES)]
    TooMany {
        /// The kind of the messages.
        kind: Kind,
        /// The number of codecs for them, with the engine's own.
        codecs: usize,
    },
}

/// The maximum length of a name: the width of a column in the report.
const LONGEST: usize = 17;

impl Codecs {
    /// These codecs.
    ///
    /// # Errors
    /// If an id is not private ([`CodecId::PRIVATE`]) or used twice; if a name is not possible or used twice, also by one of the engine's own codecs; if
    /// a prior is impossible; if there are more codecs for a kind of messages than the adaptive strategy compares, 6 with the engine's own.
    pub fn new(rows: impl IntoIterator<Item = &'static Row>) -> Result<Self, CodecsError> {
        let mut named: Vec<(CodecId, Codec)> = Vec::new();
        for row in rows {
            let name = row.name;
            let Some(id) = Codec(row).members().next().map(|member| member.id) else { continue };
            if !id.is_private() {
                return Err(CodecsError::Id { name, id });
            }
            let is_possible = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
            if !(1..=LONGEST).contains(&name.len()) || !name.bytes().all(is_possible) {
                return Err(CodecsError::Name(name));
            }
            if let Some((_, other)) = named.iter().find(|(other, _)| *other == id) {
                return Err(CodecsError::SameId { names: [other.name(), name], id });
            }
            if TABLE.iter().any(|own| own.name == name) || named.iter().any(|(_, one)| one.name() == name) {
                return Err(CodecsError::SameName(name));
            }
            if let Some(prior) = row.prior.filter(|prior| !prior.behaviour(name, Kind::Other).is_sane()) {
                return Err(CodecsError::Prior(name, prior));
            }
            named.push((id, Codec(row)));
        }
        for kind in Kind::ALL {
            let all = Codec::all().chain(named.iter().map(|(_, codec)| *codec));
            let codecs = all.filter(|codec| codec.adaptive_kinds().contains(&kind)).count();
            if codecs > Selector::CANDIDATES {
                return Err(CodecsError::TooMany { kind, codecs });
            }
        }
        named.sort_by_key(|(id, _)| *id);
        Ok(Self { named, agreed: 0 })
    }

    /// The codec with this name, one of these or one of the engine's own in this build; `None` if there is none.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Codec> {
        Codec::named(name).or_else(|| self.others().find(|codec| codec.name() == name))
    }

    /// The strategy with this name, as in `MPRESS_STRATEGY`, which may be fixed on one of these codecs.
    ///
    /// # Errors
    /// If there is no such strategy, or no such codec.
    pub fn strategy(&self, text: &str) -> Result<Strategy, StrategyError> {
        Strategy::named(text, self)
    }

    /// The names of all codecs that can be selected, the engine's own first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        Codec::all().chain(self.others()).map(Codec::name)
    }

    /// The codecs that engines do not use, because processes have not agreed on them: the name, id and version of each.
    pub fn not_agreed(&self) -> impl Iterator<Item = (&'static str, CodecId, u8)> {
        let not = self.named.iter().filter(move |(id, _)| self.agreed & bit(*id) == 0);
        not.map(|(id, codec)| (codec.name(), *id, codec.wire()))
    }

    fn others(&self) -> impl Iterator<Item = Codec> {
        self.named.iter().map(|(_, codec)| *codec)
    }

    /// The table of an engine.
    pub(crate) fn table(&self) -> Arc<Table> {
        let agreed = self.named.iter().filter(|(id, _)| self.agreed & bit(*id) != 0);
        Arc::new(Table::with(agreed.map(|(_, codec)| *codec)))
    }

    /// The same codecs, of which all processes have those whose bits are set.
    pub(crate) fn agreed(&self, bits: u64) -> Self {
        Self { agreed: bits, ..self.clone() }
    }

    /// For each private id, the hash of its codec; 0 if there is none.
    pub(crate) fn digests(&self, hash: impl Fn(&(u8, &str, u8)) -> u64) -> [u64; IDS] {
        let mut words = [0; IDS];
        for (id, codec) in &self.named {
            words[place(*id)] = hash(&(id.0, codec.name(), codec.wire())).max(1);
        }
        words
    }
}

/// The number of a private id.
fn place(id: CodecId) -> usize {
    usize::from(id.0 - CodecId::PRIVATE.start())
}

fn bit(id: CodecId) -> u64 {
    1 << place(id)
}
