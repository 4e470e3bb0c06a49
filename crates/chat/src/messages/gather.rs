//! Reactions and votes in large rooms: the room receives their counts once per second instead of each change.
//!
//! A gathered change is committed and acknowledged at once, and the store marks its message as *unpublished*
//! in the same transaction. Publishing gives the message a new version at a fresh position and removes the
//! mark, again in one transaction. So a gathered change cannot be lost. Sessions may have received later
//! positions than that of the change, but none after its future publication. A starting node publishes the
//! messages that an earlier process left unpublished.

use crate::messages::Event;
use crate::session::Completion;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::messages::Messages;
use crate::messages::counts::Counts;
use crate::site::share::SiteCounts;
use crate::{ChangedMessage, ConversationId, MessageChange, Seq, SiteId, Timestamp};

/// In smaller rooms each change is published at once.
const MOST_PUBLISHED_AT_ONCE: usize = 50;
/// Milliseconds for which changes of a room are gathered.
const INTERVAL_MS: u64 = 1_000;
/// Messages of one room published per interval. The others wait for their turn.
const PER_INTERVAL: usize = 4;
/// Messages that wait in memory: of all sites, of one site and of one room. Further ones wait in the store
/// and are read later.
const MOST_WAITING: usize = 65_536;
const MOST_OF_SITE: usize = 512;
const MOST_OF_ROOM: usize = 256;
/// Unpublished messages read from the store at once, and those of one site among them.
const PAGE: u32 = 1_024;
const PAGE_OF_SITE: u32 = 128;

/// Bounds of one read from the store. Sites come in the order of their numbers.
#[derive(Debug, Clone, Copy)]
pub struct UnpublishedPage {
    pub after: SiteId,
    /// Most messages of one site.
    pub of_site: u32,
    pub limit: u32,
}

/// Whether a change in a room of this size is published later, together with others. Stores call it and keep
/// the answer.
pub fn is_gathered(change: &MessageChange, members: usize) -> bool {
    match change {
        MessageChange::React { .. } | MessageChange::Vote(_) => members > MOST_PUBLISHED_AT_ONCE,
        MessageChange::Edit { .. }
        | MessageChange::Delete
        | MessageChange::Pin(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => false,
    }
}

/// Whether everybody gets the whole message after this change. Then nothing of it stays unpublished.
pub fn publishes_all(change: &MessageChange) -> bool {
    match change {
        MessageChange::React { .. } | MessageChange::Vote(_) => false,
        MessageChange::Edit { .. }
        | MessageChange::Delete
        | MessageChange::Pin(_)
        | MessageChange::ClosePoll
        | MessageChange::Preview(_) => true,
    }
}

/// Messages that wait to be published, by room.
pub(crate) struct Gathered(Mutex<Waiting>);

struct Waiting {
    rooms: HashMap<ConversationId, Room>,
    /// Numbers of messages in `rooms`.
    messages: SiteCounts,
    /// The store may have further unpublished messages: after a start, at a bound, or after a failure.
    more_in_store: bool,
    /// The next page of the store begins after this site, so that a site with many messages does not hide the
    /// others.
    read_after: SiteId,
    /// The earliest time of the next read.
    next_read: Timestamp,
}

struct Room {
    due: Timestamp,
    seqs: VecDeque<Seq>,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered(Mutex::new(Waiting {
            rooms: HashMap::new(),
            messages: SiteCounts::default(),
            more_in_store: true,
            read_after: SiteId(0),
            next_read: Timestamp(0),
        }))
    }
}

/// Whether the end of an interval is still to come. If it is further ahead than an interval, the clock was set back.
fn is_later(due: Timestamp, now: Timestamp) -> bool {
    due > now && due.since(now) <= INTERVAL_MS
}

impl Gathered {
    pub(crate) fn add(&self, room: ConversationId, seq: Seq, now: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(room, seq, now);
    }

    /// Takes the changes to publish now.
    fn take_due(&self, now: Timestamp) -> Vec<(ConversationId, Seq)> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        waiting.rooms.retain(|room, of_room| {
            if is_later(of_room.due, now) {
                return true;
            }
            let taken = of_room.seqs.len().min(PER_INTERVAL);
            due.extend(of_room.seqs.drain(..taken).map(|seq| (*room, seq)));
            of_room.due = Timestamp(now.0.saturating_add(INTERVAL_MS));
            // A room stays for one more interval, so that later changes are gathered, too.
            taken > 0
        });
        due.iter().for_each(|(room, _)| waiting.messages.remove(room.site));
        if waiting.rooms.is_empty() {
            waiting.rooms.shrink_to_fit();
        }
        due
    }

    /// Some: read the store now, from the site after this one.
    fn reads_store(&self, now: Timestamp) -> Option<SiteId> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = waiting.messages.all() < MOST_WAITING / 2;
        let reads = waiting.more_in_store && has_room && !is_later(waiting.next_read, now);
        reads.then(|| {
            waiting.more_in_store = false;
            waiting.next_read = Timestamp(now.0.saturating_add(INTERVAL_MS));
            waiting.read_after
        })
    }

    /// `after` is the answer of [`reads_store`](Self::reads_store).
    fn read(&self, found: &[(ConversationId, Seq)], after: SiteId, now: Timestamp) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter().for_each(|(room, seq)| waiting.add(*room, *seq, now));
        let is_full = found.len() >= PAGE as usize;
        let last = found.last().map(|(room, _)| room.site);
        waiting.read_after = last.filter(|_| is_full).unwrap_or(SiteId(0));
        // A round that began later has not seen the first sites.
        let is_part = is_full || after != SiteId(0);
        let is_cut =
            found.chunk_by(|(a, _), (b, _)| a.site == b.site).any(|of| of.len() >= PAGE_OF_SITE as usize);
        waiting.more_in_store |= is_part || is_cut;
    }

    /// The store failed: read it again later.
    fn failed(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).more_in_store = true;
    }
}

