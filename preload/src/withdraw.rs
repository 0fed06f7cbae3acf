//! Withdraws the calls of the table that the MPI lacks, so that the program does not find them. Some programs
//! check whether a function exists and work without it: by a weak reference, as mpi4py does, or by `dlsym`.
//! For them these names are removed
//!
//! - from this library's symbol table, for later lookups;
//! - from libraries with weak references to them, where the loader has already stored this library's address.
//!
//! This happens at the first call of an MPI function, because the MPI is not known when the loader resolves
//! the names.

use crate::calls::CALLS;
use crate::elf::Object;
use crate::loaded::{self, Mpi};
use std::collections::HashSet;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Withdraws the names that neither these MPIs nor any other loaded library has.
pub(crate) fn what_is_missing(mpis: &[Mpi]) {
    // Once: two threads would undo each other's protection of the same page. In the meantime, another thread
    // may still find a name.
    static DONE: AtomicBool = AtomicBool::new(false);
    if mpis.is_empty() || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    let names = CALLS.iter().flat_map(|call| [call.mpi_name, call.pmpi_name]);
    let has =
        |name: &CStr| mpis.iter().any(|mpi| !mpi.own(name).is_null()) || !loaded::following(name).is_null();
    let missing: HashSet<&CStr> = names.filter(|name| !has(name)).collect();
    let Some(this) = Object::of_address(what_is_missing as *const c_void) else { return };
    let (mut ours, mut values) = (HashSet::new(), Vec::new());
    for symbol in this.symbols().filter(|symbol| symbol.is_defined() && missing.contains(symbol.name)) {
        ours.insert(this.address(&symbol));
        // SAFETY: an entry of this library's own table.
        values.push(unsafe { &raw mut (*symbol.entry).st_value }.cast());
    }
    // SAFETY: the loader only reads these entries, and a symbol without a value is not found.
    unsafe { Memory::of_this_process().clear(values) };
    // Read the memory map again: no library is loaded or unloaded while the loader shows them.
    let mut memory = None;
    Object::each(|_, object| {
        // SAFETY: a word of a loaded library that the loader has filled in.
        let is_ours = |place: &*mut usize| ours.contains(&unsafe { place.read() });
        let optional = object.optional().filter(|(symbol, _)| missing.contains(symbol.name));
        let places: Vec<_> = optional.map(|(_, place)| place).filter(is_ours).collect();
        if !places.is_empty() {
            // SAFETY: as above. The references are weak, so the words may be null.
            unsafe { memory.get_or_insert_with(Memory::of_this_process).clear(places) };
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

    /// Sets words to 0, even in protected memory. Where that is not possible, they stay, and the functions at
    /// these addresses return an error. Changes the protection once for all words of a range, since each
    /// change costs more than all writes.
    ///
    /// # Safety
    /// The words must belong to loaded libraries, and be aligned.
    unsafe fn clear(&self, mut places: Vec<*mut usize>) {
        places.sort_unstable();
        for (range, allowed) in &self.ranges {
            let of_range: Vec<_> =
                places.iter().copied().filter(|place| range.contains(&place.addr())).collect();
            let (Some(first), Some(last)) = (of_range.first(), of_range.last()) else { continue };
            let start = first.map_addr(|address| address & !(self.page - 1));
            let len = (last.addr() | (self.page - 1)) + 1 - start.addr();
            // SAFETY: pages of one range, from that of its first word to that of its last; all accesses that
            // were allowed stay allowed.
            let protect = |allowed| unsafe { libc::mprotect(start.cast(), len, allowed) == 0 };
            if protect(allowed | libc::PROT_WRITE) {
                for place in of_range {
                    // SAFETY: guaranteed by the caller, and the range is writable now. No word crosses the
                    // end of a page.
                    unsafe { place.write(0) };
                }
                protect(*allowed);
            }
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
