//! The experts' predictions for the next call.

use super::confidence::Confidence;
use super::contexts::{Context, Contexts};
use super::events::{Event, Events, NONE, alike};
use super::expert::{AFTER, LOCAL, SAME, STRIDE, STRUCTURE};
use super::sites::Sites;
use super::{EXPERTS, GENERAL};
use crate::Envelope;

/// The initial hit rates at the lowest grade, in 1/65536: at the site that the expert predicted, and at another site.
const SURE: u16 = 24_000;
const UNSURE: u16 = 6_000;

/// The tables on which the predictions are based.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) events: Events,
    pub(super) sites: Sites,
    pub(super) contexts: Contexts,
    /// The hit rates for the site, and for the message if the site was right.
    pub(super) site_shares: Confidence,
    pub(super) message_shares: Confidence,
    /// The hit rates for the message although the site was wrong.
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

    /// A past event, adjusted by what has changed at its site since.
    pub(super) fn shifted(&self, event: Event) -> Envelope {
        let [to, since] = self.sites.get(self.events.site(event)).shift;
        moved(&self.events, event, to, since)
    }

    /// The hit rates for messages, if the site was right or wrong.
    fn shares(&self, site: bool) -> &Confidence {
        if site { &self.message_shares } else { &self.stray_shares }
    }

    /// The same, mutably.
    pub(super) fn shares_mut(&mut self, site: bool) -> &mut Confidence {
        if site { &mut self.message_shares } else { &mut self.stray_shares }
    }

    /// The heap memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.events.bytes() + self.sites.bytes() + self.contexts.bytes()
    }
}

/// An expert's prediction: an event at a site, or one that differs from it.
#[derive(Clone, Copy, Debug)]
struct Opinion {
    event: Event,
    site: u8,
    grade: u8,
}

const SILENT: Opinion = Opinion { event: NONE, site: 0, grade: 0 };

/// The predictions of all experts.
#[derive(Clone, Debug)]
pub(super) struct Round {
    opinions: [Opinion; EXPERTS],
    /// The contexts of the experts that use the table.
    after: [Option<Context>; SAME - AFTER],
    local: Option<Context>,
    /// The predicted site, or the one known to come next.
    site: u8,
    chosen: Option<u8>,
}

impl Default for Round {
    fn default() -> Self {
        Self { opinions: [SILENT; EXPERTS], after: [None; SAME - AFTER], local: None, site: 0, chosen: None }
    }
}

impl Round {
    /// Computes the predictions from the followed places and the hashes of the last events. If no expert predicts a site, uses `last`.
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

    /// Predicts with a single expert that has been right for a long time.
    pub(super) fn settle(&mut self, from: &Tables, expert: usize, event: Event, grade: u8) {
        let site = from.events.site(event);
        self.opinions = [SILENT; EXPERTS];
        self.opinions[expert] = Opinion { event, site, grade };
        (self.after, self.local) = ([None; SAME - AFTER], None);
        self.site = site;
        self.chosen = Some(expert as u8);
    }

    /// Silences the experts that predict for a given site, because the site is new.
    pub(super) fn speak_of_none(&mut self) {
        self.opinions[GENERAL..].fill(SILENT);
        self.local = None;
    }

    /// Lets the experts that predict for a given site predict for this one, which is known to come next.
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

    /// Chooses the expert for the message.
    pub(super) fn choose(&mut self, from: &Tables) {
        let chosen = self.best::<EXPERTS>(|expert, opinion| {
            let grade = self.grade_of_message(expert, from);
            from.shares(opinion.site == self.site).of(expert, grade)
        });
        self.chosen = chosen.map(|expert| expert as u8);
    }

    /// Of the first `N` experts, the one with a prediction and the highest hit rate; the first one if there are ties.
    fn best<const N: usize>(&self, share: impl Fn(usize, &Opinion) -> u16) -> Option<usize> {
        let mut best = 0;
        // The expert's number in the low bits makes keys unique, so the maximum is found without branches.
        for (expert, opinion) in self.opinions.iter().take(N).enumerate() {
            let key = u32::from(share(expert, opinion)) << 8 | (EXPERTS - expert) as u32;
            best = best.max(if opinion.event == NONE { 0 } else { key });
        }
        (best > 0).then(|| EXPERTS - (best & 0xff) as usize)
    }

    /// The predicted site, or the one known to come next.
    pub(super) fn site(&self) -> u8 {
        self.site
    }

    /// The predicted event, or one from which the prediction is derived.
    pub(super) fn chosen(&self) -> Event {
        self.chosen.map_or(NONE, |expert| self.opinions[usize::from(expert)].event)
    }

    /// The predicted message.
    pub(super) fn choice(&self, from: &Tables) -> Option<Envelope> {
        Some(self.message(usize::from(self.chosen?), from))
    }

    /// An expert's message, if it predicted one.
    pub(super) fn says(&self, expert: usize, from: &Tables) -> Option<Envelope> {
        (self.opinions[expert].event != NONE).then(|| self.message(expert, from))
    }

    /// The message of an expert that made a prediction.
    pub(super) fn message(&self, expert: usize, from: &Tables) -> Envelope {
        let Opinion { event, site, .. } = self.opinions[expert];
        match expert {
            STRUCTURE => from.shifted(event),
            STRIDE => moved(&from.events, event, event, from.sites.get(site).last[1]),
            _ => *from.events.envelope(event),
        }
    }

    /// The site of an expert's prediction, and its grade.
    pub(super) fn opinion(&self, expert: usize) -> Option<(u8, u8)> {
        let Opinion { event, site, grade } = self.opinions[expert];
        (event != NONE).then_some((site, grade))
    }

    /// An expert's confidence in its message, if its site is right.
    pub(super) fn grade_of_message(&self, expert: usize, from: &Tables) -> u8 {
        let Opinion { site, grade, .. } = self.opinions[expert];
        // For the structure expert, the confidence in the change since then.
        if expert == STRUCTURE { from.sites.get(site).steady } else { grade }
    }

    /// Whether an expert that made a prediction predicted this message.
    pub(super) fn right(&self, expert: usize, from: &Tables, envelope: &Envelope) -> bool {
        match expert {
            STRUCTURE | STRIDE => alike(&self.message(expert, from), envelope),
            _ => alike(from.events.envelope(self.opinions[expert].event), envelope),
        }
    }

    /// The past event that corresponds to the next one.
    pub(super) fn structure(&self) -> Event {
        self.opinions[STRUCTURE].event
    }

    /// All contexts that were looked up.
    pub(super) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.after.iter().flatten().chain(&self.local)
    }
}

/// A message with the difference `to` - `since` added to its numeric arguments.
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
