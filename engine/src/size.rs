//! Human-readable numbers of bytes.

/// A number such as `4096`, `16KiB` or `1MiB`; `None` if invalid.
#[must_use]
pub fn parse(text: &str) -> Option<usize> {
    let (number, shift) = match text {
        _ if text.ends_with("KiB") => (&text[..text.len() - 3], 10),
        _ if text.ends_with("MiB") => (&text[..text.len() - 3], 20),
        _ => (text, 0),
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            (parse("4096"), parse("16KiB"), parse("1MiB")),
            (Some(4096), Some(16 << 10), Some(1 << 20))
        );
        for bad in ["", "KiB", "-1", "1GiB", "99999999999999999999", "99999999999999999MiB", "1.5MiB", "é"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
