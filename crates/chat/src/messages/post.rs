//! Posting in a room, and the events for its members.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::limits::Rate;
use crate::messages::Messages;
use crate::messages::held::HeldPlace;
use crate::messages::send::Draft;
use crate::messages::store::{Post, Posted};
use crate::privacy::Signal;
use crate::rooms::{Joined, RoomName};
use crate::session::{Asker, Completion, Handles};
use crate::{
    ConversationId, FilterAct, Message, MessageKind, NewRich, Refusal, Seq, SessionId, StoreError, Sub,
    Timestamp, UserId,
};

/// Larger rooms get no typing events.
const MOST_TOLD_OF_TYPING: u32 = 50;

/// A message without the fields that the store adds.
pub(crate) struct Unposted {
    pub(crate) from: Sub,
    pub(crate) client_id: Box<str>,
    pub(crate) body: Box<str>,
    pub(crate) extension: Option<Box<str>>,
    pub(crate) reply_to: Option<Seq>,
    pub(crate) rich: Option<Box<NewRich>>,
}

impl Messages {
    pub(crate) fn post(self: &Arc<Self>, asker: &Asker, room: RoomName, draft: Draft, now: Timestamp) {
        let session = asker.session;
        let sound = draft.check(true, &self.config.limits, now).and_then(|()| {
            let rate = Rate::per_second(self.config.limits.site_sends_per_second);
            rate.take_shared(&asker.site.counters.sends, now)
        });
        if let Err(refusal) = sound {
            return self.sessions.refuse(session.handle, AnswerTo::Message(draft.client_id), refusal);
        }
        if asker.shadowed || draft.verdict == Some(FilterAct::Hold) {
            return self.hold(asker, HeldPlace::Room(room), draft, now);
        }
        let flagged = draft.flagged(asker);
        let Draft { client_id, body, extension, reply_to, files, rich, under_way, .. } = draft;
        let reply_to = reply_to.filter(|to| (Seq(1)..=Seq::MAX).contains(to));
        let forwarded = rich.as_ref().is_some_and(|rich| rich.forwarded.is_some());
        let whole = forwarded.then(|| (room.clone(), body.len()));
        let post = Post {
            kind: MessageKind::Text,
            names_author: self.rooms.names_author(&room, session.user),
            room: asker.page_named(room, now),
            from: session.user,
            client_id: client_id.clone(),
            body: body.clone(),
            extension: extension.clone(),
            time: now,
            reply_to,
            files,
            rich: rich.clone(),
        };
        let unposted = Unposted { from: asker.sub.clone(), client_id, body, extension, reply_to, rich };
        let done = self.then::<Result<Posted, Refusal>>(move |this, outcome| {
            under_way.answered(&outcome);
            let appended = outcome.as_ref().ok().and_then(|posted| Some(posted.as_ref().ok()?.appended));
            if let Some((room, bytes)) = whole.filter(|_| appended.is_some_and(|appended| !appended.repeated))
            {
                this.whole_messages.spend(room, bytes, now);
            }
            this.posted(session, unposted, outcome);
            if let Some(appended) = appended {
                this.flag_all(appended, flagged);
            }
        });
        self.store.post(post, self.rooms.room_limits(asker), done);
    }

    /// After the commit: acknowledge the sender, then deliver to all other devices of all members.
    pub(crate) fn posted(
        self: &Arc<Self>,
        session: SessionId,
        unposted: Unposted,
        outcome: Result<Result<Posted, Refusal>, StoreError>,
    ) {
        let Unposted { from, client_id, body, extension, reply_to, rich } = unposted;
        let Posted { appended, joined, members, files, thread, author } = match outcome {
            Ok(Ok(posted)) => posted,
            Ok(Err(refusal)) => {
                return self.sessions.refuse(session.handle, AnswerTo::Message(client_id), refusal);
            }
            Err(_) => {
                return self.sessions.refuse(
                    session.handle,
                    AnswerTo::Message(client_id),
                    Refusal::Unavailable,
                );
            }
        };
        let crate::Appended { conversation, seq, time, position, repeated } = appended;
        if let Some(Joined { row, position, .. }) = joined {
            self.rooms.member_joined(row.id, session.user);
            self.rooms.publish_room(session.user, row, position, None);
        }
        let client = client_id.clone();
        let ack = Event::Ack { client_id: client, conversation, seq, time, request: false };
        self.sessions.reply(session, None, position, ack);
        if repeated {
            return self.counters.repeated.add(1);
        }
        self.counters.messages.add(1);
        self.rooms.wrote(session.user, conversation, author, time);
        let reply_to = reply_to.filter(|to| *to < seq);
        let rich = rich.and_then(|rich| rich.published(thread));
        let fresh = Message::fresh(conversation, from, client_id, body, time);
        let message =
            Arc::new(Message { seq, extension, position: position.number, reply_to, files, rich, ..fresh });
        let event = Event::Message(Arc::clone(&message));
        self.sessions.publish_to_members(conversation.site, &members, position, Some(session.handle), event);
        self.want_preview(conversation, seq, (session.user, &message.from), &message.body);
        self.notifications.notify_room(conversation, session.user, &members, &message.body, time);
    }

    /// Dropped silently if the user may not write or hides from a member, and in large rooms.
    pub(crate) fn typing_in_room(self: &Arc<Self>, asker: &Asker, conversation: ConversationId, on: bool) {
        let (me, user) = (asker.session.user, asker.sub.clone());
        let (visibility, mode) = (asker.visibility, asker.site.site.mode);
        let done = self.then::<Result<Vec<UserId>, Refusal>>(move |this, members| {
            let members = members.ok().and_then(Result::ok).unwrap_or_default();
            let others: Vec<UserId> = members.into_iter().filter(|member| *member != me).collect();
            let sender = this.clone();
            this.presences.who_is_sent(me, visibility, Signal::RoomTyping, mode, &others, move |members| {
                let mut handles = Handles::new();
                for member in members {
                    sender.sessions.lock(member).live(member, None, &mut handles);
                }
                sender.sessions.send_all(&handles, Event::Typing { conversation, user, on });
            });
        });
        self.store.few_members(conversation, me, MOST_TOLD_OF_TYPING, done);
    }
}
