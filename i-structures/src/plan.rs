//! Residual programs (section 3.3 of the paper): a plan lists the blocks that each rank will fetch, so that no requests need to be sent.

use crate::{
    bytes::Reader,
    error::{Error, Result},
    handle::{IStructure, Structure},
    plan_file,
};
use crc32fast::Hasher;
use std::collections::{BTreeSet, HashMap};

/// Consecutive blocks of one structure that one rank owns and another one fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// The index of the structure in the plan.
    pub(crate) position: u32,
    /// The other rank.
    pub(crate) rank: u32,
    pub(crate) first: u64,
    /// At least 1; `first + count` does not overflow.
    pub(crate) count: u64,
}

impl Span {
    /// Length in messages and files, in bytes.
    pub(crate) const BYTES: usize = 24;

    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.position.to_le_bytes());
        to.extend_from_slice(&self.rank.to_le_bytes());
        to.extend_from_slice(&self.first.to_le_bytes());
        to.extend_from_slice(&self.count.to_le_bytes());
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (position, rank) = (reader.u32()?, reader.u32()?);
        let (first, count) = (reader.u64()?, reader.u64()?);
        (count > 0 && first.checked_add(count).is_some()).then_some(Self { position, rank, first, count })
    }

    pub(crate) fn end(&self) -> u64 {
        self.first + self.count
    }

    /// Whether spans are sorted and do not overlap.
    pub(crate) fn ascend(spans: &[Self]) -> bool {
        spans.iter().zip(spans.iter().skip(1)).all(|(a, b)| {
            (a.position, a.rank) < (b.position, b.rank)
                || ((a.position, a.rank) == (b.position, b.rank) && a.end() <= b.first)
        })
    }
}

/// The parameters for which a plan is valid: it is refused for any others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) ranks: u32,
    pub(crate) rank: u32,
    pub(crate) communicator: u64,
    /// For each structure, a check of length, distribution, CB, deferral and type.
    pub(crate) checks: Vec<u32>,
}

impl Parameters {
    /// Equal on all ranks with equal parameters.
    pub(crate) fn digest(&self) -> u64 {
        let mut crc = Hasher::new();
        crc.update(&self.ranks.to_le_bytes());
        crc.update(&self.communicator.to_le_bytes());
        self.checks.iter().for_each(|check| crc.update(&check.to_le_bytes()));
        (self.checks.len() as u64) << 32 | u64::from(crc.finalize())
    }
}

/// One rank's part of a plan: the blocks that it will receive, and those that it will send. It can be used for any number of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(crate) parameters: Parameters,
    pub(crate) wanted: Vec<Span>,
    pub(crate) served: Vec<Span>,
}

impl Plan {
    /// The number of values that one run of the plan sends from this rank, with deferral by blocks or if everything has been stored before.
    pub fn values(&self) -> u64 {
        self.served.iter().fold(0, |sum, span| sum.saturating_add(span.count))
    }

    /// The plan in the format of docs/format/i-structures.md.
    pub fn to_bytes(&self) -> Vec<u8> {
        plan_file::encode(self)
    }

    /// Decodes a plan.
    ///
    /// # Errors
    /// [`Error::PlanFile`] if the bytes are not the output of [`Plan::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        plan_file::decode(bytes)
    }

    /// Checks that the plan is valid for these parameters and structures.
    pub(crate) fn fits(&self, parameters: &Parameters, structures: &[Structure]) -> Result<()> {
        let of = &self.parameters;
        if of.ranks != parameters.ranks {
            return Err(Error::Plan("another number of ranks"));
        }
        if of.rank != parameters.rank {
            return Err(Error::Plan("another rank"));
        }
        if of.communicator != parameters.communicator {
            return Err(Error::Plan("another communicator"));
        }
        if of.checks != parameters.checks {
            return Err(Error::Plan("structures with other sizes, distributions, blocks, deferral or types"));
        }
        let exists = |owner: u32, span: &Span| {
            structures.get(span.position as usize).is_some_and(|s| span.end() <= s.shape().blocks(owner))
        };
        let other = |span: &Span| span.rank < of.ranks && span.rank != of.rank;
        let wanted = self.wanted.iter().all(|span| other(span) && exists(span.rank, span));
        let served = self.served.iter().all(|span| other(span) && exists(of.rank, span));
        if wanted && served { Ok(()) } else { Err(Error::Plan("blocks that do not exist")) }
    }
}

/// Records the elements that a rank will fetch: the program's access pattern, run without data.
#[derive(Debug)]
pub struct Recorder {
    pub(crate) parameters: Parameters,
    pub(crate) structures: Vec<Structure>,
    positions: HashMap<u64, u32>,
    wanted: BTreeSet<(u32, u32, u64)>,
}

impl Recorder {
    pub(crate) fn new(parameters: Parameters, structures: &[Structure]) -> Result<Self> {
        if structures.iter().any(|structure| !structure.shape().cached) {
            return Err(Error::Options(
                "a plan needs structures with a cache: it has nowhere else to put values",
            ));
        }
        let positions: HashMap<_, _> = structures.iter().map(|s| s.0.id).zip(0..).collect();
        if positions.len() != structures.len() || u32::try_from(structures.len()).is_err() {
            return Err(Error::Options("a structure is named twice in a plan"));
        }
        Ok(Self { parameters, structures: structures.to_vec(), positions, wanted: BTreeSet::new() })
    }

    /// Records that this rank will fetch an element.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::Misuse`] for a structure that is not part of this plan.
    pub fn fetch<T>(&mut self, structure: &IStructure<T>, index: u64) -> Result<()> {
        let of = structure.untyped();
        let position =
            *self.positions.get(&of.0.id).ok_or(Error::Misuse("the structure is not one of the plan"))?;
        let (owner, slot) = of.locate(index)?;
        if owner != self.parameters.rank {
            self.wanted.insert((position, owner, of.shape().block.divide(slot).0));
        }
        Ok(())
    }

    /// The recorded blocks as spans.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (position, rank, block) in &self.wanted {
            match spans.last_mut() {
                Some(last) if (last.position, last.rank, last.end()) == (*position, *rank, *block) => {
                    last.count += 1;
                }
                _ => spans.push(Span { position: *position, rank: *rank, first: *block, count: 1 }),
            }
        }
        spans
    }
}
