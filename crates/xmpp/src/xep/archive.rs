//! Message Archive Management (XEP-0313): the direct conversations of the user, in the order of their messages' positions; and
//! rooms, each by itself.

use std::collections::HashMap;
use std::sync::Arc;

use chat::messages::{
    ArchiveEnd, ArchiveOf, ArchiveQuery, Command, Event as MessagesEvent, MOST_POSITIONS, MessageName,
};
use chat::{ConversationId, Delivery, Event, Message, Refusal, Seq, Sub, Timestamp, To};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::mam::{self as payload, Found, Preferences, Query};
use xmpp_proto::payload::rsm::{Page, Returned};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use crate::address::{self, Target};
use crate::config::Links;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, IqKind, MessageStanza, Turn, found, message_text};
use crate::xep::replies::Answered;
use crate::xep::{oob, reactions};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(313),
    name: "Message Archive Management",
    version: "1.1.3",
    scenario: "archive",
    server_features: &[],
    account_features: &[ns::MAM, ns::MAM_EXTENDED],
    iq: &[
        IqHandler { name: "query", ns: ns::MAM, handle: query },
        IqHandler { name: "metadata", ns: ns::MAM, handle: metadata },
    ],
};

pub(crate) const PAGES: Extension = Extension {
    spec: Spec::Xep(59),
    name: "Result Set Management",
    version: "1.0",
    scenario: "archive",
    server_features: &[],
    account_features: &[ns::RSM],
    iq: &[],
};

/// One archive has the messages for the widget and for all apps, so no app decides what is kept.
pub(crate) const PREFERENCES: Extension = Extension {
    spec: Spec::Xep(441),
    name: "Message Archive Management Preferences",
    version: "0.2.0",
    scenario: "archive_preferences",
    server_features: &[],
    account_features: &[],
    iq: &[IqHandler { name: "prefs", ns: ns::MAM, handle: preferences }],
};

/// A page ends before it has more than this, so that a client with stream management can acknowledge it in time.
const PAGE_BYTES: usize = 256 * 1024;
/// Between the id of a message and the number of a user who has reacted to it.
const REACTIONS_OF: char = '~';
/// Of a result without its body and extension, roughly.
const RESULT_BYTES: usize = 512;

/// §2: everything is kept. A client that wants something else must learn that it does not get it.
fn preferences(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Account {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    if iq.kind == IqKind::Set && !Preferences::of(iq.payload).map_err(StanzaError::new)?.keep_everything() {
        let why = "messages are kept for the widget and for all apps, or deleted in all of them";
        return Err(StanzaError::new(Condition::NotAllowed).text(why));
    }
    turn.result(iq, payload::write_preferences);
    Ok(())
}

fn query(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let source = Source::of(turn, iq)?;
    if iq.kind == IqKind::Get {
        turn.result(iq, payload::write_fields);
        return Ok(());
    }
    let query = Query::of(iq.payload).map_err(StanzaError::new)?;
    // Rooms have archives of their own.
    if query.include_groupchat == Some(true) {
        return Err(StanzaError::new(Condition::FeatureNotImplemented));
    }
    let results = Results {
        source,
        names: HashMap::new(),
        query_id: query.query_id.map(Into::into),
        from: ArchiveEnd::Oldest,
        is_flipped: query.flip_page,
    };
    if let Source::Room(_) = source
        && (!query.ids.is_empty() || query.with.is_some())
    {
        return Err(StanzaError::new(Condition::FeatureNotImplemented));
    }
    if !query.ids.is_empty() {
        let positions = query.ids.iter().map(|id| position(id)).collect::<Result<Vec<u64>, _>>()?;
        if positions.len() > MOST_POSITIONS {
            return Err(StanzaError::new(Condition::PolicyViolation));
        }
        results.ask(turn, iq, Command::AtPositions { positions });
        return Ok(());
    }
    let of = match (source, &query.with) {
        (Source::Room(room), _) => ArchiveOf::One(To::Conversation(room)),
        (Source::Account, None) => ArchiveOf::Direct,
        (Source::Account, Some(with)) => match Target::of(Some(with), &turn.session.jid) {
            Target::User(user) => ArchiveOf::One(To::User(user)),
            // Nobody there can have written.
            _ => {
                results.write(turn, Asked::of(iq.element), &[], true);
                return Ok(());
            }
        },
    };
    let mut after = query.after_id.as_deref().map(position).transpose()?;
    let mut before = query.before_id.as_deref().map(position).transpose()?;
    let from = match &query.page.page {
        Page::First => ArchiveEnd::Oldest,
        Page::Last => ArchiveEnd::Newest,
        Page::After(id) => {
            after = after.max(Some(position(id)?));
            ArchiveEnd::Oldest
        }
        Page::Before(id) => {
            let id = position(id)?;
            before = Some(before.map_or(id, |before| before.min(id)));
            ArchiveEnd::Newest
        }
        Page::Index(_) => return Err(StanzaError::new(Condition::FeatureNotImplemented)),
    };
    // XEP-0059 §2.7: only the count is wanted, which this archive does not know.
    if query.page.max == Some(0) {
        results.write(turn, Asked::of(iq.element), &[], false);
        return Ok(());
    }
    let wanted = ArchiveQuery {
        of,
        start: query.start.map(|start| Timestamp(start.0)),
        end: query.end.map(|end| Timestamp(end.0)),
        after: None,
        before: None,
        from,
        limit: query.page.max,
    };
    let results = Results { from, ..results };
    match source {
        Source::Account => {
            results.ask(turn, iq, Command::Archive(ArchiveQuery { after, before, ..wanted }));
        }
        Source::Room(room) => {
            turn.pause();
            let asked = Asked::of(iq.element);
            results.ask_room(turn, asked, room, wanted, [after, before]);
        }
    }
    Ok(())
}

/// An id that this archive cannot have given is not found (XEP-0313 §4.3.1). Any other one is a place in the order, even if its
/// message is not kept any more: a client that comes back after a long time continues there.
/// The id of a message, or of reactions to it.
fn position(id: &str) -> Result<u64, StanzaError> {
    let of_message = id.split_once(REACTIONS_OF).map_or(id, |(message, _)| message);
    of_message.parse().map_err(|_| StanzaError::new(Condition::ItemNotFound))
}

/// The archive that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Account,
    Room(ConversationId),
}

