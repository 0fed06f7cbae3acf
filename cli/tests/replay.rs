//! `mpress replay` as users meet it, with traces as the shim writes them.

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

/// A trace that is recorded consists of several gzip members.
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
    assert!(row.ends_with("/3"), "{row}");
}
