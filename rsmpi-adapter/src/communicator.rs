//! The compressed communicator, and the layer attached to it.

use crate::attached::Attached;
use crate::context::Context;
use crate::error::{Error, Result, mpi_error};
use crate::shim;
use mpi::Rank;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AnyCommunicator, Communicator};
use mpress::{Engine, Knowledge, Settings, SettingsError, Stats};
use mpress_layer::{AttachError, Layer};
use std::ops::Deref;
use std::sync::Arc;

/// A communicator on which the methods of [`traits`](crate::traits) compress.
///
/// It is a duplicate of the communicator it is made from, so messages on the original are not affected. It can be used like any
/// [`SimpleCommunicator`], with one rule: a message sent by a method of this crate must be received by a method of this crate, because it
/// may be a frame: rsmpi's own method gives the frame as if it were the data, without an error. All ranks must call a collective operation by
/// this crate's method, or none. Everything else in rsmpi works unchanged; messages sent by rsmpi's own methods can be received by either. A
/// function that takes any rsmpi communicator gets `&*world`.
///
/// Its duplicates and parts (`split_by_color`) do not compress: make a compressed communicator of each. Like any communicator, it must be dropped before the [`Universe`](mpi::environment::Universe). The drop
/// may take up to five seconds if there are messages whose requests are complete but which have not been received.
pub struct CompressedCommunicator {
    // Field order matters: `comm` is dropped first, so that its attribute is not the last owner of the context.
    comm: SimpleCommunicator,
    context: Arc<Context>,
}

impl CompressedCommunicator {
    /// Makes a compressed communicator from the processes of `of`. All of them must call this, with the same settings. `docs/settings.md` of
    /// the project ("Programs in Rust") lists the settings that have an effect.
    ///
    /// ```no_run
    /// # use mpress_rsmpi::{CompressedCommunicator, SameNode, Settings};
    /// # let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    /// let settings = Settings { same_node: SameNode::Compress, strategy: "fixed:diffpack-balanced".parse()?, ..Settings::default() };
    /// let world = CompressedCommunicator::new(&universe.world(), &settings)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Heuristics are read if the settings name a folder. The network is measured, which takes some milliseconds, unless the strategy is `off` or
    /// all ranks are on one node. If there is nothing to gain, for example on a single node, nothing is compressed.
    ///
    /// # Errors
    /// [`Error::Disagreement`] on every rank if settings or versions differ; [`Error::InterCommunicator`]; [`Error::Settings`] on a rank whose
    /// settings have a wrong value ([`Settings::check`]).
    pub fn new<C: Communicator + ?Sized>(of: &C, settings: &Settings) -> Result<Self> {
        Self::start(of, settings.check().map(|()| settings.clone()))
    }

    /// Like [`new`](Self::new), with the settings of the `MPRESS_*` environment variables. Rank 0 prints one line about `MPRESS_*`
    /// variables that are not settings.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`Error::Settings`] on a rank whose variables are invalid; the other ranks then get
    /// [`Error::Disagreement`].
    pub fn from_env<C: Communicator + ?Sized>(of: &C) -> Result<Self> {
        Self::start(of, Settings::from_vars(std::env::vars_os()))
    }

    /// The same with these settings, which the variables change.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn with_env<C: Communicator + ?Sized>(of: &C, settings: Settings) -> Result<Self> {
        let settings = settings.with_vars(std::env::vars_os());
        Self::start(of, settings.and_then(|settings| settings.check().map(|()| settings)))
    }

    fn start<C: Communicator + ?Sized>(
        of: &C,
        settings: std::result::Result<Settings, SettingsError>,
    ) -> Result<Self> {
        if of.test_inter() {
            return Err(Error::InterCommunicator);
        }
        let mut comm = of.duplicate();
        // The shim gives the same answer on all ranks, so all of them do this.
        let settings = match settings {
            Ok(settings) if shim::is_active() => Ok(Settings { disable: true, ..settings }),
            settings => settings,
        };
        // SAFETY: the MPI is initialised, because a communicator exists. This one is new. It is freed before the layer, but no call is made
        // with the layer after that.
        let layer = unsafe { mpress_layer::attach(comm.as_raw().0 as _, &settings) };
        let unused = Engine::new(&settings?, &Knowledge::default(), None);
        let layer = layer.map_err(|error| match error {
            AttachError::Disagreement(why) => Error::Disagreement(why),
            AttachError::Unsupported(why) => Error::Unsupported(why),
            AttachError::Mpi(code) => mpi_error(code),
        })?;
        let context = Arc::new(Context::new(layer, unused, comm.size()));
        comm.set_attr(Attached(Arc::clone(&context)));
        Ok(Self { comm, context })
    }

    /// Statistics of the messages that methods of this crate sent and received on this communicator: messages of at least 1024 bytes, to
    /// and from ranks to which frames may be sent. All zero if nothing may be compressed, for example on a single node, and under `mpress run`,
    /// where the shim compresses, and reports. [`Stats::raw`] says why messages were sent raw. With the strategy `measure`, which sends all
    /// of them raw, [`wire_bytes`](crate::Line::wire_bytes) are those that `adaptive` would have sent.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.context.engine().stats()
    }

    /// The engine of this rank: its knowledge of the network, and its data for reports ([`mpress::report`]).
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.context.engine()
    }

    /// Whether messages between this rank and `rank` may be sent as frames.
    #[must_use]
    pub fn compresses_with(&self, rank: Rank) -> bool {
        let frames = |layer: &Layer| layer.frames_with(self.comm.as_raw().0 as _, rank);
        self.context.layer().is_some_and(frames)
    }
}

impl Deref for CompressedCommunicator {
    type Target = SimpleCommunicator;

    fn deref(&self) -> &SimpleCommunicator {
        &self.comm
    }
}
