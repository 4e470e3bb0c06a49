//! Sessions with an address of their own, the *resource*, and their availability.
//!
//! In some protocols each client has a resource, and tells contacts its own availability: such a session is announced. Sessions
//! without a resource, as those of the widget, appear together as one, with the presence that the user has chosen.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::{Shard, State};
use crate::limits::{Due, Rate};
use crate::{Presence, Refusal, SessionHandle, Sub, Timestamp, UserId};

/// Longest resource, in bytes (RFC 7622 §3.4).
pub const RESOURCE_BYTES: usize = 1023;
/// Longest status text of a session, in bytes.
pub const SESSION_STATUS_BYTES: usize = 1024;
/// Longest extension of an availability, in bytes.
pub const AVAILABILITY_EXTENSION_BYTES: usize = 4096;

/// Bytes of availabilities that a user may publish at once, and within each minute. All contacts get each change, so a change
/// beyond that waits.
const PUBLISHED_BYTES: u64 = 16 * 1024;
/// A change costs this and its texts.
const CHANGE_BYTES: u64 = 64;

fn published_bytes() -> Rate {
    Rate::budget(PUBLISHED_BYTES, 60_000)
}

/// How a session is available (RFC 6121 §4.7.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Show {
    #[default]
    Online,
    /// Wants to talk.
    FreeForChat,
    Away,
    ExtendedAway,
    Busy,
}

/// The availability that a session sends to contacts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Availability {
    pub show: Show,
    /// Below 0: the session wants no messages (RFC 6121 §4.7.2.3).
    pub priority: i8,
    /// At most [`SESSION_STATUS_BYTES`].
    pub status: Box<str>,
    /// Delivered as received; at most [`AVAILABILITY_EXTENSION_BYTES`].
    pub extension: Box<str>,
}

impl Availability {
    /// Refused, unless all lengths are within their limits.
    pub fn check(&self) -> Result<(), Refusal> {
        let fits =
            self.status.len() <= SESSION_STATUS_BYTES && self.extension.len() <= AVAILABILITY_EXTENSION_BYTES;
        if fits { Ok(()) } else { Err(Refusal::BadValue) }
    }

    fn bytes(&self) -> u64 {
        CHANGE_BYTES + (self.status.len() + self.extension.len()) as u64
    }

    fn presence(&self) -> Presence {
        match self.show {
            Show::Online | Show::FreeForChat => Presence::Online,
            Show::Away | Show::ExtendedAway => Presence::Away,
            Show::Busy => Presence::Busy,
        }
    }

    /// Of sessions without a resource. None: the user is not online.
    fn of_presence(presence: Presence) -> Option<Arc<Availability>> {
        static SHARED: LazyLock<[Arc<Availability>; 3]> = LazyLock::new(|| {
            [Show::Online, Show::Away, Show::Busy]
                .map(|show| Arc::new(Availability { show, ..Availability::default() }))
        });
        let [online, away, busy] = &*SHARED;
        match presence {
            Presence::Online => Some(online.clone()),
            Presence::Away => Some(away.clone()),
            Presence::Busy => Some(busy.clone()),
            Presence::Offline | Presence::Unknown => None,
        }
    }
}

/// A session with a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// At most [`RESOURCE_BYTES`]; unique among the user's sessions, because it determines the device.
    pub resource: Arc<str>,
    /// None: unavailable.
    pub availability: Option<Arc<Availability>>,
}

/// A session of another user, as a contact sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionShown {
    /// None: all sessions without a resource.
    pub resource: Option<Arc<str>>,
    /// None: unavailable.
    pub availability: Option<Arc<Availability>>,
}

/// Sessions of one user. Those that are not named are as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserSessions {
    pub user: Sub,
    pub sessions: SmallVec<[SessionShown; 1]>,
}

/// The part of announced sessions in a user's presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OfAnnounced {
    /// No session is announced.
    #[default]
    None,
    /// All sessions are; the best presence among them.
    Only(Presence),
    /// Some are.
    Beside(Presence),
}

impl OfAnnounced {
    /// The user's presence. `rest`: of the sessions without a resource.
    pub(crate) fn with(self, rest: Presence) -> Presence {
        match self {
            OfAnnounced::None => rest,
            OfAnnounced::Only(best) => best,
            OfAnnounced::Beside(best) => best_of([best, rest]),
        }
    }
}

fn best_of(presences: impl IntoIterator<Item = Presence>) -> Presence {
    let rank = |presence: &Presence| match presence {
        Presence::Online => 3,
        Presence::Busy => 2,
        Presence::Away => 1,
        Presence::Offline | Presence::Unknown => 0,
    };
    presences.into_iter().max_by_key(rank).unwrap_or(Presence::Offline)
}

