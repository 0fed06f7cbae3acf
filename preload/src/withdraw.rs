//! Withdraws the calls of the table that the MPI does not have, so that the program does not find them either. Some programs check whether a function
//! exists and work without it: by a weak reference, as mpi4py does, or by `dlsym`. For them these names are removed
//!
//! - from this library's symbol table, for later lookups;
//! - from libraries with weak references to them, where the loader has already stored this library's address.
//!
//! This happens at the first call of an MPI function, because the MPI is not known when the loader resolves the names.

use crate::calls::CALLS;
use crate::elf::Object;
use crate::loaded::{self, Mpi};
use std::collections::HashSet;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Withdraws the names that neither these MPIs nor any other loaded library has.
pub(crate) fn what_is_missing(mpis: &[Mpi]) {
    // Once: two threads would undo each other's protection of the same page. A thread that comes meanwhile may still find a name.
    static DONE: AtomicBool = AtomicBool::new(false);
    if mpis.is_empty() || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let names = CALLS.iter().flat_map(|call| [call.mpi_name, call.pmpi_name]);
    let has =
        |name: &CStr| mpis.iter().any(|mpi| !mpi.own(name).is_null()) || !loaded::following(name).is_null();
    let missing: HashSet<&CStr> = names.filter(|name| !has(name)).collect();
    let Some(this) = Object::of_address(what_is_missing as *const c_void) else { return };
    let mut memory = None;
    let mut ours = HashSet::new();
    for symbol in this.symbols().filter(|symbol| symbol.is_defined() && missing.contains(symbol.name)) {
        ours.insert(this.address(&symbol));
        let memory = memory.get_or_insert_with(Memory::of_this_process);
        // SAFETY: an entry of this library's own table, which the loader only reads.
        unsafe { memory.replace(&raw mut (*symbol.entry).st_value, 0) };
    }
    // Read the memory map again: no library is loaded or unloaded while the loader shows them.
    memory = None;
    Object::each(|_, object| {
        for (symbol, place) in object.optional() {
            // SAFETY: a word of a loaded library that the loader has filled in.
            if missing.contains(symbol.name) && ours.contains(&unsafe { place.read() }) {
                let memory = memory.get_or_insert_with(Memory::of_this_process);
                // SAFETY: as above. The reference is weak, so the word may be null.
                unsafe { memory.replace(place, 0) };
            }
        }
    });
}

/// The protection of this process's memory, as the system reports it (proc(5)).
struct Memory {
    ranges: Vec<(Range<usize>, c_int)>,
    page: usize,
}

impl Memory {
    fn of_this_process() -> Self {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        // SAFETY: no precondition.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        Self { ranges: text.lines().filter_map(range).collect(), page }
    }

    /// Writes a word, even into protected memory. If that is not possible, the word stays, and the function at that address returns an error.
    ///
    /// # Safety
    /// The word must belong to a loaded library, and be aligned.
    unsafe fn replace<T>(&self, place: *mut T, value: T) {
        let Some((_, allowed)) = self.ranges.iter().find(|(range, _)| range.contains(&place.addr())) else {
            return;
        };
        let page = place.map_addr(|address| address & !(self.page - 1)).cast();
        // SAFETY: a page of a library; all accesses that were allowed stay allowed.
        let protect = |allowed| unsafe { libc::mprotect(page, self.page, allowed) == 0 };
        if protect(allowed | libc::PROT_WRITE) {
            // SAFETY: guaranteed by the caller, and the page is writable now. The word does not cross the end of the page.
            unsafe { place.write(value) };
            protect(*allowed);
        }
    }
}

/// A line of the table: `7f3a8c000000-7f3a8c021000 r-xp ...`.
fn range(line: &str) -> Option<(Range<usize>, c_int)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let allowed = words.next()?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let flags = [('r', libc::PROT_READ), ('w', libc::PROT_WRITE), ('x', libc::PROT_EXEC)];
    let flags = flags.iter().filter(|(flag, _)| allowed.contains(*flag)).fold(0, |all, (_, one)| all | one);
    Some((number(start)?..number(end)?, flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let line = "55d0c8a00000-55d0c8a21000 r-xp 00000000 08:01 1 /usr/lib/x.so";
        assert_eq!(
            range(line),
            Some((0x55d0_c8a0_0000..0x55d0_c8a2_1000, libc::PROT_READ | libc::PROT_EXEC))
        );
        assert_eq!(range("nothing"), None);
        let here = line.as_ptr().addr();
        assert!(
            Memory::of_this_process()
                .ranges
                .iter()
                .any(|(range, flags)| range.contains(&here) && flags & 1 != 0)
        );
    }
}
