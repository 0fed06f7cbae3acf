//! Codecs of others in the engine: named, agreed on, used, and refused where they are not known; and what holds if one is wrong.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use mpress::job::{self, Agreed, WORDS};
use mpress::report::Share;
use mpress::selector::Link;
use mpress::{
    CodecId, Codecs, CodecsError, Decode, DecodeError, DecodeErrorKind, Destination, Encode, Engine,
    FrameError, HEADER_LEN, Kind, Knowledge, Out, Outgoing, Prior, Record, Reset, Row, Settings, Strategy,
    Streams,
};
use mpress_codec::EncodeError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{MARK, codec_of, frame, noise, receive, smooth, wire};

/// The low byte of each word of 8 bytes, if all words have that byte eight times; otherwise the message. What it does besides depends on `HOW`.
struct Bytes<const ID: u8, const HOW: u8>;

const HONEST: u8 = 0;
/// Panics instead of coding.
const PANICS: u8 = 1;
/// Says that it needs no room at all.
const NO_ROOM: u8 = 2;
/// Says that it needs another number of bytes each time it is asked.
const FICKLE: u8 = 3;
/// Leaves another output in the place of the one that it was lent, and says that all is well.
const ELSEWHERE: u8 = 4;
/// Says of every wire that it is wrong at a byte that no wire has.
const REFUSES: u8 = 5;
/// Says that it needs more room than there is.
const TOO_MUCH: u8 = 6;
/// Writes nothing, and says that all is well.
const IDLE: u8 = 7;

impl<const ID: u8, const HOW: u8> mpress_codec::Codec for Bytes<ID, HOW> {
    const ID: CodecId = CodecId(ID);
    const NAME: &'static str = if ID == 255 { "bytes-255" } else { "bytes" };
    const WIDTH: usize = 8;
    const STATEFUL: bool = false;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder() -> Self {
        Self
    }

    fn decoder() -> Self {
        Self
    }
}

impl<const ID: u8, const HOW: u8> Reset for Bytes<ID, HOW> {}

impl<const ID: u8, const HOW: u8> Encode for Bytes<ID, HOW> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        match HOW {
            NO_ROOM => Some(0),
            FICKLE => Some(raw_len / (1 + CALLS.fetch_add(1, Relaxed) % 7)),
            TOO_MUCH => Some(usize::MAX / 2),
            _ => raw_len.checked_add(1),
        }
    }

    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        assert!(HOW != PANICS, "as it was told");
        match HOW {
            ELSEWHERE => *out = Out::from_slice(vec![0; out.remaining()].leak()),
            IDLE => return Ok(()),
            _ => {}
        }
        let (words, _) = raw.as_chunks::<8>();
        let is_same = raw.len().is_multiple_of(8) && words.iter().all(|word| *word == [word[0]; 8]);
        out.within(Some(1), |out| {
            out.extend_from_slice(&[u8::from(is_same)])?;
            if is_same {
                return words.iter().try_for_each(|word| out.extend_from_slice(&word[..1]));
            }
            out.extend_from_slice(raw)
        })
    }
}

impl<const ID: u8, const HOW: u8> Decode for Bytes<ID, HOW> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        assert!(HOW != PANICS, "as it was told");
        if HOW == REFUSES {
            return Err(DecodeError::new(DecodeErrorKind::Corrupt, usize::MAX));
        }
        if HOW == IDLE {
            return Ok(());
        }
        let error = |kind| DecodeError::new(kind, wire.len());
        let (first, rest) = wire.split_first().ok_or(error(DecodeErrorKind::Truncated))?;
        let times = if *first == 0 { 1 } else { 8 };
        if rest.len() * times != out.remaining() {
            return Err(error(DecodeErrorKind::Length));
        }
        let mut bytes = rest.iter().map(|byte| [*byte; 8]);
        bytes
            .try_for_each(|byte| out.extend_from_slice(&byte[..times]))
            .map_err(|_| error(DecodeErrorKind::Length))
    }
}

const KINDS: &[Kind] = &[Kind::Int64, Kind::Other];

