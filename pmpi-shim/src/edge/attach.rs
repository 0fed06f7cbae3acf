//! The interface to the layer for programs that call it explicitly, such as `mpress-rsmpi`: a layer for one communicator, which does not see the
//! program's other calls. So the unexpected queue stays empty, even if `MPRESS_PREDICT` is set.

use crate::handlers::matched_probe::hand_out_alone;
use crate::job::finish::{end_messages, free, keep_link};
use crate::job::handshake::{Agreement, handshake};
use crate::job::startup::{begin, describe_machine, make_world, name_unknown};
use crate::mpi::{identity, open, sys::*};
use crate::operations::state::Shim;
use mpress::{Engine, Predict, Settings, SettingsError, Strategy};

/// Why a layer could not be attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The ranks have different versions or settings, or one has invalid settings, for this reason.
    Disagreement(String),
    /// The layer does not support this MPI, for this reason.
    Unsupported(String),
    /// An error code of the MPI.
    Mpi(c_int),
}

impl From<c_int> for AttachError {
    fn from(code: c_int) -> Self {
        Self::Mpi(code)
    }
}

/// Makes a layer for an intra-communicator. All of its ranks must call this, and must make all calls that may send or receive frames with the layer.
/// Returns `None` if there is nothing to gain, or if the settings disable compression. The settings of reports, records, patience and prediction are
/// not used.
///
/// # Errors
/// An [`AttachError`], on all ranks if on one.
///
/// # Safety
/// The MPI must be initialised, the communicator must outlive all calls made with the layer, and no messages on it may be pending. The MPI writes to
/// memory that the layer holds for pending requests, so before these are complete a layer must not be freed except by [`detach`].
pub unsafe fn attach(
    comm: MPI_Comm,
    settings: &Result<Settings, SettingsError>,
) -> Result<Option<Shim>, AttachError> {
    let doubt = identity::doubt();
    let known = rank_and_size(comm);
    let agreement = known.and_then(|known| handshake(comm, settings, doubt.clone(), known, None));
    let (settings, (rank, _), agreed, nodes, place) = match (settings, known, agreement, doubt) {
        (Ok(settings), Ok(known), Ok(Agreement::Reached(agreed, nodes, place)), None) => {
            (settings, known, agreed, nodes, place)
        }
        // If the MPI lacks a function, the calls above may have failed because of that.
        (.., Some(doubt)) => return Err(AttachError::Unsupported(doubt)),
        (_, Err(code), ..) | (_, _, Err(code), None) => return Err(code.into()),
        (Err(why), ..) => return Err(AttachError::Disagreement(why.to_string())),
        (_, _, Ok(Agreement::Doubtful(why)), None) => return Err(AttachError::Disagreement(why)),
    };
    if settings.disable {
        return Ok(None);
    }
    name_unknown(settings, rank);
    if settings.strategy == Strategy::Off {
        return Ok(None);
    }
    let world = make_world(comm, rank, nodes, place, settings.same_node)?;
    if !world.frames_any() {
        world.free();
        return Ok(None);
    }
    let settings = Settings { trace: None, record: None, predict: Predict::Off, ..settings.agreed(&agreed) };
    describe_machine(&settings, rank);
    Ok(Some(begin(comm, world, &settings, agreed.mark)?))
}

/// Ends a layer, after its communicator has been freed. Messages of completed requests are first sent completely.
pub fn detach(layer: Shim) {
    keep_link(&layer.engine);
    let mut over = 0;
    PMPI_Finalized(&mut over);
    if over != 0 || end_messages(&layer) {
        // MPI is finalized, or still reads the remaining messages.
        std::mem::forget(layer);
        return;
    }
    free(&layer);
    let mut private = layer.private.comm;
    // SAFETY: our own communicator, which is no longer used.
    unsafe { PMPI_Comm_free(&raw mut private) };
}

/// `MPI_Mprobe`, which with a layer reports the message length for frames, too.
///
/// # Errors
/// The error code of the MPI.
///
/// # Safety
/// As for `MPI_Mprobe`. The message must be received with the same layer.
pub unsafe fn mprobe(
    layer: Option<&Shim>,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Result<(MPI_Message, MPI_Status), c_int> {
    let (mut message, mut status) = (MESSAGE_NULL, empty_status());
    // SAFETY: the caller vouches for the arguments; valid output pointers.
    ok(unsafe { open::MPI_Mprobe(source, tag, comm, &raw mut message, &raw mut status) })?;
    let of = Match { source, tag, comm };
    match layer.and_then(|shim| shim.probe_peers(of).map(|peers| (shim, peers))) {
        Some((shim, peers)) => hand_out_alone(shim, &peers, comm, (message, status)),
        None => Ok((message, status)),
    }
}

impl Shim {
    /// The engine, which has the counters.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.context.engine
    }

    /// Whether messages between this rank and `rank` of a communicator may be sent as frames.
    #[must_use]
    pub fn frames_with(&self, comm: MPI_Comm, rank: c_int) -> bool {
        rank >= 0 && self.peers(comm).is_some_and(|peers| peers.frames_with(rank))
    }

    /// Whether this is the error code of a damaged message.
    #[must_use]
    pub fn is_damage(&self, code: c_int) -> bool {
        code == self.damaged
    }
}
