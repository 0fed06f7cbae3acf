//! Strategies: what is compressed by what codec, and what the engine starts from.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::report::{About, JobReport, Share};
use mpress::{
    CodecId, Destination, Engine, Kind, Knowledge, RawReason, Record, SameNode, Settings, Strategy,
};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::{by, codec_of, fixed, noise, receive, smooth, wire};

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
                let wire = wire(engine.encode(&raw, kind, Destination::OtherNode).as_ref(), &raw);
                assert!(receive(&engine, &wire).unwrap() == raw, "{} {kind:?}", codec.name());
            }
        }
    }
}

/// Over a network so slow that whatever gets shorter arrives earlier, however slow this machine is today.
const SLOW: mpress::selector::Link = mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 0.01 };

fn adaptive() -> Engine {
    let engine = by("adaptive", SameNode::Pass);
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

/// PRAcTICaL-MPI, section 3: it has a window, which the report shows, and the codecs of that paper.
#[test]
fn the_run_time_adaptive_strategy_has_a_window() {
    let (ras, adaptive) = (by("ras", SameNode::Pass), adaptive());
    ras.set_link(SLOW);
    let raw = smooth(100_000);
    for engine in [&ras, &adaptive] {
        (0..20).for_each(|_| _ = codec_of(engine, &raw, Kind::F64, Destination::OtherNode));
    }
    let codec = codec_of(&ras, &raw, Kind::F64, Destination::OtherNode);
    assert!(![CodecId::RAW, CodecId::DIFFPACK_64].contains(&codec), "{codec:?}");
    assert_eq!(report(&ras).windows.len(), 1);
    assert!(report(&adaptive).windows.is_empty());
    assert!(ras.consider(None, Kind::F64, Destination::SameNode, raw.len()).is_none());
}

/// A long message is not encoded as a whole by a codec of which nothing is known.
#[test]
fn a_codec_that_is_not_known_encodes_a_part_first() {
    let engine = adaptive();
    let raw = smooth(4_000_000);
    assert_ne!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
    // One message, whatever was encoded before it.
    assert_eq!(engine.stats().total().messages, 1);
}

fn report(engine: &Engine) -> JobReport {
    JobReport::new(&About::default(), &Settings::default(), &Share::of(engine), engine)
}

#[test]
fn gains_are_a_part_of_the_time_that_they_were_reckoned_in() {
    let engine = adaptive();
    for _ in 0..20 {
        codec_of(&engine, &smooth(100_000), Kind::F64, Destination::OtherNode);
    }
    // What is believed of the network at the end is not what the messages were sent by.
    engine.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 5_000.0 });
    let report = report(&engine);
    let part = report.gain.measured_s / report.gain.raw_s;
    let saved = 1.0 - 1.0 / report.total.ratio();
    assert!(part > 0.0 && part < saved + 0.01, "{part} of the time, {saved} of the bytes");
    assert!(report.verdict.contains("time for messages at "), "{}", report.verdict);
}

#[test]
fn of_next_to_no_communication_no_percentage_is_told() {
    let engine = by("adaptive", SameNode::Pass);
    engine.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 1_000.0 });
    for _ in 0..3 {
        codec_of(&engine, &smooth(2000), Kind::F64, Destination::OtherNode);
    }
    let verdict = report(&engine).verdict;
    assert!(!verdict.contains("time"), "{verdict}");
}

#[test]
fn a_fast_network_gets_raw_messages() {
    let engine = by("adaptive", SameNode::Pass);
    engine.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 50_000.0 });
    let raw = smooth(100_000);
    for _ in 0..20 {
        assert_eq!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
    }
}

/// The raw messages of an engine after this one: why, their number, and their bytes.
fn raw_after(engine: &Engine, raw: &[u8]) -> Vec<(RawReason, u64, u64)> {
    let _frame = engine.encode(raw, Kind::F64, Destination::OtherNode);
    engine.stats().raw().map(|(reason, line)| (reason, line.messages, line.raw_bytes)).collect()
}

