//! The engine as a layer over it sees it: frames out, messages back, damage found, counters right.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::{
    CodecId, DecodeErrorKind, Destination, Engine, FLOOR, FrameError, HEADER_LEN, Kind, Mark, Report,
    SHORTEST, Settings, Strategy, may_be_frame, report,
};
use mpress_codec::{Encode, Out};
use proptest::prelude::*;
use std::mem::MaybeUninit;
use std::time::Duration;
use support::{MARK, fixed, frame, noise, receive, sealed, send, smooth, wire};

#[test]
fn every_kind_and_length_comes_back() {
    let engine = fixed();
    for kind in Kind::ALL {
        for len in [1023, 1024, 1025, 1031, 4000, 32_767, 32_768, 100_001, 1 << 20] {
            for raw in [smooth(len), noise(len), vec![0; len]] {
                let frame = engine.encode(&raw, kind, Destination::OtherNode);
                let wire = wire(frame.as_ref(), &raw);
                if let Some(frame) = frame {
                    assert!(frame.len() < raw.len() && may_be_frame(frame.len()), "{kind:?} {len}");
                    assert!(engine.is_frame(&frame));
                }
                assert!(receive(&engine, &wire).unwrap() == raw, "{kind:?} {len}");
            }
        }
    }
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
fn a_very_compressible_message_is_padded_to_the_shortest_frame() {
    let engine = fixed();
    let raw: Vec<u8> = 1.5_f64.to_le_bytes().repeat(130);
    let frame = engine.encode(&raw, Kind::F64, Destination::OtherNode).unwrap();
    assert_eq!(frame.len(), SHORTEST);
    assert_eq!(receive(&engine, &frame).unwrap(), raw);
    assert!(u16::from_le_bytes([frame[30], frame[31]]) > 800, "130 equal doubles take little");
    let mut wrong = frame.to_vec();
    wrong[30..32].fill(0xff);
    assert!(receive(&engine, &sealed(&wrong)).is_err(), "more padding than there is frame");
}

#[test]
fn lengths_of_arrays_are_no_lengths_of_frames() {
    assert!((SHORTEST..SHORTEST + 8).any(may_be_frame));
    for size in [2, 4, 8, 16] {
        assert!(!(0..100_000).step_by(size).any(may_be_frame), "elements of {size} bytes");
    }
    assert!(!(0..SHORTEST).any(may_be_frame));
}

#[test]
fn a_flipped_bit_never_gives_wrong_data() {
    let engine = fixed();
    let raw = smooth(3000);
    let wire = send(&engine, &raw);
    assert!(wire.len() < raw.len());
    for bit in 0..wire.len() * 8 {
        let mut damaged = wire.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(receive(&engine, &damaged).is_err(), "bit {bit} of {} bytes", wire.len());
    }
    for cut in 8..wire.len() {
        assert!(receive(&engine, &wire[..cut]).is_err(), "the first {cut} of {} bytes", wire.len());
    }
    for more in 1..10 {
        assert!(receive(&engine, &[&wire[..], &vec![0; more]].concat()).is_err(), "{more} bytes too many");
    }
    assert_eq!(receive(&engine, &wire).unwrap(), raw, "the engine works on after errors");
}

#[test]
fn damage_to_one_mark_leaves_the_other() {
    let engine = fixed();
    let wire = send(&engine, &smooth(3000));
    for at in [0, 16] {
        let mut damaged = wire.clone();
        damaged[at..at + 8].fill(0);
        assert!(engine.is_frame(&damaged) && receive(&engine, &damaged).is_err());
    }
    let mut damaged = wire.clone();
    damaged[1..24].fill(0xaa);
    assert!(!engine.is_frame(&damaged), "a burst over both is beyond what is promised");
}

#[test]
fn frames_of_another_job_are_messages() {
    let (engine, other) = (fixed(), fixed().with_mark(Mark(*b"otherjob")));
    let wire = send(&engine, &smooth(3000));
    assert!(engine.is_frame(&wire) && !other.is_frame(&wire));
    assert!(other.open(&wire).is_err());
}

/// What a frame must not say, after a check that holds.
#[test]
fn what_no_encoder_writes_is_refused() {
    let engine = fixed();
    let raw = smooth(3000);
    let wire = send(&engine, &raw);
    let kind = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut wrong = wire.clone();
        change(&mut wrong);
        match engine.open(&sealed(&wrong)).map(|_| ()).unwrap_err() {
            FrameError::Damaged(error) => (error.kind, error.offset),
            other => panic!("{other}"),
        }
    };
    let len = wire.len();
    assert_eq!(kind(&|wire| wire[24..30].fill(0)), (DecodeErrorKind::Length, 24));
    assert_eq!(
        kind(&|wire| wire[24..26].copy_from_slice(&(len as u16).to_le_bytes())),
        (DecodeErrorKind::Length, 24)
    );
    assert_eq!(kind(&|wire| wire.truncate(len - 1)), (DecodeErrorKind::Length, len - 1));
    assert_eq!(kind(&|wire| wire.truncate(SHORTEST - 8)), (DecodeErrorKind::Length, SHORTEST - 8));
    assert_eq!(kind(&|wire| wire[30..32].fill(0xff)), (DecodeErrorKind::Corrupt, 30));
    assert_eq!(kind(&|wire| wire[8] = 1), (DecodeErrorKind::Unsupported, 8));
    assert_eq!(
        receive(&engine, &frame(CodecId::RAW, 3000, &[7; 2000])),
        Err(FrameError::Codec(CodecId::RAW))
    );
}

