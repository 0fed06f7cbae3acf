//! GPU memory, which the host must not access. The GPU libraries that the program has loaded say whether an address is in such memory. The shim loads
//! none of them.
//!
//! A program may load them at any time, also privately (`RTLD_LOCAL`). The dynamic linker counts the objects that it has loaded, so one look at that
//! number tells whether there are new ones to examine.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{ptr, sync::PoisonError, sync::RwLock};

/// The GPU libraries found, by full name. They stay loaded, since we hold a reference.
static RUNTIMES: RwLock<Vec<(CString, Option<Runtime>)>> = RwLock::new(Vec::new());

/// Whether there is a library that can be asked.
static ANY: AtomicBool = AtomicBool::new(false);

/// Number of objects that had been loaded at the last look.
static SEEN: AtomicU64 = AtomicU64::new(0);

/// Whether only a GPU, or the GPU's library, may access this address. Memory that host and GPU share counts, too: the MPI knows best how to transfer
/// it.
pub(crate) fn is_device(ptr: *const c_void) -> bool {
    let loaded = loaded();
    if SEEN.load(Ordering::Acquire) != loaded {
        look(loaded);
    }
    if ptr.is_null() || !ANY.load(Ordering::Acquire) {
        return false;
    }
    let runtimes = RUNTIMES.read().unwrap_or_else(PoisonError::into_inner);
    runtimes.iter().filter_map(|(_, runtime)| runtime.as_ref()).any(|runtime| runtime.owns(ptr))
}

/// Whether such memory may exist.
pub(crate) fn is_any() -> bool {
    is_device(std::ptr::null()) || ANY.load(Ordering::Acquire)
}

/// Shows `see` the objects that this process has loaded, at least one, the program, until it returns true.
fn each_object<F: FnMut(&libc::dl_phdr_info) -> bool>(mut see: F) {
    unsafe extern "C" fn pass_on<F: FnMut(&libc::dl_phdr_info) -> bool>(
        info: *mut libc::dl_phdr_info,
        _: usize,
        see: *mut c_void,
    ) -> c_int {
        // SAFETY: `dl_iterate_phdr` passes a valid object, and the pointer that it was given.
        unsafe { c_int::from((*see.cast::<F>())(&*info)) }
    }
    // SAFETY: a callback of the right type, and a closure that it accepts.
    unsafe { libc::dl_iterate_phdr(Some(pass_on::<F>), (&raw mut see).cast()) };
}

/// Number of objects that this process has loaded so far.
fn loaded() -> u64 {
    let mut count = 0;
    each_object(|object| {
        count = object.dlpi_adds;
        true // all objects report the same number
    });
    count
}

/// Looks for GPU libraries among the `loaded` objects.
fn look(loaded: u64) {
    // Hold none of our locks while the dynamic linker takes its own: it may be calling a constructor that sends a message.
    for name in gpu_libraries() {
        if RUNTIMES.read().unwrap_or_else(PoisonError::into_inner).iter().any(|(known, _)| *known == name) {
            continue;
        }
        let runtime = Runtime::open(&name);
        let mut runtimes = RUNTIMES.write().unwrap_or_else(PoisonError::into_inner);
        ANY.fetch_or(runtime.is_some(), Ordering::Release);
        runtimes.push((name, runtime));
    }
    SEEN.store(loaded, Ordering::Release);
}

/// The full names of the loaded GPU libraries.
fn gpu_libraries() -> Vec<CString> {
    let mut names = Vec::new();
    each_object(|object| {
        if !object.dlpi_name.is_null() {
            // SAFETY: the name of an object is a C string.
            let name = unsafe { CStr::from_ptr(object.dlpi_name) };
            names.extend(find(name).map(|_| name.to_owned()));
        }
        false
    });
    names
}

/// Looks up the functions needed from a library.
type Open = fn(Library) -> Option<Runtime>;

/// The names of the libraries, which may be followed by a version.
const LIBRARIES: [(&[u8], Open); 3] =
    [(b"libcuda.so", cuda), (b"libamdhip64.so", hip), (b"libze_loader.so", level_zero)];

