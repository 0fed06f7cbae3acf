//! Settings, by the names and values of the environment variables.

use crate::error::{Error, guard};
use crate::memory::{self, Answer};
use crate::mpress_status;
use mpress::Settings;
use std::ffi::{OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The variable that names a file of settings.
const CONFIG: &str = "MPRESS_CONFIG";
const PREFIX: &str = "MPRESS_";

/// Settings for engines. They are those of docs/settings.md of the project, by their environment
/// variables' names.
pub struct mpress_settings {
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    vars: Vec<(OsString, OsString)>,
    settings: Settings,
}

impl State {
    fn from(vars: Vec<(OsString, OsString)>) -> Result<Self, Error> {
        let settings = Settings::from_vars(vars.iter().cloned())?;
        Ok(Self { vars, settings })
    }

    /// The same with one variable set, or set anew.
    fn with(&self, name: &OsStr, value: &OsStr) -> Result<Self, Error> {
        let others = self.vars.iter().filter(|(other, _)| other != name).cloned();
        Self::from(others.chain([(name.to_owned(), value.to_owned())]).collect())
    }
}

impl mpress_settings {
    /// A change is made as a whole or not at all, so a panic leaves nothing half done.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self) -> Settings {
        self.state().settings.clone()
    }
}

/// Makes settings, and hands them over.
///
/// # Safety
/// `place` is NULL or writable.
unsafe fn make(
    place: *mut *mut mpress_settings,
    state: impl FnOnce() -> Result<State, Error>,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(place, "settings", ptr::null_mut()) }?;
        answer.give(mpress_settings { state: Mutex::new(state()?) });
        Ok(())
    })
}

/// Makes settings that are all at their defaults. `*settings` is to be freed by
/// mpress_settings_free. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_new(settings: *mut *mut mpress_settings) -> mpress_status {
    // SAFETY: guaranteed by the caller.
    unsafe { make(settings, || Ok(State::default())) }
}

/// Makes settings from the environment variables whose names begin with MPRESS_, and the file that
/// MPRESS_CONFIG names, if it is set. Variables take precedence over the file. `*settings` is to be
/// freed by mpress_settings_free; on an error it is NULL.
///
/// Thread-safe, as long as no other thread changes the environment meanwhile.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if a variable or a key of the file is unknown or has a wrong value, or
/// the file cannot be read. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_from_env(settings: *mut *mut mpress_settings) -> mpress_status {
    let is_ours = |(name, _): &(OsString, OsString)| name.as_bytes().starts_with(PREFIX.as_bytes());
    // SAFETY: guaranteed by the caller.
    unsafe { make(settings, || State::from(std::env::vars_os().filter(is_ours).collect())) }
}

/// Makes settings from a file in TOML (docs/settings.md of the project has the keys). `*settings`
/// is to be freed by mpress_settings_free; on an error it is NULL. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if the file cannot be read, or a key of it is unknown or has a wrong
/// value. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `path` is NULL or a text that ends in a zero byte; `settings` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_from_file(
    path: *const c_char,
    settings: *mut *mut mpress_settings,
) -> mpress_status {
    let state = || {
        // SAFETY: guaranteed by the caller.
        let path = OsStr::from_bytes(unsafe { memory::text(path, "path") }?.to_bytes());
        // An empty variable is as good as none.
        if path.is_empty() {
            return Err(Error::argument("path is empty"));
        }
        State::default().with(CONFIG.as_ref(), path)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { make(settings, state) }
}

/// Sets one of them, as if the environment variable `name` (such as "MPRESS_STRATEGY") had this
/// value; "" is the default. It takes precedence over a file, also if that is named later. Engines
/// that were made before do not change. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if the name is unknown or the value wrong; the settings stay as they
/// were. MPRESS_GUIDE must be set before MPRESS_STRATEGY is set to "guided".
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or not freed yet; `name` and `value` are NULL or texts that end in a zero
/// byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_set(
    settings: Option<&mpress_settings>,
    name: *const c_char,
    value: *const c_char,
) -> mpress_status {
    guard(|| {
        let settings = settings.ok_or_else(|| Error::null("settings"))?;
        // SAFETY: guaranteed by the caller.
        let (name, value) = unsafe { (memory::text(name, "name")?, memory::text(value, "value")?) };
        // The environment may hold anything else; here it is a mistake.
        if !name.to_bytes().starts_with(PREFIX.as_bytes()) {
            let text = format!("{}: unknown setting (names begin with {PREFIX})", name.to_string_lossy());
            return Err(Error::new(mpress_status::Settings, text));
        }
        let mut state = settings.state();
        *state = state.with(OsStr::from_bytes(name.to_bytes()), OsStr::from_bytes(value.to_bytes()))?;
        Ok(())
    })
}

/// Stores in `*text` all settings in the form of a file of settings (TOML). `*text` is to be freed
/// by mpress_text_free; on an error it is NULL. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or not freed yet; `text` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_text(
    settings: Option<&mpress_settings>,
    text: *mut *mut c_char,
) -> mpress_status {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        let answer = unsafe { Answer::at(text, "text", ptr::null_mut()) }?;
        let settings = settings.ok_or_else(|| Error::null("settings"))?;
        answer.give_text(settings.get().to_toml())
    })
}

/// Frees settings. NULL is allowed. No other call may be using them; engines that were made with
/// them are not.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_settings_free(settings: Option<Box<mpress_settings>>) {
    guard(|| {
        drop(settings);
        Ok(())
    });
}

/// Frees a text that a function of this library has stored. NULL is allowed.
///
/// # Safety
/// `text` is NULL or such a text, and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_text_free(text: *mut c_char) {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        unsafe { memory::free(text) };
        Ok(())
    });
}
