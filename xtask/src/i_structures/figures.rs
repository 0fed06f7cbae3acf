//! The measurements, and the ratios that the paper shows.

use std::fmt;

/// The programs by the names that the example and the rows use.
pub(crate) const PROGRAMS: [&str; 2] = ["mm", "fft"];
/// The numbers of ranks, and of elements of a cache block (CB), in Table 1.
pub(crate) const RANKS: [usize; 3] = [2, 4, 8];
pub(crate) const BLOCKS: [u64; 4] = [1, 2, 4, 8];

/// The mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Dis,
    Dissc,
    Residual,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Dis, Self::Dissc, Self::Residual];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dis => "dis",
            Self::Dissc => "dissc",
            Self::Residual => "residual",
        }
    }
}

/// A run of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) program: String,
    pub(crate) mode: Mode,
    pub(crate) block: u64,
    pub(crate) ranks: usize,
    pub(crate) messages: u64,
    pub(crate) seconds: f64,
}

impl Row {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(',');
        let program = fields.next()?.to_owned();
        let mode = fields.next()?;
        let mode = Mode::ALL.into_iter().find(|known| known.name() == mode)?;
        let mut field = || fields.next();
        let row = Self {
            program,
            mode,
            block: field()?.parse().ok()?,
            ranks: field()?.parse().ok()?,
            messages: field()?.parse().ok()?,
            seconds: field()?.parse().ok()?,
        };
        fields.next().is_none().then_some(row)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, mode, block, ranks, messages, seconds } = self;
        write!(f, "{program},{},{block},{ranks},{messages},{seconds:.6}", mode.name())
    }
}

/// All measurements.
pub(crate) struct Figures(Vec<Row>);

/// A ratio of two runs; NaN if one of them is missing.
pub(crate) type Ratio = fn(&Figures, &str, u64, usize) -> f64;

impl Figures {
    pub(crate) fn new(rows: Vec<Row>) -> Self {
        Self(rows)
    }

    pub(crate) fn csv(&self) -> String {
        let rows = self.0.iter().map(|row| format!("{row}\n"));
        std::iter::once("program,mode,block,ranks,messages,seconds\n".to_owned()).chain(rows).collect()
    }

    /// Finds a run; the block does not matter for one without a cache.
    pub(crate) fn find(&self, program: &str, mode: Mode, block: u64, ranks: usize) -> Option<&Row> {
        let block = if mode == Mode::Dis { 1 } else { block };
        self.0
            .iter()
            .find(|row| (&*row.program, row.mode, row.block, row.ranks) == (program, mode, block, ranks))
    }

    fn ratio(&self, program: &str, block: u64, ranks: usize, modes: [Mode; 2], of: fn(&Row) -> f64) -> f64 {
        let [above, below] = modes.map(|mode| self.find(program, mode, block, ranks).map_or(f64::NAN, of));
        above / below
    }

    /// Figure 1: time without a cache divided by time with a cache.
    pub(crate) fn cache(&self, program: &str, block: u64, ranks: usize) -> f64 {
        self.ratio(program, block, ranks, [Mode::Dis, Mode::Dissc], |row| row.seconds)
    }

    /// Figure 2: messages without a cache divided by those of the residual program.
    pub(crate) fn messages(&self, program: &str, block: u64, ranks: usize) -> f64 {
        self.ratio(program, block, ranks, [Mode::Dis, Mode::Residual], |row| row.messages as f64)
    }

    /// Figure 3: time with a cache divided by time of the residual program.
    pub(crate) fn residual(&self, program: &str, block: u64, ranks: usize) -> f64 {
        self.ratio(program, block, ranks, [Mode::Dissc, Mode::Residual], |row| row.seconds)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Four times as long without a cache as with one, which takes twice as long as a residual program.
    pub(crate) fn figures() -> Figures {
        let mut rows = Vec::new();
        for program in PROGRAMS {
            for ranks in RANKS {
                for (mode, messages, seconds) in
                    [(Mode::Dis, 800, 4.0), (Mode::Dissc, 80, 1.0), (Mode::Residual, 40, 0.5)]
                {
                    for block in BLOCKS.into_iter().filter(|block| mode != Mode::Dis || *block == 1) {
                        let messages = messages / block;
                        rows.push(Row { program: program.into(), mode, block, ranks, messages, seconds });
                    }
                }
            }
        }
        Figures::new(rows)
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let row = Row::parse("mm,dissc,8,2,4096,0.196975").unwrap();
        assert_eq!(
            (row.messages, row.seconds, row.to_string()),
            (4096, 0.196975, "mm,dissc,8,2,4096,0.196975".into())
        );
        for wrong in
            ["", "mm,dissc,8,2,4096", "mm,other,8,2,4096,1", "mm,dissc,8,2,4096,1,2", "mm,dissc,x,2,4096,1"]
        {
            assert_eq!(Row::parse(wrong), None);
        }
    }

    #[test]
    fn ratios_are_those_of_the_figures() {
        let figures = figures();
        assert_eq!(figures.cache("mm", 8, 2), 4.0);
        assert_eq!(figures.messages("fft", 8, 4), 160.0);
        assert_eq!(figures.residual("fft", 8, 8), 2.0);
        assert!(figures.cache("mm", 3, 2).is_nan());
        assert_eq!(figures.csv().lines().count(), 1 + 2 * 3 * 9);
    }
}