/// The success code of all of them.
const SUCCESS: c_int = 0;

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE` and `HIP_POINTER_ATTRIBUTE_MEMORY_TYPE`.
const MEMORY_TYPE: c_int = 2;

/// `cuPointerGetAttribute` and `hipPointerGetAttribute`: output pointer, attribute, and address.
type PointerGetAttribute = unsafe extern "C" fn(*mut c_void, c_int, *const c_void) -> c_int;

/// A supported GPU library: CUDA's driver, AMD's HIP, or Level Zero. Names, constants and types are those of their C interfaces, which stay
/// compatible with existing binaries.
#[derive(Debug)]
enum Runtime {
    /// CUDA's driver, or HIP.
    Attributes {
        attribute: PointerGetAttribute,
        /// HIP's functions that return the thread's last error; the second one also clears it.
        last_error: Option<[unsafe extern "C" fn() -> c_int; 2]>,
        /// The greatest constant for host memory.
        host: c_int,
    },
    LevelZero {
        properties: GetAllocProperties,
        /// Our own context for each driver.
        contexts: Vec<Handle>,
    },
}

// SAFETY: context handles may be used by any thread, according to the library's interface.
unsafe impl Send for Runtime {}
// SAFETY: as above; the state is immutable.
unsafe impl Sync for Runtime {}

/// What opens a loaded object, if it is one of the GPU libraries, by its full name.
fn find(name: &CStr) -> Option<Open> {
    let file = name.to_bytes().rsplit(|&byte| byte == b'/').next()?;
    LIBRARIES.into_iter().find(|(prefix, _)| file.starts_with(prefix)).map(|(_, open)| open)
}

impl Runtime {
    /// The library of this name, if it is loaded and has the functions needed.
    fn open(name: &CStr) -> Option<Self> {
        let open = find(name)?;
        // SAFETY: a C string. Nothing is loaded, so no foreign code runs.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if library.is_null() { None } else { open(Library(library)) }
    }

    /// Whether, according to this library, the memory at `ptr` is not the host's alone. The library knows only memory that was allocated through it;
    /// all other memory is the host's.
    fn owns(&self, ptr: *const c_void) -> bool {
        match self {
            Self::Attributes { attribute, last_error, host } => {
                let mut kind = 0;
                // SAFETY: the attribute is one `unsigned int`. The address may be unknown to the library. On failure HIP records an error for the
                // thread, which the program must not find.
                unsafe {
                    let before = last_error.map_or(SUCCESS, |[peek, _]| peek());
                    let code = attribute((&raw mut kind).cast(), MEMORY_TYPE, ptr);
                    if let Some([_, clear]) = last_error.filter(|_| code != SUCCESS && before == SUCCESS) {
                        clear();
                    }
                    code == SUCCESS && kind > *host
                }
            }
            Self::LevelZero { properties, contexts } => contexts.iter().any(|context| {
                let mut found = AllocProperties::new();
                // SAFETY: our own context and a valid output pointer; that for the device is optional.
                let code = unsafe { properties(*context, ptr, &raw mut found, ptr::null_mut()) };
                code == SUCCESS && found.kind > AllocProperties::HOST
            }),
        }
    }
}

/// A loaded library.
#[derive(Clone, Copy)]
struct Library(*mut c_void);

impl Library {
    /// A function of the library.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to the function of that name.
    unsafe fn function<F: Copy>(self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: a library that stays loaded, and a C string.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        // SAFETY: the caller vouches for the type, which has the size of an address.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
    }
}

/// Uses the driver, on which all of CUDA is based. Before the program has started CUDA, it returns an error.
fn cuda(library: Library) -> Option<Runtime> {
    /// `CU_MEMORYTYPE_HOST`. 0 is no memory type.
    const HOST: c_int = 1;
    // SAFETY: its type in cuda.h.
    let attribute = unsafe { library.function(c"cuPointerGetAttribute")? };
    Some(Runtime::Attributes { attribute, last_error: None, host: HOST })
}

fn hip(library: Library) -> Option<Runtime> {
    /// `hipRuntimeGetVersion` returns ten million times the major version.
    const VERSION_6: c_int = 60_000_000;
    /// Up to ROCm 5 `hipMemoryTypeHost` is 0; from ROCm 6 on it is 1, and 0 is `hipMemoryTypeUnregistered`.
    const HOST: [c_int; 2] = [0, 1];
    // SAFETY: their types in hip_runtime_api.h; a valid output pointer for the version.
    unsafe {
        let attribute = library.function(c"hipPointerGetAttribute")?;
        let get_version: unsafe extern "C" fn(*mut c_int) -> c_int =
            library.function(c"hipRuntimeGetVersion")?;
        let peek = library.function(c"hipPeekAtLastError");
        let last_error = peek.zip(library.function(c"hipGetLastError")).map(|(peek, clear)| [peek, clear]);
        let mut version = 0;
        if get_version(&raw mut version) != SUCCESS {
            return None;
        }
        let host = HOST[usize::from(version >= VERSION_6)];
        Some(Runtime::Attributes { attribute, last_error, host })
    }
}

/// A driver or a context.
type Handle = *mut c_void;
type GetAllocProperties =
    unsafe extern "C" fn(Handle, *const c_void, *mut AllocProperties, *mut Handle) -> c_int;

/// `ze_memory_allocation_properties_t`.
#[repr(C)]
#[derive(Debug)]
struct AllocProperties {
    structure: c_int,
    next: *mut c_void,
    kind: c_int,
    id: u64,
    page_size: u64,
}

impl AllocProperties {
    /// `ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES`.
    const STRUCTURE: c_int = 0x17;
    /// `ZE_MEMORY_TYPE_HOST`. 0 is memory that Level Zero does not know.
    const HOST: c_int = 1;

    fn new() -> Self {
        Self { structure: Self::STRUCTURE, next: ptr::null_mut(), kind: 0, id: 0, page_size: 0 }
    }
}

/// `ze_context_desc_t`.
#[repr(C)]
struct ContextDesc {
    structure: c_int,
    next: *const c_void,
    flags: u32,
}

impl ContextDesc {
    /// `ZE_STRUCTURE_TYPE_CONTEXT_DESC`.
    const STRUCTURE: c_int = 0xd;
}

/// Level Zero needs a context, but each context knows all memory of its driver.
fn level_zero(library: Library) -> Option<Runtime> {
    type Init = unsafe extern "C" fn(u32) -> c_int;
    type DriverGet = unsafe extern "C" fn(*mut u32, *mut Handle) -> c_int;
    type ContextCreate = unsafe extern "C" fn(Handle, *const ContextDesc, *mut Handle) -> c_int;
    // SAFETY: their types in ze_api.h; valid output pointers, and an array with room for the number of drivers reported.
    unsafe {
        let properties = library.function(c"zeMemGetAllocProperties")?;
        let init: Init = library.function(c"zeInit")?;
        let driver_get: DriverGet = library.function(c"zeDriverGet")?;
        let context_create: ContextCreate = library.function(c"zeContextCreate")?;
        let mut count = 0;
        if init(0) != SUCCESS || driver_get(&raw mut count, ptr::null_mut()) != SUCCESS {
            return None;
        }
        let mut drivers: Vec<Handle> = vec![ptr::null_mut(); usize::try_from(count).ok()?];
        if driver_get(&raw mut count, drivers.as_mut_ptr()) != SUCCESS {
            return None;
        }
        let desc = ContextDesc { structure: ContextDesc::STRUCTURE, next: ptr::null(), flags: 0 };
        let context = |driver: &Handle| {
            let mut context = ptr::null_mut();
            (context_create(*driver, &raw const desc, &raw mut context) == SUCCESS).then_some(context)
        };
        let contexts: Vec<Handle> = drivers.iter().filter_map(context).collect();
        (!contexts.is_empty()).then_some(Runtime::LevelZero { properties, contexts })
    }
}
