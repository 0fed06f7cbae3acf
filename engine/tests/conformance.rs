//! The suite of `mpress-codec` on what the engine uses: every row of its table, at every width, with the settings it has there.
//! The codecs' own tests run it at every SIMD tier; here it is the settings that count.
#![cfg(all(
    feature = "dfcm",
    feature = "diffpack",
    feature = "fpc",
    feature = "lzo-compat",
    feature = "rice",
    feature = "rle-huffman",
    feature = "zstd"
))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use mpress::{Codec, CodecId, Decoder, Encoder, Kind};
use mpress_codec::conformance::{run, run_remembering};
use mpress_dfcm::{Dfcm, lanes::Lanes};
use mpress_diffpack::{Diffpack16, Diffpack32, Diffpack64};
use mpress_fpc::Fpc;
use mpress_lzo_compat::{Lz77, Lzo1x};
use mpress_rice::Rice;
use mpress_rle_huffman::{Huffman, Rle, ShannonFano};

/// The facts of a library's codec.
macro_rules! library {
    ($facts:ident, $name:literal, $id:ident) => {
        struct $facts;

        impl mpress_codec::Codec for $facts {
            const ID: CodecId = CodecId::$id;
            const NAME: &'static str = $name;
            const WIDTH: usize = 1;
            const STATEFUL: bool = false;

            type Encoder = Encoder;
            type Decoder = Decoder;

            fn encoder() -> Encoder {
                Codec::named($name).unwrap().instances(Kind::Int8).unwrap().0
            }

            fn decoder() -> Decoder {
                Codec::named($name).unwrap().instances(Kind::Int8).unwrap().1
            }
        }
    };
}

library!(Zstd, "zstd", ZSTD);

/// A kind for each width of words.
const WIDTHS: [Kind; 4] = [Kind::Int8, Kind::Int16, Kind::Int32, Kind::Int64];

/// Runs the suite for this codec at each width that it is made for.
fn shipped(name: &str) {
    let codec = Codec::named(name).unwrap();
    for kind in WIDTHS {
        if codec.instances(kind).is_none() {
            continue;
        }
        let make = || codec.instances(kind).unwrap();
        match (name, kind) {
            ("diffpack-fast" | "diffpack-balanced" | "diffpack-ratio", Kind::Int64) => {
                run_remembering::<Diffpack64, _, _>(make);
            }
            ("diffpack-fast" | "diffpack-balanced" | "diffpack-ratio", Kind::Int32) => {
                run_remembering::<Diffpack32, _, _>(make);
            }
            ("diffpack-fast" | "diffpack-balanced" | "diffpack-ratio", _) => {
                run_remembering::<Diffpack16, _, _>(make);
            }
            ("dfcm", Kind::Int64) => run::<Dfcm<u64>, _, _>(make),
            ("dfcm", _) => run::<Dfcm<u32>, _, _>(make),
            ("dfcm-lanes", Kind::Int64) => run::<Lanes<u64>, _, _>(make),
            ("dfcm-lanes", _) => run::<Lanes<u32>, _, _>(make),
            ("fpc", Kind::Int64) => run::<Fpc<u64>, _, _>(make),
            ("fpc", _) => run::<Fpc<u32>, _, _>(make),
            ("rice", Kind::Int64) => run::<Rice<u64>, _, _>(make),
            ("rice", Kind::Int32) => run::<Rice<u32>, _, _>(make),
            ("rice", Kind::Int16) => run::<Rice<u16>, _, _>(make),
            ("rice", _) => run::<Rice<u8>, _, _>(make),
            ("rle", _) => run::<Rle, _, _>(make),
            ("huffman", _) => run::<Huffman, _, _>(make),
            ("shannon-fano", _) => run::<ShannonFano, _, _>(make),
            ("lzo", _) => run::<Lzo1x, _, _>(make),
            ("lz77-fast" | "lz77", _) => run::<Lz77, _, _>(make),
            ("zstd", _) => run::<Zstd, _, _>(make),
            _ => panic!("a codec that this test does not know: {name}"),
        }
    }
}

/// A test for each codec, and one that none is missing.
macro_rules! shipped {
    ($($test:ident: $name:literal;)*) => {
        $(
            #[test]
            fn $test() {
                shipped($name);
            }
        )*

        #[test]
        fn every_codec_of_the_engine_is_tested() {
            assert!(Codec::all().map(Codec::name).eq([$($name),*]));
        }
    };
}

shipped! {
    diffpack_fast: "diffpack-fast";
    diffpack_balanced: "diffpack-balanced";
    diffpack_ratio: "diffpack-ratio";
    dfcm: "dfcm";
    dfcm_lanes: "dfcm-lanes";
    fpc: "fpc";
    rice: "rice";
    rle: "rle";
    huffman: "huffman";
    shannon_fano: "shannon-fano";
    lzo: "lzo";
    lz77_fast: "lz77-fast";
    lz77: "lz77";
    zstd: "zstd";
}