/// Memory that goes back to the system may become the program's, and be sent as it is.
#[test]
fn a_dropped_frame_leaves_none_behind() {
    let engine = fixed();
    let frame = engine.encode(&smooth(3000), Kind::F64, Destination::OtherNode).unwrap();
    let at = frame.as_ptr();
    drop(frame);
    let mut again = engine.buffer(1500).unwrap();
    assert_eq!(again.as_ptr(), at, "the same memory");
    assert!(!engine.is_frame(again.room()));
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
    let wire = send(&engine, &raw);
    let incoming = engine.open(&wire).unwrap();
    for len in [0, 4095, 4097] {
        let mut out = vec![MaybeUninit::new(0); len];
        let Err(FrameError::Damaged(error)) = engine.decode(&incoming, &mut out) else {
            panic!("{len} bytes for a message of 4096")
        };
        assert_eq!(error.kind, DecodeErrorKind::Length);
    }
}

#[test]
fn what_was_received_counts_for_the_setting_that_sent_it() {
    let settings =
        ["diffpack-fast", "diffpack-balanced", "diffpack-ratio", "lz77-fast", "lz77", "dfcm-lanes"];
    for (codec, len) in settings.into_iter().flat_map(|codec| [8000, 3 << 20].map(|len| (codec, len))) {
        let engine = Engine::default();
        let strategy = format!("fixed:{codec}").parse().ok();
        let (kind, to) =
            (if codec.starts_with("lz") { Kind::Int8 } else { Kind::F64 }, Destination::OtherNode);
        let raw = if kind == Kind::Int8 { b"over and over".repeat(len / 13) } else { smooth(len) };
        let considered = engine.consider(strategy, kind, to, raw.len()).unwrap();
        let wire = wire(engine.encode_considered(considered, &raw).as_ref(), &raw);
        assert_eq!(receive(&engine, &wire).unwrap(), raw);
        let lines: Vec<_> =
            engine.stats().lines().map(|(_, name, line)| (name, line.messages, line.decoded)).collect();
        assert_eq!(lines, [(codec, 1, 1)], "{len} bytes");
    }
}

