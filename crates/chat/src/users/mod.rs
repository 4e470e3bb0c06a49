//! People: how users look to each other, the directory, and profiles by id.

pub(crate) mod cache;
pub mod directory;
pub(crate) mod peer;
pub(crate) mod privacy;

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::node::{Asker, Inner, unavailable};
use crate::presence::Told;
use crate::users::peer::may_see;
use crate::users::privacy::{Audience, Signal, Visibility};
use crate::{
    ContactRow, ContactState, ConversationRow, Event, Mode, PageOf, PeoplePage, Person, Presence, Profile,
    Refusal, Relation, SetPresence, StoreError, Sub, UserId, UserRow,
};

/// Longest start of a name that is searched for.
pub(crate) const MAX_QUERY_BYTES: usize = 256;

/// A user as others see it.
pub(crate) fn person(row: &UserRow, presence: Option<Presence>) -> Person {
    card(row.id, row.profile.clone(), presence)
}

pub(crate) fn card(id: UserId, profile: Profile, presence: Option<Presence>) -> Person {
    let Profile { sub, name, avatar, guest } = profile;
    Person { id, sub, name, avatar, guest, presence }
}

/// The presence of another user as one viewer sees it. In mode *open* a blocked viewer sees *offline*, and so does a
/// viewer from whom the user hides: the viewer cannot tell the three apart.
pub(crate) fn presence_shown(mode: Mode, relation: Relation, told: Told) -> Option<Presence> {
    let of = Visibility { privacy: told.privacy, ..Visibility::default() };
    match (of.sends(Signal::Presence, mode, relation), may_see(mode, relation), mode) {
        (true, ..) => Some(told.presence),
        (false, true, _) | (false, false, Mode::Open) => Some(Presence::Offline),
        (false, false, Mode::Contacts) => None,
    }
}

/// Somebody whose presence may be shown.
pub(crate) struct Other {
    pub(crate) id: UserId,
    /// Of one's contact list, where it was just read. Contacts are mutual, so `Contact` says how both stand.
    pub(crate) state: Option<ContactState>,
    /// Visibility from the stored row; None if only the card was read.
    visibility: Option<Visibility>,
    /// One of the two has blocked the other, where the stored row says so.
    blocked: bool,
}

/// A user as one viewer sees them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    pub(crate) presence: Option<Presence>,
    /// How far they have received and read.
    pub(crate) markers: bool,
}

/// The viewer's side of visibility: everything that is not in the other user's stored row.
#[derive(Clone, Copy)]
pub(crate) struct Viewer {
    pub(crate) mode: Mode,
    pub(crate) relation: Relation,
    pub(crate) told: Told,
}

impl Viewer {
    pub(crate) fn shown(self, other: &UserRow) -> Shown {
        let Viewer { mode, relation, told } = self;
        Shown {
            presence: presence_shown(mode, relation, told),
            markers: visibility(other).sends(Signal::Marker, mode, relation),
        }
    }
}

pub(crate) fn visibility(row: &UserRow) -> Visibility {
    Visibility { privacy: row.privacy, chosen: row.presence }
}

impl Other {
    pub(crate) fn person(row: &UserRow) -> Other {
        Other { id: row.id, state: None, visibility: Some(visibility(row)), blocked: false }
    }

    /// The other one of a direct conversation.
    pub(crate) fn of_conversation(row: &ConversationRow) -> Option<Other> {
        let other = row.of.other()?;
        Some(Other { blocked: row.blocked, ..Other::person(other) })
    }

    pub(crate) fn contact(row: &ContactRow) -> Other {
        Other { id: row.id, state: Some(row.state), visibility: None, blocked: false }
    }
}

/// How the two stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// As far as it decides what is shown.
    Known(Relation),
    Asked,
}

