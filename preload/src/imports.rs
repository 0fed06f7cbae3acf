//! What a loaded library imports, read from its tables in memory. The layout is that of the ELF specification and, for the hash
//! tables, of the GNU tools.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const RTLD_DL_LINKMAP: i32 = 2;

/// The beginning of the loader's record of a library (`link.h`).
#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *const Dynamic,
}

#[repr(C)]
struct Dynamic {
    tag: i64,
    value: usize,
}

/// Whether the library that has this function imports a function of this name. Where that cannot be seen, it does not.
pub(crate) fn imports(function: *mut c_void, name: &CStr) -> bool {
    // SAFETY: a struct of pointers, for which null is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let mut map: *mut c_void = ptr::null_mut();
    // SAFETY: any address may be asked about; places for the answers.
    let found = unsafe { libc::dladdr1(function, &raw mut info, &raw mut map, RTLD_DL_LINKMAP) };
    if found == 0 || map.is_null() {
        return false;
    }
    // SAFETY: the loader's record of a library that is loaded; this is how it begins.
    let map = unsafe { &*map.cast::<LinkMap>() };
    // SAFETY: a library's dynamic section and what it leads to are mapped as long as the library, whose function the program is about to call.
    unsafe { undefined(map).any(|symbol| symbol == name) }
}

/// The names of the symbols that a library uses and does not define.
///
/// # Safety
/// `map` must be the record of a library that stays loaded.
unsafe fn undefined<'a>(map: &LinkMap) -> impl Iterator<Item = &'a CStr> + use<'a> {
    let table = |tag| {
        // SAFETY: the section ends with `DT_NULL`.
        let value = unsafe { entry(map.dynamic, tag) }?;
        // Loaders add the base in place for most architectures.
        Some(if value < map.base { value + map.base } else { value })
    };
    let (names, symbols) = (table(DT_STRTAB), table(DT_SYMTAB));
    let count = match (table(DT_GNU_HASH), table(DT_HASH)) {
        // Buckets, then the index of the first symbol that is in the table: those that are not defined come before. (A library that
        // defines none has no such table worth the name.)
        // SAFETY: the head of the table, four words.
        (Some(hash), _) => unsafe { *(hash as *const u32).add(1) },
        // Buckets, then chains, of which there is one for each symbol.
        // SAFETY: the head of the table, two words.
        (None, Some(hash)) => unsafe { *(hash as *const u32).add(1) },
        (None, None) => 0,
    };
    let (names, symbols, count) =
        names.zip(symbols).map_or((0, 0, 0), |(names, symbols)| (names, symbols, count));
    // The first has no name.
    (1..count as usize).filter_map(move |index| {
        // SAFETY: the table of symbols has as many, by the hash table.
        let symbol = unsafe { &*(symbols as *const libc::Elf64_Sym).add(index) };
        // SAFETY: names of symbols are C strings at these offsets.
        (symbol.st_shndx == 0)
            .then(|| unsafe { CStr::from_ptr((names + symbol.st_name as usize) as *const c_char) })
    })
}

/// The value of the first entry with this tag.
///
/// # Safety
/// `entries` must end with `DT_NULL`.
unsafe fn entry(mut entries: *const Dynamic, tag: i64) -> Option<usize> {
    loop {
        // SAFETY: the end has not been reached.
        let entry = unsafe { &*entries };
        match entry.tag {
            DT_NULL => return None,
            found if found == tag => return Some(entry.value),
            // SAFETY: this was not the end.
            _ => entries = unsafe { entries.add(1) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_imports_from_its_loader() {
        let function = libc::getpid as *mut c_void;
        assert!(imports(function, c"_rtld_global_ro"));
        assert!(!imports(function, c"MPI_Init") && !imports(function, c"getpid") && !imports(function, c""));
    }

    #[test]
    fn what_belongs_to_no_library_imports_nothing() {
        let mut local = 0;
        assert!(!imports((&raw mut local).cast::<c_void>(), c"_rtld_global_ro"));
        assert!(!imports(ptr::null_mut(), c"_rtld_global_ro"));
    }
}
