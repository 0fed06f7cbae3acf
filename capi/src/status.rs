//! The status codes, and the version.

use std::ffi::{CStr, c_char, c_int};

/// The result of a call. mpress_last_error returns the text of an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mpress_status {
    /// Success.
    Ok = 0,
    /// An argument is NULL although it must not be, or out of range.
    Argument = 1,
    /// A setting is unknown, has an invalid value, or names a file that cannot be used.
    Settings = 2,
    /// No codec has this name, or it does not support this element kind.
    Codec = 3,
    /// The memory for the result is too small. The required length has been stored.
    Room = 4,
    /// The frame or the encoded message is damaged.
    Damaged = 5,
    /// The frame uses a codec or a feature that this library does not support.
    Unsupported = 6,
    /// The processes of the job have different versions or settings, or invalid ones.
    Disagreement = 7,
    /// An error in this library itself (a caught panic). Please report it.
    Internal = 8,
}

const TEXTS: [&CStr; 9] = [
    c"success",
    c"invalid argument",
    c"invalid setting",
    c"unknown codec",
    c"memory for the result too small",
    c"damaged data",
    c"unsupported data",
    c"the processes disagree",
    c"internal error",
];

/// Returns the meaning of an mpress_status, in a few words. `status` may be any number. The text is
/// static: never NULL, do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_status_text(status: c_int) -> *const c_char {
    let text = usize::try_from(status).ok().and_then(|status| TEXTS.get(status));
    text.map_or(c"unknown status", |text| text).as_ptr()
}

/// Returns the version of this library, such as "0.1.0". The text is static: do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