#[test]
fn raw_messages_are_counted_by_their_reason() {
    let sent = raw_after;
    assert_eq!(sent(&by("off", SameNode::Pass), &smooth(8000)), [(RawReason::Settings, 1, 8000)]);
    assert_eq!(sent(&fixed(), &noise(8000)), [(RawReason::Longer, 1, 8000)]);
    assert_eq!(sent(&fixed(), &smooth(8000)), []);
    let fast = by("adaptive", SameNode::Pass);
    fast.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 50_000.0 });
    assert_eq!(sent(&fast, &smooth(2000)), [(RawReason::Short, 1, 2000)]);

    // Inside the window its codecs do not gain, until the window is closed. That is no setting.
    let ras = by("ras", SameNode::Pass);
    ras.set_link(mpress::selector::Link { latency_us: 1.0, bandwidth_mb_s: 50_000.0 });
    assert_eq!(sent(&ras, &smooth(8000)), [(RawReason::Estimate, 1, 8000)]);
    (0..50).for_each(|_| _ = sent(&ras, &smooth(8000)));
    let reasons: Vec<_> = ras.stats().raw().map(|(reason, _)| reason).collect();
    assert_eq!(reasons, [RawReason::Idle, RawReason::Estimate]);

    let engine = adaptive();
    (0..50).for_each(|_| _ = sent(&engine, &noise(100_000)));
    let stats = engine.stats();
    let raw: u64 = stats.raw().map(|(_, line)| line.messages).sum();
    assert_eq!(
        stats.lines().filter(|(_, codec, _)| *codec == "raw").map(|(.., line)| line.messages).sum::<u64>(),
        raw
    );
    assert_eq!(raw, 50);
}

