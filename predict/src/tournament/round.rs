//! What the experts say about the next call.

use super::confidence::Confidence;
use super::contexts::{Context, Contexts};
use super::events::{Event, Events, NONE, alike};
use super::expert::{AFTER, LOCAL, SAME, STRIDE, STRUCTURE};
use super::sites::Sites;
use super::{EXPERTS, GENERAL};
use crate::Envelope;

/// How much an expert is believed at first, of 65536, at the least grade; and of a site that it did not speak of.
const SURE: u16 = 24_000;
const UNSURE: u16 = 6_000;

/// What they speak from.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) events: Events,
    pub(super) sites: Sites,
    pub(super) contexts: Contexts,
    /// How often the site was right, and the message if the site was.
    pub(super) site_shares: Confidence,
    pub(super) message_shares: Confidence,
    /// How often the message was right though the site was not.
    pub(super) stray_shares: Confidence,
}

impl Tables {
    pub(super) fn new() -> Self {
        Self {
            events: Events::new(),
            sites: Sites::new(),
            contexts: Contexts::new(),
            site_shares: Confidence::new(SURE),
            message_shares: Confidence::new(SURE),
            stray_shares: Confidence::new(UNSURE),
        }
    }

    /// An event of the past with what has changed at its site since.
    pub(super) fn shifted(&self, event: Event) -> Envelope {
        let [to, since] = self.sites.get(self.events.site(event)).shift;
        moved(&self.events, event, to, since)
    }

    /// How often messages were right, if the site was, and if it was not.
    fn shares(&self, site: bool) -> &Confidence {
        if site { &self.message_shares } else { &self.stray_shares }
    }

    /// The same, to learn.
    pub(super) fn shares_mut(&mut self, site: bool) -> &mut Confidence {
        if site { &mut self.message_shares } else { &mut self.stray_shares }
    }

    /// The bytes after it.
    pub(super) fn bytes(&self) -> usize {
        self.events.bytes() + self.sites.bytes() + self.contexts.bytes()
    }
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
    after: [Option<Context>; SAME - AFTER],
    local: Option<Context>,
    /// The site that is expected, or known to come.
    site: u8,
    chosen: Option<u8>,
}

impl Default for Round {
    fn default() -> Self {
        Self { opinions: [SILENT; EXPERTS], after: [None; SAME - AFTER], local: None, site: 0, chosen: None }
    }
}

impl Round {
    /// By the places that are followed, and the numbers of the last events. Where no predictor expects a site, it is `last`.
    pub(super) fn speak(
        &mut self,
        from: &Tables,
        followed: &[Option<(Event, u8)>; AFTER],
        histories: &[u64; SAME - AFTER],
        last: u8,
    ) {
        let said = |(event, grade)| Opinion { event, site: from.events.site(event), grade };
        for (opinion, followed) in self.opinions.iter_mut().zip(followed) {
            *opinion = followed.map_or(SILENT, said);
        }
        for (at, history) in histories.iter().enumerate() {
            let context = Context::new(AFTER + at, *history);
            self.after[at] = Some(context);
            self.opinions[AFTER + at] = from.contexts.after(context).map_or(SILENT, said);
        }
        let expected = self.best::<GENERAL>(|expert, opinion| from.site_shares.of(expert, opinion.grade));
        self.speak_about(from, expected.map_or(last, |expert| self.opinions[expert].site));
        self.choose(from);
    }

    /// Of one that has been right for long: only it speaks.
    pub(super) fn settle(&mut self, from: &Tables, expert: usize, event: Event, grade: u8) {
        let site = from.events.site(event);
        self.opinions = [SILENT; EXPERTS];
        self.opinions[expert] = Opinion { event, site, grade };
        (self.after, self.local) = ([None; SAME - AFTER], None);
        self.site = site;
        self.chosen = Some(expert as u8);
    }

    /// Those that speak about one site have nothing to say about one that is new.
    pub(super) fn speak_of_none(&mut self) {
        self.opinions[GENERAL..].fill(SILENT);
        self.local = None;
    }