/// Better than any codec of the engine.
const PRIOR: Prior = Prior { ratio: 8.0, encode_gb_s: 50.0, decode_gb_s: 50.0 };

static BYTES: Row = Row::of::<Bytes<200, HONEST>>(1).for_kinds(KINDS).with_prior(PRIOR);
static BYTES_2: Row = Row::of::<Bytes<200, HONEST>>(2).for_kinds(KINDS).with_prior(PRIOR);
static BYTES_255: Row = Row::of::<Bytes<255, HONEST>>(1);

/// Words of eight equal bytes each.
fn message(len: usize) -> Vec<u8> {
    noise(len / 8).into_iter().flat_map(|byte| [byte; 8]).collect()
}

fn settings(rows: &[&'static Row], strategy: &str) -> Settings {
    let codecs = Codecs::new(rows.iter().copied()).unwrap();
    let strategy = codecs.strategy(strategy).unwrap();
    Settings { codecs, strategy, clock: false, ..Settings::default() }
}

/// The agreement of processes with these settings.
fn agreement(all: &[&Settings]) -> Agreed {
    let words = all.iter().map(|settings| job::proposal(Some(settings)));
    let least = words.reduce(|a, b| std::array::from_fn::<_, WORDS, _>(|i| a[i].min(b[i])));
    job::agreement(least.unwrap()).unwrap()
}

/// The engine of a process with these settings, and of one with `others`.
fn pair(own: &Settings, other: &Settings) -> [Engine; 2] {
    let agreed = agreement(&[own, other]);
    [own, other].map(|settings| engine(&settings.agreed(&agreed)))
}

fn engine(settings: &Settings) -> Engine {
    Engine::new(settings, &Knowledge::default(), None).with_mark(MARK)
}

/// An engine that uses this codec for all messages, alone in its job.
fn forced(row: &'static Row) -> Engine {
    let settings = settings(&[row], "fixed:bytes");
    engine(&settings.agreed(&agreement(&[&settings])))
}

/// What one engine sends, and the other one makes of it.
fn pass(from: &Engine, to: &Engine, raw: &[u8], kind: Kind) -> (CodecId, Result<Vec<u8>, FrameError>) {
    let sent = wire(from.encode(raw, kind, Destination::OtherNode).as_ref(), raw);
    let codec = if from.is_frame(&sent) { CodecId(sent[9]) } else { CodecId::RAW };
    (codec, receive(to, &sent))
}

/// So slow that whatever gets shorter arrives earlier, however slow this machine is today.
const SLOW: Link = Link { latency_us: 1.0, bandwidth_mb_s: 0.01 };

#[test]
fn a_fixed_codec_of_others_is_used_for_all_that_gets_shorter() {
    let settings = settings(&[&BYTES, &BYTES_255], "fixed:bytes");
    let [one, other] = pair(&settings, &settings);
    for kind in Kind::ALL {
        for len in [1024, 8000, 100_000] {
            let raw = message(len);
            assert_eq!(pass(&one, &other, &raw, kind), (CodecId(200), Ok(raw)), "{kind:?} {len}");
            let raw = noise(len);
            assert_eq!(pass(&one, &other, &raw, kind), (CodecId::RAW, Ok(raw)), "{kind:?} {len}");
        }
    }
    // In blocks, some of which do not get shorter.
    let raw = [message(3 << 20), noise(1 << 20), message(4096)].concat();
    assert_eq!(pass(&one, &other, &raw, Kind::Int64), (CodecId::BLOCKS, Ok(raw)));
    let lines: Vec<_> = one.stats().lines().filter(|(_, codec, _)| *codec == "bytes").collect();
    assert_eq!(lines.iter().map(|(_, _, line)| line.messages).sum::<u64>(), 3 * 7 + 1);
    assert!(one.stats().total().ratio() > 2.0);
}

#[test]
fn a_long_message_goes_in_chunks() {
    let settings = Settings { streams: Streams::From(4096), ..settings(&[&BYTES], "fixed:bytes") };
    let [one, other] = pair(&settings, &settings).map(|engine| engine.with_streams(&settings));
    let raw = message(100_000);
    let considered = one.consider(None, Kind::Int64, Destination::OtherNode, raw.len()).unwrap();
    let Outgoing::Stream(head, mut tail) = one.begin(considered, &raw, 1, Some(8000)) else {
        panic!("no stream")
    };
    let incoming = other.open(&head).unwrap();
    let stream = incoming.stream().unwrap();
    let mut out = vec![std::mem::MaybeUninit::new(0_u8); raw.len()];
    other.decode_head(&incoming, &mut out[stream.range(0)]).unwrap();
    for index in 1..stream.chunks() {
        let chunk = one.next_chunk(&mut tail, &raw[stream.range(index)]).unwrap();
        assert!(chunk.len() < 2000, "it gets shorter");
        other.decode_chunk(&stream, index, &chunk, &mut out[stream.range(index)]).unwrap();
    }
    // SAFETY: initialised when it was made.
    let out: Vec<u8> = out.into_iter().map(|byte| unsafe { byte.assume_init() }).collect();
    assert_eq!(out, raw);
    let plain = engine(&Settings::default());
    let opened = plain.open(&head).unwrap();
    let mut room = vec![std::mem::MaybeUninit::uninit(); stream.range(0).len()];
    assert_eq!(plain.decode_head(&opened, &mut room), Err(FrameError::Codec(CodecId(200))));
}

#[test]
fn the_adaptive_strategy_chooses_it_where_it_gains_most() {
    let settings = settings(&[&BYTES], "adaptive");
    let [one, other] = pair(&settings, &settings);
    [&one, &other].into_iter().for_each(|engine| engine.set_link(SLOW));
    for kind in [Kind::Int64, Kind::Other] {
        for len in [16_000, 200_000] {
            let raw = message(len);
            let codecs = (0..20).map(|_| {
                let (codec, came) = pass(&one, &other, &raw, kind);
                assert_eq!(came.as_ref(), Ok(&raw));
                codec
            });
            let chosen = codecs.filter(|codec| *codec == CodecId(200)).count();
            assert!(chosen > 15, "{kind:?} {len}: {chosen} of 20");
        }
    }
    // It was not offered for these.
    assert_ne!(pass(&one, &other, &message(16_000), Kind::F64).0, CodecId(200));
    // What makes a message no shorter is learned, too.
    let raw = smooth(200_000);
    let codecs = (0..20).map(|_| pass(&one, &other, &raw, Kind::Int64).0);
    assert!(codecs.skip(10).all(|codec| codec == CodecId::DIFFPACK_64));
}

#[test]
fn the_guided_strategy_repeats_it() {
    let adaptive = settings(&[&BYTES], "adaptive");
    let adaptive = adaptive.agreed(&agreement(&[&adaptive]));
    let (engine, raw) = (engine(&adaptive), message(16_000));
    engine.set_link(SLOW);
    (0..20).for_each(|_| _ = codec_of(&engine, &raw, Kind::Int64, Destination::OtherNode));
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = engine.record(&engine.tally()).to_toml().unwrap();
    assert!(text.contains("codec = \"bytes\""), "{text}");
    std::fs::write(file.path(), text).unwrap();
    assert!(Record::read(file.path()).unwrap_err().contains("no such decision: int64 bytes"));
    let record = Record::read_with(file.path(), &adaptive.codecs).unwrap();
    let guided = |settings: &Settings| {
        let settings = Settings { strategy: Strategy::Guided, ..settings.clone() };
        Engine::new(&settings, &Knowledge::default(), Some(&record)).with_mark(MARK)
    };
    assert_eq!(codec_of(&guided(&adaptive), &raw, Kind::Int64, Destination::OtherNode), CodecId(200));
    let alone = guided(&Settings::default());
    assert_eq!(
        codec_of(&alone, &raw, Kind::Int64, Destination::OtherNode),
        CodecId::RAW,
        "it has no such codec"
    );
}

#[test]
fn heuristics_take_the_place_of_the_prior() {
    let settings = settings(&[&BYTES], "adaptive");
    let settings = settings.agreed(&agreement(&[&settings]));
    let mut knowledge = Knowledge::default();
    let like = knowledge.codecs[0].clone();
    let slow = mpress::selector::Speed { start_us: 1e5, mb_s: 0.01, cold_us: 0.0 };
    for kind in KINDS {
        let (kind, level, codec) = (kind.name().into(), "medium".into(), "bytes".into());
        let (encode, decode) = (slow, slow);
        knowledge.codecs.push(mpress::knowledge::CodecBehaviour {
            kind,
            level,
            codec,
            encode,
            decode,
            ..like.clone()
        });
    }
    let engine = Engine::new(&settings, &knowledge, None).with_mark(MARK);
    engine.set_link(SLOW);
    for _ in 0..10 {
        assert_ne!(codec_of(&engine, &message(16_000), Kind::Int64, Destination::OtherNode), CodecId(200));
    }
}

#[test]
fn only_what_all_have_in_common_is_used() {
    let with = |rows: &[&'static Row]| settings(rows, "adaptive");
    let bits = |all: &[&Settings]| agreement(all).codecs;
    let (none, one, both) = (with(&[]), with(&[&BYTES]), with(&[&BYTES_255, &BYTES]));
    let second = with(&[&BYTES_2, &BYTES_255]);
    assert_eq!(bits(&[&both, &both]), 1 << 8 | 1 << 63);
    assert_eq!(bits(&[&both, &one, &both]), 1 << 8);
    assert_eq!(bits(&[&both, &second]), 1 << 63, "another version of one");
    for other in [&none, &second] {
        assert_eq!([bits(&[&one, other]), bits(&[other, &one]), bits(&[&one, &one, other])], [0; 3]);
    }
    let not = |settings: &Settings| settings.codecs.not_agreed().map(|(name, ..)| name).collect::<Vec<_>>();
    assert_eq!(not(&both), ["bytes", "bytes-255"], "there was no agreement");
    assert_eq!(not(&both.agreed(&agreement(&[&both, &second]))), ["bytes"]);
}

/// The peer lacks the codec, or has another version, or there was no agreement: the engine's own codecs are used.
#[test]
fn for_a_peer_without_it_the_engines_own_codecs_are_used() {
    let own = settings(&[&BYTES], "adaptive");
    for other in [Settings { codecs: Codecs::default(), ..own.clone() }, settings(&[&BYTES_2], "adaptive")] {
        let [one, other] = pair(&own, &other);
        one.set_link(SLOW);
        for (raw, is_shorter) in [(smooth(16_000), true), (message(16_000), false)] {
            for _ in 0..20 {
                let (codec, came) = pass(&one, &other, &raw, Kind::Int64);
                assert!(!codec.is_private() && (codec != CodecId::RAW || !is_shorter), "{codec:?}");
                assert_eq!(came.as_ref(), Ok(&raw));
            }
        }
        let words = |engine: &Engine| Share::of(engine).as_words().len();
        assert_eq!(words(&one), words(&other), "counters are summed over processes");
        // Both refuse what neither sends.
        let wire = [&[1], &noise(1000)[..]].concat();
        for engine in [&one, &other] {
            let refused = receive(engine, &frame(CodecId(200), 8000, &wire));
            assert_eq!(refused, Err(FrameError::Codec(CodecId(200))));
        }
    }
    let fixed = settings(&[&BYTES], "fixed:bytes");
    let [one, other] = pair(&fixed, &settings(&[&BYTES_2], "fixed:bytes"));
    for kind in KINDS {
        let raw = message(16_000);
        assert_eq!(pass(&one, &other, &raw, *kind), (CodecId::RAW, Ok(raw)));
    }
    assert_eq!(
        codec_of(&engine(&fixed), &message(16_000), Kind::Int64, Destination::OtherNode),
        CodecId::RAW
    );
}

#[test]
fn a_frame_with_an_unknown_private_id_is_an_error() {
    let settings = settings(&[&BYTES], "adaptive");
    let engine = engine(&settings.agreed(&agreement(&[&settings])));
    let wire = [&[1], &noise(1000)[..]].concat();
    let block = |id: u8| [&[id, 0, 0, 0], &(wire.len() as u32).to_le_bytes()[..], &wire].concat();
    let head = |id: u8| [&[id, 0, 0, 0, 7, 0, 0, 0], &8000_u32.to_le_bytes()[..], &wire].concat();
    for id in CodecId::PRIVATE {
        let is_known = id == 200;
        let unknown = Err(FrameError::Codec(CodecId(id)));
        for (codec, payload) in [(CodecId(id), wire.clone()), (CodecId::BLOCKS, block(id))] {
            let came = receive(&engine, &frame(codec, 8000, &payload)).map(drop);
            assert_eq!(came, if is_known { Ok(()) } else { unknown }, "{codec:?} {id}");
        }
        let head = frame(CodecId::STREAM, 16_000, &head(id));
        let incoming = engine.open(&head).unwrap();
        let came = engine.decode_head(&incoming, &mut vec![std::mem::MaybeUninit::uninit(); 8000]);
        assert_eq!(came, if is_known { Ok(()) } else { unknown }, "head {id}");
    }
}

#[test]
fn what_clashes_is_refused_in_one_line() {
    static OWN: Row = Row::of::<Bytes<191, HONEST>>(1);
    static SAME_NAME: Row = Row::of::<Bytes<201, HONEST>>(1);
    static SLOWER: Row = Row::of::<Bytes<202, HONEST>>(1).with_prior(Prior {
        ratio: f64::NAN,
        encode_gb_s: 1.0,
        decode_gb_s: 1.0,
    });
    struct Named<const AT: usize>;
    impl<const AT: usize> mpress_codec::Codec for Named<AT> {
        const ID: CodecId = CodecId(192 + AT as u8);
        const NAME: &'static str =
            ["", "Upper", "two words", "diffpack-fast", "raw", "a", "b", "c", "d", "e", "f", "g"][AT];
        const WIDTH: usize = 1;
        const STATEFUL: bool = false;
        type Encoder = Bytes<200, HONEST>;
        type Decoder = Bytes<200, HONEST>;
        fn encoder() -> Self::Encoder {
            Bytes
        }
        fn decoder() -> Self::Decoder {
            Bytes
        }
    }
    const TEXT: &[Kind] = &[Kind::Int8];
    static NAMED: [Row; 12] = [
        Row::of::<Named<0>>(1),
        Row::of::<Named<1>>(1),
        Row::of::<Named<2>>(1),
        Row::of::<Named<3>>(1),
        Row::of::<Named<4>>(1),
        Row::of::<Named<5>>(1).for_kinds(TEXT),
        Row::of::<Named<6>>(1).for_kinds(TEXT),
        Row::of::<Named<7>>(1).for_kinds(TEXT),
        Row::of::<Named<8>>(1).for_kinds(TEXT),
        Row::of::<Named<9>>(1).for_kinds(TEXT),
        Row::of::<Named<10>>(1).for_kinds(TEXT),
        Row::of::<Named<11>>(1).for_kinds(TEXT),
    ];
    let line = |rows: &[&'static Row]| {
        let line = Codecs::new(rows.iter().copied()).unwrap_err().to_string();
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    };
    assert_eq!(line(&[&OWN]), "codec bytes has the id 191, but codecs of others have one of 192 to 255");
    assert_eq!(line(&[&BYTES_255, &BYTES, &BYTES_2]), "the codecs bytes and bytes have the same id 200");
    assert_eq!(line(&[&BYTES, &SAME_NAME]), "there are two codecs with the name bytes");
    assert!(line(&[&SLOWER]).starts_with("no codec is like the prior of bytes: Prior { ratio: NaN"));
    for wrong in &NAMED[..3] {
        assert!(line(&[wrong]).contains("is no name of a codec"), "{}", line(&[wrong]));
    }
    assert_eq!(line(&[&NAMED[3]]), "there are two codecs with the name diffpack-fast");
    assert_eq!(line(&[&NAMED[4]]), "there are two codecs with the name raw");
    let text: Vec<_> = NAMED[5..].iter().collect();
    let own = mpress::Codec::all().filter(|codec| codec.adaptive_kinds().contains(&Kind::Int8)).count();
    let possible = 6 - own;
    assert!(Codecs::new(text[..possible].iter().copied()).is_ok());
    let one_more = Codecs::new(text[..=possible].iter().copied());
    assert_eq!(one_more, Err(CodecsError::TooMany { kind: Kind::Int8, codecs: 7 }));
}

#[test]
fn variables_may_name_it() {
    let codecs = Codecs::new([&BYTES]).unwrap();
    let vars = |value: &str| [("MPRESS_STRATEGY".into(), value.into())];
    let settings = Settings { codecs: codecs.clone(), ..Settings::default() };
    let set = settings.clone().with_vars(vars("fixed:bytes")).unwrap();
    assert_eq!((set.strategy.to_string(), &set.codecs), ("fixed:bytes".into(), &codecs));
    let error = settings.with_vars(vars("fixed:words")).unwrap_err().to_string();
    assert!(error.ends_with(", bytes"), "{error}");
    assert!(Settings::from_vars(vars("fixed:bytes")).is_err(), "it was not named");
}

#[test]
fn an_encoder_that_is_wrong_about_its_room_does_no_harm() {
    static NONE: Row = Row::of::<Bytes<200, NO_ROOM>>(1);
    static FICKLE_ROOM: Row = Row::of::<Bytes<200, FICKLE>>(1);
    static MUCH: Row = Row::of::<Bytes<200, TOO_MUCH>>(1);
    static OTHER: Row = Row::of::<Bytes<200, ELSEWHERE>>(1);
    for row in [&NONE, &FICKLE_ROOM, &MUCH, &OTHER] {
        let engine = forced(row);
        for len in [1024, 30_000, 500_000, (1 << 20) + 8, 5 << 20] {
            for raw in [message(len), noise(len)] {
                for _ in 0..8 {
                    let (_, came) = pass(&engine, &forced(&BYTES), &raw, Kind::Int64);
                    assert!(came.as_ref() == Ok(&raw), "{len} bytes");
                }
            }
        }
    }
}

#[test]
fn a_decoder_that_is_wrong_is_an_error() {
    static REFUSING: Row = Row::of::<Bytes<200, REFUSES>>(1);
    static DOING_NOTHING: Row = Row::of::<Bytes<200, IDLE>>(1);
    let sender = forced(&BYTES);
    for (row, expected) in
        [(&REFUSING, DecodeErrorKind::Corrupt), (&DOING_NOTHING, DecodeErrorKind::Unfilled)]
    {
        let engine = forced(row);
        for len in [8000, 3 << 20] {
            let (codec, came) = pass(&sender, &engine, &message(len), Kind::Int64);
            let Err(FrameError::Damaged(error)) = came else { panic!("{codec:?}: no error") };
            assert_eq!(error.kind, expected);
        }
    }
    // An encoder that writes nothing: what it sends is found out by the decoder.
    let sent = forced(&DOING_NOTHING).encode(&message(8000), Kind::Int64, Destination::OtherNode).unwrap();
    assert_eq!(sent.len(), mpress::SHORTEST);
    assert!(receive(&sender, &sent).is_err() && sent.len() > HEADER_LEN);
}

#[test]
fn an_engine_works_on_after_a_panic_of_a_codec() {
    static PANICKING: Row = Row::of::<Bytes<200, PANICS>>(1);
    let engine = forced(&PANICKING);
    let sent = wire(forced(&BYTES).encode(&message(8000), Kind::Int64, Destination::OtherNode).as_ref(), &[]);
    for len in [8000, 3 << 20] {
        let raw = smooth(len);
        let encode = || engine.encode(&raw, Kind::Int64, Destination::OtherNode);
        assert!(catch_unwind(AssertUnwindSafe(encode)).is_err(), "the panic is the caller's");
        assert!(catch_unwind(AssertUnwindSafe(|| receive(&engine, &sent))).is_err());
        let other = Some("fixed:diffpack-fast".parse().unwrap());
        let considered = engine.consider(other, Kind::Int64, Destination::OtherNode, len).unwrap();
        let frame = engine.encode_considered(considered, &raw).unwrap();
        assert!(receive(&engine, &frame).as_ref() == Ok(&raw));
    }
}