impl Source {
    fn of(turn: &Turn<'_, '_>, iq: &Iq<'_>) -> Result<Source, StanzaError> {
        match iq.target {
            Target::Account => Ok(Source::Account),
            Target::Room(Some(number)) => {
                Ok(Source::Room(ConversationId::room(turn.session.user.site, number)))
            }
            Target::Room(None) => Err(StanzaError::new(Condition::ItemNotFound)),
            // Nothing tells whether another account exists.
            _ => Err(StanzaError::new(Condition::ServiceUnavailable)),
        }
    }

    fn address(self, turn: &Turn<'_, '_>) -> String {
        match self {
            Source::Account => turn.session.bare().to_owned(),
            Source::Room(room) => turn.room_address(room),
        }
    }

    /// A room that the user may not read looks like one that does not exist.
    fn refused(self, refusal: Refusal) -> StanzaError {
        match (self, refusal) {
            (
                Source::Room(_),
                Refusal::NotAMember
                | Refusal::RoomBanned
                | Refusal::NotAllowed
                | Refusal::NoSuchConversation
                | Refusal::NoSuchMessage,
            ) => StanzaError::new(Condition::ItemNotFound),
            _ => stanza_error(refusal),
        }
    }

    /// The archive's id of a message.
    fn id(self, message: &Message) -> String {
        match self {
            Source::Account => message.position.to_string(),
            Source::Room(_) => message.seq.0.to_string(),
        }
    }
}

/// How the results of a query are written.
struct Results {
    source: Source,
    /// Nicknames of the authors, in a room.
    names: HashMap<Sub, Box<str>>,
    query_id: Option<Box<str>>,
    from: ArchiveEnd,
    is_flipped: bool,
}

impl Results {
    /// One page at a time, and the next stanza once this one is read: a client cannot pile up pages here.
    fn ask(self, turn: &mut Turn<'_, '_>, iq: &Iq<'_>, command: Command) {
        turn.pause();
        turn.ask_then(iq, command, move |turn, asked, answer| {
            self.answer(turn, asked, answer);
            turn.read_further();
        });
    }

    /// `after` and `before` of a query of a room are seqs: finds the positions of these messages first.
    fn ask_room(
        self,
        turn: &mut Turn<'_, '_>,
        asked: Asked,
        room: ConversationId,
        mut wanted: ArchiveQuery,
        [after, before]: [Option<u64>; 2],
    ) {
        let Some(seq) = after.or(before) else {
            return turn.continue_then(asked, Command::Archive(wanted), move |turn, asked, answer| {
                self.answer_of_room(turn, asked, room, answer);
            });
        };
        let find = Command::Find { to: To::Conversation(room), name: MessageName::Seq(Seq(seq)) };
        turn.continue_then(asked, find, move |turn, asked, answer| {
            match answer.map(|answer| found(answer).map(|message| message.position)) {
                Ok(position) if after.is_some() => {
                    wanted.after = position;
                    self.ask_room(turn, asked, room, wanted, [None, before]);
                }
                Ok(position) => {
                    wanted.before = position;
                    self.ask_room(turn, asked, room, wanted, [None, None]);
                }
                Err(refusal) => {
                    turn.answer_error(&asked, &self.source.refused(refusal));
                    turn.read_further();
                }
            }
        });
    }

