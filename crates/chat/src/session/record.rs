//! A session in the form in which one node hands it to another.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::session::Event as SessionEvent;
use crate::session::{Announced, Session, Sessions, SignedInBy, State};
use crate::{Delivery, Event, Position, SessionId, Timestamp, UserId};

/// An existing session, for a node that [adopts](crate::Node::adopt) it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    pub session: SessionId,
    /// Fingerprint of the device.
    pub device: u64,
    /// The latest position that was delivered to the session.
    pub seen: Position,
    /// The expiry of its token.
    pub ends: Timestamp,
    /// The id of the key that signed its token; empty: unknown.
    pub key: Box<str>,
    /// The number of the app password with which it has signed in; None: a token.
    #[serde(default)]
    pub app_password: Option<u32>,
    /// The session watches the presence of all contacts. False at a front: see [`Node::watch_again`](crate::Node::watch_again).
    pub watches_contacts: bool,
    /// Its resource and availability, if it has a resource.
    #[serde(default)]
    pub announced: Option<Announced>,
    /// The other users whose presence the session watches. Empty at a front.
    pub watched: Vec<UserId>,
    /// The queue of the session was dropped, and its client has not resumed yet.
    pub is_behind: bool,
    /// The session has entered rooms, and perhaps left them. The next node does not know in which it is, so its client has to
    /// enter them again.
    #[serde(default)]
    pub has_entered: bool,
}

impl SessionRecord {
    /// Notes the delivery of an event. A front that may lose its node calls it for each event of the session.
    pub fn delivered(&mut self, delivery: &Delivery) {
        self.seen = delivery.position.unwrap_or(self.seen);
        match &delivery.event {
            Event::Session(event) => match event {
                SessionEvent::Changes(changes) => (self.seen, self.is_behind) = (changes.position, false),
                SessionEvent::Behind => self.is_behind = true,
                SessionEvent::TokenOk { expires } => self.ends = self.ends.max(*expires),
                SessionEvent::Welcome(_)
                | SessionEvent::Bye(_)
                | SessionEvent::ByeWith { .. }
                | SessionEvent::Refused(_)
                | SessionEvent::SendRefused { .. } => {}
            },
            Event::Presence(_)
            | Event::Contacts(_)
            | Event::Notifications(_)
            | Event::Moderation(_)
            | Event::Calls(_)
            | Event::Rooms(_)
            | Event::Messages(_)
            | Event::Account(_) => {}
        }
        self.has_entered |= delivery.event.is_entry();
    }
}

/// A session that was removed from the table.
pub(crate) struct Taken {
    pub(crate) session: SessionId,
    pub(crate) device: u64,
    pub(crate) seen: Position,
    pub(crate) by: SignedInBy,
    pub(crate) watches_contacts: bool,
    pub(crate) announced: Option<Announced>,
    pub(crate) state: State,
}

impl Sessions {
    pub(crate) fn all_of_front(&self, front: u8) -> Vec<Taken> {
        let mut all = self.all();
        all.retain(|taken| taken.session.handle.front() == front);
        all
    }

    pub(crate) fn all(&self) -> Vec<Taken> {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let mut all = Vec::new();
        for mut shard in self.each() {
            let from = all.len();
            for user in shard.users() {
                all.extend(user.sessions.iter().map(|session| session.taken(user.id, epoch)));
            }
            for taken in &mut all[from..] {
                taken.announced = shard.announced(taken.session.user, taken.session.handle);
            }
        }
        all
    }

    /// The epoch of the store's positions.
    pub(crate) fn note_epoch(&self, position: Position) {
        self.epoch.store(position.epoch, Ordering::Relaxed);
    }
}

impl Session {
    fn taken(&self, user: UserId, epoch: u32) -> Taken {
        Taken {
            session: SessionId { user, handle: self.handle },
            device: self.device,
            seen: Position { epoch, number: self.since },
            by: self.by,
            watches_contacts: self.contacts.is_on(),
            announced: None,
            state: self.state,
        }
    }
}
