//! The common part of the fuzz targets: the codecs under test, selected by a byte, and checks around their use.
#![forbid(unsafe_code)]

use mpress::Header;
use mpress_codec::simd::Simd;
use mpress_codec::{Decode, DecodeError, DecodeErrorKind, Encode, EncodeError, Out, Reset};
use mpress_dfcm::{Decoder, Encoder, Lines, Word};
use mpress_diffpack::{Decoder as DiffpackDecoder, Effort, Encoder as DiffpackEncoder, Word as DiffpackWord};

/// An encoder and a decoder without history.
pub type Pair = (Box<dyn Encode>, Box<dyn Decode>);

/// The number of codecs that [`pair`] knows; higher numbers wrap around.
pub const CODECS: u8 = 21;

/// The codec with this number, with settings selected by a byte.
pub fn pair(codec: u8, setting: u8, simd: Simd) -> Pair {
    let encoder = match codec % CODECS {
        0 => return dfcm::<u64>(Encoder::new(memory()), simd),
        1 => Encoder::with_lines(memory(), lines(setting)),
        2 => Encoder::continuing(memory(), lines(setting)),
        3 => return dfcm::<u32>(Encoder::new(memory()), simd),
        4 => return dfcm::<u32>(Encoder::with_lines(memory(), lines(setting)), simd),
        5 => return dfcm::<u32>(Encoder::continuing(memory(), lines(setting)), simd),
        6 => return diffpack::<u64>(setting, simd, false),
        7 => return diffpack::<u32>(setting, simd, false),
        8 => return diffpack::<u16>(setting, simd, false),
        9 => return diffpack::<u64>(setting, simd, true),
        10 => return diffpack::<u32>(setting, simd, true),
        11 => return diffpack::<u16>(setting, simd, true),
        12 => return dfcm_lanes(setting, simd),
        13 => return lzo_compat(setting),
        14 => return rle_huffman(setting, simd),
        15 => return fpc(setting, simd),
        16 => return rice(setting, simd),
        17 => return zstd(),
        18 => return with_reference::<u64>(setting, simd),
        19 => return with_reference::<u32>(setting, simd),
        _ => return with_reference::<u16>(setting, simd),
    };
    dfcm::<u64>(encoder, simd)
}

/// A codec whose state carries over from message to message.
pub fn continuing(codec: u8, setting: u8) -> Pair {
    pair(if codec.is_multiple_of(2) { 2 } else { 5 }, setting, Simd::detect())
}

fn dfcm<W: Word + 'static>(
    encoder: Result<Encoder<W, Vec<u64>>, mpress_codec::MemoryError>,
    simd: Simd,
) -> Pair {
    let decoder = Decoder::<W, _>::with_lines(memory(), LARGEST);
    let (encoder, decoder) = (encoder.expect("memory"), decoder.expect("memory"));
    (Box::new(encoder.with_simd(simd)), Box::new(decoder.with_simd(simd)))
}

/// An encoder or a decoder of diffpack with a reference for each length: some of these bytes, repeated.
struct With<T>(T, [u8; 5]);

impl<T> With<T> {
    fn reference(&self, len: usize) -> Vec<u8> {
        self.1.into_iter().cycle().take(len).collect()
    }
}

impl<T> Reset for With<T> {}

impl<W: DiffpackWord> Encode for With<DiffpackEncoder<W>> {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        self.0.max_encoded_len(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        let reference = self.reference(raw.len());
        self.0.encode_with(&reference, raw, out)
    }
}

impl<W: DiffpackWord> Decode for With<DiffpackDecoder<W>> {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        let reference = self.reference(out.remaining());
        self.0.decode_with(&reference, wire, out)
    }
}

fn with_reference<W: DiffpackWord>(setting: u8, simd: Simd) -> Pair {
    let effort = Effort::ALL[usize::from(setting) % Effort::ALL.len()];
    let bytes = [0, 0, setting, setting / 3, setting];
    let encoder = DiffpackEncoder::<W>::new(effort).with_simd(simd);
    (Box::new(With(encoder, bytes)), Box::new(With(DiffpackDecoder::<W>::new().with_simd(simd), bytes)))
}

