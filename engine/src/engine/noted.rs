//! Messages that may refer to earlier ones, in frames with notes. Format: `docs/format/frame.md`, section "Notes".

use super::Engine;
use super::streams::part;
use crate::blocks::BLOCK;
use crate::buffer::Buffer;
use crate::codecs::Setting;
use crate::decide::Plan;
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Note};
use crate::memory::{Channel, Keeping, Memory};
use mpress_codec::{Encode, Kind, Out};
use std::mem::MaybeUninit;

/// Bytes of the middle of a message that a trial encodes.
const TRIED: usize = 8 << 10;

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
            let keeping = self.keep(encoder, channel, (plan, raw.len()), |copy| {
                copy.copy_from_slice(raw);
                true
            });
            let (reference, message) = part(keeping.as_ref(), 0..raw.len(), raw);
            let mut frame = self.append(encoder, reference, message)?;
            let has_note = keeping.is_some() || memory.owes(channel.peer);
            let note = has_note.then_some(|| memory.note(channel.peer, keeping));
            let (id, number) = (setting.id(), setting.number);
            frame::seal(self.mark, id, number, kind, raw.len(), note, &mut frame)?;
            Some(frame)
        })?
    }

    /// Copies a message with `fill`, if it is to be kept. A trial encodes a part of it, to find out whether it should refer to an earlier one.
    pub(super) fn keep(
        &self,
        encoder: &mut dyn Encode,
        channel: Channel,
        (plan, len): (&mut Plan, usize),
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Option<Keeping> {
        let memory = self.memory.as_ref().filter(|_| encoder.refers())?;
        let keeping = memory.keep(channel, len, fill)?;
        if keeping.is_trial {
            let start = (len.saturating_sub(TRIED) / 2) & !7;
            let window = start..len.min(start + TRIED);
            let (reference, message) = part(Some(&keeping), window, &[]);
            let wire_lens = [None, reference].map(|reference| {
                let wire = self.append(encoder, reference, message);
                let wire_len = wire.map_or(message.len(), |wire| message.len().min(wire.len() - HEADER_LEN));
                frame::frame_len(wire_len * len / message.len().max(1))
            });
            // A strategy that decides by a rule compresses at any cost.
            let link = (!plan.is_rule()).then(|| self.decider.link());
            memory.tried(&keeping, wire_lens, link).then_some(())?;
        }
        if keeping.reference().is_some() {
            plan.refer();
        }
        Some(keeping)
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
