//! The engine as a layer over it sees it: frames out, messages back, damage found, counters right.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use mpress::{
    CodecId, DecodeErrorKind, Destination, Engine, FLOOR, Frame, FrameError, HEADER_LEN, Incoming, Kind,
    Report, SameNode, report,
};
use mpress_codec::frame::Header;
use mpress_codec::{Encode, Out};
use proptest::prelude::*;
use std::mem::MaybeUninit;

/// The frame as it travels.
fn wire(frame: &Frame, raw: &[u8]) -> Vec<u8> {
    match frame {
        Frame::Raw(header) => [header, raw].concat(),
        Frame::Packed(buffer) => buffer.to_vec(),
    }
}

/// Receives a frame into a buffer that held something else before.
fn receive(engine: &Engine, wire: &[u8]) -> Result<Vec<u8>, FrameError> {
    let (header, body) = wire.split_first_chunk::<HEADER_LEN>().unwrap();
    let incoming = Incoming::open(header, body)?;
    if incoming.raw_len() > 1 << 26 {
        return Err(FrameError::Codec(CodecId(255))); // as a receiver refuses what its buffer cannot hold
    }
    let mut out = vec![MaybeUninit::new(0xee); incoming.raw_len()];
    engine.decode(&incoming, body, &mut out)?;
    // SAFETY: decode filled all of it.
    Ok(out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
}

/// A frame with this payload of doubles.
fn frame(codec: CodecId, raw_len: usize, payload: &[u8]) -> Vec<u8> {
    let header = Header { codec, kind: Kind::F64, raw_len: raw_len as u64, padding: 0, check: 0 };
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header.to_bytes());
    crc.update(payload);
    let header = Header { check: crc.finalize(), ..header };
    [&header.to_bytes()[..], payload].concat()
}

