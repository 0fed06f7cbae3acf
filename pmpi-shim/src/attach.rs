//! The way into the layer for programs that call it of their own will, `mpress-rsmpi`: a layer for one communicator.
//!
//! All is as in the shim, but that the program's other calls do not come here. So nothing is held back for a later call: chunks of long
//! messages are all started at once. And no message is taken from the MPI before the program asks for it, also where `MPRESS_PREDICT` is set:
//! the stash stays empty.

use crate::agreed::Private;
use crate::finish::{end_messages, free};
use crate::identity;
use crate::matched::mprobe_only;
use crate::mpi::open;
use crate::startup::{Agreement, ask_for_nodes, handshake, make_engine, make_world, prepare};
use crate::state::Shim;
use crate::sys::*;
use mpress::{Engine, Predict, Settings, SettingsError, Strategy};
use std::ffi::c_int;

/// Why there is no layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The ranks have different versions or settings, or wrong ones.
    Disagreement,
    /// The MPI is none that the layer knows enough of, for this reason.
    Unsupported(String),
    /// An error code of the MPI.
    Mpi(c_int),
}

impl From<c_int> for AttachError {
    fn from(code: c_int) -> Self {
        Self::Mpi(code)
    }
}

/// Makes a layer for an intra-communicator. All of its ranks must call this, and have all calls that may send or meet frames made with the
/// layer. `None`: there is nothing to gain, or the settings say so. Of the settings, those of reports, records, patience and prediction are not
/// used.
///
/// # Errors
/// All ranks have an [`AttachError`] if one has.
///
/// # Safety
/// The MPI must be initialised, and the communicator live as long as the layer. No messages on it may be under way. The MPI writes to memory
/// that the layer holds for requests under way: a layer must not be freed, but by [`detach`], before they are complete.
pub unsafe fn attach(
    comm: MPI_Comm,
    settings: &Result<Settings, SettingsError>,
) -> Result<Option<Shim>, AttachError> {
    let doubt = identity::doubt();
    let (mut rank, mut size) = (0, 0);
    // SAFETY: a communicator that lives, places for the answers.
    let known = unsafe {
        ok(PMPI_Comm_rank(comm, &raw mut rank)).and_then(|()| ok(PMPI_Comm_size(comm, &raw mut size)))
    };
    let agreement = known.and_then(|()| handshake(comm, settings, doubt.clone(), (rank, size), None));
    let (settings, mark, nodes) = match (settings, agreement, doubt) {
        (Ok(settings), Ok(Agreement::Reached(agreed, nodes)), None) => (settings, agreed.mark, nodes),
        // Where the MPI has not even the first of these functions, this is why.
        (_, _, Some(doubt)) => return Err(AttachError::Unsupported(doubt)),
        (_, Err(code), None) => return Err(code.into()),
        (_, Ok(_), None) => return Err(AttachError::Disagreement),
    };
    if settings.disable || settings.strategy == Strategy::Off {
        return Ok(None);
    }
    let nodes = match nodes {
        Some(nodes) => nodes,
        None => ask_for_nodes(comm, rank, size)?,
    };
    let world = make_world(comm, rank, nodes, settings.same_node)?;
    if !world.frames_any() {
        world.free();
        return Ok(None);
    }
    let settings = Settings { trace: None, record: None, predict: Predict::Off, ..settings.clone() };
    let private = Private::new(comm)?;
    let engine = make_engine(&world, &settings, mark, &private)?;
    let shim = prepare(world, &settings, engine, private, false)?;
    if let Some(peers) = shim.collective_peers(comm) {
        peers.collectives.begin(&shim.private);
    }
    Ok(Some(shim))
}

/// Ends a layer, once its communicator has been freed. Messages of requests that were completed are sent to their end before.
pub fn detach(layer: Shim) {
    let mut over = 0;
    // SAFETY: a place for the answer, which may be asked for at any time.
    unsafe { PMPI_Finalized(&raw mut over) };
    if over != 0 || end_messages(&layer) {
        // The MPI is gone, or still reads what is left.
        std::mem::forget(layer);
        return;
    }
    free(&layer);
    let mut private = layer.private.comm;
    // SAFETY: a communicator of ours that nothing uses any more.
    unsafe { PMPI_Comm_free(&raw mut private) };
}

/// `MPI_Mprobe`, which with a layer tells the length of a message also where that comes in a frame.
///
/// # Errors
/// The code of the MPI.
///
/// # Safety
/// As for `MPI_Mprobe`. The message is to be received with the same layer.
pub unsafe fn mprobe(
    layer: Option<&Shim>,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Result<(MPI_Message, MPI_Status), c_int> {
    // SAFETY: the caller vouches for the arguments; places for the answers.
    unsafe {
        if let Some(shim) = layer {
            return mprobe_only(shim, source, tag, comm);
        }
        let (mut message, mut status) = (MESSAGE_NULL, empty_status());
        ok(open::MPI_Mprobe(source, tag, comm, &raw mut message, &raw mut status))?;
        Ok((message, status))
    }
}

impl Shim {
    /// The engine, which has the counters.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.context.engine
    }

    /// Whether messages between this rank and that one of a communicator may go in frames.
    #[must_use]
    pub fn frames_with(&self, comm: MPI_Comm, rank: c_int) -> bool {
        rank >= 0 && self.peers(comm).is_some_and(|peers| peers.frames_with(rank))
    }

    /// Whether this error code is that of a damaged message.
    #[must_use]
    pub fn is_damage(&self, code: c_int) -> bool {
        code == self.damaged
    }
}
