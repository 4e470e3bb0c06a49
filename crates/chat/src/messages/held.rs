//! Messages that stand beside the log, where only their sender sees them: those that a filter holds until a moderator has read them, and
//! all of whom a moderator has put in the shadow.
//!
//! They have no seq, because numbers without gaps would tell the others of them. One that is approved becomes a message as any other, with
//! the client's own id, so that its sender knows it again and a repeated approval changes nothing.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::message_requests::{RequestRules, Requested, rules};
use crate::messages::Event;
use crate::messages::Messages;
use crate::messages::post::Unposted;
use crate::messages::send::Draft;
use crate::messages::store::{Post, Posted};
use crate::moderation::reports::in_words;
use crate::moderation::{Held, ReportRow, Sent};
use crate::rooms::RoomName;
use crate::session::Asker;
use crate::store::unavailable;
use crate::users::peer::may_write;
use crate::{
    Append, Appended, By, ConversationId, Done, File, FileId, Message, MessageKind, NewRich, Refusal,
    Relation, Seq, SessionHandle, SessionId, SiteId, StoreError, Timestamp, UserId, UserRow,
};

/// Messages of one user that may wait for a moderator; one more is refused as one that no moderator would let through.
pub const MOST_WAITING: u32 = 20;
/// Of one user in the shadow, the newest are kept.
pub const MOST_HELD: u32 = 200;

/// Whether another message of a user may wait for a moderator. For stores.
pub fn may_wait(waiting: u32) -> Result<(), Refusal> {
    if waiting >= MOST_WAITING { Err(Refusal::Filtered) } else { Ok(()) }
}

/// Whether the oldest of so many messages in the shadow is forgotten. For stores.
pub fn forgets_oldest(held: u32) -> bool {
    held > MOST_HELD
}

/// The part of the port to storage that is about messages beside the log. See [`Store`](crate::Store), of which it is a part.
pub trait HeldStore: Send + Sync + 'static {
    /// Keeps a message apart, where its sender may write; with a report for moderators where it waits for them. The same client id
    /// again answers what is there, or the message that became of it. [`MOST_WAITING`] is [`Refusal::Filtered`].
    fn hold(&self, new: NewHeld, done: Done<Result<Kept, Refusal>>);
    /// Those of one user, oldest first.
    fn held_by(&self, user: UserId, done: Done<Vec<Held>>);
    /// The one that a report is about, where `asker` may look at reports.
    fn held_of_report(&self, site: SiteId, asker: By, report: u64, done: Done<Result<Held, Refusal>>);
}

