//! The reference kernel compiled with AVX2, BMI and LZCNT.

use super::Work;
use super::scalar::Scalar;

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn enter<T: Work>(work: T) -> T::Output {
    work.run(Scalar)
}
