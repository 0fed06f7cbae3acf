//! The links between the ranks, from the plugin's measurements.

use super::plugin::{Measurement, What};
use super::round;
use mpress::knowledge::{MeasuredLink, Point};
use mpress::selector::{Link, PeerClass};

/// Computes links from the measurements, which arrive class by class.
#[derive(Default)]
pub(super) struct Links {
    alone: Vec<Point>,
    done: Vec<MeasuredLink>,
}

impl Links {
    pub(super) fn hear(&mut self, measurement: Measurement) {
        match measurement.what {
            What::Alone => {
                self.alone.push(Point { bytes: measurement.bytes, us: round(measurement.value) });
            }
            What::Together => {
                let alone = std::mem::take(&mut self.alone);
                // The time of the shortest message, or of a longer one that happened to be faster: shorter ones are not slower.
                let latency = alone.iter().map(|point| point.us).fold(f64::INFINITY, f64::min);
                let link = Link { latency_us: latency, bandwidth_mb_s: round(measurement.value) };
                // Implausible links are left to the defaults.
                if let Some(class) = PeerClass::new(measurement.peers).filter(|_| link.is_sane()) {
                    self.done.push(MeasuredLink { peers: class.name().into(), link, alone });
                }
            }
        }
    }

    /// All links, if the link of the network is among them.
    pub(super) fn done(self) -> Option<Vec<MeasuredLink>> {
        self.done.iter().any(|link| link.peers == PeerClass::NETWORK.name()).then_some(self.done)
    }
}

/// Describes a link in one line.
pub(super) fn line(measured: &MeasuredLink) -> String {
    let Link { latency_us, bandwidth_mb_s } = measured.link;
    format!("{}: latency {latency_us} us, {bandwidth_mb_s} MB/s for each rank while all send", measured.peers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_its_shortest_time_and_what_ranks_get_together() {
        let alone = |peers, bytes, value| Measurement { what: What::Alone, peers, bytes, value };
        let together = |peers, value| Measurement { what: What::Together, peers, bytes: 1 << 20, value };
        let mut links = Links::default();
        let measurements = [
            alone(1, 1, 27.12345),
            alone(1, 4, 26.0),
            alone(1, 16, 90.0),
            together(1, 11.712_34),
            alone(0, 1, 0.5),
        ];
        measurements.into_iter().for_each(|measurement| links.hear(measurement));
        links.hear(together(0, f64::NAN));
        let links = links.done().unwrap();
        assert_eq!(links.len(), 1, "what was no number is no link: {links:?}");
        assert_eq!(links[0].peers, "network");
        assert_eq!(links[0].link, Link { latency_us: 26.0, bandwidth_mb_s: 11.71 });
        assert_eq!(links[0].alone[0], Point { bytes: 1, us: 27.12 });
        assert_eq!(links[0].alone.len(), 3);
        assert!(line(&links[0]).starts_with("network: latency 26 us, 11.71 MB/s"));
    }

    #[test]
    fn without_a_network_there_is_nothing_to_write() {
        let mut links = Links::default();
        links.hear(Measurement { what: What::Alone, peers: 0, bytes: 1, value: 0.5 });
        links.hear(Measurement { what: What::Together, peers: 0, bytes: 1, value: 9000.0 });
        assert_eq!(links.done(), None);
    }
}
