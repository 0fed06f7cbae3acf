//! The program's derived datatypes, decoded for `mpress-datatype` once, and kept as an attribute of the handle until that is freed; and the machine
//! for which they are packed.

mod decode;

use crate::mpi::{span::OwnedType, sys::*};
use decode::Decoder;
use mpress::knowledge::{KnowledgeError, Memory};
use mpress::{Kind, Settings};
use mpress_datatype::{Datatype, Machine, Plan};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock};

/// Knowledge about a derived datatype.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) datatype: Datatype,
    /// The kind of all its elements; [`Kind::Other`] if they differ.
    pub(crate) kind: Kind,
}

impl Known {
    /// Whether the elements are contiguous, in the order in which they are sent, from their address on.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.datatype.is_contiguous() && self.datatype.bounds().true_lb == 0 && self.datatype.size() > 0
    }
}

/// The value kept with a handle: `None` for a datatype with an unknown combiner.
pub(crate) type Kept = Option<Known>;

/// Decodes and keeps datatypes.
pub(crate) struct Datatypes {
    keyval: c_int,
    /// Held while a datatype is decoded: the value kept by another thread must not be replaced while it is used.
    turn: Mutex<()>,
}

impl Datatypes {
    pub(crate) fn new() -> Result<Self, c_int> {
        let mut keyval = KEYVAL_INVALID;
        // SAFETY: callbacks of the right type, and a valid output pointer.
        ok(unsafe {
            PMPI_Type_create_keyval(Some(not_copied), Some(deleted), &raw mut keyval, ptr::null_mut())
        })?;
        Ok(Self { keyval, turn: Mutex::new(()) })
    }

    /// Called at the end. Attributes under the key keep it alive.
    pub(crate) fn free(&self) {
        let mut keyval = self.keyval;
        PMPI_Type_free_keyval(&mut keyval);
    }

    /// What is known of a datatype, which must be a valid handle and not a predefined one without gaps.
    pub(crate) fn known(&self, datatype: MPI_Datatype) -> Option<Arc<Kept>> {
        if let Some(kept) = self.kept(datatype).ok()? {
            return Some(kept);
        }
        let _turn = crate::locked(&self.turn);
        if let Some(kept) = self.kept(datatype).ok()? {
            return Some(kept);
        }
        let kept = Arc::new(Decoder::new().decode(datatype));
        self.keep(datatype, &kept);
        Some(kept)
    }

    /// Keeps what is known of a datatype of the program for our copy of it, too.
    pub(crate) fn keep_for(&self, owned: &mut OwnedType, kept: &Arc<Kept>) {
        if self.keep(owned.handle(), kept) {
            owned.has(self.keyval);
        }
    }

    /// Drops what is kept for a valid handle that is about to be freed.
    ///
    /// Otherwise the MPI does it when the last message with the datatype has been sent. MPICH does that inside the network library, and releases its
    /// lock to call [`deleted`], so that another thread enters the network library, too.
    pub(crate) fn forget(&self, datatype: MPI_Datatype) {
        if let Ok(Some(_)) = self.kept(datatype) {
            PMPI_Type_delete_attr(datatype, self.keyval);
        }
    }

    /// Returns whether the handle has the value now.
    fn keep(&self, datatype: MPI_Datatype, kept: &Arc<Kept>) -> bool {
        let value = Arc::into_raw(Arc::clone(kept));
        // SAFETY: our key, and a valid handle.
        let code = unsafe { PMPI_Type_set_attr(datatype, self.keyval, value.cast_mut().cast()) };
        if code != SUCCESS {
            // SAFETY: the attribute was not set, so it does not own this count.
            unsafe { Arc::decrement_strong_count(value) };
        }
        code == SUCCESS
    }

    fn kept(&self, datatype: MPI_Datatype) -> Result<Option<Arc<Kept>>, c_int> {
        let (mut value, mut found) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: our key, a valid handle, valid output pointers.
        unsafe {
            ok(PMPI_Type_get_attr(datatype, self.keyval, (&raw mut value).cast(), &raw mut found))?;
            if found == 0 {
                return Ok(None);
            }
            let kept = value.cast::<Kept>().cast_const();
            // Only `keep` stores under our key, a leaked `Arc`; the attribute owns one count until `deleted` releases it, and the handle is live
            // while the caller uses it.
            Arc::increment_strong_count(kept);
            Ok(Some(Arc::from_raw(kept)))
        }
    }
}

/// The attribute is deleted: a handle is about to be freed ([`Datatypes::forget`]), or the MPI frees one that the shim has not seen freed.
unsafe extern "C" fn deleted(_: MPI_Datatype, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the value of our attribute, which only `keep` stores: a leaked `Arc`, released once.
    drop(unsafe { Arc::from_raw(value.cast::<Kept>().cast_const()) });
    SUCCESS
}

/// Number of elements in a test message: as many as the columns of typical matrices.
const MANY: usize = 1024;

/// Whether one or many elements of a newly committed datatype are packed in an order other than that of the stream. This is called for each datatype
/// even in jobs that may not need the shim, so long descriptions, which are unordered lists, are not examined.
pub(crate) fn may_reorder(datatype: MPI_Datatype) -> bool {
    let known = Decoder::of_short_descriptions().decode(datatype);
    known.is_some_and(|known| {
        let reorders = |count| plan(&known.datatype, count).is_some_and(|plan| plan.reorders());
        reorders(1) || reorders(MANY)
    })
}

/// The machine of this process. Plans are made before there is a layer, too ([`may_reorder`]), and several layers of a process are on one machine.
static MACHINE: OnceLock<Machine> = OnceLock::new();

/// Uses the figures of the memory file in the heuristics folder of these settings, if it has one, and the processor's own for all others. To be
/// called before the first plan; of several layers in a process, the first decides.
///
/// # Errors
/// If there is a file that cannot be used: then the figures stay the processor's own.
pub(crate) fn use_heuristics(settings: &Settings) -> Result<(), KnowledgeError> {
    if let Some(folder) = &settings.heuristics {
        let memory = Memory::read(folder)?;
        MACHINE.get_or_init(|| with(Machine::detect(), &memory));
    }
    Ok(())
}

fn with(mut machine: Machine, memory: &Memory) -> Machine {
    for (own, measured) in [
        (&mut machine.page, memory.page_bytes),
        (&mut machine.tlb, memory.tlb_entries),
        (&mut machine.l1.bytes, memory.l1_bytes),
        (&mut machine.l2.bytes, memory.l2_bytes),
        (&mut machine.l3.bytes, memory.l3_bytes),
    ] {
        *own = measured.unwrap_or(*own);
    }
    machine
}

/// The plan for some elements on this machine; `None` if they do not fit into the address space.
pub(crate) fn plan(datatype: &Datatype, count: usize) -> Option<Plan> {
    let plan = Plan::new(datatype, count).ok()?;
    Some(match MACHINE.get() {
        Some(machine) => plan.with_machine(*machine),
        None => plan,
    })
}
