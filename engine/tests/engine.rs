//! The engine as a layer over it sees it: frames out, messages back, damage found, counters right.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use mpress::{
    CodecId, DecodeErrorKind, Destination, Engine, FLOOR, Frame, FrameError, HEADER_LEN, Incoming, Kind,
    Knowledge, Record, Report, SameNode, Settings, Strategy, report,
};
use mpress_codec::frame::Header;
use mpress_codec::{Encode, Out};
use proptest::prelude::*;
use std::mem::MaybeUninit;
use std::time::Duration;

/// An engine that compresses all messages for other nodes with one codec.
fn fixed() -> Engine {
    by("fixed:diffpack-balanced", SameNode::Pass)
}

fn by(strategy: &str, same_node: SameNode) -> Engine {
    let settings = Settings { strategy: strategy.parse().unwrap(), same_node, ..Settings::default() };
    Engine::new(&settings, &Knowledge::default(), None)
}

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
    let engine = fixed();
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

fn codec_of(engine: &Engine, raw: &[u8], kind: Kind, to: Destination) -> CodecId {
    CodecId(wire(&engine.encode(raw, kind, to).unwrap(), raw)[1])
}

#[test]
fn a_fixed_codec_is_used_for_all_that_it_is_made_for() {
    let raw = smooth(8000);
    let of =
        |strategy: &str, kind| codec_of(&by(strategy, SameNode::Pass), &raw, kind, Destination::OtherNode);
    for kind in [Kind::Other, Kind::Int64, Kind::F64] {
        assert_eq!(of("fixed:diffpack-balanced", kind), CodecId::DIFFPACK_64);
        assert_eq!(of("fixed:diffpack-ratio", kind), CodecId::DIFFPACK_64);
        assert_eq!(of("fixed:dfcm", kind), CodecId::DFCM_F64);
        assert_eq!(of("fixed:lz77", kind), CodecId::RAW, "it gains nothing");
        assert_eq!(of("off", kind), CodecId::RAW);
        assert_eq!(of("measure", kind), CodecId::RAW);
    }
    assert_eq!(of("fixed:fpc", Kind::Int16), CodecId::RAW);
    assert_eq!(of("fixed:huffman", Kind::F64), CodecId::HUFFMAN);

    let narrow = |kind, raw: Vec<u8>| codec_of(&fixed(), &raw, kind, Destination::OtherNode);
    let floats = (0..4000).flat_map(|i| (i as f32 * 0.01).sin().to_le_bytes()).collect();
    assert_eq!(narrow(Kind::F32, floats), CodecId::DIFFPACK_32);
    let counts: Vec<u8> = (0..4000_i32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    assert_eq!(narrow(Kind::Int32, counts), CodecId::DIFFPACK_32);
    let counts: Vec<u8> = (0..4000_i16).flat_map(|i| (i * 3).to_le_bytes()).collect();
    assert_eq!(narrow(Kind::Int16, counts), CodecId::DIFFPACK_16);
    assert_eq!(narrow(Kind::Int8, vec![7; 4000]), CodecId::DIFFPACK_16);
}

#[test]
fn messages_inside_a_node_pass() {
    let raw = smooth(8000);
    for strategy in ["fixed:dfcm", "adaptive"] {
        let of = |same_node| {
            let engine = by(strategy, same_node);
            engine.set_link(SLOW);
            codec_of(&engine, &raw, Kind::F64, Destination::SameNode)
        };
        assert_eq!(of(SameNode::Pass), CodecId::RAW, "{strategy}");
        assert_ne!(of(SameNode::Compress), CodecId::RAW, "{strategy}");
    }
}

#[test]
fn the_threshold_is_kept() {
    let settings =
        Settings { threshold: 5000, strategy: "fixed:dfcm".parse().unwrap(), ..Settings::default() };
    let engine = Engine::new(&settings, &Knowledge::default(), None);
    assert_eq!(codec_of(&engine, &smooth(4992), Kind::F64, Destination::OtherNode), CodecId::RAW);
    assert_eq!(codec_of(&engine, &smooth(5000), Kind::F64, Destination::OtherNode), CodecId::DFCM_F64);
}

#[test]
fn every_codec_brings_every_kind_back() {
    for codec in mpress::Codec::all() {
        let engine = by(&format!("fixed:{}", codec.name()), SameNode::Pass);
        for kind in Kind::ALL {
            for raw in [smooth(20_000), vec![3; 20_001]] {
                let wire = wire(&engine.encode(&raw, kind, Destination::OtherNode).unwrap(), &raw);
                assert!(receive(&engine, &wire).unwrap() == raw, "{} {kind:?}", codec.name());
            }
        }
    }
}

/// Over a network so slow that whatever gets shorter arrives earlier, however slow this machine is today.
const SLOW: mpress::selector::Link = mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 0.5 };

