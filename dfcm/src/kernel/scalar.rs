//! The reference kernel: blocks of elements to wire and back (format, section 4).
//!
//! Both directions use buffers of fixed size on the stack, one block at a time, so that there are no checks per element of the remaining room or
//! input.
#![forbid(unsafe_code)]

use crate::bits::{self, Reader, Writer};
use crate::format::{BLOCK, BODY, COUNTS, GROUP};
use crate::predictor::{Context, Predictor};
use crate::word::Word;
use mpress_codec::{DecodeError, DecodeErrorKind, Full, Out};

#[inline(always)]
pub(super) fn encode<W: Word>(
    mut predictor: Predictor<'_, W>,
    elements: &[W::Bytes],
    out: &mut Out<'_>,
) -> Result<Context<W>, Full> {
    let mut counts = [0; COUNTS];
    let mut body = [0; BODY];
    for block in elements.chunks(BLOCK / W::WIDTH) {
        let mut writer = Writer::new(&mut body);
        for (group, counts) in block.chunks(GROUP).zip(counts.as_chunks_mut().0) {
            let packed = match group.first_chunk::<GROUP>() {
                // The same, with a length known to the compiler.
                Some(group) => encode_group(&mut predictor, group, &mut writer),
                None => encode_group(&mut predictor, group, &mut writer),
            };
            *counts = packed.to_le_bytes();
        }
        out.extend_from_slice(&counts[..block.len().div_ceil(2)])?;
        out.extend_from_slice(writer.finish())?;
    }
    Ok(predictor.context())
}

/// Writes the residuals of up to 16 elements and returns their leading-zero counts, the first in the lowest bits.
#[inline(always)]
fn encode_group<W: Word>(
    predictor: &mut Predictor<'_, W>,
    group: &[W::Bytes],
    writer: &mut Writer<'_>,
) -> u64 {
    let mut counts = 0;
    for element in group {
        let residual = predictor.residual(W::from_bytes(*element));
        counts = counts >> 4 | writer.put(residual) << 60;
    }
    counts >> (4 * (GROUP - group.len()))
}

#[inline(always)]
pub(super) fn decode<W: Word>(
    mut predictor: Predictor<'_, W>,
    wire: &[u8],
    mut at: usize,
    mut elements: usize,
    out: &mut Out<'_>,
) -> Result<(Context<W>, usize), DecodeError> {
    let truncated = DecodeError::new(DecodeErrorKind::Truncated, wire.len());
    let full = DecodeError::new(DecodeErrorKind::Length, wire.len());
    let mut counts = [0; COUNTS];
    let mut last_body = [0; BODY];
    let mut raw = [0; BLOCK];
    while elements > 0 {
        let len = elements.min(BLOCK / W::WIDTH);

        let packed = wire[at..].get(..len.div_ceil(2)).ok_or(truncated)?;
        counts[..packed.len()].copy_from_slice(packed);
        counts[packed.len()..].fill(0);
        at += packed.len();
        if len % 2 == 1 && counts[len / 2] >> 4 != 0 {
            return Err(DecodeError::new(DecodeErrorKind::Corrupt, at - 1));
        }
        let counts = counts.as_chunks().0;
        let zero_units: u32 = counts.iter().map(|packed| bits::sum(u64::from_le_bytes(*packed))).sum();
        let bits = len as u32 * W::BITS - zero_units * W::UNIT;

        let rest = &wire[at..];
        let body = rest.get(..bits.div_ceil(8) as usize).ok_or(truncated)?;
        at += body.len();
        let unused = body.len() as u32 * 8 - bits;
        if body.last().is_some_and(|byte| byte.leading_zeros() < unused) {
            return Err(DecodeError::new(DecodeErrorKind::Corrupt, at - 1));
        }
        // Windows may extend past the body: near the wire's end, use a copy with room after it.
        let body = match rest.first_chunk() {
            Some(body) => body,
            None => {
                last_body[..body.len()].copy_from_slice(body);
                &last_body
            }
        };

        let mut reader = Reader::new(body);
        for (group, packed) in W::split_mut(&mut raw).0[..len].chunks_mut(GROUP).zip(counts) {
            let packed = u64::from_le_bytes(*packed);
            match group.first_chunk_mut::<GROUP>() {
                Some(group) => decode_group(&mut predictor, packed, &mut reader, group),
                None => decode_group(&mut predictor, packed, &mut reader, group),
            }
        }
        out.extend_from_slice(&raw[..len * W::WIDTH]).map_err(|_| full)?;
        elements -= len;
    }
    Ok((predictor.context(), at))
}

/// Decodes up to 16 elements with the leading-zero counts `counts`, the first in the lowest bits.
#[inline(always)]
fn decode_group<W: Word>(
    predictor: &mut Predictor<'_, W>,
    mut counts: u64,
    reader: &mut Reader<'_>,
    group: &mut [W::Bytes],
) {
    for element in group {
        let residual = reader.take(counts as u32 % 16);
        counts >>= 4;
        *element = predictor.element(residual).to_bytes();
    }
}
