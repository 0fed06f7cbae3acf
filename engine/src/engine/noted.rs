//! Messages that may refer to earlier ones, in frames with notes. Format: `docs/format/frame.md`, section "Notes".

use super::Engine;
use crate::blocks::BLOCK;
use crate::buffer::Buffer;
use crate::codecs::Setting;
use crate::decide::Plan;
use crate::frame::{self, FrameError, Incoming, Note};
use crate::memory::{Channel, Memory};
use mpress_codec::{Kind, Out};
use mpress_selector::Link;
use std::mem::MaybeUninit;

impl Engine {
    /// Like [`pack`](Self::pack), for a message that may refer to an earlier one. If the message is not kept and there is no news for its receiver,
    /// its frame has no note.
    pub(super) fn pack_noted(
        &self,
        setting: Setting,
        raw: &[u8],
        kind: Kind,
        (memory, channel, plan): (&Memory, Channel, &mut Plan),
    ) -> Option<Buffer> {
        if raw.len() > BLOCK {
            return self.pack(setting, raw, kind);
        }
        self.instances.with_encoder(setting, |encoder| {
            if !self.gains(encoder, raw, raw.len()) {
                return None;
            }
            let fill = |copy: &mut [u8]| {
                copy.copy_from_slice(raw);
                true
            };
            let keeping = if encoder.refers() { memory.keep(channel, raw.len(), fill) } else { None };
            let kept = keeping.as_ref().map(|keeping| (keeping.key(), keeping.reference().is_some()));
            let (message, reference) =
                keeping.as_ref().map_or((raw, None), |keeping| (keeping.message(), keeping.reference()));
            if reference.is_some() {
                plan.refer();
            }
            let packed = self.append(encoder, reference, message);
            let has_note = keeping.is_some() || memory.owes(channel.peer);
            let note = has_note.then_some(|| memory.note(channel.peer, keeping));
            let frame = packed.and_then(|mut frame| {
                let (id, number) = (setting.id(), setting.number);
                frame::seal(self.mark, id, number, kind, raw.len(), note, &mut frame)?;
                Some(frame)
            });
            if let Some(kept) = kept {
                let wire_len = frame.as_ref().map_or(raw.len(), |frame| frame.len());
                self.report_kept(memory, kept, wire_len, self.link_of(plan));
            }
            frame
        })?
    }

    /// Counts a kept message, and reports its length on the wire to its channel.
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

    /// The link, if its speed matters: a strategy that decides by a rule compresses at any cost.
    pub(super) fn link_of(&self, plan: &Plan) -> Option<Link> {
        (!plan.is_rule()).then(|| self.decider.link())
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
        let payload = |reference: Option<&[u8]>, out: Out<'_>| self.decode_payload(incoming, reference, out);
        let decoded = arrival.decode(0..incoming.raw_len(), out, payload);
        // Out of memory: the message may be decoded later.
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
