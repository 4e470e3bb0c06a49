//! Creating, changing, joining and leaving rooms, and actions on their members.

use crate::rooms::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::presence::shown::Shown;
use crate::rooms::{
    Alias, Joined, LeftReason, MemberAction, MemberChanged, MemberRow, NewRoom, RoomChange, RoomChanged,
    RoomKind, RoomLimits, RoomName, Rooms, Standing,
};
use crate::session::{Asker, Completion};
use crate::site::trust;
use crate::users::person;
use crate::{
    ConversationId, ConversationOf, ConversationRow, Done, Hit, Level, Position, Refusal, ReportAbout, Role,
    SessionHandle, SessionId, SiteRole, Sub, Timestamp, To, UserId,
};

/// Rooms that a block makes the blocker leave. Further rooms stay; a repeated block leaves them.
pub const MOST_LEFT_BY_BLOCK: u32 = 1_000;

/// The fields of `create_room`.
pub(crate) struct NewRoomOf {
    pub(crate) name: String,
    pub(crate) kind: RoomKind,
    pub(crate) topic: Option<String>,
    pub(crate) alias: Option<Alias>,
}

impl Rooms {
    /// Notifies a room's member of an act on them.
    pub(crate) fn publish_to_member(self: &Arc<Self>, conversation: ConversationId, changed: MemberChanged) {
        let MemberChanged { member, position, seen, left, .. } = changed;
        let user = member.user.id;
        if let Standing::In(role) = member.standing {
            self.occupant_has_role(user, conversation, role);
        }
        if let Some(row) = seen {
            self.publish_room(user, row, position, None);
        }
        if let Some(reason) = left {
            self.occupant_left(user, conversation, reason);
            self.member_left(conversation);
            self.sessions.publish(user, position, None, Event::Left { conversation, reason });
        }
        if left.is_some() || member.standing == Standing::In(Role::Muted) {
            self.calls.out_of_group(user, conversation, left.is_none());
        }
    }

    /// The limits of rooms on the asker's site.
    pub(crate) fn room_limits(&self, asker: &Asker) -> RoomLimits {
        self.config.limits.rooms.on_site(&asker.site.site.settings)
    }

