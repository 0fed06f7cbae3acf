//! Every code with every setting, with a name.

use mpress_codec::simd::Level;
use mpress_codec::{Decode, DecodeError, Encode, EncodeError, Out};
use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};

/// Any encoder.
pub(crate) struct AnyEncoder(Box<dyn Encode>);
/// Any decoder.
pub(crate) struct AnyDecoder(Box<dyn Decode>);

impl Encode for AnyEncoder {
    fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
        self.0.max_encoded_len(raw_len)
    }
    fn encode(&mut self, raw: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
        self.0.encode(raw, out)
    }
    fn reset(&mut self) {
        self.0.reset();
    }
}

impl Decode for AnyDecoder {
    fn decode(&mut self, wire: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
        self.0.decode(wire, out)
    }
    fn reset(&mut self) {
        self.0.reset();
    }
}

/// A code with a setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) make: fn(Level) -> (AnyEncoder, AnyDecoder),
}

fn pair<C: Code + 'static>(encoder: Encoder<C>, level: Level) -> (AnyEncoder, AnyDecoder) {
    let decoder = Decoder::<C>::new().with_level(level);
    (AnyEncoder(Box::new(encoder.with_level(level))), AnyDecoder(Box::new(decoder)))
}

fn rle(symbol: Symbol, planes: Width, level: Level) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<Rle>::new(symbol, planes), level)
}

fn huffman(planes: Width, level: Level) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<Huffman>::new(planes), level)
}

fn shannon_fano(planes: Width, level: Level) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<ShannonFano>::new(planes), level)
}

/// Every code with every width of elements and of symbols.
pub(crate) const SETTINGS: [Setting; 15] = [
    Setting { name: "rle1", make: |level| rle(Symbol::Of(Width::One), Width::One, level) },
    Setting { name: "rle2", make: |level| rle(Symbol::Of(Width::Two), Width::One, level) },
    Setting { name: "rle4", make: |level| rle(Symbol::Of(Width::Four), Width::One, level) },
    Setting { name: "rle8", make: |level| rle(Symbol::Of(Width::Eight), Width::One, level) },
    Setting { name: "rle-auto", make: |level| rle(Symbol::Auto, Width::One, level) },
    Setting { name: "rle-planes8", make: |level| rle(Symbol::Auto, Width::Eight, level) },
    Setting { name: "rle2-planes4", make: |level| rle(Symbol::Of(Width::Two), Width::Four, level) },
    Setting { name: "huffman1", make: |level| huffman(Width::One, level) },
    Setting { name: "huffman2", make: |level| huffman(Width::Two, level) },
    Setting { name: "huffman4", make: |level| huffman(Width::Four, level) },
    Setting { name: "huffman8", make: |level| huffman(Width::Eight, level) },
    Setting { name: "fano1", make: |level| shannon_fano(Width::One, level) },
    Setting { name: "fano2", make: |level| shannon_fano(Width::Two, level) },
    Setting { name: "fano4", make: |level| shannon_fano(Width::Four, level) },
    Setting { name: "fano8", make: |level| shannon_fano(Width::Eight, level) },
];
