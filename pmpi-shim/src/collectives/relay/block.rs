//! A block of a broadcast or all-gather that is being relayed: which chunks have arrived, and in which form.

use super::Group;
use crate::messages::error::truncated;
use crate::operations::state::Shim;
use mpress::{Buffer, Kind, Outgoing, Stream, Tail, waiting};
use std::{collections::VecDeque, ffi::c_int, mem::MaybeUninit, ops::Range, rc::Rc, slice};

/// Length of a chunk, in raw bytes, of a block that is too short for a stream.
const CHUNK: usize = 63 << 10;

/// The form in which a block comes.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Its first chunk has not come yet.
    Unknown,
    /// Uncompressed, as always within a node.
    Raw,
    Stream(Stream),
    /// Damaged: the code of this error.
    Damaged(c_int),
    /// Longer than here, by this stream.
    TooLong(Stream),
    /// Its owner could not send it: its chunks are empty.
    Nothing,
}

/// A block in progress.
pub(super) struct Block {
    pub(super) owner: usize,
    pub(super) at: *mut u8,
    pub(super) len: usize,
    /// Length of a chunk, in raw bytes.
    chunk: usize,
    /// Whether it may be a stream.
    is_long: bool,
    /// Number of its chunks that are here.
    pub(super) here: usize,
    pub(super) form: Form,
    /// For this rank's own block, the part yet to be encoded.
    pub(super) tail: Option<Tail>,
    /// For blocks that go on to another node, the chunks as received, or the head of this rank's own.
    pub(super) wires: VecDeque<Rc<Buffer>>,
    /// Whether it is relayed from here to another node.
    leaves: bool,
}

impl Block {
    /// The block of this owner. `chunk`: raw bytes of a chunk of a stream, if it may be one; `leaves`: whether it is relayed from here to another node.
    ///
    /// # Safety
    /// The address must have room for this number of bytes for as long as the block is used, or be null.
    pub(super) unsafe fn new(
        (owner, at, len): (usize, *mut u8, usize),
        chunk: Option<usize>,
        leaves: bool,
    ) -> Self {
        let (is_long, chunk) = (chunk.is_some(), chunk.unwrap_or(CHUNK));
        let (here, form, tail, wires) = (0, Form::Unknown, None, VecDeque::new());
        Self { owner, at, len, chunk, is_long, here, form, tail, wires, leaves }
    }

    pub(super) fn chunks(&self) -> usize {
        self.len.div_ceil(self.chunk)
    }

    pub(super) fn range(&self, index: usize) -> Range<usize> {
        let at = |index: usize| index.saturating_mul(self.chunk).min(self.len);
        at(index)..at(index + 1)
    }

