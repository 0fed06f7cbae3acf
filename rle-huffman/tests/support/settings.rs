//! Every code with every setting, with a name.

use mpress_codec::simd::Simd;
use mpress_codec::{Decode, Encode};
use mpress_rle_huffman::{Code, Decoder, Encoder, Huffman, Rle, ShannonFano, Symbol, Width};

/// Any encoder.
pub(crate) type AnyEncoder = Box<dyn Encode>;
/// Any decoder.
pub(crate) type AnyDecoder = Box<dyn Decode>;

/// A code with a setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) make: fn(Simd) -> (AnyEncoder, AnyDecoder),
}

fn pair<C: Code + 'static>(encoder: Encoder<C>, simd: Simd) -> (AnyEncoder, AnyDecoder) {
    let decoder = Decoder::<C>::new().with_simd(simd);
    (Box::new(encoder.with_simd(simd)), Box::new(decoder))
}

fn rle(symbol: Symbol, planes: Width, simd: Simd) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<Rle>::new(symbol, planes), simd)
}

fn huffman(planes: Width, simd: Simd) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<Huffman>::new(planes), simd)
}

fn shannon_fano(planes: Width, simd: Simd) -> (AnyEncoder, AnyDecoder) {
    pair(Encoder::<ShannonFano>::new(planes), simd)
}

/// Every code with every width of elements and of symbols.
pub(crate) const SETTINGS: [Setting; 15] = [
    Setting { name: "rle1", make: |simd| rle(Symbol::Of(Width::One), Width::One, simd) },
    Setting { name: "rle2", make: |simd| rle(Symbol::Of(Width::Two), Width::One, simd) },
    Setting { name: "rle4", make: |simd| rle(Symbol::Of(Width::Four), Width::One, simd) },
    Setting { name: "rle8", make: |simd| rle(Symbol::Of(Width::Eight), Width::One, simd) },
    Setting { name: "rle-auto", make: |simd| rle(Symbol::Auto, Width::One, simd) },
    Setting { name: "rle-planes8", make: |simd| rle(Symbol::Auto, Width::Eight, simd) },
    Setting { name: "rle2-planes4", make: |simd| rle(Symbol::Of(Width::Two), Width::Four, simd) },
    Setting { name: "huffman1", make: |simd| huffman(Width::One, simd) },
    Setting { name: "huffman2", make: |simd| huffman(Width::Two, simd) },
    Setting { name: "huffman4", make: |simd| huffman(Width::Four, simd) },
    Setting { name: "huffman8", make: |simd| huffman(Width::Eight, simd) },
    Setting { name: "fano1", make: |simd| shannon_fano(Width::One, simd) },
    Setting { name: "fano2", make: |simd| shannon_fano(Width::Two, simd) },
    Setting { name: "fano4", make: |simd| shannon_fano(Width::Four, simd) },
    Setting { name: "fano8", make: |simd| shannon_fano(Width::Eight, simd) },
];
