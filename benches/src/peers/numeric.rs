//! Pcodec, which compresses numbers by their type. Its interface for whole messages keeps no context.

use crate::Result;
use crate::coder::Coder;
use crate::element::Element;
use bytemuck::Pod;
use pco::ChunkConfig;
use pco::data_types::Number;
use pco::standalone::{guarantee, simple_compress_into, simple_decompress_into};
use std::borrow::Cow;
use std::io::Cursor;
use std::marker::PhantomData;

struct Pco<T> {
    config: ChunkConfig,
    number: PhantomData<T>,
}

/// Pcodec for these elements, at compression level `level`; bytes are treated as integers of eight bits.
pub(super) fn pco(element: Element, level: usize) -> Option<Box<dyn Coder>> {
    fn of<T: Number + Pod>(level: usize) -> Option<Box<dyn Coder>> {
        let config = ChunkConfig::default().with_compression_level(level);
        Some(Box::new(Pco::<T> { config, number: PhantomData }))
    }
    match element {
        Element::F64 => of::<f64>(level),
        Element::F32 => of::<f32>(level),
        Element::I64 | Element::Bin => of::<i64>(level),
        Element::I32 => of::<i32>(level),
        Element::I16 => of::<i16>(level),
    }
}

impl<T: Number + Pod> Coder for Pco<T> {
    fn bound(&self, raw_len: usize) -> Result<usize> {
        let numbers = guarantee::file_size::<T::L>(raw_len / size_of::<T>(), &self.config.paging_spec)?;
        Ok(numbers + size_of::<T>())
    }

    fn encode(&mut self, raw: &[u8], wire: &mut [u8]) -> Result<usize> {
        let (numbers, tail) = raw.split_at(raw.len() / size_of::<T>() * size_of::<T>());
        // A message in the middle of a file may be unaligned.
        let numbers = bytemuck::try_cast_slice(numbers)
            .map_or_else(|_| Cow::Owned(bytemuck::allocation::pod_collect_to_vec(numbers)), Cow::Borrowed);
        let mut wire = simple_compress_into::<T, _>(&numbers, &self.config, Cursor::new(wire))?;
        std::io::Write::write_all(&mut wire, tail)?;
        Ok(usize::try_from(wire.position())?)
    }

    fn decode(&mut self, wire: &[u8], raw: &mut [u8]) -> Result<()> {
        let (numbers, tail) = raw.split_at_mut(raw.len() / size_of::<T>() * size_of::<T>());
        let (wire, wire_tail) =
            wire.split_at_checked(wire.len().wrapping_sub(tail.len())).ok_or("shorter than its tail")?;
        let numbers = bytemuck::try_cast_slice_mut(numbers).map_err(|error| error.to_string())?;
        simple_decompress_into::<T>(wire, numbers)?;
        tail.copy_from_slice(wire_tail);
        Ok(())
    }
}
