//! LZO1X streams, exchanged with liblzo2 in both directions. `lzo_streams` in `src/bin/` does the same a million times.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

#[cfg(not(peer_lzo))]
#[test]
fn streams_go_both_ways() {
    mpress_corpus::shared::skipped("the exchange of streams with liblzo2, which is not installed");
}

#[cfg(peer_lzo)]
mod exchange {
    use mpress_codec::conformance::{decode, encode, families, random_bytes};
    use mpress_interop::lzo::{Compressor, Lzo};
    use mpress_interop::lzo_streams::exchange;
    use mpress_lzo_compat::{Decoder, Effort, Encoder, Lzo1x};

    #[test]
    fn streams_go_both_ways() {
        let sum = exchange(5000, 1 << 40).unwrap();
        assert_eq!(sum.streams, 5000);
    }

    #[test]
    fn families_go_both_ways_with_every_compressor() {
        let mut lzo = Lzo::new().unwrap();
        for (name, generate) in families() {
            for len in (0..=40).chain([237, 238, 239, 240, 256, 273, 274, 275, 4096, 100_000]) {
                let raw = generate(len);
                for compressor in Compressor::ALL {
                    let wire = lzo.compress(compressor, &raw).unwrap();
                    let back = decode(&mut Decoder::<Lzo1x>::new(), &wire, len);
                    assert!(back.as_ref() == Ok(&raw), "{name}, {len} bytes, {compressor:?}");
                }
                for &effort in Effort::ALL {
                    let wire = encode(&mut Encoder::<Lzo1x>::new(effort), &raw);
                    assert!(lzo.decompress(&wire, len) == Ok(raw.clone()), "{name}, {len} bytes, {effort:?}");
                }
            }
        }
    }

    /// Streams accepted here are accepted by liblzo2, with the same result; liblzo2 accepts some streams that are refused here.
    #[test]
    fn no_stream_is_read_otherwise() {
        let mut lzo = Lzo::new().unwrap();
        let mut accepted = 0;
        for seed in 0..20_000 {
            let raw = random_bytes(seed, seed as usize % 40).iter().map(|byte| byte % 3).collect::<Vec<_>>();
            let mut wire = lzo.compress(Compressor::ALL[seed as usize % 13], &raw).unwrap();
            let change = random_bytes(!seed, 2);
            let at = usize::from(change[0]) % wire.len();
            wire[at] = change[1];
            for len in raw.len().saturating_sub(3)..raw.len() + 4 {
                let Ok(ours) = decode(&mut Decoder::<Lzo1x>::new(), &wire, len) else { continue };
                assert_eq!(lzo.decompress(&wire, len), Ok(ours), "{wire:?}");
                accepted += 1;
            }
        }
        assert!(accepted > 1000, "{accepted}");
    }

    /// The statement of `docs/format/lzo.md` about a stream's first byte, checked with liblzo2.
    #[test]
    fn a_first_byte_says_how_many_literals_follow() {
        let lzo = Lzo::new().unwrap();
        let letters: Vec<u8> = (0..238).collect();
        for count in 1..=238_u8 {
            let literals = &letters[..count.into()];
            let wire = [&[17 + count], literals, &[0x11, 0, 0]].concat();
            assert_eq!(lzo.decompress(&wire, count.into()).as_deref(), Ok(literals));
            assert_eq!(decode(&mut Decoder::<Lzo1x>::new(), &wire, count.into()).as_deref(), Ok(literals));
        }
    }
}
