//! The network between the ranks, from the plugin's measurements.

use super::plugin::Measurement;
use super::round;
use mpress::knowledge::{MeasuredLink, Point};
use mpress::network::survey::What;
use mpress::selector::Link;

/// The link, when all measurements have arrived; `None` if the values are impossible for a network.
pub(super) fn link(measurements: &[Measurement]) -> Option<MeasuredLink> {
    let of = |what| measurements.iter().filter(move |measurement| measurement.what == what);
    let point = |measurement: &Measurement| Point { bytes: measurement.bytes, us: round(measurement.value) };
    let alone: Vec<_> = of(What::Alone).map(point).collect();
    // The time of the shortest message, or of a longer one that happened to be faster, because shorter messages
    // cannot be slower.
    let latency_us = alone.iter().map(|point| point.us).fold(f64::INFINITY, f64::min);
    let link = Link { latency_us, bandwidth_mb_s: round(of(What::Together).next()?.value) };
    link.is_sane().then_some(MeasuredLink { link, alone })
}

/// Describes a link in one line.
pub(super) fn line(measured: &MeasuredLink) -> String {
    let Link { latency_us, bandwidth_mb_s } = measured.link;
    format!("network: latency {latency_us} us, {bandwidth_mb_s} MB/s for each rank while all send")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_its_shortest_time_and_what_ranks_get_together() {
        let alone = |bytes, value| Measurement { what: What::Alone, bytes, value };
        let together = |value| Measurement { what: What::Together, bytes: 1 << 20, value };
        let found =
            link(&[alone(1, 27.12345), alone(4, 26.0), alone(16, 90.0), together(11.712_34)]).unwrap();
        assert_eq!(found.link, Link { latency_us: 26.0, bandwidth_mb_s: 11.71 });
        assert_eq!(found.alone[0], Point { bytes: 1, us: 27.12 });
        assert_eq!(found.alone.len(), 3);
        assert!(line(&found).starts_with("network: latency 26 us, 11.71 MB/s"));
        assert_eq!(link(&[alone(1, 27.0), together(f64::NAN)]), None, "NaN is not a link");
        assert_eq!(link(&[alone(1, 27.0)]), None);
    }
}
