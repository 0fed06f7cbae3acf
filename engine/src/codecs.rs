//! The one table of codecs, and the instances of them that wait for work.

use mpress_codec::{CodecId, Decode, Encode};
use std::sync::{Mutex, PoisonError};

type Encoder = Box<dyn Encode + Send>;
type Decoder = Box<dyn Decode + Send>;

/// What the engine must know of a codec. A row stays in the table where its feature is off, so that reports of
/// differently built engines line up.
struct Entry {
    id: CodecId,
    name: &'static str,
    encoder: fn() -> Option<Encoder>,
    decoder: fn() -> Option<Decoder>,
}

/// Codecs, in the order of reports. The first is the raw message.
const TABLE: [Entry; 6] = [
    Entry { id: CodecId::RAW, name: "raw", encoder: || None, decoder: || None },
    Entry {
        id: CodecId::DFCM_F64,
        name: "dfcm",
        encoder: dfcm::encoder::<u64>,
        decoder: dfcm::decoder::<u64>,
    },
    Entry {
        id: CodecId::DFCM_F32,
        name: "dfcm32",
        encoder: dfcm::encoder::<u32>,
        decoder: dfcm::decoder::<u32>,
    },
    Entry {
        id: CodecId::DIFFPACK_64,
        name: "diffpack",
        encoder: diffpack::encoder::<u64>,
        decoder: diffpack::decoder::<u64>,
    },
    Entry {
        id: CodecId::DIFFPACK_32,
        name: "diffpack32",
        encoder: diffpack::encoder::<u32>,
        decoder: diffpack::decoder::<u32>,
    },
    Entry {
        id: CodecId::DIFFPACK_16,
        name: "diffpack16",
        encoder: diffpack::encoder::<u16>,
        decoder: diffpack::decoder::<u16>,
    },
];

/// How many codecs the table has.
pub(crate) const COUNT: usize = TABLE.len();

/// The names of the codecs, in the order of reports.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.name)
}

/// The place of a codec in the table.
pub(crate) fn index(id: CodecId) -> Option<usize> {
    TABLE.iter().position(|entry| entry.id == id)
}

#[cfg(feature = "dfcm")]
mod dfcm {
    use super::{Decoder, Encoder};
    use mpress_dfcm::{Decoder as DfcmDecoder, Encoder as DfcmEncoder, Lines, Word};

    pub(super) fn encoder<W: Word + Send + 'static>() -> Option<Encoder> {
        let memory = vec![0; Lines::MAX_SIZED.words::<W>()];
        Some(Box::new(DfcmEncoder::<W, Vec<u64>>::new(memory).ok()?))
    }

    pub(super) fn decoder<W: Word + Send + 'static>() -> Option<Decoder> {
        let memory = vec![0; Lines::MAX.words::<W>()];
        Some(Box::new(DfcmDecoder::<W, Vec<u64>>::new(memory).ok()?))
    }
}

#[cfg(feature = "diffpack")]
mod diffpack {
    use super::{Decoder, Encoder};
    use mpress_diffpack::{Decoder as DiffpackDecoder, Effort, Encoder as DiffpackEncoder, Word};

    #[expect(clippy::unnecessary_wraps, reason = "as the table asks")]
    pub(super) fn encoder<W: Word + Send>() -> Option<Encoder> {
        Some(Box::new(DiffpackEncoder::<W>::remembering(Effort::Balanced)))
    }

    #[expect(clippy::unnecessary_wraps, reason = "as the table asks")]
    pub(super) fn decoder<W: Word + Send>() -> Option<Decoder> {
        Some(Box::new(DiffpackDecoder::<W>::new()))
    }
}

/// What stands in for a codec whose feature is off.
#[cfg(not(all(feature = "dfcm", feature = "diffpack")))]
#[expect(clippy::extra_unused_type_parameters, reason = "as those that they stand in for")]
mod absent {
    use super::{Decoder, Encoder};

    pub(super) fn encoder<W>() -> Option<Encoder> {
        None
    }

    pub(super) fn decoder<W>() -> Option<Decoder> {
        None
    }
}
#[cfg(not(feature = "dfcm"))]
use absent as dfcm;
#[cfg(not(feature = "diffpack"))]
use absent as diffpack;

/// Idle encoders and decoders, codec by codec. As many come to exist as threads work at the same time.
#[derive(Default)]
pub(crate) struct Instances {
    encoders: [Mutex<Vec<Encoder>>; COUNT],
    /// Those for blocks, which forget everything before each; the others would lose what they have learned.
    block_encoders: [Mutex<Vec<Encoder>>; COUNT],
    decoders: [Mutex<Vec<Decoder>>; COUNT],
}

impl Instances {
    /// Lends an encoder of this codec to `work`; `None` where this build has none.
    pub(crate) fn with_encoder<R>(&self, id: CodecId, work: impl FnOnce(&mut dyn Encode) -> R) -> Option<R> {
        let at = index(id)?;
        lend(&self.encoders[at], TABLE[at].encoder, |encoder| work(&mut **encoder))
    }

    /// Lends an encoder to be reset to `work`; `None` where this build has none.
    pub(crate) fn with_block_encoder<R>(
        &self,
        id: CodecId,
        work: impl FnOnce(&mut dyn Encode) -> R,
    ) -> Option<R> {
        let at = index(id)?;
        lend(&self.block_encoders[at], TABLE[at].encoder, |encoder| work(&mut **encoder))
    }

    /// Lends a decoder of this codec to `work`; `None` where this build has none.
    pub(crate) fn with_decoder<R>(&self, id: CodecId, work: impl FnOnce(&mut dyn Decode) -> R) -> Option<R> {
        let at = index(id)?;
        lend(&self.decoders[at], TABLE[at].decoder, |decoder| work(&mut **decoder))
    }
}

fn lend<T, R>(idle: &Mutex<Vec<T>>, make: fn() -> Option<T>, work: impl FnOnce(&mut T) -> R) -> Option<R> {
    let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut instance = match waiting {
        Some(instance) => instance,
        None => make()?,
    };
    let result = work(&mut instance);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(instance);
    Some(result)
}
