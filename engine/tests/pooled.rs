//! Decoders are pooled: whatever frames an engine has seen, it makes of each frame what a new engine makes of it.

#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use mpress::{CodecId, Destination, Engine, FLOOR, HEADER_LEN, Kind, Strategy};
use mpress_codec::{Encode, Out};
use proptest::prelude::{Just, ProptestConfig, any, prop, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy as _;
use support::{MARK, frame, noise, receive, smooth};

fn new() -> Engine {
    Engine::default().with_mark(MARK)
}

/// The id and the payload of the frame that this codec makes of a message, if it makes one.
fn payload(codec: mpress::Codec, kind: Kind, raw: &[u8]) -> Option<(CodecId, Vec<u8>)> {
    let engine = new();
    let considered =
        engine.consider(Some(Strategy::Fixed(codec)), kind, Destination::OtherNode, raw.len())?;
    let sent = engine.encode_considered(considered, raw)?;
    let padding = usize::from(u16::from_le_bytes([sent[30], sent[31]]));
    Some((CodecId(sent[9]), sent[HEADER_LEN..sent.len() - padding].to_vec()))
}

/// Damage to a payload.
#[derive(Clone, Debug)]
enum Damage {
    None,
    Cut,
    Flip(u8),
    Noise(Vec<u8>),
    Longer,
    OtherLength(usize),
}

fn damage() -> impl proptest::strategy::Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::None),
        Just(Damage::Cut),
        any::<u8>().prop_map(Damage::Flip),
        prop::collection::vec(any::<u8>(), 1..300).prop_map(Damage::Noise),
        Just(Damage::Longer),
        (FLOOR..8000_usize).prop_map(Damage::OtherLength),
    ]
}

/// A frame of the damaged payload, of a block of it if so wanted.
fn damaged(id: CodecId, payload: &[u8], len: usize, damage: &Damage, at: usize, block: bool) -> Vec<u8> {
    let (mut wire, mut raw_len) = (payload.to_vec(), len);
    // Most bits that decide much are near the front.
    let at = if at.is_multiple_of(2) { at % 40 } else { at } % wire.len();
    match damage {
        Damage::None => {}
        Damage::Cut => wire.truncate(at),
        Damage::Flip(bit) => wire[at] ^= 1 << (bit % 8),
        Damage::Noise(noise) => wire[at..].iter_mut().zip(noise).for_each(|(byte, noise)| *byte = *noise),
        Damage::Longer => wire.push(0),
        Damage::OtherLength(other) => raw_len = *other,
    }
    if block {
        let head = [id.0, 0, 0, 0];
        let wire = [&head[..], &(wire.len() as u32).to_le_bytes(), &wire].concat();
        return frame(CodecId::BLOCKS, raw_len, &wire);
    }
    frame(id, raw_len, &wire)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_used_engine_decodes_as_a_new_one(
        steps in prop::collection::vec(
            ((0..64_usize, 0..7_u8, FLOOR..6000_usize, any::<bool>()), (damage(), any::<u16>(), any::<bool>())),
            1..24,
        )
    ) {
        let codecs: Vec<_> = mpress::Codec::all().collect();
        let used = new();
        for ((codec, kind, len, rough), (damage, at, block)) in steps {
            let mut raw = smooth(len);
            if rough {
                raw[len / 3..len / 2].copy_from_slice(&noise(len / 2 - len / 3));
            }
            let codec = codecs[codec % codecs.len()];
            let Some((id, wire)) = payload(codec, Kind::from_wire(kind).unwrap(), &raw) else { continue };
            let hostile = damaged(id, &wire, len, &damage, at.into(), block);
            prop_assert!(receive(&used, &hostile) == receive(&new(), &hostile), "{}: {damage:?}", codec.name());
            let good = damaged(id, &wire, len, &Damage::None, 0, block);
            // The head of a block may make a frame as long as its message, which no encoder sends.
            let fits = good.len() < raw.len();
            prop_assert!(receive(&used, &good).ok() == fits.then_some(raw), "{}: {damage:?} before", codec.name());
        }
    }
}

/// Frames stand for themselves, also where their codec could carry state from one to the next.
#[test]
fn a_frame_that_begins_a_sequence_is_read_by_a_used_decoder() {
    use mpress_dfcm::{Encoder, Lines};
    let used = new();
    for lines in [Lines::MAX, Lines::MIN_SIZED, Lines::MAX_SIZED] {
        let raw = smooth(5000);
        let mut encoder = Encoder::<u64, _>::continuing(vec![0; lines.words::<u64>()], lines).unwrap();
        let mut wires = Vec::new();
        for _ in 0..2 {
            let mut room = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
            let mut out = Out::from_slice(&mut room);
            encoder.encode(&raw, &mut out).unwrap();
            wires.push(frame(CodecId::DFCM_F64, raw.len(), out.written()));
        }
        for _ in 0..3 {
            assert_eq!(receive(&used, &wires[0]).as_ref(), Ok(&raw));
            assert!(receive(&new(), &wires[1]).is_err(), "the second of a sequence");
            assert_eq!(receive(&used, &wires[1]), receive(&new(), &wires[1]));
        }
    }
}