fn smooth(len: usize) -> Vec<u8> {
    (0..len.div_ceil(8)).flat_map(|i| (2.0 + (i as f64 * 0.003).sin()).to_le_bytes()).take(len).collect()
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

#[test]
fn every_kind_and_length_comes_back() {
    let engine = Engine::new(SameNode::Pass);
    for kind in Kind::ALL {
        for len in [1024, 1025, 1031, 4000, 32_767, 32_768, 100_001, 1 << 20] {
            for raw in [smooth(len), noise(len), vec![0; len]] {
                let frame = engine.encode(&raw, kind, Destination::OtherNode).unwrap();
                let wire = wire(&frame, &raw);
                assert!(wire.len() <= raw.len() + HEADER_LEN, "{kind:?} {len}: a frame of {}", wire.len());
                assert!(wire.len() >= FLOOR, "{kind:?} {len}: a frame of {} is below the floor", wire.len());
                assert!(receive(&engine, &wire).unwrap() == raw, "{kind:?} {len}");
            }
        }
    }
}

#[test]
fn the_rule_numbers_for_other_nodes_are_compressed() {
    let codec = |same, kind, to| {
        let raw = smooth(8000);
        let wire = wire(&Engine::new(same).encode(&raw, kind, to).unwrap(), &raw);
        CodecId(wire[1])
    };
    let codecs = Kind::ALL.map(|kind| codec(SameNode::Pass, kind, Destination::OtherNode));
    // As 8, 16 or 32 bits wide a smooth row of doubles is not so smooth.
    assert_eq!((codecs[0], codecs[4], codecs[6]), (CodecId::RAW, CodecId::DIFFPACK_64, CodecId::DIFFPACK_64));
    assert_eq!(codec(SameNode::Pass, Kind::F64, Destination::SameNode), CodecId::RAW);
    assert_eq!(codec(SameNode::Compress, Kind::F64, Destination::SameNode), CodecId::DIFFPACK_64);

    let narrow = |kind, raw: Vec<u8>| {
        let wire = wire(&Engine::default().encode(&raw, kind, Destination::OtherNode).unwrap(), &raw);
        CodecId(wire[1])
    };
    let floats = (0..4000).flat_map(|i| (i as f32 * 0.01).sin().to_le_bytes()).collect();
    assert_eq!(narrow(Kind::F32, floats), CodecId::DIFFPACK_32);
    let counts: Vec<u8> = (0..4000_i32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    assert_eq!(narrow(Kind::Int32, counts), CodecId::DIFFPACK_32);
    let counts: Vec<u8> = (0..4000_i16).flat_map(|i| (i * 3).to_le_bytes()).collect();
    assert_eq!(narrow(Kind::Int16, counts), CodecId::DIFFPACK_16);
    assert_eq!(narrow(Kind::Int8, vec![7; 4000]), CodecId::DIFFPACK_16);
}

/// Not all that can be read is what the rule writes.
#[test]
fn a_frame_of_dfcm_is_read() {
    let raw = smooth(5000);
    let mut encoder =
        mpress_dfcm::Encoder::<u64, _>::new(vec![0; mpress_dfcm::Lines::MAX_SIZED.words::<u64>()]).unwrap();
    let mut payload = vec![0; encoder.max_encoded_len(raw.len()).unwrap()];
    let mut out = Out::from_slice(&mut payload);
    encoder.encode(&raw, &mut out).unwrap();
    assert_eq!(
        receive(&Engine::default(), &frame(CodecId::DFCM_F64, raw.len(), out.written())).unwrap(),
        raw
    );
}

#[test]
fn a_very_compressible_message_is_padded_to_the_floor() {
    let engine = Engine::default();
    let raw: Vec<u8> = 1.5_f64.to_le_bytes().repeat(130);
    let frame = engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap();
    let Frame::Packed(ref buffer) = frame else { panic!("130 equal doubles stay raw") };
    assert_eq!(buffer.len(), FLOOR);
    assert_eq!(receive(&engine, buffer).unwrap(), raw);
}

#[test]
fn a_flipped_bit_never_gives_wrong_data() {
    let engine = Engine::default();
    for raw in [smooth(3000), noise(1500)] {
        let frame = engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap();
        let packed = matches!(frame, Frame::Packed(_));
        let wire = wire(&frame, &raw);
        // The body of a raw frame is the program's own data, as unprotected as without us.
        let covered = if packed { wire.len() } else { HEADER_LEN };
        for bit in 0..covered * 8 {
            let mut damaged = wire.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(receive(&engine, &damaged).is_err(), "bit {bit} of {} bytes", wire.len());
        }
        for cut in HEADER_LEN..wire.len() {
            assert!(receive(&engine, &wire[..cut]).is_err(), "the first {cut} of {} bytes", wire.len());
        }
        assert!(receive(&engine, &[&wire[..], &[0]].concat()).is_err(), "a byte too many");
        assert_eq!(receive(&engine, &wire).unwrap(), raw, "the engine works on after errors");
    }
}

#[test]
fn padding_is_covered_by_its_length() {
    let engine = Engine::default();
    let raw: Vec<u8> = 1.5_f64.to_le_bytes().repeat(130);
    let frame = engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap();
    let mut wire = wire(&frame, &raw);
    assert!(u16::from_le_bytes([wire[14], wire[15]]) > 800, "130 equal doubles take little");
    wire[14] = 0xff;
    wire[15] = 0xff;
    assert!(receive(&engine, &wire).is_err(), "more padding than body");
}

#[test]
fn an_unknown_codec_is_named() {
    let engine = Engine::default();
    let wire = frame(CodecId(200), 2000, &[7; 1500]);
    assert_eq!(receive(&engine, &wire), Err(FrameError::Codec(CodecId(200))));
}

#[test]
fn a_message_must_fit_the_output_exactly() {
    let engine = Engine::default();
    let raw = smooth(4096);
    let wire = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
    let (header, body) = wire.split_first_chunk::<HEADER_LEN>().unwrap();
    let incoming = Incoming::open(header, body).unwrap();
    for len in [0, 4095, 4097] {
        let mut out = vec![MaybeUninit::new(0); len];
        let Err(FrameError::Damaged(error)) = engine.decode(&incoming, body, &mut out) else {
            panic!("{len} bytes for a message of 4096")
        };
        assert_eq!(error.kind, DecodeErrorKind::Length);
    }
}

#[test]
fn counters_and_report() {
    let engine = Engine::default();
    let raws = [smooth(8000), noise(40_000)];
    for raw in &raws {
        let wire = wire(&engine.encode(raw, Kind::F64, Destination::OtherNode).unwrap(), raw);
        receive(&engine, &wire).unwrap();
    }
    let stats = engine.stats();
    let total = stats.total();
    assert_eq!((total.messages, total.raw_bytes), (2, 48_000));
    assert!(total.wire_bytes < 48_000 && total.wire_bytes > 40_016);
    let lines: Vec<_> = stats.lines().map(|(kind, codec, line)| (kind, codec, line.messages)).collect();
    assert_eq!(lines, [(Kind::F64, "raw", 1), (Kind::F64, "diffpack", 1)]);

    let mut sum = stats.clone();
    sum.as_words_mut().iter_mut().for_each(|word| *word *= 3);
    assert_eq!(sum.total().messages, 6);

    assert_eq!(report::text(&stats, 4, Report::None), "");
    let summary = report::text(&stats, 4, Report::Summary);
    assert!(summary.starts_with("mpress: 2 messages in frames over 4 ranks: 48.0 kB raw"), "{summary}");
    assert_eq!(summary.lines().count(), 1);
    let full = report::text(&stats, 4, Report::Full);
    assert_eq!(full.lines().count(), 4, "totals, a heading, two lines:\n{full}");
    assert!(full.lines().all(|line| line.starts_with("mpress: ")), "{full}");
}

#[test]
fn threads_share_an_engine() {
    let engine = Engine::default();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let engine = &engine;
            scope.spawn(move || {
                for round in 0..50 {
                    let raw = smooth(1024 + 777 * thread + round);
                    let wire = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
                    assert!(receive(engine, &wire).unwrap() == raw);
                }
            });
        }
    });
    assert_eq!(engine.stats().total().messages, 400);
}