    /// Whether it came damaged, or is longer than here.
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self.form, Form::Damaged(_) | Form::TooLong(_))
    }

    /// The error with which it came, for the call that is to report it.
    pub(super) fn error(&self) -> Option<c_int> {
        match self.form {
            Form::Damaged(code) => Some(code),
            Form::TooLong(stream) => Some(truncated(stream.raw_len(), self.len)),
            _ => None,
        }
    }

    /// A chunk of `len` bytes has come from the same node.
    pub(super) fn came(&mut self, index: usize, len: usize, damaged: c_int) {
        self.form = match self.form {
            Form::Unknown if len == 0 => Form::Nothing,
            Form::Unknown | Form::Raw if len == self.range(index).len() => Form::Raw,
            Form::Unknown | Form::Raw => Form::Damaged(damaged),
            form => form,
        };
        self.here = index + 1;
    }

    /// A chunk has come from another node.
    pub(super) fn arrived(&mut self, shim: &Shim, index: usize, wire: Buffer, id: u32) {
        if index == 0 {
            self.form = self.form_of(shim, &wire, id);
        }
        let landed = match self.form {
            Form::Nothing => true,
            _ if self.is_wrong() => true,
            form => self.land(shim, form, index, &wire),
        };
        if !landed {
            self.form = Form::Damaged(shim.damaged);
        }
        self.here = index + 1;
        if self.leaves {
            self.wires.push_back(Rc::new(wire));
        }
    }

    /// Writes a chunk from another node to its place.
    fn land(&mut self, shim: &Shim, form: Form, index: usize, wire: &[u8]) -> bool {
        let range = self.range(index);
        // SAFETY: memory of `len` bytes, which lives as long as the collective and is not accessed elsewhere.
        let out = unsafe {
            slice::from_raw_parts_mut(self.at.add(range.start).cast::<MaybeUninit<u8>>(), range.len())
        };
        match form {
            Form::Raw if wire.len() == out.len() => {
                out.write_copy_of_slice(wire);
                true
            }
            Form::Stream(_) if index == 0 => waiting::coding(|| {
                shim.engine.open(wire).is_ok_and(|frame| shim.engine.decode_head(&frame, out).is_ok())
            }),
            Form::Stream(stream) => {
                waiting::coding(|| shim.engine.decode_chunk(&stream, index, wire, out).is_ok())
            }
            _ => false,
        }
    }

    /// The form, from the first chunk, received from another node.
    fn form_of(&self, shim: &Shim, wire: &[u8], id: u32) -> Form {
        if wire.is_empty() {
            return Form::Nothing;
        }
        if wire.len() == self.range(0).len() {
            return Form::Raw;
        }
        let stream = shim.engine.open(wire).ok().and_then(|frame| frame.stream());
        if let Some(long) = stream.filter(|stream| stream.id() == id && stream.raw_len() > self.len) {
            return Form::TooLong(long);
        }
        let is_this = |stream: &Stream| {
            stream.id() == id && stream.raw_len() == self.len && stream.range(0) == self.range(0)
        };
        let stream = stream.filter(|stream| self.is_long && is_this(stream));
        stream.map_or(Form::Damaged(shim.damaged), Form::Stream)
    }

    /// Starts to encode this rank's own block, if it is worth it: the first chunk at once.
    pub(super) fn encode(&mut self, shim: &Shim, group: &Group<'_>, kind: Kind, id: u32) {
        self.here = self.chunks();
        self.form = Form::Raw;
        if self.at.is_null() {
            self.form = Form::Nothing;
        } else if self.is_long && self.leaves {
            // SAFETY: the block, which the program lends for the collective.
            let raw = unsafe { slice::from_raw_parts(self.at, self.len) };
            let begun = waiting::coding(|| {
                let to = group.peers.spread.farthest();
                let considered = shim.engine.consider(group.strategy, kind, to, self.len)?;
                Some(shim.engine.begin(considered, raw, id, Some(self.chunk)))
            });
            if let Some(Outgoing::Stream(head, tail)) = begun {
                self.wires.push_back(Rc::new(head));
                self.tail = Some(*tail);
            }
        }
    }

    /// The next chunk for another node, in our own memory; `None` if there is no memory for it.
    pub(super) fn next_wire(&mut self, shim: &Shim) -> Option<Rc<Buffer>> {
        if let Some(wire) = self.wires.pop_front() {
            return Some(wire);
        }
        let tail = self.tail.as_mut()?;
        let due = tail.due()?;
        // SAFETY: as above.
        let raw = unsafe { slice::from_raw_parts(self.at.add(due.start), due.len()) };
        waiting::coding(|| shim.engine.next_chunk(tail, raw)).map(Rc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lengths_of_chunks_from_the_same_node_tell_the_form() {
        let form = |lens: [usize; 3]| {
            // SAFETY: null.
            let mut block = unsafe { Block::new((0, std::ptr::null_mut(), 20), Some(8), false) };
            lens.iter().enumerate().for_each(|(index, &len)| block.came(index, len, 7));
            (block.here, block.form)
        };
        assert!(matches!(form([8, 8, 4]), (3, Form::Raw)));
        assert!(matches!(form([0, 0, 0]), (3, Form::Nothing)));
        for lens in [[7, 7, 3], [8, 7, 4], [8, 8, 3], [8, 0, 4], [8, 8, 5]] {
            assert!(matches!(form(lens), (3, Form::Damaged(7))), "{lens:?}");
        }
    }
}
