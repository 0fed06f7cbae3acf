//! Files and other streams of bytes in compressed chunks (feature `std`). Normative layout: `docs/format/message.md`, "Files".
#![forbid(unsafe_code)]

use crate::{Codec, compress_with, decompress_with};
use alloc::format;
use alloc::vec::Vec;
use core::fmt::Display;
use std::io::{self, BufRead, Error, ErrorKind, Read, Write};

/// The maximum number of raw bytes in a chunk.
pub const CHUNK: usize = 256 << 10;
/// The maximum length in bytes of the message made from a chunk.
const MOST: u32 = 1 << 20;

/// Compresses what is written to it with the codec `C`, chunk by chunk. [`finish`](Self::finish) writes the last chunk and the end mark; a reader
/// refuses a file without it.
#[derive(Debug)]
pub struct Writer<C: Codec, W: Write> {
    encoder: C::Encoder,
    to: W,
    chunk: Vec<u8>,
}

impl<C: Codec, W: Write> Writer<C, W> {
    /// A writer with the codec's default encoder.
    #[must_use]
    pub fn new(to: W) -> Self {
        Self::with_encoder(C::encoder(), to)
    }

    /// A writer with this encoder.
    #[must_use]
    pub fn with_encoder(encoder: C::Encoder, to: W) -> Self {
        Self { encoder, to, chunk: Vec::new() }
    }

    /// Writes the remaining data and the end mark, flushes, and returns the inner writer.
    ///
    /// # Errors
    /// Errors of the inner writer; `OutOfMemory`.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_chunk()?;
        self.to.write_all(&[0; 4])?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let message = compress_with(C::ID, &mut self.encoder, &self.chunk);
        let message = message.map_err(|error| Error::new(ErrorKind::OutOfMemory, error))?;
        let length = u32::try_from(message.len()).ok().filter(|length| *length <= MOST);
        let length = length.ok_or_else(|| Error::other("the codec expanded a chunk fourfold"))?;
        self.to.write_all(&length.to_le_bytes())?;
        self.to.write_all(&message)?;
        self.chunk.clear();
        Ok(())
    }
}

impl<C: Codec, W: Write> Write for Writer<C, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.chunk.len() == CHUNK {
            self.write_chunk()?;
        }
        let some = &bytes[..bytes.len().min(CHUNK - self.chunk.len())];
        self.chunk.extend_from_slice(some);
        Ok(some.len())
    }

    /// Flushes the chunks compressed so far. A partial chunk stays here until [`finish`](Self::finish).
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Reads what a [`Writer`] of the same codec has written. The input need not be trusted: a reader needs memory for one chunk, and damage is an error.
#[derive(Debug)]
pub struct Reader<C: Codec, R: Read> {
    decoder: C::Decoder,
    from: R,
    message: Vec<u8>,
    chunk: Vec<u8>,
    /// How much of the chunk has been read.
    at: usize,
    /// Where the next chunk begins, counted from the start of the reader.
    next: u64,
    is_over: bool,
}

impl<C: Codec, R: Read> Reader<C, R> {
    /// A reader.
    #[must_use]
    pub fn new(from: R) -> Self {
        let (decoder, message, chunk) = (C::decoder(), Vec::new(), Vec::new());
        Self { decoder, from, message, chunk, at: 0, next: 0, is_over: false }
    }

    /// The inner reader; after everything was read, it is just past the end.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.from
    }

    fn read_chunk(&mut self) -> io::Result<()> {
        let mut length = [0; 4];
        let cut =
            || Error::new(ErrorKind::UnexpectedEof, "no end mark at the end (was `Writer::finish` called?)");
        // That of an inner reader says more.
        let is_end = |error: &Error| error.kind() == ErrorKind::UnexpectedEof && error.get_ref().is_none();
        let whole = |error: Error| if is_end(&error) { cut() } else { error };
        self.from.read_exact(&mut length).map_err(whole)?;
        let length = u32::from_le_bytes(length);
        if length == 0 {
            self.is_over = true;
            return Ok(());
        }
        let start = self.next;
        let invalid =
            |what: &dyn Display| Error::new(ErrorKind::InvalidData, format!("chunk at byte {start}: {what}"));
        if length > MOST {
            return Err(invalid(&"longer than any that is written"));
        }
        self.message.clear();
        // The memory grows with the bytes that arrive.
        (&mut self.from).take(u64::from(length)).read_to_end(&mut self.message)?;
        if self.message.len() < length as usize {
            return Err(cut());
        }
        let chunk = decompress_with(C::ID, &mut self.decoder, &self.message, CHUNK);
        self.chunk = chunk.map_err(|error| invalid(&error))?;
        self.at = 0;
        if self.chunk.is_empty() {
            return Err(invalid(&"no bytes"));
        }
        self.next = start + 4 + u64::from(length);
        Ok(())
    }
}

impl<C: Codec, R: Read> BufRead for Reader<C, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() && !self.is_over {
            (self.chunk, self.at) = (Vec::new(), 0);
            self.read_chunk()?;
        }
        Ok(&self.chunk[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at = self.chunk.len().min(self.at + bytes);
    }
}

impl<C: Codec, R: Read> Read for Reader<C, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(room)?;
        self.consume(read);
        Ok(read)
    }
}
