//! The portable kernel, which defines the result of all kernels.
#![forbid(unsafe_code)]

use super::Kernel;
use crate::bits::{STAGE, Writer};
use crate::entropy::Codes;
use crate::width::Width;
use mpress_codec::{Full, Out};

/// Requires no CPU features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl Kernel for Scalar {
    fn split(self, elements: &[u8], width: Width, planes: &mut [u8]) {
        split(elements, width, planes, 0);
    }
    fn join(self, planes: &[&[u8]; 8], width: Width, elements: &mut [u8]) {
        join(planes, width, elements, 0);
    }
    fn mark_equal(self, bytes: &[u8], symbol: Width, marks: &mut [u8]) {
        mark_equal(bytes, symbol, marks, 0);
    }
    fn pack(self, symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
        pack(symbols, codes, out)
    }
}

/// Repeats the body for each byte of a word of `$width`, with `$byte` constant; otherwise the compiler would not vectorise the loop in it. For the
/// same reason the surrounding function is inlined, so that the first element is a constant where it is 0.
macro_rules! each_byte {
    ($width:ident, $byte:ident, $body:block) => {
        each_byte!(@ $width, $byte, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $width:ident, $byte:ident, $body:block, $($n:literal),*) => {
        $(if $n < $width {
            const $byte: usize = $n;
            $body
        })*
    };
}

/// [`Kernel::split`] from element `first` on.
#[inline(always)]
pub(super) fn split(elements: &[u8], width: Width, planes: &mut [u8], first: usize) {
    #[inline(always)]
    fn of<const W: usize>(elements: &[u8], planes: &mut [u8], first: usize) {
        let elements = elements.as_chunks::<W>().0;
        let mut planes = planes.chunks_exact_mut(elements.len().max(1));
        each_byte!(W, BYTE, {
            if let Some(plane) = planes.next() {
                let (plane, elements) =
                    (plane.get_mut(first..).unwrap_or_default(), elements.get(first..).unwrap_or_default());
                for (to, element) in plane.iter_mut().zip(elements) {
                    *to = element[BYTE % W];
                }
            }
        });
    }
    match width {
        Width::One => planes.copy_from_slice(elements),
        Width::Two => of::<2>(elements, planes, first),
        Width::Four => of::<4>(elements, planes, first),
        Width::Eight => of::<8>(elements, planes, first),
    }
}

/// [`Kernel::join`] from element `first` on.
#[inline(always)]
pub(super) fn join(planes: &[&[u8]; 8], width: Width, elements: &mut [u8], first: usize) {
    #[inline(always)]
    fn of<const W: usize>(planes: &[&[u8]; 8], elements: &mut [u8], first: usize) {
        let elements = elements.as_chunks_mut::<W>().0.get_mut(first..).unwrap_or_default();
        each_byte!(W, BYTE, {
            let plane = planes[BYTE].get(first..).unwrap_or_default();
            for (element, from) in elements.iter_mut().zip(plane) {
                element[BYTE % W] = *from;
            }
        });
    }
    match width {
        Width::One => elements.copy_from_slice(planes[0]),
        Width::Two => of::<2>(planes, elements, first),
        Width::Four => of::<4>(planes, elements, first),
        Width::Eight => of::<8>(planes, elements, first),
    }
}

/// [`Kernel::mark_equal`] from symbol `first`, a multiple of eight, on.
#[inline(always)]
pub(super) fn mark_equal(bytes: &[u8], symbol: Width, marks: &mut [u8], first: usize) {
    fn of<const S: usize>(bytes: &[u8], marks: &mut [u8], first: usize) {
        let symbols = bytes.as_chunks::<S>().0.get(first..).unwrap_or(&[]);
        for (these, at) in symbols.chunks(8).zip((0..).step_by(8)) {
            let next = &symbols[at + 1..];
            let mut mark = 0;
            for ((this, next), i) in these.iter().zip(next).zip(0..) {
                mark |= u8::from(this == next) << i;
            }
            marks[(first + at) / 8] = mark;
        }
    }
    match symbol {
        Width::One => of::<1>(bytes, marks, first),
        Width::Two => of::<2>(bytes, marks, first),
        Width::Four => of::<4>(bytes, marks, first),
        Width::Eight => of::<8>(bytes, marks, first),
    }
}

#[inline(always)]
pub(super) fn pack(symbols: &[u8], codes: &Codes, out: &mut Out<'_>) -> Result<(), Full> {
    let mut stage = STAGE;
    let mut bits = Writer::new(&mut stage);
    bits.put_codes(symbols, codes, out)?;
    bits.finish(out)
}
