//! The paper's figures: Table 1, and what its text says about figures 1 to 3. The plots themselves show no numbers.

/// Messages without a cache with 2, 4 and 8 processing elements (Table 1). With a cache and blocks of CB elements, the paper has 1/CB of the
/// messages with blocks of 1.
const DIS: [(&str, [u64; 3]); 2] =
    [("mm", [2_097_152, 3_145_728, 3_670_016]), ("fft", [16_384, 40_960, 81_920])];
/// Messages with a cache and blocks of 1.
const DISSC: [(&str, [u64; 3]); 2] = [("mm", [32_768, 98_304, 229_376]), ("fft", [16_384, 40_960, 81_920])];

/// Messages of Table 1; `None` for residual programs, which it does not list.
pub(crate) fn messages(program: &str, block: Option<u64>, ranks: usize) -> Option<u64> {
    let table = if block.is_some() { DISSC } else { DIS };
    let (_, messages) = table.into_iter().find(|(name, _)| *name == program)?;
    let column = super::figures::RANKS.into_iter().position(|known| known == ranks)?;
    Some(messages.get(column)? / block.unwrap_or(1))
}

/// What the text says about a figure for each of the two programs, and the value that is marked in the plot.
pub(crate) struct Said {
    pub(crate) mm: (&'static str, f64),
    pub(crate) fft: (&'static str, f64),
}

/// Figure 1, section 4.2.
pub(crate) const CACHE: Said =
    Said { mm: ("more than 8", 8.0), fft: ("CB 1: at most 0.97; CB 8 at 8 ranks: 2.3", 2.3) };
/// Figure 2, section 4.3.
pub(crate) const MESSAGES: Said = Said {
    mm: ("CB 8 at 2 ranks: 1024, less with more ranks or smaller blocks", 1024.0),
    fft: ("the same for all ranks", 16.0),
};
/// Figure 3, section 4.4.
pub(crate) const RESIDUAL: Said = Said { mm: ("2 to 3", 2.0), fft: ("1.5 to 1.8", 1.5) };

#[cfg(test)]
mod tests {
    #[test]
    fn table_1_by_blocks() {
        assert_eq!(super::messages("mm", Some(8), 8), Some(28_672));
        assert_eq!(super::messages("mm", None, 2), Some(2_097_152));
        assert_eq!(super::messages("fft", Some(4), 4), Some(10_240));
        assert_eq!(super::messages("fft", Some(4), 3), None);
    }
}
