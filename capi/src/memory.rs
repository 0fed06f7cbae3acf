//! Memory that C hands over: checked as far as that is possible, then lent to safe code.

use crate::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// The start of `len` elements. Rust has no slices longer than `isize::MAX` bytes, nor C objects.
fn start<T>(start: *const T, len: usize, name: &str) -> Result<NonNull<T>, Error> {
    if len == 0 {
        return Ok(NonNull::dangling());
    }
    let start = NonNull::new(start.cast_mut()).ok_or_else(|| Error::null(name))?;
    if !start.is_aligned() {
        return Err(Error::argument(format!("{name} is not aligned")));
    }
    let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX.cast_unsigned());
    match bytes.and_then(|bytes| start.addr().get().checked_add(bytes)) {
        Some(_) => Ok(start),
        None => Err(Error::argument(format!("{name}: no memory has {len} elements"))),
    }
}

/// What C says is at `place`: `len` elements. NULL will do for none.
///
/// # Safety
/// Unless NULL, `place` is readable for `len` elements, and is not written to for as long as
/// `'a`.
pub(crate) unsafe fn slice<'a, T>(place: *const T, len: usize, name: &str) -> Result<&'a [T], Error> {
    let place = start(place, len, name)?;
    // SAFETY: not null, aligned, no longer than a slice may be (`start`); the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(place.as_ptr(), len) })
}

/// The bytes at `place`, as [`slice`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn bytes<'a>(place: *const c_void, len: usize, name: &str) -> Result<&'a [u8], Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { slice(place.cast(), len, name) }
}

/// The memory at `place` that a result of `len` elements is to fill. NULL will do for none.
///
/// # Safety
/// Unless NULL, `place` is writable for `len` elements, and is not read or written by others for
/// as long as `'a`.
pub(crate) unsafe fn room_for<'a, T>(
    place: *mut T,
    len: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<T>], Error> {
    let place = start(place.cast::<MaybeUninit<T>>(), len, name)?;
    // SAFETY: not null, aligned, no longer than a slice may be (`start`); it needs no initialisation; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), len) })
}

/// The memory at `place` for a result of `len` bytes, as [`room_for`].
///
/// # Safety
/// As there.
pub(crate) unsafe fn room<'a>(
    place: *mut c_void,
    len: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<u8>], Error> {
    // SAFETY: guaranteed by the caller.
    unsafe { room_for(place.cast(), len, name) }
}

/// Refuses memory for a result that overlaps what the result is made from. To be asked before there
/// is a slice of either.
pub(crate) fn apart(from: (*const c_void, usize), to: (*mut c_void, usize)) -> Result<(), Error> {
    let (from, to) = ((from.0.addr(), from.1), (to.0.addr(), to.1));
    let within = |(start, len): (usize, usize), at: usize| at >= start && at - start < len;
    if from.1 > 0 && to.1 > 0 && (within(from, to.0) || within(to, from.0)) {
        return Err(Error::argument("the memory for the result overlaps its source"));
    }
    Ok(())
}

/// A text, without its end.
///
/// # Safety
/// Unless NULL, `text` is one that ends in a zero byte, and it does not change for as long as `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a CStr, Error> {
    if text.is_null() {
        return Err(Error::null(name));
    }
    // SAFETY: not null; the rest is the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// Where C wants one value stored.
pub(crate) struct Answer<T>(NonNull<T>);

impl<T: Copy> Answer<T> {
    /// Stores `empty` there, which stays if there is an error later.
    ///
    /// # Safety
    /// Unless NULL, `place` is writable for a `T` for as long as the answer lives. It may be
    /// uninitialised.
    pub(crate) unsafe fn at(place: *mut T, name: &str, empty: T) -> Result<Self, Error> {
        let answer = Self(start(place, 1, name)?);
        answer.store(empty);
        Ok(answer)
    }

    /// Stores a value.
    pub(crate) fn store(&self, value: T) {
        // SAFETY: aligned and not null (`at`), and writable by the promise made there. There is no reference to it.
        unsafe { self.0.write(value) };
    }
}

impl<T> Answer<*mut T> {
    /// Hands an object over to C, which gives it back to be freed.
    pub(crate) fn give(&self, object: T) {
        self.store(Box::into_raw(Box::new(object)));
    }
}

impl Answer<*mut c_char> {
    /// Hands a text over to C, which gives it back to [`free`].
    pub(crate) fn give_text(&self, text: String) -> Result<(), Error> {
        let text = CString::new(text).map_err(|_| Error::argument("the text has a zero byte"))?;
        self.store(text.into_raw());
        Ok(())
    }
}

/// Frees a text that was handed over.
///
/// # Safety
/// `text` is NULL or from [`Answer::give_text`], and was not freed before.
pub(crate) unsafe fn free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: made by `CString::into_raw`, and freed once, by the caller's promise.
        drop(unsafe { CString::from_raw(text) });
    }
}
