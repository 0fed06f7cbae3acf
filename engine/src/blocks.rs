//! Long messages: blocks of a MiB, each coded for itself, side by side where the engine has threads
//! (`docs/format/frame.md`, section "Blocks").

use crate::codecs::Instances;
use crate::frame::FrameError;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated};
use mpress_codec::{CodecId, Encode, Out};
use std::mem::MaybeUninit;

/// Raw bytes of a block. Only messages longer than that are coded in blocks.
pub(crate) const BLOCK: usize = 1 << 20;
/// Bytes in front of the table of lengths: the codec of the blocks, and three zeros.
const HEAD: usize = 4;
/// Bytes of an entry of the table.
const ENTRY: usize = 4;

/// The threads that blocks are shared out to: made when the first long message comes.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    #[cfg(feature = "rayon")]
    count: usize,
    #[cfg(feature = "rayon")]
    pool: std::sync::OnceLock<Option<rayon::ThreadPool>>,
}

impl Threads {
    /// So many threads; none but the caller's if there are fewer than two, or if the system gives none.
    #[cfg(feature = "rayon")]
    pub(crate) fn new(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    /// Does the work for each item; gives what comes of it in the order of the items.
    fn each<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
        #[cfg(feature = "rayon")]
        if self.count > 1
            && let Some(pool) = self.pool.get_or_init(|| self.start())
        {
            use rayon::prelude::*;
            return pool.install(|| items.into_par_iter().map(work).collect());
        }
        items.into_iter().map(work).collect()
    }

    #[cfg(feature = "rayon")]
    fn start(&self) -> Option<rayon::ThreadPool> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(self.count);
        builder.thread_name(|i| format!("mpress-{i}")).build().ok()
    }
}

/// The room that a message of this length needs at most.
pub(crate) fn bound(instances: &Instances, codec: CodecId, raw_len: usize) -> Option<usize> {
    let blocks = raw_len.div_ceil(BLOCK);
    slot(instances, codec)?.checked_add(ENTRY)?.checked_mul(blocks)?.checked_add(HEAD)
}

/// The room that a block needs at most.
fn slot(instances: &Instances, codec: CodecId) -> Option<usize> {
    instances.with_block_encoder(codec, |encoder| encoder.max_encoded_len(BLOCK)).flatten()
}

/// Encodes a message into the front of `room`, which has the bound, and gives the length there. `None` if that is no
/// shorter than the message.
pub(crate) fn encode(
    threads: &Threads,
    instances: &Instances,
    codec: CodecId,
    raw: &[u8],
    room: &mut [u8],
) -> Option<usize> {
    let count = raw.len().div_ceil(BLOCK);
    let slot = slot(instances, codec)?;
    let table = HEAD + count * ENTRY;
    let blocks: Vec<_> = raw.chunks(BLOCK).zip(room.get_mut(table..)?.chunks_mut(slot)).collect();
    let lens = threads.each(blocks, |(block, slot)| {
        let len = instances.with_block_encoder(codec, |encoder| encode_block(encoder, block, slot)).flatten();
        len.filter(|len| *len < block.len()).or_else(|| {
            slot.get_mut(..block.len())?.copy_from_slice(block);
            Some(block.len())
        })
    });
    let mut end = table;
    for (i, len) in lens.into_iter().enumerate() {
        let (len, start) = (len?, table + i * slot);
        room.copy_within(start..start + len, end);
        end += len;
        let entry = room.get_mut(HEAD + i * ENTRY..)?.first_chunk_mut()?;
        *entry = u32::try_from(len).ok()?.to_le_bytes();
    }
    *room.first_chunk_mut::<HEAD>()? = [codec.0, 0, 0, 0];
    (end < raw.len()).then_some(end)
}

fn encode_block(encoder: &mut dyn Encode, block: &[u8], room: &mut [u8]) -> Option<usize> {
    // So that a block's wire depends on nothing but the block.
    encoder.reset();
    if encoder.worthwhile(block) == Some(false) {
        return None;
    }
    let mut out = Out::from_slice(room);
    encoder.encode(block, &mut out).ok()?;
    Some(out.len())
}

/// The codec of the blocks of a payload.
pub(crate) fn codec(payload: &[u8]) -> Option<CodecId> {
    payload.first().map(|codec| CodecId(*codec))
}

/// Decodes a payload into all of `out`.
pub(crate) fn decode(
    threads: &Threads,
    instances: &Instances,
    payload: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Result<(), FrameError> {
    let truncated = FrameError::damaged(Truncated, payload.len());
    let (head, rest) = payload.split_first_chunk::<HEAD>().ok_or(truncated)?;
    let codec = CodecId(head[0]);
    if head[1..] != [0; 3] || [CodecId::RAW, CodecId::BLOCKS].contains(&codec) {
        return Err(FrameError::damaged(Corrupt, 0));
    }
    let count = out.len().div_ceil(BLOCK);
    let (table, mut rest) = rest.split_at_checked(count * ENTRY).ok_or(truncated)?;
    let mut blocks = Vec::with_capacity(count);
    for (len, raw) in table.as_chunks().0.iter().zip(out.chunks_mut(BLOCK)) {
        let len = u32::from_le_bytes(*len) as usize;
        let wire = rest.split_off(..len).ok_or(truncated)?;
        blocks.push((wire, payload.len() - rest.len() - len, raw));
    }
    if !rest.is_empty() {
        return Err(FrameError::damaged(Length, payload.len() - rest.len()));
    }
    let results = threads.each(blocks, |(wire, at, raw)| {
        let len = raw.len();
        let mut out = Out::new(raw);
        if wire.len() == len {
            return out.extend_from_slice(wire).map_err(|_| FrameError::damaged(Length, at));
        }
        instances
            .with_decoder(codec, |decoder| {
                decoder.reset();
                decoder.decode(wire, &mut out).inspect_err(|_| decoder.reset())
            })
            .ok_or(FrameError::Codec(codec))?
            .map_err(|error| FrameError::damaged(error.kind, at + error.offset))
    });
    results.into_iter().collect()
}
