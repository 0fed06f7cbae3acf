//! A predictor that is not from the paper: a tournament of experts that needs no tags but can use them.

mod confidence;
mod contexts;
mod events;
mod follower;
mod history;
mod round;
mod sites;

use crate::{Envelope, Predictor, Tag};
use events::{Event, Events, NONE};
use follower::{Follower, LENGTHS};
use history::{History, Rolling};
use round::{Round, Tables};
use sites::count;

/// The experts. Those that predict an event, and so a call site, come first.
mod expert {
    /// The place in the past where the same events occurred before.
    pub(super) const MATCH: usize = 0;
    /// The place in the past where calls from the same sites occurred before, adjusted by what has changed since.
    pub(super) const STRUCTURE: usize = 1;
    /// The event that followed the last 1, 2, 6, 20 events.
    pub(super) const AFTER: usize = 2;
    /// The last event of the site.
    pub(super) const SAME: usize = 6;
    /// The event that followed the site's last event at that site.
    pub(super) const LOCAL: usize = 7;
    /// The site's last event, moved by its difference from the one before.
    pub(super) const STRIDE: usize = 8;
}
/// The number of experts that predict a site.
const GENERAL: usize = expert::SAME;
/// The number of all experts.
const EXPERTS: usize = 9;

/// After this number of consecutive hits, an expert's prediction is used without a tournament.
const SETTLED: u32 = 64;

/// Predicts by a tournament of experts on the history of a rank. The expert whose hit rate at its present confidence is highest makes the prediction.
///
/// A match that has held for 64 calls is settled: while it holds, no other expert predicts or learns. The same applies to the structure expert if its
/// messages have been right for as many calls.
///
/// [`new`](Self::new) allocates all memory, at most 64 KiB; nothing is allocated later. History that does not fit is forgotten.
#[derive(Clone, Debug)]
pub struct Tournament {
    tables: Tables,
    history: History,
    same: Follower,
    structure: Follower,
    /// Hashes of the last events and of the last sites, over `LENGTHS`.
    events_before: Rolling<{ LENGTHS.len() }>,
    sites_before: Rolling<{ LENGTHS.len() }>,
    /// The number of consecutive calls for which the structure expert was right.
    held: u32,
    /// The predictions for the next call.
    round: Round,
}

impl Default for Tournament {
    fn default() -> Self {
        Self::new()
    }
}

impl Tournament {
    /// A predictor without history.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: Tables::new(),
            history: History::new(),
            same: Follower::new(),
            structure: Follower::new(),
            events_before: Rolling::new(LENGTHS),
            sites_before: Rolling::new(LENGTHS),
            held: 0,
            round: Round::default(),
        }
    }

    /// Its memory in bytes, which is constant.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let followers = self.same.bytes() + self.structure.bytes();
        size_of::<Self>() + self.tables.bytes() + self.history.bytes() + followers
    }

    /// The predicted next calls, in order, without knowledge of their positions in the program. The first is that of [`predict`](Predictor::predict);
    /// the others followed it in the past. At most one iteration of a loop.
    pub fn ahead(&self) -> impl Iterator<Item = Envelope> {
        let events = &self.tables.events;
        let first = self.round.choice(&self.tables);
        let says = |expert| first.is_some() && self.round.says(expert, &self.tables) == first;
        let followed = [(expert::MATCH, &self.same), (expert::STRUCTURE, &self.structure)];
        let followed = followed.into_iter().find(|(expert, _)| says(*expert));
        let place =
            followed.and_then(|(expert, follower)| Some((expert, follower.expected(&self.history)?.0)));
        let later = place.into_iter().flat_map(move |(expert, place)| {
            (place + 1..self.history.now()).map(move |call| {
                let event = self.history.event(call);
                if expert == expert::MATCH { *events.envelope(event) } else { self.tables.shifted(event) }
            })
        });
        first.into_iter().chain(later)
    }

    /// Updates the experts' hit rates with the actual call, at `site` unless that is new. Returns which experts were right.
    fn judge(&mut self, site: Option<u8>, envelope: &Envelope) -> [bool; EXPERTS] {
        let mut right = [false; EXPERTS];
        for (expert, right) in right.iter_mut().enumerate() {
            let Some((expected, grade)) = self.round.opinion(expert) else { continue };
            let at_site = Some(expected) == site;
            if expert < GENERAL {
                self.tables.site_shares.learn(expert, grade, at_site);
            }
            let grade = self.round.grade_of_message(expert, &self.tables);
            *right = self.round.right(expert, &self.tables, envelope);
            self.tables.shares_mut(at_site).learn(expert, grade, *right);
        }
        right
    }

    /// Updates contexts and site with the actual event. `new`: the event is new, so its number may have been another event's; `right`: which experts
    /// were right.
    fn learn(&mut self, site: u8, known_site: Option<u8>, event: Event, new: bool, right: &[bool; EXPERTS]) {
        for context in self.round.contexts() {
            self.tables.contexts.learn(*context, event, new);
        }
        // If the number was reassigned to this event, earlier references to it are void.
        let before = |old: Event| if new && old == event { NONE } else { old };
        let here = self.tables.sites.get_mut(site);
        count(&mut here.constant, !new && here.last[0] == event);
        if self.round.opinion(expert::STRIDE).is_some() {
            count(&mut here.stride, right[expert::STRIDE]);
        }
        let structure = self.round.opinion(expert::STRUCTURE);
        if structure.is_some_and(|(expected, _)| Some(expected) != known_site) {
            self.held = 0;
        } else if structure.is_some() {
            let held = right[expert::STRUCTURE];
            self.held = if held { self.held.saturating_add(1) } else { 0 };
            count(&mut here.steady, held);
            // If it was right, this is the same difference between more recent events.
            here.shift = match before(self.round.structure()) {
                NONE => [NONE; 2],
                structure => [event, structure],
            };
        }
        here.last = [event, before(here.last[0])];
    }

    /// Whether the call agreed with the followed places in its event, and in its site.
    fn held(&self, site: Option<u8>, known: Option<Event>) -> [bool; 2] {
        let [same, structure] = [&self.same, &self.structure]
            .map(|follower| follower.expected(&self.history).map(|(call, _)| self.history.event(call)));
        let structure = structure.map(|event| self.tables.events.site(event));
        [same.is_some() && same == known, structure.is_some() && structure == site]
    }

    /// Appends the event to the history.
    fn append(&mut self, site: u8, event: Event, [same, structure]: [bool; 2]) {
        self.history.push(event);
        let (history, events) = (&self.history, &self.tables.events);
        let site_of = |call| u16::from(events.site(history.event(call)));
        self.events_before.push(event);
        self.sites_before.push(u16::from(site));
        let alike = |a, b| history.event(a) == history.event(b);
        self.same.advance(history, same, alike, self.events_before.values());
        let alike = |a, b| site_of(a) == site_of(b);
        self.structure.advance(history, structure, alike, self.sites_before.values());
    }

    /// Computes the predictions for the next call.
    fn speak(&mut self, site: u8) {
        let settled = if self.same.len() >= SETTLED {
            Some((expert::MATCH, &self.same))
        } else {
            (self.held >= SETTLED).then_some((expert::STRUCTURE, &self.structure))
        };
        if let Some((expert, follower)) = settled
            && let Some((call, grade)) = follower.expected(&self.history)
        {
            return self.round.settle(&self.tables, expert, self.history.event(call), grade);
        }
        let now = self.history.now();
        let before =
            |back: u64| now.checked_sub(back).map_or(0, |call| u64::from(self.history.event(call)) + 1);
        let (one, two) = (before(1), before(2));
        let [twenty, six] = self.events_before.values();
        let histories = [one, two << 32 | one, six, twenty];
        let followed = [&self.same, &self.structure].map(|follower| {
            follower.expected(&self.history).map(|(call, grade)| (self.history.event(call), grade))
        });
        self.round.speak(&self.tables, &followed, &histories, site);
    }
}

