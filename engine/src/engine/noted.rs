//! Messages that may refer to earlier ones, in frames with notes. Format: `docs/format/frame.md`, section "Notes".

use super::Engine;
use super::streams::part;
use crate::blocks::BLOCK;
use crate::buffer::Buffer;
use crate::codecs::Setting;
use crate::decide::Plan;
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Note};
use crate::memory::{Channel, Fill, Keeping, Key, Memory};
use mpress_codec::{CodecId, Kind, Out};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Fills parts of a copy of this message.
pub(super) fn copied(raw: &[u8]) -> impl Fn(Range<usize>, &mut [u8]) -> bool {
    move |part, copy| raw.get(part).map(|part| copy.copy_from_slice(part)).is_some()
}

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
        let len = raw.len();
        if len > BLOCK {
            return self.pack(setting, raw, kind);
        }
        self.instances.with_encoder(setting, |encoder| {
            if !self.gains(encoder, raw, len) {
                return None;
            }
            let to = (memory, channel);
            let keeping = encoder.saved().and_then(|_| self.keep(to, (plan, len), &copied(raw)));
            let referring = keeping.as_ref().and_then(Keeping::referring);
            let (reference, message) = part(keeping.as_ref(), 0..len, raw);
            let mut frame = self.append(encoder, reference, message)?;
            let plain = (frame.len() - HEADER_LEN).saturating_add(encoder.saved().unwrap_or(0));
            let plain = len.min(frame::frame_len(plain.min(len)));
            let (by, of) = ((setting.id(), setting.number), (kind, len));
            let sealed = self.seal_noted(by, of, Some((to, keeping)), &mut frame);
            if let Some(key) = referring {
                // With its note, which is part of the price.
                let wire = sealed.map_or(len, |()| frame.len());
                self.referred(memory, key, plan, wire, plain.saturating_sub(wire));
            }
            sealed.map(|()| frame)
        })?
    }

    /// Completes a frame. It gets a note if its message is kept, or if there is news for its receiver and room for any note.
    pub(super) fn seal_noted(
        &self,
        (id, number): (CodecId, u8),
        (kind, raw_len): (Kind, usize),
        noted: Option<((&Memory, Channel), Option<Keeping>)>,
        frame: &mut Buffer,
    ) -> Option<()> {
        let payload = frame.len().saturating_sub(HEADER_LEN);
        let noted = noted.filter(|((memory, channel), keeping)| {
            keeping.is_some() || memory.owes(channel.peer) && frame::has_room_for_note(payload, raw_len)
        });
        let note = noted.map(|((memory, channel), keeping)| move || memory.note(channel.peer, keeping));
        frame::seal(self.mark, id, number, kind, raw_len, note, frame)
    }

    /// Copies a message with `fill`, if it is to be kept.
    pub(super) fn keep(
        &self,
        (memory, channel): (&Memory, Channel),
        (plan, len): (&mut Plan, usize),
        fill: Fill<'_>,
    ) -> Option<Keeping> {
        let mut keeping = memory.keep(channel, len)?;
        keeping.fill(0..len, fill).then_some(())?;
        if keeping.reference().is_some() {
            plan.refer();
        }
        Some(keeping)
    }

    /// Reports what a message that referred to another one became on the wire, and the number of bytes that this saved.
    pub(super) fn referred(&self, memory: &Memory, key: Key, plan: &Plan, wire_len: usize, saved: usize) {
        // A strategy that decides by a rule compresses at any cost.
        let link = (!plan.is_rule()).then(|| self.decider.link());
        memory.referred(key, wire_len, saved, link);
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
