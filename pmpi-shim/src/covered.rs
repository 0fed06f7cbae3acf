//! A frame on which other messages were put before it was taken out of the program's memory.
//!
//! An MPI writes a message from front to back. So in the range where another message was put, the frame is what that replaced
//! up to the point from which the memory has changed since, and from there on what is in the memory.

use mpress::{Buffer, Engine};

/// The messages that were put over a pending receive, the latest last.
#[derive(Default)]
pub(crate) struct Covered {
    layers: Vec<Layer>,
}

struct Layer {
    /// Where in the receive's memory, in bytes.
    at: usize,
    /// What was there before, ...
    before: Vec<u8>,
    /// ... and what was put there: as many bytes.
    after: Vec<u8>,
}

/// A frame is there, but not whole.
pub(crate) struct Damaged;

/// More messages than these are not told apart: the frame of a receive that has been covered by more may be damaged.
const MOST: usize = 64;

/// A part of the frame that begins at most this many bytes before the first difference may look like what was put there.
const ALIKE: usize = 64;

impl Layer {
    /// Puts back what is not known to have come since; says how many bytes that are.
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

    /// A message is put at `at`: `before` is what it replaces. Where memory is short, the frame may be a damaged one.
    pub(crate) fn put(&mut self, at: usize, before: &[u8], after: &[u8]) {
        let copy = |bytes: &[u8]| {
            let mut copy = Vec::new();
            copy.try_reserve_exact(bytes.len()).ok()?;
            copy.extend_from_slice(bytes);
            Some(copy)
        };
        let (Some(mut before), Some(after)) = (copy(before), copy(after)) else { return };
        // Receives into one buffer, one after the other: what is under all of them is what counts.
        if let Some(last) = self.layers.pop_if(|last| last.at == at && last.after.len() == after.len()) {
            Layer { at: 0, ..last }.lift(&mut before);
        }
        if self.layers.len() == MOST {
            self.layers.remove(0);
        }
        self.layers.push(Layer { at, before, after });
    }

    /// The frame of a receive that has completed, if there is one; `now` is what its memory holds, as many bytes as came.
    pub(crate) fn frame(self, engine: &Engine, now: Buffer) -> Result<Option<Buffer>, Damaged> {
        if engine.open(&now).is_ok() {
            return Ok(Some(now)); // all of it came later
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
