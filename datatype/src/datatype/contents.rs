//! Datatypes from the results of `MPI_Type_get_envelope` and `MPI_Type_get_contents` (MPI 3.1, section 4.1.13).

use super::{Abi, Datatype, Dimension};
use crate::Error;
use alloc::vec::Vec;

/// The result of `MPI_Type_get_contents` for a handle: its three arrays, with the lengths from `MPI_Type_get_envelope`.
///
/// Equal handles in `datatypes` must be clones of one [`Datatype`], because MPICH's bounds depend on that.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// `array_of_integers`
    pub integers: &'a [i32],
    /// `array_of_addresses`
    pub addresses: &'a [isize],
    /// `array_of_datatypes`, each already built.
    pub datatypes: &'a [Datatype],
}

impl Datatype {
    /// The datatype that a constructor makes of these arguments. It takes about as much memory as the arguments.
    ///
    /// Predefined types have no contents; the MPI layer identifies them by their handles ([`named`](Self::named), [`pair`](Self::pair)). Contents
    /// with large counts (MPI 4's `MPI_Type_get_contents_c`) are not supported.
    ///
    /// # Errors
    /// [`Error::Combiner`] if `combiner` is not a constructor of MPI 3.1, or is the one for predefined types; [`Error::Length`] if the lengths of
    /// the arrays do not match the constructor's arguments; [`Error::Argument`] if a count is negative or an order or distribution is unknown;
    /// errors of the constructor.
    ///
    /// # Examples
    /// All steps of an MPI layer, here with an MPI that has five handles.
    /// ```
    /// use mpress_datatype::{Abi, Contents, Datatype, Dialect, Error, Plan, Source, Target};
    ///
    /// type Handle = usize;
    /// const DOUBLE: Handle = 0;
    /// const ABI: Abi = Abi::OPEN_MPI;
    ///
    /// // In a layer: MPI_Type_get_envelope, and MPI_Type_get_contents into vectors of the lengths it gave.
    /// fn contents(handle: Handle) -> (i32, Vec<i32>, Vec<isize>, Vec<Handle>) {
    ///     match handle {
    ///         1 => (ABI.combiner_vector, vec![100, 1, 80], vec![], vec![DOUBLE]),
    ///         2 => (ABI.combiner_hvector, vec![80, 1], vec![8], vec![1]),
    ///         3 => (ABI.combiner_struct, vec![2, 1, 1], vec![0, 64_000], vec![2, 2]),
    ///         4 => (-1, vec![], vec![], vec![DOUBLE]),
    ///         _ => (ABI.combiner_named, vec![], vec![], vec![]),
    ///     }
    /// }
    ///
    /// // In a layer: called once, and the result kept with the handle.
    /// fn datatype(handle: Handle) -> Result<Datatype, Error> {
    ///     let (combiner, integers, addresses, handles) = contents(handle);
    ///     if combiner == ABI.combiner_named {
    ///         return match handle {
    ///             DOUBLE => Datatype::named(Dialect::OpenMpi, 8, 8),
    ///             _ => Err(Error::Combiner),
    ///         };
    ///     }
    ///     let mut datatypes: Vec<Datatype> = Vec::new();
    ///     for (i, handle) in handles.iter().enumerate() {
    ///         // Equal handles are one datatype. In a layer: MPI_Type_free those that are not predefined, after use.
    ///         datatypes.push(match handles[..i].iter().position(|before| before == handle) {
    ///             Some(same) => datatypes[same].clone(),
    ///             None => datatype(*handle)?,
    ///         });
    ///     }
    ///     let contents = Contents { integers: &integers, addresses: &addresses, datatypes: &datatypes };
    ///     Datatype::from_contents(&ABI, combiner, contents)
    /// }
    ///
    /// let both = datatype(3)?;
    /// assert_eq!((both.size(), both.bounds().extent, both.is_contiguous()), (128_000, 128_000, false));
    /// // Unsupported types are left to the MPI.
    /// assert_eq!(datatype(4).unwrap_err(), Error::Combiner);
    ///
    /// // A message of three of them, packed in pieces into one small buffer.
    /// let plan = Plan::new(&both, 3)?;
    /// let memory: Vec<u8> = (0..3 * 16_000_u64).flat_map(u64::to_le_bytes).collect();
    /// let mut received = vec![0; memory.len()];
    /// let mut buffer = vec![0; plan.piece(50_000)];
    /// for start in (0..plan.size()).step_by(buffer.len()) {
    ///     let range = start..plan.size().min(start + buffer.len());
    ///     plan.pack(Source::new(&memory, 0), range.clone(), Target::new(&mut buffer, 0))?;
    ///     // Here a layer encodes and sends it, and the other side receives and decodes it.
    ///     plan.unpack(Source::new(&buffer, 0), range, Target::new(&mut received, 0))?;
    /// }
    /// assert_eq!(received, memory);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_contents(abi: &Abi, combiner: i32, contents: Contents<'_>) -> Result<Self, Error> {
        let Contents { integers, addresses, datatypes } = contents;
        if combiner == abi.combiner_struct {
            let (&count, lens) = integers.split_first().ok_or(Error::Length)?;
            return match self::count(count)? == lens.len() {
                true => Self::structure(&counts(lens)?, addresses, datatypes),
                false => Err(Error::Length),
            };
        }
        let build = constructor(abi, combiner).ok_or(Error::Combiner)?;
        let [old] = datatypes else { return Err(Error::Length) };
        build(abi, integers, addresses, old)
    }
}

