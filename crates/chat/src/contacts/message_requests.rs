//! Message requests: the messages that a stranger may write before an answer.
//!
//! On sites with requests, the first message to a user who is no contact makes the conversation a *request*.
//! The receiver finds it among the requests, without a notice; its author sees it as sent, and never as read.
//! Until it is accepted or answered, it may have a bounded number of messages, without links. All data for
//! the decision is in the conversation's row, which the store's writer reads for each message anyway.
//! Conversations between contacts cost nothing more.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::contacts::Contacts;
use crate::presence::shown::Viewer;
use crate::session::{Asker, Completion};
use crate::site::settings::Settings;
use crate::site::trust;
use crate::users::peer::Peer;
use crate::{
    Append, Appended, ConversationId, ConversationRow, Done, File, Mode, Position, Refusal, Relation,
    SiteRole, Timestamp, To, UserId, has_link,
};

/// The slice of the port to storage for message requests. See [`Store`](crate::Store).
pub trait RequestStore: Send + Sync + 'static {
    /// Like [`MessageStore::append`](crate::MessageStore::append), between users who are no contacts. The
    /// first message makes a request, and the other user's own message accepts it. Checks [`first_contact`]
    /// and the rules while it is a request.
    fn append_request(&self, append: Append, rules: RequestRules, done: Done<Result<Requested, Refusal>>);
    /// Accepts or dismisses a request. An accepted one becomes a normal conversation; a dismissed one is
    /// hidden, and its author is not notified. Only the receiver may answer. Changes nothing if the
    /// conversation is no request.
    fn answer_request(
        &self,
        conversation: ConversationId,
        user: UserId,
        answer: RequestAnswer,
        done: Done<Result<RequestAnswered, Refusal>>,
    );
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRules {
    /// Most messages of a request before it is accepted.
    pub messages: u32,
    /// Most new requests of a user per day (UTC).
    pub per_day: u32,
    pub links: LinkRule,
    /// Whether the user may write to strangers at all now, or the refusal.
    pub begin: Result<(), Refusal>,
}

/// The number of requests that a user began on one day (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestDay {
    /// Days since 1970.
    pub day: u32,
    pub count: u32,
}

impl RequestDay {
    fn of(now: Timestamp) -> u32 {
        (now.0 / 86_400_000) as u32
    }

    /// The requests of the current day.
    pub fn begun(self, now: Timestamp) -> u32 {
        if self.day == RequestDay::of(now) { self.count } else { 0 }
    }

    /// The count with one more request, which begins now.
    pub fn and_one(self, now: Timestamp) -> RequestDay {
        RequestDay { day: RequestDay::of(now), count: self.begun(now) + 1 }
    }
}

impl RequestRules {
    /// Whether a user with this number of new requests today may begin another.
    pub fn may_begin(&self, begun: u32) -> Result<(), Refusal> {
        self.begin?;
        if begun >= self.per_day { Err(Refusal::TooManyRequests) } else { Ok(()) }
    }

    /// Whether a request with this number of messages may get another.
    pub fn may_go_on(&self, messages: u64) -> Result<(), Refusal> {
        if messages >= u64::from(self.messages) { Err(Refusal::RequestPending) } else { Ok(()) }
    }

    /// Rules for sites without requests, where a user may be kept from starting conversations for a time.
    pub(crate) fn of_strangers(begin: Result<(), Refusal>) -> RequestRules {
        RequestRules { messages: u32::MAX, per_day: u32::MAX, links: LinkRule::Allowed, begin }
    }
}

/// Whether a stranger may write links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRule {
    Refused,
    Allowed,
}

/// A pending request, as one of its two users sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageRequest {
    /// The user has sent it.
    Sent,
    /// The user has received it.
    Received,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestAnswer {
    Accept,
    Dismiss,
}

#[derive(Debug, Clone)]
pub struct Requested {
    pub appended: Appended,
    /// The request waits for an answer.
    pub pending: bool,
    pub notice: RequestNotice,
    /// Files of the forwarded message.
    pub files: Vec<File>,
}

