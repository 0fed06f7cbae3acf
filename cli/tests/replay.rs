//! `mpress replay` as a user runs it, with traces as the shim writes them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

fn packed(text: &str) -> Vec<u8> {
    let mut member = GzEncoder::new(Vec::new(), Compression::fast());
    member.write_all(text.as_bytes()).unwrap();
    member.finish().unwrap()
}

/// A recorded trace consists of several gzip members.
#[test]
fn all_of_a_recorded_trace_is_replayed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-members");
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let line = |seq: usize| format!("{seq},0x1,0,0,512,MPI_DOUBLE,0x10,0,recv\n");
    let mut trace = packed("seq,callsite,source,tag,count,datatype,buf,comm,kind\n");
    trace.extend(packed(&(line(0) + &line(1))));
    trace.extend(packed(&line(2)));
    let trace_file = folder.join("x.1.r0.csv.gz");
    fs::write(&trace_file, trace).unwrap();
    let payload = folder.join("payload.f64");
    fs::write(&payload, vec![7; 4096]).unwrap();
    fs::write(folder.join("payload.f64.idx"), "offset,bytes,src,dst,tag,call\n0,4096,0,1,0,send\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mpress"))
        .args(["replay", "--payload"])
        .args([&payload, &trace_file])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let row = text.lines().find(|line| line.starts_with("x.1.r0.csv.gz f64")).unwrap();
    assert_eq!(row.split_whitespace().rev().nth(1), Some("3/3"), "{row}");
}

/// Messages, bytes and ratio over the job's link, without messages inside nodes, for comparison with the job's report.
#[test]
fn a_recording_is_replayed_as_the_job_ran() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-nodes");
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let values = (0..1024).flat_map(|at| f64::from(at).to_le_bytes()).collect::<Vec<u8>>();
    fs::write(folder.join("x.4.r1.f64"), values.repeat(4)).unwrap();
    let entry = |at: usize, to: i32| format!("{},8192,1,{to},0,send\n", at * 8192);
    let index = [0, 2, 3, -1].into_iter().enumerate().map(|(at, to)| entry(at, to)).collect::<String>();
    fs::write(folder.join("x.4.r1.f64.idx"), format!("offset,bytes,src,dst,tag,call\n{index}")).unwrap();
    let replay = |options: &[&str]| {
        let mut mpress = Command::new(env!("CARGO_BIN_EXE_mpress"));
        let output = mpress.arg("replay").arg(&folder).args(options).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (_, all) = replay(&[]);
    let (success, text) = replay(&["--ranks-per-node", "2", "--link", "40,11.8"]);
    assert!(
        success && all.matches("serial, ").count() == 5 && text.matches("serial, ").count() == 1,
        "{text}"
    );
    let words = |text: &str, start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(&all, "diffpack-fast")[1..4], ["4", "4", "32768"]);
    let codec = words(&text, "diffpack-fast");
    assert_eq!(codec[1..4], ["3", "3", "24576"], "the one to rank 0 stays on the node");
    let (raw, wire) = (24576.0, codec[4].parse::<f64>().unwrap());
    assert_eq!(codec[5], format!("{:.3}", raw / wire));
    assert!(text.contains("serial, 40 us, 11.8 MB/s, cold caches\n"), "{text}");
    let total = words(&text, "total");
    assert_eq!(total[total.len() - 2], "3/3", "{text}");
    assert!(!all.contains("NaN") && !text.contains("NaN"), "{text}");
    assert!(!replay(&["--ablate", "luck"]).0);
    for wrong in ["40", "40,0", "a,b", "-1,5"] {
        assert!(!replay(&["--link", wrong]).0, "{wrong}");
    }
    for wrong in ["0", "-2", "x"] {
        assert!(!replay(&["--ranks-per-node", wrong]).0, "{wrong}");
    }
}

/// All strategies by name, with cold caches and with hot ones, and the measurements of each message.
#[test]
fn caches_are_cold_or_hot_and_what_was_measured_is_written() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay-caches");
    let _from_an_earlier_run: std::io::Result<()> = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let values = (0..1024).flat_map(|at| f64::from(at).to_le_bytes()).collect::<Vec<u8>>();
    fs::write(folder.join("x.f64"), values.repeat(2)).unwrap();
    fs::write(
        folder.join("x.f64.idx"),
        "offset,bytes,src,dst,tag,call\n0,8192,0,1,0,send\n8192,4096,0,1,0,send\n12288,4096,0,1,0,send\n",
    )
    .unwrap();
    let dump = folder.join("dump.csv");
    let replay = |caches: &str| {
        let mut mpress = Command::new(env!("CARGO_BIN_EXE_mpress"));
        let options =
            ["--link", "40,11.8", "--ablate", "hope", "--ablate", "length", "--caches", caches, "--dump"];
        let output = mpress.arg("replay").arg(&folder).args(options).arg(&dump).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (caches, cold, hot) in [("cold", 2, 0), ("hot", 0, 2), ("both", 2, 2)] {
        let text = replay(caches);
        let tables = |caches: &str| text.matches(&format!(" MB/s, {caches} caches\n")).count();
        assert_eq!((tables("cold"), tables("hot")), (cold, hot), "{text}");
        for strategy in
            ["diffpack-fast", "zstd", "ras", "adaptive", "without hope", "without length", "oracle"]
        {
            let rows = text.lines().filter(|line| {
                line.starts_with(strategy)
                    && line.split_whitespace().count() == strategy.split(' ').count() + 2
            });
            assert_eq!(rows.count(), cold + hot, "{strategy}: {text}");
        }
    }

    let text = fs::read_to_string(&dump).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "file,message,bytes,kind,codec,wire_bytes,encode_hot_ns,decode_hot_ns,encode_cold_ns,decode_cold_ns"
    );
    let rows: Vec<Vec<_>> = lines.map(|line| line.split(',').collect()).collect();
    let fast: Vec<_> = rows.iter().filter(|row| row[4] == "diffpack-fast").collect();
    assert_eq!(fast.len(), 3, "{text}");
    assert_eq!(fast[1][..4], ["x.f64", "1", "4096", "f64"]);
    assert!(fast.iter().all(|row| row[5].parse::<usize>().unwrap() < row[2].parse().unwrap()));
    let ns = |text: &str| text.parse::<u64>().unwrap();
    assert!(rows.iter().all(|row| ns(row[6]) <= ns(row[8]) && ns(row[7]) <= ns(row[9])), "{text}");
    // A message sent raw is not decoded.
    let raw: Vec<_> = rows.iter().filter(|row| row[5].is_empty()).collect();
    assert!(raw.iter().all(|row| row[7] == "0" && row[9] == "0"), "{text}");
}

#[test]
fn a_file_that_is_not_there_is_said_not_to_be() {
    let output = Command::new(env!("CARGO_BIN_EXE_mpress")).args(["replay", "nowhere"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("nowhere: No such file"), "{said}");
}
