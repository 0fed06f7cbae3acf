//! The tables, and the targets.

use super::figures::{BLOCKS, Figures, Mode, PROGRAMS, RANKS, Ratio};
use super::paper::{self, Said};
use std::fmt::Write;

/// The required minimum ratios: what, program, the numbers of ranks that count, ratio with blocks of 8, minimum.
const ASKED: [(&str, &str, &[usize], Ratio, f64); 4] = [
    ("with a cache, CB 8, over without one", "mm", &RANKS, Figures::cache, 8.0),
    ("residual over with a cache, CB 8", "mm", &RANKS, Figures::residual, 2.0),
    ("with a cache, CB 8, over without one, 8 ranks", "fft", &[8], Figures::cache, 2.3),
    ("residual over with a cache, CB 8", "fft", &RANKS, Figures::residual, 1.5),
];

/// The whole text.
pub(crate) fn of(figures: &Figures) -> String {
    let mut text = String::new();
    messages(&mut text, figures);
    times(&mut text, figures);
    let parts: [(&str, Ratio, Said); 3] = [
        ("Figure 1: time without a cache over time with one", Figures::cache, paper::CACHE),
        (
            "Figure 2: messages without a cache over those of the residual program",
            Figures::messages,
            paper::MESSAGES,
        ),
        ("Figure 3: time with a cache over time of the residual program", Figures::residual, paper::RESIDUAL),
    ];
    for (title, ratio, said) in parts {
        let _infallible = ratios(&mut text, figures, title, ratio, &said);
    }
    let _infallible = writeln!(text);
    for (what, program, ranks, ratio, least) in ASKED {
        let found =
            ranks.iter().map(|ranks| ratio(figures, program, 8, *ranks)).fold(f64::INFINITY, f64::min);
        let outcome = if found >= least { "reached" } else { "MISSED" };
        let _infallible = writeln!(text, "{program}, {what}: least {found:.2}, asked {least}: {outcome}");
    }
    text
}

fn head(text: &mut String, title: &str, columns: &[&str]) {
    let _infallible = write!(text, "\n{title}\n{:<8} {:<9} {:>2}", "program", "mode", "CB");
    for ranks in RANKS {
        for column in columns {
            let _infallible = write!(
                text,
                " {:>11}",
                if column.is_empty() { format!("{ranks} ranks") } else { (*column).to_owned() }
            );
        }
    }
    text.push('\n');
}

/// The modes and blocks in the order of Table 1.
fn lines() -> impl Iterator<Item = (&'static str, Mode, u64)> {
    PROGRAMS.into_iter().flat_map(|program| {
        let with = |mode| BLOCKS.map(|block| (program, mode, block));
        std::iter::once((program, Mode::Dis, 1)).chain(with(Mode::Dissc)).chain(with(Mode::Residual))
    })
}

fn messages(text: &mut String, figures: &Figures) {
    head(text, "Table 1: messages", &["", "paper"]);
    for (program, mode, block) in lines() {
        let _infallible = write!(text, "{program:<8} {:<9} {block:>2}", mode.name());
        for ranks in RANKS {
            let found = figures
                .find(program, mode, block, ranks)
                .map_or_else(|| "-".to_owned(), |row| row.messages.to_string());
            let of_table = match mode {
                Mode::Dis => paper::messages(program, None, ranks),
                Mode::Dissc => paper::messages(program, Some(block), ranks),
                Mode::Residual => None,
            };
            let paper = of_table.map_or_else(|| "-".to_owned(), |messages| messages.to_string());
            let _infallible = write!(text, " {found:>11} {paper:>11}");
        }
        text.push('\n');
    }
}

fn times(text: &mut String, figures: &Figures) {
    head(text, "Times in ms", &[""]);
    for (program, mode, block) in lines() {
        let _infallible = write!(text, "{program:<8} {:<9} {block:>2}", mode.name());
        for ranks in RANKS {
            let ms = figures.find(program, mode, block, ranks).map_or(f64::NAN, |row| row.seconds * 1e3);
            let _infallible = write!(text, " {ms:>11.2}");
        }
        text.push('\n');
    }
}

fn ratios(text: &mut String, figures: &Figures, title: &str, ratio: Ratio, said: &Said) -> std::fmt::Result {
    writeln!(text, "\n{title}")?;
    for (program, (words, _)) in PROGRAMS.into_iter().zip([said.mm, said.fft]) {
        for block in BLOCKS {
            write!(text, "{program:<8} CB {block}")?;
            for ranks in RANKS {
                write!(text, " {:>11.2}", ratio(figures, program, block, ranks))?;
            }
            writeln!(text)?;
        }
        writeln!(text, "{program:<8} paper: {words}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::figures;

    #[test]
    fn tables_have_all_runs_and_the_verdicts() {
        let text = super::of(&figures());
        assert!(text.contains("mm       dissc      8          10        4096          10       12288          10       28672\n"), "{text}");
        assert!(text.contains("fft      CB 8        4.00        4.00        4.00\n"), "{text}");
        assert!(
            text.contains("mm, with a cache, CB 8, over without one: least 4.00, asked 8: MISSED\n"),
            "{text}"
        );
        assert!(
            text.ends_with("fft, residual over with a cache, CB 8: least 2.00, asked 1.5: reached\n"),
            "{text}"
        );
    }
}
