//! The file contains exactly the recorded receive calls; a slow or full disk costs calls, not time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use flate2::read::MultiGzDecoder;
use mpress_predict::trace::{COLUMNS, Line, MOST_CALLS};
use mpress_record::{Call, CallKind, Run, Sink, Trace, Written};
use proptest::prelude::*;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn call(number: u64) -> Call {
    Call {
        site: 0x14b5,
        source: -1,
        tag: -1,
        count: number,
        datatype: "MPI_DOUBLE".into(),
        buffer: 0x7fff_0000,
        comm: 0,
        kind: CallKind::Irecv,
    }
}

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text
}

/// `seq` and `count` of all calls in a file.
fn read(packed: &[u8]) -> Vec<(u64, u64)> {
    let text = unpacked(packed);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(COLUMNS));
    lines.map(|line| Line::parse(line).unwrap()).map(|line| (line.seq, line.count)).collect()
}

/// A disk in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Sink for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }
}

/// A disk that accepts the first line, and everything else only when allowed.
struct Blocked {
    memory: Memory,
    begun: bool,
    entered: Sender<()>,
    go: Receiver<()>,
}

impl Sink for Blocked {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            self.entered.send(()).unwrap();
            let _sender_gone: Result<(), _> = self.go.recv();
        }
        self.memory.append(bytes)
    }
}

/// A disk with room for this many appends.
struct Full(Memory, usize);

impl Sink for Full {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.1 = self.1.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.0.append(bytes)
    }
}

fn silent(why: &str) {
    panic!("complained: {why}");
}

#[test]
fn the_file_of_a_rank_is_private_and_holds_all_calls() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("new");
    let run = Run::new("app", 4, 2);
    let trace = Trace::start(&inside, &run, silent).unwrap();
    (0..1000).for_each(|number| trace.record(call(number)));
    assert_eq!(trace.finish(), Written { calls: 1000, missing: 0, error: None });
    let path = inside.join("app.4.r2.csv.gz");
    let expected: Vec<_> = (0..1000).map(|number| (number, number)).collect();
    assert_eq!(read(&std::fs::read(&path).unwrap()), expected);
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(trace.finish(), Written::default());
}

/// If a program is killed, what has been written so far is a complete file.
#[test]
fn what_is_written_can_be_read_at_any_time() {
    let memory = Memory::default();
    let trace = Trace::to(memory.clone(), 1 << 16, silent).unwrap();
    let mut seen = 0;
    let end = Instant::now() + Duration::from_secs(300);
    let mut number = 0;
    // Calls appear in the file before the trace ends.
    while seen == 0 && Instant::now() < end {
        trace.record(call(number));
        number += 1;
        std::thread::sleep(Duration::from_millis(1));
        let packed = memory.0.lock().unwrap().clone();
        seen = read(&packed).len();
    }
    assert!(seen > 0, "nothing is written before the end");
    assert_eq!(trace.finish().calls, number);
}

#[test]
fn a_slow_disk_drops_calls_and_counts_them() {
    let memory = Memory::default();
    let (entered, is_in) = channel();
    let (let_go, go) = channel();
    let sink = Blocked { memory: memory.clone(), begun: false, entered, go };
    let trace = Trace::to(sink, 16, silent).unwrap();
    trace.record(call(0));
    is_in.recv().unwrap(); // the thread waits for the disk
    // This would block forever if it waited for the disk, which waits for it.
    (1..=1000).for_each(|number| trace.record(call(number)));
    drop(let_go);
    let written = trace.finish();
    assert_eq!((written.calls, written.missing, written.error), (17, 984, None));
    let lines = read(&memory.0.lock().unwrap());
    assert_eq!(lines.iter().map(|(_, count)| *count).collect::<Vec<_>>(), (0..17).collect::<Vec<_>>());
    let last = lines.last().unwrap().0;
    assert_eq!(last, 16 + 984, "the numbers have a gap for the dropped calls");
}

#[test]
fn a_full_disk_ends_the_trace_with_one_line() {
    let memory = Memory::default();
    let (says, said) = channel();
    let trace =
        Trace::to(Full(memory.clone(), 1), 16, move |why| says.send(why.to_owned()).unwrap()).unwrap();
    trace.record(call(0));
    assert_eq!(said.recv().unwrap(), "no storage space");
    (0..100).for_each(|number| trace.record(call(number)));
    let written = trace.finish();
    assert_eq!((written.calls, written.missing), (0, 101));
    assert_eq!(written.error.as_deref(), Some("no storage space"));
    assert_eq!(said.recv().ok(), None);
    assert_eq!(read(&memory.0.lock().unwrap()), [], "earlier members are complete");
}

/// `/dev/full` can be opened but accepts no bytes.
#[test]
fn a_file_that_cannot_be_written_is_an_error_at_the_start() {
    let file = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert!(Trace::to(file, 16, silent).is_err());
    let error = Trace::start("/proc/nowhere".as_ref(), &Run::new("a", 1, 0), silent).err().unwrap();
    assert!(error.starts_with("/proc/nowhere: ") && error.lines().count() == 1, "{error}");
}

#[test]
fn a_trace_has_no_more_calls_than_are_read() {
    let memory = Memory::default();
    let (says, said) = channel();
    let trace = Trace::to(memory, 1 << 20, move |why| says.send(why.to_owned()).unwrap()).unwrap();
    let mut recorded = 0_u64;
    while said.try_recv().is_err() {
        trace.record(call(recorded));
        recorded += 1;
    }
    let written = trace.finish();
    assert_eq!(written.calls, MOST_CALLS as u64);
    assert!(written.error.unwrap().contains("at most"));
    assert!(written.missing > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any name of a datatype.
    #[test]
    fn what_is_recorded_is_read(
        calls in proptest::collection::vec(
            (any::<u64>(), any::<i32>(), any::<i32>(), any::<u64>(), any::<String>(), any::<u64>(), any::<u32>(), 0_usize..4), 0..50),
    ) {
        let memory = Memory::default();
        let trace = Trace::to(memory.clone(), 64, silent).unwrap();
        let kinds = [CallKind::Recv, CallKind::Irecv, CallKind::Sendrecv, CallKind::Start];
        let calls: Vec<_> = calls.into_iter().map(|(site, source, tag, count, name, buffer, comm, kind)| Call {
            site, source, tag, count, datatype: name.into(), buffer, comm, kind: kinds[kind],
        }).collect();
        calls.iter().cloned().for_each(|call| trace.record(call));
        prop_assert_eq!(trace.finish().calls, calls.len() as u64);
        let text = unpacked(&memory.0.lock().unwrap());
        let lines: Vec<_> = text.split('\n').skip(1).filter(|line| !line.is_empty()).map(|line| Line::parse(line).unwrap()).collect();
        prop_assert_eq!(lines.len(), calls.len());
        for ((seq, line), call) in (0..).zip(&lines).zip(&calls) {
            prop_assert_eq!(
                (line.seq, line.site, line.source, line.tag, line.count, line.buffer, line.comm, line.kind),
                (seq, call.site, call.source, call.tag, call.count, call.buffer, call.comm, call.kind)
            );
            prop_assert!(!line.datatype.is_empty() && line.datatype.len() <= 4 * 128);
        }
    }
}
