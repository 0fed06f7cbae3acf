//! Messages between ranks: docs/format/i-structures.md, version 1. The decoder accepts any bytes.

use crate::{
    address::{Address, StructureId},
    bytes::Reader,
    error::{Refusal, Waiting},
    plan::Span,
};
use bitvec::{order::Lsb0, slice::BitSlice, view::BitView};

const VERSION: u8 = 1;
/// The maximum number of waiting fetches listed in an answer and in a verdict.
pub(crate) const ANSWER_NAMES: usize = 8;
pub(crate) const VERDICT_NAMES: usize = 16;
/// The maximum number of bytes of text in an answer and in a verdict.
const TEXT: usize = 256;

/// A block of a structure, and the check of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockName {
    pub(crate) check: u32,
    pub(crate) structure: u64,
    pub(crate) block: u64,
}

/// The state of a rank in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RankState {
    Waits,
    Ended,
    Failed,
}

/// The answer of a rank in a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) waiting: u64,
    pub(crate) state: RankState,
    pub(crate) names: Vec<Address>,
    /// Why the rank has failed.
    pub(crate) text: String,
}

/// How a run has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ended,
    Deadlock { waiting: u64, names: Vec<Waiting> },
    Failed { rank: u32, why: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    Request(BlockName),
    /// Part of a block: presence bits and values, for [`split_value`].
    Value(BlockName, &'a [u8]),
    /// A whole block: its values.
    Block(BlockName, &'a [u8]),
    Refusal(BlockName, Refusal),
    PlanPart {
        run: u32,
        digest: u64,
        spans: Vec<Span>,
    },
    Probe {
        run: u32,
        wave: u64,
    },
    Answer {
        run: u32,
        wave: u64,
        answer: Answer,
    },
    Verdict {
        run: u32,
        verdict: Verdict,
    },
}

fn header(kind: u8, second: u32, third: u64) -> Vec<u8> {
    let mut message = vec![VERSION, kind, 0, 0];
    message.extend_from_slice(&second.to_le_bytes());
    message.extend_from_slice(&third.to_le_bytes());
    message
}

fn block_header(kind: u8, name: BlockName) -> Vec<u8> {
    let mut message = header(kind, name.check, name.structure);
    message.extend_from_slice(&name.block.to_le_bytes());
    message
}

pub(crate) fn request(name: BlockName) -> Vec<u8> {
    block_header(1, name)
}

/// A value message with the presence bits of the elements in `values`.
pub(crate) fn value<'a>(
    name: BlockName,
    bits: impl ExactSizeIterator<Item = bool>,
    values: impl Iterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut message = block_header(2, name);
    let start = message.len();
    message.resize(start + bits.len().div_ceil(8), 0);
    for (element, bit) in bits.enumerate() {
        if let Some(byte) = message.get_mut(start + element / 8) {
            *byte |= u8::from(bit) << (element % 8);
        }
    }
    values.for_each(|value| message.extend_from_slice(value));
    message
}

/// A whole block: the values of all its elements. The header has the length of three numbers, so codecs find the values aligned.
pub(crate) fn block(name: BlockName, values: &[u8]) -> Vec<u8> {
    let mut message = block_header(8, name);
    message.extend_from_slice(values);
    message
}

/// Whether termination detection counts a message.
pub(crate) fn is_counted(message: &[u8]) -> bool {
    matches!(message.get(1), Some(1..=4 | 8))
}

/// The presence bits and values of a value message, for a block of `elements` elements of `bytes` bytes each.
pub(crate) fn split_value(
    body: &[u8],
    elements: usize,
    bytes: usize,
) -> Option<(&BitSlice<u8, Lsb0>, &[u8])> {
    let (bits, values) = body.split_at_checked(elements.div_ceil(8))?;
    // There are at least as many bits as elements.
    let (bits, rest) = bits.view_bits::<Lsb0>().split_at(elements);
    let valid = rest.not_any() && bits.any() && bits.count_ones().checked_mul(bytes) == Some(values.len());
    valid.then_some((bits, values))
}

pub(crate) fn refusal(name: BlockName, reason: Refusal) -> Vec<u8> {
    let mut message = block_header(3, name);
    let reason = match reason {
        Refusal::Freed => 1,
        Refusal::OtherParameters => 2,
        Refusal::NoSuchBlock => 3,
    };
    message.extend_from_slice(&[reason, 0, 0, 0, 0, 0, 0, 0]);
    message
}

pub(crate) fn plan_part(run: u32, digest: u64, spans: &[Span]) -> Vec<u8> {
    let mut message = header(4, run, digest);
    spans.iter().for_each(|span| Span { rank: 0, ..*span }.write(&mut message));
    message
}

pub(crate) fn probe(run: u32, wave: u64) -> Vec<u8> {
    header(5, run, wave)
}

/// The part of a text that fits in a message.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(TEXT)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    text.get(..end).unwrap_or("")
}

