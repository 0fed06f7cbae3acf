//! The receive calls of a rank, written by a separate thread.
//!
//! The file is a sequence of gzip members. Each is complete and ends at the end of a line, so everything written can be read, no matter when and how
//! the program ends.

use crate::files::{self, Run};
use flate2::Compression;
use flate2::write::GzEncoder;
use mpress_predict::trace::{COLUMNS, Kind, Line, MOST_CALLS};
use nix::sys::signal::{SigSet, SigmaskHow};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The maximum number of calls waiting to be written: 4 MiB.
const QUEUE: usize = 1 << 16;

/// How often the thread checks for calls. The caller does not wake it: waking it would take longer than all the rest.
const LOOK: Duration = Duration::from_millis(20);

/// The maximum age of a call before it is written.
const AGE: Duration = Duration::from_secs(1);

/// The number of bytes of text after which it is compressed and written.
const MEMBER: usize = 1 << 20;

/// A receive call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The position of the call in the program; equal positions have equal numbers.
    pub site: u64,
    /// Rank in the communicator; -1 is `MPI_ANY_SOURCE`, -2 is `MPI_PROC_NULL`.
    pub source: i32,
    /// Tag of the message; -1 is `MPI_ANY_TAG`.
    pub tag: i32,
    /// The maximum number of elements.
    pub count: u64,
    /// MPI's name of the datatype; `derivedN` for an unnamed one of N bytes.
    pub datatype: Arc<str>,
    /// Address of the receive buffer.
    pub buffer: u64,
    /// A small number for each communicator; 0 is `MPI_COMM_WORLD`.
    pub comm: u32,
    /// The kind of call.
    pub kind: Kind,
}

/// The destination of a trace.
pub trait Sink: Send + 'static {
    /// Appends all of `bytes` or nothing.
    ///
    /// # Errors
    /// If that fails.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Sink for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = self.metadata()?.len();
        self.write_all(bytes).inspect_err(|_| {
            // A partial member would make the whole file unreadable.
            let _shorter: io::Result<()> = self.set_len(len);
        })
    }
}

/// The result of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Calls in the file.
    pub calls: u64,
    /// The number of calls not in the file: dropped because the file was slower than the program, or made after the trace had ended.
    pub missing: u64,
    /// Why the trace ended before the program; `None` if it did not.
    pub error: Option<String>,
}

/// A trace while it is written.
pub struct Trace {
    calls: SyncSender<Call>,
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<Written>>>,
}

#[derive(Default)]
struct Shared {
    /// The number of calls that were not queued.
    dropped: AtomicU64,
    /// The program is ending.
    is_ending: AtomicBool,
}

impl Trace {
    /// Starts the trace of a rank, replacing an earlier one with the same name. `complain` is called with one line if it has to end early.
    ///
    /// # Errors
    /// If the folder or the file cannot be created or no thread can be started; as a line for the user.
    pub fn start(
        folder: &Path,
        run: &Run,
        complain: impl FnOnce(&str) + Send + 'static,
    ) -> Result<Self, String> {
        let path = run.file(folder, "csv.gz");
        files::make_folder(folder)?;
        let file = files::create(&path).map_err(files::at(&path))?;
        let name = path.display().to_string();
        let complain = move |why: &str| complain(&format!("{name}: {why}; the trace ends here"));
        Self::to(file, QUEUE, complain).map_err(files::at(&path))
    }

    /// Starts a trace with a queue of at most `queue` calls.
    ///
    /// # Errors
    /// If the first line cannot be written or no thread can be started.
    pub fn to(
        mut sink: impl Sink,
        queue: usize,
        complain: impl FnOnce(&str) + Send + 'static,
    ) -> io::Result<Self> {
        sink.append(&packed(format!("{COLUMNS}\n").as_bytes())?)?;
        let (calls, queued) = sync_channel(queue);
        let shared = Arc::<Shared>::default();
        let writer = Writer {
            sink,
            queued,
            shared: Arc::clone(&shared),
            text: Vec::new(),
            lines: 0,
            seq: 0,
            skipped: 0,
            calls: 0,
        };
        let work = move || writer.run(complain);
        // Signals must be delivered to the program's threads. A thread inherits the mask of its creator.
        let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let thread = thread::Builder::new().name("mpress-trace".to_owned()).stack_size(256 << 10).spawn(work);
        mask.thread_set_mask()?;
        Ok(Self { calls, shared, writer: Mutex::new(Some(thread?)) })
    }

