//! The portable kernel compiled with LZCNT and BMI: shifts that leave flags alone, and the leading-zero count that the paper (section 2.2) wrote in
//! assembly.

use super::scalar;
use crate::predictor::{Context, Predictor};
use crate::word::Word;
use mpress_codec::{DecodeError, Full, Out};

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn encode<W: Word>(
    predictor: Predictor<'_, W>,
    elements: &[W::Bytes],
    out: &mut Out<'_>,
) -> Result<Context<W>, Full> {
    scalar::encode(predictor, elements, out)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
pub(super) fn decode<W: Word>(
    predictor: Predictor<'_, W>,
    wire: &[u8],
    at: usize,
    elements: usize,
    out: &mut Out<'_>,
) -> Result<(Context<W>, usize), DecodeError> {
    scalar::decode(predictor, wire, at, elements, out)
}