fn dfcm_lanes(setting: u8, simd: Simd) -> Pair {
    fn of<W: Word + 'static>(simd: Simd) -> Pair {
        use mpress_dfcm::lanes::{Decoder, Encoder};
        (Box::new(Encoder::<W>::new().with_simd(simd)), Box::new(Decoder::<W>::new().with_simd(simd)))
    }
    if setting.is_multiple_of(2) { of::<u64>(simd) } else { of::<u32>(simd) }
}

fn diffpack<W: DiffpackWord>(setting: u8, simd: Simd, remembers: bool) -> Pair {
    let effort = Effort::ALL[usize::from(setting) % Effort::ALL.len()];
    let encoder = match remembers {
        true => DiffpackEncoder::<W>::remembering(effort),
        false => DiffpackEncoder::<W>::new(effort),
    };
    (Box::new(encoder.with_simd(simd)), Box::new(DiffpackDecoder::<W>::new().with_simd(simd)))
}

/// Messages of either word, or streams of FPC 1.1.
fn fpc(setting: u8, simd: Simd) -> Pair {
    use mpress_fpc::stream::{self, TableLevel};
    use mpress_fpc::{Decoder, Encoder, Word};
    fn of<W: Word + 'static>(simd: Simd) -> Pair {
        (Box::new(Encoder::<W>::new().with_simd(simd)), Box::new(Decoder::<W>::new().with_simd(simd)))
    }
    match setting % 3 {
        0 => return of::<u64>(simd),
        1 => return of::<u32>(simd),
        _ => {}
    }
    let tables = TableLevel::new(1 + setting / 3 % TableLevel::CACHED.get()).expect("a level");
    let memory = || vec![0x5555_5555_5555_5555; TableLevel::CACHED.words()];
    let encoder = stream::Encoder::new(memory(), tables).expect("memory");
    let decoder = stream::Decoder::new(memory(), TableLevel::CACHED).expect("memory");
    (Box::new(encoder.with_simd(simd)), Box::new(decoder.with_simd(simd)))
}

/// Either format, at either effort.
fn lzo_compat(setting: u8) -> Pair {
    use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
    fn of<F: Format + 'static>(effort: Effort) -> Pair {
        (Box::new(Encoder::<F>::new(effort)), Box::new(Decoder::<F>::new()))
    }
    let effort = Effort::ALL[usize::from(setting / 2) % Effort::ALL.len()];
    if setting.is_multiple_of(2) { of::<Lz77>(effort) } else { of::<Lzo1x>(effort) }
}

/// Run lengths, Huffman or Shannon-Fano codes, in planes of each width. Bits 0-1 of the setting: the width; 2-3: the code; 4-6: the symbol width of
/// run lengths.
fn rle_huffman(setting: u8, simd: Simd) -> Pair {
    use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};
    fn of<C: Code + 'static>(encoder: Encoder<C>, simd: Simd) -> Pair {
        (Box::new(encoder.with_simd(simd)), Box::new(Decoder::<C>::new().with_simd(simd)))
    }
    let planes = Width::ALL[usize::from(setting % 4)];
    let symbol =
        Width::ALL.get(usize::from(setting >> 4 & 7)).map_or(Symbol::Auto, |width| Symbol::Of(*width));
    match setting >> 2 & 3 {
        0 => of::<Huffman>(Encoder::<Huffman>::new(planes), simd),
        1 => of::<ShannonFano>(Encoder::<ShannonFano>::new(planes), simd),
        _ => of::<Rle>(Encoder::<Rle>::new(symbol, planes), simd),
    }
}

