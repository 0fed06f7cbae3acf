//! Errors inside the library, and their form outside: a code, and a text kept by the thread.

use crate::mpress_status;
use mpress::{DecodeError, DecodeErrorKind, FrameError, SettingsError};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A code and its text.
#[derive(Debug)]
pub(crate) struct Error {
    status: mpress_status,
    text: String,
}

impl Error {
    pub(crate) fn new(status: mpress_status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::new(mpress_status::Argument, text)
    }

    /// The error that the argument `name` is NULL.
    pub(crate) fn null(name: &str) -> Self {
        Self::argument(format!("{name} is NULL"))
    }

    pub(crate) fn room(needed: usize, available: usize) -> Self {
        let text = format!("memory for the result too small: {needed} bytes needed, {available} available");
        Self::new(mpress_status::Room, text)
    }

    fn panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::new(mpress_status::Internal, format!("internal error: {}", text.unwrap_or("no message")))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let status = match error.kind {
            DecodeErrorKind::Unsupported => mpress_status::Unsupported,
            DecodeErrorKind::Unfilled => mpress_status::Internal,
            _ => mpress_status::Damaged,
        };
        Self::new(status, error.to_string())
    }
}

impl From<FrameError> for Error {
    fn from(error: FrameError) -> Self {
        let status = match error {
            FrameError::Damaged(error) => Self::from(error).status,
            FrameError::Codec(_) => mpress_status::Unsupported,
            FrameError::Reference(_) => mpress_status::Damaged,
        };
        Self::new(status, error.to_string())
    }
}

impl From<SettingsError> for Error {
    fn from(error: SettingsError) -> Self {
        Self::new(mpress_status::Settings, error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the text of the last error of this thread: one line, "" if there was none. Successful
/// calls do not change it.
///
/// The text belongs to the library and is valid until the next error of the same thread, or the end
/// of the thread. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_last_error() -> *const c_char {
    // The address remains valid after the borrow: only `keep` replaces the text.
    let last = LAST.try_with(|last| last.try_borrow().map_or(c"".as_ptr(), |last| last.as_ptr()));
    // In a destructor of the thread that runs after ours.
    last.unwrap_or(c"".as_ptr())
}

fn keep(text: &str) {
    let line: Vec<u8> = text.bytes().map(|byte| if byte < b' ' { b' ' } else { byte }).collect();
    let line = CString::new(line).unwrap_or_default();
    // A thread that is ending no longer reads the text.
    let _ = LAST.try_with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            *last = line;
        }
    });
}

/// Runs the body of a function, and converts its error or panic to a code.
///
/// Partial changes of a panicking call are never visible later: the engine's locks protect counters
/// and pools that are valid at any time, and a codec refuses work after a panic.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Error>) -> mpress_status {
    let error = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return mpress_status::Ok,
        Ok(Err(error)) => error,
        Err(payload) => Error::panic(&*payload),
    };
    keep(&error.text);
    error.status
}

/// The same for functions that return static text; NULL is an error.
pub(crate) fn guard_text(work: impl FnOnce() -> Option<&'static CStr>) -> *const c_char {
    let mut text = std::ptr::null();
    guard(|| {
        text = work().map_or(std::ptr::null(), CStr::as_ptr);
        Ok(())
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: the text is valid until the next error of this thread.
        unsafe { CStr::from_ptr(mpress_last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_becomes_a_code_with_its_text() {
        assert_eq!(last(), "");
        assert_eq!(guard(|| panic!("provoked\nby a {}", "test")), mpress_status::Internal);
        assert_eq!(last(), "internal error: provoked by a test");
        assert_eq!(guard(|| panic!("provoked")), mpress_status::Internal);
        assert_eq!(last(), "internal error: provoked");
        assert_eq!(guard(|| std::panic::panic_any(7)), mpress_status::Internal);
        assert_eq!(last(), "internal error: no message");
        assert_eq!(guard(|| Ok(())), mpress_status::Ok);
        assert_eq!(last(), "internal error: no message", "a success leaves the text");
        assert!(guard_text(|| panic!("provoked")).is_null());
    }

    #[test]
    fn each_thread_has_its_own_text() {
        guard(|| Err(Error::argument("of the first")));
        let other = std::thread::spawn(|| {
            let before = last();
            guard(|| Err(Error::argument("of the second\0!")));
            (before, last())
        });
        assert_eq!(other.join().unwrap(), (String::new(), "of the second !".to_owned()));
        assert_eq!(last(), "of the first");
    }
}
