//! Random messages of many kinds round-trip exactly, and random wires do no harm.

use crate::header;
use mpress_codec::conformance::{decode, encode, families, random_bytes, tiers};
use mpress_diffpack::{Decoder, Effort, Encoder, Word};
use proptest::collection::vec;
use proptest::prelude::*;

/// Messages: noise, families of data, a few repeated values, smooth fields with records and rows, whole numbers as floats, integers in a range,
/// structures; and any two of them concatenated.
pub(crate) fn message() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(any::<u64>(), 1..5).prop_flat_map(|values| {
        vec(proptest::sample::select(values), 0..1500)
            .prop_map(|words| words.into_iter().flat_map(u64::to_le_bytes).collect())
    });
    let rows = (1..12_u32, 2..400_u32, 0..4000_u32, any::<f64>()).prop_map(|(stride, row, n, scale)| {
        let at = |i: u32| {
            let (field, x, y) = (i % stride, i / stride % row, i / stride / row);
            scale * f64::from(field + 1) * (f64::from(x) * 0.01).sin() * (f64::from(y) * 0.02).cos()
        };
        (0..n).flat_map(|i| at(i).to_le_bytes()).collect::<Vec<u8>>()
    });
    let whole = (vec(any::<i16>(), 0..2500), -40..40_i32).prop_map(|(numbers, exponent)| {
        let value = |n| f64::from(n) * 2.0_f64.powi(exponent);
        numbers.into_iter().flat_map(|n: i16| value(n).to_le_bytes()).collect::<Vec<u8>>()
    });
    let whole32 = vec(any::<i8>(), 0..5000).prop_map(|numbers| {
        numbers.into_iter().flat_map(|n| (f32::from(n) * 0.25).to_le_bytes()).collect::<Vec<u8>>()
    });
    let range = (any::<u32>(), 1..5000_u32).prop_flat_map(|(from, size)| {
        vec(from..from.saturating_add(size), 0..4000)
            .prop_map(|words| words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
    });
    let family = (proptest::sample::select(families().to_vec()), 0..20_000_usize)
        .prop_map(|((_, generate), len)| generate(len));
    // Bytes whose high bits stay the same from structure to structure.
    let structures =
        (vec((any::<u8>(), any::<u8>()), 2..60), 0..1500_usize, any::<u64>()).prop_map(|(bytes, n, seed)| {
            let noise = random_bytes(seed, n * bytes.len());
            let kept =
                bytes.iter().cycle().zip(noise).map(|((value, mask), noise)| value & mask | noise & !mask);
            kept.collect::<Vec<u8>>()
        });
    let noise = vec(any::<u8>(), 0..9000);
    let one = prop_oneof![noise, structures, few, rows, whole, whole32, range, family].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one], 0..9_usize).prop_map(|(mut first, second, cut)| {
        first.extend(second);
        first.truncate(first.len().saturating_sub(cut));
        first
    })
}

fn come_back<W: Word>(messages: &[Vec<u8>], effort: Effort) {
    let mut wires: Vec<Vec<u8>> = Vec::new();
    for (i, simd) in tiers().into_iter().enumerate() {
        let mut fresh = Encoder::<W>::new(effort).with_simd(simd);
        let mut remembering = Encoder::<W>::remembering(effort).with_simd(simd);
        let mut decoder = Decoder::<W>::new().with_simd(simd);
        for (j, raw) in messages.iter().enumerate() {
            let wire = encode(&mut fresh, raw);
            assert!(decode(&mut decoder, &wire, raw.len()).as_ref() == Ok(raw));
            let other = encode(&mut remembering, raw);
            assert!(decode(&mut decoder, &other, raw.len()).as_ref() == Ok(raw));
            let both = [wire, other].concat();
            if i == 0 {
                wires.push(both);
            } else {
                assert!(wires[j] == both, "other bytes at {simd:?}");
            }
        }
    }
}

/// Every tier gives the same result for any wire.
fn hostile<W: Word>(wire: &[u8], len: usize) {
    let results = tiers().into_iter().map(|simd| decode(&mut Decoder::<W>::new().with_simd(simd), wire, len));
    let results: Vec<_> = results.collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

pub(crate) fn effort() -> impl Strategy<Value = Effort> {
    proptest::sample::select(Effort::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(messages in vec(message(), 1..4), effort in effort()) {
        come_back::<u64>(&messages, effort);
        come_back::<u32>(&messages, effort);
        come_back::<u16>(&messages, effort);
    }

    #[test]
    fn hostile_wires_do_no_harm(flags in 0..2_u8, body in vec(any::<u8>(), 0..4000), len in 0..20_000_usize) {
        let wire = [header(flags, len), body].concat();
        hostile::<u64>(&wire, len);
        hostile::<u32>(&wire, len);
        hostile::<u16>(&wire, len);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), at in any::<usize>(), to in any::<u8>(), effort in effort()) {
        let mut wire = encode(&mut Encoder::<u64>::new(effort), &raw);
        let at = at % wire.len();
        wire[at] = to;
        hostile::<u64>(&wire, raw.len());
        hostile::<u32>(&wire, raw.len());
        hostile::<u16>(&wire, raw.len());
    }
}
