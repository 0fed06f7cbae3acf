//! Long messages: blocks of a MiB, each coded independently, in parallel if the engine has threads (`docs/format/frame.md`, section "Blocks").

use crate::codecs::{Instances, Setting};
use crate::frame::FrameError;
use mpress_codec::DecodeErrorKind::{Corrupt, Length, Truncated};
use mpress_codec::{CodecId, Encode, Out, encode_into_with};
use std::mem::MaybeUninit;

/// Raw bytes of a block. Only longer messages are coded in blocks.
pub(crate) const BLOCK: usize = 1 << 20;
/// Length of the part before the table of lengths: the codec of the blocks, and three zeros.
const HEAD: usize = 4;
/// Length of an entry of the table.
const ENTRY: usize = 4;

/// The threads to which blocks are distributed, created for the first long message.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    #[cfg(feature = "rayon")]
    count: usize,
    #[cfg(feature = "rayon")]
    pool: std::sync::OnceLock<Option<rayon::ThreadPool>>,
}

impl Threads {
    /// A pool of `count` threads. Below two, or if the system cannot create threads, only the caller's thread works.
    #[cfg(feature = "rayon")]
    pub(crate) fn new(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    /// Only the caller's thread.
    #[cfg(not(feature = "rayon"))]
    pub(crate) fn new(_: usize) -> Self {
        Self::default()
    }

    /// Calls `work` for each item. Returns the results in the order of the items.
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

/// The maximum room for a message of this length in slots of this length.
pub(crate) fn bound(slot: usize, raw_len: usize) -> Option<usize> {
    let blocks = raw_len.div_ceil(BLOCK);
    slot.checked_add(ENTRY)?.checked_mul(blocks)?.checked_add(HEAD)
}

/// The room for a block: whatever its codec says, that for the block itself.
pub(crate) fn slot(instances: &Instances, setting: Setting) -> Option<usize> {
    let bound = instances.with_block_encoder(setting, |encoder| encoder.max_encoded_len(BLOCK)).flatten()?;
    Some(bound.max(BLOCK))
}

/// Encodes a message into the front of `room`, which must have the length of the bound for these slots. Returns the encoded length; `None` if it is not
/// shorter than the message.
pub(crate) fn encode(
    threads: &Threads,
    instances: &Instances,
    (setting, slot): (Setting, usize),
    raw: &[u8],
    room: &mut [u8],
) -> Option<usize> {
    let count = raw.len().div_ceil(BLOCK);
    let table = HEAD + count * ENTRY;
    let blocks: Vec<_> = raw.chunks(BLOCK).zip(room.get_mut(table..)?.chunks_mut(slot)).collect();
    let lens = threads.each(blocks, |(block, slot)| {
        let len =
            instances.with_block_encoder(setting, |encoder| encode_block(encoder, block, slot)).flatten();
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
    *room.first_chunk_mut::<HEAD>()? = [setting.id().0, 0, 0, 0];
    (end < raw.len()).then_some(end)
}

fn encode_block(encoder: &mut dyn Encode, block: &[u8], room: &mut [u8]) -> Option<usize> {
    // So that a block's wire depends on the block only, not on the threads.
    encoder.reset();
    encode_part(encoder, None, block, room)
}

/// Encodes a part of a message, with its reference; returns its length, or `None` if it is not worthwhile or there is no room.
pub(crate) fn encode_part(
    encoder: &mut dyn Encode,
    reference: Option<&[u8]>,
    part: &[u8],
    room: &mut [u8],
) -> Option<usize> {
    if reference.is_none() && encoder.worthwhile(part) == Some(false) {
        return None;
    }
    encode_into_with(encoder, reference, part, room).ok()
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
    if head[1..] != [0; 3] || [CodecId::RAW, CodecId::BLOCKS, CodecId::STREAM].contains(&codec) {
        return Err(FrameError::damaged(Corrupt, 0));
    }
    let count = out.len().div_ceil(BLOCK);
    // There is one entry per block, so all of `out` is filled.
    let (table, mut rest) = rest.split_at_checked(count * ENTRY).ok_or(truncated)?;
    let mut blocks = Vec::with_capacity(count);
    for (i, (len, raw)) in table.as_chunks().0.iter().zip(out.chunks_mut(BLOCK)).enumerate() {
        let len = u32::from_le_bytes(*len) as usize;
        let wire = rest.split_off(..len).ok_or(truncated)?;
        if len > raw.len() {
            return Err(FrameError::damaged(Corrupt, HEAD + i * ENTRY));
        }
        blocks.push((wire, payload.len() - rest.len() - len, raw));
    }
    if !rest.is_empty() {
        return Err(FrameError::damaged(Length, payload.len() - rest.len()));
    }
    let results = threads.each(blocks, |(wire, at, raw)| {
        if wire.len() == raw.len() {
            raw.write_copy_of_slice(wire);
            return Ok(());
        }
        let decoded = instances.decode(codec, None, wire, Out::new(raw)).ok_or(FrameError::Codec(codec))?;
        decoded.map_err(|error| FrameError::damaged(error.kind, at.saturating_add(error.offset)))
    });
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpress_codec::{DecodeErrorKind, Out};
    use mpress_dfcm::{Encoder64, Lines};
    use std::sync::Arc;

    const CODEC: CodecId = CodecId::DFCM_F64;

    fn read(payload: &[u8], raw_len: usize) -> Result<(), FrameError> {
        let mut out = vec![MaybeUninit::new(0xee); raw_len];
        decode(&Threads::default(), &Instances::of(Arc::default()), payload, &mut out)
    }

    /// A payload of one block.
    fn one(wire: &[u8]) -> Vec<u8> {
        [&[CODEC.0, 0, 0, 0], &(wire.len() as u32).to_le_bytes()[..], wire].concat()
    }

    fn damaged(kind: DecodeErrorKind, offset: usize) -> Result<(), FrameError> {
        Err(FrameError::damaged(kind, offset))
    }

    /// The codec's wire, which may be longer or shorter than `raw`.
    fn wire(raw: &[u8]) -> Vec<u8> {
        let mut encoder = Encoder64::new(vec![0; Lines::MAX_SIZED.words::<u64>()]).unwrap();
        let mut wire = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
        let mut out = Out::from_slice(&mut wire);
        encoder.encode(raw, &mut out).unwrap();
        out.written().to_vec()
    }

    #[test]
    fn a_block_longer_than_its_message_is_refused() {
        let mut state = 1_u64;
        let raw: Vec<u8> = (0..4000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        let wire = wire(&raw);
        assert!(wire.len() > raw.len());
        assert_eq!(read(&one(&wire), raw.len()), damaged(Corrupt, 4));
        assert_eq!(read(&one(&raw), raw.len()), Ok(()), "as it is");
        // Missing bytes take precedence.
        assert_eq!(read(&one(&wire)[..3000], raw.len()), damaged(Truncated, 3000));
    }

    #[test]
    fn a_short_message_may_come_in_blocks() {
        assert_eq!(read(&[CODEC.0, 0, 0, 0], 0), Ok(()));
        assert_eq!(read(&[CODEC.0, 0, 0, 0, 0], 0), damaged(Length, 4));
        assert_eq!(read(&one(b"block"), 5), Ok(()));
        assert_eq!(read(&one(b""), 5), damaged(Truncated, 8));
    }

    #[test]
    fn a_table_of_more_blocks_than_there_are_bytes_is_truncated() {
        // Three blocks, so the table has twelve bytes.
        assert_eq!(read(&[&[CODEC.0, 0, 0, 0], &[0; 11][..]].concat(), 3 << 20), damaged(Truncated, 15));
    }
}
