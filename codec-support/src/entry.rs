//! The one entry to code compiled for a SIMD tier.
//!
//! Unsafe code: calls of functions with target features, which rest on the token.
#![allow(unsafe_code)]

use mpress_codec::simd::Simd;
#[cfg(target_arch = "x86_64")]
use mpress_codec::simd::Tier;

/// An operation, with a form for each tier. Each form has one call site and must be `#[inline(always)]`, as must everything that it calls for each
/// word, so that they are compiled for the tier.
pub trait Task: Sized {
    /// The result.
    type Output;
    /// Portable code.
    fn scalar(self) -> Self::Output;
    /// With the instructions that the token proves.
    #[cfg(target_arch = "x86_64")]
    fn avx2(self, token: Avx2) -> Self::Output;
    /// As `avx2`, with AVX-512.
    #[cfg(target_arch = "x86_64")]
    fn avx512(self, token: Avx512) -> Self::Output;
}

/// Runs the form of `task` for the tier of this token.
#[inline]
pub fn run<T: Task>(simd: Simd, task: T) -> T::Output {
    match simd.tier() {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => Avx512(()).run(task),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => Avx2(()).run(task),
        _ => task.scalar(),
    }
}

/// Proof that the CPU has the instructions of a tier.
macro_rules! token {
    ($token:ident, $form:ident, $features:literal) => {
        #[doc = concat!("Proof that the CPU has the instructions of [`Tier::", stringify!($token), "`].")]
        #[cfg(target_arch = "x86_64")]
        #[derive(Clone, Copy, Debug)]
        pub struct $token(());

        #[cfg(target_arch = "x86_64")]
        impl $token {
            /// The token, if `simd` proves as much.
            #[must_use]
            #[inline]
            pub fn new(simd: Simd) -> Option<Self> {
                (simd.tier() >= Tier::$token).then_some(Self(()))
            }

            /// Runs this form of a task.
            #[inline]
            pub fn run<T: Task>(self, task: T) -> T::Output {
                // SAFETY: a token of this tier exists only where the CPU has the features.
                unsafe { Self::enter(self, task) }
            }

            #[target_feature(enable = $features)]
            fn enter<T: Task>(token: Self, task: T) -> T::Output {
                task.$form(token)
            }

            /// Where the code of such tasks begins.
            #[must_use]
            pub const fn code<T: Task>() -> *const u8 {
                Self::enter::<T> as *const u8
            }
        }
    };
}

token!(Avx2, avx2, "avx2,bmi1,bmi2,lzcnt,popcnt");
token!(Avx512, avx512, "avx512vbmi,avx512vbmi2,avx512dq,avx512vl,avx512cd,bmi1,bmi2,lzcnt,popcnt");

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The lower tier.
    #[must_use]
    #[inline]
    pub fn avx2(self) -> Avx2 {
        Avx2(())
    }
}

/// Where the code for tasks begins; `None` for portable code.
#[must_use]
#[inline]
pub fn code<T: Task>(simd: Simd) -> Option<*const u8> {
    match simd.tier() {
        #[cfg(target_arch = "x86_64")]
        Tier::Avx512 => Some(Avx512::code::<T>()),
        #[cfg(target_arch = "x86_64")]
        Tier::Avx2 => Some(Avx2::code::<T>()),
        _ => None,
    }
}

/// Asks for memory to be brought near: `bytes` bytes from `start`, of data or of code that will soon run. Between two calls of a codec, the program's
/// own work evicts the codec's code from the caches. Code that simply runs waits for each line; prefetched in advance, many lines load at once.
#[inline(never)]
pub fn prefetch(start: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(64) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, which does nothing for an address that cannot be read.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, bytes);
}

/// A function that runs an operation with the kernel of a tier: `$work` is generic over its kernel, and `Scalar`, `Avx2` and `Avx512` (or the types
/// in the arguments) implement the kernel. If a name is given at the end, another function tells where the code for such an operation begins.
#[macro_export]
macro_rules! kernels {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident $(<$word:ident: $bound:path>)? ($work:path);
        $scalar:expr, |$two:ident| $avx2:expr, |$five:ident| $avx512:expr
        $(; $(#[$code_doc:meta])* $code:ident)?
    ) => {
        struct Entry<$($word,)? T>(T, core::marker::PhantomData<($($word,)?)>);

        impl<$($word: $bound,)? T: $work> $crate::Task for Entry<$($word,)? T> {
            type Output = T::Output;
            #[inline(always)]
            fn scalar(self) -> T::Output {
                self.0.run($scalar)
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx2(self, $two: $crate::Avx2) -> T::Output {
                self.0.run($avx2)
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx512(self, $five: $crate::Avx512) -> T::Output {
                self.0.run($avx512)
            }
        }

        $(#[$doc])*
        $vis fn $name<$($word: $bound,)? T: $work>(simd: $crate::Simd, work: T) -> T::Output {
            $crate::run(simd, Entry::<$($word,)? T>(work, core::marker::PhantomData))
        }

        $crate::kernels! { @ $work; $($word: $bound)?; $($(#[$code_doc])* $vis fn $code)? }
    };
    (@ $work:path; $($word:ident: $bound:path)?;) => {};
    (@ $work:path; $($word:ident: $bound:path)?; $(#[$doc:meta])* $vis:vis fn $code:ident) => {
        $(#[$doc])*
        $vis fn $code<$($word: $bound,)? T: $work>(simd: $crate::Simd) -> Option<*const u8> {
            $crate::code::<Entry<$($word,)? T>>(simd)
        }
    };
}
