//! Message requests: what a stranger may write before the other one has answered.
//!
//! Where a site has them, the first message to somebody who is no contact makes the conversation a *request*: the other one finds it
//! among the requests, without a sound; who has written it sees it as sent, and never as read. Until it is accepted, or answered, there
//! are only so many messages in it, without links. What decides is in the conversation's row, which the store's writer has at hand with each
//! message; two who know each other pay nothing for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::contacts::Contacts;
use crate::presence::shown::Viewer;
use crate::session::Asker;
use crate::site::settings::Settings;
use crate::site::trust;
use crate::store::unavailable;
use crate::users::peer::Peer;
use crate::{
    Append, Appended, ContactState, ConversationId, ConversationRow, Done, File, Mode, Position, Refusal,
    Relation, SiteRole, StoreError, Timestamp, To, UserId, has_link,
};

/// The part of the port to storage that is about requests. See [`Store`](crate::Store), of which it is a part.
pub trait RequestStore: Send + Sync + 'static {
    /// As [`MessageStore::append`](crate::MessageStore::append), between two who are no contacts: the first message makes a request, and the other
    /// one's own message accepts it. Asks [`first_contact`] and the rules as long as it is one.
    fn append_request(&self, append: Append, rules: RequestRules, done: Done<Result<Requested, Refusal>>);
    /// Accepting makes it a conversation as any other; dismissing puts it away, and tells nobody. Only who was asked may; where it is
    /// none, nothing changes.
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
    /// Most messages until it is accepted.
    pub messages: u32,
    /// Most new ones of a user in a day.
    pub per_day: u32,
    pub links: LinkRule,
    /// Whether one may write first at all now; else why not.
    pub begin: Result<(), Refusal>,
}

/// Requests that a user began on one day (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestDay {
    /// Since 1970.
    pub day: u32,
    pub count: u32,
}

impl RequestDay {
    fn of(now: Timestamp) -> u32 {
        (now.0 / 86_400_000) as u32
    }

    /// How many count at this moment.
    pub fn begun(self, now: Timestamp) -> u32 {
        if self.day == RequestDay::of(now) { self.count } else { 0 }
    }

    /// With one that begins now.
    pub fn and_one(self, now: Timestamp) -> RequestDay {
        RequestDay { day: RequestDay::of(now), count: self.begun(now) + 1 }
    }
}

impl RequestRules {
    /// Whether one who began so many requests today may begin another.
    pub fn may_begin(&self, begun: u32) -> Result<(), Refusal> {
        self.begin?;
        if begun >= self.per_day { Err(Refusal::TooManyRequests) } else { Ok(()) }
    }

    /// Whether a request with so many messages takes another.
    pub fn may_go_on(&self, messages: u64) -> Result<(), Refusal> {
        if messages >= u64::from(self.messages) { Err(Refusal::RequestPending) } else { Ok(()) }
    }

    /// Where strangers need not ask, and for a time may not begin.
    pub(crate) fn of_strangers(begin: Result<(), Refusal>) -> RequestRules {
        RequestRules { messages: u32::MAX, per_day: u32::MAX, links: LinkRule::Allowed, begin }
    }
}

/// May one who is a stranger write links?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRule {
    Refused,
    Allowed,
}

/// A conversation that waits for an answer, as one of its members sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageRequest {
    /// One has asked.
    Sent,
    /// One was asked.
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
    /// It waits for an answer.
    pub pending: bool,
    pub told: RequestTold,
    /// Those that came along with what was forwarded.
    pub files: Vec<File>,
}

/// How the other one hears of a message between strangers.
#[derive(Debug, Clone)]
pub enum RequestTold {
    /// As of any message.
    Message,
    /// As of a new request: the conversation as they see it.
    Request(Box<ConversationRow>),
    /// Not at all: they have put it away.
    Nothing,
}

#[derive(Debug, Clone)]
pub struct RequestAnswered {
    pub row: ConversationRow,
    pub position: Position,
    /// As the one who has asked sees it now, where that changed for them.
    pub theirs: Option<ConversationRow>,
    pub changed: bool,
}

/// The rules for a message to somebody to whom one stands like this; None: they know each other, or the site has no requests.
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

/// A user who asked to be a contact waits for messages.
pub fn is_stranger(relation: Relation) -> bool {
    !matches!(relation.of_a, ContactState::Contact | ContactState::RequestReceived)
}