fn adaptive() -> Engine {
    let engine = Engine::default();
    engine.set_link(SLOW);
    engine
}

#[test]
fn the_adaptive_strategy_compresses_what_gains() {
    let engine = adaptive();
    let (smooth, noise) = (smooth(100_000), noise(100_000));
    for _ in 0..20 {
        assert_ne!(codec_of(&engine, &smooth, Kind::F64, Destination::OtherNode), CodecId::RAW);
        assert_eq!(codec_of(&engine, &noise, Kind::F64, Destination::OtherNode), CodecId::RAW);
    }
    assert!(engine.gain().measured_ns > 0.0);
    let stats = engine.stats();
    assert_eq!(stats.sent_to(Destination::SameNode).messages, 0);
    let sent = stats.sent_to(Destination::OtherNode);
    assert!(sent.messages == 40 && sent.ratio() > 1.2, "{sent:?}");
}

#[test]
fn a_fast_network_gets_raw_messages() {
    let engine = Engine::default();
    engine.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 50_000.0 });
    let raw = smooth(100_000);
    for _ in 0..20 {
        assert_eq!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
    }
}

#[test]
fn what_is_only_measured_is_sent_raw_and_counted() {
    let engine = by("measure", SameNode::Pass);
    engine.set_link(SLOW);
    let raw = smooth(100_000);
    for _ in 0..10 {
        assert_eq!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
    }
    assert!(engine.stats().total().ratio() > 1.5);
}

fn strategy_of(codec: &str) -> String {
    if codec == "raw" { "off".to_owned() } else { format!("fixed:{codec}") }
}

#[test]
fn a_recorded_run_is_replayed() {
    let adaptive = adaptive();
    let messages = [smooth(100_000), noise(3000), smooth(40_000)];
    let codecs = |engine: &Engine| {
        messages.each_ref().map(|raw| codec_of(engine, raw, Kind::F64, Destination::OtherNode))
    };
    for _ in 0..20 {
        codecs(&adaptive);
    }
    let text = Record::of(&adaptive.tally()).to_toml().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &text).unwrap();
    let record = Record::read(file.path()).unwrap();
    let settings = Settings { strategy: Strategy::Guided, ..Settings::default() };
    let guided = Engine::new(&settings, &Knowledge::default(), Some(&record));
    let recorded = messages.each_ref().map(|raw| {
        let entries = record.decision.iter().filter(|entry| entry.from <= raw.len() as u64);
        let nearest = entries.max_by_key(|entry| entry.from).unwrap();
        codec_of(&by(&strategy_of(&nearest.codec), SameNode::Pass), raw, Kind::F64, Destination::OtherNode)
    });
    assert!(recorded[0] != CodecId::RAW && recorded[2] != CodecId::RAW, "{text}");
    for _ in 0..5 {
        assert_eq!(codecs(&guided), recorded, "{text}");
    }
    assert_eq!(
        codec_of(&guided, &smooth(2_000_000), Kind::F64, Destination::OtherNode),
        CodecId::RAW,
        "of such there is no record"
    );
}

#[test]
fn one_message_may_have_a_strategy_of_its_own() {
    let engine = by("off", SameNode::Pass);
    let raw = smooth(8000);
    let strategy = "fixed:dfcm".parse().unwrap();
    let frame = engine.encode_by(Some(strategy), &raw, Kind::F64, Destination::OtherNode).unwrap();
    assert_eq!(CodecId(wire(&frame, &raw)[1]), CodecId::DFCM_F64);
    assert_eq!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
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
    assert_eq!(receive(&fixed(), &frame(CodecId::DFCM_F64, raw.len(), out.written())).unwrap(), raw);
}

