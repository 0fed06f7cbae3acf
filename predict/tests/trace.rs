//! Valid and invalid lines of traces.

use mpress_predict::trace::{Kind, Line, LineError};
use proptest::prelude::*;

const LINE: &str = "7,0x7d9a,-1,3000,700,MPI_DOUBLE_PRECISION,0x55d8e69a2150,1,start";

#[test]
fn a_line_is_read() {
    let line = Line::parse(LINE).unwrap();
    let expected = Line {
        seq: 7,
        site: 0x7d9a,
        source: -1,
        tag: 3000,
        count: 700,
        datatype: "MPI_DOUBLE_PRECISION",
        buffer: 0x55d8_e69a_2150,
        comm: 1,
        kind: Kind::Start,
    };
    assert_eq!(line, expected);
    assert_eq!(Line::parse(&LINE.replace("0x55d8e69a2150", "(nil)")).unwrap().buffer, 0);
}

#[test]
fn a_line_of_other_columns_is_none() {
    assert_eq!(Line::parse(""), Err(LineError::Columns(1)));
    assert_eq!(Line::parse("1,2,3"), Err(LineError::Columns(3)));
    assert_eq!(Line::parse(&format!("{LINE},")), Err(LineError::Columns(10)));
    for (at, name) in ["seq", "callsite", "source", "tag", "count", "datatype", "buf", "comm", "kind"]
        .into_iter()
        .enumerate()
    {
        for wrong in ["", "x", "0x", "99999999999999999999", "-1e3", "+1", "0x+1"] {
            if name == "datatype" && !wrong.is_empty() {
                continue;
            }
            let mut columns: Vec<_> = LINE.split(',').collect();
            columns[at] = wrong;
            assert_eq!(Line::parse(&columns.join(",")), Err(LineError::Column(name)), "{wrong:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text: String, columns in proptest::collection::vec("[0-9a-fx-]{0,6}", 9)) {
        let _either = Line::parse(&text);
        let _either = Line::parse(&columns.join(","));
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        seq: u64, site: u64, source: i32, tag: i32, count: u64, datatype in "[^,\n\r]{1,40}", buffer: u64, comm: u32, kind in 0_usize..4,
    ) {
        let kind = [Kind::Recv, Kind::Irecv, Kind::Sendrecv, Kind::Start][kind];
        let line = Line { seq, site, source, tag, count, datatype: &datatype, buffer, comm, kind };
        let text = line.to_string();
        prop_assert_eq!(Line::parse(&text), Ok(line));
    }
}
