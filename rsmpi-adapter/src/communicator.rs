//! The communicator that compresses, and the handshake that makes it.
//!
//! Frames are used only if every rank said the same in the handshake: same version, same lengths of frames, same codecs, same
//! settings.

use crate::attached::Attached;
use crate::context::{Context, Peers};
use crate::error::{Error, Result};
use crate::network::Messages;
use crate::shim;
use mpi::Rank;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AnyCommunicator, Communicator, CommunicatorCollectives};
use mpress::{Engine, Knowledge, Mark, SameNode, Settings, SettingsError, Spread, Stats, Strategy, job};
use std::ops::Deref;
use std::sync::Arc;

/// A communicator on which the methods of [`traits`](crate::traits) compress.
///
/// It is a duplicate of the communicator it is made from, so nothing sent on that one is affected. It can be used like any
/// [`SimpleCommunicator`], with one rule: what was sent by a method of this crate must be received by one, since it may be a
/// frame. Everything else of rsmpi works on it as ever; messages that rsmpi's own methods send are received by either.
///
/// Duplicates of it do not compress. Like any communicator it must be dropped before the
/// [`Universe`](mpi::environment::Universe) is.
pub struct CompressedCommunicator {
    // In this order: the attribute of the communicator holds the context, too, and must not be the last to do so.
    comm: SimpleCommunicator,
    context: Arc<Context>,
}

impl CompressedCommunicator {
    /// Makes a communicator that compresses, of the processes of this one. All of them must call this, and with the same
    /// settings. Of these `report`, `report_file`, `patience` and `dump_config` are not used; [`stats`](Self::stats) counts.
    ///
    /// Heuristics are read where the settings name a folder, else the network is measured, in some milliseconds, if the strategy
    /// learns and every node has as many ranks. Where there is nothing to gain, on a single node, nothing is compressed.
    ///
    /// # Errors
    /// [`Error::Disagreement`] on every rank if they are not alike; [`Error::InterCommunicator`]; [`Error::Settings`] for
    /// [`Strategy::Guided`] without a record.
    pub fn new<C: Communicator + ?Sized>(of: &C, settings: &Settings) -> Result<Self> {
        Self::start(of, Ok(settings.clone()))
    }

    /// The same with the settings of the `MPRESS_*` environment variables.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`Error::Settings`] on a rank whose variables are wrong; the other ranks have
    /// [`Error::Disagreement`] then.
    pub fn from_env<C: Communicator + ?Sized>(of: &C) -> Result<Self> {
        Self::start(of, Settings::from_vars(std::env::vars_os()))
    }

    fn start<C: Communicator + ?Sized>(
        of: &C,
        settings: std::result::Result<Settings, SettingsError>,
    ) -> Result<Self> {
        if of.test_inter() {
            return Err(Error::InterCommunicator);
        }
        let settings = settings.and_then(|settings| match &settings.guide {
            None if settings.strategy == Strategy::Guided => Err(SettingsError::NoGuide),
            _ => Ok(settings),
        });
        let mut comm = of.duplicate();
        let agreed = handshake(&comm, settings.as_ref().ok());
        let (settings, agreed) = (settings?, agreed?);
        let channel = comm.duplicate();
        let pass = agreed.pass || settings.disable || settings.strategy == Strategy::Off;
        let nodes = if pass { Vec::new() } else { find_nodes(&comm) };
        let peers = peers(comm.rank(), &nodes, settings.same_node);
        let engine = if peers.anyone {
            make_engine(&channel, &nodes, &settings).with_mark(agreed.mark)
        } else {
            Engine::new(&settings, &Knowledge::default(), None)
        };
        let context = Arc::new(Context::new(engine, peers, channel)?);
        comm.set_attr(Attached(Arc::clone(&context)));
        Ok(Self { comm, context })
    }

    /// What this rank has sent and received on this communicator by methods of this crate: messages from 1024 bytes on for ranks
    /// that frames may go to.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.context.engine.stats()
    }

    /// The engine of this rank, for what it knows of the network, and for reports ([`mpress::report`]).
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.context.engine
    }

    /// Whether messages between this rank and that one may go in frames.
    #[must_use]
    pub fn compresses_with(&self, rank: Rank) -> bool {
        self.context.peers.framed(rank)
    }
}

