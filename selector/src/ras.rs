//! The Run-time Adaptive Strategy of PRAcTICaL-MPI (Filgueira, Atkinson, Nuñez, Fernández, Euro-Par 2012, section 3), as published, for comparison.
//!
//! Each datatype has a compression window, with two thresholds between which messages may gain. Outside the window, messages are sent raw without
//! being read. Inside, the heuristics of codecs and network select the best codec for a message of this datatype and redundancy level, and tell
//! whether it gains. The paper does not say how thresholds adapt; here they adapt by whether messages gained ([`Window`]).

use crate::bandwidth::Observed;
use crate::costs::Costs;
use crate::decision::{Admitted, Choice, Decision};
use crate::estimate::Transfer;
use crate::heuristics::Behaviour;
use crate::link::Link;
use crate::sample;
use crate::selector::Offered;
use crate::size::SizeClass;
use crate::window::{Thresholds, Window};
use alloc::boxed::Box;
use mpress_codec::Kind;

/// Decides by windows and heuristics. It adapts only the windows.
#[derive(Clone, Debug)]
pub struct Ras {
    costs: Costs,
    windows: Box<[Window; Kind::ALL.len()]>,
}

impl Ras {
    /// As for [`Selector::new`](crate::Selector::new).
    #[must_use]
    pub fn new(offers: &[Offered<'_>], behaviours: &[Behaviour<'_>], link: Link, transfer: Transfer) -> Self {
        let windows = Box::new(core::array::from_fn(|_| Window::new()));
        Self { costs: Costs::new(offers, behaviours, link, transfer), windows }
    }

    /// Sets how messages are sent from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.costs.transfer = transfer;
    }

    /// Sets a link that was measured after the strategy was created. Implausible values are ignored.
    pub fn set_link(&mut self, link: Link) {
        if link.is_sane() {
            self.costs.network = Observed::new(link);
            self.windows.iter_mut().for_each(Window::reset);
        }
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, message: &[u8]) -> Decision {
        match self.admit(kind, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::raw(kind, message.len(), None, 0.0),
        }
    }

    /// Decides whether a message of this length is inside the window. `None`: send it unchanged.
    pub fn admit(&mut self, kind: Kind, len: usize) -> Option<Admitted> {
        let window = &mut self.windows[kind as usize];
        window.admits(SizeClass::of(len)).then_some(Admitted { kind, len })
    }

    /// Decides how to send a message inside the window.
    pub fn weigh(&mut self, admitted: Admitted, message: &[u8]) -> Decision {
        let level = sample::level(admitted.kind, message);
        let (decision, _) = self.costs.least(admitted, level, 0.0);
        if decision.choice == Choice::Raw {
            self.windows[admitted.kind as usize].gained(SizeClass::of(admitted.len), false);
        }
        decision
    }

    /// The length of the chunks of a message, as for [`Selector::chunk_of`](crate::Selector::chunk_of).
    #[must_use]
    pub fn chunk_of(&self, decision: &Decision) -> Option<usize> {
        self.costs.chunk(decision.cell()?, decision.len)
    }

    /// Reports that the message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let Some(cell) = decision.cell() else { return };
        let gain_ns = self.costs.gain_ns(cell, decision.len, wire_len, ns);
        let gained = gain_ns.is_some_and(|gain_ns| gain_ns > 0.0);
        self.windows[decision.kind as usize].gained(SizeClass::of(decision.len), gained);
    }

    /// The compression window of a kind, and its history.
    #[must_use]
    pub fn window(&self, kind: Kind) -> (Thresholds, &[Thresholds]) {
        let window = &self.windows[kind as usize];
        (window.thresholds(), window.history())
    }
}
