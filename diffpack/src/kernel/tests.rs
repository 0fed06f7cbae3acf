//! Checks that every kernel does the same as the portable one, operation by operation, on many kinds of blocks.

extern crate std;

use super::*;
use crate::format::{Domain, GROUP, GROUPS, MAX_REACH, Predictor};
use core::any::type_name;
use mpress_codec::conformance::{families, random_bytes, tiers};
use mpress_codec::simd::Tier;
#[cfg(target_arch = "x86_64")]
use mpress_codec_support::{Avx2, Avx512};
use std::vec;
use std::vec::Vec;

/// Length of a message in bytes. The blocks under test begin at [`AT`], so that every predictor has the words it needs.
const LEN: usize = AT + 3 * BLOCK;
const AT: usize = GROUP + (MAX_REACH + 1) * 8;

/// Pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % end
    }

    /// Up to three valid lags of a predictor.
    fn lags(&mut self) -> Vec<u16> {
        let order = self.below(4);
        let most = [3, 9, 40, 300, MAX_REACH][self.below(5)].min(MAX_REACH / order.max(1));
        let mut lags: Vec<u16> = (0..order).map(|_| 1 + self.below(most) as u16).collect();
        if order > 1 && self.below(3) == 0 {
            lags[0] = lags[1]; // has code of its own
        }
        lags.sort_unstable();
        lags
    }
}

/// Messages as programs send them; words of any width; words of one width per group; a few special values; round floats; whole numbers as
/// floats; and small words with some outliers.
fn messages<W: Word>() -> Vec<Vec<u8>> {
    let mut messages: Vec<_> = families().iter().map(|(_, generate)| generate(LEN)).collect();
    let mut numbers = Numbers(W::BITS.into());
    let mask = |width: u32| W::mask(width).to_u64();
    let one = 1 << W::FRACTION;
    let top = 1 << (W::BITS - 1);
    let special = [
        0,
        1,
        one,
        one - 1,
        top,
        top | one,
        mask(W::BITS - 1),
        mask(W::BITS - 1) & !(one - 1),
        mask(W::BITS),
    ];
    for kind in 0..6 {
        let mut message = random_bytes(kind, LEN);
        for (i, word) in W::split_mut(&mut message).0.iter_mut().enumerate() {
            let bits = W::from_bytes(*word).to_u64();
            let value = match kind {
                0 => bits & mask(numbers.below(W::BITS as usize + 1) as u32),
                1 => bits & mask((i / W::LANES) as u32 % (W::BITS + 1)),
                2 => special[numbers.below(special.len())] ^ (bits & 1),
                3 => bits & !mask(W::FRACTION / 2),
                4 => W::of(bits as usize & 0xfff).minus(W::of(0x800)).to_float(W::FRACTION).to_u64(),
                _ if numbers.below(20) == 0 => bits,
                _ => bits & 3,
            };
            *word = W::of(value as usize).to_bytes();
        }
        messages.push(message);
    }
    messages
}

