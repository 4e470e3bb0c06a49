//! Messages held outside the conversation, visible only to their author: those that a filter holds for a
//! moderator, and all messages of shadow-banned users.
//!
//! They have no seq, because a gap in the numbers would reveal them. An approved one becomes a normal message
//! with the client's own id. So its author's clients recognise it, and a repeated approval changes nothing.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::message_requests::{RequestRules, rules};
use crate::messages::Event;
use crate::messages::Messages;
use crate::messages::post::Unposted;
use crate::messages::send::Draft;
use crate::messages::store::Post;
use crate::moderation::reports::in_words;
use crate::moderation::{Held, ReportRow, Sent};
use crate::rooms::RoomName;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::users::peer::may_write;
use crate::{
    Append, Appended, By, ConversationId, Done, FileId, Message, MessageKind, NewRich, Refusal, Seq,
    SessionHandle, SessionId, SiteId, Timestamp, UserId, UserRow,
};

/// Messages of one user that may wait for a moderator; one more is refused like one that a filter rejects.
pub const MOST_WAITING: u32 = 20;
/// Messages kept of one shadow-banned user, the newest ones.
pub const MOST_HELD: u32 = 200;

/// Whether another message of a user may wait for a moderator. For stores.
pub fn may_wait(waiting: u32) -> Result<(), Refusal> {
    if waiting >= MOST_WAITING { Err(Refusal::Filtered) } else { Ok(()) }
}

/// Whether the oldest of this number of messages of a shadow-banned user is dropped. For stores.
pub fn forgets_oldest(held: u32) -> bool {
    held > MOST_HELD
}

/// The slice of the port to storage for held messages. See [`Store`](crate::Store).
pub trait HeldStore: Send + Sync + 'static {
    /// Holds a message, if its author may write there; with a report if it waits for a moderator. A repeated
    /// client id answers the held message, or the message that it became. Beyond [`MOST_WAITING`]:
    /// [`Refusal::Filtered`].
    fn hold(&self, new: NewHeld, done: Done<Result<Kept, Refusal>>);
    /// The held messages of one user, oldest first.
    fn held_by(&self, user: UserId, done: Done<Vec<Held>>);
    /// The held message of a report, if `asker` may read reports.
    fn held_of_report(&self, site: SiteId, asker: By, report: u64, done: Done<Result<Held, Refusal>>);
}

#[derive(Debug, Clone)]
pub struct NewHeld {
    pub place: HeldPlace,
    pub from: UserId,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    pub files: Vec<FileId>,
    /// The root of the thread, if the message is a reply.
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
        /// For moderators. None: not new, or waits for no moderator.
        report: Option<Box<ReportRow>>,
        /// The author, whose row now has a notice.
        user: Box<UserRow>,
    },
    /// It was approved before.
    Sent(Appended),
}

