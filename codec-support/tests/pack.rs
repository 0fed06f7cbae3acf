//! Packed groups: compares each tier with bits concatenated one by one.

use mpress_codec::simd::Simd;
use mpress_codec::{Full, Out};
use mpress_codec_support::pack::{GROUP, Group, packed_len};
#[cfg(target_arch = "x86_64")]
use mpress_codec_support::{Avx2, Avx512, avx2, avx512};
use mpress_codec_support::{Task, Word, pack, run};

struct Pack<'a, 'o, W>(&'a [Group], &'a [u8; 32], usize, &'a mut Out<'o>, W);

impl<W: Word> Task for Pack<'_, '_, W> {
    type Output = Result<(), Full>;
    fn scalar(self) -> Self::Output {
        pack::pack::<W>(self.0, &self.1[..self.0.len()], self.2, self.3)
    }
    #[cfg(target_arch = "x86_64")]
    fn avx2(self, _: Avx2) -> Self::Output {
        // SAFETY: the token; the widths are those of words, and the length is that of the groups.
        unsafe { avx2::pack::<W>(self.0, &self.1[..self.0.len()], self.2, self.3) }
    }
    #[cfg(target_arch = "x86_64")]
    fn avx512(self, _: Avx512) -> Self::Output {
        let used = &self.1[..self.0.len()];
        // SAFETY: as above.
        unsafe {
            let plain = !avx2::spans_nine::<W>(self.1)
                && used.iter().all(|width| u32::from(*width) * W::PER_LANE >= 8);
            if used.iter().all(|width| *width == 0 || u32::from(*width) * W::PER_LANE >= 8) {
                avx512::pack::<W, false>(self.0, used, self.2, plain, self.3)
            } else {
                avx512::pack::<W, true>(self.0, used, self.2, plain, self.3)
            }
        }
    }
}

struct Unpack<'a, W>(&'a [u8], &'a [u8; 32], &'a mut [Group], W);

impl<W: Word> Task for Unpack<'_, W> {
    type Output = ();
    fn scalar(self) {
        let nine = self.1.iter().any(|width| u32::from(*width) * W::PER_LANE > 57);
        pack::unpack::<W>(self.0, &self.1[..self.2.len()], nine, self.2);
    }
    #[cfg(target_arch = "x86_64")]
    fn avx2(self, _: Avx2) {
        // SAFETY: the token.
        unsafe { avx2::unpack::<W>(self.0, &self.1[..self.2.len()], avx2::spans_nine::<W>(self.1), self.2) }
    }
    #[cfg(target_arch = "x86_64")]
    fn avx512(self, _: Avx512) {
        // SAFETY: the token.
        unsafe { avx512::unpack::<W>(self.0, &self.1[..self.2.len()], avx2::spans_nine::<W>(self.1), self.2) }
    }
}

/// The words of groups, each in the number of bits that its group's width gives.
fn bits_of<W: Word>(groups: &[Group], widths: &[u8]) -> Vec<u8> {
    let mut bits = Vec::new();
    for (group, width) in groups.iter().zip(widths) {
        for word in W::split(group).0 {
            bits.extend((0..*width).map(|bit| (W::from_bytes(*word).to_u64() >> bit & 1) as u8));
        }
    }
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
    bits.chunks(8).map(byte).collect()
}

/// Some groups of words of these widths, the last of `last` words.
fn agree<W: Word>(widths: &[u8], last: usize) {
    let mut state = 1_u64;
    let mut groups = vec![[0; GROUP]; widths.len()];
    for (group, width) in groups.iter_mut().zip(widths) {
        for word in W::split_mut(group).0 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            *word = (W::low(state >> 32 ^ state) & W::mask((*width).into())).to_bytes();
        }
    }
    let per_group = GROUP / W::WIDTH;
    let words = (widths.len() - 1) * per_group + last;
    if let Some(group) = groups.last_mut() {
        W::split_mut(group).0[last..].fill(W::ZERO_BYTES);
    }
    let sum = widths.iter().map(|width| usize::from(*width)).sum();
    let len = packed_len::<W>(widths, words, sum);
    let packed = &bits_of::<W>(&groups, widths)[..len];
    let mut all = [0; 32];
    all[..widths.len()].copy_from_slice(widths);
    let what = format!("{} bits, {widths:?}, {last} words in the last group", W::BITS);
    for simd in Simd::available() {
        for room in [len, len + 1, len + GROUP, len + 200] {
            let mut bytes = vec![0x55; 3 + room];
            let mut out = Out::from_slice(&mut bytes);
            assert_eq!(out.extend_from_slice(b"abc"), Ok(()));
            assert_eq!(run(simd, Pack(&groups, &all, len, &mut out, W::ZERO)), Ok(()), "{what}, {simd:?}");
            assert_eq!(out.written()[..3], *b"abc", "{what}, {simd:?}");
            assert_eq!(&out.written()[3..], packed, "{what}, {simd:?}, room of {room}");
        }
        if len > 0 {
            let mut bytes = vec![0x55; len - 1];
            let mut out = Out::from_slice(&mut bytes);
            assert_eq!(run(simd, Pack(&groups, &all, len, &mut out, W::ZERO)), Err(Full), "{what}, {simd:?}");
        }
        for more in [0, 1, 200] {
            let mut wire = packed.to_vec();
            wire.resize(len + more, 0xaa);
            let mut back = vec![[0x33; GROUP]; widths.len()];
            run(simd, Unpack(&wire, &all, &mut back, W::ZERO));
            let same = words * W::WIDTH;
            assert_eq!(
                back.as_flattened()[..same],
                groups.as_flattened()[..same],
                "{what}, {simd:?}, {more} bytes after it"
            );
        }
    }
}

fn every_width<W: Word>() {
    let most = W::BITS as u8;
    for width in 0..=most {
        for last in 1..=GROUP / W::WIDTH {
            agree::<W>(&[width], last);
        }
        agree::<W>(&[width; 8], GROUP / W::WIDTH);
        agree::<W>(&[most - width, width, 0, width, most, width, 1, width / 2], 1);
    }
}

#[test]
fn every_tier_packs_the_same_bytes_and_gives_them_back() {
    every_width::<u16>();
    every_width::<u32>();
    every_width::<u64>();
}