#[test]
fn raw_messages_on_trial_are_counted_as_such() {
    let settings = Settings { strategy: Strategy::Adaptive, ..Settings::default() };
    let engine = Engine::new(&settings, &Knowledge::default(), None);
    engine.set_link(SLOW);
    let (raw, end) = (smooth(8000), Instant::now() + Duration::from_secs(60));
    let has = |reason: RawReason| raw_after(&engine, &raw).iter().any(|(of, ..)| *of == reason);
    // In the first seconds, each quarter of a second has a trial.
    while !has(RawReason::Clock) {
        assert!(Instant::now() < end, "there was no trial");
        sleep(Duration::from_millis(1));
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
    let considered = engine.consider(Some(strategy), Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    assert_eq!(CodecId(engine.encode_considered(considered, &raw).unwrap()[9]), CodecId::DFCM_F64);
    let considered = engine.consider(Some(strategy), Kind::F64, Destination::OtherNode, raw.len()).unwrap();
    assert!(engine.encode_considered(considered, &raw[8..]).is_none(), "another message");
    assert_eq!(codec_of(&engine, &raw, Kind::F64, Destination::OtherNode), CodecId::RAW);
}

#[test]
fn damaged_heuristics_leave_the_defaults() {
    use mpress::knowledge::{COMPRESSION_FILE, MEMORY_FILE};
    let folder = tempfile::tempdir().unwrap();
    let (knowledge, errors) = Knowledge::read(folder.path());
    assert_eq!(knowledge, Knowledge::default());
    assert_eq!(errors.len(), 1, "{errors:?}");
    std::fs::write(folder.path().join(MEMORY_FILE), "").unwrap();
    assert_eq!(Knowledge::read(folder.path()), (knowledge, Vec::new()), "one of the files is there");

    let good = "format = \"mpress compression heuristics\"\nversion = 2\nmade = \"now\"\n[[behaviour]]\n\
                kind = \"f64\"\nlevel = \"medium\"\ncodec = \"diffpack-fast\"\nratio = 1.5\n[behaviour.encode]\n\
                start_us = 10.0\nmb_s = 7000.0\ncold_us = 9.5\n[behaviour.decode]\nstart_us = 5.0\nmb_s = 8000.0\ncold_us = 0.0\n";
    let read = |text: &str| {
        std::fs::write(folder.path().join(COMPRESSION_FILE), text).unwrap();
        let (knowledge, errors) = Knowledge::read(folder.path());
        (knowledge.codecs, errors.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (codecs, errors) = read(good);
    assert_eq!((codecs.len(), errors.len()), (1, 0), "{errors:?}");
    assert_eq!((codecs[0].encode.time_ns(7000), codecs[0].encode.cold_us), (11_000.0, 9.5));
    // The speeds of version 1 were measured with hot caches.
    let old = good
        .replace("version = 2", "version = 1")
        .replace("cold_us = 9.5\n", "")
        .replace("cold_us = 0.0\n", "");
    for (damage, part) in [
        (String::new(), "not a file of mpress compression heuristics"),
        (good.replace("compression heuristics", "memory heuristics"), "not a file of"),
        (old, "this is for version 2 (run mpress calibrate again)"),
        (
            good.replace("version = 2", "version = 3"),
            "version 3 of mpress compression heuristics; this is for version 2;",
        ),
        (good.replace("version = 2", ""), "no version"),
        (good[..60].to_owned(), "line "),
        (good.replace("7000.0", "\"fast\""), "invalid type"),
        (good.replace("cold_us = 0.0\n", ""), "missing field `cold_us`"),
        (good.replace("9.5", "10.5"), "no codec behaves so"),
        (good.replace("9.5", "-1.0"), "no codec behaves so"),
        (good.replace("9.5", "nan"), "no codec behaves so"),
    ] {
        let (codecs, errors) = read(&damage);
        assert_eq!(codecs, Knowledge::default().codecs, "{damage}");
        let [line] = &errors[..] else { panic!("{errors:?}") };
        assert!(
            line.contains(part) && line.contains("built-in defaults") && line.lines().count() == 1,
            "{line}"
        );
    }
}

#[test]
fn figures_of_memory_may_be_missing_but_not_wrong() {
    use mpress::knowledge::{MEMORY_FILE, Memory, MemoryFile};
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join(MEMORY_FILE), text).unwrap();
    assert_eq!(Memory::read(folder.path()), Ok(Memory::default()), "no file");

    let all = Memory {
        page_bytes: Some(4096),
        tlb_entries: Some(72),
        l1_bytes: Some(32 << 10),
        l2_bytes: Some(1 << 20),
        l3_bytes: Some(32 << 20),
    };
    for memory in [Memory::default(), Memory { l3_bytes: None, ..all }, all] {
        write(&toml::to_string(&MemoryFile::new("now".into(), memory)).unwrap());
        assert_eq!(Memory::read(folder.path()), Ok(memory));
    }
    // As `docs/format/heuristics.md` has it.
    let good = "format = \"mpress memory heuristics\"\nversion = 1\nmade = \"now\"\n\
                [memory]\npage_bytes = 4096\ntlb_entries = 72\nl1_bytes = 32768\nl2_bytes = 1048576\n";
    write(good);
    assert_eq!(Memory::read(folder.path()), Ok(Memory { l3_bytes: None, ..all }));
    // The other files say nothing of it, and may be missing.
    let (_, errors) = Knowledge::read(folder.path());
    assert!(errors.is_empty(), "{errors:?}");

    for (damage, part) in [
        ("".to_owned(), "not a file of mpress memory heuristics"),
        (good.replace("version = 1", "version = 2"), "this is for version 1"),
        (good.replace("version = 1", ""), "no version"),
        (good.replace("= 72", "= 0"), "memory.tlb_entries = 0: expected 1 to 1048576"),
        (good.replace("= 72", "= -1"), "line 6: invalid value"),
        (good.replace("= 72", "= 72.5"), "line 6: invalid type"),
        (good.replace("= 72", "= \"many\""), "line 6: invalid type"),
        (good.replace("4096", "5000"), "memory.page_bytes = 5000: not a power of two"),
        (good.replace("4096", "512"), "memory.page_bytes = 512: expected 1024 to 1073741824"),
        (good.replace("32768", "1023"), "memory.l1_bytes = 1023: expected 1024 to 1099511627776"),
        (good.replace("1048576", "1099511627777"), "memory.l2_bytes = 1099511627777: expected"),
        (good.replace("l2_bytes", "l3_bytes = 0 #"), "memory.l3_bytes = 0: expected"),
        (good.replace("l2_bytes", "l4_bytes"), "unknown field `l4_bytes`"),
        (good.replace("[memory]", "[memories]"), "memories"),
        (good.replace("memory heuristics", "network heuristics"), "not a file of"),
    ] {
        write(&damage);
        let line = Memory::read(folder.path()).unwrap_err().to_string();
        assert!(line.contains(part) && line.lines().count() == 1, "{line}");
        assert!(
            line.contains(MEMORY_FILE) && line.ends_with("the processor's own tables are used"),
            "{line}"
        );
    }
    std::fs::remove_file(folder.path().join(MEMORY_FILE)).unwrap();
    std::fs::create_dir(folder.path().join(MEMORY_FILE)).unwrap();
    assert!(Memory::read(folder.path()).unwrap_err().to_string().lines().count() == 1, "a folder");
}
