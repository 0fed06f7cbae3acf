//! CCSDS 121.0-B streams, exchanged with libaec in both directions.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

#[cfg(not(peer_aec))]
#[test]
fn streams_go_both_ways() {
    mpress_corpus::shared::skipped("the exchange of streams with libaec, which is not installed");
}

#[cfg(peer_aec)]
mod exchange {
    use mpress_codec::Out;
    use mpress_interop::aec::{CONF_ERROR, MSB, PREPROCESS, RESTRICTED, SIGNED, Settings, THREE_BYTES};
    use mpress_rice::ccsds::{Parameters, decode_stream, encode_stream};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// The parameters of this project for the same streams.
    fn parameters(settings: &Settings) -> Parameters {
        let has = |flag| settings.flags & flag != 0;
        let mut parameters = Parameters::new(settings.bits_per_sample)
            .and_then(|parameters| parameters.with_block(settings.block_size as usize))
            .and_then(|parameters| parameters.with_interval(settings.rsi as usize))
            .unwrap()
            .with_signed(has(SIGNED))
            .with_preprocessor(has(PREPROCESS))
            .with_big_endian(has(MSB));
        if has(THREE_BYTES) {
            parameters = parameters.with_three_bytes().unwrap();
        }
        if has(RESTRICTED) {
            parameters = parameters.with_restricted().unwrap();
        }
        parameters
    }

    fn exchange(settings: &Settings, raw: &[u8]) {
        let parameters = parameters(settings);
        let mut buffer = vec![0; parameters.max_encoded_len(raw.len()).unwrap()];
        let mut out = Out::from_slice(&mut buffer);
        encode_stream(&parameters, raw, &mut out).unwrap();
        let ours = out.written();
        let back = settings.decode(ours, raw.len());
        assert!(back.as_deref() == Ok(raw), "libaec does not read ours: {settings:?}, {} bytes", raw.len());

        // libaec 1.0.6 does not remove the copies of the sign bit, and cannot read some of these streams itself.
        let has_copies =
            settings.flags & SIGNED != 0 && settings.bits_per_sample as usize != 8 * parameters.sample_len();
        let theirs = if has_copies { ours.to_vec() } else { settings.encode(raw).unwrap() };
        for (wire, whose) in [(&theirs[..], "libaec's"), (ours, "ours")] {
            let mut back = vec![0; raw.len()];
            let result = decode_stream(&parameters, wire, &mut Out::from_slice(&mut back));
            assert_eq!(result, Ok(()), "{whose}, {settings:?}, {} bytes", raw.len());
            assert!(back == raw, "{whose}, {settings:?}, {} bytes", raw.len());
        }
        // The encoder here takes the shortest of all options; both encode a run of zero blocks as one.
        assert!(ours.len() <= theirs.len(), "{} and {} bytes, {settings:?}", ours.len(), theirs.len());
    }

    /// libaec accepts some of these, and damages its heap with a block size or an interval of 0.
    #[test]
    fn settings_out_of_range_never_reach_libaec() {
        let good = Settings { bits_per_sample: 16, block_size: 16, rsi: 10, flags: PREPROCESS };
        let (raw, mut buffer) = ([7; 640], [0; 2000]);
        assert!(good.encode_into(&raw, &mut buffer).is_ok());
        for bad in [
            Settings { bits_per_sample: 0, ..good },
            Settings { bits_per_sample: 33, ..good },
            Settings { block_size: 0, ..good },
            Settings { block_size: 24, ..good },
            Settings { block_size: 128, ..good },
            Settings { rsi: 0, ..good },
            Settings { rsi: 4097, ..good },
            Settings { flags: 32, ..good },
            Settings { flags: 64, ..good },
        ] {
            assert_eq!(bad.encode_into(&raw, &mut buffer), Err(CONF_ERROR), "{bad:?}");
            assert_eq!(bad.decode_into(&raw, &mut buffer), Err(CONF_ERROR), "{bad:?}");
        }
    }

    fn settings(bits: impl Strategy<Value = u32>) -> impl Strategy<Value = Settings> {
        (bits, select(vec![8, 16, 32, 64]), prop_oneof![1..5_u32, 1..200_u32, Just(4096)], 0..32_u32)
            .prop_map(|(bits_per_sample, block_size, rsi, mut flags)| {
                if !(17..=24).contains(&bits_per_sample) {
                    flags &= !THREE_BYTES;
                }
                if bits_per_sample > 4 {
                    flags &= !RESTRICTED;
                }
                if flags & PREPROCESS == 0 {
                    // Without its preprocessor libaec does not support signs.
                    flags &= !SIGNED;
                }
                Settings { bits_per_sample, block_size, rsi, flags }
            })
    }

    /// Steps of many sizes between samples: noise, small steps, and runs of zeros.
    fn steps() -> impl Strategy<Value = Vec<u32>> {
        let part = prop_oneof![
            vec(any::<u32>(), 0..300),
            (0..32_u32, vec(any::<u32>(), 0..2000))
                .prop_map(|(bits, steps)| steps.into_iter().map(|step| step >> bits).collect()),
            (0..20_000_usize).prop_map(|len| vec![0; len]),
            vec(select(vec![0, 0, 0, 0, 1, u32::MAX]), 0..3000),
        ];
        vec(part, 1..5)
            .prop_map(|parts| parts.concat())
            .prop_filter("libaec makes a byte of nothing", |steps| !steps.is_empty())
    }

    /// Samples of that resolution as bytes.
    fn samples(settings: &Settings, steps: &[u32], walks: bool) -> Vec<u8> {
        let bits = settings.bits_per_sample;
        let parameters = parameters(settings);
        let len = parameters.sample_len();
        let mut before = 0_u32;
        let mut raw = Vec::new();
        for step in steps {
            before = if walks { before.wrapping_add(*step) } else { *step };
            let cut = before << (32 - bits);
            let sample = match settings.flags & SIGNED {
                0 => cut >> (32 - bits),
                _ => (cut as i32 >> (32 - bits)) as u32,
            };
            match settings.flags & MSB {
                0 => raw.extend_from_slice(&sample.to_le_bytes()[..len]),
                _ => raw.extend_from_slice(&sample.to_be_bytes()[4 - len..]),
            }
        }
        raw
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn of_8_16_and_32_bits(settings in settings(select(vec![8, 16, 32])), steps in steps(), walks: bool) {
            exchange(&settings, &samples(&settings, &steps, walks));
        }

        #[test]
        fn of_every_resolution(settings in settings(1..=32_u32), steps in steps(), walks: bool) {
            exchange(&settings, &samples(&settings, &steps, walks));
        }
    }
}