/// Rice codes of every width with every mapping, and CCSDS 121.0-B with some resolutions.
fn rice(setting: u8, simd: Simd) -> Pair {
    use mpress_rice::{Decoder, Encoder, Mapping, Word, ccsds};
    fn words<W: Word>(mapping: u8, simd: Simd) -> Pair {
        let mapping = Mapping::ALL.get(usize::from(mapping));
        let encoder = mapping.map_or(Encoder::<W>::auto(), |mapping| Encoder::new(*mapping));
        (Box::new(encoder.with_simd(simd)), Box::new(Decoder::<W>::new().with_simd(simd)))
    }
    let (width, rest) = (setting % 5, setting / 5);
    match width {
        0 => return words::<u8>(4 - rest % 5, simd),
        1 => return words::<u16>(4 - rest % 5, simd),
        2 => return words::<u32>(4 - rest % 5, simd),
        3 => return words::<u64>(4 - rest % 5, simd),
        _ => {}
    }
    let parameters = ccsds::Parameters::new([8, 16, 32, 3, 12][usize::from(rest % 5)]).expect("bits");
    let parameters = parameters.with_block(8 << (rest % 4)).expect("a block").with_signed(rest % 2 == 1);
    let parameters = parameters
        .with_interval(1 + usize::from(rest))
        .expect("an interval")
        .with_preprocessor(rest % 3 != 1);
    let (encoder, decoder) = (ccsds::Encoder::new(parameters), ccsds::Decoder::new());
    (Box::new(encoder.with_simd(simd)), Box::new(decoder.with_simd(simd)))
}

/// Zstandard, as in the engine.
fn zstd() -> Pair {
    let codec = mpress::Codec::named("zstd").expect("the feature is on");
    let (encoder, decoder) = codec.instances(mpress::Kind::Other).expect("memory");
    (encoder, decoder)
}

/// Not the maximum: clearing half a megabyte for each input would waste the fuzzer's time.
const LARGEST: Lines = Lines::MAX_SIZED;

fn lines(setting: u8) -> Lines {
    Lines::new(setting % (LARGEST.log2() + 1)).unwrap_or(LARGEST)
}

fn memory() -> Vec<u64> {
    vec![0x5555_5555_5555_5555; LARGEST.words::<u64>()]
}

/// The wire of a message, in exactly the required room.
pub fn encode(encoder: &mut dyn Encode, raw: &[u8]) -> Vec<u8> {
    encode_over(encoder, raw, 0xa5)
}

/// The wire of a message, in a buffer filled with this value.
pub fn encode_over(encoder: &mut dyn Encode, raw: &[u8], fill: u8) -> Vec<u8> {
    let bound = encoder.max_encoded_len(raw.len()).expect("a bound");
    let mut wire = vec![fill; bound];
    let mut out = Out::from_slice(&mut wire);
    encoder.encode(raw, &mut out).expect("room");
    let len = out.len();
    wire.truncate(len);
    wire
}

/// The result of a decoder for a wire.
pub fn decode(decoder: &mut dyn Decode, wire: &[u8], len: usize) -> Result<Vec<u8>, DecodeErrorKind> {
    decode_over(decoder, wire, len, 0x5a)
}

/// The result of a decoder for a wire, in a buffer filled with this value. Checks the contents left in the buffer.
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
    let place = out.place();
    let result = decoder.decode(wire, &mut out);
    assert_eq!(out.place(), place, "the lent output was replaced by another one");
    let raw = out.written().strip_prefix(LEAD).expect("earlier bytes stay");
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

/// Gives a frame a check that holds.
pub fn seal(frame: &mut [u8]) {
    frame[Header::CHECK].fill(0);
    let check = crc32fast::hash(frame);
    frame[Header::CHECK].copy_from_slice(&check.to_le_bytes());
}

/// The codec, its setting, a length and the remaining bytes.
pub fn split(data: &[u8]) -> Option<(u8, u8, usize, &[u8])> {
    let ([codec, setting, low, high], rest) = data.split_first_chunk()?;
    Some((*codec, *setting, usize::from(u16::from_le_bytes([*low, *high])) % 20_000, rest))
}