proptest! {
    #[test]
    fn any_bytes_come_back(raw in prop::collection::vec(any::<u8>(), FLOOR..6000), kind in 0_u8..7, run in 0_usize..3000) {
        let mut raw = raw;
        let end = run.min(raw.len());
        raw[..end].fill(0x3f);
        let engine = Engine::default();
        let frame = engine.encode(&raw, Kind::from_wire(kind).unwrap(), Destination::OtherNode).unwrap();
        let wire = wire(&frame, &raw);
        prop_assert!((FLOOR..=raw.len() + HEADER_LEN).contains(&wire.len()));
        prop_assert_eq!(receive(&engine, &wire).unwrap(), raw);
    }

    #[test]
    fn any_bytes_are_no_frame_or_harmless(wire in prop::collection::vec(any::<u8>(), HEADER_LEN..3000)) {
        let _ = receive(&Engine::default(), &wire);
    }
}

/// A long message whose second MiB is noise.
fn long() -> Vec<u8> {
    let mut raw = smooth(3 << 20 | 12_345);
    raw[1 << 20..2 << 20].copy_from_slice(&noise(1 << 20));
    raw
}

#[test]
fn long_messages_go_in_blocks() {
    let raw = long();
    let engine = Engine::default();
    let wire = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
    assert_eq!(CodecId(wire[1]), CodecId::BLOCKS);
    let table: Vec<u32> =
        wire[HEADER_LEN..].as_chunks().0[1..5].iter().map(|len| u32::from_le_bytes(*len)).collect();
    assert!(table[1] == 1 << 20 && table[0] < 1 << 19 && table[3] < 12_345, "{table:?}");
    assert!(receive(&engine, &wire).unwrap() == raw);
    let stats = engine.stats();
    let lines: Vec<_> = stats.lines().map(|(_, codec, line)| (codec, line.messages)).collect();
    assert_eq!(lines, [("diffpack", 1)], "counted under the codec of its blocks");

    // What came before must not show in a block.
    let again = self::wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
    assert!(again == wire);

    let random = noise(5 << 20);
    assert!(matches!(engine.encode(&random, Kind::F64, Destination::OtherNode), Some(Frame::Raw(_))));
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_does_not_show() {
    let raw = long();
    let send = |threads| {
        let engine = Engine::default().with_threads(threads);
        let wire = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
        assert!(receive(&engine, &wire).unwrap() == raw, "{threads} threads");
        wire
    };
    let alone = send(1);
    for threads in [0, 2, 3, 16] {
        assert!(send(threads) == alone, "{threads} threads");
    }
}

#[test]
fn damaged_blocks_are_refused() {
    let raw = long();
    let engine = Engine::default();
    let whole = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
    let payload = &whole[HEADER_LEN..];
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut payload = payload.to_vec();
        change(&mut payload);
        receive(&engine, &frame(CodecId::BLOCKS, raw.len(), &payload)).unwrap_err()
    };
    let kind = |change: &dyn Fn(&mut Vec<u8>)| match refused(change) {
        FrameError::Damaged(error) => error.kind,
        FrameError::Codec(codec) => panic!("codec {}", codec.0),
    };
    for len in [0, 3, 4, 19, 20, 1000, payload.len() - 1] {
        assert_eq!(kind(&|payload| payload.truncate(len)), DecodeErrorKind::Truncated, "{len} bytes");
    }
    assert_eq!(kind(&|payload| payload.push(0)), DecodeErrorKind::Length);
    for codec in [CodecId::RAW, CodecId::BLOCKS] {
        assert_eq!(kind(&|payload| payload[0] = codec.0), DecodeErrorKind::Corrupt, "{codec:?} in blocks");
    }
    assert_eq!(kind(&|payload| payload[3] = 1), DecodeErrorKind::Corrupt);
    assert_eq!(kind(&|payload| payload[4..8].fill(0xff)), DecodeErrorKind::Truncated);
    // One byte from a block to the next.
    kind(&|payload| {
        payload[4] ^= 1;
        payload[8] ^= 1;
    });
    assert_eq!(refused(&|payload| payload[0] = 200), FrameError::Codec(CodecId(200)));
    assert!(receive(&engine, &whole).unwrap() == raw, "the engine works on after errors");
}
