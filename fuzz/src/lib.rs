//! What the fuzz targets share: the codecs under test, chosen by a byte, and a checked way to use them.
#![forbid(unsafe_code)]

use mpress_codec::simd::Level;
use mpress_codec::{Decode, DecodeErrorKind, Encode, Out};
use mpress_dfcm::{Decoder, Encoder, Lines, Word};
use mpress_diffpack::{Decoder as DiffpackDecoder, Effort, Encoder as DiffpackEncoder, Word as DiffpackWord};

/// An encoder and a decoder without history.
pub type Pair = (Box<dyn Encode>, Box<dyn Decode>);

/// Codecs that [`pair`] knows; higher numbers mean the same again.
pub const CODECS: u8 = 12;

/// The codec of this number, with settings that a byte decides.
pub fn pair(codec: u8, setting: u8, level: Level) -> Pair {
    let encoder = match codec % CODECS {
        0 => return dfcm::<u64>(Encoder::new(memory()), level),
        1 => Encoder::with_lines(memory(), lines(setting)),
        2 => Encoder::continuing(memory(), lines(setting)),
        3 => return dfcm::<u32>(Encoder::new(memory()), level),
        4 => return dfcm::<u32>(Encoder::with_lines(memory(), lines(setting)), level),
        5 => return dfcm::<u32>(Encoder::continuing(memory(), lines(setting)), level),
        6 => return diffpack::<u64>(setting, level, false),
        7 => return diffpack::<u32>(setting, level, false),
        8 => return diffpack::<u16>(setting, level, false),
        9 => return diffpack::<u64>(setting, level, true),
        10 => return diffpack::<u32>(setting, level, true),
        _ => return diffpack::<u16>(setting, level, true),
    };
    dfcm::<u64>(encoder, level)
}

/// A codec whose state runs on from message to message.
pub fn continuing(codec: u8, setting: u8) -> Pair {
    pair(if codec.is_multiple_of(2) { 2 } else { 5 }, setting, Level::detect())
}

fn dfcm<W: Word + 'static>(
    encoder: Result<Encoder<W, Vec<u64>>, mpress_codec::MemoryError>,
    level: Level,
) -> Pair {
    let decoder = Decoder::<W, _>::with_lines(memory(), LARGEST);
    let (encoder, decoder) = (encoder.expect("memory"), decoder.expect("memory"));
    (Box::new(encoder.with_level(level)), Box::new(decoder.with_level(level)))
}

fn diffpack<W: DiffpackWord>(setting: u8, level: Level, remembers: bool) -> Pair {
    let effort = Effort::ALL[usize::from(setting) % Effort::ALL.len()];
    let encoder = match remembers {
        true => DiffpackEncoder::<W>::remembering(effort),
        false => DiffpackEncoder::<W>::new(effort),
    };
    (Box::new(encoder.with_level(level)), Box::new(DiffpackDecoder::<W>::new().with_level(level)))
}

/// Not the largest there is: clearing half a megabyte for each input is a waste of a fuzzer's time.
const LARGEST: Lines = Lines::MAX_SIZED;

fn lines(setting: u8) -> Lines {
    Lines::new(setting % (LARGEST.log2() + 1)).unwrap_or(LARGEST)
}

fn memory() -> Vec<u64> {
    vec![0x5555_5555_5555_5555; LARGEST.words::<u64>()]
}

/// The wire of a message, in exactly as much room as was asked for.
pub fn encode(encoder: &mut dyn Encode, raw: &[u8]) -> Vec<u8> {
    encode_over(encoder, raw, 0xa5)
}

/// The wire of a message, written over bytes of this value.
pub fn encode_over(encoder: &mut dyn Encode, raw: &[u8], fill: u8) -> Vec<u8> {
    let bound = encoder.max_encoded_len(raw.len()).expect("a bound");
    let mut wire = vec![fill; bound];
    let mut out = Out::from_slice(&mut wire);
    encoder.encode(raw, &mut out).expect("room");
    let len = out.len();
    wire.truncate(len);
    wire
}

/// What a decoder makes of a wire.
pub fn decode(decoder: &mut dyn Decode, wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    decode_over(decoder, wire, len, 0x5a)
}

/// What a decoder makes of a wire, in a buffer full of this value. Checks what it leaves there.
pub fn decode_over(
    decoder: &mut dyn Decode,
    wire: &[u8],
    len: usize,
    fill: u8,
) -> Result<Vec<u8>, DecodeErrorKind> {
    const LEAD: &[u8] = b"lead";
    let mut buffer = vec![fill; LEAD.len() + len];
    let mut out = Out::from_slice(&mut buffer);
    out.extend_from_slice(LEAD).expect("room");
    let result = decoder.decode(wire, &mut out);
    let raw = out.written().strip_prefix(LEAD).expect("what was there stays");
    match result {
        Ok(()) => {
            assert_eq!(raw.len(), len, "Ok, but the output is not full");
            Ok(raw.to_vec())
        }
        Err(error) => {
            assert!(raw.is_empty(), "an error left output behind: {error}");
            assert!(error.offset <= wire.len(), "an offset past the wire: {error}");
            Err(error.kind)
        }
    }
}

/// Two settings, a length and the bytes that remain.
pub fn split(data: &[u8]) -> Option<(u8, u8, usize, &[u8])> {
    let ([codec, setting, low, high], rest) = data.split_first_chunk()?;
    Some((*codec, *setting, usize::from(u16::from_le_bytes([*low, *high])) % 20_000, rest))
}
