//! The result as text: the figures of the paper as tables, or CSV.

use super::evaluate::{Evaluated, Outcomes, REPLACE, Spread, WINDOWS, names};
use super::starts::STARTS;
use super::{largest, paper};

/// Hit ratios and memory of all predictors and windows.
pub(super) fn csv(runs: &[Evaluated]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["app", "ranks", "predictor", "min", "mean", "max", "memory"])?;
    for evaluated in runs {
        let run = &evaluated.run;
        let mut row = |name: &str, Outcomes { ratios, memory }: Outcomes| {
            let [min, mean, max] = three(ratios, 6);
            writer.write_record([
                &run.app,
                &run.ranks.to_string(),
                name,
                &min,
                &mean,
                &max,
                &memory.to_string(),
            ])
        };
        for name in names() {
            row(name, evaluated.predictor(name))?;
        }
        for (strategy, (name, _)) in REPLACE.iter().enumerate() {
            for (at, size) in WINDOWS.iter().enumerate() {
                row(&format!("{name}-{size}"), evaluated.window(strategy, at))?;
            }
        }
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// All tables.
pub(super) fn all(runs: &[Evaluated]) -> String {
    let mut text = String::new();
    calls(&mut text, runs);
    distribution(&mut text, runs);
    windows(&mut text, runs);
    ratios(&mut text, runs);
    comparison(&mut text, runs);
    memory(&mut text, runs);
    sensitivity(&mut text, runs);
    ahead(&mut text, runs);
    text
}

/// Writes a title, and rows with columns as wide as their contents, the first left-aligned.
fn table(text: &mut String, title: &str, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns).map(width).collect();
    *text += &format!("{title}\n");
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        *text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text.push('\n');
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn three(spread: Spread, digits: usize) -> [String; 3] {
    [spread.min, spread.mean(), spread.max].map(|value| format!("{value:.digits$}"))
}

fn calls(text: &mut String, runs: &[Evaluated]) {
    let title = "Receive calls and different messages per rank: minimum, mean, maximum (figures 2 and 3)";
    let mut rows = vec![cells(["run", "calls min", "mean", "max", "messages min", "mean", "max"])];
    for run in runs {
        let mut row = vec![run.run.to_string()];
        row.extend(three(run.calls, 0));
        row.extend(three(run.messages, 1));
        rows.push(row);
    }
    table(text, title, &rows);
}

fn distribution(text: &mut String, runs: &[Evaluated]) {
    let title = "How often each message is received, by the first rank (figure 4): calls x messages";
    let rows = largest(runs).map(|run| vec![format!("{}  {}", run.run, run.distribution)]);
    table(text, title, &rows.collect::<Vec<_>>());
}

fn windows(text: &mut String, runs: &[Evaluated]) {
    let title = "Hit ratios of LRU, FIFO and LFU by size of window, means over ranks (figure 5)";
    let mut rows = vec![cells(["size"])];
    rows.extend(WINDOWS.map(|size| vec![size.to_string()]));
    for run in largest(runs) {
        for (strategy, (name, _)) in REPLACE.iter().enumerate() {
            let ratios =
                (0..WINDOWS.len()).map(|size| format!("{:.3}", run.window(strategy, size).ratios.mean()));
            let column = std::iter::once(format!("{} {name}", run.run)).chain(ratios);
            rows.iter_mut().zip(column).for_each(|(row, cell)| row.push(cell));
        }
    }
    table(text, title, &rows);
}

fn ratios(text: &mut String, runs: &[Evaluated]) {
    let title = "Hit ratios: minimum, mean, maximum over ranks; memory in messages, of tournament in bytes (figures 8 to 11)";
    let mut rows = vec![cells(["run", "predictor", "min", "mean", "max", "memory"])];
    for run in runs {
        for name in names() {
            let Outcomes { ratios, memory } = run.predictor(name);
            let mut row = vec![run.run.to_string(), name.to_owned()];
            row.extend(three(ratios, 4));
            row.push(memory.to_string());
            rows.push(row);
        }
    }
    table(text, title, &rows);
}

/// Rows of predictors, with a column for each program.
fn by_program(runs: &[Evaluated], cell: impl Fn(&Evaluated, &str) -> String) -> Vec<Vec<String>> {
    let mut rows = vec![cells(["predictor"])];
    rows.extend(names().map(|name| vec![name.to_owned()]));
    for run in largest(runs) {
        let column = std::iter::once(run.run.to_string()).chain(names().map(|name| cell(run, name)));
        rows.iter_mut().zip(column).for_each(|(row, cell)| row.push(cell));
    }
    rows
}

fn comparison(text: &mut String, runs: &[Evaluated]) {
    let rows = by_program(runs, |run, name| format!("{:.4}", run.predictor(name).ratios.mean()));
    table(text, "Hit ratios of the largest runs, means over ranks (figure 12)", &rows);
}

fn memory(text: &mut String, runs: &[Evaluated]) {
    let rows = by_program(runs, |run, name| {
        let memory = run.predictor(name).memory;
        let unit = if name.starts_with("tournament") { " B" } else { "" };
        let reported = paper::memory(&run.run, name).map(|reported| format!(" ({reported})"));
        format!("{memory}{unit}{}", reported.unwrap_or_default())
    });
    table(
        text,
        "Memory of the largest runs, in messages (Table 1; in brackets what the paper reports)",
        &rows,
    );
}

/// With fewer right predictions than this, most messages that are looked for are not the next ones.
const OFTEN: f64 = 0.5;

fn ahead(text: &mut String, runs: &[Evaluated]) {
    let title = "Whether MPRESS_PREDICT=on can pay: while a rank waits, it decodes compressed messages of 32 KiB and more that come next";
    let answer = |run: &Evaluated| {
        // The shim's predictor does not know the site of the next call.
        let (long, right) = (run.long.mean(), run.predictor("tournament-untagged").ratios.mean());
        let [part, right_part] = [long, right].map(|part| format!("{:.1} %", part * 100.0));
        if long == 0.0 {
            "no: no receive call names its source and has a buffer of 32 KiB or more".to_owned()
        } else if right < OFTEN {
            format!("no: only {right_part} of the calls are predicted")
        } else {
            format!(
                "perhaps: {part} of the calls are for such messages, {right_part} of all are predicted; compare runs with and without"
            )
        }
    };
    let rows = runs.iter().map(|run| vec![format!("{}  {}", run.run, answer(run))]);
    table(text, title, &rows.collect::<Vec<_>>());
}

fn sensitivity(text: &mut String, runs: &[Evaluated]) {
    let title = format!(
        "Hit ratios with the initialisation phase and without, means over the first {STARTS} starting calls (figure 13)"
    );
    let mut rows = vec![cells(["run", "predictor", "with min", "mean", "max", "without min", "mean", "max"])];
    for run in runs {
        for of in &run.sensitivity {
            let mut row = vec![run.run.to_string(), of.name.to_owned()];
            row.extend(three(of.with, 4));
            row.extend(three(of.without, 4));
            rows.push(row);
        }
    }
    table(text, &title, &rows);
}
