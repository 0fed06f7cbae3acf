//! Codecs by name.

use crate::error::{Error, guard, guard_text};
use crate::kind;
use crate::memory::{self, Answer};
use crate::mpress_status;
use ::mpress_codec::decode_into_uninit;
use mpress::{Codec, Decoder, Encoder, Out};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard};

/// A codec for messages of one element kind: an encoder and a decoder. Concurrent calls that use
/// the same codec wait for each other, so give each thread its own.
pub struct mpress_codec {
    encoder: Mutex<Encoder>,
    decoder: Mutex<Decoder>,
}

/// Waits for other calls that use the codec. After a panic the codec may be in any state, so it is
/// refused.
fn lock<T>(codec: &Mutex<T>) -> Result<MutexGuard<'_, T>, Error> {
    let text = "this codec had an internal error before; free it and create another";
    codec.lock().map_err(|_| Error::new(mpress_status::Internal, text))
}

/// Returns the name of a codec of this library, by its index from 0; NULL if `index` is not below
/// the number of codecs. So a loop until NULL lists all. docs/codecs.md of the project describes
/// what each is good for.
///
/// The text is static: do not free it. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_codec_name(index: usize) -> *const c_char {
    static NAMES: LazyLock<Vec<CString>> =
        LazyLock::new(|| Codec::all().filter_map(|codec| CString::new(codec.name()).ok()).collect());
    guard_text(|| NAMES.get(index).map(CString::as_c_str))
}

/// Creates a codec: `name` is a name from mpress_codec_name, `kind` an mpress_kind. Free `*codec`
/// with mpress_codec_free; on an error it is NULL. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_CODEC if there is no codec with this name, or it does not support this kind.
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `name` is NULL or a zero-terminated string; `codec` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_codec_new(
    name: *const c_char,
    kind: c_int,
    codec: *mut *mut mpress_codec,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let (answer, name) =
            unsafe { (Answer::at(codec, "codec", ptr::null_mut())?, memory::text(name, "name")?) };
        answer.give(make(name, kind)?);
        Ok(())
    })
}

fn make(name: &CStr, number: c_int) -> Result<mpress_codec, Error> {
    let kind = kind::kind(number)?;
    let named = name.to_str().ok().and_then(Codec::named);
    let unknown = |what: String| Error::new(mpress_status::Codec, what);
    let codec = named.ok_or_else(|| unknown(format!("no codec is called {}", name.to_string_lossy())))?;
    let instances = codec.instances(kind);
    let (encoder, decoder) = instances
        .ok_or_else(|| unknown(format!("codec {} is not made for kind {}", codec.name(), kind.name())))?;
    Ok(mpress_codec { encoder: Mutex::new(encoder), decoder: Mutex::new(decoder) })
}

/// Stores in `*len` the number of bytes of memory that mpress_codec_encode needs for a message of
/// `raw_len` bytes. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT, also if `raw_len` is so large that no such memory can exist.
///
/// # Safety
/// `codec` is NULL or not freed yet; `len` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_codec_max_encoded_len(
    codec: Option<&mpress_codec>,
    raw_len: usize,
    len: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(len, "len", 0) }?;
        let codec = codec.ok_or_else(|| Error::null("codec"))?;
        let bound = lock(&codec.encoder)?.max_encoded_len(raw_len);
        answer.store(bound.ok_or_else(|| Error::argument(format!("no message has {raw_len} bytes")))?);
        Ok(())
    })
}

/// Encodes the `raw_len` bytes at `raw` into the memory of `room` bytes at `wire`, and stores in
/// `*len` the number of bytes written. This can be more than `raw_len` if the message does not
/// compress. `room` must be at least the value from mpress_codec_max_encoded_len. The memory must
/// not overlap the message.
///
/// Some codecs remember between messages what worked, so equal messages may give different bytes.
/// All can be decoded in any order. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ROOM if `room` is too small: `*len` is the required room; `wire` may be changed.
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `codec` is NULL or not freed yet. `raw` is readable for `raw_len` bytes and `wire` writable for
/// `room` bytes; either may be NULL if its length is 0. `len` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_codec_encode(
    codec: Option<&mpress_codec>,
    raw: *const c_void,
    raw_len: usize,
    wire: *mut c_void,
    room: usize,
    len: *mut usize,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(len, "len", 0) }?;
        let codec = codec.ok_or_else(|| Error::null("codec"))?;
        memory::apart((raw, raw_len), (wire, room))?;
        // SAFETY: guaranteed by the caller; they do not overlap.
        let (raw, wire) = unsafe { (memory::bytes(raw, raw_len, "raw")?, memory::room(wire, room, "wire")?) };
        let mut out = Out::new(wire);
        let place = out.place();
        let result = lock(&codec.encoder)?.encode(raw, &mut out);
        if let Err(error) = result {
            answer.store(error.needed);
            return Err(Error::room(error.needed, error.available));
        }
        if out.place() != place {
            return Err(Error::new(mpress_status::Internal, "the encoder wrote elsewhere"));
        }
        answer.store(out.len());
        Ok(())
    })
}

