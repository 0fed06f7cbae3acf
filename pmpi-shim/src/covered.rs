//! Recovers a frame that other messages overwrote before it was taken out of the program's memory.
//!
//! An MPI writes a message from front to back. So in a range that another message was copied to, the frame has the bytes that were
//! replaced, up to the point where the memory has changed since, and from there on the bytes in memory.

use mpress::{Buffer, Engine};

/// Messages copied over a pending receive, the latest last.
#[derive(Default)]
pub(crate) struct Covered {
    layers: Vec<Layer>,
}

struct Layer {
    /// Offset in the receive's memory, in bytes.
    at: usize,
    /// The bytes before the copy.
    before: Vec<u8>,
    /// The bytes copied, of the same length.
    after: Vec<u8>,
}

/// There is a frame, but it is not complete.
pub(crate) struct Damaged;

/// Greatest number of messages kept apart: the frame of a receive covered by more may be damaged.
const MOST: usize = 64;

/// Up to this many bytes of the frame before the first difference may be equal to the bytes copied.
const ALIKE: usize = 64;

impl Layer {
    /// Puts back the bytes that have not been received since; returns their number.
    fn lift(&self, memory: &mut [u8]) -> usize {
        let Some(memory) = memory.get_mut(self.at..) else { return 0 };
        let len = memory.len().min(self.after.len());
        let differs = memory.iter().zip(&self.after).position(|(now, after)| now != after);
        let end = differs.unwrap_or(len);
        memory.iter_mut().zip(&self.before).take(end).for_each(|(now, before)| *now = *before);
        end
    }
}

impl Covered {
    pub(crate) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Records that a message is copied to `at`, where it replaces `before`. If memory is short, the frame may end up damaged.
    pub(crate) fn put(&mut self, at: usize, before: &[u8], after: &[u8]) {
        let copy = |bytes: &[u8]| {
            let mut copy = Vec::new();
            copy.try_reserve_exact(bytes.len()).ok()?;
            copy.extend_from_slice(bytes);
            Some(copy)
        };
        let (Some(mut before), Some(after)) = (copy(before), copy(after)) else { return };
        // Successive receives into the same buffer: only the bytes under all of them count.
        if let Some(last) = self.layers.pop_if(|last| last.at == at && last.after.len() == after.len()) {
            Layer { at: 0, ..last }.lift(&mut before);
        }
        if self.layers.len() == MOST {
            self.layers.remove(0);
        }
        self.layers.push(Layer { at, before, after });
    }

    /// The frame of a completed receive, if there is one; `now` has the received bytes as they are in its memory.
    pub(crate) fn frame(self, engine: &Engine, now: Buffer) -> Result<Option<Buffer>, Damaged> {
        if engine.open(&now).is_ok() {
            return Ok(Some(now)); // everything was received later
        }
        let marked = engine.is_frame(&now);
        let mut whole = now;
        let ends: Vec<usize> = self.layers.iter().rev().map(|layer| layer.lift(&mut whole)).collect();
        if !marked && !engine.is_frame(&whole) {
            return Ok(None);
        }
        if engine.open(&whole).is_ok() {
            return Ok(Some(whole));
        }
        for (layer, &end) in self.layers.iter().rev().zip(&ends) {
            for i in (end.saturating_sub(ALIKE)..end).rev() {
                whole[layer.at + i] = layer.after[i];
                if engine.open(&whole).is_ok() {
                    return Ok(Some(whole));
                }
            }
            layer.lift(&mut whole);
        }
        Err(Damaged)
    }
}