impl Abi {
    /// Whether this is the number of a constructor that [`Datatype::from_contents`] knows.
    #[must_use]
    pub fn constructs(&self, combiner: i32) -> bool {
        combiner == self.combiner_struct || constructor(self, combiner).is_some()
    }
}

/// Builds a type from integers, addresses and the old type.
type Constructor = fn(&Abi, &[i32], &[isize], &Datatype) -> Result<Datatype, Error>;

fn constructor(abi: &Abi, combiner: i32) -> Option<Constructor> {
    let constructors: [(i32, Constructor); 11] = [
        (abi.combiner_dup, |_, integers, addresses, old| match (integers, addresses) {
            ([], []) => Ok(old.dup()),
            _ => Err(Error::Length),
        }),
        (abi.combiner_contiguous, |_, integers, addresses, old| match (integers, addresses) {
            (&[len], []) => Datatype::contiguous(count(len)?, old),
            _ => Err(Error::Length),
        }),
        (abi.combiner_vector, |_, integers, addresses, old| match (integers, addresses) {
            (&[blocks, len, stride], []) => {
                Datatype::vector(count(blocks)?, count(len)?, place(stride)?, old)
            }
            _ => Err(Error::Length),
        }),
        (abi.combiner_hvector, |_, integers, addresses, old| match (integers, addresses) {
            (&[blocks, len], &[stride]) => Datatype::hvector(count(blocks)?, count(len)?, stride, old),
            _ => Err(Error::Length),
        }),
        (abi.combiner_indexed, |_, integers, addresses, old| match (parts::<2>(integers)?, addresses) {
            (([lens, places], []), []) => Datatype::indexed(&counts(lens)?, &self::places(places)?, old),
            _ => Err(Error::Length),
        }),
        (abi.combiner_hindexed, |_, integers, addresses, old| match parts::<1>(integers)? {
            ([lens], []) => Datatype::hindexed(&counts(lens)?, addresses, old),
            _ => Err(Error::Length),
        }),
        (abi.combiner_indexed_block, |_, integers, addresses, old| match (integers, addresses) {
            (&[blocks, len, ref places @ ..], []) if count(blocks)? == places.len() => {
                Datatype::indexed_block(count(len)?, &self::places(places)?, old)
            }
            _ => Err(Error::Length),
        }),
        (abi.combiner_hindexed_block, |_, integers, addresses, old| match integers {
            &[blocks, len] if count(blocks)? == addresses.len() => {
                Datatype::hindexed_block(count(len)?, addresses, old)
            }
            _ => Err(Error::Length),
        }),
        (abi.combiner_subarray, |abi, integers, addresses, old| match (parts::<3>(integers)?, addresses) {
            (([sizes, subsizes, starts], &[order]), []) => {
                let (sizes, subsizes, starts) = (counts(sizes)?, counts(subsizes)?, counts(starts)?);
                Datatype::subarray(&sizes, &subsizes, &starts, abi.order(order)?, old)
            }
            _ => Err(Error::Length),
        }),
        (abi.combiner_darray, |abi, integers, addresses, old| match (integers, addresses) {
            (&[size, rank, ref dimensions @ ..], []) => darray(abi, size, rank, dimensions, old),
            _ => Err(Error::Length),
        }),
        (abi.combiner_resized, |_, integers, addresses, old| match (integers, addresses) {
            ([], &[lb, extent]) => old.resized(lb, extent),
            _ => Err(Error::Length),
        }),
    ];
    constructors.into_iter().find(|(number, _)| *number == combiner).map(|(_, constructor)| constructor)
}

/// `dimensions`: their number; then the lists of sizes, distributions, distribution arguments and processes; and the order.
fn darray(abi: &Abi, size: i32, rank: i32, dimensions: &[i32], old: &Datatype) -> Result<Datatype, Error> {
    let ([sizes, distributions, arguments, processes], &[order]) = parts::<4>(dimensions)? else {
        return Err(Error::Length);
    };
    let dimensions = sizes.iter().zip(distributions).zip(arguments).zip(processes);
    let dimensions = dimensions.map(|(((&global, &distribution), &argument), &processes)| {
        let distribution = abi.distribution(distribution, argument)?;
        Ok(Dimension { global: count(global)?, distribution, processes: count(processes)? })
    });
    let dimensions = dimensions.collect::<Result<Vec<_>, Error>>()?;
    let mut processes = dimensions.iter().map(|dimension| dimension.processes);
    if processes.try_fold(1_usize, usize::checked_mul) != Some(count(size)?) {
        return Err(Error::Argument);
    }
    Datatype::darray(count(rank)?, &dimensions, abi.order(order)?, old)
}

/// Splits off a number `n` and `N` lists of `n` integers each; returns the lists and the remaining integers.
fn parts<const N: usize>(integers: &[i32]) -> Result<([&[i32]; N], &[i32]), Error> {
    let (&len, mut rest) = integers.split_first().ok_or(Error::Length)?;
    let len = count(len)?;
    let mut lists = [[].as_slice(); N];
    for list in &mut lists {
        (*list, rest) = rest.split_at_checked(len).ok_or(Error::Length)?;
    }
    Ok((lists, rest))
}

pub(super) fn count(integer: i32) -> Result<usize, Error> {
    usize::try_from(integer).map_err(|_| Error::Argument)
}

fn place(integer: i32) -> Result<isize, Error> {
    isize::try_from(integer).map_err(|_| Error::Overflow)
}

fn counts(integers: &[i32]) -> Result<Vec<usize>, Error> {
    integers.iter().map(|integer| count(*integer)).collect()
}

fn places(integers: &[i32]) -> Result<Vec<isize>, Error> {
    integers.iter().map(|integer| place(*integer)).collect()
}