#[test]
fn counters_and_report() {
    let engine = fixed();
    let raws = [smooth(8000), noise(40_000)];
    for raw in &raws {
        let wire = send(&engine, raw);
        receive(&engine, &wire).unwrap();
    }
    let stats = engine.stats();
    let total = stats.total();
    assert_eq!((total.messages, total.raw_bytes), (2, 48_000));
    assert!(total.wire_bytes < 48_000 && total.wire_bytes > 40_000);
    let lines: Vec<_> = stats.lines().map(|(kind, codec, line)| (kind, codec, line.messages)).collect();
    assert_eq!(lines, [(Kind::F64, "raw", 1), (Kind::F64, "diffpack-balanced", 1)]);

    let mut sum = report::Share::of(&engine);
    sum.as_words_mut().iter_mut().for_each(|word| *word = word.wrapping_mul(3));
    let passed = [("reductions", 7), ("files", 0)]
        .map(|(calls, count)| report::Passed { calls: calls.into(), count, bytes: None })
        .to_vec();
    let about = report::About {
        program: "p".into(),
        ranks: 4,
        nodes: 2,
        time: Duration::from_secs(5),
        passed,
        prediction: Some(report::Prediction { predicted: 9, right: 8, early: 7, moved_s: 0.25 }),
        in_mpi: Some(report::InMpi::new(
            [("Wait", 3, 2_000_000_000)],
            [("MPI_COMM_WORLD, 2 ranks".into(), 5, 1_250_000_000)],
            &[500_000_000, 1_500_000_000],
            &[0, 250_000_000],
        )),
    };
    let report = report::JobReport::new(&about, &Settings::default(), &sum, &engine);
    assert_eq!((report.total.messages, report.total.raw_bytes), (6, 144_000));
    let raw = report::RawCounts { reason: "not shorter when compressed".into(), messages: 3, bytes: 120_000 };
    assert_eq!(report.raw, [raw]);
    assert_eq!(report.destinations[0].sizes.iter().map(|size| size.counts.messages).sum::<u64>(), 6);

    assert_eq!(report.text(Report::None), "");
    let summary = report.text(Report::Summary);
    assert!(
        summary.starts_with("mpress: 3 of 6 messages compressed over 4 ranks: 144.0 kB raw"),
        "{summary}"
    );
    assert_eq!(summary.lines().count(), 2, "{summary}");
    assert!(summary.ends_with(" % of bytes\n"), "{summary}");
    let full = report.text(Report::Full);
    assert!(full.contains("diffpack-balanced") && full.contains("p: 4 ranks on 2 nodes, 5.000 s"), "{full}");
    assert!(full.contains("not considered: 7 reductions\n"), "{full}");
    assert!(full.contains("raw messages: 3 (120.0 kB) not shorter when compressed\n"), "{full}");
    assert!(
        full.contains("in MPI: 1.000 s on average over the ranks, from 0.500 s to 1.500 s\n")
            && full.contains(
                "\nmpress: MPI_Wait                                                  3      2.000\n"
            )
            && full.contains(
                "\nmpress: MPI_COMM_WORLD, 2 ranks                                   5      1.250\n"
            )
            && full.contains("\nmpress: most seconds with: rank 1 0.250 s\n"),
        "{full}"
    );
    assert!(
        full.contains("predicted: 8 of 9 receives right, 7 messages decoded early, 0.250 s gained\n"),
        "{full}"
    );
    assert!(full.lines().all(|line| line.starts_with("mpress: ")), "{full}");

    let measuring = Settings { strategy: mpress::Strategy::Measure, ..Settings::default() };
    let measured = report::JobReport::new(&about, &measuring, &sum, &engine).text(Report::Summary);
    assert!(
        measured.contains("3 of 6 messages would be compressed over 4 ranks: 144.0 kB raw"),
        "{measured}"
    );
    assert!(measured.contains(" would be sent"), "{measured}");
    let (unused, here) = (Engine::default(), report::About { ranks: 1, nodes: 1, ..about });
    let nothing = report::JobReport::new(&here, &Settings::default(), &report::Share::of(&unused), &unused);
    assert!(nothing.verdict.starts_with("all ranks are on one node"), "{}", nothing.verdict);
    assert!(nothing.text(Report::Full).contains("p: 1 rank on 1 node, "), "{}", nothing.text(Report::Full));

    let json = report.to_json().unwrap();
    assert_eq!(report::JobReport::from_json(&json).and_then(|report| report.to_json()).as_ref(), Ok(&json));
    for damage in ["", "{}", "[1]", &json[..json.len() / 2], &json.replace("mpress report", "other report")] {
        let error = report::JobReport::from_json(damage).unwrap_err();
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    let folder = tempfile::tempdir().unwrap();
    let deliver = |how, file: Option<&str>| {
        let printed = std::cell::RefCell::new(Vec::new());
        let report_file = file.map(|file| folder.path().join(file));
        let settings = Settings { report: how, report_file: report_file.clone(), ..Settings::default() };
        report.deliver(&settings, |text| printed.borrow_mut().push(text.to_owned()));
        let written = report_file.and_then(|file| std::fs::read_to_string(file).ok());
        (printed.into_inner(), written)
    };
    assert_eq!(deliver(Report::Summary, None), (vec![summary.trim_end().to_owned()], None));
    assert_eq!(deliver(Report::None, Some("a.json")), (vec![], Some(json)));
    assert_eq!(deliver(Report::None, Some("a.txt")), (vec![], Some(full.clone())));
    assert_eq!(
        deliver(Report::Summary, Some("a.txt")),
        (vec![summary.trim_end().to_owned()], Some(full.clone()))
    );
    assert_eq!(
        deliver(Report::Full, Some("a.txt")),
        (vec![summary.trim_end().to_owned()], Some(full.clone()))
    );
    let (printed, written) = deliver(Report::None, Some("missing/a.txt"));
    assert!(printed[0].ends_with("; here is the report:") && written.is_none(), "{printed:?}");
    assert_eq!(printed[1], full.trim_end());
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
                    let wire = send(engine, &raw);
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
        let frame = engine.encode(&raw, Kind::from_wire(kind).unwrap(), Destination::OtherNode);
        let wire = wire(frame.as_ref(), &raw);
        prop_assert!((SHORTEST..=raw.len()).contains(&wire.len()));
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
        let engine = Engine::default().with_mark(MARK);
        let _ = receive(&engine, &frame(CodecId(codec), raw_len, &noise));
        for setting in mpress::Codec::all() {
            let raw = smooth(raw_len.max(FLOOR));
            let strategy: Strategy = format!("fixed:{}", setting.name()).parse().unwrap();
            let considered = engine.consider(Some(strategy), Kind::F64, Destination::OtherNode, raw.len()).unwrap();
            let Some(sent) = engine.encode_considered(considered, &raw) else { continue };
            let mut payload = sent[HEADER_LEN..].to_vec();
            let from = from.min(payload.len());
            payload.truncate(from);
            payload.extend_from_slice(&noise);
            let received = receive(&engine, &frame(CodecId(sent[9]), raw.len(), &payload));
            prop_assert!(received.is_err() || received.is_ok_and(|message| message.len() == raw.len()));
        }
    }

    #[test]
    fn any_bytes_are_no_frame_or_harmless(wire in prop::collection::vec(any::<u8>(), HEADER_LEN..3000)) {
        let _ = receive(&fixed(), &wire);
        let _ = fixed().open(&wire);
        let mut marked = wire;
        marked[..8].copy_from_slice(&MARK.0);
        prop_assert!(receive(&fixed(), &marked).is_err());
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
    let wire = send(&engine, &raw);
    assert_eq!(CodecId(wire[9]), CodecId::BLOCKS);
    let table: Vec<u32> =
        wire[HEADER_LEN..].as_chunks().0[1..5].iter().map(|len| u32::from_le_bytes(*len)).collect();
    assert!(table[1] == 1 << 20 && table[0] < 1 << 19 && table[3] < 12_345, "{table:?}");
    assert!(receive(&engine, &wire).unwrap() == raw);
    let stats = engine.stats();
    let lines: Vec<_> = stats.lines().map(|(_, codec, line)| (codec, line.messages)).collect();
    assert_eq!(lines, [("diffpack-balanced", 1)], "sent and received count under the codec of its blocks");

    // What came before must not show in a block.
    let again = send(&engine, &raw);
    assert!(again == wire);

    let random = noise(5 << 20);
    assert!(engine.encode(&random, Kind::F64, Destination::OtherNode).is_none());
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_does_not_show() {
    let raw = long();
    let send = |threads| {
        let strategy = "fixed:diffpack-balanced".parse().unwrap();
        let settings = Settings { threads, strategy, ..Settings::default() };
        let engine = Engine::new(&settings, &mpress::Knowledge::default(), None).with_mark(MARK);
        let wire = send(&engine, &raw);
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
    let whole = send(&engine, &raw);
    let padding = usize::from(u16::from_le_bytes([whole[30], whole[31]]));
    let payload = &whole[HEADER_LEN..whole.len() - padding];
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut payload = payload.to_vec();
        change(&mut payload);
        receive(&engine, &frame(CodecId::BLOCKS, raw.len(), &payload)).unwrap_err()
    };
    let kind = |change: &dyn Fn(&mut Vec<u8>)| match refused(change) {
        FrameError::Damaged(error) => error.kind,
        other => panic!("{other}"),
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
