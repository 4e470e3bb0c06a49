//! Sending a message: its checks, and its delivery.

use crate::messages::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::message_requests::{RequestAnswer, RequestNotice, Requested, request_rules};
use crate::id::is_client_id;
use crate::limits::Rate;
use crate::messages::Messages;
use crate::messages::held::HeldPlace;
use crate::presence::shown::Shown;
use crate::session::admission::UnderWay;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::users::peer::{Peer, PeerJob, may_write};
use crate::{
    Append, Appended, ConversationId, FileId, FilterAct, Hit, Limits, MOST_FILES, Message, MessageKind,
    NewRich, Refusal, Seq, SessionId, StoreError, Timestamp, UserId,
};

/// Checks that a message is well formed. The body is stored unchanged; only NUL is refused, because neither
/// SQLite's text functions nor PostgreSQL can hold it.
pub(crate) fn check(
    client_id: &str,
    body: &str,
    extension: Option<&str>,
    files: usize,
    limits: &Limits,
) -> Result<(), Refusal> {
    if !is_client_id(client_id) {
        return Err(Refusal::BadValue);
    }
    if files > MOST_FILES {
        return Err(Refusal::TooManyFiles);
    }
    limits.check_texts(body, extension, files > 0)
}

/// A message that a client wants to send.
pub(crate) struct Draft {
    pub(crate) client_id: Box<str>,
    pub(crate) body: Box<str>,
    pub(crate) extension: Option<Box<str>>,
    pub(crate) reply_to: Option<Seq>,
    pub(crate) files: Vec<FileId>,
    pub(crate) rich: Option<Box<NewRich>>,
    pub(crate) under_way: UnderWay,
    /// The verdict of the filters.
    pub(crate) verdict: Option<FilterAct>,
}

impl Draft {
    /// Checks the draft. `is_room`: it goes to a room.
    pub(crate) fn check(&self, is_room: bool, limits: &Limits, now: Timestamp) -> Result<(), Refusal> {
        let rich = self.rich.as_ref();
        rich.map_or(Ok(()), |rich| rich.check(is_room, now))?;
        let beside = self.files.len() + rich.map_or(0, |rich| rich.files());
        check(&self.client_id, &self.body, self.extension.as_deref(), beside, limits)
    }

    /// The texts that filters read. Polls are checked when they are admitted.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        [&*self.body].into_iter().chain(self.extension.as_deref())
    }

    /// The matches that moderators check after the message is delivered.
    pub(crate) fn flagged(&self, asker: &Asker) -> Option<Vec<Hit>> {
        if self.verdict == Some(FilterAct::Flag) { asker.flagged(self.texts()) } else { None }
    }
}

/// A message for another user.
pub(crate) struct SendJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) draft: Draft,
}

impl PeerJob for SendJob {
    fn begins_conversation(&self) -> bool {
        true
    }

    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Message(self.draft.client_id.clone())
    }

    fn run(self, asker: &Asker, peer: &Peer, now: Timestamp) {
        self.messages.send(asker, peer, self.draft, now);
    }
}

impl Messages {
    pub(crate) fn send(self: &Arc<Self>, asker: &Asker, peer: &Peer, draft: Draft, now: Timestamp) {
        let session = asker.session;
        let conversation = match self.accept(asker, peer, &draft, now) {
            Ok(conversation) => conversation,
            Err(refusal) => {
                return self.sessions.refuse(session.handle, AnswerTo::Message(draft.client_id), refusal);
            }
        };
        if asker.shadowed || draft.verdict == Some(FilterAct::Hold) {
            return self.hold(asker, HeldPlace::Direct(conversation), draft, now);
        }
        let flagged = draft.flagged(asker);
        let Draft { client_id, body, extension, reply_to, files, rich, under_way, .. } = draft;
        let reply_to = reply_to.filter(|to| (Seq(1)..=Seq::MAX).contains(to));
        let append = Append {
            kind: MessageKind::Text,
            conversation,
            from: session.user,
            client_id: client_id.clone(),
            body: body.clone(),
            extension: extension.clone(),
            time: now,
            reply_to,
            rich: rich.clone(),
        };
        // The store drops a reply to no earlier message; receivers apply the same rule.
        let fresh = Message::fresh(conversation, asker.sub.clone(), client_id, body, now);
        let message = Message { to: Some(peer.sub.clone()), extension, reply_to, ..fresh };
        let to = peer.id;
        let is_request = request_rules(asker, peer, now);
        if !files.is_empty() || rich.is_some() && is_request.is_none() {
            // Strangers may send files after an answer. The receiver of a request accepts it by any answer.
            if is_request.is_some() {
                self.store.answer_request(
                    conversation,
                    session.user,
                    RequestAnswer::Accept,
                    Box::new(|_| ()),
                );
            }
            let done = self.then(move |this, outcome| {
                under_way.answered(&outcome);
                let (appended, files) = match outcome.unwrap_or_else(|error| Err(unavailable(error))) {
                    Ok(appended) => appended,
                    Err(refusal) => {
                        return this.sessions.refuse(
                            session.handle,
                            AnswerTo::Message(message.client_id),
                            refusal,
                        );
                    }
                };
                let rich = rich.and_then(|rich| rich.published(None));
                this.appended(session, to, Message { files, rich, ..message }, &Ok(appended));
                this.flag_all(appended, flagged);
            });
            return self.store.append_with_files(append, files, done);
        }
        if let Some(rules) = is_request {
            let done = self.then::<Result<Requested, Refusal>>(move |this, outcome| {
                under_way.answered(&outcome);
                match outcome.map_err(unavailable).flatten() {
                    Ok(requested) => {
                        let appended = requested.appended;
                        let files = requested.files.clone();
                        let rich = rich.and_then(|rich| rich.published(None));
                        this.requested(session, to, Message { files, rich, ..message }, requested);
                        this.flag_all(appended, flagged);
                    }
                    Err(refusal) => {
                        this.sessions.refuse(session.handle, AnswerTo::Message(message.client_id), refusal);
                    }
                }
            });
            return self.store.append_request(append, rules, done);
        }
        let done = self.then(move |this, outcome| {
            under_way.answered(&outcome);
            this.appended(session, to, message, &outcome);
            if let Ok(appended) = outcome {
                this.flag_all(appended, flagged);
            }
        });
        self.store.append(append, done);
    }