/// The announced sessions of one user. Kept while there is one, until the end of the last is published, and until the user has
/// all of [`published_bytes`] again: who leaves and comes back must not have more.
#[derive(Default)]
pub(crate) struct Announcements {
    /// Also ended ones, until their end is published.
    sessions: SmallVec<[Entry; 1]>,
    /// The published presence of the sessions without a resource.
    pub(crate) rest: Option<Presence>,
    /// Of [`published_bytes`].
    spent: Due,
    /// A change waits for [`published_bytes`].
    is_delayed: bool,
}

struct Entry {
    link: Link,
    resource: Arc<str>,
    now: Option<Arc<Availability>>,
    published: Option<Arc<Availability>>,
}

/// The connection of an announced session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Up {
        handle: SessionHandle,
        /// The app shows nothing to its user.
        is_idle: bool,
    },
    /// Lost, and the user's grace time is not over.
    Lost,
    Ended,
}

impl Link {
    fn up(handle: SessionHandle) -> Link {
        Link::Up { handle, is_idle: false }
    }
}

impl Entry {
    fn handle(&self) -> Option<SessionHandle> {
        match self.link {
            Link::Up { handle, .. } => Some(handle),
            Link::Lost | Link::Ended => None,
        }
    }

    fn idle_handle(&self) -> Option<SessionHandle> {
        match self.link {
            Link::Up { handle, is_idle: true } => Some(handle),
            Link::Up { .. } | Link::Lost | Link::Ended => None,
        }
    }

    fn end(&mut self) {
        (self.link, self.now) = (Link::Ended, None);
    }
}

impl Announcements {
    /// Nothing is left to publish, or to remember.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.sessions.is_empty() && self.spent.is_idle(now)
    }

    /// Must be looked at again in the next round.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_delayed || self.have_all_ended()
    }

    fn have_all_ended(&self) -> bool {
        self.sessions.iter().all(|entry| entry.link == Link::Ended)
    }

    /// Publishes the current state; answers the resources whose state differs. None: the sessions without a resource.
    /// A change that costs too much stays for a later round. The end of an availability never waits.
    pub(crate) fn publish(
        &mut self,
        rest: Presence,
        is_hidden: bool,
        now: Timestamp,
    ) -> Vec<Option<Arc<str>>> {
        let mut changed: Vec<Option<Arc<str>>> = Vec::new();
        self.is_delayed = false;
        self.sessions.retain(|entry| {
            let has_ended = entry.link == Link::Ended;
            if has_ended && entry.published.is_some() {
                changed.push(Some(entry.resource.clone()));
            }
            !has_ended
        });
        for entry in &mut self.sessions {
            let shown = entry.now.clone().filter(|_| !is_hidden);
            if shown == entry.published {
                continue;
            }
            if let Some(shown) = &shown {
                if published_bytes().has_left(self.spent, now).is_err() {
                    self.is_delayed = true;
                    continue;
                }
                published_bytes().spend(&mut self.spent, shown.bytes(), now);
            }
            entry.published = shown;
            changed.push(Some(entry.resource.clone()));
        }
        if self.rest.replace(rest) != Some(rest) {
            changed.push(None);
        }
        changed
    }

    fn shown(&self, resource: Option<&Arc<str>>) -> SessionShown {
        let availability = match resource {
            Some(resource) => self.entry(resource).and_then(|entry| entry.published.clone()),
            None => self.rest.and_then(Availability::of_presence),
        };
        SessionShown { resource: resource.cloned(), availability }
    }

    fn entry(&self, resource: &str) -> Option<&Entry> {
        self.sessions.iter().find(|entry| *entry.resource == *resource)
    }
}

impl Shard {
    /// Adds the resource of a session that is in the table.
    pub(crate) fn announce(&mut self, id: UserId, handle: SessionHandle, new: Announced) {
        let Some(user) = self.user(id) else { return };
        let rest = user.published;
        let all = self
            .announcements
            .entry(id)
            .or_insert_with(|| Box::new(Announcements { rest: Some(rest), ..Announcements::default() }));
        let Announced { resource, availability } = new;
        // The user is back, so the grace time of lost connections is over.
        for entry in all.sessions.iter_mut().filter(|entry| entry.link == Link::Lost) {
            entry.end();
        }
        match all.sessions.iter_mut().find(|entry| entry.resource == resource) {
            Some(entry) => (entry.link, entry.now) = (Link::up(handle), availability),
            None => {
                let published = None;
                all.sessions.push(Entry { link: Link::up(handle), resource, now: availability, published });
            }
        }
        self.count_announced(id);
    }

    /// The session tells a new availability. False: it has no resource.
    pub(crate) fn set_availability(
        &mut self,
        id: UserId,
        handle: SessionHandle,
        availability: Option<Arc<Availability>>,
    ) -> bool {
        let entry = self
            .announcements
            .get_mut(&id)
            .and_then(|all| all.sessions.iter_mut().find(|entry| entry.handle() == Some(handle)));
        let Some(entry) = entry else { return false };
        entry.now = availability;
        self.count_announced(id);
        self.mark_changed(id);
        true
    }

