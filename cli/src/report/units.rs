//! Numbers with units, formatted for reading.

/// Larger numbers are written with an exponent: no measurement is that large.
const ABSURD: f64 = 1e15;

/// A whole number with a comma between thousands.
pub(super) fn count(n: impl Into<i128>) -> String {
    let n = n.into();
    grouped(&n.to_string())
}

/// A number with three decimals, and a comma between thousands.
pub(super) fn fixed(x: f64) -> String {
    if x.abs() >= ABSURD { format!("{x:.3e}") } else { grouped(&format!("{x:.3}")) }
}

/// Seconds with microsecond resolution, without their unit.
pub(super) fn seconds(s: f64) -> String {
    if s.abs() >= ABSURD { fixed(s) } else { grouped(&format!("{s:.6}")) }
}

fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// A number of bytes with a decimal unit (kB of 1000 bytes and so on) and three digits.
pub(super) fn bytes(n: f64) -> String {
    scaled(n, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// The length of a message, with a binary unit (KiB of 1024 bytes and so on).
pub(super) fn length(n: u64) -> String {
    scaled(n as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Seconds, with three digits or more.
pub(super) fn time(s: f64) -> String {
    if s.abs() >= 100.0 {
        return format!("{} s", trimmed(one_decimal(s)));
    }
    // From the smallest unit upwards; less than a nanosecond counts as 0.
    if s.abs() < 1e-9 { "0 s".into() } else { scaled(s * 1e9, 1000.0, &["ns", "us", "ms", "s"]) }
}

fn scaled(n: f64, step: f64, units: &[&str]) -> String {
    let (mut n, mut unit) = (n, 0);
    // Values that would be rounded up to the next unit are written in it.
    while n.abs() >= step - 0.5 && unit + 1 < units.len() {
        n /= step;
        unit += 1;
    }
    if n.abs() >= ABSURD {
        return format!("{n:.3e} {}", units[unit]);
    }
    let digits = match n.abs() {
        0.0..9.995 => 2,
        9.995..99.95 => 1,
        _ => 0,
    };
    format!("{} {}", trimmed(format!("{n:.digits$}")), units[unit])
}

/// Removes trailing zeros of the decimals.
fn trimmed(number: String) -> String {
    if !number.contains('.') || number.contains('e') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A part of a whole in percent; `None` if the whole is zero.
pub(super) fn percent(part: f64, whole: f64) -> Option<String> {
    (whole > 0.0).then(|| format!("{} %", one_decimal(part / whole * 100.0)))
}

fn one_decimal(x: f64) -> String {
    if x.abs() >= ABSURD { format!("{x:.1e}") } else { grouped(&format!("{x:.1}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_readable() {
        assert_eq!([0, 999, 1000, -1_234_567].map(|n: i64| count(n)), ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!([0.0, 12345.6789, -999.0].map(fixed), ["0.000", "12,345.679", "-999.000"]);
        assert_eq!([0.0000125, -1234.5].map(seconds), ["0.000013", "-1,234.500000"]);
        assert_eq!(fixed(f64::MAX), "1.798e308");
    }

    #[test]
    fn units_fit_the_number() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 12_345.0, 999_600.0, 5e6, -2.5e9].map(bytes),
            ["0 B", "999 B", "1 kB", "12.3 kB", "1 MB", "5 MB", "-2.5 GB"]
        );
        assert_eq!(
            [512, 1024, 1536, 65536, 1 << 26].map(length),
            ["512 B", "1 KiB", "1.5 KiB", "64 KiB", "64 MiB"]
        );
        assert_eq!(length(u64::MAX), "16 EiB");
        assert_eq!(
            [0.0, 1.5e-6, 0.0125, -0.25, 12.0, 1234.5, 200.0].map(time),
            ["0 s", "1.5 us", "12.5 ms", "-250 ms", "12 s", "1,234.5 s", "200 s"]
        );
        assert!(!bytes(f64::MAX).contains("000000"));
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        assert_eq!(percent(1.0, 0.0), None);
        assert_eq!(percent(1.0, f64::MIN_POSITIVE).as_deref(), Some("inf %"));
        assert_eq!(percent(-1.0, 8.0).as_deref(), Some("-12.5 %"));
    }
}
