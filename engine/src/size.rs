//! Human-readable numbers of bytes.

/// A number such as `4096`, `16KiB` or `8M`; `None` if invalid. K, KB and KiB mean 1024 bytes; M and G, with the same forms, its powers. Capitals do
/// not matter.
#[must_use]
pub fn parse(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [("4096", 4096), ("16KiB", 16 << 10), ("1MiB", 1 << 20), ("2GiB", 2 << 30)] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for text in ["8M", "8MB", "8MiB", "8m", "8mb", "8192k", "8192KB"] {
            assert_eq!(parse(text), Some(8 << 20), "{text}");
        }
        for bad in [
            "",
            "KiB",
            "-1",
            "+1",
            "1TiB",
            "1 M",
            "99999999999999999999",
            "99999999999999999MiB",
            "1.5MiB",
            "é",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
