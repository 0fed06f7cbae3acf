//! Real messages of a few kilobytes in `tests/data`; see the README there.

/// A name and a message of doubles.
pub(crate) type Sample = (&'static str, &'static [u8]);

/// All samples.
pub(crate) fn samples() -> [Sample; 7] {
    [
        ("bt", include_bytes!("../data/bt.f64")),
        ("cg", include_bytes!("../data/cg.f64")),
        ("ft", include_bytes!("../data/ft.f64")),
        ("lu", include_bytes!("../data/lu.f64")),
        ("mg", include_bytes!("../data/mg.f64")),
        ("sp", include_bytes!("../data/sp.f64")),
        ("sweep3d", include_bytes!("../data/sweep3d.f64")),
    ]
}
