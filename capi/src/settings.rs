//! Settings, with the names and values of the environment variables.

use crate::error::{Error, guard};
use crate::memory::{self, Answer};
use crate::mpress_status;
use mpress::Settings;
use std::ffi::{OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The variable with the name of the settings file.
const CONFIG: &str = "MPRESS_CONFIG";
const PREFIX: &str = "MPRESS_";

/// Settings for engines: those of docs/settings.md of the project, by the names of their
/// environment variables.
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

    /// A copy with one variable set.
    fn with(&self, name: &OsStr, value: &OsStr) -> Result<Self, Error> {
        let others = self.vars.iter().filter(|(other, _)| other != name).cloned();
        Self::from(others.chain([(name.to_owned(), value.to_owned())]).collect())
    }
}

impl mpress_settings {
    /// Changes are made completely or not at all, so a panic leaves no partial change.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self) -> Settings {
        self.state().settings.clone()
    }
}

/// Creates settings and stores them at `place`.
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

/// Creates settings with default values. Free `*settings` with mpress_settings_free. Thread-safe.
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

/// Creates settings from the environment variables whose names begin with MPRESS_, and the file
/// named by MPRESS_CONFIG, if it is set. Variables take precedence over the file. Free `*settings`
/// with mpress_settings_free; on an error it is NULL. Variables that are not settings are ignored:
/// environment modules set such names, for example MPRESS_ROOT.
///
/// Thread-safe, as long as no other thread changes the environment at the same time.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if a setting has an invalid value, a key in the file is unknown, or the file
/// cannot be read. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_from_env(settings: *mut *mut mpress_settings) -> mpress_status {
    let is_ours = |(name, _): &(OsString, OsString)| name.as_bytes().starts_with(PREFIX.as_bytes());
    // SAFETY: guaranteed by the caller.
    unsafe { make(settings, || State::from(std::env::vars_os().filter(is_ours).collect())) }
}

/// Creates settings from a file in TOML (its keys are in docs/settings.md of the project). Free
/// `*settings` with mpress_settings_free; on an error it is NULL. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if the file cannot be read, or a key in it is unknown or has an invalid
/// value. MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `path` is NULL or a zero-terminated string; `settings` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_settings_from_file(
    path: *const c_char,
    settings: *mut *mut mpress_settings,
) -> mpress_status {
    let state = || {
        // SAFETY: guaranteed by the caller.
        let path = OsStr::from_bytes(unsafe { memory::text(path, "path") }?.to_bytes());
        // An empty variable counts as unset.
        if path.is_empty() {
            return Err(Error::argument("path is empty"));
        }
        State::default().with(CONFIG.as_ref(), path)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { make(settings, state) }
}

/// Sets one setting, as if the environment variable `name` (such as "MPRESS_STRATEGY") had this
/// value; "" means not set. It takes precedence over a file, even one that is set later. Engines
/// that have been created already do not change. Thread-safe.
///
/// # Errors
/// MPRESS_STATUS_SETTINGS if the name is unknown or the value invalid; the settings are then
/// unchanged. MPRESS_GUIDE must be set before MPRESS_STRATEGY is set to "guided".
/// MPRESS_STATUS_ARGUMENT.
///
/// # Safety
/// `settings` is NULL or not freed yet; `name` and `value` are NULL or zero-terminated strings.
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
        // The environment may contain other variables; here, they are an error.
        if !name.to_bytes().starts_with(PREFIX.as_bytes()) {
            let text = format!("{}: unknown setting (names begin with {PREFIX})", name.to_string_lossy());
            return Err(Error::new(mpress_status::Settings, text));
        }
        let mut state = settings.state();
        let with = state.with(OsStr::from_bytes(name.to_bytes()), OsStr::from_bytes(value.to_bytes()))?;
        // The environment may have had a variable of this name; there it is ignored.
        if with.settings.unknown.iter().any(|known| known.as_bytes() == name.to_bytes()) {
            let text = format!("{}: unknown setting", name.to_string_lossy());
            return Err(Error::new(mpress_status::Settings, text));
        }
        *state = with;
        Ok(())
    })
}

/// Stores in `*text` all settings in the format of a settings file (TOML). Free `*text` with
/// mpress_text_free; on an error it is NULL. Thread-safe.
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

/// Frees settings. NULL is allowed. No other call may be using them; engines created with them do
/// not use them any more.
#[unsafe(no_mangle)]
pub extern "C" fn mpress_settings_free(settings: Option<Box<mpress_settings>>) {
    guard(|| {
        drop(settings);
        Ok(())
    });
}

/// Frees a text stored by a function of this library. NULL is allowed.
///
/// # Safety
/// `text` is NULL or such a text, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpress_text_free(text: *mut c_char) {
    guard(|| {
        // SAFETY: guaranteed by the caller.
        unsafe { memory::free(text) };
        Ok(())
    });
}