/// The residuals of a block, and the steps of an encoder after them.
fn residuals<W: Word, K: Kernel<W>>(kernel: K, residuals: &Block, numbers: &mut Numbers) {
    let name = type_name::<K>();
    for groups in [8, 16, 24, GROUPS] {
        let groups = &residuals.groups()[..groups];
        assert_eq!(kernel.widths(groups), Kernel::<W>::widths(Scalar, groups), "{name}: widths");
    }
    let widths: Widths = Kernel::<W>::widths(Scalar, residuals.groups());
    let counts: Widths = portable::trailing_zeros::<W>(residuals);
    assert_eq!(kernel.apart(|| portable::trailing_zeros::<W>(residuals)), counts, "{name}: trailing zeros");
    let mut stripped = residuals.clone();
    kernel.apart(|| portable::strip::<W>(&mut stripped, &counts));
    kernel.apart(|| portable::unstrip::<W>(stripped.groups_mut(), &counts));
    assert!(stripped.0 == residuals.0, "{name}: strip by {counts:?}");

    for words in [W::BLOCK, 1 + numbers.below(W::BLOCK)] {
        let groups = words.div_ceil(W::LANES);
        packed::<W, K>(kernel, residuals, &widths, words);
        // Residuals at the end of a group may be narrower than the group's width.
        let wider =
            widths.map(|width| width + numbers.below((W::BITS + 1) as usize - usize::from(width)) as u8);
        packed::<W, K>(kernel, residuals, &wider, words);

        let width = numbers.below(W::BITS as usize + 1) as u32;
        let mut mask: Mask = Kernel::<W>::above(Scalar, residuals, width);
        assert_eq!(kernel.above(residuals, width), mask, "{name}: above {width}");
        for (i, bits) in mask.iter_mut().enumerate() {
            *bits &= ((1_u32 << words.saturating_sub(8 * i).min(8)) - 1) as u8;
        }
        let wides: usize = mask.iter().map(|bits| bits.count_ones() as usize).sum();
        let mut blocks = [const { Block::ZERO }; 6];
        blocks.iter_mut().for_each(|block| block.0.fill(numbers.below(256) as u8));
        let [wide, narrow, wide_too, narrow_too, all, all_too] = &mut blocks;
        kernel.deal(residuals, &mask, words, wide, narrow);
        Kernel::<W>::deal(Scalar, residuals, &mask, words, wide_too, narrow_too);
        for (a, b, words) in [(&wide, &wide_too, wides), (&narrow, &narrow_too, words - wides)] {
            let len = words.next_multiple_of(W::LANES) * W::WIDTH;
            assert!(a.0[..len] == b.0[..len], "{name}: deal {words} words, {mask:?}");
        }
        kernel.collect(wide, narrow, &mask, all.groups_mut());
        Kernel::<W>::collect(Scalar, wide_too, narrow_too, &mask, all_too.groups_mut());
        assert!(
            all.0[..words * W::WIDTH] == all_too.0[..words * W::WIDTH],
            "{name}: collect {groups} groups"
        );
        assert!(
            all.0[..words * W::WIDTH] == residuals.0[..words * W::WIDTH],
            "{name}: collecting does not undo dealing"
        );
    }
}

/// Packs groups, with various amounts of room, and unpacks them, with various amounts of wire.
fn packed<W: Word, K: Kernel<W>>(kernel: K, residuals: &Block, widths: &Widths, words: usize) {
    let name = type_name::<K>();
    for groups in [0, 1, words.div_ceil(W::LANES).clamp(1, GROUPS), GROUPS] {
        let same = Kernel::<W>::sum_and_ends(Scalar, widths, groups);
        assert_eq!(kernel.sum_and_ends(widths, groups), same, "{name}: sum and ends of {groups}");
    }
    let mut wire = vec![0; BLOCK];
    let mut out = Out::from_slice(&mut wire);
    Kernel::<W>::pack(Scalar, residuals, widths, words, &mut out).ok();
    let len = out.len();
    wire.truncate(len);
    for room in [0, 1, 30, BLOCK] {
        let mut bytes = vec![0x55; 3 + len + room];
        let mut out = Out::from_slice(&mut bytes);
        out.extend_from_slice(b"abc").ok();
        assert_eq!(kernel.pack(residuals, widths, words, &mut out), Ok(()), "{name}: pack");
        assert!(
            out.written()[..3] == *b"abc" && out.written()[3..] == wire,
            "{name}: pack {words} of {widths:?}"
        );
    }
    let mut out = [0; BLOCK];
    let mut out = Out::from_slice(&mut out[..len.saturating_sub(1)]);
    assert_eq!(
        kernel.pack(residuals, widths, words, &mut out).is_err(),
        len > 0,
        "{name}: pack without room"
    );
    for more in [0, 7, BLOCK] {
        wire.resize(len + more, 0xaa);
        unpacked::<W, K>(kernel, &wire, widths, words);
    }
}

fn unpacked<W: Word, K: Kernel<W>>(kernel: K, wire: &[u8], widths: &Widths, words: usize) {
    let (mut a, mut b) = (Block::ZERO, Block::ZERO);
    // In a decoder, widths past the last group are whatever the wire contains.
    let mut widths = *widths;
    widths[words.div_ceil(W::LANES)..].fill(254);
    let widths = &widths;
    kernel.unpack(wire, widths, words, a.groups_mut());
    Kernel::<W>::unpack(Scalar, wire, widths, words, b.groups_mut());
    let len = words * W::WIDTH;
    assert!(a.0[..len] == b.0[..len], "{}: unpack {words} of {widths:?}", type_name::<K>());
}