impl Predictor<Envelope> for Tournament {
    fn predict(&self, tag: Option<Tag>) -> Option<Envelope> {
        let Some(tag) = tag else { return self.round.choice(&self.tables) };
        let site = self.tables.sites.find(tag, self.round.site())?;
        if site == self.round.site() {
            return self.round.choice(&self.tables);
        }
        let mut round = self.round.clone();
        round.speak_about(&self.tables, site);
        round.choose(&self.tables);
        round.choice(&self.tables)
    }

    fn observe(&mut self, tag: Tag, message: Envelope) {
        // Judge the predictions before new sites and events take over the numbers of old ones.
        let known_site = self.tables.sites.find(tag, self.round.site());
        match known_site {
            None => self.round.speak_of_none(),
            Some(site) if site != self.round.site() => self.round.speak_about(&self.tables, site),
            Some(_) => {}
        }
        let find = |events: &Events, site| events.find(site, &message, self.round.chosen());
        let known = known_site.and_then(|site| find(&self.tables.events, site));
        let held = self.held(known_site, known);
        let right = self.judge(known_site, &message);
        let site = known_site.unwrap_or_else(|| self.tables.sites.add(tag));
        let known = known.or_else(|| {
            // A new site may have inherited the number, and the messages, of a forgotten one.
            known_site.map_or_else(|| self.tables.events.find(site, &message, NONE), |_| None)
        });
        let event = known.unwrap_or_else(|| self.tables.events.add(site, &message));
        self.tables.events.seen(event);
        self.learn(site, known_site, event, known.is_none(), &right);
        self.append(site, event, held);
        self.speak(site);
    }

    /// In bytes, unlike the predictors of the paper.
    fn memory(&self) -> usize {
        self.bytes()
    }
}

/// Mixes the bits of a number; the upper ones are mixed best.
fn hash(number: u64) -> u64 {
    let mixed = (number ^ number >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::EVENTS;

    fn message(number: usize) -> Envelope {
        Envelope { buffer: number as u64, ..Envelope::default() }
    }

    /// A loop with as many events as there are numbers, the last one at another site. Before and after it, a new event at that site, which takes over
    /// the number of the predicted event.
    fn a_number_given_again() -> (Tournament, Tournament) {
        let mut predictor = Tournament::new();
        for at in (0..EVENTS).chain(0..EVENTS) {
            predictor.observe(if at == EVENTS - 1 { 2 } else { 1 }, message(at));
        }
        let before = predictor.clone();
        let expected = before.round.chosen();
        assert_eq!(*before.tables.events.envelope(expected), message(0));
        predictor.observe(2, message(EVENTS));
        assert_eq!(*predictor.tables.events.envelope(expected), message(EVENTS));
        (before, predictor)
    }

    #[test]
    fn an_expert_is_not_right_because_its_event_lost_its_number() {
        let (before, after) = a_number_given_again();
        let grade = before.round.grade_of_message(expert::MATCH, &before.tables);
        let share = |of: &Tournament| of.tables.stray_shares.of(expert::MATCH, grade);
        assert!(share(&after) < share(&before), "{} after {}", share(&after), share(&before));
    }

    #[test]
    fn no_place_is_followed_because_its_event_lost_its_number() {
        let (before, after) = a_number_given_again();
        assert!(before.structure.len() > 0 && before.same.len() >= SETTLED);
        assert_eq!((after.same.len(), after.structure.len()), (0, 0));
    }
}
