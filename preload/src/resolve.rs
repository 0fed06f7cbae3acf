//! Fills the slots.
//!
//! There is no lock: threads that make the first call at the same time compute the same result, and so does a
//! call made by a library that the resolution itself loads.

use crate::calls::CALLS;
use crate::loaded::{self, Mpi};
use crate::tools::{self, Tool};
use crate::{IS_ACTIVE, beside, known, say, withdraw};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

/// Determines the targets of this process's calls. If no MPI is loaded yet, the slots stay as they are, and
/// the next call tries again.
pub(crate) fn resolve() {
    let mpis = loaded::mpis();
    let why = match mpis.as_slice() {
        [] => say::Line::of_job("no MPI is loaded, or one that is not known"),
        [mpi] => match attach(mpi) {
            Ok(()) => return,
            Err(why) => say::Line::of_node(why),
        },
        several => {
            let names = several.iter().map(|mpi| mpi.soname.to_string_lossy()).collect::<Vec<_>>();
            say::Line::of_job(format!("several MPIs are loaded ({})", names.join(", ")))
        }
    };
    pass(|name| {
        let own = mpis.iter().map(|mpi| mpi.own(name));
        std::iter::once(loaded::following(name)).chain(own).find(|address| !address.is_null())
    });
    withdraw::what_is_missing(&mpis);
    // If another preload library follows, that one reports it.
    if loaded::second().is_none() {
        why.say();
    }
}

/// Gives every call the target that it would have without this library, found by this search. The slot of a
/// call that is not found stays as it is.
fn pass(search: impl Fn(&CStr) -> Option<*mut c_void>) {
    for call in &CALLS {
        for (name, slot) in [(call.mpi_name, &call.mpi), (call.pmpi_name, &call.pmpi)] {
            if let Some(address) = search(name) {
                slot.set(address);
            }
        }
    }
}

/// With 0, calls bypass the shim from now on, because it handles none in this process; otherwise they go to
/// the shim again. The shim may ask for the latter when the program commits a datatype, so that call always
/// goes to the shim.
unsafe extern "C" fn lead(to_shim: c_int) {
    if to_shim == 0 {
        pass(|name| {
            let passes = !matches!(name.to_bytes(), b"MPI_Type_commit" | b"PMPI_Type_commit");
            Some(loaded::function(name)).filter(|address| passes && !address.is_null())
        });
        return;
    }
    for call in &CALLS {
        let [mpi, pmpi] = &call.handled;
        call.pmpi.set(pmpi.get());
        call.mpi.set(mpi.get());
    }
}

/// Loads the shim for this MPI, and has it handle the calls. On an error nothing is changed.
fn attach(mpi: &Mpi) -> Result<(), String> {
    let abi = mpi.abi.ok_or_else(|| format!("there is no shim for {}", mpi.soname.to_string_lossy()))?;
    if let Some(doubt) = known::contradiction(mpi, abi).or_else(|| known::doubt(mpi)) {
        return Err(doubt);
    }
    // A function that no tool wraps. A layer that translates between ABIs defines all functions, and another
    // MPI is loaded after it.
    let whose = loaded::following(c"PMPI_Comm_rank");
    if !whose.is_null() && whose != mpi.own(c"PMPI_Comm_rank") {
        return Err(format!("another library has the functions of {}", mpi.soname.to_string_lossy()));
    }
    let path = beside::shim(abi).map_err(|path| format!("there is no {}", path.display()))?;
    let file = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a C string. The file is the shim, by its name and place, and its MPI is loaded. The code that
    // runs during loading is that of any Rust library.
    let shim =
        unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE) };
    if shim.is_null() {
        return Err(loader_error());
    }
    let function = |name: &CStr| {
        // SAFETY: the handle of a library that is never closed, and a C string.
        let address = unsafe { libc::dlsym(shim, name.as_ptr()) };
        let missing =
            || format!("{} is of another version: it has no {}", path.display(), name.to_string_lossy());
        if address.is_null() { Err(missing()) } else { Ok(address) }
    };
    let take_over = function(c"mpress_shim_attach")?;
    let is_active = function(c"mpress_shim_is_active")?;
    let handlers = CALLS.iter().map(|call| function(call.handler_name)).collect::<Result<Vec<_>, _>>()?;

    mpi.choose();
    let tools: Vec<_> = CALLS.iter().map(|call| tools::after_this(call, mpi)).collect();
    for ((call, &handler), tool) in CALLS.iter().zip(&handlers).zip(&tools) {
        if let Tool::Direct(address) = *tool {
            call.detour.lead(address, handler, loaded::function(call.pmpi_name));
        }
    }
    // SAFETY: the shim's function of this name has this type.
    let take_over = unsafe { std::mem::transmute::<*mut c_void, Attach>(take_over) };
    // SAFETY: both can be called at any time from now on.
    unsafe { take_over(find, lead) };
    IS_ACTIVE.store(is_active, Ordering::Release);
    for ((call, handler), tool) in CALLS.iter().zip(handlers).zip(tools) {
        let (mpi, pmpi) = match tool {
            Tool::None => (handler, handler),
            Tool::Standard(tool) => (tool, handler),
            Tool::Direct(_) => (handler, call.detour.entry_back()),
        };
        for (slot, address) in call.handled.iter().zip([mpi, pmpi]) {
            slot.set(address);
        }
        call.pmpi.set(pmpi);
        call.mpi.set(mpi);
    }
    withdraw::what_is_missing(std::slice::from_ref(mpi));
    Ok(())
}

type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Lead = unsafe extern "C" fn(c_int);
type Attach = unsafe extern "C" fn(Find, Lead);

/// The function of this name that the shim must call.
///
/// # Safety
/// `name` must be a C string.
unsafe extern "C" fn find(name: *const c_char) -> *mut c_void {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    let detour = CALLS.iter().find(|call| call.detour.is_led() && call.pmpi_name == name);
    detour.map_or_else(|| loaded::function(name), |call| call.detour.entry_there())
}

/// The error message of the loader.
fn loader_error() -> String {
    // SAFETY: no precondition; the result is a C string or null.
    let error = unsafe { libc::dlerror() };
    if error.is_null() {
        return "the shim cannot be loaded".to_owned();
    }
    // SAFETY: as above; it is valid until this thread's next call of the loader.
    unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
}