/// The operations on the words of a message.
fn words<W: Word, K: Kernel<W>>(kernel: K, message: &[u8], numbers: &mut Numbers) {
    let name = type_name::<K>();
    let at = AT + numbers.below(BLOCK);
    let (mut a, mut b) = (Block::ZERO, Block::ZERO);
    for _ in 0..8 {
        let lags = numbers.lags();
        kernel.difference(message, at, &lags, a.groups_mut());
        Kernel::<W>::difference(Scalar, message, at, &lags, b.groups_mut());
        assert!(a.0 == b.0, "{name}: difference by {lags:?}");
        let cost = Kernel::<W>::difference_cost(Scalar, message, at, &lags);
        assert_eq!(kernel.difference_cost(message, at, &lags), cost, "{name}: cost of {lags:?}");
        rebuilt::<W, K>(kernel, message, &b, numbers);
        residuals::<W, K>(kernel, &b, numbers);
    }
    for (rotation, groups) in [(0, GROUPS), (1, GROUPS), (0, 8), (1, 16), (0, 24)] {
        let words = &message[at..].as_chunks().0[..groups];
        let maximum: W = Scalar.below(words, rotation, &mut b.groups_mut()[..groups]);
        let same = kernel.below(words, rotation, &mut a.groups_mut()[..groups]);
        assert_eq!(same, maximum, "{name}: maximum, {rotation}");
        assert!(a.0 == b.0, "{name}: below, {rotation}");
        let cost = Kernel::<W>::below_cost(Scalar, message, at, rotation);
        assert_eq!(kernel.below_cost(message, at, rotation), cost, "{name}: cost of below, {rotation}");
    }
    let places: Vec<usize> = (0..5).map(|_| AT / 2 + numbers.below(LEN - AT) / 8 * 8).collect();
    for (base, first) in [(0, 1), (1, 2), (numbers.below(16), 1 + numbers.below(400))] {
        let mut scores = [[7; LAGS]; 2];
        kernel.lag_scores(message, &places, base, first, &mut scores[0]);
        Kernel::<W>::lag_scores(Scalar, message, &places, base, first, &mut scores[1]);
        assert_eq!(scores[0], scores[1], "{name}: scores from {first} on, {base}");
    }
    if W::FRACTION != 0 {
        floats::<W, K>(kernel, &message[at..], numbers);
    }
}

/// A block of this form after these bytes, in an output with `room` bytes more.
fn same_block<W: Word, K: Kernel<W>>(
    kernel: K,
    before: &[u8],
    residuals: &Block,
    packed: Option<Packed<'_>>,
    form: &Form<'_, W>,
    start: usize,
    room: usize,
) {
    let len = before.len() + form.words * W::WIDTH;
    let make = |rebuild: &dyn Fn(&mut Scratch, &mut Out<'_>) -> Result<(), Full>| {
        let mut scratch = Scratch::new();
        *scratch.words.groups_mut() = *residuals.groups();
        let mut bytes = vec![0x55; len + room];
        let mut out = Out::from_slice(&mut bytes);
        out.extend_from_slice(before).unwrap();
        assert_eq!(rebuild(&mut scratch, &mut out), Ok(()));
        assert_eq!(out.remaining(), room);
        bytes
    };
    let a = make(&|scratch, out| kernel.rebuild(packed, form, scratch, start, out));
    let b = make(&|scratch, out| Scalar.rebuild(packed, form, scratch, start, out));
    if form.predictor.is_difference() {
        assert!(a[len..].iter().all(|byte| *byte == 0x55), "{}: writes past {form:?}", type_name::<K>());
    }
    assert!(a[..len] == b[..len], "{}: rebuild {form:?} behind {} bytes", type_name::<K>(), before.len());
}