pub(crate) fn answer(run: u32, wave: u64, answer: &Answer) -> Vec<u8> {
    let mut message = header(6, run, wave);
    for number in [answer.sent, answer.received, answer.waiting] {
        message.extend_from_slice(&number.to_le_bytes());
    }
    let state = match answer.state {
        RankState::Waits => 0,
        RankState::Ended => 1,
        RankState::Failed => 2,
    };
    let names = answer.names.get(..ANSWER_NAMES).unwrap_or(&answer.names);
    let text = cut(&answer.text);
    // Both fit, by the constants above.
    message.extend_from_slice(&[state, names.len() as u8]);
    message.extend_from_slice(&(text.len() as u16).to_le_bytes());
    message.extend_from_slice(&[0; 4]);
    for name in names {
        message.extend_from_slice(&name.structure.0.to_le_bytes());
        message.extend_from_slice(&name.index.to_le_bytes());
    }
    message.extend_from_slice(text.as_bytes());
    message
}

pub(crate) fn verdict(run: u32, verdict: &Verdict) -> Vec<u8> {
    let (waiting, rank, outcome, names, text): (_, _, u8, &[Waiting], _) = match verdict {
        Verdict::Ended => (0, 0, 0, &[], ""),
        Verdict::Deadlock { waiting, names } => {
            (*waiting, 0, 1, names.get(..VERDICT_NAMES).unwrap_or(names), "")
        }
        Verdict::Failed { rank, why } => (0, *rank, 2, &[], cut(why)),
    };
    let mut message = header(7, run, 0);
    message.extend_from_slice(&waiting.to_le_bytes());
    message.extend_from_slice(&rank.to_le_bytes());
    message.extend_from_slice(&[outcome, names.len() as u8]);
    message.extend_from_slice(&(text.len() as u16).to_le_bytes());
    for name in names {
        message.extend_from_slice(&name.rank.to_le_bytes());
        message.extend_from_slice(&[0; 4]);
        message.extend_from_slice(&name.address.structure.0.to_le_bytes());
        message.extend_from_slice(&name.address.index.to_le_bytes());
    }
    message.extend_from_slice(text.as_bytes());
    message
}

/// `None` if these bytes are not a message of this version.
pub(crate) fn decode(message: &[u8]) -> Option<Message<'_>> {
    let mut reader = Reader(message);
    if reader.u8()? != VERSION {
        return None;
    }
    let kind = reader.u8()?;
    reader.zeros(2)?;
    let (second, third) = (reader.u32()?, reader.u64()?);
    let message = match kind {
        1..=3 | 8 => {
            let name = BlockName { check: second, structure: third, block: reader.u64()? };
            match kind {
                1 => Message::Request(name),
                2 => Message::Value(name, reader.take(reader.0.len())?),
                8 => Message::Block(name, reader.take(reader.0.len())?),
                _ => Message::Refusal(name, refusal_reason(&mut reader)?),
            }
        }
        4 => {
            let mut spans = Vec::new();
            while reader.end().is_none() {
                spans.push(Span::read(&mut reader)?);
            }
            let in_place = spans.iter().all(|span| span.rank == 0) && Span::ascend(&spans);
            in_place.then_some(Message::PlanPart { run: second, digest: third, spans })?
        }
        5 => Message::Probe { run: second, wave: third },
        6 => Message::Answer { run: second, wave: third, answer: read_answer(&mut reader)? },
        7 if third == 0 => Message::Verdict { run: second, verdict: read_verdict(&mut reader)? },
        _ => return None,
    };
    reader.end()?;
    Some(message)
}

fn refusal_reason(reader: &mut Reader<'_>) -> Option<Refusal> {
    let reason = match reader.u8()? {
        1 => Refusal::Freed,
        2 => Refusal::OtherParameters,
        3 => Refusal::NoSuchBlock,
        _ => return None,
    };
    reader.zeros(7)?;
    Some(reason)
}

fn address(reader: &mut Reader<'_>) -> Option<Address> {
    Some(Address { structure: StructureId(reader.u64()?), index: reader.u64()? })
}

fn text(reader: &mut Reader<'_>, len: u16) -> Option<String> {
    let len = usize::from(len);
    if len > TEXT {
        return None;
    }
    std::str::from_utf8(reader.take(len)?).ok().map(str::to_owned)
}

fn read_answer(reader: &mut Reader<'_>) -> Option<Answer> {
    let (sent, received, waiting) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let state = match reader.u8()? {
        0 => RankState::Waits,
        1 => RankState::Ended,
        2 => RankState::Failed,
        _ => return None,
    };
    let (count, len) = (usize::from(reader.u8()?), reader.u16()?);
    reader.zeros(4)?;
    if count > ANSWER_NAMES {
        return None;
    }
    let names = (0..count).map(|_| address(reader)).collect::<Option<_>>()?;
    Some(Answer { sent, received, waiting, state, names, text: text(reader, len)? })
}

