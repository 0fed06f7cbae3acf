//! The program's derived datatypes, decoded for `mpress-datatype` once, and kept as an attribute of the handle until that is freed; and the machine
//! for which they are packed.

use crate::mpi::span::{Made, OwnedType, bounds};
use crate::mpi::{handle::Handle, handle::HandleMap, predefined, sys::*};
use mpress::{Kind, Settings, knowledge::KnowledgeError, knowledge::Memory};
use mpress_datatype::{Contents, Datatype, Dialect, Machine, Plan};
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
        // SAFETY: our own key.
        unsafe { PMPI_Type_free_keyval(&raw mut keyval) };
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
            // SAFETY: our key, which this handle has.
            unsafe { PMPI_Type_delete_attr(datatype, self.keyval) };
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
/// called before the first plan; of several layers in a process, the first decides. If there is a file that cannot be used, the figures stay the
/// processor's own.
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

/// Greatest number of handles that make up one datatype: Open MPI returns a new handle for each use of a type.
const MOST_HANDLES: usize = 4096;

/// Greatest nesting depth.
const DEEPEST: usize = 64;

/// Greatest number of integers, addresses and handles of one constructor.
const MOST_ARGUMENTS: MPI_Count = 1 << 24;

/// The same where only short descriptions are decoded.
const FEW_ARGUMENTS: MPI_Count = 64;

/// Decodes a datatype from `MPI_Type_get_envelope` and `MPI_Type_get_contents`, recursively. At each step the result is compared with the MPI's size
/// and bounds of the handle. A type for which they differ remains unknown, as does one with an unknown combiner.
struct Decoder {
    handles: usize,
    arguments: MPI_Count,
}

/// A datatype, and the kind of its elements; `None` if it has no elements.
type Decoded = (Datatype, Option<Kind>);

impl Decoder {
    fn new() -> Self {
        Self { handles: 0, arguments: MOST_ARGUMENTS }
    }

    /// Leaves datatypes with longer descriptions unknown.
    fn of_short_descriptions() -> Self {
        Self { handles: MOST_HANDLES - FEW_ARGUMENTS as usize, arguments: FEW_ARGUMENTS }
    }

    /// Decodes a valid handle; `None` if it is unknown.
    fn decode(&mut self, handle: MPI_Datatype) -> Option<Known> {
        let (datatype, kind) = self.decoded(handle, 0)?;
        Some(Known { datatype, kind: kind.unwrap_or(Kind::Other) })
    }

    fn decoded(&mut self, handle: MPI_Datatype, depth: usize) -> Option<Decoded> {
        self.handles += 1;
        if self.handles > MOST_HANDLES || depth > DEEPEST {
            return None;
        }
        let made = Made::of(handle)?;
        let decoded = match made.combiner {
            COMBINER_NAMED => self.named(handle),
            COMBINER_F90_REAL | COMBINER_F90_COMPLEX | COMBINER_F90_INTEGER => {
                parametrised(handle, made.combiner)
            }
            _ => self.constructed(handle, &made, depth),
        }?;
        says_the_same(handle, &decoded.0).then_some(decoded)
    }

    /// A predefined type.
    fn named(&self, handle: MPI_Datatype) -> Option<Decoded> {
        let size = type_size(handle)?;
        let alone = |size, alignment| Datatype::named(DIALECT, size, alignment).ok();
        if let Some(kind) = predefined::kind(handle) {
            // MPICH packs only the significant bytes of a long double.
            if kind == Kind::Other && size >= 16 && DIALECT == Dialect::Mpich {
                return None;
            }
            return Some((alone(size, alignment(kind, size))?, Some(kind)));
        }
        // Pairs with a gap, distinguished by their sizes. MPICH packs these incorrectly in some places, so there they are left to the MPI.
        if DIALECT == Dialect::Mpich {
            return None;
        }
        let pair = |first, alignment| Datatype::pair(&alone(first, alignment)?, &alone(4, 4)?).ok();
        let pair = match (size, bounds(handle)?.extent) {
            (12, 16) => pair(8, 8), // MPI_DOUBLE_INT, MPI_LONG_INT
            (6, 8) => pair(2, 2),   // MPI_SHORT_INT
            (20, 32) => pair(16, 16),
            _ => None,
        };
        Some((pair?, Some(Kind::Other)))
    }

