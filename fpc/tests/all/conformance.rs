//! The suite of `mpress-codec`, for both words, at every level.

use mpress_codec::conformance;
use mpress_fpc::stream::{self, FpcStream, TableLevel};
use mpress_fpc::{Decoder, Encoder, Fpc, Word};

fn messages<W: Word>() {
    conformance::at_each_level(|level| {
        conformance::run::<Fpc<W>, _, _>(|| {
            (Encoder::<W>::new().with_level(level), Decoder::<W>::new().with_level(level))
        });
    });
}

#[test]
fn doubles() {
    messages::<u64>();
}

#[test]
fn floats() {
    messages::<u32>();
}

#[test]
fn streams() {
    conformance::at_each_level(|level| {
        conformance::run::<FpcStream, _, _>(|| {
            let tables = TableLevel::new(9).unwrap();
            let memory = vec![0xdead_beef; tables.words()];
            let encoder = stream::Encoder::new(memory.clone(), tables).unwrap().with_level(level);
            (encoder, stream::Decoder::new(memory, tables).unwrap().with_level(level))
        });
    });
}