/// The notification of the other user about a message between strangers.
#[derive(Debug, Clone)]
pub enum RequestNotice {
    /// Like any message.
    Message,
    /// A new request: the conversation as the other user sees it.
    Request(Box<ConversationRow>),
    /// None: the other user has dismissed the request.
    Nothing,
}

#[derive(Debug, Clone)]
pub struct RequestAnswered {
    pub row: ConversationRow,
    pub position: Position,
    /// The conversation as the author of the request now sees it, if that changed.
    pub theirs: Option<ConversationRow>,
    pub changed: bool,
}

/// The rules for a message to a user with this relation. None: they are contacts, or the site has no
/// requests.
pub(crate) fn rules(settings: &Settings, mode: Mode, relation: Relation) -> Option<RequestRules> {
    let requests = &settings.requests;
    let is_asked = requests.on && mode == Mode::Open && is_stranger(relation);
    is_asked.then_some(RequestRules {
        messages: requests.messages,
        per_day: requests.per_day,
        links: LinkRule::Refused,
        begin: Ok(()),
    })
}

/// Whether the other user is a stranger. A user who has sent a contact request expects messages.
pub fn is_stranger(relation: Relation) -> bool {
    !relation.is_contact() && !relation.of_a.asks()
}

/// Rules for a message request: no links, no attachments. Stores call it, because only they know whether a message is
/// one.
pub fn first_contact<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    attachments: usize,
    links: LinkRule,
) -> Result<(), Refusal> {
    if attachments > 0 || links == LinkRule::Refused && texts.into_iter().any(has_link) {
        return Err(Refusal::FirstContact);
    }
    Ok(())
}

/// None: the two are contacts, the site has no rules for strangers, or the author is a moderator.
pub(crate) fn request_rules(asker: &Asker, peer: &Peer, now: Timestamp) -> Option<RequestRules> {
    let site = &asker.site.site;
    if asker.role >= SiteRole::Moderator {
        return None;
    }
    // A user of another server decides there which messages of strangers arrive.
    let is_remote = peer.sub.remote_address().is_some();
    let rules = rules(&site.settings, site.mode, peer.relation).filter(|_| !is_remote);
    let per_day = trust::requests_per_day(&site.settings, asker.level);
    if !(asker.recent && site.settings.raid.is_on(now) && is_stranger(peer.relation)) {
        return Some(RequestRules { per_day, ..rules? });
    }
    let begin = Err(Refusal::Raid);
    // Without requests, earlier conversations continue.
    Some(rules.map_or(RequestRules::of_strangers(begin), |rules| RequestRules { begin, ..rules }))
}