    fn constructed(&mut self, handle: MPI_Datatype, made: &Made, depth: usize) -> Option<Decoded> {
        let most = self.arguments;
        let length = |count: MPI_Count| usize::try_from(count).ok().filter(|_| count <= most);
        let mut integers = vec![0; length(made.integers)?];
        let mut addresses: Vec<MPI_Aint> = vec![0; length(made.addresses)?];
        let mut counts: Vec<MPI_Count> = vec![0; length(made.counts)?];
        let mut handles = vec![DATATYPE_NULL; length(made.datatypes)?];
        let Made { integers: i, addresses: a, counts: c, datatypes: d, .. } = *made;
        let (to_i, to_a, to_c, to_d) =
            (integers.as_mut_ptr(), addresses.as_mut_ptr(), counts.as_mut_ptr(), handles.as_mut_ptr());
        // SAFETY: a derived type, and arrays of the lengths that its envelope gives; it has large counts only if the MPI supports these.
        let code = unsafe {
            if made.counts > 0 {
                PMPI_Type_get_contents_c(handle, i, a, c, d, to_i, to_a, to_c, to_d)
            } else {
                let int = |count| c_int::try_from(count).unwrap_or(0);
                PMPI_Type_get_contents(handle, int(i), int(a), int(d), to_i, to_a, to_d)
            }
        };
        if code != SUCCESS {
            return None;
        }
        // Derived types are returned as new handles, to be freed even if the code below fails.
        let _ours: Vec<_> = handles
            .iter()
            .filter(|handle| is_constructed(**handle))
            .map(|handle| OwnedType::new(*handle))
            .collect();
        let (datatypes, kind) = self.parts(&handles, depth)?;
        if made.counts > 0 {
            // Of constructors with large counts only the simplest is supported.
            let contiguous = made.combiner == DATATYPES.combiner_contiguous;
            let ([count], [old], true) = (counts.as_slice(), datatypes.as_slice(), contiguous) else {
                return None;
            };
            return Some((Datatype::contiguous(usize::try_from(*count).ok()?, old).ok()?, kind));
        }
        let addresses: Vec<isize> = addresses.iter().map(|address| *address as isize).collect();
        let contents = Contents { integers: &integers, addresses: &addresses, datatypes: &datatypes };
        Some((Datatype::from_contents(&DATATYPES, made.combiner, contents).ok()?, kind))
    }

    /// Decodes the datatypes that a datatype is made from. Equal handles are decoded once.
    fn parts(&mut self, handles: &[MPI_Datatype], depth: usize) -> Option<(Vec<Datatype>, Option<Kind>)> {
        let (mut datatypes, mut common): (Vec<Datatype>, Option<Kind>) =
            (Vec::with_capacity(handles.len()), None);
        let mut first_at = HandleMap::default();
        for (at, handle) in handles.iter().enumerate() {
            if let Some(&first) = first_at.get(&handle.key()) {
                datatypes.push(datatypes.get::<usize>(first)?.clone());
                continue;
            }
            first_at.insert(handle.key(), at);
            let (datatype, kind) = self.decoded(*handle, depth + 1)?;
            common = match (common, kind) {
                (Some(one), Some(other)) if one != other => Some(Kind::Other),
                (one, other) => one.or(other),
            };
            datatypes.push(datatype);
        }
        Some((datatypes, common))
    }
}

/// Whether a handle was made by a constructor, so that it must be freed.
fn is_constructed(handle: MPI_Datatype) -> bool {
    Made::of(handle).is_some_and(|made| DATATYPES.constructs(made.combiner))
}

/// Fortran's numeric types of a given precision or range.
fn parametrised(handle: MPI_Datatype, combiner: c_int) -> Option<Decoded> {
    let size = type_size(handle)?;
    let kind = match (combiner, size) {
        (COMBINER_F90_REAL, 4) | (COMBINER_F90_COMPLEX, 8) => Kind::F32,
        (COMBINER_F90_REAL, 8) | (COMBINER_F90_COMPLEX, 16) => Kind::F64,
        (COMBINER_F90_INTEGER, 1) => Kind::Int8,
        (COMBINER_F90_INTEGER, 2) => Kind::Int16,
        (COMBINER_F90_INTEGER, 4) => Kind::Int32,
        (COMBINER_F90_INTEGER, 8) => Kind::Int64,
        _ => return None,
    };
    Some((Datatype::named(DIALECT, size, alignment(kind, size)).ok()?, Some(kind)))
}

/// The alignment that compilers use for a predefined type.
fn alignment(kind: Kind, size: usize) -> usize {
    match kind {
        Kind::F64 | Kind::Int64 => 8,
        Kind::F32 | Kind::Int32 => 4,
        Kind::Int16 => 2,
        Kind::Int8 => 1,
        // Bytes, MPI_FLOAT_INT, and long doubles.
        _ if size <= 4 => size,
        _ if size == 8 => 4,
        _ => 16,
    }
}

fn says_the_same(handle: MPI_Datatype, datatype: &Datatype) -> bool {
    type_size(handle) == Some(datatype.size()) && bounds(handle) == Some(datatype.bounds())
}
