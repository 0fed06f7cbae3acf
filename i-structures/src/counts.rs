//! The counters of a rank: accesses, messages, and memory.

use std::ops::AddAssign;

/// Accesses by the paper's four cases (section 3.2), and messages of the four transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Fetches of elements of this rank.
    pub local: u64,
    /// Fetches of remote elements that were in the cache.
    pub hits: u64,
    /// Fetches that sent a request.
    pub misses: u64,
    /// Fetches of remote elements whose block's value is in transit or deferred.
    pub deferred_misses: u64,
    /// Requests sent (*send-a-request*).
    pub requests: u64,
    /// Values sent (*send-a-value*).
    pub values: u64,
    /// Messages of any other kind sent: refusals, parts of plans, termination detection.
    pub control: u64,
    /// Bytes of the requests and values sent.
    pub bytes: u64,
    /// Cache blocks evicted.
    pub evicted: u64,
}

impl Counts {
    /// Requests and values: the number in Table 1 of the paper.
    pub fn messages(&self) -> u64 {
        self.requests + self.values
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.local += other.local;
        self.hits += other.hits;
        self.misses += other.misses;
        self.deferred_misses += other.deferred_misses;
        self.requests += other.requests;
        self.values += other.values;
        self.control += other.control;
        self.bytes += other.bytes;
        self.evicted += other.evicted;
    }
}

/// The memory that a rank currently holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Structures that exist.
    pub structures: usize,
    /// Bytes of the elements of this rank.
    pub element_bytes: usize,
    /// Elements and blocks of this rank that have a queue of deferred readers.
    pub queues: usize,
    /// Cache blocks.
    pub cache_blocks: usize,
    /// Bytes of the cache blocks: elements, presence bits and a fixed part per block.
    pub cache_bytes: usize,
    /// Requests without a cache that wait for their values.
    pub pending: usize,
    /// Messages kept for structures that do not exist yet.
    pub parked: usize,
    /// Tasks that have not ended.
    pub tasks: usize,
    /// Allocated table entries, used or not: of structures, queues, cache, pending requests and tasks.
    pub capacity: usize,
}
