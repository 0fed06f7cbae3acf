//! Messages that may refer to earlier ones, in frames with notes. Format: `docs/format/frame.md`, section "Notes".

use super::Engine;
use super::streams::part;
use crate::blocks::BLOCK;
use crate::buffer::Buffer;
use crate::codecs::Setting;
use crate::decide::Plan;
use crate::frame::{self, FrameError, HEADER_LEN, Incoming, Note};
use crate::memory::{Channel, Fill, Keeping, Memory};
use mpress_codec::{CodecId, Encode, Kind, Out};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

/// A trial encodes this number of windows of a message, because some parts of it may be more redundant than others. The second number is the length of
/// a window in bytes.
const WINDOWS: usize = 3;
const WINDOW: usize = 2728;

/// The windows of a message of this length, from its start to its end; a short message is one window.
fn windows(len: usize) -> impl Iterator<Item = Range<usize>> {
    let (count, window) = if len > WINDOWS * WINDOW { (WINDOWS, WINDOW) } else { (1, len) };
    (0..count).map(move |i| {
        let start = ((len - window) / (WINDOWS - 1) * i) & !7;
        start..start + window
    })
}

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
            let (memory, fill) = ((memory, channel), copied(raw));
            let keeping =
                if encoder.refers() { self.keep(setting, memory, (plan, len), &fill) } else { None };
            let (reference, message) = part(keeping.as_ref(), 0..len, raw);
            let mut frame = self.append(encoder, reference, message)?;
            self.seal_noted(
                (setting.id(), setting.number),
                (kind, len),
                Some((memory, keeping)),
                &mut frame,
            )?;
            Some(frame)
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

    /// Copies a message with `fill`, if it is to be kept. In a trial, first parts of it are copied and encoded, to find out whether it should refer to an
    /// earlier one.
    pub(super) fn keep(
        &self,
        setting: Setting,
        (memory, channel): (&Memory, Channel),
        (plan, len): (&mut Plan, usize),
        fill: Fill<'_>,
    ) -> Option<Keeping> {
        let mut keeping = memory.keep(channel, len)?;
        if keeping.is_trial {
            let start = Instant::now();
            let mut try_windows =
                |encoder: &mut dyn Encode| self.try_windows(encoder, &mut keeping, len, fill);
            let wire_lens = self.instances.with_block_encoder(setting, &mut try_windows);
            plan.trial = start.elapsed();
            // A strategy that decides by a rule compresses at any cost.
            let link = (!plan.is_rule()).then(|| self.decider.link());
            keeping = memory.tried(keeping, wire_lens??, link)?;
        }
        keeping.fill(0..len, fill).then_some(())?;
        if keeping.reference().is_some() {
            plan.refer();
        }
        Some(keeping)
    }

    /// The lengths that a message of `len` bytes would probably have on the wire, without its reference and with it; `None` if it cannot be filled.
    fn try_windows(
        &self,
        encoder: &mut dyn Encode,
        keeping: &mut Keeping,
        len: usize,
        fill: Fill<'_>,
    ) -> Option<[usize; 2]> {
        let (mut wire_lens, mut tried) = ([0; 2], 0);
        for window in windows(len) {
            keeping.fill(window.clone(), fill).then_some(())?;
            let (reference, message) = part(Some(&*keeping), window, &[]);
            for (sum, reference) in wire_lens.iter_mut().zip([None, reference]) {
                // What it learned of other windows is not to help here.
                encoder.reset();
                let wire = self.append(encoder, reference, message);
                *sum += wire.map_or(message.len(), |wire| message.len().min(wire.len() - HEADER_LEN));
            }
            tried += message.len();
        }
        let of_all = |sum: usize| (sum as u64 * len as u64 / tried.max(1) as u64) as usize;
        Some(wire_lens.map(|sum| frame::frame_len(of_all(sum))))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_at_the_start_in_the_middle_and_at_the_end() {
        for len in [1024, 5001, WINDOWS * WINDOW] {
            assert_eq!((windows(len).next(), windows(len).count()), (Some(0..len), 1));
        }
        for len in [WINDOWS * WINDOW + 1, 9000, 100_003, 50 << 20] {
            let all: Vec<_> = windows(len).collect();
            assert_eq!(all.len(), 3);
            assert!(all.iter().all(|window| window.len() == WINDOW && window.start % 8 == 0), "{all:?}");
            assert!(all[0].start == 0 && all[2].end <= len && len - all[2].end < 16, "{all:?}");
            assert!((all[0].end + all[2].start).abs_diff(all[1].start + all[1].end) < 16, "{all:?}");
        }
    }
}
