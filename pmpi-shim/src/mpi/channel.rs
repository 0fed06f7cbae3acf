//! Messages of bytes between the layers of two ranks, tests of their requests, and matched probes.

use super::{real, sys::*};

/// The other rank, and the tag of the messages, on a communicator of the layer's.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub(crate) comm: MPI_Comm,
    pub(crate) peer: c_int,
    pub(crate) tag: c_int,
}

impl Channel {
    /// Starts to send. `synchronous`: the send is complete only when it is received.
    ///
    /// # Safety
    /// There must be `len` bytes until the request completes.
    pub(crate) unsafe fn send(
        self,
        at: *const u8,
        len: usize,
        synchronous: bool,
    ) -> Result<MPI_Request, c_int> {
        let start = if synchronous { real::MPI_Issend } else { real::MPI_Isend };
        let (Self { comm, peer, tag }, mut request) = (self, REQUEST_NULL);
        // SAFETY: the caller vouches for the memory.
        ok(unsafe { start(at.cast(), count(len)?, BYTE, peer, tag, comm, &raw mut request) })?;
        Ok(request)
    }

    /// Starts to receive.
    ///
    /// # Safety
    /// There must be room for `len` bytes until the request completes.
    pub(crate) unsafe fn receive(self, at: *mut u8, len: usize) -> Result<MPI_Request, c_int> {
        let (Self { comm, peer, tag }, mut request) = (self, REQUEST_NULL);
        // SAFETY: the caller vouches for the memory.
        ok(unsafe { real::MPI_Irecv(at.cast(), count(len)?, BYTE, peer, tag, comm, &raw mut request) })?;
        Ok(request)
    }
}

/// A number of bytes or elements as MPI has it.
pub(crate) fn count(len: usize) -> Result<c_int, c_int> {
    c_int::try_from(len).map_err(|_| ERR_INTERN)
}

/// Tests a request of the layer's; `None` if it is under way.
pub(crate) fn test(request: &mut MPI_Request) -> Option<Result<MPI_Status, c_int>> {
    let (mut flag, mut status) = (0, empty_status());
    // SAFETY: our own request, valid output pointers.
    let code = unsafe { real::MPI_Test(request, &raw mut flag, &raw mut status) };
    (code != SUCCESS || flag != 0).then(|| ok(code).map(|()| status))
}

/// Matches a message, if one has come.
pub(crate) fn match_one(of: Match) -> Result<Option<(MPI_Message, MPI_Status)>, c_int> {
    let (Match { source, tag, comm }, mut flag, mut message, mut status) =
        (of, 0, MESSAGE_NULL, empty_status());
    // SAFETY: the arguments of a matched probe; valid output pointers.
    ok(unsafe { real::MPI_Improbe(source, tag, comm, &raw mut flag, &raw mut message, &raw mut status) })?;
    Ok((flag != 0).then_some((message, status)))
}