impl Waiting {
    fn add(&mut self, room: ConversationId, seq: Seq, now: Timestamp) {
        let is_full =
            self.messages.of(room.site) >= MOST_OF_SITE || !self.messages.has_place(room.site, MOST_WAITING);
        let due = Timestamp(now.0.saturating_add(INTERVAL_MS));
        let of_room = match is_full {
            true => self.rooms.get_mut(&room),
            false => Some(self.rooms.entry(room).or_insert_with(|| Room { due, seqs: VecDeque::new() })),
        };
        match of_room {
            Some(of_room) if of_room.seqs.contains(&seq) => {}
            Some(of_room) if !is_full && of_room.seqs.len() < MOST_OF_ROOM => {
                of_room.seqs.push_back(seq);
                self.messages.add(room.site);
            }
            _ => self.more_in_store = true,
        }
    }
}

impl Messages {
    pub(crate) fn publish_gathered(self: &Arc<Self>, now: Timestamp) {
        for (conversation, seq) in self.gathered.take_due(now) {
            let done = self.then(move |this, outcome| match outcome {
                Ok(Some(changed)) => this.publish_counts(changed),
                // The message was deleted, or was published elsewhere.
                Ok(None) => {}
                Err(_) => this.gathered.failed(),
            });
            self.store.publish_gathered(conversation, seq, done);
        }
        if let Some(after) = self.gathered.reads_store(now) {
            let done = self.then::<Vec<(ConversationId, Seq)>>(move |this, outcome| match outcome {
                Ok(found) => this.gathered.read(&found, after, now),
                Err(_) => this.gathered.failed(),
            });
            let page = UnpublishedPage { after, of_site: PAGE_OF_SITE, limit: PAGE };
            self.store.unpublished(page, done);
        }
    }

