//! A datatype as data: the constructor, its arguments, and the old types.

use crate::{Datatype, Dialect, Dimension, Distribution, Error, Order};
use std::boxed::Box;
use std::vec::Vec;

/// How to make a datatype. The arguments are those of the MPI constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A predefined type, by its index in [`NAMED`].
    Named(usize),
    /// `MPI_Type_dup`
    Dup(Box<Recipe>),
    /// Count.
    Contiguous(usize, Box<Recipe>),
    /// Count, blocklength, stride in elements.
    Vector(usize, usize, isize, Box<Recipe>),
    /// Count, blocklength, stride in bytes.
    Hvector(usize, usize, isize, Box<Recipe>),
    /// Blocklengths, displacements in elements.
    Indexed(Vec<usize>, Vec<isize>, Box<Recipe>),
    /// Blocklengths, displacements in bytes.
    Hindexed(Vec<usize>, Vec<isize>, Box<Recipe>),
    /// Blocklength, displacements in elements.
    IndexedBlock(usize, Vec<isize>, Box<Recipe>),
    /// Blocklength, displacements in bytes.
    HindexedBlock(usize, Vec<isize>, Box<Recipe>),
    /// Blocklengths, displacements in bytes, types.
    Struct(Vec<usize>, Vec<isize>, Vec<Recipe>),
    /// Sizes, subsizes, starts.
    Subarray(Vec<usize>, Vec<usize>, Vec<usize>, Order, Box<Recipe>),
    /// Rank.
    Darray(usize, Vec<Dimension>, Order, Box<Recipe>),
    /// Lower bound, extent.
    Resized(isize, isize, Box<Recipe>),
}

/// Predefined types in the order of the table in `peer.c`: size and alignment of one or two parts. `long double` is missing, because MPICH packs
/// only the 10 significant bytes of its 16.
pub const NAMED: [&[(usize, usize)]; 13] = [
    &[(1, 1)],
    &[(2, 2)],
    &[(4, 4)],
    &[(8, 8)],
    &[(4, 4)],
    &[(1, 1)],
    &[(8, 4)],
    &[(16, 8)],
    &[(8, 8), (4, 4)],
    &[(2, 2), (4, 4)],
    &[(4, 4), (4, 4)],
    &[(8, 8), (4, 4)],
    &[(4, 4), (4, 4)],
];

impl Recipe {
    /// Builds the datatype.
    ///
    /// # Errors
    /// As for the constructors.
    pub fn build(&self, dialect: Dialect) -> Result<Datatype, Error> {
        let of = |old: &Self| old.build(dialect);
        match self {
            Self::Named(name) => match NAMED.get(*name).copied().unwrap_or_default() {
                [(size, align)] => Datatype::named(dialect, *size, *align),
                [one, two] => {
                    let of = |(size, align)| Datatype::named(dialect, size, align);
                    Datatype::pair(&of(*one)?, &of(*two)?)
                }
                _ => Err(Error::Argument),
            },
            Self::Dup(old) => Ok(of(old)?.dup()),
            Self::Contiguous(count, old) => Datatype::contiguous(*count, &of(old)?),
            Self::Vector(count, len, stride, old) => Datatype::vector(*count, *len, *stride, &of(old)?),
            Self::Hvector(count, len, stride, old) => Datatype::hvector(*count, *len, *stride, &of(old)?),
            Self::Indexed(lens, places, old) => Datatype::indexed(lens, places, &of(old)?),
            Self::Hindexed(lens, places, old) => Datatype::hindexed(lens, places, &of(old)?),
            Self::IndexedBlock(len, places, old) => Datatype::indexed_block(*len, places, &of(old)?),
            Self::HindexedBlock(len, places, old) => Datatype::hindexed_block(*len, places, &of(old)?),
            Self::Struct(lens, places, types) => {
                // A predefined type is one handle, no matter how often it occurs.
                let mut built: Vec<Datatype> = Vec::new();
                for (i, old) in types.iter().enumerate() {
                    let first =
                        types.iter().take(i).position(|other| matches!(old, Self::Named(_)) && other == old);
                    built.push(match first.and_then(|first| built.get(first)) {
                        Some(first) => first.clone(),
                        None => of(old)?,
                    });
                }
                let types = built;
                Datatype::structure(lens, places, &types)
            }
            Self::Subarray(sizes, subsizes, starts, order, old) => {
                Datatype::subarray(sizes, subsizes, starts, *order, &of(old)?)
            }
            Self::Darray(rank, dimensions, order, old) => {
                Datatype::darray(*rank, dimensions, *order, &of(old)?)
            }
            Self::Resized(lb, extent, old) => of(old)?.resized(*lb, *extent),
        }
    }

