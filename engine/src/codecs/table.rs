//! The table of an engine: its own rows, then those of others on which all processes have agreed.

use super::{Codec, Member, RAW, TABLE, Width};
use mpress_codec::{CodecId, Kind};
use mpress_selector::{Behaviour, Offer, Offered};

/// No row.
const NONE: Offer = 0;

/// The codecs of an engine. The index of a row is its offer to the selector. The same in all processes that exchange frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Table {
    /// In the order of reports. The first one is the raw message.
    rows: Vec<Codec>,
    /// For each id the first row that writes frames with it: settings of one codec share an id.
    readers: [Offer; 256],
}

impl Default for Table {
    /// The engine's own rows.
    fn default() -> Self {
        Self::with([])
    }
}

impl Table {
    /// The engine's own rows and these, fewer than 256 in total: codecs of others have different ids.
    pub(crate) fn with(others: impl IntoIterator<Item = Codec>) -> Self {
        let rows: Vec<_> = TABLE.iter().map(Codec).chain(others).collect();
        let mut readers = [NONE; 256];
        for (index, codec) in (0..=Offer::MAX).zip(&rows) {
            for member in codec.members() {
                let reader = &mut readers[usize::from(member.id.0)];
                if *reader == NONE {
                    *reader = index;
                }
            }
        }
        Self { rows, readers }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The name of the row with this index.
    pub(crate) fn name(&self, index: Offer) -> &'static str {
        self.rows.get(usize::from(index)).map_or(RAW, |codec| codec.name())
    }

    /// The index of the codec with this name in this build; `None` if there is none.
    pub(crate) fn named(&self, name: &str) -> Option<Offer> {
        self.index(*self.rows.iter().find(|codec| codec.name() == name && codec.is_here())?)
    }

    /// The index of a codec; `None` if this engine does not have it.
    pub(crate) fn index(&self, codec: Codec) -> Option<Offer> {
        (1..=Offer::MAX).zip(self.rows.get(1..)?).find(|(_, row)| **row == codec).map(|(index, _)| index)
    }

    /// The codec of a row for messages of a kind; `None` if it does not support the kind.
    pub(crate) fn setting(&self, index: Offer, kind: Kind) -> Option<Setting> {
        let width = Width::of(kind);
        let row = self.rows.get(usize::from(index))?.0;
        (row.member)(width).map(|member| Setting { index, number: row.setting, width, member })
    }

    /// The member that reads frames with this id; `None` for an id that this engine does not have.
    pub(super) fn reader(&self, id: CodecId) -> Option<Member> {
        self.rows[usize::from(self.readers[usize::from(id.0)])].member_of(id)
    }

    /// The index of the row that wrote a frame with this id and setting; the first one with the id if the setting is unknown.
    pub(crate) fn used(&self, id: CodecId, setting: u8) -> Option<Offer> {
        let first = Some(self.readers[usize::from(id.0)]).filter(|first| *first != NONE)?;
        let other = first.checked_add(setting);
        let is_it = |codec: &Codec| codec.0.setting == setting && codec.member_of(id).is_some();
        other.filter(|other| self.rows.get(usize::from(*other)).is_some_and(is_it)).or(Some(first))
    }

    /// The rows as offered to a selector. One that is not in this build is for no kind.
    pub(crate) fn offers(&self, kinds: fn(Codec) -> &'static [Kind]) -> Vec<Offered<'static>> {
        let kinds = |codec: Codec| if codec.is_here() { kinds(codec) } else { &[] };
        self.rows.iter().map(|codec| Offered { name: codec.name(), kinds: kinds(*codec) }).collect()
    }

    /// The priors of codecs, for each codec and kind that these behaviours do not contain.
    pub(crate) fn priors(&self, known: &[Behaviour<'_>]) -> Vec<Behaviour<'static>> {
        let all = self.rows.iter().flat_map(|codec| {
            let prior = move |kind: &Kind| Some(codec.0.prior?.behaviour(codec.name(), *kind));
            codec.adaptive_kinds().iter().filter_map(prior)
        });
        let is_known =
            |prior: &Behaviour<'_>| known.iter().any(|b| (b.codec, b.kind) == (prior.codec, prior.kind));
        all.filter(|prior| !is_known(prior)).collect()
    }
}

/// A codec of an engine's table for messages of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    /// The index of its row.
    pub(crate) index: Offer,
    /// The number of its setting among those that share its codec ids, as stored in frames.
    pub(crate) number: u8,
    pub(super) width: Width,
    pub(super) member: Member,
}

impl Setting {
    /// The id in its frames.
    pub(crate) fn id(&self) -> CodecId {
        self.member.id
    }
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, number, width, .. } = self;
        write!(f, "Setting(row {index}, setting {number}, {width:?}, {:?})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_codec_and_id() {
        let table = Table::default();
        for codec in Codec::all() {
            let index = table.index(codec).unwrap();
            assert_eq!((table.name(index), Codec::at(index.into())), (codec.name(), Some(codec)));
            for kind in Kind::ALL {
                let Some(setting) = table.setting(index, kind) else {
                    assert!(!codec.adaptive_kinds().contains(&kind), "{codec:?} {kind:?}");
                    continue;
                };
                assert!(table.reader(setting.id()).is_some(), "{codec:?} {kind:?}");
                assert_eq!(table.used(setting.id(), setting.number), Some(index), "{kind:?}");
            }
        }
        for id in [CodecId::RAW, CodecId::BLOCKS, CodecId::STREAM, CodecId(192), CodecId(255)] {
            assert!(table.reader(id).is_none() && table.used(id, 0).is_none(), "{id:?}");
        }
        for unknown in [1, 100, 255] {
            assert_eq!(table.used(CodecId::DFCM_F64, unknown), table.used(CodecId::DFCM_F64, 0));
        }
        assert!(table.setting(0, Kind::F64).is_none() && table.setting(255, Kind::F64).is_none());
    }
}
