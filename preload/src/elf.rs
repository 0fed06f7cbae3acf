//! Loaded libraries, read from their tables in memory: the symbols that they define and use, and the places
//! where the loader stored addresses. The layout is that of the ELF specification and, for the hash tables,
//! of the GNU tools.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_SONAME: i64 = 14;
const DT_JMPREL: i64 = 23;
const DT_GNU_HASH: i64 = 0x6fff_fef5;
const RTLD_DL_LINKMAP: c_int = 2;
const RTLD_DI_LINKMAP: c_int = 2;
const STB_WEAK: u8 = 2;

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

/// A relocation: a word that the loader fills in, for a symbol.
#[repr(C)]
struct Rela {
    offset: usize,
    info: u64,
    addend: i64,
}

/// A library or program, valid while it is loaded.
#[derive(Clone, Copy)]
pub(crate) struct Object {
    base: usize,
    dynamic: *const Dynamic,
}

/// A library's symbol table.
#[derive(Clone, Copy)]
struct Symbols {
    names: usize,
    entries: *mut libc::Elf64_Sym,
}

impl Symbols {
    /// The symbol of this index, which must be below the count.
    fn get(&self, index: usize) -> Symbol {
        // SAFETY: the index is below the number of entries, and the table is mapped as long as the library.
        let entry = unsafe { self.entries.add(index) };
        // SAFETY: names of symbols are C strings at these offsets.
        let name = unsafe { CStr::from_ptr((self.names + (*entry).st_name as usize) as *const c_char) };
        Symbol { name, entry }
    }
}

/// An entry of a library's symbol table.
#[derive(Clone, Copy)]
pub(crate) struct Symbol {
    pub(crate) name: &'static CStr,
    pub(crate) entry: *mut libc::Elf64_Sym,
}

impl Symbol {
    fn get(&self) -> &libc::Elf64_Sym {
        // SAFETY: an entry of a table that is mapped as long as its library.
        unsafe { &*self.entry }
    }

    /// Whether the library defines it.
    pub(crate) fn is_defined(&self) -> bool {
        self.get().st_shndx != 0 && self.get().st_value != 0
    }
}

impl Object {
    /// The library that contains this address.
    pub(crate) fn of_address(address: *const c_void) -> Option<Self> {
        // SAFETY: a struct of pointers, for which null is a valid value.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        let mut map: *mut c_void = ptr::null_mut();
        // SAFETY: any address may be looked up; places for the results.
        let found = unsafe { libc::dladdr1(address, &raw mut info, &raw mut map, RTLD_DL_LINKMAP) };
        if found == 0 { None } else { Self::of_map(map.cast()) }
    }

    /// The library of this handle, which `dlopen` returned.
    pub(crate) fn of_handle(handle: *mut c_void) -> Option<Self> {
        let mut map: *mut LinkMap = ptr::null_mut();
        // SAFETY: the caller's handle, and a place for the result.
        let failed = unsafe { libc::dlinfo(handle, RTLD_DI_LINKMAP, (&raw mut map).cast()) };
        if failed == 0 { Self::of_map(map) } else { None }
    }

    fn of_map(map: *const LinkMap) -> Option<Self> {
        // SAFETY: null, or the loader's record of a loaded library, which begins in this way.
        let map = unsafe { map.as_ref() }?;
        (!map.dynamic.is_null()).then_some(Self { base: map.base, dynamic: map.dynamic })
    }

