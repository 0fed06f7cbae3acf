//! The program's derived datatypes as `mpress-datatype` knows them: decoded once, and kept with the handle as an attribute, which the MPI deletes
//! when the handle ends.

mod decode;

use crate::span::Kinds;
use crate::sys::*;
use decode::Decoder;
use mpress::Kind;
use mpress_datatype::{Datatype, Plan};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// What is known of a derived datatype.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) datatype: Datatype,
    /// Of all its elements; [`Kind::Other`] where they differ.
    pub(crate) kind: Kind,
}

impl Known {
    /// Whether elements lie one after the other without gaps, in the order in which they are sent, from their address on.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.datatype.is_contiguous() && self.datatype.bounds().true_lb == 0 && self.datatype.size() > 0
    }
}

/// What a handle keeps: nothing is known of what has a combiner that is not.
pub(crate) type Kept = Option<Known>;

/// Finds out about datatypes.
pub(crate) struct Datatypes {
    keyval: c_int,
    /// Held while one is decoded: what another thread keeps must not be replaced while it is used.
    turn: Mutex<()>,
}

impl Datatypes {
    pub(crate) fn new() -> Result<Self, c_int> {
        let mut keyval = KEYVAL_INVALID;
        // SAFETY: callbacks of the right kind, and a place for the key.
        ok(unsafe {
            PMPI_Type_create_keyval(Some(not_copied), Some(deleted), &raw mut keyval, ptr::null_mut())
        })?;
        Ok(Self { keyval, turn: Mutex::new(()) })
    }

    /// At the end. Attributes under the key keep it alive as long as they live.
    pub(crate) fn free(&self) {
        let mut keyval = self.keyval;
        // SAFETY: a key of ours.
        unsafe { PMPI_Type_free_keyval(&raw mut keyval) };
    }

    /// What is known of this datatype, which must be a valid handle, and none of `kinds`.
    pub(crate) fn known(&self, kinds: &Kinds, datatype: MPI_Datatype) -> Option<Arc<Kept>> {
        if let Some(kept) = self.kept(datatype).ok()? {
            return Some(kept);
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = self.kept(datatype).ok()? {
            return Some(kept);
        }
        let kept = Arc::new(Decoder::new(kinds).decode(datatype));
        self.keep(datatype, &kept);
        Some(kept)
    }

    /// Keeps with this handle what is known of one that has the same elements.
    pub(crate) fn keep(&self, datatype: MPI_Datatype, kept: &Arc<Kept>) {
        let value = Arc::into_raw(Arc::clone(kept));
        // SAFETY: our key, and a valid handle.
        let code = unsafe { PMPI_Type_set_attr(datatype, self.keyval, value.cast_mut().cast()) };
        if code != SUCCESS {
            // SAFETY: the attribute did not take the count over.
            unsafe { Arc::decrement_strong_count(value) };
        }
    }

    fn kept(&self, datatype: MPI_Datatype) -> Result<Option<Arc<Kept>>, c_int> {
        let (mut value, mut found) = (ptr::null_mut::<c_void>(), 0);
        // SAFETY: our key, a valid handle, places for the answers.
        unsafe {
            ok(PMPI_Type_get_attr(datatype, self.keyval, (&raw mut value).cast(), &raw mut found))?;
            if found == 0 {
                return Ok(None);
            }
            let kept = value.cast::<Kept>().cast_const();
            // Only `keep` stores under our key, a leaked `Arc`; the attribute owns one count until `deleted` gives it back, and the
            // handle is alive while the caller uses it.
            Arc::increment_strong_count(kept);
            Ok(Some(Arc::from_raw(kept)))
        }
    }
}

/// A duplicate finds out for itself.
unsafe extern "C" fn not_copied(
    _: MPI_Datatype,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: MPI gives a place for the answer.
    unsafe { *flag = 0 };
    SUCCESS
}

/// A handle ends.
unsafe extern "C" fn deleted(_: MPI_Datatype, _: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the value of our attribute, which only `keep` stores: a leaked `Arc`, given back once.
    drop(unsafe { Arc::from_raw(value.cast::<Kept>().cast_const()) });
    SUCCESS
}

/// Elements of which a message may consist: as many columns as matrices have.
const MANY: usize = 1024;

/// Whether one element, or many, of a datatype that was just committed are packed in another order than that of the stream. It is asked of
/// each in jobs that may need nothing of us, so long descriptions, which are lists and in no order, are not looked at.
pub(crate) fn may_reorder(kinds: &Kinds, datatype: MPI_Datatype) -> bool {
    let known = Decoder::new(kinds).of_short_descriptions().decode(datatype);
    known.is_some_and(|known| {
        let reorders = |count| Plan::new(&known.datatype, count).is_ok_and(|plan| plan.reorders());
        reorders(1) || reorders(MANY)
    })
}
