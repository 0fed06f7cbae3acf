//! How much a rank receives for what it sends.

/// After this number of bytes in both directions, earlier ones count half.
const MEMORY: f64 = 64e6;

/// The latest raw bytes that were sent and received compressed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    sent: f64,
    received: f64,
}

impl Flow {
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.sent += bytes as f64;
        self.fade();
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.received += bytes as f64;
        self.fade();
    }

    fn fade(&mut self) {
        if self.sent + self.received > MEMORY {
            (self.sent, self.received) = (self.sent / 2.0, self.received / 2.0);
        }
    }

    /// The bytes received for each byte sent, at most 1.
    #[inline]
    pub(crate) fn both_ways(&self) -> f64 {
        if self.sent > 0.0 { (self.received / self.sent).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_messages_count() {
        let mut flow = Flow::default();
        flow.received(1000);
        assert_eq!(flow.both_ways(), 0.0);
        (0..1000).for_each(|_| flow.sent(1_000_000));
        assert!(flow.both_ways() < 1e-6);
        for _ in 0..1000 {
            flow.sent(1_000_000);
            flow.received(500_000);
        }
        assert!((flow.both_ways() - 0.5).abs() < 0.01);
        (0..1000).for_each(|_| flow.received(1_000_000));
        assert_eq!(flow.both_ways(), 1.0);
    }
}
