//! The codes that functions return, and the version.

use std::ffi::{CStr, c_char, c_int};

/// What came of a call. The text of an error is given by mpress_last_error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum mpress_status {
    /// Success.
    Ok = 0,
    /// An argument is NULL where it must not be, or out of its range.
    Argument = 1,
    /// A setting is unknown, has a wrong value, or names a file that cannot be used.
    Settings = 2,
    /// No codec has this name, or it is not made for this element kind.
    Codec = 3,
    /// The memory for the result is too small. The length that is needed has been stored.
    Room = 4,
    /// The frame or the encoded message is damaged.
    Damaged = 5,
    /// The frame was made by a codec or in a way that this library does not support.
    Unsupported = 6,
    /// The processes of the job have different versions or settings, or wrong ones.
    Disagreement = 7,
    /// An error in this library itself (a panic that was caught). Please report it.
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

/// What an mpress_status means, in a few words. `status` may be any number. The text is static:
/// never NULL, not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_status_text(status: c_int) -> *const c_char {
    let text = usize::try_from(status).ok().and_then(|status| TEXTS.get(status));
    text.map_or(c"unknown status", |text| text).as_ptr()
}

/// The version of this library, such as "0.1.0". The text is static: not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
