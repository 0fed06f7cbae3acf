//! What the codecs share: words, compared with the integers that they represent, and the wire.

use mpress_codec::DecodeErrorKind::{Length, Truncated};
use mpress_codec::simd::{Simd, Tier};
use mpress_codec::{DecodeError, Full};
#[cfg(target_arch = "x86_64")]
use mpress_codec_support::{Avx2, Avx512};
use mpress_codec_support::{Task, Wire, Word, run};

/// Each operation on some words of a type, compared with one on numbers of 128 bits.
fn agrees<W: Word>() {
    let modulus = 1_i128 << W::BITS;
    let signed = |word: W| {
        let number = i128::from(word.to_u64());
        if number < modulus / 2 { number } else { number - modulus }
    };
    let word = |number: i128| W::low(number.rem_euclid(modulus) as u64);
    let some =
        [0, 1, 2, 3, 0x55, 0x7f, 0x80, 0xfe, -1, -2, -0x80, modulus / 2, modulus / 2 - 1, 0x1234_5678_9abc];
    for a in some.map(word) {
        assert_eq!(W::from_bytes(a.to_bytes()), a);
        assert_eq!(a.zigzag().unzigzag(), a);
        let small = if signed(a) < 0 { -2 * signed(a) - 1 } else { 2 * signed(a) };
        assert_eq!(i128::from(a.zigzag().to_u64()), small);
        assert_eq!(a.sign(), word(if signed(a) < 0 { -1 } else { 0 }));
        assert_eq!(i128::from(a.magnitude().to_u64()), signed(a).abs());
        assert_eq!(a.width(), 64 - a.to_u64().leading_zeros());
        assert_eq!(a.trailing(), a.to_u64().trailing_zeros().min(W::BITS));
        assert_eq!(a.top(3) as u64, a.to_u64() >> (W::BITS - 3));
        assert_eq!((a.only_if(true), a.only_if(false)), (a, W::ZERO));
        assert_eq!(a.rotated_left(3).rotated_right(3), a);
        assert_eq!(a.halved(2), word(signed(a) >> 2));
        assert_eq!(a.doubled(2), word(signed(a) << 2));
        assert_eq!(W::mask(a.width()).width(), a.width());
        assert_eq!(a.low_byte(), a.to_u64() as u8);
        for b in some.map(word) {
            assert_eq!(a.plus(b), word(signed(a) + signed(b)));
            assert_eq!(a.minus(b), word(signed(a) - signed(b)));
            assert_eq!(a.or(b).to_u64(), a.to_u64() | b.to_u64());
        }
        let mut bytes = [7; 20];
        a.store(&mut bytes, 5);
        assert_eq!(W::load(&bytes, 5), a);
        a.store(&mut bytes, 20);
        assert_eq!((W::load(&bytes, 20), bytes[..5].to_vec()), (W::ZERO, vec![7; 5]));
    }
}

#[test]
fn words_are_the_integers_they_are() {
    agrees::<u8>();
    agrees::<u16>();
    agrees::<u32>();
    agrees::<u64>();
}

#[test]
fn a_wire_is_read_to_its_end_and_no_further() {
    let bytes: Vec<u8> = (1..=20).collect();
    let mut wire = Wire::new(&bytes);
    assert_eq!(wire.byte(), Ok(1));
    assert_eq!(wire.take(2), Ok(&[2, 3][..]));
    assert_eq!(wire.take_array(), Ok([4, 5, 6]));
    assert_eq!(wire.take_number(3), Ok(0x09_08_07));
    assert_eq!(wire.finish(), Err(DecodeError::new(Length, 9)));
    assert_eq!(wire.full(Full), DecodeError::new(Length, 9));
    let truncated = DecodeError::new(Truncated, 20);
    assert_eq!(wire.take(12), Err(truncated));
    assert_eq!(wire.take(usize::MAX), Err(truncated));
    assert_eq!(wire.take_array::<12>(), Err(truncated));
    assert_eq!(wire.take(5).map(<[u8]>::len), Ok(5));
    assert_eq!(wire.take_number(7), Err(truncated));
    assert_eq!(wire.take_number(6), Ok(0x14_13_12_11_10_0f), "near the end");
    assert_eq!((wire.rest(), wire.byte(), wire.finish()), (&[][..], Err(truncated), Ok(())));
}

#[test]
fn a_task_runs_in_the_form_of_its_tier() {
    struct Which;
    impl Task for Which {
        type Output = Tier;
        fn scalar(self) -> Tier {
            Tier::Scalar
        }
        #[cfg(target_arch = "x86_64")]
        fn avx2(self, _: Avx2) -> Tier {
            Tier::Avx2
        }
        #[cfg(target_arch = "x86_64")]
        fn avx512(self, token: Avx512) -> Tier {
            assert_eq!(token.avx2().run(Self), Tier::Avx2);
            Tier::Avx512
        }
    }
    for simd in Simd::available() {
        assert_eq!(run(simd, Which), simd.tier());
    }
}