impl Contacts {
    pub(crate) fn answer_request(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        conversation: ConversationId,
        answer: RequestAnswer,
    ) {
        let this = self.clone();
        self.users.find_peer(asker, To::Conversation(conversation), move |asker, peer| {
            let session = asker.session;
            let peer = match peer {
                Ok(peer) => peer,
                Err(refusal) => return this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
            };
            let done = this.on_accepted(session.handle, AnswerTo::Request(re), move |this, answered| {
                let RequestAnswered { row, position, theirs, changed } = answered;
                let seen = |row: ConversationRow, of, viewpoint| {
                    let mode = asker.site.site.mode;
                    let viewer = Viewer { mode, viewpoint, published: this.presences.published(of) };
                    let shown = row.of.other().map(|other| viewer.shown(other)).unwrap_or_default();
                    Box::new(crate::presence::shown::conversation(row, shown))
                };
                let own = seen(row, peer.id, peer.relation.a_views_b());
                let event = crate::Event::conversation(own);
                match changed {
                    true => this.sessions.reply_and_publish(session, re, position, event),
                    false => this.sessions.reply(session, Some(re), position, event),
                }
                if let Some(theirs) = theirs {
                    let conversation = seen(theirs, session.user, peer.relation.b_views_a());
                    let event = crate::Event::conversation(conversation);
                    this.sessions.publish(peer.id, position, None, event);
                }
            });
            this.store.answer_request(conversation, session.user, answer, done);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    const DAY_MS: u64 = 86_400_000;

    #[test]
    fn requests_are_counted_by_the_day() {
        let (today, late, tomorrow) =
            (Timestamp(5 * DAY_MS), Timestamp(6 * DAY_MS - 1), Timestamp(6 * DAY_MS));
        let one = RequestDay::default().and_one(today);
        assert_eq!((one, one.begun(late), one.begun(tomorrow)), (RequestDay { day: 5, count: 1 }, 1, 0));
        assert_eq!(one.and_one(late), RequestDay { day: 5, count: 2 });
        assert_eq!(one.and_one(tomorrow), RequestDay { day: 6, count: 1 });
    }

    #[test]
    fn requests_of_strangers_are_bounded() {
        let rules = RequestRules { messages: 2, per_day: 1, links: LinkRule::Allowed, begin: Ok(()) };
        assert_eq!([rules.may_begin(0), rules.may_begin(1)], [Ok(()), Err(Refusal::TooManyRequests)]);
        assert_eq!([rules.may_go_on(1), rules.may_go_on(2)], [Ok(()), Err(Refusal::RequestPending)]);
        let rules = RequestRules { begin: Err(Refusal::TooNew), ..rules };
        assert_eq!((rules.may_begin(0), rules.may_go_on(1)), (Err(Refusal::TooNew), Ok(())), "it goes on");
    }
    #[test]
    fn strangers_by_relation() {
        let settings = |on| Settings {
            requests: crate::site::settings::Requests { on, ..Default::default() },
            ..Settings::default()
        };
        for (of_a, of_b, stranger) in [
            (Side::NONE, Side::NONE, true),
            (Side::REQUESTED, Side::ASKS, true),
            (Side::REQUESTED, Side::NONE, true),
            (Side::ASKS, Side::REQUESTED, false),
            (Side::LISTED, Side::NONE, true),
            (Side::CONTACT, Side::CONTACT, false),
            (Side::SEES, Side::SEEN, false),
            (Side::BLOCKED, Side::NONE, true),
        ] {
            let relation = Relation { of_a, of_b };
            assert_eq!(is_stranger(relation), stranger, "{relation:?}");
            assert_eq!(rules(&settings(true), Mode::Open, relation).is_some(), stranger, "{relation:?}");
            assert_eq!(rules(&settings(false), Mode::Open, relation), None);
            assert_eq!(rules(&settings(true), Mode::Contacts, relation), None);
        }
    }

    #[test]
    fn links_are_recognised() {
        for body in [
            "see https://evil.example/x",
            "HTTP://EVIL.EXAMPLE",
            "go to www.evil.example",
            "cheap.pills.com",
            "(evil.com)",
            "evil.ru/now?x=1",
            "write to me@evil.org.",
            "hxxps://evil",
            "[x](evil.io)",
            "evil.xyz:8080/a",
            "t.me/evil",
        ] {
            assert!(has_link(body), "{body}");
            assert_eq!(first_contact([body], 0, LinkRule::Refused), Err(Refusal::FirstContact), "{body}");
            assert_eq!(first_contact([body], 0, LinkRule::Allowed), Ok(()), "{body}");
        }
        for body in [
            "",
            "Hello, how are you?",
            "e.g. this",
            "3.14",
            "Well...yes",
            "and so on.In the end",
            "file.rs",
            "a.b",
            "@ben",
            "and/or",
            "1.5/2",
        ] {
            assert!(!has_link(body), "{body}");
            assert_eq!(first_contact([body], 0, LinkRule::Refused), Ok(()), "{body}");
        }
        assert_eq!(first_contact(["hi"], 1, LinkRule::Allowed), Err(Refusal::FirstContact));
    }
}
