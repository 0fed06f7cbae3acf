//! The Run-time Adaptive Strategy of PRAcTICaL-MPI (Filgueira, Atkinson, Nuñez, Fernández, Euro-Par 2012, section 3), plain and for comparison.
//!
//! For each datatype there is a compression window, with two thresholds between which messages may gain. Outside, messages go raw without being looked at.
//! Inside, the heuristics of codecs and network say which codec is best for a message of this datatype and redundancy level, and whether it gains.
//! The paper does not say how thresholds adapt; here by whether messages gained ([`Window`]).

use crate::decision::{Admitted, Choice, Decision};
use crate::estimate::{Packed, Transfer};
use crate::heuristics::Behaviour;
use crate::link::Link;
use crate::sample;
use crate::selector::{Offered, sane};
use crate::size::SizeClass;
use crate::table::Table;
use crate::window::{Thresholds, Window};
use alloc::boxed::Box;
use mpress_codec::Kind;

const KINDS: usize = Kind::ALL.len();

/// Decides by windows and heuristics. It learns nothing but the windows.
#[derive(Clone, Debug)]
pub struct Ras {
    transfer: Transfer,
    /// The heuristics.
    table: Table,
    link: Link,
    windows: Box<[Window; KINDS]>,
}

impl Ras {
    /// As [`Selector::new`](crate::Selector::new).
    #[must_use]
    pub fn new(offers: &[Offered<'_>], behaviours: &[Behaviour<'_>], link: Link, transfer: Transfer) -> Self {
        let windows = Box::new(core::array::from_fn(|_| Window::new()));
        Self { transfer, table: Table::new(offers, behaviours), link: sane(link), windows }
    }

    /// Sets how messages are sent from now on.
    pub fn set_transfer(&mut self, transfer: Transfer) {
        self.transfer = transfer;
    }

    /// Sets a link that was measured after the strategy was made. Implausible values are ignored.
    pub fn set_link(&mut self, link: Link) {
        if link.is_sane() {
            self.link = link;
            self.windows.iter_mut().for_each(Window::reset);
        }
    }

    /// Decides what to do with a message.
    pub fn decide(&mut self, kind: Kind, message: &[u8]) -> Decision {
        match self.admit(kind, message.len()) {
            Some(admitted) => self.weigh(admitted, message),
            None => Decision::outside(kind, message.len()),
        }
    }

    /// Decides whether a message of this length is inside the window. `None`: send it unchanged.
    pub fn admit(&mut self, kind: Kind, len: usize) -> Option<Admitted> {
        let window = &mut self.windows[kind as usize];
        window.admits(SizeClass::of(len)).then_some(Admitted { kind, len })
    }

    /// Decides about a message inside the window.
    pub fn weigh(&mut self, Admitted { kind, len }: Admitted, message: &[u8]) -> Decision {
        let (level, link) = (sample::level(kind, message), &self.link);
        let time = |took: Packed| took.time_ns(self.transfer, link, len);
        let times = self.table.expected(kind, level, len, 0.0).map(time).zip(self.table.offers(kind));
        let best = times.min_by(|one, other| one.0.total_cmp(&other.0));
        let raw_ns = link.time_ns(len as f64);
        let (expected_ns, choice) = match best {
            Some((ns, &offer)) if ns < raw_ns => (ns, Choice::Encode(offer)),
            _ => (raw_ns, Choice::Raw),
        };
        if choice == Choice::Raw {
            self.windows[kind as usize].gained(SizeClass::of(len), false);
        }
        Decision { choice, probe: None, kind, len, level: Some(level), raw_ns, expected_ns }
    }

    /// Reports that the message was encoded with the chosen codec, to `wire_len` bytes in `ns` nanoseconds.
    pub fn encoded(&mut self, decision: &Decision, wire_len: usize, ns: f64) {
        let Decision { choice: Choice::Encode(offer), kind, len, level: Some(level), .. } = *decision else {
            return;
        };
        let decode_ns = self.table.decode_ns((kind, level, offer), len).unwrap_or(0.0);
        let took = Packed { fraction: wire_len as f64 / len.max(1) as f64, encode_ns: ns, decode_ns };
        let link = &self.link;
        let gained = took.time_ns(self.transfer, link, len) < link.time_ns(len as f64);
        self.windows[kind as usize].gained(SizeClass::of(len), gained);
    }

    /// The compression window of a kind, and its history.
    #[must_use]
    pub fn window(&self, kind: Kind) -> (Thresholds, &[Thresholds]) {
        let window = &self.windows[kind as usize];
        (window.thresholds(), window.history())
    }
}
