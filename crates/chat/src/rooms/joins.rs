//! Events about joins: members of a room get the new number of members within a second, in small rooms with
//! names.
//!
//! They are not stored. Joins and leaves are gathered per room, and large rooms get fewer events. A user who
//! leaves and joins again is listed once in ten minutes.

use crate::rooms::Event;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rooms::Rooms;
use crate::session::{Completion, Handles};
use crate::site::share::SiteCounts;
use crate::users::person;
use crate::{ConversationId, Timestamp, UserId, UserRow};

/// Larger rooms get the number of members without names.
const MOST_MEMBERS_NAMED: u32 = 50;
/// Milliseconds from the first join to its event.
const DELAY_MS: u64 = 500;
/// Milliseconds between two events of a room.
const INTERVAL_MS: u64 = 1_000;
/// The interval is at least one millisecond per this number of members, so rooms of more than 1,000 times
/// this get fewer events.
const MEMBERS_PER_MS: u64 = 5;
/// A user is not listed again in a room within this time.
const NAMED_AGAIN_MS: u64 = 10 * 60_000;
/// Rooms in memory at once, of all sites. Joins of further rooms lead to no event.
const MOST_ROOMS: usize = 8_192;
/// Users listed of one room. Further ones are only counted.
const MOST_USERS: usize = 50;

/// The current members of a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomMembers {
    pub members: Vec<UserId>,
    /// The requested users who are members.
    pub joined: Vec<UserRow>,
}

/// Joins and leaves that wait to be published, by room.
#[derive(Default)]
pub(crate) struct Joins(Mutex<JoinsByRoom>);

#[derive(Default)]
struct JoinsByRoom {
    by_id: HashMap<ConversationId, OfRoom>,
    by_site: SiteCounts,
}

#[derive(Default)]
struct OfRoom {
    /// Time of the next event; None: no change since the last one.
    due: Option<Timestamp>,
    /// The earliest time of the next event, and how long after the last one that is.
    quiet_until: Timestamp,
    quiet_ms: u64,
    joined: Vec<UserId>,
    /// Users who were listed, and when.
    named: Vec<(UserId, Timestamp)>,
}

impl OfRoom {
    fn be_quiet(&mut self, ms: u64, now: Timestamp) {
        (self.quiet_until, self.quiet_ms) = (Timestamp(now.0 + ms), ms);
    }
}

impl Joins {
    /// `joined` None: a member left.
    fn add(&self, room: ConversationId, joined: Option<UserId>, now: Timestamp) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let JoinsByRoom { by_id, by_site } = &mut *rooms;
        let of_room = match by_id.entry(room) {
            Entry::Occupied(of_room) => of_room.into_mut(),
            Entry::Vacant(_) if !by_site.has_place(room.site, MOST_ROOMS) => return,
            Entry::Vacant(place) => {
                by_site.add(room.site);
                place.insert(OfRoom::default())
            }
        };
        of_room.due.get_or_insert(Timestamp(of_room.quiet_until.0.max(now.0 + DELAY_MS)));
        let is_named = |user: &UserId| of_room.named.iter().any(|(named, _)| named == user);
        if let Some(user) = joined.filter(|user| !is_named(user))
            && of_room.named.len() < MOST_USERS
        {
            of_room.named.push((user, now));
            of_room.joined.push(user);
        }
    }

    /// The rooms with an event due now, and the users who joined.
    fn take_due(&self, now: Timestamp) -> Vec<(ConversationId, Vec<UserId>)> {
        let mut due = Vec::new();
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let JoinsByRoom { by_id, by_site } = &mut *rooms;
        by_id.retain(|room, of_room| {
            of_room.named.retain(|(_, at)| now.since(*at) < NAMED_AGAIN_MS && at.since(now) < NAMED_AGAIN_MS);
            // Times that are further ahead than they can be: the clock was set back.
            if of_room.quiet_until.since(now) > of_room.quiet_ms {
                of_room.quiet_until = now;
            }
            let longest_ms = of_room.quiet_ms.max(DELAY_MS);
            if of_room.due.is_some_and(|at| at <= now || at.since(now) > longest_ms) {
                of_room.due = None;
                of_room.be_quiet(INTERVAL_MS, now);
                due.push((*room, std::mem::take(&mut of_room.joined)));
            }
            let stays = of_room.due.is_some() || of_room.quiet_until > now || !of_room.named.is_empty();
            if !stays {
                by_site.remove(room.site);
            }
            stays
        });
        if by_id.is_empty() {
            by_id.shrink_to_fit();
        }
        due
    }

    /// Notes an event to this number of members.
    fn published(&self, room: ConversationId, members: usize, now: Timestamp) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_room) = rooms.by_id.get_mut(&room) {
            of_room.be_quiet(INTERVAL_MS.max(members as u64 / MEMBERS_PER_MS), now);
            of_room.due = of_room.due.map(|due| due.max(of_room.quiet_until));
        }
    }
}

impl Rooms {
    pub(crate) fn member_joined(&self, room: ConversationId, user: UserId) {
        self.joins.add(room, Some(user), self.sessions.last_tick());
    }

