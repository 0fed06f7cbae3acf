//! Messages that may refer to earlier ones, in frames with notes: format, `docs/format/frame.md`, section "Notes".

use super::Engine;
use crate::blocks::BLOCK;
use crate::buffer::Buffer;
use crate::codecs::Setting;
use crate::decide::Plan;
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, NO_NOTE, NOTE, Note};
use crate::memory::{Channel, Keeping, Memory};
use mpress_codec::{Encode, Kind, Out};
use mpress_selector::Link;
use std::mem::MaybeUninit;

impl Engine {
    /// The same for a message that may refer to an earlier one. Without a reference and without news for its receiver it is a frame like any other.
    pub(super) fn pack_noted(
        &self,
        setting: Setting,
        raw: &[u8],
        kind: Kind,
        (memory, channel, link): (&Memory, Channel, Option<Link>),
    ) -> Option<Buffer> {
        if raw.len() > BLOCK {
            return self.pack(setting, raw, kind);
        }
        self.instances.with_encoder(setting, |encoder| {
            let fill = |copy: &mut [u8]| {
                copy.copy_from_slice(raw);
                true
            };
            let keeping = if encoder.refers() { memory.keep(channel, raw.len(), fill) } else { None };
            if keeping.is_none() && !memory.owes(channel.peer) {
                let mut buffer = self.compress(encoder, raw)?;
                frame::seal(self.mark, setting.id(), setting.number, kind, raw.len(), NO_NOTE, &mut buffer)?;
                return Some(buffer);
            }
            let reported = keeping.as_ref().map(|keeping| (keeping.key(), keeping.reference().is_some()));
            let buffer = self.pack_keeping(encoder, setting, raw, kind, (memory, channel, keeping));
            if let Some(reported) = reported {
                let wire_len = buffer.as_ref().map_or(raw.len(), |frame| frame.len());
                self.report_kept(memory, reported, wire_len, link);
            }
            buffer
        })?
    }

    /// Counts a message that is kept, and tells its channel what it took.
    pub(super) fn report_kept(
        &self,
        memory: &Memory,
        (key, refers): ((Channel, usize), bool),
        wire_len: usize,
        link: Option<Link>,
    ) {
        if refers && wire_len < key.1 {
            self.counters.referred(key.1, wire_len);
        }
        memory.encoded(key, refers, wire_len, link);
    }

    /// The link, if its speed matters: a strategy that decides by a rule compresses whatever it costs.
    pub(super) fn link_of(&self, plan: &Plan) -> Option<Link> {
        (!plan.is_rule()).then(|| self.decider.link())
    }

    fn pack_keeping(
        &self,
        encoder: &mut dyn Encode,
        setting: Setting,
        raw: &[u8],
        kind: Kind,
        (memory, channel, keeping): (&Memory, Channel, Option<Keeping>),
    ) -> Option<Buffer> {
        let raw = keeping.as_ref().map_or(raw, Keeping::message);
        let reference = keeping.as_ref().and_then(Keeping::reference);
        if reference.is_none() && !self.gains(encoder, raw, raw.len()) {
            return None;
        }
        let mut buffer = self.append(encoder, reference, raw, HEADER_LEN + NOTE)?;
        let (mark, id, len) = (self.mark, setting.id(), raw.len());
        let note = || memory.note(channel.peer, keeping);
        frame::seal(mark, id, setting.number, kind, len, Some(note), &mut buffer)?;
        Some(buffer)
    }

    /// Decodes the message of a frame with a note, and keeps it if there is room.
    pub(super) fn decode_noted(
        &self,
        incoming: &Incoming<'_>,
        note: Note,
        memory: &Memory,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), FrameError> {
        let mut arrival = memory.arrive(note, out.len())?;
        // What it refers to must not be borrowed from it as long as its room is.
        let reference = arrival.reference.take();
        let reference = reference.as_deref().map(|kept| &**kept);
        let decoded = match arrival.room() {
            Some(room) => self.decode_payload(incoming, reference, Out::from_slice(room)).map(|()| {
                out.write_copy_of_slice(room);
            }),
            None => self.decode_payload(incoming, reference, Out::new(out)),
        };
        // Out of memory: it may be decoded later.
        if !matches!(decoded, Err(FrameError::Codec(_))) {
            memory.settle(arrival, decoded.is_ok().then_some(0));
        }
        decoded
    }

    /// Reports that the message of a frame will not be decoded, for example because it is longer than the program's buffer.
    pub fn refuse(&self, incoming: &Incoming<'_>) {
        self.refuse_noted(incoming.note, incoming.raw_len());
    }

    pub(super) fn refuse_noted(&self, note: Option<Note>, raw_len: usize) {
        if let Some((note, memory)) = note.zip(self.memory.as_ref()) {
            memory.refuse(&note, raw_len);
        }
    }
}