    /// Those that speak about one site speak about this one, which is known to come.
    pub(super) fn speak_about(&mut self, from: &Tables, site: u8) {
        self.site = site;
        let here = from.sites.get(site);
        let [last, before] = here.last;
        let said = |(event, grade)| Opinion { event, site, grade };
        self.opinions[SAME] = said((last, here.constant));
        let context = Context::new(LOCAL, u64::from(site) << 16 | u64::from(last));
        self.local = Some(context);
        self.opinions[LOCAL] = from.contexts.after(context).map_or(SILENT, said);
        self.opinions[STRIDE] = if before == NONE { SILENT } else { said((last, here.stride)) };
    }

    /// The expert that is believed about the site.
    pub(super) fn choose(&mut self, from: &Tables) {
        let chosen = self.best::<EXPERTS>(|expert, opinion| {
            let grade = self.grade_of_message(expert, from);
            from.shares(opinion.site == self.site).of(expert, grade)
        });
        self.chosen = chosen.map(|expert| expert as u8);
    }

    /// Of the first experts that speak, the one with the greatest share; of several, the first.
    fn best<const N: usize>(&self, share: impl Fn(usize, &Opinion) -> u16) -> Option<usize> {
        let mut best = 0;
        // Shares with the experts' numbers below them: the greatest of those is found without branches.
        for (expert, opinion) in self.opinions.iter().take(N).enumerate() {
            let key = u32::from(share(expert, opinion)) << 8 | (EXPERTS - expert) as u32;
            best = best.max(if opinion.event == NONE { 0 } else { key });
        }
        (best > 0).then(|| EXPERTS - (best & 0xff) as usize)
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
    pub(super) fn choice(&self, from: &Tables) -> Option<Envelope> {
        Some(self.message(usize::from(self.chosen?), from))
    }

    /// The message of an expert, if it spoke.
    pub(super) fn says(&self, expert: usize, from: &Tables) -> Option<Envelope> {
        (self.opinions[expert].event != NONE).then(|| self.message(expert, from))
    }

    /// The message of an expert that spoke.
    pub(super) fn message(&self, expert: usize, from: &Tables) -> Envelope {
        let Opinion { event, site, .. } = self.opinions[expert];
        match expert {
            STRUCTURE => from.shifted(event),
            STRIDE => moved(&from.events, event, event, from.sites.get(site).last[1]),
            _ => *from.events.envelope(event),
        }
    }

    /// The site of which an expert spoke, and how sure it was.
    pub(super) fn opinion(&self, expert: usize) -> Option<(u8, u8)> {
        let Opinion { event, site, grade } = self.opinions[expert];
        (event != NONE).then_some((site, grade))
    }

    /// How sure an expert is of the message, if the site is the one it spoke of.
    pub(super) fn grade_of_message(&self, expert: usize, from: &Tables) -> u8 {
        let Opinion { site, grade, .. } = self.opinions[expert];
        // Of the structure, how sure it is what has changed since.
        if expert == STRUCTURE { from.sites.get(site).steady } else { grade }
    }

    /// Whether the message of an expert that spoke was this one.
    pub(super) fn right(&self, expert: usize, from: &Tables, envelope: &Envelope) -> bool {
        match expert {
            STRUCTURE | STRIDE => alike(&self.message(expert, from), envelope),
            _ => alike(from.events.envelope(self.opinions[expert].event), envelope),
        }
    }

    /// The event that came in the past where this one comes.
    pub(super) fn structure(&self) -> Event {
        self.opinions[STRUCTURE].event
    }

    /// All contexts that were looked up.
    pub(super) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.after.iter().flatten().chain(&self.local)
    }
}

/// A message with the difference of two others added to what is counted in it.
fn moved(events: &Events, message: Event, to: Event, since: Event) -> Envelope {
    let (message, to, since) = (events.envelope(message), events.envelope(to), events.envelope(since));
    Envelope {
        buffer: message.buffer.wrapping_add(to.buffer.wrapping_sub(since.buffer)),
        count: message.count.wrapping_add(to.count.wrapping_sub(since.count)),
        source: message.source.wrapping_add(to.source.wrapping_sub(since.source)),
        tag: message.tag.wrapping_add(to.tag.wrapping_sub(since.tag)),
        ..*message
    }
}
