//! The table of the runs, aligned.

use super::Variant;
use super::verdict::Case;

const HEAD: [&str; 8] =
    ["program", "link", "plain", "mpress", "speedup", "wire plain", "wire mpress", "ratio"];

/// The number of leading columns with words; the others contain numbers and are right-aligned.
const WORDS: usize = 2;

/// One row per case, with columns as wide as their contents.
pub(crate) fn of(cases: &[Case]) -> String {
    let rows: Vec<[String; 8]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(cases.iter().map(row)).collect();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let line = |row: &[String; 8]| {
        let cells = row.iter().enumerate().map(|(column, cell)| match column < WORDS {
            true => format!("{cell:<0$}", width(column)),
            false => format!("{cell:>0$}", width(column)),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("   "))
    };
    rows.iter().map(line).collect()
}

fn row(case: &Case) -> [String; 8] {
    let seconds = |variant| format!("{:.2} s", case.seconds(variant));
    let bytes = |variant| format!("{:.1} MB", case.bytes(variant) / 1e6);
    [
        case.program.clone(),
        case.link.clone(),
        seconds(Variant::Plain),
        seconds(Variant::Mpress),
        format!("{:.2}", case.speedup()),
        bytes(Variant::Plain),
        bytes(Variant::Mpress),
        format!("{:.2}", case.ratio()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::verdict::tests::case;

    #[test]
    fn columns_line_up() {
        let cases = [
            case("euler3d", "100 Mbit/s", &[(9.674, 125_400_000)], &[(7.1, 92_000_000)]),
            case("reaction3d", "1 Gbit/s", &[(12.0, 1_000_000_000)], &[(10.0, 1_000_000)]),
        ];
        let expected = "\
program      link           plain    mpress   speedup   wire plain   wire mpress     ratio
euler3d      100 Mbit/s    9.67 s    7.10 s      1.36     125.4 MB       92.0 MB      1.36
reaction3d   1 Gbit/s     12.00 s   10.00 s      1.20    1000.0 MB        1.0 MB   1000.00
";
        assert_eq!(super::of(&cases), expected);
    }
}