impl Deref for CompressedCommunicator {
    type Target = SimpleCommunicator;

    fn deref(&self) -> &SimpleCommunicator {
        &self.comm
    }
}

/// What all ranks have agreed on.
struct Agreed {
    mark: Mark,
    /// The shim compresses already: everything is passed to it as it is.
    pass: bool,
}

/// Asks all ranks whether they agree, and draws the mark.
fn handshake(comm: &SimpleCommunicator, settings: Option<&Settings>) -> Result<Agreed> {
    let [number, complement, random] = job::said(settings);
    // The fourth is 0 where the shim is active.
    let mine = [number, complement, random, u64::from(!shim::is_active())];
    let mut least = mine;
    comm.all_reduce_into(&mine, &mut least, SystemOperation::min());
    let [number, complement, random, passive] = least;
    let mark = job::heard([number, complement, random]).ok_or(Error::Disagreement)?;
    Ok(Agreed { mark, pass: passive == 0 })
}

/// For each rank, the lowest rank that shares memory with it.
fn find_nodes(comm: &SimpleCommunicator) -> Vec<Rank> {
    let rank = comm.rank();
    let mut leader = rank;
    let node = comm.split_shared(rank);
    node.all_reduce_into(&rank, &mut leader, SystemOperation::min());
    let mut nodes: Vec<Rank> = vec![0; usize::try_from(comm.size()).unwrap_or(0)];
    comm.all_gather_into(&leader, &mut nodes);
    nodes
}

/// The peers of a rank, from the node of each.
fn peers(rank: Rank, nodes: &[Rank], same_node: SameNode) -> Peers {
    let other_node: Box<[bool]> = nodes.iter().map(|node| Some(node) != own(rank, nodes)).collect();
    let framed = (0..)
        .zip(&other_node)
        .map(|(other, &elsewhere)| other != rank && (elsewhere || same_node == SameNode::Compress))
        .collect();
    let several = nodes.iter().any(|node| Some(node) != nodes.first());
    let anyone = several || (same_node == SameNode::Compress && nodes.len() > 1);
    Peers { framed, other_node, anyone, spread: Spread::new(nodes, open_mpi()) }
}

/// Whether the MPI is Open MPI.
fn open_mpi() -> bool {
    mpi::environment::library_version().is_ok_and(|version| version.starts_with("Open MPI"))
}

fn own(rank: Rank, nodes: &[Rank]) -> Option<&Rank> {
    usize::try_from(rank).ok().and_then(|rank| nodes.get(rank))
}

/// The engine, with all that is known before the first message. What of that cannot be read is said once, by rank 0. All ranks must
/// call this.
fn make_engine(channel: &SimpleCommunicator, nodes: &[Rank], settings: &Settings) -> Engine {
    let say = |line: &dyn std::fmt::Display| {
        if channel.rank() == 0 {
            eprintln!("mpress: {line}");
        }
    };
    let rank = usize::try_from(channel.rank()).unwrap_or(0);
    let Ok(engine) = Engine::start(settings, nodes, rank, say, &mut Messages::new(channel));
    engine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_go_to_other_nodes() {
        let nodes = [0, 0, 2, 2];
        let peers = super::peers(1, &nodes, SameNode::Pass);
        assert_eq!(*peers.framed, [false, false, true, true]);
        assert_eq!(peers.other_node, peers.framed);
        assert!(peers.anyone && peers.framed(3) && !peers.framed(0) && !peers.framed(4) && !peers.framed(-7));
        let alone = super::peers(0, &[0, 0, 0], SameNode::Pass);
        assert!(!alone.anyone && !alone.framed.contains(&true));
        let forced = super::peers(0, &[0, 0, 0], SameNode::Compress);
        assert_eq!(*forced.framed, [false, true, true]);
        assert!(forced.anyone && !super::peers(0, &[0], SameNode::Compress).anyone);
    }
}