    pub(crate) fn member_left(&self, room: ConversationId) {
        self.joins.add(room, None, self.sessions.last_tick());
    }

    pub(crate) fn publish_joins(self: &Arc<Self>, now: Timestamp) {
        for (room, joined) in self.joins.take_due(now) {
            let done = self.then::<RoomMembers>(move |this, outcome| {
                if let Ok(found) = outcome {
                    this.joins.published(room, found.members.len(), now);
                    this.publish_members(room, found);
                }
            });
            self.store.room_members(room, joined, done);
        }
    }

    fn publish_members(&self, conversation: ConversationId, found: RoomMembers) {
        let RoomMembers { members, joined } = found;
        let count = members.len() as u32;
        let is_named = |row: &&UserRow| count <= MOST_MEMBERS_NAMED && !row.on_site.shadowed;
        let joined = joined.iter().filter(is_named).map(|row| person(row, None)).collect();
        let mut handles = Handles::new();
        for member in members {
            self.sessions.lock(member).live(member, None, &mut handles);
        }
        self.sessions.send_all(&handles, Event::MemberCount { conversation, members: count, joined });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    const SITE: SiteId = SiteId(1);
    const ROOM: ConversationId = ConversationId { site: SITE, key: 1 << 63 | 7 };

    fn user(num: u32) -> UserId {
        UserId { site: SITE, num }
    }

    #[test]
    fn joins_are_gathered_and_listed_once() {
        let joins = Joins::default();
        joins.add(ROOM, Some(user(1)), Timestamp(0));
        joins.add(ROOM, Some(user(2)), Timestamp(100));
        joins.add(ROOM, None, Timestamp(200));
        joins.add(ROOM, Some(user(1)), Timestamp(300));
        assert!(joins.take_due(Timestamp(499)).is_empty());
        assert_eq!(joins.take_due(Timestamp(500)), [(ROOM, vec![user(1), user(2)])]);
        // A user leaves and joins in a loop: one event per second, without a name.
        let mut events = Vec::new();
        for now in (600..60_000).step_by(100) {
            joins.add(ROOM, Some(user(1)), Timestamp(now));
            events.extend(joins.take_due(Timestamp(now)));
        }
        assert!(events.len() <= 60 && events.iter().all(|(_, joined)| joined.is_empty()), "{}", events.len());
        let later = Timestamp(NAMED_AGAIN_MS + 60_000);
        joins.take_due(later);
        joins.take_due(Timestamp(later.0 + 2_000));
        assert!(joins.0.lock().unwrap().by_id.is_empty(), "nothing is kept of a room that is quiet");
        joins.add(ROOM, Some(user(1)), later);
        assert_eq!(joins.take_due(Timestamp(later.0 + 1_000)), [(ROOM, vec![user(1)])]);
    }

    #[test]
    fn large_rooms_get_fewer_events() {
        let joins = Joins::default();
        joins.add(ROOM, Some(user(1)), Timestamp(0));
        assert_eq!(joins.take_due(Timestamp(500)).len(), 1);
        joins.published(ROOM, 100_000, Timestamp(500));
        joins.add(ROOM, Some(user(2)), Timestamp(600));
        assert!(joins.take_due(Timestamp(20_499)).is_empty());
        assert_eq!(joins.take_due(Timestamp(20_500)).len(), 1);
    }

    #[test]
    fn a_clock_that_is_set_back_delays_no_event() {
        const TWO_DAYS: u64 = 2 * 86_400_000;
        let joins = Joins::default();
        joins.add(ROOM, Some(user(1)), Timestamp(TWO_DAYS));
        assert_eq!(joins.take_due(Timestamp(TWO_DAYS + DELAY_MS)).len(), 1);
        joins.published(ROOM, 100_000, Timestamp(TWO_DAYS + DELAY_MS));
        joins.add(ROOM, Some(user(2)), Timestamp(TWO_DAYS + DELAY_MS));
        assert!(joins.take_due(Timestamp(TWO_DAYS + 2 * DELAY_MS)).is_empty(), "the room is large");
        assert_eq!(joins.take_due(Timestamp(0)), [(ROOM, vec![user(2)])]);
        joins.add(ROOM, Some(user(1)), Timestamp(100));
        assert_eq!(joins.take_due(Timestamp(INTERVAL_MS)), [(ROOM, vec![user(1)])], "and is listed again");
    }

    #[test]
    fn memory_is_bounded_in_users_and_rooms() {
        let joins = Joins::default();
        (0..200).for_each(|num| joins.add(ROOM, Some(user(num)), Timestamp(0)));
        (0..2 * MOST_ROOMS as u64).for_each(|key| {
            joins.add(ConversationId::room(SITE, key), Some(user(1)), Timestamp(0));
        });
        let due = joins.take_due(Timestamp(500));
        assert!(due.len() <= MOST_ROOMS);
        assert!(due.iter().all(|(_, joined)| joined.len() <= MOST_USERS));
    }
}
