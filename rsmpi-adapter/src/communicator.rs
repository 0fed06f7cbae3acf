//! The communicator that compresses, and the layer that it is attached to.

use crate::attached::Attached;
use crate::context::Context;
use crate::error::{Error, Result, mpi_error};
use crate::shim;
use mpi::Rank;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AnyCommunicator, Communicator};
use mpress::{Engine, Knowledge, Settings, SettingsError, Stats, Strategy};
use mpress_layer::{AttachError, Layer};
use std::ops::Deref;
use std::sync::Arc;

/// A communicator on which the methods of [`traits`](crate::traits) compress.
///
/// It is a duplicate of the communicator it is made from, so nothing sent on that one is affected. It can be used like any
/// [`SimpleCommunicator`], with one rule: what was sent by a method of this crate must be received by one, since it may be a
/// frame. Everything else of rsmpi works on it as ever; messages that rsmpi's own methods send are received by either.
///
/// Duplicates of it do not compress. Like any communicator it must be dropped before the
/// [`Universe`](mpi::environment::Universe) is. Dropping it may take up to five seconds, if there are messages whose requests are complete and that
/// nobody receives.
pub struct CompressedCommunicator {
    // In this order: the attribute of the communicator holds the context, too, and must not be the last to do so.
    comm: SimpleCommunicator,
    context: Arc<Context>,
}

impl CompressedCommunicator {
    /// Makes a communicator that compresses, of the processes of this one. All of them must call this, and with the same
    /// settings. Of these `report`, `report_file`, `patience`, `dump_config` and those of prediction are not used; [`stats`](Self::stats) counts.
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
        // All ranks do so: all get the same answer.
        let settings = match settings {
            Ok(settings) if shim::is_active() => Ok(Settings { disable: true, ..settings }),
            settings => settings,
        };
        // SAFETY: the MPI is initialised, since there is a communicator. This one is new, and lives as long as the layer: what is freed first is
        // the communicator, but then no call is made with the layer any more.
        let layer = unsafe { mpress_layer::attach(comm.as_raw().0 as _, &settings) };
        let unused = Engine::new(&settings?, &Knowledge::default(), None);
        let layer = layer.map_err(|error| match error {
            AttachError::Disagreement => Error::Disagreement,
            AttachError::Unsupported(why) => Error::Unsupported(why),
            AttachError::Mpi(code) => mpi_error(code),
        })?;
        let context = Arc::new(Context::new(layer, unused, comm.size()));
        comm.set_attr(Attached(Arc::clone(&context)));
        Ok(Self { comm, context })
    }

    /// What this rank has sent and received on this communicator by methods of this crate: messages from 1024 bytes on for ranks
    /// that frames may go to.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.context.engine().stats()
    }

    /// The engine of this rank, for what it knows of the network, and for reports ([`mpress::report`]).
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.context.engine()
    }

    /// Whether messages between this rank and that one may go in frames.
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