    /// Records a call. Never blocks: if the queue is full, the call is dropped and counted.
    pub fn record(&self, call: Call) {
        if self.calls.try_send(call).is_err() {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes all queued calls and closes the file. A second call returns an empty result.
    pub fn finish(&self) -> Written {
        self.shared.is_ending.store(true, Ordering::Release);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else { return Written::default() };
        writer.thread().unpark();
        let mut written = writer.join().unwrap_or_default();
        written.missing += self.shared.dropped.load(Ordering::Relaxed);
        written
    }
}

/// The thread's part.
struct Writer<S> {
    sink: S,
    queued: Receiver<Call>,
    shared: Arc<Shared>,
    /// Lines that have not been written yet.
    text: Vec<u8>,
    lines: u64,
    /// The number of the next call.
    seq: u64,
    /// The number of dropped calls that the line numbers already account for.
    skipped: u64,
    /// Calls in the file.
    calls: u64,
}

impl<S: Sink> Writer<S> {
    fn run(mut self, complain: impl FnOnce(&str)) -> Written {
        let error = self.write_all().err().map(|error| error.to_string());
        if let Some(why) = &error {
            complain(why);
        }
        // Later calls find the queue closed and are counted there. A call queued by another thread at this moment is not counted.
        let missing = self.lines + self.queued.try_iter().count() as u64;
        Written { calls: self.calls, missing, error }
    }

    /// Writes until the program ends.
    fn write_all(&mut self) -> io::Result<()> {
        let mut written = Instant::now();
        loop {
            // Read before the queue is emptied, so that calls queued before the end are found.
            let is_ending = self.shared.is_ending.load(Ordering::Acquire);
            while let Ok(call) = self.queued.try_recv() {
                self.add(&call)?;
                if self.text.len() >= MEMBER {
                    self.write()?;
                    written = Instant::now();
                }
            }
            if is_ending || written.elapsed() >= AGE {
                self.write()?;
                written = Instant::now();
            }
            if is_ending {
                return Ok(());
            }
            thread::park_timeout(LOOK);
        }
    }

    /// Adds the line of a call. Dropped calls leave a gap in the numbers.
    fn add(&mut self, call: &Call) -> io::Result<()> {
        let dropped = self.shared.dropped.load(Ordering::Relaxed);
        self.seq += dropped - std::mem::replace(&mut self.skipped, dropped);
        let datatype = plain_name(&call.datatype);
        let &Call { site, source, tag, count, buffer, comm, kind, .. } = call;
        let line = Line { seq: self.seq, site, source, tag, count, datatype: &datatype, buffer, comm, kind };
        self.seq += 1;
        self.lines += 1;
        if self.calls + self.lines > MOST_CALLS as u64 {
            self.write_full()?;
        }
        writeln!(self.text, "{line}")
    }

    /// Ends the trace: the file has the maximum number of calls that can be read.
    fn write_full(&mut self) -> io::Result<()> {
        self.lines -= 1;
        self.write()?;
        self.lines = 1;
        Err(io::Error::other(format!("a trace has at most {MOST_CALLS} calls")))
    }

    /// Writes the lines as a gzip member.
    fn write(&mut self) -> io::Result<()> {
        if self.lines > 0 {
            self.sink.append(&packed(&self.text)?)?;
            self.calls += std::mem::take(&mut self.lines);
            self.text.clear();
        }
        Ok(())
    }
}

/// A gzip member.
fn packed(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut member = GzEncoder::new(Vec::new(), Compression::fast());
    member.write_all(text)?;
    member.finish()
}

/// A name without commas: programs may give their datatypes any name.
fn plain_name(name: &str) -> String {
    const LONGEST: usize = 128; // the limit of MPIs
    let plain =
        |letter: char| if letter == ',' || letter == '"' || letter.is_control() { '_' } else { letter };
    let name: String = name.chars().take(LONGEST).map(plain).collect();
    if name.is_empty() { "unknown".to_owned() } else { name }
}
