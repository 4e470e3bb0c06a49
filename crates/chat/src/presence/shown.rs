//! Users as one viewer sees them: presence and markers, by the relation of the two.

use crate::event::message;
use crate::presence::{Presences, Published};
use crate::users::peer::may_see;
use crate::users::{person, visibility};
use crate::{
    Audience, Conversation, ConversationOf, ConversationRow, Mode, Presence, Relation, Seq, SetPresence,
    Side, Signal, UserId, UserRow, Viewpoint, Visibility, With,
};
use std::sync::Arc;

/// The presence of another user as one viewer sees it. In mode *open* a blocked viewer sees *offline*, and so
/// does a viewer from whom the user hides. So the viewer cannot distinguish both from a real absence.
pub(crate) fn presence_shown(mode: Mode, viewer: Viewpoint, published: Published) -> Option<Presence> {
    let of = Visibility { privacy: published.privacy, ..Visibility::default() };
    match (of.sends(Signal::Presence, mode, viewer), may_see(mode, viewer), mode) {
        (true, ..) => Some(published.presence),
        (false, true, _) | (false, false, Mode::Open) => Some(Presence::Offline),
        (false, false, Mode::Contacts) => None,
    }
}

/// A user whose presence may be shown.
pub(crate) struct Other {
    pub(crate) id: UserId,
    /// The viewer's side of the relation, if the viewer's contact list was just read. It decides for contacts.
    pub(crate) side: Option<Side>,
    /// Visibility from the stored row; None if only the card was read.
    visibility: Option<Visibility>,
    /// One of the two has blocked the other, by the stored row.
    blocked: bool,
}

/// A user as one viewer sees them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    pub(crate) presence: Option<Presence>,
    /// Whether the viewer sees how far the user has received and read.
    pub(crate) markers: bool,
}

/// The viewer's side of visibility: everything that is not in the other user's stored row.
#[derive(Clone, Copy)]
pub(crate) struct Viewer {
    pub(crate) mode: Mode,
    pub(crate) viewpoint: Viewpoint,
    pub(crate) published: Published,
}

impl Viewer {
    pub(crate) fn shown(self, other: &UserRow) -> Shown {
        let Viewer { mode, viewpoint, published } = self;
        Shown {
            presence: presence_shown(mode, viewpoint, published),
            markers: visibility(other).sends(Signal::Marker, mode, viewpoint),
        }
    }
}

impl Other {
    pub(crate) fn person(row: &UserRow) -> Other {
        Other { id: row.id, side: None, visibility: Some(visibility(row)), blocked: false }
    }

    /// The other user of a direct conversation.
    pub(crate) fn of_conversation(row: &ConversationRow) -> Option<Other> {
        let other = row.of.other()?;
        Some(Other { blocked: row.blocked, ..Other::person(other) })
    }

    pub(crate) fn contact((id, side): (UserId, Side)) -> Other {
        Other { id, side: Some(side), visibility: None, blocked: false }
    }
}

/// The viewer's right to know of the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// Known, as far as it decides what is shown.
    Known(Viewpoint),
    Asked,
}

/// `shown`: the other user of a direct conversation.
pub(crate) fn conversation(row: ConversationRow, shown: Shown) -> Conversation {
    let theirs = |seq| if shown.markers { seq } else { Seq(0) };
    Conversation {
        id: row.id,
        with: match row.of {
            ConversationOf::Direct(other) => With::Person(person(&other, shown.presence)),
            ConversationOf::Room { room, role } => With::Room(room, role),
        },
        last: row.last.map(message),
        received: row.received,
        read: row.read,
        their_received: theirs(row.their_received),
        their_read: theirs(row.their_read),
        unread: row.unread,
        mentions: row.mentions,
        muted_until: row.muted_until,
        pinned: row.pinned,
        archived: row.archived,
        request: row.request,
        requested_by: row.requested_by.map(|by| person(&by, None)),
        marked_unread: row.marked_unread,
        draft: row.draft,
        active: row.active,
    }
}

/// `shown`: the other users of direct conversations, in the order of the rows.
pub(crate) fn conversations(
    rows: Vec<ConversationRow>,
    shown: &mut impl Iterator<Item = Shown>,
) -> Vec<Conversation> {
    let seen = |row: ConversationRow| {
        let of_other = row.of.other().is_some().then(|| shown.next()).flatten();
        conversation(row, of_other.unwrap_or_default())
    };
    rows.into_iter().map(seen).collect()
}

impl Presences {
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

    /// Each user as `user` sees them. In mode *open*, users who are offline (most of a long list) need no
    /// read from the store. Contacts never need one, because their relation is known.
    pub(crate) fn with_shown(
        self: &Arc<Self>,
        mode: Mode,
        user: UserId,
        others: &[Other],
        then: impl FnOnce(Vec<Shown>) + Send + 'static,
    ) {
        let mut asked = Vec::new();
        let which = self.sessions.which(others.iter().map(|other| other.id));
        let published: Vec<(Published, Option<Visibility>, Sight)> = others
            .iter()
            .zip(which)
            .map(|(other, is_here)| {
                let published = if is_here { self.published(other.id) } else { Published::OFFLINE };
                // The relation does not matter if the user shows this to all, or to none.
                let same_for_all = other.visibility.is_none_or(|of| {
                    of.chosen == SetPresence::Invisible || of.privacy.presence != Audience::Contacts
                });
                let sight = match other.side {
                    Some(side) if side.is_contact() => Sight::Known(Viewpoint::of_contact(side)),
                    _ if mode == Mode::Open && published.presence == Presence::Offline && same_for_all => {
                        Sight::Known(if other.blocked { Viewpoint::BLOCKED } else { Viewpoint::STRANGER })
                    }
                    _ => Sight::Asked,
                };
                if sight == Sight::Asked {
                    asked.push(other.id);
                }
                (published, other.visibility, sight)
            })
            .collect();
        self.users.with_relations(user, &asked, move |relations| {
            // Unknown after a failed read: show nothing.
            let mut relations = relations.unwrap_or_default().into_iter();
            let shown = published.into_iter().map(|(published, of, sight)| {
                let viewer = match sight {
                    Sight::Known(viewer) => Some(viewer),
                    Sight::Asked => relations.next().map(Relation::a_views_b),
                };
                viewer.map_or(Shown::default(), |viewer| Shown {
                    presence: presence_shown(mode, viewer, published),
                    markers: of.is_some_and(|of| of.sends(Signal::Marker, mode, viewer)),
                })
            });
            then(shown.collect());
        });
    }

    /// The connected users among `others` who may receive a signal of `user`.
    pub(crate) fn who_is_sent(
        self: &Arc<Self>,
        user: UserId,
        of: Visibility,
        signal: Signal,
        mode: Mode,
        others: &[UserId],
        then: impl FnOnce(Vec<UserId>) + Send + 'static,
    ) {
        let here: Vec<UserId> = self.sessions.of(others).collect();
        if here.is_empty() || of.chosen == SetPresence::Invisible || of.privacy.presence == Audience::Nobody {
            return then(Vec::new());
        }
        let asked = here.clone();
        self.users.with_relations(user, &asked, move |relations| {
            // Unknown after a failed read: send nothing.
            let relations = relations.unwrap_or_default();
            let sent = here
                .into_iter()
                .zip(relations)
                .filter(|(_, relation)| of.sends(signal, mode, relation.b_views_a()));
            then(sent.map(|(other, _)| other).collect());
        });
    }
}
