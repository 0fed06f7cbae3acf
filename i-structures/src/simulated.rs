//! A simulated network for tests: all ranks in one thread, with messages in an order that depends on a seed. Any message may overtake any other one,
//! even between the same two ranks, with arbitrary delays.

use crate::{
    error::Result,
    node::{Node, Step},
    transport::{Content, Transport, TransportError},
};
use fastrand::Rng;
use std::{cell::RefCell, rc::Rc};

struct Network {
    random: Rng,
    inboxes: Vec<Vec<(u32, Vec<u8>)>>,
}

/// A rank's endpoint of a simulated network.
pub struct Endpoint {
    network: Rc<RefCell<Network>>,
    rank: u32,
    size: u32,
}

/// The endpoints of a network of this number of ranks.
pub fn network(ranks: u32, seed: u64) -> Vec<Endpoint> {
    let inboxes = (0..ranks).map(|_| Vec::new()).collect();
    let network = Rc::new(RefCell::new(Network { random: Rng::with_seed(seed), inboxes }));
    (0..ranks).map(|rank| Endpoint { network: network.clone(), rank, size: ranks }).collect()
}

/// One node for each rank of a network.
pub fn nodes(ranks: u32, seed: u64) -> Vec<Node> {
    network(ranks, seed).into_iter().map(Node::new).collect()
}

impl Endpoint {
    /// The number of messages in transit to this rank.
    pub fn under_way(&self) -> usize {
        self.network.borrow().inboxes.get(self.rank as usize).map_or(0, Vec::len)
    }
}

impl Transport for Endpoint {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn communicator(&self) -> u64 {
        0
    }

    fn send(&mut self, to: u32, message: Vec<u8>, _: Content) -> std::result::Result<(), TransportError> {
        let network = &mut *self.network.borrow_mut();
        let inbox = network.inboxes.get_mut(to as usize);
        inbox.ok_or_else(|| TransportError(format!("there is no rank {to}")))?.push((self.rank, message));
        Ok(())
    }

    fn receive(&mut self) -> std::result::Result<Option<(u32, Vec<u8>)>, TransportError> {
        let Network { random, inboxes } = &mut *self.network.borrow_mut();
        let inbox = inboxes.get_mut(self.rank as usize);
        let Some(inbox) = inbox.filter(|inbox| !inbox.is_empty()) else { return Ok(None) };
        // Messages may be delayed further.
        if random.u8(..4) == 0 {
            return Ok(None);
        }
        let message = inbox.swap_remove(random.usize(..inbox.len()));
        if inbox.is_empty() && inbox.capacity() > 64 {
            *inbox = Vec::new();
        }
        Ok(Some(message))
    }

    fn idle(&mut self) -> std::result::Result<bool, TransportError> {
        Ok(self.network.borrow_mut().random.u8(..4) == 0)
    }
}

/// Steps nodes whose runs have begun, in an order that depends on the seed, until all runs have ended. Returns the results by rank.
pub fn finish(nodes: &[Node], seed: u64) -> Vec<Result<()>> {
    let mut random = Rng::with_seed(seed);
    let mut results: Vec<Option<Result<()>>> = nodes.iter().map(|_| None).collect();
    let mut open: Vec<usize> = (0..nodes.len()).collect();
    while !open.is_empty() {
        let place = random.usize(..open.len());
        let Some(rank) = open.get(place).copied() else { continue };
        if let Some(Step::Ended(result)) = nodes.get(rank).map(Node::step) {
            open.swap_remove(place);
            if let Some(slot) = results.get_mut(rank) {
                *slot = Some(result);
            }
        }
    }
    results.into_iter().flatten().collect()
}
