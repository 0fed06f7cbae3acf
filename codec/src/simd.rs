//! The SIMD tier: the instruction set that a kernel may use.
//!
//! A [`Simd`] is a token. Only detection creates one, so code with a token of [`Tier::Avx2`] may call a function with the target features of that
//! tier. It is chosen once, when an encoder or decoder is created.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// An instruction set tier. It proves nothing; see [`Simd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Portable code only.
    Scalar,
    /// AVX2, BMI1, BMI2, LZCNT, POPCNT.
    Avx2,
    /// In addition, AVX-512 F (with FMA and F16C), BW, DQ, VL, CD, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
}

impl Tier {
    /// All tiers, lowest first.
    pub const ALL: &[Self] = &[Self::Scalar, Self::Avx2, Self::Avx512];

    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

/// Proof that this CPU has the instructions of a [`Tier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Simd(Tier);

impl Simd {
    /// Portable code, which runs on every CPU.
    pub const SCALAR: Self = Self(Tier::Scalar);

    /// The token of the highest tier of this CPU, or of the cap set by `--cfg mpress_simd="..."`. Detected once; later calls take one load.
    #[must_use]
    pub fn detect() -> Self {
        // CPUID takes tens of microseconds on a virtual machine. Concurrent callers find the same value.
        static TIERS_FOUND: AtomicUsize = AtomicUsize::new(0);
        if let Some(tier) = TIERS_FOUND.load(Relaxed).checked_sub(1).and_then(|last| Tier::ALL.get(last)) {
            return Self(*tier);
        }
        let tier = detected().min(CAP);
        TIERS_FOUND.store(Tier::ALL.iter().filter(|other| **other <= tier).count(), Relaxed);
        Self(tier)
    }

    /// The token of this tier; `None` if this CPU lacks it or the build does not allow it.
    #[must_use]
    pub fn new(tier: Tier) -> Option<Self> {
        (tier <= Self::detect().0).then_some(Self(tier))
    }

    /// The tokens of all tiers of this CPU, lowest first. Tests and benches loop over them.
    pub fn available() -> impl Iterator<Item = Self> {
        Tier::ALL.iter().copied().filter_map(Self::new)
    }

    /// The proven tier. Codecs call this only where they select a kernel, so that `conformance::at_each_tier` can tell which kernels have run.
    #[must_use]
    pub fn tier(self) -> Tier {
        #[cfg(feature = "conformance")]
        crate::conformance::kernel_chosen(self.0);
        self.0
    }
}

const CAP: Tier = if cfg!(mpress_simd = "scalar") {
    Tier::Scalar
} else if cfg!(mpress_simd = "avx2") {
    Tier::Avx2
} else {
    Tier::Avx512
};

#[cfg(target_arch = "x86_64")]
fn detected() -> Tier {
    cpufeatures::new!(avx2, "avx2", "bmi1", "bmi2", "popcnt");
    cpufeatures::new!(
        avx512,
        "fma",
        "avx512f",
        "avx512bw",
        "avx512dq",
        "avx512vl",
        "avx512cd",
        "avx512vbmi",
        "avx512vbmi2"
    );
    // For the compiler, AVX-512 F includes FMA and F16C. A CPU has all three or none, but a hypervisor may hide some.
    if !(avx2::get() && lzcnt()) {
        Tier::Scalar
    } else if !(avx512::get() && f16c()) {
        Tier::Avx2
    } else {
        Tier::Avx512
    }
}

/// `cpufeatures` does not know LZCNT: extended leaf 1, ECX bit 5.
#[cfg(target_arch = "x86_64")]
fn lzcnt() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).ecx & (1 << 5) != 0
}

/// It does not know F16C either: leaf 1, ECX bit 29.
#[cfg(target_arch = "x86_64")]
fn f16c() -> bool {
    core::arch::x86_64::__cpuid(1).ecx & (1 << 29) != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Tier {
    Tier::Scalar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_ordered_and_start_at_scalar() {
        let mut tiers = Simd::available();
        assert_eq!(tiers.next(), Some(Simd::SCALAR));
        assert_eq!(Simd::available().last(), Some(Simd::detect()));
    }

    #[test]
    fn what_was_detected_once_stays() {
        let first = Simd::detect();
        assert_eq!(first.tier(), detected().min(CAP));
        assert_eq!(Simd::detect(), first);
    }

    /// If detection missed a tier, every test at that tier would be skipped.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_tier_is_what_the_standard_library_finds() {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
        let avx512 = has!("fma") && has!("f16c") && has!("avx512f") && has!("avx512bw") && has!("avx512dq");
        let avx512 = avx512 && has!("avx512vl") && has!("avx512cd");
        let avx512 = avx512 && has!("avx512vbmi") && has!("avx512vbmi2");
        let tier = match (avx2, avx512) {
            (true, true) => Tier::Avx512,
            (true, false) => Tier::Avx2,
            _ => Tier::Scalar,
        };
        assert_eq!(detected(), tier);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn features_without_a_name_agree_with_the_standard_library() {
        assert_eq!(lzcnt(), std::arch::is_x86_feature_detected!("lzcnt"));
        assert_eq!(f16c(), std::arch::is_x86_feature_detected!("f16c"));
    }

    extern crate std;
}