#[derive(Debug, Clone)]
pub struct NewHeld {
    pub place: HeldPlace,
    pub from: UserId,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    pub files: Vec<FileId>,
    /// The root of the thread in which it is a reply.
    pub thread: Option<Seq>,
    pub why: HeldWhy,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldPlace {
    Direct(ConversationId),
    Room(RoomName),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldWhy {
    /// The matches in the text, in words for moderators.
    Filter(Box<str>),
    Shadow,
}

#[derive(Debug, Clone)]
pub enum Kept {
    Held {
        held: Held,
        /// For moderators; None where it is not new, or waits for nobody.
        report: Option<Box<ReportRow>>,
        /// The sender, of whom there is something to be told from now on.
        user: Box<UserRow>,
    },
    /// It was approved before.
    Sent(Appended),
}

impl Messages {
    /// Instead of sending: what nobody else is to see, or not yet.
    pub(crate) fn hold(self: &Arc<Self>, asker: &Asker, place: HeldPlace, draft: Draft, now: Timestamp) {
        let (session, site) = (asker.session, asker.site.site.id);
        let Draft { client_id, body, reply_to, files, rich, under_way, .. } = draft;
        let why = match asker.shadowed {
            true => HeldWhy::Shadow,
            false => HeldWhy::Filter(in_words(&asker.hits(&body)).into()),
        };
        let new = NewHeld {
            place,
            from: session.user,
            client_id: client_id.clone(),
            body,
            time: now,
            reply_to,
            files,
            thread: rich.and_then(|rich| rich.thread),
            why,
        };
        let this = self.clone();
        let done = move |outcome: Result<Result<Kept, Refusal>, StoreError>| {
            under_way.answered(&outcome);
            match outcome.map_err(unavailable).flatten() {
                Ok(Kept::Held { held, report, user }) => {
                    this.moderation.standing_changed(&user);
                    // All devices of the sender show it the same.
                    this.sessions.publish_transient(session.user, None, Event::Held(Box::new(held)));
                    if let Some(report) = report {
                        this.moderation.tell_moderators(site, *report);
                    }
                }
                Ok(Kept::Sent(appended)) => {
                    let Appended { conversation, seq, time, position, .. } = appended;
                    this.sessions.reply(
                        session,
                        None,
                        position,
                        Event::Ack { client_id, conversation, seq, time, request: false },
                    );
                }
                Err(refusal) => this.sessions.refuse(session.handle, AnswerTo::Message(client_id), refusal),
            }
        };
        self.store.hold(new, Box::new(done));
    }

    /// Sends the message that a report is about.
    pub(crate) fn send_held_of_report(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        report: u64,
        now: Timestamp,
        sent: Sent,
    ) {
        let this = self.clone();
        let done = move |outcome: Result<Result<Held, Refusal>, StoreError>| match outcome
            .map_err(unavailable)
            .flatten()
        {
            Ok(held) => this.send_held(held, now, sent),
            Err(refusal) => sent(Err(refusal)),
        };
        self.store.held_of_report(site, by, report, Box::new(done));
    }

    fn send_held(self: &Arc<Self>, held: Held, now: Timestamp, then: Sent) {
        let Some(live) = self.sites.by_id(held.conversation.site) else {
            return then(Err(Refusal::NoSuchSite));
        };
        if held.conversation.is_room() {
            return self.post_held(held, now, then);
        }
        let Some(other) = held.conversation.other(held.from) else {
            return then(Err(Refusal::NoSuchConversation));
        };
        let (this, from) = (self.clone(), held.from);
        let done = move |relation: Result<Relation, StoreError>| match relation {
            Ok(relation) if may_write(live.site.mode, false, relation) => {
                let rules = rules(&live.site.settings, live.site.mode, relation);
                this.append_held(held, other, rules, now, then);
            }
            Ok(_) => then(Err(Refusal::NotAllowed)),
            Err(error) => then(Err(unavailable(error))),
        };
        self.store.relation(from, other, Box::new(done));
    }

    fn append_held(
        self: &Arc<Self>,
        held: Held,
        to: UserId,
        rules: Option<RequestRules>,
        now: Timestamp,
        then: Sent,
    ) {
        let append = Append {
            kind: MessageKind::Text,
            conversation: held.conversation,
            from: held.from,
            client_id: held.client_id.clone(),
            body: held.body.clone(),
            time: now,
            reply_to: held.reply_to,
            rich: None,
        };
        let (this, session, files) = (self.clone(), of_nobody(held.from), held.files.clone());
        self.sender_of(held, move |message| {
            let Some(message) = message else { return then(Err(Refusal::NoSuchUser)) };
            let store = this.store.clone();
            if !files.is_empty() {
                let done = move |outcome: Result<Result<(Appended, Vec<File>), Refusal>, StoreError>| {
                    then(outcome.map_err(unavailable).flatten().map(|(appended, files)| {
                        this.appended(session, to, Message { files, ..message }, &Ok(appended));
                    }));
                };
                return store.append_with_files(append, files, Box::new(done));
            }
            let Some(rules) = rules else {
                let done = move |outcome: Result<Appended, StoreError>| {
                    let sent = outcome.as_ref().map(drop).map_err(|_| Refusal::Unavailable);
                    this.appended(session, to, message, &outcome);
                    then(sent);
                };
                return store.append(append, Box::new(done));
            };
            let done = move |outcome: Result<Result<Requested, Refusal>, StoreError>| {
                then(outcome.map_err(unavailable).flatten().map(|requested| {
                    this.requested(session, to, message, requested);
                }));
            };
            store.append_request(append, rules, Box::new(done));
        });
    }

    fn post_held(self: &Arc<Self>, held: Held, now: Timestamp, then: Sent) {
        let post = Post {
            kind: MessageKind::Text,
            room: RoomName::Id(held.conversation),
            from: held.from,
            client_id: held.client_id.clone(),
            body: held.body.clone(),
            time: now,
            reply_to: held.reply_to,
            files: held.files.clone(),
            rich: NewRich { thread: held.thread, ..NewRich::default() }.boxed(),
        };
        let (rich, this, session) = (post.rich.clone(), self.clone(), of_nobody(held.from));
        self.sender_of(held, move |message| {
            let Some(message) = message else { return then(Err(Refusal::NoSuchUser)) };
            let Some(site) = this.sites.by_id(session.user.site) else {
                return then(Err(Refusal::NoSuchSite));
            };
            let (store, limits) = (this.store.clone(), this.config.limits.rooms.on_site(&site.site.settings));
            let done = move |outcome: Result<Result<Posted, Refusal>, StoreError>| {
                then(match outcome.map_err(unavailable).flatten() {
                    Ok(posted) => {
                        let Message { from, client_id, body, reply_to, .. } = message;
                        this.posted(
                            session,
                            Unposted { from, client_id, body, reply_to, rich },
                            Ok(Ok(posted)),
                        );
                        Ok(())
                    }
                    Err(refusal) => Err(refusal),
                });
            };
            store.post(post, limits, Box::new(done));
        });
    }

    /// The message that it will be, but for what the store adds. None: its sender is gone.
    fn sender_of(self: &Arc<Self>, held: Held, then: impl FnOnce(Option<Message>) + Send + 'static) {
        let done = move |rows: Result<Vec<UserRow>, StoreError>| {
            let row = rows.unwrap_or_default().into_iter().next().filter(|row| !row.banned);
            then(row.map(|row| {
                let Held { conversation, client_id, body, time, reply_to, .. } = held;
                Message { reply_to, ..Message::fresh(conversation, row.profile.sub, client_id, body, time) }
            }));
        };
        self.store.users_by_id(vec![held.from], Box::new(done));
    }

    /// Told after the welcome to who has some.
    pub(crate) fn tell_held(self: &Arc<Self>, session: SessionId) {
        let this = self.clone();
        let done = move |all: Result<Vec<Held>, StoreError>| {
            for held in all.unwrap_or_default() {
                this.sessions.send(session.handle, Event::Held(Box::new(held)));
            }
        };
        self.store.held_by(session.user, Box::new(done));
    }
}

/// In the place of the session that wrote it, which waits for no answer: all of the sender's devices hear of the message.
fn of_nobody(user: UserId) -> SessionId {
    SessionId { user, handle: SessionHandle(u64::MAX) }
}