    /// Calls `show` for each loaded library, with its path. The loader holds its lock meanwhile: `show` must
    /// not load libraries. The kernel's own library (vDSO) is left out: kernels before 3.16 link it to
    /// another address than it has, and no loader corrects its tables.
    pub(crate) fn each(mut show: impl FnMut(&CStr, Self)) {
        unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, show: *mut c_void) -> c_int {
            // SAFETY: the loader's description of a library, and the pointer given below.
            let (info, show) = unsafe { (&*info, &mut *show.cast::<&mut dyn FnMut(&CStr, Object)>()) };
            // SAFETY: the loader gives the number of headers.
            let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
            let base = info.dlpi_addr as usize;
            let address = |kind| {
                let header = headers.iter().find(|header| header.p_type == kind)?;
                Some(base.wrapping_add(header.p_vaddr as usize))
            };
            // SAFETY: no memory is passed.
            let kernels = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
            if let Some(dynamic) = address(libc::PT_DYNAMIC)
                && address(libc::PT_LOAD) != Some(kernels)
                && !info.dlpi_name.is_null()
            {
                let dynamic = dynamic as *const Dynamic;
                // SAFETY: the loader's name of the library, a C string.
                show(unsafe { CStr::from_ptr(info.dlpi_name) }, Object { base, dynamic });
            }
            0
        }
        let mut show: &mut dyn FnMut(&CStr, Self) = &mut show;
        // SAFETY: a function of this type, and the pointer that it expects.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut show).cast()) };
    }

    /// The value of the first entry with this tag.
    fn entry(&self, tag: i64) -> Option<usize> {
        let mut entries = self.dynamic;
        loop {
            // SAFETY: the section ends with `DT_NULL`, which has not been reached.
            let entry = unsafe { &*entries };
            match entry.tag {
                DT_NULL => return None,
                found if found == tag => return Some(entry.value),
                // SAFETY: this was not the end.
                _ => entries = unsafe { entries.add(1) },
            }
        }
    }

    /// The address of the table with this tag.
    fn table(&self, tag: i64) -> Option<usize> {
        // On most architectures, loaders add the base in place.
        self.entry(tag).map(|value| if value < self.base { value.wrapping_add(self.base) } else { value })
    }

    /// The name that the library gives itself.
    pub(crate) fn soname(&self) -> Option<&'static CStr> {
        let name = self.table(DT_STRTAB)?.wrapping_add(self.entry(DT_SONAME)?);
        // SAFETY: the entry is the offset of a C string in the table of strings, which is mapped as long as
        // the library.
        Some(unsafe { CStr::from_ptr(name as *const c_char) })
    }

    /// The number of symbols, which no table states directly.
    fn count(&self) -> usize {
        if let Some(hash) = self.table(DT_HASH) {
            // SAFETY: the table begins with two words, the number of buckets and the number of chain entries,
            // of which there is one for each symbol.
            return unsafe { *(hash as *const u32).add(1) as usize };
        }
        let Some(hash) = self.table(DT_GNU_HASH) else { return 0 };
        let word = hash as *const u32;
        // SAFETY: the table begins with four words; then follow a filter of 64-bit words, the buckets, and a
        // chain entry for each symbol from the first one in the table. The last entry of a chain has its
        // lowest bit set.
        unsafe {
            let (buckets, first, filter) = (*word as usize, *word.add(1) as usize, *word.add(2) as usize);
            let bucket = word.add(4 + 2 * filter);
            let last = (0..buckets).map(|index| *bucket.add(index) as usize).max().unwrap_or(0);
            if last < first {
                return first;
            }
            let chain = bucket.add(buckets);
            let length = (last - first..).position(|index| *chain.add(index) & 1 != 0);
            last + length.unwrap_or(0) + 1
        }
    }

    /// The symbol table.
    fn table_of_symbols(&self) -> Option<Symbols> {
        Some(Symbols {
            names: self.table(DT_STRTAB)?,
            entries: self.table(DT_SYMTAB)? as *mut libc::Elf64_Sym,
        })
    }

    /// The symbols that the library defines or uses. The first entry of a table is not a symbol.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        let table = self.table_of_symbols().map(|table| (table, self.count()));
        table.into_iter().flat_map(|(table, count)| (1..count).map(move |index| table.get(index)))
    }

    /// The address of a symbol that the library defines.
    pub(crate) fn address(&self, symbol: &Symbol) -> usize {
        self.base.wrapping_add(symbol.get().st_value as usize)
    }

    /// Whether the library uses a symbol of this name and does not define it.
    pub(crate) fn imports(&self, name: &CStr) -> bool {
        self.symbols().any(|symbol| symbol.get().st_shndx == 0 && symbol.name == name)
    }

    /// The places where the loader stored the addresses of weakly referenced symbols.
    pub(crate) fn optional(&self) -> impl Iterator<Item = (Symbol, *mut usize)> + use<'_> {
        let tables = [(DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)];
        let tables = tables.into_iter().filter_map(|(tag, len)| self.table(tag).zip(self.entry(len)));
        let all = tables.flat_map(|(table, bytes)| {
            // SAFETY: a table of this size in bytes, mapped as long as the library.
            unsafe { std::slice::from_raw_parts(table as *const Rela, bytes / size_of::<Rela>()) }
        });
        let symbols = self.table_of_symbols();
        all.filter_map(move |rela| {
            let index = (rela.info >> 32) as usize;
            let symbols = symbols.filter(|_| index > 0 && rela.addend == 0)?;
            // Most references are not weak, and need not be read any further.
            // SAFETY: relocations refer to entries of the table of symbols, which is mapped as long as the
            // library.
            let entry = unsafe { &*symbols.entries.add(index) };
            (entry.st_info >> 4 == STB_WEAK && entry.st_shndx == 0)
                .then(|| (symbols.get(index), self.base.wrapping_add(rela.offset) as *mut usize))
        })
    }
}

/// Whether the library that contains this function imports a function of this name; false if that cannot be
/// found out.
pub(crate) fn imports(function: *mut c_void, name: &CStr) -> bool {
    Object::of_address(function).is_some_and(|object| object.imports(name))
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

    #[test]
    fn the_c_library_defines_what_can_be_looked_up() {
        let object = Object::of_address(libc::getpid as *const c_void).unwrap();
        assert_eq!(object.soname(), Some(c"libc.so.6"));
        let defined: Vec<_> = object.symbols().filter(Symbol::is_defined).map(|symbol| symbol.name).collect();
        assert!(defined.contains(&c"getpid") && defined.contains(&c"qsort") && defined.len() > 1000);
        let (mut all, mut found) = (0, false);
        Object::each(|name, one| {
            all += 1;
            // SAFETY: no memory is passed.
            let kernels = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
            assert_ne!(one.base, kernels, "{name:?}");
            found |= one.base == object.base && name.to_bytes().windows(5).any(|part| part == b"libc.");
        });
        assert!(all > 1 && found);
    }
}
