//! The common part of the kernels of all vector tiers: the proof of a tier, the shared copies compiled for it, and tiles made of squares.

/// Defines the kernel of a tier with these target features. The module must have a `Tile` of 4, 8 and 16 bytes for it.
macro_rules! kernel {
    ($kernel:ident, $tier:expr, $features:literal) => {
        /// Proof that the CPU has the instructions of a tier.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $kernel(());

        impl $kernel {
            pub(super) fn new(simd: Simd) -> Option<Self> {
                (simd.tier() >= $tier).then_some(Self(()))
            }

            /// # Safety
            /// As for [`shared::blocks`].
            pub(super) unsafe fn blocks(
                self,
                from: *const u8,
                to: *mut u8,
                width: usize,
                outer: Axis,
                inner: Axis,
                ahead: isize,
            ) {
                #[target_feature(enable = $features)]
                unsafe fn blocks(
                    from: *const u8,
                    to: *mut u8,
                    width: usize,
                    outer: Axis,
                    inner: Axis,
                    ahead: isize,
                ) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { shared::blocks(from, to, width, outer, inner, ahead) }
                }
                // SAFETY: guaranteed by the caller; `self` proves the features that the call requires.
                unsafe { blocks(from, to, width, outer, inner, ahead) }
            }

            /// # Safety
            /// As for [`lists::list`].
            pub(super) unsafe fn list(
                self,
                from: *const u8,
                to: *mut u8,
                listed: Listed,
                runs: Runs<'_>,
                outer: Axis,
            ) {
                #[target_feature(enable = $features)]
                unsafe fn list(from: *const u8, to: *mut u8, listed: Listed, runs: Runs<'_>, outer: Axis) {
                    // SAFETY: guaranteed by the caller.
                    unsafe { lists::list(from, to, listed, runs, outer) }
                }
                // SAFETY: guaranteed by the caller; `self` proves the features that the call requires.
                unsafe { list(from, to, listed, runs, outer) }
            }

            /// # Safety
            /// As for [`tiles::transpose`]. Widths other than 4, 8 and 16 are not transposed.
            pub(super) unsafe fn transpose(self, from: *const u8, to: *mut u8, transpose: &Transpose) {
                #[target_feature(enable = $features)]
                unsafe fn of<const W: usize>(
                    kernel: $kernel,
                    from: *const u8,
                    to: *mut u8,
                    transpose: &Transpose,
                ) where
                    $kernel: Tile<W>,
                {
                    // SAFETY: guaranteed by the caller.
                    unsafe { tiles::transpose::<W, _>(kernel, from, to, transpose) }
                }
                // SAFETY: guaranteed by the caller; `self` proves the features that the call requires.
                unsafe {
                    match transpose.width {
                        4 => of::<4>(self, from, to, transpose),
                        8 => of::<8>(self, from, to, transpose),
                        16 => of::<16>(self, from, to, transpose),
                        _ => debug_assert!(false, "elements of {} bytes", transpose.width),
                    }
                }
            }
        }
    };
}
pub(super) use kernel;

/// Defines the tiles of a kernel for elements of these widths, from squares of its vectors. The module must have a function `squares::$transpose` for
/// each width that transposes as many vectors as a vector has elements. The arguments name the load, the store and the non-temporal store.
macro_rules! tiles {
    ($kernel:ident, $load:ident, $store:ident, $stream:ident, $vector:literal: $($width:literal $transpose:ident)*) => { $(
        impl Tile<$width> for $kernel {
            #[inline(always)]
            unsafe fn tile<const PAST_CACHES: bool>(
                self,
                from: *const u8,
                from_step: isize,
                to: *mut u8,
                to_step: isize,
            ) {
                const ELEMENTS: isize = $vector / $width;
                // The squares of one column are consecutive, because together they fill a line.
                for column in 0..LINE as isize / $vector {
                    for row in 0..LINE as isize / $vector {
                        let from = from.wrapping_offset(row * ELEMENTS * from_step + column * $vector);
                        let to = to.wrapping_offset(column * ELEMENTS * to_step + row * $vector);
                        // SAFETY: a vector at each of these places is part of a row or column that the caller guarantees; `self` proves the features.
                        // In a column that begins at a multiple of `LINE`, all vectors are aligned.
                        unsafe {
                            // Not `array::from_fn`, which some builds call as a function.
                            let mut rows = [$load(from.cast()); ELEMENTS as usize];
                            for (i, row) in (1..).zip(&mut rows[1..]) {
                                *row = $load(from.wrapping_offset(i * from_step).cast());
                            }
                            for (i, column) in (0..).zip(squares::$transpose(rows)) {
                                let to = to.wrapping_offset(i * to_step).cast();
                                if PAST_CACHES { $stream(to, column) } else { $store(to, column) }
                            }
                        }
                    }
                }
            }

            #[inline(always)]
            fn finish(self) {
                // SAFETY: every x86-64 has the instruction.
                unsafe { _mm_sfence() };
            }
        }
    )* };
}
pub(super) use tiles;