    /// Not for guests: they would leave rooms without an owner behind.
    pub(crate) fn create_room(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        wanted: NewRoomOf,
        flagged: Option<Vec<Hit>>,
        now: Timestamp,
    ) {
        let session = asker.session;
        let NewRoomOf { name, kind, topic, alias } = wanted;
        let change = RoomChange { name: Some(name), topic, ..RoomChange::default() };
        let allowed = if asker.guest { Err(Refusal::NotAllowed) } else { change.check() };
        if let Err(refusal) = allowed {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        }
        let RoomChange { name, topic, .. } = change;
        let name = name.unwrap_or_default().trim().into();
        let topic = topic.filter(|topic| !topic.is_empty()).map(Arc::from);
        let room = NewRoom { name, kind, topic, alias: alias.map(|alias| alias.as_str().into()) };
        let (limits, this) = (self.room_limits(asker), self.clone());
        let make = move || {
            let to = AnswerTo::Request(re);
            let done = this.on_accepted(session.handle, to, move |this, joined: Joined| {
                let id = joined.row.id;
                this.joined(session, re, joined);
                if let Some(hits) = flagged {
                    this.moderation.flag_about(id.site, ReportAbout::Room(id), &hits, now);
                }
            });
            this.store.create_room(session.user, room, limits, now, done);
        };
        let per_day = trust::rooms_per_day(&asker.site.site.settings, asker.level);
        let Some(per_day) = per_day.filter(|_| asker.role < SiteRole::Moderator) else { return make() };
        let level = asker.level;
        let done = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, made| {
            if made < per_day {
                return make();
            }
            let refusal = if level == Level::New { Refusal::TooNew } else { Refusal::TooManyRooms };
            this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        });
        let since = Timestamp(now.0.saturating_sub(trust::DAY_MS));
        self.store.rooms_made(session.user, since, done);
    }

    pub(crate) fn join(self: &Arc<Self>, asker: &Asker, re: u64, room: RoomName, now: Timestamp) {
        let session = asker.session;
        let room = asker.page_named(room, now);
        let done = self.on_joined(session, re);
        self.store.join_room(room, session.user, self.room_limits(asker), now, done);
    }

    pub(super) fn on_joined(self: &Arc<Self>, session: SessionId, re: u64) -> Done<Result<Joined, Refusal>> {
        self.on_accepted(session.handle, AnswerTo::Request(re), move |this, joined| {
            this.joined(session, re, joined);
        })
    }

    fn joined(&self, session: SessionId, re: u64, joined: Joined) {
        let Joined { row, position, before } = joined;
        let room = row.id;
        let conversation = Box::new(crate::presence::shown::conversation(row, Shown::default()));
        let event = crate::Event::conversation(conversation);
        if before {
            return self.sessions.reply(session, Some(re), position, event);
        }
        self.sessions.reply(session, Some(re), position, event.clone());
        self.member_joined(room, session.user);
        self.sessions.publish(session.user, position, Some(session.handle), event);
    }

    /// Publishes the room to all other devices of a member, as the member now sees it.
    pub(crate) fn publish_room(
        &self,
        user: UserId,
        row: ConversationRow,
        position: Position,
        except: Option<crate::SessionHandle>,
    ) {
        let conversation = Box::new(crate::presence::shown::conversation(row, Shown::default()));
        self.sessions.publish(user, position, except, crate::Event::conversation(conversation));
    }

    pub(crate) fn leave(self: &Arc<Self>, asker: &Asker, re: u64, conversation: ConversationId) {
        let session = asker.session;
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, position| {
            let event = Event::Left { conversation, reason: LeftReason::Left };
            this.sessions.reply_and_publish(session, re, position, event);
            this.occupant_left(session.user, conversation, LeftReason::Left);
            this.member_left(conversation);
            this.calls.out_of_group(session.user, conversation, false);
        });
        self.store.leave_room(conversation, session.user, done);
    }

    /// A user has blocked another and leaves the private rooms that the other alone owns. The remaining
    /// members see the new number of members.
    pub(crate) fn leave_rooms_of_blocked(self: &Arc<Self>, user: UserId, blocked: UserId) {
        let done = self.then(move |this, left| match left {
            Ok((rooms, position)) => {
                for conversation in rooms {
                    let left = Event::Left { conversation, reason: LeftReason::Left };
                    this.sessions.publish(user, position, None, left);
                    this.occupant_left(user, conversation, LeftReason::Left);
                    this.member_left(conversation);
                    this.calls.out_of_group(user, conversation, false);
                }
            }
            // The block itself is stored. A repeated block leaves the rooms.
            Err(error) => tracing::warn!(%error, "cannot leave the rooms of a blocked user"),
        });
        self.store.leave_rooms_of(user, blocked, done);
    }

    pub(crate) fn change_room(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        change: RoomChange,
        flagged: Option<Vec<Hit>>,
        now: Timestamp,
    ) {
        let session = asker.session;
        // The site's limit is the highest that a room can have.
        let most = self.room_limits(asker).members;
        let is_too_large = change.max_members.is_some_and(|wanted| most > 0 && wanted > most);
        let sound = if is_too_large { Err(Refusal::BadValue) } else { change.check() };
        if let Err(refusal) = sound {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
        }
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, changed| {
            let RoomChanged { row, position, members } = changed;
            let room = match &row.of {
                ConversationOf::Room { room, .. } => room.clone(),
                ConversationOf::Direct(_) => return,
            };
            let seen = Box::new(crate::presence::shown::conversation(row, Shown::default()));
            this.sessions.reply(session, Some(re), position, crate::Event::conversation(seen));
            if let Some(hits) = &flagged {
                this.moderation.flag_about(conversation.site, ReportAbout::Room(conversation), hits, now);
            }
            let event = Event::Room { conversation, room };
            this.sessions.publish_to_members(
                conversation.site,
                &members,
                position,
                Some(session.handle),
                event,
            );
        });
        self.store.change_room(conversation, session.user, change, now, done);
    }

    pub(crate) fn change_member(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        conversation: ConversationId,
        user: Sub,
        action: MemberAction,
        now: Timestamp,
    ) {
        let this = self.clone();
        self.users.find_peer(asker, To::User(user), move |asker, peer| {
            let session = asker.session;
            let peer = match peer {
                Ok(peer) => peer,
                Err(refusal) => return this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
            };
            if action == MemberAction::Invite {
                return this.add_member(&asker, re, conversation, &peer, now);
            }
            let (user, limits) = (peer.id, this.room_limits(&asker));
            let done = this.on_accepted(session.handle, AnswerTo::Request(re), move |this, changed| {
                this.member_changed(session.handle, re, conversation, changed);
            });
            this.store.change_member(conversation, session.user, user, action, limits, now, done);
        });
    }

    pub(super) fn member_changed(
        self: &Arc<Self>,
        handle: SessionHandle,
        re: u64,
        conversation: ConversationId,
        changed: MemberChanged,
    ) {
        let MemberRow { user, standing } = &changed.member;
        let requested = changed.requested;
        let member = crate::Member {
            person: person(user, None),
            standing: *standing,
            requested,
            markers: None,
            sanction: None,
        };
        self.publish_to_member(conversation, changed);
        self.sessions.answer(handle, re, Event::Member(Box::new(member)));
    }
}

impl Standing {
    pub fn role(self) -> Option<crate::rooms::Role> {
        match self {
            Standing::In(role) => Some(role),
            Standing::Out | Standing::Banned => None,
        }
    }
}