    fn publish_counts(&self, changed: ChangedMessage) {
        let ChangedMessage { message, position, members, .. } = changed;
        let event = Event::Counts { counts: Arc::new(Counts::of(&message)), by: None };
        self.sessions.publish_to_members(message.conversation.site, &members, position, None, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: ConversationId = ConversationId { site: SiteId(1), key: 1 << 63 | 7 };
    const FIRST: SiteId = SiteId(0);

    /// The state after the first read of the store, which found nothing.
    fn started() -> Gathered {
        let gathered = Gathered::default();
        assert_eq!(gathered.reads_store(Timestamp(0)), Some(FIRST));
        gathered.read(&[], FIRST, Timestamp(0));
        gathered
    }

    fn room_of(site: u32, key: u64) -> ConversationId {
        ConversationId::room(SiteId(site), key)
    }

    #[test]
    fn changes_of_a_room_are_gathered_for_an_interval() {
        let gathered = started();
        gathered.add(ROOM, Seq(1), Timestamp(5));
        gathered.add(ROOM, Seq(1), Timestamp(900));
        assert!(gathered.take_due(Timestamp(1_004)).is_empty());
        assert_eq!(gathered.take_due(Timestamp(1_005)), [(ROOM, Seq(1))], "one for both");
        gathered.add(ROOM, Seq(1), Timestamp(1_010));
        assert!(gathered.take_due(Timestamp(2_004)).is_empty(), "and again after an interval");
        assert_eq!(gathered.take_due(Timestamp(2_005)).len(), 1);
        assert!(gathered.take_due(Timestamp(9_000)).is_empty());
        assert_eq!(gathered.reads_store(Timestamp(9_000)), None, "the store has nothing else");
    }

    #[test]
    fn a_clock_that_is_set_back_delays_no_change() {
        const TWO_DAYS: u64 = 2 * 86_400_000;
        let gathered = started();
        gathered.add(ROOM, Seq(1), Timestamp(TWO_DAYS));
        gathered.failed();
        assert_eq!(gathered.reads_store(Timestamp(TWO_DAYS)), Some(FIRST));
        gathered.failed();
        assert_eq!(gathered.take_due(Timestamp(5)), [(ROOM, Seq(1))]);
        assert_eq!(gathered.reads_store(Timestamp(5)), Some(FIRST));
        gathered.add(ROOM, Seq(2), Timestamp(5));
        assert!(gathered.take_due(Timestamp(6)).is_empty(), "the interval counts from the clock of now");
    }

    #[test]
    fn a_room_receives_a_few_messages_per_interval() {
        let gathered = started();
        (1..=10).for_each(|seq| gathered.add(ROOM, Seq(seq), Timestamp(0)));
        let taken: Vec<Vec<(ConversationId, Seq)>> =
            (1..=4).map(|second| gathered.take_due(Timestamp(second * INTERVAL_MS))).collect();
        assert_eq!(taken.iter().map(Vec::len).collect::<Vec<_>>(), [PER_INTERVAL, PER_INTERVAL, 2, 0]);
        assert!(taken.concat().into_iter().map(|(_, seq)| seq.0).eq(1..=10), "in their order");
    }

    #[test]
    fn messages_beyond_the_bound_are_read_from_the_store_later() {
        let gathered = started();
        (1..=MOST_OF_ROOM as u64 + 1).for_each(|seq| gathered.add(ROOM, Seq(seq), Timestamp(0)));
        let (mut now, mut published) = (0, Vec::new());
        while published.len() < MOST_OF_ROOM + 1 && now < 100 * INTERVAL_MS {
            now += INTERVAL_MS;
            published.extend(gathered.take_due(Timestamp(now)));
            if let Some(after) = gathered.reads_store(Timestamp(now)) {
                let left = (1..=MOST_OF_ROOM as u64 + 1).map(|seq| (ROOM, Seq(seq)));
                let left = left.filter(|one| !published.contains(one));
                let left: Vec<_> = left.take(PAGE_OF_SITE as usize).collect();
                gathered.read(&left, after, Timestamp(now));
            }
        }
        assert_eq!(published.len(), MOST_OF_ROOM + 1);
    }

    #[test]
    fn memory_is_bounded_over_all_sites() {
        let gathered = started();
        let per_site = MOST_OF_SITE as u64;
        for key in 0..MOST_WAITING as u64 + 9 {
            gathered.add(room_of((key / per_site) as u32, key), Seq(1), Timestamp(0));
        }
        assert_eq!(gathered.take_due(Timestamp(INTERVAL_MS)).len(), MOST_WAITING);
        assert_eq!(gathered.reads_store(Timestamp(INTERVAL_MS)), Some(FIRST));
        assert_eq!(gathered.0.lock().unwrap().messages.all(), 0);
    }

    #[test]
    fn a_site_that_fills_its_share_delays_no_other() {
        let gathered = started();
        for key in 0..MOST_WAITING as u64 * 2 {
            gathered.add(room_of(1, key), Seq(1), Timestamp(0));
        }
        gathered.add(room_of(2, 1), Seq(1), Timestamp(0));
        let due = gathered.take_due(Timestamp(INTERVAL_MS));
        assert_eq!(due.len(), MOST_OF_SITE + 1);
        assert!(due.contains(&(room_of(2, 1), Seq(1))));
    }

    #[test]
    fn pages_of_the_store_cycle_through_the_sites() {
        let gathered = Gathered::default();
        // This number of sites fills a page, each with its share.
        let sites = PAGE / PAGE_OF_SITE;
        let page = |sites: std::ops::RangeInclusive<u32>, of_site: u32| -> Vec<(ConversationId, Seq)> {
            sites.flat_map(|site| (0..of_site).map(move |key| (room_of(site, key.into()), Seq(1)))).collect()
        };
        let read = |second: u64, found: &[(ConversationId, Seq)]| {
            let now = Timestamp(second * INTERVAL_MS);
            let after = gathered.reads_store(now).expect("there is more");
            gathered.read(found, after, now);
            gathered.take_due(Timestamp(now.0 + INTERVAL_MS));
            after
        };
        assert_eq!(read(1, &page(1..=sites, PAGE_OF_SITE)), FIRST);
        assert_eq!(read(2, &page(sites + 1..=sites + 1, 1)), SiteId(sites), "it goes on behind the page");
        assert_eq!(read(3, &page(1..=1, PAGE_OF_SITE)), FIRST, "and begins anew");
        assert_eq!(read(4, &page(1..=1, PAGE_OF_SITE - 1)), FIRST, "one site had more than its share");
        assert_eq!(gathered.reads_store(Timestamp(9 * INTERVAL_MS)), None);
    }

    #[test]
    fn a_failed_read_of_the_store_is_repeated() {
        let gathered = started();
        gathered.add(ROOM, Seq(1), Timestamp(0));
        assert_eq!(gathered.take_due(Timestamp(INTERVAL_MS)).len(), 1);
        gathered.failed();
        assert_eq!(gathered.reads_store(Timestamp(INTERVAL_MS)), Some(FIRST));
    }
}
