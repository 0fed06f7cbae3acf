//! Byte planes with vectors: deinterleaves the bytes at even and odd positions of two vectors, once for each bit of a byte's position in its element.
#![forbid(unsafe_code)]

use super::scalar;
use crate::width::Width;

/// Vectors of `N` bytes of a SIMD tier.
pub(super) trait Vectors<const N: usize>: Copy {
    /// A vector.
    type V: Copy;
    /// The vector of these bytes.
    fn load(self, bytes: &[u8; N]) -> Self::V;
    /// The bytes of a vector.
    fn store(self, v: Self::V, bytes: &mut [u8; N]);
    /// The bytes at even positions of two vectors, and those at odd ones.
    fn unzip(self, a: Self::V, b: Self::V) -> [Self::V; 2];
    /// The inverse of [`unzip`](Vectors::unzip).
    fn zip(self, even: Self::V, odd: Self::V) -> [Self::V; 2];
}

/// [`Kernel::split`](super::Kernel::split) with vectors; the last elements one by one.
#[inline(always)]
pub(super) fn split<const N: usize>(simd: impl Vectors<N>, elements: &[u8], width: Width, planes: &mut [u8]) {
    match width {
        Width::One => planes.copy_from_slice(elements),
        Width::Two => split_of::<N, 2>(simd, elements, width, planes),
        Width::Four => split_of::<N, 4>(simd, elements, width, planes),
        Width::Eight => split_of::<N, 8>(simd, elements, width, planes),
    }
}

/// [`Kernel::join`](super::Kernel::join) with vectors; the last elements one by one.
#[inline(always)]
pub(super) fn join<const N: usize>(
    simd: impl Vectors<N>,
    planes: &[&[u8]; 8],
    width: Width,
    elements: &mut [u8],
) {
    match width {
        Width::One => elements.copy_from_slice(planes[0]),
        Width::Two => join_of::<N, 2>(simd, planes, width, elements),
        Width::Four => join_of::<N, 4>(simd, planes, width, elements),
        Width::Eight => join_of::<N, 8>(simd, planes, width, elements),
    }
}

#[inline(always)]
fn split_of<const N: usize, const W: usize>(
    simd: impl Vectors<N>,
    elements: &[u8],
    width: Width,
    planes: &mut [u8],
) {
    let each = elements.len() / W;
    let groups = elements.as_chunks::<N>().0.as_chunks::<W>().0;
    for (group, at) in groups.iter().zip((0..).step_by(N)) {
        let mut v = group.each_ref().map(|bytes| simd.load(bytes));
        // Even positions go to the front half of each part, odd ones to the back half.
        for part in parts::<W>() {
            let before = v;
            for start in (0..W).step_by(part) {
                for i in 0..part / 2 {
                    let [even, odd] = simd.unzip(before[start + 2 * i], before[start + 2 * i + 1]);
                    v[start + i] = even;
                    v[start + part / 2 + i] = odd;
                }
            }
        }
        for (v, place) in v.into_iter().zip(0..) {
            let place = plane_at::<W>(place) * each + at;
            if let Some(to) = planes.get_mut(place..).and_then(|rest| rest.first_chunk_mut()) {
                simd.store(v, to);
            }
        }
    }
    scalar::split(elements, width, planes, groups.len() * N);
}

#[inline(always)]
fn join_of<const N: usize, const W: usize>(
    simd: impl Vectors<N>,
    planes: &[&[u8]; 8],
    width: Width,
    elements: &mut [u8],
) {
    let groups = elements.as_chunks_mut::<N>().0.as_chunks_mut::<W>().0;
    let whole = groups.len() * N;
    for (group, at) in groups.iter_mut().zip((0..).step_by(N)) {
        let mut v: [_; W] = core::array::from_fn(|place| {
            let plane = planes[plane_at::<W>(place)];
            simd.load(plane.get(at..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0; N]))
        });
        for part in parts::<W>().rev() {
            let before = v;
            for start in (0..W).step_by(part) {
                for i in 0..part / 2 {
                    let [a, b] = simd.zip(before[start + i], before[start + part / 2 + i]);
                    v[start + 2 * i] = a;
                    v[start + 2 * i + 1] = b;
                }
            }
        }
        for (to, v) in group.iter_mut().zip(v) {
            simd.store(v, to);
        }
    }
    scalar::join(planes, width, elements, whole);
}

/// The numbers of vectors that are deinterleaved together in each step: all, half of them...
#[inline(always)]
fn parts<const W: usize>() -> impl DoubleEndedIterator<Item = usize> {
    (0..W.ilog2()).map(|step| W >> step)
}

/// The plane at `place` after all steps: the bits of `place` in reverse order.
#[inline(always)]
fn plane_at<const W: usize>(place: usize) -> usize {
    place.reverse_bits() >> (usize::BITS - W.ilog2())
}