    fn accept(
        &self,
        asker: &Asker,
        peer: &Peer,
        draft: &Draft,
        now: Timestamp,
    ) -> Result<ConversationId, Refusal> {
        draft.check(false, &self.config.limits, now)?;
        if !may_write(asker.site.site.mode, peer.is_banned, peer.relation) {
            return Err(Refusal::NotAllowed);
        }
        let conversation = ConversationId::direct(asker.session.user, peer.id).ok_or(Refusal::NotAllowed)?;
        Rate::per_second(self.config.limits.site_sends_per_second)
            .take_shared(&asker.site.counters.sends, now)?;
        Ok(conversation)
    }

    /// Reports a message that the filters flagged to moderators, once it is stored.
    pub(crate) fn flag_all(self: &Arc<Self>, appended: Appended, flagged: Option<Vec<Hit>>) {
        if let Some(hits) = flagged.filter(|_| !appended.repeated) {
            self.moderation.flag(appended.conversation, appended.seq, &hits, appended.time);
        }
    }

    /// After the commit: acknowledge the sender, then deliver to the other devices of both users.
    pub(crate) fn appended(
        &self,
        session: SessionId,
        to: UserId,
        message: Message,
        outcome: &Result<Appended, StoreError>,
    ) {
        let Ok(appended) = outcome else {
            let answer = AnswerTo::Message(message.client_id);
            return self.sessions.refuse(session.handle, answer, Refusal::Unavailable);
        };
        let position = appended.position;
        if let Some(message) = self.acknowledge(session, message, *appended, false) {
            self.sessions.publish_to_both(session, to, position, Event::Message(message.clone()));
            let by = (session.user, &message.from);
            self.want_preview(message.conversation, message.seq, by, &message.body);
            self.notifications.notify_away(to, appended.conversation, appended.time);
        }
    }

    /// Delivers a message between strangers.
    pub(crate) fn requested(&self, session: SessionId, to: UserId, message: Message, requested: Requested) {
        let Requested { appended, pending, notice, .. } = requested;
        let position = appended.position;
        let Some(message) = self.acknowledge(session, message, appended, pending) else { return };
        let event = Event::Message(Arc::clone(&message));
        match notice {
            RequestNotice::Message => {
                if !pending {
                    let by = (session.user, &message.from);
                    self.want_preview(message.conversation, message.seq, by, &message.body);
                }
                match pending {
                    true => {
                        self.sessions.publish(session.user, position, Some(session.handle), event);
                        self.sessions.publish(to, position, None, Event::Requested(message));
                    }
                    false => self.sessions.publish_to_both(session, to, position, event),
                }
                self.notifications.notify_away(to, appended.conversation, appended.time);
            }
            RequestNotice::Nothing => {
                self.sessions.publish(session.user, position, Some(session.handle), event)
            }
            RequestNotice::Request(row) => {
                self.sessions.publish(session.user, position, Some(session.handle), event);
                // The author sees the presence of everybody; the receiver sees it on opening the request.
                let conversation = Box::new(crate::presence::shown::conversation(*row, Shown::default()));
                self.sessions.publish(to, position, None, Event::Conversation(conversation));
            }
        }
    }

    /// Returns the message for the other devices; None if they got it before.
    fn acknowledge(
        &self,
        session: SessionId,
        message: Message,
        appended: Appended,
        request: bool,
    ) -> Option<Arc<Message>> {
        let Appended { conversation, seq, time, position, repeated } = appended;
        let client_id = message.client_id.clone();
        let ack = Event::Ack { client_id, conversation, seq, time, request };
        self.sessions.reply(session, None, position, ack);
        if repeated {
            self.counters.repeated.add(1);
            return None;
        }
        self.counters.messages.add(1);
        let reply_to = message.reply_to.filter(|to| *to < seq);
        Some(Arc::new(Message { seq, time, position: position.number, reply_to, ..message }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_checked() {
        let limits = Limits { body_bytes: 8, ..Limits::without_rates() };
        let table = [
            ("id-_9Z", "x", Ok(())),
            ("i", "12345678", Ok(())),
            ("i", " \n", Ok(())),
            ("i", "\u{1f98a}\u{1f98a}", Ok(())),
            ("i", "123456789", Err(Refusal::BadBody)),
            ("i", "\u{1f98a}\u{1f98a}!", Err(Refusal::BadBody)),
            ("i", "", Err(Refusal::BadBody)),
            ("i", "a\0b", Err(Refusal::BadBody)),
            ("", "x", Err(Refusal::BadValue)),
            ("a\n", "x", Err(Refusal::BadValue)),
        ];
        for (id, body, expected) in table {
            assert_eq!(check(id, body, None, 0, &limits), expected, "{id:?} {body:?}");
        }
        assert_eq!(check("i", "", None, 1, &limits), Ok(()), "a message with a file needs no body");
        assert_eq!(check("i", "123456789", None, 1, &limits), Err(Refusal::BadBody));
        assert_eq!(check("i", "", None, MOST_FILES, &limits), Ok(()));
        assert_eq!(check("i", "", None, MOST_FILES + 1, &limits), Err(Refusal::TooManyFiles));
    }
}