/// A block of any form and any number of words, after any number of blocks of a message.
fn rebuilt<W: Word, K: Kernel<W>>(kernel: K, message: &[u8], residuals: &Block, numbers: &mut Numbers) {
    let widths: Widths = Kernel::<W>::widths(Scalar, residuals.groups());
    for _ in 0..12 {
        let words = [W::BLOCK, 1 + numbers.below(W::BLOCK)][numbers.below(2)];
        let domain = match numbers.below(5) {
            rotation @ ..2 => Domain::Below { rotation: rotation as u8 },
            2 if W::FRACTION != 0 => Domain::Fixed(numbers.below(1 << W::EXPONENT) as u16),
            _ => Domain::Integer,
        };
        let lags = numbers.lags();
        let lags = if matches!(domain, Domain::Below { .. }) { &[][..] } else { &lags };
        let predictor = Predictor::difference(domain, lags).unwrap_or_default();
        let maximum = W::load(message, numbers.below(LEN - 8));
        let form = Form { predictor: &predictor, maximum, words };
        let start = [0, 3, 64][numbers.below(3)];
        let before = start + [0, BLOCK, 2 * BLOCK, 9 * BLOCK][numbers.below(4)];
        let mut wire = vec![0; BLOCK];
        let mut out = Out::from_slice(&mut wire);
        Kernel::<W>::pack(Scalar, residuals, &widths, words, &mut out).ok();
        let wire = [out.written(), &message[..[0, 5, BLOCK][numbers.below(3)]]].concat();
        let packed = Packed { wire: &wire, widths: &widths };
        let room = [0, 1, 70][numbers.below(3)];
        for packed in [Some(packed), None] {
            same_block(kernel, &message[..before], residuals, packed, &form, start, room);
        }
        let mut small = vec![0; before + words * W::WIDTH - 1];
        let mut out = Out::from_slice(&mut small);
        out.extend_from_slice(&message[..before]).ok();
        assert!(kernel.rebuild(Some(packed), &form, &mut Scratch::new(), start, &mut out).is_err());
    }
}

/// The fixed-point domain.
fn floats<W: Word, K: Kernel<W>>(kernel: K, words: &[u8], numbers: &mut Numbers) {
    let name = type_name::<K>();
    let words = &words[..numbers.below(200) * W::WIDTH];
    let middle = W::mask(W::EXPONENT).to_u64() as usize / 2;
    let units =
        [0, middle, middle.saturating_sub(numbers.below(100)), numbers.below(2 * middle + 2), 2 * middle + 1];
    for unit in units.map(|unit| unit as u32) {
        let (mut a, mut b) = (vec![1; words.len()], vec![2; words.len()]);
        kernel.apart(|| portable::to_fixed::<W>(words, unit, &mut a));
        portable::to_fixed::<W>(words, unit, &mut b);
        assert!(a == b, "{name}: to fixed, {unit}");
        for fixed in [words, &b.clone()] {
            kernel.apart(|| portable::to_float::<W>(fixed, unit, &mut a));
            portable::to_float::<W>(fixed, unit, &mut b);
            assert!(a == b, "{name}: to float, {unit}");
        }
    }
    let mut spans = [portable::Span::default(); 2];
    kernel.apart(|| portable::span::<W>(words, &mut spans[0]));
    portable::span::<W>(words, &mut spans[1]);
    assert_eq!(spans[0], spans[1], "{name}: span");
}

/// The operations with a reference, and that each undoes its inverse.
fn referring<W: Word, K: Kernel<W>>(kernel: K, words: &[u8], numbers: &mut Numbers) {
    let name = type_name::<K>();
    let len = (1 + numbers.below(W::BLOCK)) * W::WIDTH;
    let (words, reference) = (&words[..len], &words[BLOCK..BLOCK + len]);
    let mut blocks = [const { Block::ZERO }; 4];
    let [a, b, sums, sums_too] = &mut blocks;
    kernel.apart(|| portable::against::<W>(words, reference, a.groups_mut()));
    portable::against::<W>(words, reference, b.groups_mut());
    assert!(a.0 == b.0, "{name}: against, {len} bytes");
    sums.0 = b.0.map(|byte| byte.rotate_left(3));
    sums_too.0 = sums.0;
    kernel.apart(|| portable::add_zigzagged::<W>(a, sums.groups_mut()));
    portable::add_zigzagged::<W>(a, sums_too.groups_mut());
    assert!(sums.0 == sums_too.0, "{name}: add zigzagged");
    kernel.apart(|| portable::undo_against::<W>(reference, a.groups_mut()));
    assert!(a.0[..len] == *words, "{name}: undo against, {len} bytes");
    let mut differences = [vec![1; len], vec![2; len]];
    kernel.apart(|| portable::minus::<W>(words, reference, &mut differences[0]));
    portable::minus::<W>(words, reference, &mut differences[1]);
    assert!(differences[0] == differences[1], "{name}: minus, {len} bytes");
}