impl Inner {
    /// On sites of mode *contacts* there is no directory: a user is found only by the exact id.
    pub(crate) fn list_people(self: &Arc<Self>, asker: Asker, re: u64, query: Option<String>, page: PageOf) {
        let site = asker.site.site.id;
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return self.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        if asker.site.site.mode == Mode::Contacts {
            let Some(sub) = query.as_deref().and_then(Sub::parse) else {
                return self.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::NotAllowed);
            };
            let node = self.clone();
            let done = move |row: Result<Option<UserRow>, _>| {
                let page = row.map(|row| PeoplePage { rows: row.into_iter().collect(), next: None });
                node.tell_people(&asker, re, page);
            };
            return self.store.user(site, sub, Box::new(done));
        }
        let limit = self.page_limit(page.limit);
        let node = self.clone();
        let done = move |page| node.tell_people(&asker, re, page);
        self.store.people(site, query, page.after, limit, Box::new(done));
    }

    fn tell_people(self: &Arc<Self>, asker: &Asker, re: u64, page: Result<PeoplePage, StoreError>) {
        let handle = asker.session.handle;
        let PeoplePage { mut rows, next } = match page {
            Ok(page) => page,
            Err(error) => return self.refuse(handle, AnswerTo::Request(re), unavailable(error)),
        };
        rows.retain(|row| !row.banned && row.id != asker.session.user);
        let node = self.clone();
        self.with_persons(asker, rows, move |people| {
            node.outbox.deliver(handle, Event::People { re, people, next });
        });
    }

    pub(crate) fn profiles(self: &Arc<Self>, asker: Asker, re: u64, users: Vec<Sub>) {
        let handle = asker.session.handle;
        if users.len() > self.config.limits.page as usize {
            return self.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let site = asker.site.site.id;
        let node = self.clone();
        let done = move |rows: Result<Vec<UserRow>, StoreError>| {
            let rows = match rows {
                Ok(rows) => rows,
                Err(error) => return node.refuse(handle, AnswerTo::Request(re), unavailable(error)),
            };
            let teller = node.clone();
            node.with_persons(&asker, rows, move |people| {
                teller.outbox.deliver(handle, Event::Profiles { re, people });
            });
        };
        self.store.users(site, users, Box::new(done));
    }

    fn with_persons(
        self: &Arc<Self>,
        asker: &Asker,
        rows: Vec<UserRow>,
        then: impl FnOnce(Vec<Person>) + Send + 'static,
    ) {
        let others: Vec<Other> = rows.iter().map(Other::person).collect();
        let mode = asker.site.site.mode;
        self.with_presences(mode, asker.session.user, &others, move |presences| {
            then(rows.iter().zip(presences).map(|(row, presence)| person(row, presence)).collect());
        });
    }

    /// The presence of each user as `user` sees it; see [`with_shown`](Self::with_shown).
    pub(crate) fn with_presences(
        self: &Arc<Self>,
        mode: Mode,
        user: UserId,
        others: &[Other],
        then: impl FnOnce(Vec<Option<Presence>>) + Send + 'static,
    ) {
        self.with_shown(mode, user, others, |shown| then(shown.iter().map(|one| one.presence).collect()));
    }

    /// Each user as `user` sees them. Needs no read from the store for users who are offline in mode *open* (most of
    /// a long list), and none for contacts, whose relation is known.
    pub(crate) fn with_shown(
        self: &Arc<Self>,
        mode: Mode,
        user: UserId,
        others: &[Other],
        then: impl FnOnce(Vec<Shown>) + Send + 'static,
    ) {
        let mut asked = Vec::new();
        let which = self.here.which(others.iter().map(|other| other.id));
        let told: Vec<(Told, Option<Visibility>, Sight)> = others
            .iter()
            .zip(which)
            .map(|(other, is_here)| {
                let told = if is_here { self.told(other.id) } else { Told::OFFLINE };
                // Nobody needs to know how the two stand for what is shown to all, or to nobody.
                let same_for_all = other.visibility.is_none_or(|of| {
                    of.chosen == SetPresence::Invisible || of.privacy.presence != Audience::Contacts
                });
                let sight = match other.state {
                    Some(ContactState::Contact) => Sight::Known(Relation::CONTACTS),
                    _ if mode == Mode::Open && told.presence == Presence::Offline && same_for_all => {
                        Sight::Known(if other.blocked { Relation::BLOCKED } else { Relation::NONE })
                    }
                    _ => Sight::Asked,
                };
                if sight == Sight::Asked {
                    asked.push(other.id);
                }
                (told, other.visibility, sight)
            })
            .collect();
        self.with_relations(user, &asked, move |relations| {
            // Not knowing, show nothing.
            let mut relations = relations.unwrap_or_default().into_iter();
            let shown = told.into_iter().map(|(told, of, sight)| {
                let relation = match sight {
                    Sight::Known(relation) => Some(relation),
                    Sight::Asked => relations.next(),
                };
                relation.map_or(Shown::default(), |relation| Shown {
                    presence: presence_shown(mode, relation, told),
                    markers: of.is_some_and(|of| of.sends(Signal::Marker, mode, relation)),
                })
            });
            then(shown.collect());
        });
    }

    /// Of others who are here, those who may hear a signal of `user`.
    pub(crate) fn who_is_sent(
        self: &Arc<Self>,
        user: UserId,
        of: Visibility,
        signal: Signal,
        mode: Mode,
        others: &[UserId],
        then: impl FnOnce(Vec<UserId>) + Send + 'static,
    ) {
        let here: Vec<UserId> = self.here.of(others).collect();
        if here.is_empty() || of.chosen == SetPresence::Invisible || of.privacy.presence == Audience::Nobody {
            return then(Vec::new());
        }
        let asked = here.clone();
        self.with_relations(user, &asked, move |relations| {
            // Not knowing, send nothing.
            let relations = relations.unwrap_or_default();
            let sent =
                here.into_iter().zip(relations).filter(|(_, relation)| of.sends(signal, mode, *relation));
            then(sent.map(|(other, _)| other).collect());
        });
    }

    /// How `user` stands to each, from the cache or the store.
    pub(crate) fn with_relations(
        self: &Arc<Self>,
        user: UserId,
        others: &[UserId],
        then: impl FnOnce(Result<Vec<Relation>, StoreError>) + Send + 'static,
    ) {
        let cached: Vec<Option<Relation>> =
            others.iter().map(|other| self.recent.relation(user, *other)).collect();
        let unknown: Vec<UserId> =
            others.iter().zip(&cached).filter(|(_, known)| known.is_none()).map(|(id, _)| *id).collect();
        if unknown.is_empty() {
            return then(Ok(cached.into_iter().flatten().collect()));
        }
        let node = self.clone();
        let since = self.recent.generation();
        let asked = unknown.clone();
        let done = move |read: Result<Vec<Relation>, StoreError>| {
            then(read.map(|read| {
                for (other, relation) in asked.iter().zip(&read) {
                    node.recent.keep_relation(user, *other, *relation, since);
                }
                let mut read = read.into_iter();
                cached.into_iter().filter_map(|known| known.or_else(|| read.next())).collect()
            }));
        };
        self.store.relations(user, unknown, Box::new(done));
    }

    pub(crate) fn page_limit(&self, asked: Option<u32>) -> u32 {
        let most = self.config.limits.page.max(1);
        asked.unwrap_or(most).clamp(1, most)
    }
}
