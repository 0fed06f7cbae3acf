//! What the experts say about the next call.

use super::confidence::Confidence;
use super::contexts::{Context, Contexts};
use super::events::{Event, Events, NONE};
use super::expert::{AFTER, LOCAL, SAME, STRIDE, STRUCTURE};
use super::sites::Sites;
use super::{EXPERTS, GENERAL};
use crate::Envelope;

/// What they speak from.
pub(super) struct Speaking<'a> {
    pub(super) events: &'a Events,
    pub(super) sites: &'a Sites,
    pub(super) contexts: &'a Contexts,
    pub(super) site_shares: &'a Confidence,
    pub(super) message_shares: &'a Confidence,
}

/// What an expert says: an event at a site, or one that differs from it.
#[derive(Clone, Copy, Debug)]
struct Opinion {
    event: Event,
    site: u8,
    grade: u8,
}

const SILENT: Opinion = Opinion { event: NONE, site: 0, grade: 0 };

/// What all of them say.
#[derive(Clone, Debug)]
pub(super) struct Round {
    opinions: [Opinion; EXPERTS],
    /// The contexts of the experts that look into the table.
    after: [Context; SAME - AFTER],
    local: Context,
    /// The messages of the experts that calculate theirs.
    shifted: Envelope,
    strided: Envelope,
    /// How sure it is what has changed since.
    steady: u8,
    /// The site that is expected, or known to come.
    site: u8,
    chosen: Option<u8>,
}

impl Default for Round {
    fn default() -> Self {
        Self {
            opinions: [SILENT; EXPERTS],
            after: [Context::default(); SAME - AFTER],
            local: Context::default(),
            shifted: Envelope::default(),
            strided: Envelope::default(),
            steady: 0,
            site: 0,
            chosen: None,
        }
    }
}

impl Round {
    /// By the places that are followed, and the numbers of the last events. Where nobody expects a site, it is `last`.
    pub(super) fn new(
        from: &Speaking<'_>,
        followed: [Option<(Event, u8)>; AFTER],
        histories: [u64; SAME - AFTER],
        last: u8,
    ) -> Self {
        let mut round = Self::default();
        let said = |(event, grade)| Opinion { event, site: from.events.site(event), grade };
        for (opinion, followed) in round.opinions.iter_mut().zip(followed) {
            *opinion = followed.map_or(SILENT, said);
        }
        for (at, history) in histories.into_iter().enumerate() {
            let context = Context::new(AFTER + at, history);
            round.after[at] = context;
            round.opinions[AFTER + at] = from.contexts.after(context).map_or(SILENT, said);
        }
        let Opinion { event, site, .. } = round.opinions[STRUCTURE];
        if event != NONE {
            let site = from.sites.get(site);
            let [to, since] = site.shift;
            round.shifted = moved(from.events, event, to, since);
            round.steady = site.steady;
        }
        let share = |expert: usize| from.site_shares.of(expert, round.opinions[expert].grade);
        let expected = best((0..GENERAL).filter(|expert| round.opinions[*expert].event != NONE), share);
        round.speak_about(from, expected.map_or(last, |expert| round.opinions[expert].site));
        round
    }

    /// The same, where the site is known to come.
    pub(super) fn about(&self, from: &Speaking<'_>, site: u8) -> Self {
        let mut round = self.clone();
        round.speak_about(from, site);
        round
    }

    fn speak_about(&mut self, from: &Speaking<'_>, site: u8) {
        self.site = site;
        let here = from.sites.get(site);
        let [last, before] = here.last;
        let said = |(event, grade)| Opinion { event, site, grade };
        self.opinions[SAME] = said((last, here.constant));
        self.local = Context::new(LOCAL, u64::from(site) << 16 | u64::from(last));
        self.opinions[LOCAL] = from.contexts.after(self.local).map_or(SILENT, said);
        self.opinions[STRIDE] = SILENT;
        if before != NONE {
            self.opinions[STRIDE] = said((last, here.stride));
            self.strided = moved(from.events, last, last, before);
        }
        let share = |expert: usize| from.message_shares.of(expert, self.grade_of_message(expert));
        let speaks = |expert: &usize| self.opinions[*expert].event != NONE && self.opinions[*expert].site == site;
        self.chosen = best((0..EXPERTS).filter(speaks), share).map(|expert| expert as u8);
    }

    /// The site that is expected, or known to come.
    pub(super) fn site(&self) -> u8 {
        self.site
    }

    /// The event that is expected, or one that looks like it.
    pub(super) fn chosen(&self) -> Event {
        self.chosen.map_or(NONE, |expert| self.opinions[usize::from(expert)].event)
    }

    /// The message that is expected.
    pub(super) fn choice(&self, events: &Events) -> Option<Envelope> {
        Some(match usize::from(self.chosen?) {
            STRUCTURE => self.shifted,
            STRIDE => self.strided,
            expert => events.envelope(self.opinions[expert].event),
        })
    }

    /// The site of which an expert spoke, and how sure it was.
    pub(super) fn opinion(&self, expert: usize) -> Option<(u8, u8)> {
        let Opinion { event, site, grade } = self.opinions[expert];
        (event != NONE).then_some((site, grade))
    }

    /// How sure an expert is of the message, if the site is the one it spoke of.
    pub(super) fn grade_of_message(&self, expert: usize) -> u8 {
        if expert == STRUCTURE { self.steady } else { self.opinions[expert].grade }
    }

    /// Whether an expert's message was the one that came; `known`, its number, unless that is new.
    pub(super) fn right(&self, expert: usize, known: Option<Event>, envelope: &Envelope) -> bool {
        match expert {
            _ if self.opinions[expert].event == NONE => false,
            STRUCTURE => self.shifted == *envelope,
            STRIDE => self.strided == *envelope,
            _ => Some(self.opinions[expert].event) == known,
        }
    }

    /// The event that came in the past where this one comes.
    pub(super) fn structure(&self) -> Event {
        self.opinions[STRUCTURE].event
    }

    /// All contexts that were looked up.
    pub(super) fn contexts(&self) -> impl Iterator<Item = Context> {
        self.after.into_iter().chain([self.local])
    }
}

/// The first of those with the greatest share.
fn best(experts: impl Iterator<Item = usize>, share: impl Fn(usize) -> u16) -> Option<usize> {
    let mut best = None;
    for expert in experts {
        let share = share(expert);
        if best.is_none_or(|(_, most)| share > most) {
            best = Some((expert, share));
        }
    }
    best.map(|(expert, _)| expert)
}

/// A message with the difference of two others added to what is counted in it.
fn moved(events: &Events, message: Event, to: Event, since: Event) -> Envelope {
    let (message, to, since) = (events.envelope(message), events.envelope(to), events.envelope(since));
    Envelope {
        buffer: message.buffer.wrapping_add(to.buffer.wrapping_sub(since.buffer)),
        count: message.count.wrapping_add(to.count.wrapping_sub(since.count)),
        source: message.source.wrapping_add(to.source.wrapping_sub(since.source)),
        tag: message.tag.wrapping_add(to.tag.wrapping_sub(since.tag)),
        ..message
    }
}