/// Blocks, whole or nearly whole, from differences with these lags, at the beginning of a message and later.
fn rebuilt_from<W: Word, K: Kernel<W>>(kernel: K, message: &[u8], residuals: &Block, lags: &[u16]) {
    let predictor = Predictor::difference(Domain::Integer, lags).unwrap();
    let reach = predictor.reach() * W::WIDTH;
    for before in [0, BLOCK, 9 * BLOCK, reach + GROUP - W::WIDTH, reach + GROUP] {
        // A whole block, whole vectors, and neither.
        for words in
            [W::BLOCK, W::BLOCK - GROUP / W::WIDTH, W::BLOCK - 32 / W::WIDTH, 32 / W::WIDTH, W::BLOCK - 1]
        {
            let form = Form { predictor: &predictor, maximum: W::default(), words };
            for room in [0, BLOCK] {
                same_block(kernel, &message[..before], residuals, None, &form, 0, room);
            }
        }
    }
}

/// All lags that have their own code path, and all widths.
fn each_lag_and_width<W: Word, K: Kernel<W>>(kernel: K) {
    let noise = random_bytes(3, LEN);
    let mut residuals = Block::ZERO;
    residuals.0.copy_from_slice(&noise[AT..AT + BLOCK]);
    for lag in (1..=130).chain(250..=260).chain([511, 512, 513, 1023, 1024, 1025, 2046, 2047]) {
        let some = [&[lag][..], &[lag, lag], &[lag, lag, lag], &[1, lag], &[1, lag, lag]];
        let others = [1, 5, 30, 300].map(|other| [lag.min(other), lag.max(other)]);
        for lags in some.into_iter().chain(others.iter().map(|lags| &lags[..])) {
            if lags.iter().map(|lag| usize::from(*lag)).sum::<usize>() <= MAX_REACH {
                rebuilt_from::<W, K>(kernel, &noise, &residuals, lags);
            }
        }
    }
    for width in 0..=W::BITS as u8 {
        for word in W::split_mut(&mut residuals.0).0 {
            *word =
                W::of((W::from_bytes(*word).to_u64() & W::mask(width.into()).to_u64()) as usize).to_bytes();
        }
        for words in [W::BLOCK, W::BLOCK - 1, W::LANES + 1, 1] {
            packed::<W, K>(kernel, &residuals, &[width; GROUPS], words);
        }
        unpacked::<W, K>(kernel, &noise, &[width; GROUPS], W::BLOCK);
        residuals.0.copy_from_slice(&noise[AT..AT + BLOCK]);
        let mask: Mask = Kernel::<W>::above(Scalar, &residuals, width.into());
        assert_eq!(kernel.above(&residuals, width.into()), mask, "{}: above {width}", type_name::<K>());
    }
    for bits in 1..=8 {
        for packed in noise.as_chunks().0.iter().take(50) {
            let packed = u64::from_le_bytes(*packed);
            let spread = Kernel::<W>::spread(Scalar, packed, bits);
            assert_eq!(kernel.spread(packed, bits), spread, "{}: spread {bits} bits", type_name::<K>());
            let low = packed & u64::MAX >> (64 - 8 * bits);
            assert_eq!(Kernel::<W>::gather(Scalar, spread, bits), low, "the inverse");
            assert_eq!(
                kernel.gather(packed, bits),
                Kernel::<W>::gather(Scalar, packed, bits),
                "{}",
                type_name::<K>()
            );
        }
    }
}

fn agrees<W: Word, K: Kernel<W>>(kernel: K) {
    let mut numbers = Numbers(1);
    for message in messages::<W>() {
        for _ in 0..8 {
            words::<W, K>(kernel, &message, &mut numbers);
            referring::<W, K>(kernel, &message, &mut numbers);
        }
    }
    each_lag_and_width::<W, K>(kernel);
}

/// All kernels of this CPU.
fn agree<W: Word>() {
    for simd in tiers() {
        match simd.tier() {
            Tier::Scalar => agrees::<W, _>(Scalar),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => Avx2::new(simd).into_iter().for_each(agrees::<W, _>),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => Avx512::new(simd).into_iter().for_each(agrees::<W, _>),
            _ => panic!("a tier without a kernel"),
        }
    }
}

#[test]
fn on_words_of_64() {
    agree::<u64>();
}

#[test]
fn on_words_of_32() {
    agree::<u32>();
}

#[test]
fn on_words_of_16() {
    agree::<u16>();
}