fn read_verdict(reader: &mut Reader<'_>) -> Option<Verdict> {
    let (waiting, rank) = (reader.u64()?, reader.u32()?);
    let (outcome, count, len) = (reader.u8()?, usize::from(reader.u8()?), reader.u16()?);
    if count > VERDICT_NAMES {
        return None;
    }
    let name = |reader: &mut Reader<'_>| {
        let rank = reader.u32()?;
        reader.zeros(4)?;
        Some(Waiting { rank, address: address(reader)? })
    };
    let names: Vec<_> = (0..count).map(|_| name(reader)).collect::<Option<_>>()?;
    let why = text(reader, len)?;
    match outcome {
        0 if waiting == 0 && rank == 0 && names.is_empty() && why.is_empty() => Some(Verdict::Ended),
        1 if rank == 0 && why.is_empty() => Some(Verdict::Deadlock { waiting, names }),
        2 if waiting == 0 && names.is_empty() => Some(Verdict::Failed { rank, why }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One message of each kind.
    fn all() -> Vec<Vec<u8>> {
        let name = BlockName { check: 7, structure: 3, block: 5 };
        let at = |index| Address { structure: StructureId(3), index };
        let waits = Answer {
            sent: 1,
            received: 2,
            waiting: 3,
            state: RankState::Waits,
            names: vec![at(4), at(5)],
            text: String::new(),
        };
        let failed =
            Answer { state: RankState::Failed, names: Vec::new(), text: "é".repeat(200), ..waits.clone() };
        let span = Span { position: 1, rank: 0, first: 2, count: 3 };
        vec![
            request(name),
            value(name, [true, false, true].into_iter(), [[1_u8, 2], [3, 4]].iter().map(|v| &v[..])),
            block(name, &[1, 2, 3, 4]),
            refusal(name, Refusal::NoSuchBlock),
            plan_part(9, 8, &[span, Span { first: 5, ..span }]),
            probe(9, 8),
            answer(9, 8, &waits),
            answer(9, 8, &failed),
            verdict(9, &Verdict::Ended),
            verdict(
                9,
                &Verdict::Deadlock { waiting: 20, names: vec![Waiting { rank: 1, address: at(6) }; 20] },
            ),
            verdict(9, &Verdict::Failed { rank: 2, why: "because".into() }),
        ]
    }

    /// Encodes a decoded message again.
    fn encode(message: &Message<'_>) -> Vec<u8> {
        match message {
            Message::Request(name) => request(*name),
            Message::Value(name, body) => [&block_header(2, *name)[..], body].concat(),
            Message::Block(name, values) => block(*name, values),
            Message::Refusal(name, reason) => refusal(*name, *reason),
            Message::PlanPart { run, digest, spans } => plan_part(*run, *digest, spans),
            Message::Probe { run, wave } => probe(*run, *wave),
            Message::Answer { run, wave, answer: said } => answer(*run, *wave, said),
            Message::Verdict { run, verdict: said } => verdict(*run, said),
        }
    }

    #[test]
    fn what_is_decoded_encodes_to_the_same() {
        for message in all() {
            assert_eq!(encode(&decode(&message).unwrap()), message);
            // No message is a prefix of another, unless it ends in a list without a length.
            let open = matches!(message[1], 2 | 4 | 8);
            for end in 0..message.len() {
                assert!(decode(&message[..end]).is_none() || open, "{message:?} up to {end}");
            }
            let longer = [&message[..], &[0]].concat();
            assert!(decode(&longer).is_none() || matches!(message[1], 2 | 8));
        }
    }

    #[test]
    fn values_are_split_as_the_block_says() {
        let message = &all()[1];
        let Some(Message::Value(_, body)) = decode(message) else { panic!("{message:?}") };
        let (bits, values) = split_value(body, 3, 2).unwrap();
        assert_eq!((bits.iter_ones().collect::<Vec<_>>(), values), (vec![0, 2], &[1_u8, 2, 3, 4][..]));
        // Two elements have only two bits; other sizes do not match; no bits mean no message.
        for (elements, bytes) in [(2, 2), (3, 1), (3, 3), (9, 2), (3, usize::MAX), (usize::MAX, 2)] {
            assert_eq!(split_value(body, elements, bytes), None);
        }
        assert_eq!(split_value(&[0], 3, 2), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_error_or_a_message(
            start in prop::option::of(0_usize..11),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            random in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let mut message = start.map_or(random, |kind| all()[kind].clone());
            for (at, byte) in changes {
                if !message.is_empty() {
                    let at = at.index(message.len());
                    message[at] = byte;
                }
            }
            if let Some(decoded) = decode(&message) {
                prop_assert_eq!(encode(&decoded), &message[..]);
            }
        }
    }
}
