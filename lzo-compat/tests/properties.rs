//! Random messages of many kinds round-trip, and random wires do no harm.

use mpress_codec::conformance::{decode, encode, families};
use mpress_lzo_compat::{Decoder, Effort, Encoder, Format, Lz77, Lzo1x};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Messages: noise, families of data, a few repeated values, copies from any distance, and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(any::<u8>(), 1..5).prop_flat_map(|values| vec(select(values), 0..3000));
    let family = (select(families().to_vec()), 0..5000_usize).prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![vec(any::<u8>(), 0..5000), few, family, copies()].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one]).prop_map(|(first, second)| [first, second].concat())
}

/// Noise with repeated pieces, at distances and of lengths around all limits of both formats.
fn copies() -> impl Strategy<Value = Vec<u8>> {
    let distance = prop_oneof![
        1..40_usize,
        2030..2070_usize,
        16_370..16_400_usize,
        49_140..49_160_usize,
        65_530..65_540_usize
    ];
    let len = prop_oneof![2..40_usize, 250..300_usize, 500..2000_usize];
    let literals = prop_oneof![0..25_usize, 230..300_usize];
    (any::<u64>(), vec((distance, len, literals), 1..20)).prop_map(|(seed, pieces)| {
        let mut noise = noise(seed);
        let mut message: Vec<u8> = Vec::new();
        for (distance, len, literals) in pieces {
            // Zeros to reach the distance, which take almost no space.
            message.resize(message.len().max(distance + 1), 0);
            (0..len).for_each(|_| message.push(message[message.len() - distance]));
            message.extend(noise.by_ref().take(literals));
        }
        message
    })
}

fn noise(mut state: u64) -> impl Iterator<Item = u8> {
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
}

fn comes_back<F: Format>(encoders: &mut [Encoder<F>], raw: &[u8]) {
    for encoder in encoders {
        let wire = encode(encoder, raw);
        assert!(decode(&mut Decoder::<F>::new(), &wire, raw.len()).as_deref() == Ok(raw));
    }
}

fn encoders<F: Format>() -> Vec<Encoder<F>> {
    Effort::ALL.iter().copied().map(Encoder::new).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(messages in vec(message(), 1..4)) {
        let (mut lz77, mut lzo) = (encoders::<Lz77>(), encoders::<Lzo1x>());
        for raw in messages {
            comes_back(&mut lz77, &raw);
            comes_back(&mut lzo, &raw);
        }
    }

    #[test]
    fn hostile_wires_do_no_harm(body in vec(any::<u8>(), 0..3000), len in 0..9000_usize) {
        let wire = [&[1, (len % 8) as u8], &body[..]].concat();
        let _ = decode(&mut Decoder::<Lz77>::new(), &wire, len);
        let _ = decode(&mut Decoder::<Lzo1x>::new(), &body, len);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), at in any::<usize>(), to in any::<u8>()) {
        fn run<F: Format>(raw: &[u8], at: usize, to: u8) {
            let mut wire = encode(&mut Encoder::<F>::new(Effort::Fast), raw);
            let at = at % wire.len();
            wire[at] = to;
            let _ = decode(&mut Decoder::<F>::new(), &wire, raw.len());
        }
        run::<Lz77>(&raw, at, to);
        run::<Lzo1x>(&raw, at, to);
    }
}