    /// Only a session with a resource can be idle.
    pub(crate) fn set_idle(&mut self, id: UserId, handle: SessionHandle, is_idle: bool) {
        let all = self.announcements.get_mut(&id);
        let entry = all.and_then(|all| all.sessions.iter_mut().find(|entry| entry.handle() == Some(handle)));
        if let Some(entry) = entry {
            entry.link = Link::Up { handle, is_idle };
        }
    }

    /// The devices of the user's sessions that are not idle.
    pub(crate) fn awake_devices(&mut self, id: UserId) -> Vec<u64> {
        let entries = self.announcements.get(&id).into_iter().flat_map(|all| &all.sessions);
        let idle: Vec<SessionHandle> = entries.filter_map(Entry::idle_handle).collect();
        let sessions = self.user(id).into_iter().flat_map(|user| &user.sessions);
        sessions.filter(|one| !idle.contains(&one.handle)).map(|one| one.device).collect()
    }

    /// A session has left the table. `stays`: contacts see it until the user's grace time is over.
    pub(crate) fn announced_ended(&mut self, id: UserId, handle: SessionHandle, stays: bool) {
        let Some(all) = self.announcements.get_mut(&id) else { return };
        if let Some(entry) = all.sessions.iter_mut().find(|entry| entry.handle() == Some(handle)) {
            match stays {
                true => entry.link = Link::Lost,
                false => entry.end(),
            }
        }
        self.count_announced(id);
        self.mark_changed(id);
    }

    /// Call when a session of the user has begun or ended, or its availability has changed.
    pub(crate) fn count_announced(&mut self, id: UserId) {
        let Some(all) = self.announcements.get(&id) else { return };
        let best =
            best_of(all.sessions.iter().filter_map(|entry| entry.now.as_ref()).map(|now| now.presence()));
        let with_handle = all.sessions.iter().filter(|entry| entry.handle().is_some()).count();
        let is_empty = all.have_all_ended();
        let Some(user) = self.user(id) else { return };
        user.announced = match user.sessions.len() {
            // In the grace time, others see the user as before.
            0 => user.announced,
            _ if is_empty => OfAnnounced::None,
            here if here > with_handle => OfAnnounced::Beside(best),
            _ => OfAnnounced::Only(best),
        };
    }

    /// The resource and availability of a session.
    pub(crate) fn announced(&self, id: UserId, handle: SessionHandle) -> Option<Announced> {
        let entry =
            self.announcements.get(&id)?.sessions.iter().find(|entry| entry.handle() == Some(handle))?;
        Some(Announced { resource: entry.resource.clone(), availability: entry.now.clone() })
    }

    /// The session of this resource, if it can receive now.
    pub(crate) fn session_of(&mut self, id: UserId, resource: &str) -> Option<(SessionHandle, bool)> {
        let entry = self.announcements.get(&id)?.entry(resource)?;
        let (handle, is_shown) = (entry.handle()?, entry.published.is_some());
        let session = self.session(id, handle)?;
        (session.state == State::Live).then_some((handle, is_shown))
    }

    /// The sessions with a resource that can receive now.
    pub(crate) fn sessions_with_resource(&mut self, id: UserId) -> Vec<SessionHandle> {
        let Some(all) = self.announcements.get(&id) else { return Vec::new() };
        let mut handles: Vec<SessionHandle> = all.sessions.iter().filter_map(Entry::handle).collect();
        handles.retain(|handle| self.session(id, *handle).is_some_and(|one| one.state == State::Live));
        handles
    }

    /// The published state of these sessions of the user.
    pub(crate) fn session_shown(&mut self, id: UserId, resource: Option<&Arc<str>>) -> SessionShown {
        if let Some(all) = self.announcements.get(&id) {
            return all.shown(resource);
        }
        let published = self.user(id).map_or(Presence::Offline, |user| user.published);
        let availability = match resource {
            None => Availability::of_presence(published),
            Some(_) => None,
        };
        SessionShown { resource: resource.cloned(), availability }
    }

    /// All sessions of the user that are published as available.
    pub(crate) fn sessions_shown(&mut self, id: UserId) -> SmallVec<[SessionShown; 1]> {
        let rest = self.session_shown(id, None);
        let entries = self.announcements.get(&id).into_iter().flat_map(|all| &all.sessions);
        let shown = entries.map(|entry| {
            let (resource, availability) = (Some(entry.resource.clone()), entry.published.clone());
            SessionShown { resource, availability }
        });
        shown.chain([rest]).filter(|session| session.availability.is_some()).collect()
    }
}