    /// The authors are named as the room names them.
    fn answer_of_room(
        self,
        turn: &mut Turn<'_, '_>,
        asked: Asked,
        room: ConversationId,
        answer: Result<&Delivery, Refusal>,
    ) {
        let Ok(Delivery { event: Event::Messages(MessagesEvent::Found { hits, next }), .. }) = answer else {
            self.answer(turn, asked, answer);
            return turn.read_further();
        };
        let (messages, is_complete) = (hits.clone(), next.is_none());
        turn.learn_names(asked, room, hits, move |turn, asked, names| {
            Results { names, ..self }.write(turn, asked, &messages, is_complete);
            turn.read_further();
        });
    }

    fn answer(self, turn: &mut Turn<'_, '_>, asked: Asked, answer: Result<&Delivery, Refusal>) {
        match answer {
            Ok(Delivery { event: Event::Messages(MessagesEvent::Found { hits, next }), .. }) => {
                self.write(turn, asked, hits, next.is_none());
            }
            Ok(_) => {}
            // Whether a user exists is not answered here.
            Err(Refusal::NoSuchUser | Refusal::NoSuchConversation) if self.source == Source::Account => {
                self.write(turn, asked, &[], true);
            }
            Err(refusal) => turn.answer_error(&asked, &self.source.refused(refusal)),
        }
    }

    fn write(self, turn: &mut Turn<'_, '_>, asked: Asked, hits: &[Arc<Message>], is_complete: bool) {
        let jid = turn.session.jid.clone();
        let links = turn.links();
        let fitting = self.fitting(hits, &jid, &links);
        let is_complete = is_complete && fitting.len() == hits.len();
        let mut order: Vec<&Arc<Message>> = fitting.iter().collect();
        if self.is_flipped {
            order.reverse();
        }
        for message in order {
            // A reaction comes after its message, in the order in which the client reads.
            if self.is_flipped {
                self.write_reactions(turn, &jid, &links, message);
            }
            self.write_result(turn, (&jid, &links), message, hits);
            if !self.is_flipped {
                self.write_reactions(turn, &jid, &links, message);
            }
        }
        let ends = fitting.first().zip(fitting.last());
        let ends = ends.map(|(first, last)| (self.source.id(first), self.source.id(last)));
        turn.answer(asked, |out| {
            let ends = ends.as_ref().map(|(first, last)| (first.as_str(), last.as_str()));
            payload::write_fin(out, is_complete, &Returned { ends, ..Returned::default() });
        });
    }