#[test]
fn a_very_compressible_message_is_padded_to_the_floor() {
    let engine = fixed();
    let raw: Vec<u8> = 1.5_f64.to_le_bytes().repeat(130);
    let frame = engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap();
    let Frame::Packed(ref buffer) = frame else { panic!("130 equal doubles stay raw") };
    assert_eq!(buffer.len(), FLOOR);
    assert_eq!(receive(&engine, buffer).unwrap(), raw);
}

#[test]
fn a_flipped_bit_never_gives_wrong_data() {
    let engine = fixed();
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
    let engine = fixed();
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
    let engine = fixed();
    let wire = frame(CodecId(200), 2000, &[7; 1500]);
    assert_eq!(receive(&engine, &wire), Err(FrameError::Codec(CodecId(200))));
}

#[test]
fn a_message_must_fit_the_output_exactly() {
    let engine = fixed();
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
    let engine = fixed();
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
    assert_eq!(
        lines,
        [(Kind::F64, "raw", 1), (Kind::F64, "diffpack-fast", 0), (Kind::F64, "diffpack-balanced", 1)]
    );
    let decoded: Vec<_> = stats.lines().map(|(_, codec, line)| (codec, line.decoded)).collect();
    assert_eq!(decoded[1], ("diffpack-fast", 1), "a frame does not say by what setting it was made");

    let mut sum = report::Share::of(&engine);
    sum.as_words_mut().iter_mut().for_each(|word| *word = word.wrapping_mul(3));
    let about = report::About { program: "p".into(), ranks: 4, nodes: 2, time: Duration::from_secs(5) };
    let report = report::JobReport::new(&about, &Settings::default(), &sum, &engine);
    assert_eq!((report.total.messages, report.total.raw_bytes), (6, 144_000));
    assert_eq!(report.destinations[0].sizes.iter().map(|size| size.counts.messages).sum::<u64>(), 6);

    assert_eq!(report.text(Report::None), "");
    let summary = report.text(Report::Summary);
    assert!(summary.starts_with("mpress: 6 messages in frames over 4 ranks: 144.0 kB raw"), "{summary}");
    assert_eq!(summary.lines().count(), 2, "{summary}");
    assert!(summary.ends_with(" % of bytes\n"), "{summary}");
    let full = report.text(Report::Full);
    assert!(full.contains("diffpack-balanced") && full.contains("p: 4 ranks on 2 nodes, 5.000 s"), "{full}");
    assert!(full.lines().all(|line| line.starts_with("mpress: ")), "{full}");

    let json = report.to_json().unwrap();
    assert_eq!(report::JobReport::from_json(&json).and_then(|report| report.to_json()).as_ref(), Ok(&json));
    for damage in ["", "{}", "[1]", &json[..json.len() / 2], &json.replace("mpress report", "other report")] {
        let error = report::JobReport::from_json(damage).unwrap_err();
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn damaged_heuristics_leave_the_defaults() {
    use mpress::knowledge::{COMPRESSION_FILE, NETWORK_FILE};
    let folder = tempfile::tempdir().unwrap();
    let (knowledge, errors) = Knowledge::read(folder.path());
    assert_eq!(knowledge, Knowledge::default());
    assert_eq!(errors.len(), 2, "{errors:?}");

    let good = "format = \"mpress network heuristics\"\nversion = 1\nmade = \"now\"\n\
                [[link]]\npeers = \"network\"\nlatency_us = 2.5\nbandwidth_mb_s = 3000.0\n";
    let write = |text: &str| std::fs::write(folder.path().join(NETWORK_FILE), text).unwrap();
    std::fs::write(
        folder.path().join(COMPRESSION_FILE),
        "format = \"mpress compression heuristics\"\nversion = 1\nmade = \"\"\nbehaviour = []",
    )
    .unwrap();
    write(good);
    let (knowledge, errors) = Knowledge::read(folder.path());
    assert!(errors.is_empty() && knowledge.links_measured && knowledge.codecs.is_empty(), "{errors:?}");
    assert_eq!(knowledge.links[1].bandwidth_mb_s, 3000.0);

    for (damage, part) in [
        ("".to_owned(), "not a file of mpress network heuristics"),
        (good.replace("version = 1", "version = 2"), "this is for version 1"),
        (good.replace("version = 1", ""), "no version"),
        (good.replace("3000.0", "-1.0"), "no link is like that"),
        (good.replace("3000.0", "nan"), "no link is like that"),
        (good.replace("3000.0", "\"fast\""), "invalid type"),
        (good.replace("\"network\"", "\"moon\""), "no peers are called `moon`"),
        (good[..60].to_owned(), "line "),
        (good.replace("network heuristics", "compression heuristics"), "not a file of"),
    ] {
        write(&damage);
        let (knowledge, errors) = Knowledge::read(folder.path());
        assert!(!knowledge.links_measured, "{damage}");
        let [error] = &errors[..] else { panic!("{errors:?}") };
        let line = error.to_string();
        assert!(
            line.contains(part) && line.contains("built-in defaults") && line.lines().count() == 1,
            "{line}"
        );
    }
}

#[test]
fn threads_share_an_engine() {
    let engine = fixed();
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
        let engine = fixed();
        let frame = engine.encode(&raw, Kind::from_wire(kind).unwrap(), Destination::OtherNode).unwrap();
        let wire = wire(&frame, &raw);
        prop_assert!((FLOOR..=raw.len() + HEADER_LEN).contains(&wire.len()));
        prop_assert_eq!(receive(&engine, &wire).unwrap(), raw);
    }

    /// Past the header and its check: whatever a codec makes of noise, or of a good wire's first bytes and then noise.
    #[test]
    fn any_payload_with_a_right_check_is_harmless(
        codec in 0_u8..30,
        raw_len in 0_usize..100_000,
        noise in prop::collection::vec(any::<u8>(), 0..3000),
        from in 0_usize..200,
    ) {
        let engine = Engine::default();
        let _ = receive(&engine, &frame(CodecId(codec), raw_len, &noise));
        for setting in mpress::Codec::all() {
            let raw = smooth(raw_len.max(FLOOR));
            let strategy: Strategy = format!("fixed:{}", setting.name()).parse().unwrap();
            let sent = engine.encode_by(Some(strategy), &raw, Kind::F64, Destination::OtherNode).unwrap();
            let Frame::Packed(sent) = sent else { continue };
            let mut payload = sent[HEADER_LEN..].to_vec();
            let from = from.min(payload.len());
            payload.truncate(from);
            payload.extend_from_slice(&noise);
            let received = receive(&engine, &frame(CodecId(sent[1]), raw.len(), &payload));
            prop_assert!(received.is_err() || received.is_ok_and(|message| message.len() == raw.len()));
        }
    }

    #[test]
    fn any_bytes_are_no_frame_or_harmless(wire in prop::collection::vec(any::<u8>(), HEADER_LEN..3000)) {
        let _ = receive(&fixed(), &wire);
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
    let engine = fixed();
    let wire = wire(&engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap(), &raw);
    assert_eq!(CodecId(wire[1]), CodecId::BLOCKS);
    let table: Vec<u32> =
        wire[HEADER_LEN..].as_chunks().0[1..5].iter().map(|len| u32::from_le_bytes(*len)).collect();
    assert!(table[1] == 1 << 20 && table[0] < 1 << 19 && table[3] < 12_345, "{table:?}");
    assert!(receive(&engine, &wire).unwrap() == raw);
    let stats = engine.stats();
    let lines: Vec<_> = stats.lines().map(|(_, codec, line)| (codec, line.messages)).collect();
    assert_eq!(
        lines,
        [("diffpack-fast", 0), ("diffpack-balanced", 1)],
        "counted under the codec of its blocks"
    );

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
        let strategy = "fixed:diffpack-balanced".parse().unwrap();
        let settings = Settings { threads, strategy, ..Settings::default() };
        let engine = Engine::new(&settings, &Knowledge::default(), None);
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
    let engine = fixed();
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