    /// The old types.
    #[must_use]
    pub fn old(&self) -> &[Self] {
        match self {
            Self::Named(_) => &[],
            Self::Struct(_, _, types) => types,
            Self::Dup(old)
            | Self::Contiguous(_, old)
            | Self::Vector(_, _, _, old)
            | Self::Hvector(_, _, _, old)
            | Self::Indexed(_, _, old)
            | Self::Hindexed(_, _, old)
            | Self::IndexedBlock(_, _, old)
            | Self::HindexedBlock(_, _, old)
            | Self::Subarray(_, _, _, _, old)
            | Self::Darray(_, _, _, old)
            | Self::Resized(_, _, old) => core::slice::from_ref(old),
        }
    }

    /// The recipe as numbers for `peer.c`: the constructor, its arguments, each list after its length, and the types.
    #[must_use]
    pub fn words(&self) -> Vec<i64> {
        let mut words = Vec::new();
        self.write(&mut words);
        words
    }

    fn write(&self, words: &mut Vec<i64>) {
        fn counts(words: &mut Vec<i64>, counts: &[usize]) {
            words.extend(counts.iter().map(|count| *count as i64));
        }
        fn places(words: &mut Vec<i64>, places: &[isize]) {
            words.extend(places.iter().map(|place| *place as i64));
        }
        let head = |words: &mut Vec<i64>, constructor: i64, arguments: &[usize]| {
            words.push(constructor);
            counts(words, arguments);
        };
        let old = match self {
            Self::Named(name) => return head(words, 0, &[*name]),
            Self::Dup(old) => {
                head(words, 1, &[]);
                old
            }
            Self::Contiguous(count, old) => {
                head(words, 2, &[*count]);
                old
            }
            Self::Vector(count, len, stride, old) | Self::Hvector(count, len, stride, old) => {
                head(words, if matches!(self, Self::Vector(..)) { 3 } else { 4 }, &[*count, *len]);
                words.push(*stride as i64);
                old
            }
            Self::Indexed(lens, displacements, old) | Self::Hindexed(lens, displacements, old) => {
                head(words, if matches!(self, Self::Indexed(..)) { 5 } else { 6 }, &[lens.len()]);
                counts(words, lens);
                places(words, displacements);
                old
            }
            Self::IndexedBlock(len, displacements, old) | Self::HindexedBlock(len, displacements, old) => {
                head(
                    words,
                    if matches!(self, Self::IndexedBlock(..)) { 7 } else { 8 },
                    &[displacements.len(), *len],
                );
                places(words, displacements);
                old
            }
            Self::Struct(lens, displacements, types) => {
                head(words, 9, &[lens.len()]);
                counts(words, lens);
                places(words, displacements);
                return types.iter().for_each(|old| old.write(words));
            }
            Self::Subarray(sizes, subsizes, starts, order, old) => {
                head(words, 10, &[sizes.len(), usize::from(*order == Order::Fortran)]);
                [sizes, subsizes, starts].into_iter().for_each(|list| counts(words, list));
                old
            }
            Self::Darray(rank, dimensions, order, old) => {
                let processes = dimensions.iter().map(|dimension| dimension.processes).product();
                let fortran = usize::from(*order == Order::Fortran);
                head(words, 11, &[dimensions.len(), fortran, processes, *rank]);
                for dimension in dimensions {
                    let (distribution, argument) = match dimension.distribution {
                        Distribution::None => (0, None),
                        Distribution::Block(len) => (1, len),
                        Distribution::Cyclic(len) => (2, len),
                    };
                    counts(
                        words,
                        &[dimension.global, distribution, argument.unwrap_or(0), dimension.processes],
                    );
                }
                old
            }
            Self::Resized(lb, extent, old) => {
                head(words, 12, &[]);
                places(words, &[*lb, *extent]);
                old
            }
        };
        old.write(words);
    }
}
