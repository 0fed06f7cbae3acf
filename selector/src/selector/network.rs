//! What the selector learns of the network.

use super::Selector;
use crate::link::{Link, Observed, Peer, PeerClass};
use crate::priors::may_gain;
use crate::size::SizeClass;
use crate::trains::Train;
use mpress_codec::Kind;

/// If the bandwidth changes by this factor, the knowledge about message lengths is discarded.
const NEWS: f64 = 1.25;

impl Selector {
    /// Sets a link that was measured after the selector was made. Implausible values are ignored.
    pub fn set_link(&mut self, peer: PeerClass, link: Link) {
        if link.is_sane() {
            self.links[peer.index()] = Observed::new(link);
            self.reset_windows(peer);
        }
    }

    /// Reports that a message was sent in chunks of `bytes` bytes together, and that this rank was busy with that for `ns` nanoseconds, without encoding
    /// them and without decoding others meanwhile.
    pub fn handed_over(&mut self, peer: PeerClass, bytes: usize, ns: f64) {
        self.links[peer.index()].handed_over(bytes, ns);
    }

    /// Reports that `bytes` bytes from this process, or from several of its class, came within `ns` nanoseconds, in which this process only waited for
    /// them, and that they were sent within `sent_ns`. If they took longer to come than to be sent, this shows the bandwidth, otherwise only that it is
    /// not less. The node is assumed to send as fast as it receives.
    pub fn came(&mut self, peer: impl Into<Peer>, bytes: usize, ns: f64, sent_ns: f64) {
        let Some(train) = Train::new(bytes, ns, sent_ns) else { return };
        let Peer { class, node } = peer.into();
        let change = self.links[class.index()].came(node, train);
        self.bandwidth_changed(class, change);
    }

    /// Reports that `bytes` bytes were exchanged with processes of this class in `elapsed_ns`, of which this rank waited `waited_ns`. The bandwidth
    /// is at least bytes over elapsed time: this number was transferred, while the rank waited or computed. It may also have waited for other ranks,
    /// so the bandwidth is assumed to be at most four times bytes over waiting time.
    pub fn passed(&mut self, peer: PeerClass, bytes: usize, waited_ns: f64, elapsed_ns: f64) {
        let change = self.links[peer.index()].passed(bytes, waited_ns, elapsed_ns);
        self.bandwidth_changed(peer, change);
    }

    /// Whether to send this message raw, but in chunks, whatever would be decided: what the rank waited for has refuted the believed bandwidth, and the
    /// trains of such tests show the real one, to the process that receives them. `now_ns`: as in [`admit_at`](Self::admit_at), if there are trials by
    /// the clock.
    pub fn wants_test(&mut self, kind: Kind, peer: impl Into<Peer>, len: usize, now_ns: Option<u64>) -> bool {
        let Peer { class, node } = peer.into();
        let link = &self.links[class.index()];
        if !link.is_suspected() || link.own(node).is_some() {
            return false;
        }
        // Contests and trials need all messages.
        let is_counted = self.has_contest(kind, class, SizeClass::of(len), len)
            || now_ns.is_some_and(|now_ns| self.epochs.is_trial(now_ns));
        !is_counted && self.links[class.index()].test()
    }

    fn bandwidth_changed(&mut self, peer: PeerClass, factor: f64) {
        if !(1.0 / NEWS..NEWS).contains(&factor) {
            self.reset_windows(peer);
        }
    }

    /// The current estimate of the link to most processes of a class.
    #[must_use]
    pub fn link(&self, peer: PeerClass) -> Link {
        *self.links[peer.index()].link()
    }

    /// The estimated bandwidths, in MB/s, of the nodes that are unlike most of their class.
    pub fn unlike(&self, peer: PeerClass) -> impl Iterator<Item = f64> + '_ {
        self.links[peer.index()].unlike()
    }

    /// Puts into the windows the size classes that would gain if codecs compressed a message to nothing.
    pub(super) fn reset_windows(&mut self, peer: PeerClass) {
        let link = self.links[peer.index()].link();
        for (candidates, windows) in self.candidates.iter().zip(self.windows.iter_mut()) {
            windows[peer.index()].reset(|size| may_gain(candidates, link, size));
        }
    }
}
