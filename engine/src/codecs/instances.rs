//! Idle instances of codecs.

use super::{Decoder, Encoder, Setting, Table, Width};
use mpress_codec::{CodecId, DecodeError, Encode, Out, filled};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of ids that a frame can contain.
const IDS: usize = 256;

type Idle<T> = Mutex<Vec<T>>;

/// Idle encoders by row and width of words.
type Encoders = Box<[[Idle<Encoder>; Width::ALL.len()]]>;

/// Idle encoders and decoders. There are as many as threads that have worked at the same time.
pub(crate) struct Instances {
    table: Arc<Table>,
    encoders: Encoders,
    /// Encoders for blocks, which reset them before each; the others would lose what they have learned.
    block_encoders: Encoders,
    decoders: Box<[Idle<Decoder>; IDS]>,
}

impl Instances {
    /// No instances yet, of the codecs in this table.
    pub(crate) fn of(table: Arc<Table>) -> Self {
        let encoders = || (0..table.len()).map(|_| Default::default()).collect();
        Self {
            encoders: encoders(),
            block_encoders: encoders(),
            decoders: Box::new(std::array::from_fn(|_| Mutex::default())),
            table,
        }
    }

    /// Lends an encoder of this codec to `work`; `None` if out of memory.
    pub(crate) fn with_encoder<R>(
        &self,
        setting: Setting,
        work: impl FnOnce(&mut dyn Encode) -> R,
    ) -> Option<R> {
        let idle = &self.encoders[usize::from(setting.index)][setting.width as usize];
        lend(idle, setting.member.encoder, |encoder| work(&mut **encoder))
    }

    /// Lends an encoder to `work`, which must reset it before it encodes; `None` if out of memory.
    pub(crate) fn with_block_encoder<R>(
        &self,
        setting: Setting,
        work: impl FnOnce(&mut dyn Encode) -> R,
    ) -> Option<R> {
        let idle = &self.block_encoders[usize::from(setting.index)][setting.width as usize];
        lend(idle, setting.member.encoder, |encoder| work(&mut **encoder))
    }

    /// Decodes the payload of a frame with this id into all of `out`, which is initialised on success, with this reference if there is one. `None` if
    /// this engine has no such decoder, or if out of memory.
    pub(crate) fn decode(
        &self,
        id: CodecId,
        reference: Option<&[u8]>,
        wire: &[u8],
        out: Out<'_>,
    ) -> Option<Result<(), DecodeError>> {
        lend(
            &self.decoders[usize::from(id.0)],
            || (self.table.reader(id)?.decoder)(),
            |decoder| {
                // Payloads are independent: earlier ones must have no effect.
                decoder.reset();
                filled(&mut **decoder, reference, wire, out).map(|_| ())
            },
        )
    }

    /// Makes `decoder` the next one to be lent.
    #[cfg(test)]
    pub(crate) fn with_idle(self, id: CodecId, decoder: Decoder) -> Self {
        self.decoders[usize::from(id.0)].lock().unwrap_or_else(PoisonError::into_inner).push(decoder);
        self
    }
}

fn lend<T, R>(idle: &Idle<T>, make: impl FnOnce() -> Option<T>, work: impl FnOnce(&mut T) -> R) -> Option<R> {
    let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let mut instance = match waiting {
        Some(instance) => instance,
        None => make()?,
    };
    let result = work(&mut instance);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(instance);
    Some(result)
}
