//! The files contain exactly the messages kept, within the limit, from the start to the end of the run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]
#![allow(missing_docs, reason = "a test")]

use mpress_codec::Kind;
use mpress_corpus::files::{File, Piece};
use mpress_record::{Message, Run, Samples};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const CALLS: [&str; 3] = ["send", "isend", "alltoall"];

fn message(kind: Kind, len: usize, number: usize) -> Message {
    Message { kind, len, src: 1, dst: 2, tag: i32::try_from(number).unwrap(), call: CALLS[number % 3] }
}

/// Bytes that identify their message.
fn fill(number: usize) -> impl Fn(&mut [u8]) -> bool {
    move |place| {
        for (at, byte) in place.iter_mut().enumerate() {
            *byte = (number * 31 + at) as u8;
        }
        true
    }
}

fn offer(samples: &Samples, kind: Kind, len: usize, number: usize) {
    samples.offer(&message(kind, len, number), fill(number));
}

fn written(samples: &Samples, folder: &Path) -> Vec<File> {
    let run = Run::new("app", 4, 1);
    Samples::prepare(folder, &run).unwrap();
    samples.write(folder, &run).unwrap();
    File::read_all(folder).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_kept_is_read_back_and_within_the_limit(
        limit in 1_usize..200_000,
        messages in proptest::collection::vec((0_usize..7, 1_usize..20_000), 1..200),
    ) {
        let samples = Samples::new(limit);
        for (number, &(kind, len)) in messages.iter().enumerate() {
            offer(&samples, Kind::ALL[kind], len, number);
            prop_assert!(samples.kept().bytes <= limit as u64);
        }
        let kept = samples.kept();
        prop_assert_eq!(kept.seen, messages.len() as u64);
        prop_assert_eq!(kept.seen_bytes, messages.iter().map(|(_, len)| *len as u64).sum::<u64>());
        let all: usize = messages.iter().map(|(_, len)| len).sum();
        if all <= limit {
            prop_assert_eq!(kept.messages, kept.seen, "there was room for all");
        }
        let folder = tempfile::tempdir().unwrap();
        if kept.messages == 0 {
            return Ok(());
        }
        let files = written(&samples, folder.path());
        prop_assert_eq!(files.iter().map(|file| file.index.len() as u64).sum::<u64>(), kept.messages);
        for file in files {
            let mut last = -1;
            for (entry, bytes) in file.index.iter().zip(file.pieces(Piece::Message)) {
                prop_assert!(entry.tag > last, "in the order of the run");
                last = entry.tag;
                let number = usize::try_from(entry.tag).unwrap();
                let (kind, len) = messages[number];
                let kind = if Kind::ALL[kind] == Kind::Int8 { Kind::Other } else { Kind::ALL[kind] };
                prop_assert_eq!((file.element.kind(), bytes.len()), (kind, len));
                prop_assert_eq!((entry.src, entry.dst, &*entry.call), (1, 2, CALLS[number % 3]));
                let mut expected = vec![0; len];
                fill(number)(&mut expected);
                prop_assert!(bytes == expected);
            }
        }
    }
}

/// Two kinds of messages, one of them rare; the run is a hundred times as long as the sample.
#[test]
fn long_runs_are_represented_from_start_to_end() {
    const RUN: usize = 100_000;
    let samples = Samples::new(1 << 20);
    let mut copied = 0;
    for number in 0..RUN {
        let (kind, len) = if number % 1000 == 0 { (Kind::Int32, 4096) } else { (Kind::F64, 1024) };
        samples.offer(&message(kind, len, number), |place| {
            copied += 1;
            fill(number)(place)
        });
    }
    let kept = samples.kept();
    assert!(kept.bytes > (1 << 20) - 4096, "the room is used: {kept:?}");
    assert!(copied < 10_000, "{copied} messages were copied to keep {}", kept.messages);
    let folder = tempfile::tempdir().unwrap();
    let files = written(&samples, folder.path());
    assert_eq!(files.iter().map(|file| &*file.name).collect::<Vec<_>>(), ["app.4.r1.f64", "app.4.r1.i32"]);
    assert_eq!(files[1].index.len(), RUN / 1000, "what is rare and takes little room is kept");
    let tags: Vec<_> = files[0].index.iter().map(|entry| usize::try_from(entry.tag).unwrap()).collect();
    for tenth in 0..10 {
        let here = tags.iter().filter(|tag| **tag / (RUN / 10) == tenth).count();
        assert!((40..=90).contains(&here), "{here} of {} messages are in tenth {tenth}", tags.len());
    }
    let neighbours = tags.windows(2).filter(|pair| pair[1] - pair[0] <= 2).count();
    assert!(neighbours * 10 > tags.len() * 8, "{neighbours} of {} follow the one before", tags.len());
}

#[test]
fn files_are_private_and_replace_those_of_an_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("new");
    let samples = Samples::new(1 << 20);
    offer(&samples, Kind::F32, 1024, 0);
    written(&samples, &inside);
    let other = Samples::new(1 << 20);
    offer(&other, Kind::F64, 1024, 0);
    written(&other, &inside);
    let mut names: Vec<_> = std::fs::read_dir(&inside)
        .unwrap()
        .map(|entry| entry.unwrap())
        .inspect(|entry| assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600))
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["app.4.r1.f64", "app.4.r1.f64.idx"]);
    assert_eq!(std::fs::metadata(&inside).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn what_cannot_be_read_or_written_is_left_out() {
    let samples = Samples::new(1 << 20);
    samples.offer(&message(Kind::F64, 4096, 0), |_| false);
    assert_eq!((samples.kept().seen, samples.kept().messages), (1, 0));
    offer(&samples, Kind::F64, 4096, 1);
    let run = Run::new("a", 1, 0);
    let error = samples.write(Path::new("/proc/nowhere"), &run).unwrap_err();
    assert!(error.starts_with("/proc/nowhere/a.1.r0.f64: ") && error.lines().count() == 1, "{error}");
    assert!(Samples::prepare(Path::new("/proc/nowhere"), &run).is_err());
}