impl Messages {
    /// Holds a message instead of sending it.
    pub(crate) fn hold(self: &Arc<Self>, asker: &Asker, place: HeldPlace, draft: Draft, now: Timestamp) {
        let (session, site) = (asker.session, asker.site.site.id);
        let why = match asker.shadowed {
            true => HeldWhy::Shadow,
            false => HeldWhy::Filter(in_words(&asker.hits(draft.texts())).into()),
        };
        let Draft { client_id, body, extension, reply_to, files, rich, under_way, .. } = draft;
        let new = NewHeld {
            place,
            from: session.user,
            client_id: client_id.clone(),
            body,
            extension,
            time: now,
            reply_to,
            files,
            thread: rich.and_then(|rich| rich.thread),
            why,
        };
        let done = self.then(move |this, outcome| {
            under_way.answered(&outcome);
            match outcome.map_err(unavailable).flatten() {
                Ok(Kept::Held { held, report, user }) => {
                    this.moderation.standing_changed(&user);
                    // All devices of the author show it alike.
                    this.sessions.publish_transient(session.user, None, Event::Held(Box::new(held)));
                    if let Some(report) = report {
                        this.moderation.notify_moderators(site, *report);
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
        });
        self.store.hold(new, done);
    }

    /// Sends the held message of a report.
    pub(crate) fn send_held_of_report(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        report: u64,
        now: Timestamp,
        sent: Sent,
    ) {
        let done = self.then(move |this, outcome| match outcome.map_err(unavailable).flatten() {
            Ok(held) => this.send_held(held, now, sent),
            Err(refusal) => sent(Err(refusal)),
        });
        self.store.held_of_report(site, by, report, done);
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
        let from = held.from;
        let done = self.then(move |this, relation| match relation {
            Ok(relation) if may_write(live.site.mode, false, relation) => {
                let rules = rules(&live.site.settings, live.site.mode, relation);
                this.append_held(held, other, rules, now, then);
            }
            Ok(_) => then(Err(Refusal::NotAllowed)),
            Err(error) => then(Err(unavailable(error))),
        });
        self.store.relation(from, other, done);
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
            extension: held.extension.clone(),
            time: now,
            reply_to: held.reply_to,
            rich: None,
        };
        let (this, session, files) = (self.clone(), of_nobody(held.from), held.files.clone());
        self.sender_of(held, move |message| {
            let Some(message) = message else { return then(Err(Refusal::NoSuchUser)) };
            if !files.is_empty() {
                let done = this.then(move |this, outcome| {
                    then(outcome.map_err(unavailable).flatten().map(|(appended, files)| {
                        this.appended(session, to, Message { files, ..message }, &Ok(appended));
                    }));
                });
                return this.store.append_with_files(append, files, done);
            }
            let Some(rules) = rules else {
                let done = this.then(move |this, outcome| {
                    let sent = outcome.as_ref().map(drop).map_err(|_| Refusal::Unavailable);
                    this.appended(session, to, message, &outcome);
                    then(sent);
                });
                return this.store.append(append, done);
            };
            let done = this.then(move |this, outcome| {
                then(outcome.map_err(unavailable).flatten().map(|requested| {
                    this.requested(session, to, message, requested);
                }));
            });
            this.store.append_request(append, rules, done);
        });
    }

    fn post_held(self: &Arc<Self>, held: Held, now: Timestamp, then: Sent) {
        let post = Post {
            names_author: self.rooms.names_author(&RoomName::Id(held.conversation), held.from),
            kind: MessageKind::Text,
            room: RoomName::Id(held.conversation),
            from: held.from,
            client_id: held.client_id.clone(),
            body: held.body.clone(),
            extension: held.extension.clone(),
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
            let limits = this.config.limits.rooms.on_site(&site.site.settings);
            let done = this.then(move |this, outcome| {
                then(match outcome.map_err(unavailable).flatten() {
                    Ok(posted) => {
                        let Message { from, client_id, body, extension, reply_to, .. } = message;
                        this.posted(
                            session,
                            Unposted { from, client_id, body, extension, reply_to, rich },
                            Ok(Ok(posted)),
                        );
                        Ok(())
                    }
                    Err(refusal) => Err(refusal),
                });
            });
            this.store.post(post, limits, done);
        });
    }

    /// The future message, without the fields that the store adds. None: its author no longer exists.
    fn sender_of(self: &Arc<Self>, held: Held, then: impl FnOnce(Option<Message>) + Send + 'static) {
        let done: Done<Vec<UserRow>> = Box::new(move |rows| {
            let row = rows.unwrap_or_default().into_iter().next().filter(|row| !row.banned);
            then(row.map(|row| {
                let Held { conversation, client_id, body, extension, time, reply_to, .. } = held;
                let fresh = Message::fresh(conversation, row.profile.sub, client_id, body, time);
                Message { extension, reply_to, ..fresh }
            }));
        });
        self.store.users_by_id(vec![held.from], done);
    }

    /// Sends the user's held messages after the welcome.
    pub(crate) fn deliver_held(self: &Arc<Self>, session: SessionId) {
        let done = self.then(move |this, all| {
            for held in all.unwrap_or_default() {
                this.sessions.send(session.handle, Event::Held(Box::new(held)));
            }
        });
        self.store.held_by(session.user, done);
    }
}

/// A placeholder for the author's session, which no longer waits for an answer. So all the author's devices
/// receive the message.
fn of_nobody(user: UserId) -> SessionId {
    SessionId { user, handle: SessionHandle(u64::MAX) }
}
