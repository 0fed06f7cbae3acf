//! Random messages of many kinds round-trip exactly, and random wires do no harm.

use crate::header;
use crate::support_settings as settings;

use mpress_codec::conformance::{decode, encode, families, tiers};
use proptest::collection::vec;
use proptest::prelude::*;
use settings::{SETTINGS, Setting};

/// Messages: noise, few values, runs, families of data, and any two of them concatenated.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let few = vec(any::<u8>(), 1..20).prop_flat_map(|values| vec(proptest::sample::select(values), 0..9000));
    let runs = (vec((any::<u64>(), 1..40_usize), 0..60), 1..9_usize).prop_map(|(runs, width)| {
        runs.into_iter()
            .flat_map(|(symbol, n)| symbol.to_le_bytes()[..width.min(8)].repeat(n))
            .collect::<Vec<u8>>()
    });
    let family = (proptest::sample::select(families().to_vec()), 0..9000_usize)
        .prop_map(|((_, generate), len)| generate(len));
    let one = prop_oneof![vec(any::<u8>(), 0..3000), few, runs, family].boxed();
    (one.clone(), prop_oneof![Just(Vec::new()), one], 0..9_usize).prop_map(|(mut first, second, cut)| {
        first.extend(second);
        first.truncate(first.len().saturating_sub(cut));
        first
    })
}

fn setting() -> impl Strategy<Value = &'static Setting> {
    const ALL: &[Setting] = &SETTINGS;
    (0..ALL.len()).prop_map(|i| &ALL[i])
}

/// Every tier gives the same result for any wire.
fn hostile(setting: &Setting, wire: &[u8], len: usize) {
    let results: Vec<_> =
        tiers().into_iter().map(|simd| decode(&mut (setting.make)(simd).1, wire, len)).collect();
    assert!(results.iter().all(|result| *result == results[0]));
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_come_back(raw in message(), setting in setting()) {
        let mut wires = Vec::new();
        for simd in tiers() {
            let (mut encoder, mut decoder) = (setting.make)(simd);
            let wire = encode(&mut encoder, &raw);
            prop_assert!(decode(&mut decoder, &wire, raw.len()).as_ref() == Ok(&raw));
            wires.push(wire);
        }
        prop_assert!(wires.iter().all(|wire| *wire == wires[0]));
    }

    #[test]
    fn hostile_wires_do_no_harm(
        setting in setting(),
        flags in any::<u8>(),
        head in any::<u8>(),
        body in vec(any::<u8>(), 0..3000),
        n in 0..10_000_usize,
    ) {
        let wire = [&header(flags & 0x78, n)[..], &[head], &body].concat();
        hostile(setting, &wire, n);
    }

    #[test]
    fn a_changed_byte_does_no_harm(raw in message(), setting in setting(), at in any::<usize>(), to in any::<u8>()) {
        let mut wire = encode(&mut (setting.make)(tiers()[0]).0, &raw);
        let at = at % wire.len();
        wire[at] = to;
        hostile(setting, &wire, raw.len());
    }
}