/// Decodes the `wire_len` bytes at `wire` into the `raw_len` bytes at `raw`. `raw_len` must be the
/// length of the message, which the encoded message does not contain. The memory must not overlap
/// the encoded message.
///
/// The encoded message may contain anything: there is an error, or all of `raw` is written. A codec
/// detects damage only if it leads to something that no encoder writes; other damage gives wrong
/// bytes. Frames (mpress_engine_decode) have a checksum. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_DAMAGED or MPRESS_STATUS_UNSUPPORTED if it is not the encoded form of a message of
/// this length; the contents of `raw` are then undefined. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `codec` is NULL or not freed yet. `wire` is readable for `wire_len` bytes and `raw` writable for
/// `raw_len` bytes; either may be NULL if its length is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_codec_decode(
    codec: Option<&mpress_codec>,
    wire: *const c_void,
    wire_len: usize,
    raw: *mut c_void,
    raw_len: usize,
) -> mpress_status {
    guard(|| {
        let codec = codec.ok_or_else(|| Error::null("codec"))?;
        memory::apart((wire, wire_len), (raw, raw_len))?;
        // SAFETY: guaranteed by the caller; they do not overlap.
        let (wire, raw) =
            unsafe { (memory::bytes(wire, wire_len, "wire")?, memory::room(raw, raw_len, "raw")?) };
        let mut decoder = lock(&codec.decoder)?;
        // Messages are independent: earlier ones must have no effect.
        decoder.reset();
        decode_into_uninit(&mut **decoder, wire, raw)?;
        Ok(())
    })
}

/// Frees a codec. NULL is allowed. No other call may be using the codec.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_codec_free(codec: Option<Box<mpress_codec>>) {
    guard(|| {
        drop(codec);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::mpress_codec::{DecodeError, EncodeError};
    use mpress::{Decode, Encode, Reset};

    /// Panics, or replaces the output that it is lent by another one.
    struct Faulty {
        panics: bool,
    }

    impl Faulty {
        fn work(&self, out: &mut Out<'_>) {
            assert!(!self.panics, "provoked");
            *out = Out::new(&mut []);
        }
    }

    impl Reset for Faulty {}

    impl Encode for Faulty {
        fn max_encoded_len(&self, raw_len: usize) -> Option<usize> {
            Some(raw_len)
        }
        fn encode(&mut self, _: &[u8], out: &mut Out<'_>) -> Result<(), EncodeError> {
            self.work(out);
            Ok(())
        }
    }

    impl Decode for Faulty {
        fn decode(&mut self, _: &[u8], out: &mut Out<'_>) -> Result<(), DecodeError> {
            self.work(out);
            Ok(())
        }
    }

    /// The return values of both directions, and the decoded text.
    fn outcome(codec: &mpress_codec) -> (mpress_status, mpress_status, String) {
        let (mut raw, mut wire, mut len) = ([1_u8; 8], [2_u8; 8], 7);
        let (raw, wire) = (raw.as_mut_ptr().cast(), wire.as_mut_ptr().cast());
        // SAFETY: a live codec, memory of the given lengths, and the text of this thread's last
        // error.
        unsafe {
            let encoded = mpress_codec_encode(Some(codec), raw, 8, wire, 8, &raw mut len);
            assert_eq!(len, 0);
            let decoded = mpress_codec_decode(Some(codec), wire, 8, raw, 8);
            let text = CStr::from_ptr(crate::mpress_last_error());
            (encoded, decoded, text.to_str().unwrap().to_owned())
        }
    }

    #[test]
    fn faults_of_a_codec_are_codes() {
        const INTERNAL: mpress_status = mpress_status::Internal;
        let faulty = |panics| mpress_codec {
            encoder: Mutex::new(Box::new(Faulty { panics })),
            decoder: Mutex::new(Box::new(Faulty { panics })),
        };
        let codec = faulty(true);
        assert_eq!(outcome(&codec), (INTERNAL, INTERNAL, "internal error: provoked".to_owned()));
        let (encoded, decoded, text) = outcome(&codec);
        assert_eq!((encoded, decoded), (INTERNAL, INTERNAL), "it is not used again");
        assert!(text.contains("had an internal error before"), "{text}");
        let (encoded, decoded, text) = outcome(&faulty(false));
        assert_eq!((encoded, decoded), (INTERNAL, INTERNAL), "it wrote elsewhere");
        assert!(text.contains("did not fill the output"), "{text}");
    }
}