/// Rules for a message request: no links, no attachments. Stores call it, because only they know whether a message is
/// one.
pub fn first_contact(body: &str, attachments: usize, links: LinkRule) -> Result<(), Refusal> {
    if attachments > 0 || links == LinkRule::Refused && has_link(body) {
        return Err(Refusal::FirstContact);
    }
    Ok(())
}

/// None: the two know each other, or nothing is asked of strangers here, or a moderator writes.
pub(crate) fn request_rules(asker: &Asker, peer: &Peer, now: Timestamp) -> Option<RequestRules> {
    let site = &asker.site.site;
    if asker.role >= SiteRole::Moderator {
        return None;
    }
    let rules = rules(&site.settings, site.mode, peer.relation);
    let per_day = trust::requests_per_day(&site.settings, asker.level);
    if !(asker.recent && site.settings.raid.is_on(now) && is_stranger(peer.relation)) {
        return Some(RequestRules { per_day, ..rules? });
    }
    let begin = Err(Refusal::Raid);
    // Without requests: what was begun before goes on.
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
            let teller = this.clone();
            let done = move |outcome: Result<Result<RequestAnswered, Refusal>, StoreError>| {
                let answered = match outcome.map_err(unavailable).flatten() {
                    Ok(answered) => answered,
                    Err(refusal) => {
                        return teller.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
                    }
                };
                let RequestAnswered { row, position, theirs, changed } = answered;
                let seen = |row: ConversationRow, of| {
                    let (mode, relation) = (asker.site.site.mode, peer.relation);
                    let viewer = Viewer { mode, relation, told: teller.presences.told(of) };
                    let shown = row.of.other().map(|other| viewer.shown(other)).unwrap_or_default();
                    Box::new(crate::presence::shown::conversation(row, shown))
                };
                let own = seen(row, peer.id);
                let event = crate::Event::conversation(own);
                match changed {
                    true => teller.sessions.reply_and_publish(session, re, position, event),
                    false => teller.sessions.reply(session, Some(re), position, event),
                }
                if let Some(theirs) = theirs {
                    let conversation = seen(theirs, session.user);
                    let event = crate::Event::conversation(conversation);
                    teller.sessions.publish(peer.id, position, None, event);
                }
            };
            this.store.answer_request(conversation, session.user, answer, Box::new(done));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_stranger_begins_few_and_writes_little() {
        let rules = RequestRules { messages: 2, per_day: 1, links: LinkRule::Allowed, begin: Ok(()) };
        assert_eq!([rules.may_begin(0), rules.may_begin(1)], [Ok(()), Err(Refusal::TooManyRequests)]);
        assert_eq!([rules.may_go_on(1), rules.may_go_on(2)], [Ok(()), Err(Refusal::RequestPending)]);
        let rules = RequestRules { begin: Err(Refusal::TooNew), ..rules };
        assert_eq!((rules.may_begin(0), rules.may_go_on(1)), (Err(Refusal::TooNew), Ok(())), "it goes on");
    }
    use ContactState::{Blocked, Contact, None as Nothing, RequestReceived, RequestSent};

    #[test]
    fn who_is_a_stranger() {
        let settings = |on| Settings {
            requests: crate::site::settings::Requests { on, ..Default::default() },
            ..Settings::default()
        };
        for (of_a, of_b, stranger) in [
            (Nothing, Nothing, true),
            (RequestSent, RequestReceived, true),
            (RequestSent, Nothing, true),
            (RequestReceived, RequestSent, false),
            (Contact, Contact, false),
            (Blocked, Nothing, true),
        ] {
            let relation = Relation { of_a, of_b };
            assert_eq!(is_stranger(relation), stranger, "{relation:?}");
            assert_eq!(rules(&settings(true), Mode::Open, relation).is_some(), stranger, "{relation:?}");
            assert_eq!(rules(&settings(false), Mode::Open, relation), None);
            assert_eq!(rules(&settings(true), Mode::Contacts, relation), None);
        }
    }

    #[test]
    fn what_is_a_link() {
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
            assert_eq!(first_contact(body, 0, LinkRule::Refused), Err(Refusal::FirstContact), "{body}");
            assert_eq!(first_contact(body, 0, LinkRule::Allowed), Ok(()), "{body}");
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
            assert_eq!(first_contact(body, 0, LinkRule::Refused), Ok(()), "{body}");
        }
        assert_eq!(first_contact("hi", 1, LinkRule::Allowed), Err(Refusal::FirstContact));
    }
}