    /// The messages, from the end of the range where the page begins, that fit in [`PAGE_BYTES`]; at least one.
    fn fitting<'a>(&self, hits: &'a [Arc<Message>], jid: &Jid, links: &Links) -> &'a [Arc<Message>] {
        let of_room = |message: &Message| {
            let text = message_text(message, jid.domain(), links);
            // Each address is in the body, and again beside it.
            let of_files: usize = oob::addresses(message, links).iter().map(|url| 2 * url.len()).sum();
            RESULT_BYTES + text.len() + of_files + message.extension.as_deref().map_or(0, str::len)
        };
        let size = |message: &Arc<Message>| match MessageStanza::of(message, jid, links) {
            Some(stanza) => stanza.size(),
            None => of_room(message),
        };
        let sizes = hits.iter().map(size);
        let fits = |sizes: &mut dyn Iterator<Item = usize>| {
            let mut sum = 0;
            let count = sizes.take_while(|size| {
                sum += size;
                sum <= PAGE_BYTES
            });
            count.count().max(1).min(hits.len())
        };
        match self.from {
            ArchiveEnd::Oldest => &hits[..fits(&mut sizes.into_iter())],
            ArchiveEnd::Newest => &hits[hits.len() - fits(&mut sizes.rev())..],
        }
    }

    /// `hits`: the page, where the message that this one answers may be.
    fn write_result(
        &self,
        turn: &mut Turn<'_, '_>,
        (jid, links): (&Jid, &Links),
        message: &Message,
        hits: &[Arc<Message>],
    ) {
        let mut stanza = Vec::new();
        match self.source {
            Source::Account => write_direct(turn, (jid, links), message, hits, &mut stanza),
            Source::Room(room) => {
                let answered = hits.iter().find(|one| Some(one.seq) == message.reply_to);
                stanza = turn.archived_room_message(room, message, answered.map(|one| &**one), &self.names);
            }
        }
        self.write_found(turn, jid, &self.source.id(message), message, &stanza);
    }

    /// The reactions that a message has, as one stanza for each user, because they are no messages of the domain. They do not
    /// count as results of the page, and their ids lead to the message.
    fn write_reactions(&self, turn: &mut Turn<'_, '_>, jid: &Jid, links: &Links, message: &Message) {
        if message.deleted {
            return;
        }
        for (number, (user, reactions)) in reactions::by_user(message).into_iter().enumerate() {
            let id = format!("{}{REACTIONS_OF}{}", self.source.id(message), number + 1);
            let stanza = match self.source {
                Source::Account => {
                    let Some(of) = MessageStanza::of(message, jid, links) else { return };
                    let Some(other) = turn.session.other_user(message) else { return };
                    let is_own = turn.session.is_own(user);
                    let (from, to) = match is_own {
                        true => (jid.bare().to_owned(), address::user(&other, jid.domain())),
                        false => (address::user_here(user, jid.domain()), jid.bare().to_owned()),
                    };
                    let mut out = Vec::new();
                    let open = Open::new(&mut out, "message").attr("xmlns", ns::CLIENT).attr("type", "chat");
                    open.attr("from", &from).attr("to", &to).attr("id", &id).children(|out| {
                        reactions::write(out, of.id(), reactions.iter().copied());
                    });
                    out
                }
                Source::Room(room) => {
                    turn.archived_room_reactions(room, message, (user, &reactions), &self.names, &id)
                }
            };
            self.write_found(turn, jid, &id, message, &stanza);
        }
    }

    fn write_found(&self, turn: &mut Turn<'_, '_>, jid: &Jid, id: &str, message: &Message, stanza: &[u8]) {
        let from = self.source.address(turn);
        let found = Found { query_id: self.query_id.as_deref(), id, stamp: DateTime(message.time.0) };
        turn.send(|out| {
            Open::new(out, "message").attr("from", &from).attr("to", jid.as_str()).children(|out| {
                found.write(out, |out| out.extend_from_slice(stanza));
            });
        });
    }
}

fn write_direct(
    turn: &Turn<'_, '_>,
    (jid, links): (&Jid, &Links),
    message: &Message,
    hits: &[Arc<Message>],
    out: &mut Vec<u8>,
) {
    let Some(stanza) = MessageStanza::of(message, jid, links) else { return };
    let answered = hits.iter().find(|one| {
        one.conversation == message.conversation && Some(one.seq) == message.reply_to && !one.deleted
    });
    let answered = answered.map(|one| Answered::new(one, turn.session.is_own(&one.from)));
    stanza.answering(answered.as_ref()).write(out, Some(ns::CLIENT), None);
}

/// XEP-0313 §5.
fn metadata(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if Source::of(turn, iq)? != Source::Account {
        return Err(StanzaError::new(Condition::FeatureNotImplemented));
    }
    if iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    turn.ask_then(iq, end_of_archive(ArchiveEnd::Oldest), |turn, asked, answer| match end(answer) {
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
        Ok(None) => turn.answer(asked, |out| payload::write_metadata(out, None)),
        Ok(Some(first)) => {
            turn.continue_then(
                asked,
                end_of_archive(ArchiveEnd::Newest),
                move |turn, asked, answer| match end(answer) {
                    Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
                    Ok(last) => {
                        let [first, last] = [&first, last.as_ref().unwrap_or(&first)];
                        let ends = [(first.0.as_str(), first.1), (last.0.as_str(), last.1)];
                        turn.answer(asked, |out| payload::write_metadata(out, Some(ends)));
                    }
                },
            );
        }
    });
    Ok(())
}

fn end_of_archive(from: ArchiveEnd) -> Command {
    Command::Archive(ArchiveQuery {
        of: ArchiveOf::Direct,
        start: None,
        end: None,
        after: None,
        before: None,
        from,
        limit: Some(1),
    })
}

/// The id and the time of the only message of an answer.
fn end(answer: Result<&Delivery, Refusal>) -> Result<Option<(String, DateTime)>, Refusal> {
    Ok(match &answer?.event {
        Event::Messages(MessagesEvent::Found { hits, .. }) => {
            hits.first().map(|message| (message.position.to_string(), DateTime(message.time.0)))
        }
        _ => None,
    })
}
