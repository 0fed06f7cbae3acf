//! The transport over MPI, using the rsmpi adapter: messages between nodes are compressed if that pays.

use crate::transport::{Content, Transport, TransportError};
use mpi::{
    Tag,
    topology::SimpleCommunicator,
    traits::{Communicator, CommunicatorCollectives, Source},
};
use mpress_rsmpi::{
    CompressedCommunicator, Kind,
    traits::{CompressedDestination, CompressedSource},
};
use std::{
    collections::VecDeque,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

/// No other messages are sent on the communicator.
const TAG: Tag = 1;
/// Within this time a waiting rank yields its core; afterwards it uses almost no CPU time.
const SPIN: Duration = Duration::from_millis(20);
const NAP: Duration = Duration::from_micros(100);
/// A rank that has waited this long takes part in the search for a deadlock.
const LONG: Duration = Duration::from_millis(100);

/// Messages over a separate communicator.
pub struct MpiTransport {
    communicator: Rc<CompressedCommunicator>,
    rank: u32,
    size: u32,
    digest: u64,
    /// Messages that arrived during a send.
    received: VecDeque<(u32, Vec<u8>)>,
    /// When the rank began to wait.
    idle: Option<Instant>,
}

fn failed(error: impl std::fmt::Display) -> TransportError {
    TransportError(error.to_string())
}

impl MpiTransport {
    /// A transport between the processes of a communicator, which it duplicates; all of them must call this. The settings are those of the `MPRESS_*`
    /// environment variables.
    ///
    /// # Errors
    /// [`TransportError`] as for [`CompressedCommunicator::from_env`].
    pub fn new<C: Communicator>(of: &C) -> Result<Self, TransportError> {
        let communicator = Rc::new(CompressedCommunicator::from_env(of).map_err(failed)?);
        let number = |rank: i32| u32::try_from(rank).map_err(failed);
        let (rank, size) = (number(communicator.rank())?, number(communicator.size())?);
        // For a plan, two communicators are equal if they have the same processes of the world in the same order.
        let mut members = vec![0_i32; size as usize];
        communicator.all_gather_into(&SimpleCommunicator::world().rank(), &mut members[..]);
        let members: Vec<u8> = members.iter().flat_map(|member| member.to_le_bytes()).collect();
        let digest = u64::from(size) << 32 | u64::from(crc32fast::hash(&members));
        Ok(Self { communicator, rank, size, digest, received: VecDeque::new(), idle: None })
    }

    /// The communicator, for statistics on compression after a node has taken the transport. Nothing may be sent on it.
    pub fn communicator(&self) -> Rc<CompressedCommunicator> {
        self.communicator.clone()
    }
}

fn kind(content: Content) -> Kind {
    match content {
        Content::Other => Kind::Other,
        Content::Int8 => Kind::Int8,
        Content::Int16 => Kind::Int16,
        Content::Int32 => Kind::Int32,
        Content::Int64 => Kind::Int64,
        Content::F32 => Kind::F32,
        Content::F64 => Kind::F64,
    }
}

/// A message, if one has arrived.
fn receive(communicator: &CompressedCommunicator) -> Result<Option<(u32, Vec<u8>)>, TransportError> {
    let Some(status) = communicator.any_process().immediate_probe_with_tag(TAG) else { return Ok(None) };
    let from = status.source_rank();
    let process = communicator.process_at_rank(from);
    let (message, _) = process.compressed_receive_vec_with_tag(TAG).map_err(failed)?;
    Ok(Some((u32::try_from(from).map_err(failed)?, message)))
}

impl Transport for MpiTransport {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn communicator(&self) -> u64 {
        self.digest
    }

    /// Receives while sending: otherwise two ranks that send long messages to each other would wait forever.
    fn send(&mut self, to: u32, message: Vec<u8>, content: Content) -> Result<(), TransportError> {
        let Self { communicator, received, .. } = self;
        let kind = kind(content);
        let process = communicator.process_at_rank(i32::try_from(to).map_err(failed)?);
        mpi::request::scope(|scope| {
            let mut request = process
                .immediate_compressed_send_as_with_tag(scope, &message[..], kind, TAG)
                .map_err(failed)?;
            while let Err(unfinished) = request.test().map_err(failed)? {
                request = unfinished;
                match receive(communicator) {
                    Ok(Some(message)) => received.push_back(message),
                    Ok(None) => thread::yield_now(),
                    Err(error) => {
                        request.wait_without_status().map_err(failed)?;
                        return Err(error);
                    }
                }
            }
            Ok(())
        })
    }

    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, TransportError> {
        let message = match self.received.pop_front() {
            None => receive(&self.communicator)?,
            message => message,
        };
        if message.is_some() {
            self.idle = None;
        }
        Ok(message)
    }

    fn idle(&mut self) -> Result<bool, TransportError> {
        let waited = self.idle.get_or_insert_with(Instant::now).elapsed();
        if waited < SPIN {
            thread::yield_now();
        } else {
            thread::sleep(NAP);
        }
        Ok(waited >= LONG)
    }
}
