//! The instances of codecs that wait for work.

use super::{COUNT, Decoder, Encoder, Setting, Width, reader};
use mpress_codec::{CodecId, Decode, Encode};
use std::sync::{Mutex, PoisonError};

/// Frames may say so many ids.
const IDS: usize = 256;

type Idle<T> = Mutex<Vec<T>>;

/// Idle encoders and decoders. As many come to exist as threads work at the same time.
pub(crate) struct Instances {
    encoders: Box<[[Idle<Encoder>; Width::ALL.len()]; COUNT]>,
    /// Those for blocks, which forget everything before each; the others would lose what they have learned.
    block_encoders: Box<[[Idle<Encoder>; Width::ALL.len()]; COUNT]>,
    decoders: Box<[Idle<Decoder>; IDS]>,
}

impl Default for Instances {
    fn default() -> Self {
        Self {
            encoders: Box::default(),
            block_encoders: Box::default(),
            decoders: Box::new(std::array::from_fn(|_| Mutex::default())),
        }
    }
}

impl Instances {
    /// Lends an encoder of this codec to `work`; `None` if memory is short.
    pub(crate) fn with_encoder<R>(
        &self,
        setting: Setting,
        work: impl FnOnce(&mut dyn Encode) -> R,
    ) -> Option<R> {
        let idle = &self.encoders[setting.codec.index()][setting.width as usize];
        lend(idle, || setting.encoder(), |encoder| work(&mut **encoder))
    }

    /// Lends an encoder to be reset to `work`; `None` if memory is short.
    pub(crate) fn with_block_encoder<R>(
        &self,
        setting: Setting,
        work: impl FnOnce(&mut dyn Encode) -> R,
    ) -> Option<R> {
        let idle = &self.block_encoders[setting.codec.index()][setting.width as usize];
        lend(idle, || setting.encoder(), |encoder| work(&mut **encoder))
    }

    /// Lends a decoder of frames with this id to `work`; `None` where this build has none, or memory is short.
    pub(crate) fn with_decoder<R>(&self, id: CodecId, work: impl FnOnce(&mut dyn Decode) -> R) -> Option<R> {
        let idle = &self.decoders[usize::from(id.0)];
        lend(idle, || decoder(id), |decoder| work(&mut **decoder))
    }
}

impl Setting {
    fn encoder(self) -> Option<Encoder> {
        ((self.codec.row().member)(self.width)?.encoder)()
    }
}

fn decoder(id: CodecId) -> Option<Decoder> {
    (reader(id)?.member_of(id)?.decoder)()
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
