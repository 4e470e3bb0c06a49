//! A stream with a session of the domain: stanzas in, events out.

mod availabilities;
pub(crate) mod catch_up;
mod deliver;
mod establishment;
mod extension;
pub(crate) mod hand_over;
mod held_messages;
mod iq;
mod message;
mod message_requests;
mod message_stanza;
mod message_text;
mod named_message;
mod presence;
mod relay;
mod remote;
mod roster;

use std::sync::Arc;

use chat::presence::Availability;
use chat::{
    Command, ConversationId, Delivery, Port, Position, Refusal, Request, SessionHandle, SessionId, Sub,
    Timestamp, UserId, Welcome,
};
use edge::Now;
use rand::Rng;
use serde::{Deserialize, Serialize};
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::stream_management as management;
use xmpp_proto::stanza::{self, Condition, StanzaError, StanzaKind};
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::{Element, Open};

use crate::address::Target;
use crate::config::{Links, timestamp};
use crate::gateway::{Gateway, State};
use crate::s2s;
use crate::transport::{Io, Receiver};
use crate::xep::bookmarks::stored::Shown;
use crate::xep::caps::{Question, Wanted};
use crate::xep::jingle::Call;
use crate::xep::muc::{KnownRoom, Visit};
use crate::xep::receipts::{Expected, MOST_EXPECTED};
use crate::xep::stream_management::{Counters, Detached, Repeat, StreamId};
pub(crate) use availabilities::Availabilities;
pub(crate) use establishment::EXTENSION as ESTABLISHMENT;
pub(crate) use extension::{Stored, of as extension_of, of_reply as extension_of_reply};
pub(crate) use held_messages::Arrival;
pub use iq::IqHandler;
pub(crate) use iq::{Iq, IqKind};
pub(crate) use message::{own_id, with_file};
pub(crate) use message_requests::ShownRequest;
pub(crate) use message_stanza::MessageStanza;
pub(crate) use message_text::text as message_text;
pub(crate) use named_message::found;
pub(crate) use presence::availability;
use remote::{ForRemote, RemoteUser};
pub(crate) use roster::EXTENSION as ROSTER;

/// Commands without an answer, per session. More are refused until the domain has answered some.
const MOST_ASKED: usize = 64;

/// State of a session. On the heap, an idle one owns its address, and its counters if the client has enabled stream management.
pub(crate) struct Session {
    pub(crate) receiver: Receiver,
    /// The full JID.
    pub(crate) jid: Jid,
    pub(crate) user: UserId,
    /// Second of the steady clock (low bits) at which the client was heard last.
    heard: u32,
    /// Random: tells the messages of this stream from those of others.
    stream: u32,
    /// The position of the last event that was delivered. Apart, because a [`Position`] ends with 4 unused bytes.
    epoch: u32,
    number: u64,
    flags: Flags,
    /// None: unavailable.
    availability: Option<Arc<Availability>>,
    /// If the client has enabled stream management.
    management: Option<Box<Counters>>,
    /// The lists of items that the client wants. None: it has not said so.
    pub(crate) wanted: Option<Arc<Wanted>>,
    /// Questions to the client about its capabilities.
    pub(crate) questions: u8,
    extra: Option<Box<Extra>>,
}

/// State that only some sessions have.
#[derive(Default)]
struct Extra {
    asked: Vec<Asked>,
    last_re: u32,
    /// Messages that the domain has not stored yet.
    sending: Vec<message::Sending>,
    /// The users whom the user blocks, if the client has read the list.
    blocked: Option<Vec<Sub>>,
    /// Changes of presence that are kept back.
    missed: presence::Missed,
    /// The user's messages of which the client waits for a receipt or a marker, oldest first.
    expected: Vec<Expected>,
    held: Option<held_messages::Held>,
    /// The rooms in which the session is: at most [`MOST_ENTERED`](chat::MOST_ENTERED).
    visits: Vec<Visit>,
    /// The rooms whose addresses have names, as far as the client has used or got them: at most 200.
    known_rooms: Vec<KnownRoom>,
    /// Message requests of strangers that the client has got.
    shown_requests: Vec<ShownRequest>,
    /// About the client's capabilities.
    question: Option<Question>,
    /// The stanza that pauses the stream.
    for_remote: Option<ForRemote>,
    call: Option<Box<Call>>,
    bookmarks: Shown,
}

impl Extra {
    fn is_empty(&self) -> bool {
        let Extra {
            asked,
            last_re: _,
            sending,
            blocked,
            missed,
            expected,
            held,
            visits,
            known_rooms,
            shown_requests,
            question,
            for_remote,
            call,
            bookmarks,
        } = self;
        let is_idle = asked.is_empty() && sending.is_empty() && expected.is_empty() && held.is_none();
        let is_alone = question.is_none() && visits.is_empty() && missed.is_empty() && blocked.is_none();
        is_idle
            && is_alone
            && known_rooms.is_empty()
            && shown_requests.is_empty()
            && for_remote.is_none()
            && call.is_none()
            && bookmarks.is_empty()
    }
}

/// A request of the client that waits for an answer of the domain.
pub(crate) struct Asked {
    re: u32,
    /// Of the client's stanza. None: this gateway asks for itself.
    pub(crate) kind: Option<StanzaKind>,
    /// The id of the stanza, and the address that answers.
    pub(crate) id: Box<str>,
    pub(crate) from: Option<Box<str>>,
    /// The sender of a stanza from another server.
    to: Option<Box<str>>,
    /// Collects an answer of several pages.
    pub(crate) pages: Vec<u8>,
    /// Of a message, among the client's stanzas, if the client has enabled stream management.
    number: Option<u32>,
    then: Option<Then>,
}

impl Asked {
    /// A question of this gateway, which no stanza of the client waits for.
    pub(crate) fn internal() -> Asked {
        Asked {
            re: 0,
            kind: None,
            id: "".into(),
            from: None,
            to: None,
            pages: Vec::new(),
            number: None,
            then: None,
        }
    }

    /// A stanza of the client waits for the answer.
    pub(crate) fn of(element: Element<'_>) -> Asked {
        Asked {
            kind: StanzaKind::of(element),
            id: element.attr("id").unwrap_or_default().into(),
            from: element.attr("to").map(Into::into),
            to: element.attr("from").map(Into::into),
            ..Asked::internal()
        }
    }
}

/// Writes the answer to a request. Refusals are answered before it is called.
pub(crate) type Answer = fn(&mut Turn<'_, '_>, Asked, &Delivery);

/// Continues with the outcome of a request: the answer, or the reason why the domain refused it.
type Then = Box<dyn FnOnce(&mut Turn<'_, '_>, Asked, Result<&Delivery, Refusal>) + Send>;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Flags(u16);

impl Flags {
    /// The stream has missed something that it cannot get any more, and ends.
    const INCOMPLETE: Flags = Flags(1);
    /// Has asked for the roster, so it gets pushes (RFC 6121 §2.1.6).
    pub(crate) const INTERESTED: Flags = Flags(1 << 1);
    /// The client shows nothing to anybody (XEP-0352).
    pub(crate) const INACTIVE: Flags = Flags(1 << 5);
    /// Presence is kept back, because the client reads slowly or is inactive.
    const PRESENCE_MISSED: Flags = Flags(1 << 2);
    /// A ping was sent to a silent client.
    const PINGED: Flags = Flags(1 << 3);
    /// The client wants copies of the messages that the user sends from other sessions (XEP-0280).
    pub(crate) const CARBONS: Flags = Flags(1 << 6);
    /// The client synchronises read markers (XEP-0490).
    pub(crate) const DISPLAYED: Flags = Flags(1 << 7);
    /// The client has read its bookmarks (XEP-0402).
    pub(crate) const BOOKMARKS: Flags = Flags(1 << 9);
    /// The client wants the older form of its bookmarks (XEP-0048) when they change.
    pub(crate) const STORED_BOOKMARKS: Flags = Flags(1 << 14);
    /// The client keeps its roster, with its version (RFC 6121 §2.6).
    pub(crate) const ROSTER_VERSIONS: Flags = Flags(1 << 10);
    /// A stanza waits for the look-up of a message. Later ones stay in the connection's buffer.
    const PAUSED: Flags = Flags(1 << 8);
    /// The session of a user of another server, which has no connection.
    pub(crate) const REMOTE: Flags = Flags(1 << 15);
    /// Was available, and has become unavailable.
    const LEFT: Flags = Flags(1 << 4);
    /// Contact requests may wait for the user's answer. Without the flag there is certainly none.
    const REQUESTS_WAIT: Flags = Flags(1 << 11);
    /// Messages, requests or invitations may wait.
    pub(crate) const CONVERSATIONS_WAIT: Flags = Flags(1 << 12);
    /// The user may have items.
    pub(crate) const HAS_ITEMS: Flags = Flags(1 << 13);
}

impl Session {
    pub(crate) fn new(receiver: Receiver, jid: Jid, welcome: &Welcome, stream: u32, now: Now) -> Session {
        let (user, position) = (welcome.session.user, welcome.changes.position);
        let heard = seconds(now);
        let mut session = Session {
            receiver,
            jid,
            user,
            heard,
            stream,
            epoch: position.epoch,
            number: position.number,
            flags: Flags::default(),
            availability: None,
            management: None,
            wanted: None,
            questions: 0,
            extra: None,
        };
        session.set(Flags::REQUESTS_WAIT, welcome.waiting.contact_requests);
        session.set(Flags::CONVERSATIONS_WAIT, welcome.waiting.conversations);
        session.set(Flags::HAS_ITEMS, welcome.waiting.items);
        session
    }

    /// The session of a user of another server. `is_base`: it gets messages and contacts.
    pub(crate) fn of_remote(
        receiver: Receiver,
        jid: Jid,
        welcome: &Welcome,
        stream: u32,
        now: Now,
        is_base: bool,
    ) -> Session {
        let mut session = Session::new(receiver, jid, welcome, stream, now);
        session.set(Flags::REMOTE, is_base);
        session
    }

    pub(crate) fn has(&self, flag: Flags) -> bool {
        self.flags.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Flags, on: bool) {
        if on { self.flags.0 |= flag.0 } else { self.flags.0 &= !flag.0 }
    }

    pub(crate) fn availability(&self) -> Option<Arc<Availability>> {
        self.availability.clone()
    }

    /// Has sent its initial presence, and is not unavailable.
    pub(crate) fn is_available(&self) -> bool {
        self.availability.is_some()
    }

    /// RFC 6121 §8.5.2.1.1: a session with a negative priority gets no messages for the bare JID.
    pub(crate) fn wants_messages(&self) -> bool {
        let is_wanting = self.availability.as_ref().is_some_and(|availability| availability.priority >= 0);
        is_wanting || self.has(Flags::REMOTE)
    }

    /// The client has said that it leaves, so its presence ends at once.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.has(Flags::LEFT)
    }

    fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    fn take_asked(&mut self, re: u64) -> Option<Asked> {
        let extra = self.extra.as_mut()?;
        let at = extra.asked.iter().position(|asked| u64::from(asked.re) == re)?;
        let asked = extra.asked.swap_remove(at);
        if extra.asked.is_empty() {
            extra.asked = Vec::new();
        }
        self.drop_empty_extra();
        Some(asked)
    }

    fn take_all_asked(&mut self) -> Vec<Asked> {
        self.extra.as_mut().map(|extra| std::mem::take(&mut extra.asked)).unwrap_or_default()
    }

    pub(crate) fn drop_empty_extra(&mut self) {
        if self.extra.as_ref().is_some_and(|extra| extra.is_empty()) {
            self.extra = None;
        }
    }

    /// Counters and unacknowledged stanzas, if the client has enabled stream management.
    pub(crate) fn management(&mut self) -> Option<&mut Counters> {
        self.management.as_deref_mut()
    }

    pub(crate) fn begin_management(&mut self, counters: Box<Counters>) {
        self.management = Some(counters);
    }

    /// Whether this is the stream with that id, of the user with that bare JID.
    pub(crate) fn is_stream(&self, id: StreamId, bare: &str) -> bool {
        self.management.as_ref().is_some_and(|counters| counters.id() == Some(id)) && self.bare() == bare
    }

    /// Continues a stream of an earlier connection.
    pub(crate) fn restore(
        &mut self,
        flags: Flags,
        availability: Option<Arc<Availability>>,
        stream: u32,
        counters: Box<Counters>,
        expected: Vec<Expected>,
        wanted: Option<Arc<Wanted>>,
    ) {
        (self.flags, self.availability, self.stream) = (flags, availability, stream);
        self.wanted = wanted;
        self.set(Flags::PAUSED, false);
        self.management = Some(counters);
        if !expected.is_empty() {
            self.extra().expected = expected;
        }
    }

    pub(crate) fn question(&self) -> Option<&Question> {
        self.extra.as_ref()?.question.as_ref()
    }

    pub(crate) fn ask_caps(&mut self, question: Question) {
        self.extra().question = Some(question);
    }

    pub(crate) fn take_question(&mut self) -> Option<Question> {
        let question = self.extra.as_mut()?.question.take();
        self.drop_empty_extra();
        question
    }

    /// The user's messages of which the client waits for news.
    pub(crate) fn expected(&mut self) -> Option<&mut Vec<Expected>> {
        Some(&mut self.extra.as_mut()?.expected)
    }

    fn expect(&mut self, expected: Expected) {
        let all = &mut self.extra().expected;
        if all.len() >= MOST_EXPECTED {
            all.remove(0);
        }
        all.push(expected);
    }

    /// The stream without its connection. None: it cannot be resumed.
    pub(crate) fn detached(self, now: Timestamp) -> Option<Detached> {
        let position = self.resume_position();
        let Session { jid, flags, availability, stream, management, wanted, extra, .. } = self;
        let Extra { expected, visits, known_rooms, shown_requests, call, bookmarks, .. } =
            extra.map(|extra| *extra).unwrap_or_default();
        let rooms = visits.iter().filter_map(Visit::left).collect();
        let counters = management?;
        let until = now;
        Detached {
            jid,
            flags,
            availability,
            stream,
            counters,
            expected,
            wanted,
            rooms,
            known_rooms,
            shown_requests,
            call,
            bookmarks: bookmarks.left(),
            position,
            until,
        }
        .wait(now)
    }

    pub(crate) fn watch_block_list(&mut self, blocked: Vec<Sub>) {
        self.extra().blocked = Some(blocked);
    }

    /// True: the client knows the list, and it has changed.
    pub(crate) fn note_block(&mut self, user: &Sub, is_blocked: bool) -> bool {
        let Some(known) = self.extra.as_mut().and_then(|extra| extra.blocked.as_mut()) else { return false };
        match (known.iter().position(|one| one == user), is_blocked) {
            (None, true) => known.push(user.clone()),
            (Some(at), false) => drop(known.swap_remove(at)),
            (None, false) | (Some(_), true) => return false,
        }
        true
    }

    /// The client has sent something.
    pub(crate) fn hear(&mut self, now: Now) {
        self.heard = seconds(now);
    }

    /// Of the last event that was delivered.
    pub(crate) fn position(&self) -> Position {
        Position { epoch: self.epoch, number: self.number }
    }

    fn set_position(&mut self, position: Position) {
        (self.epoch, self.number) = (position.epoch, position.number);
    }

    pub(crate) fn visit(&mut self, room: ConversationId) -> Option<&mut Visit> {
        self.extra.as_mut()?.visits.iter_mut().find(|visit| visit.room == room)
    }

    pub(crate) fn visits(&mut self) -> &mut Vec<Visit> {
        &mut self.extra().visits
    }

    pub(crate) fn shown_requests(&self) -> &[ShownRequest] {
        self.extra.as_ref().map_or(&[], |extra| &extra.shown_requests)
    }

    pub(crate) fn show_requests_again(&mut self, shown: Vec<ShownRequest>) {
        if !shown.is_empty() {
            self.extra().shown_requests = shown;
        }
    }

    fn show_request(&mut self, request: ShownRequest) {
        self.extra().shown_requests.push(request);
    }

    fn forget_request(&mut self, conversation: ConversationId) -> Option<ShownRequest> {
        let shown = &mut self.extra.as_mut()?.shown_requests;
        let at = shown.iter().position(|one| one.is_of(conversation))?;
        let request = shown.remove(at);
        self.drop_empty_extra();
        Some(request)
    }

    pub(crate) fn shown_bookmarks(&mut self) -> &mut Shown {
        &mut self.extra().bookmarks
    }

    pub(crate) fn known_rooms(&self) -> &[KnownRoom] {
        self.extra.as_ref().map_or(&[], |extra| &extra.known_rooms)
    }

    pub(crate) fn know_rooms(&mut self) -> &mut Vec<KnownRoom> {
        &mut self.extra().known_rooms
    }

    pub(crate) fn take_visit(&mut self, room: ConversationId) -> Option<Visit> {
        let extra = self.extra.as_mut()?;
        let at = extra.visits.iter().position(|visit| visit.room == room)?;
        let visit = extra.visits.swap_remove(at);
        self.drop_empty_extra();
        Some(visit)
    }

    /// Of the rooms that the client has entered, and sees.
    pub(crate) fn take_shown_visits(&mut self) -> Vec<Visit> {
        let (shown, arriving) = self.take_visits().into_iter().partition(|visit: &Visit| visit.is_shown());
        if !Vec::is_empty(&arriving) {
            *self.visits() = arriving;
        }
        shown
    }

    pub(crate) fn take_visits(&mut self) -> Vec<Visit> {
        let visits = self.extra.as_mut().map(|extra| std::mem::take(&mut extra.visits)).unwrap_or_default();
        self.drop_empty_extra();
        visits
    }

    pub(crate) fn has_call(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.call.is_some())
    }

    /// Takes the call out; [`put_call`](Self::put_call) puts it back unless it is over.
    pub(crate) fn take_call(&mut self) -> Option<Box<Call>> {
        self.extra.as_mut()?.call.take()
    }

    pub(crate) fn put_call(&mut self, call: Box<Call>) {
        self.extra().call = Some(call);
    }

    /// The own bare JID.
    pub(crate) fn bare(&self) -> &str {
        self.jid.bare()
    }
}

fn seconds(now: Now) -> u32 {
    (now.steady_ms / 1000) as u32
}

/// One session, while a stanza or an event is handled.
pub(crate) struct Turn<'a, 'io> {
    pub(crate) gateway: &'a mut Gateway,
    pub(crate) session: &'a mut Session,
    pub(crate) io: &'a mut Io<'io>,
}

impl Turn<'_, '_> {
    pub(crate) fn now(&self) -> Timestamp {
        timestamp(self.io.now())
    }

    pub(crate) fn id(&self) -> SessionId {
        SessionId { user: self.session.user, handle: SessionHandle(self.io.handle().to_bits()) }
    }

    pub(crate) fn node(&self) -> &Port {
        &self.gateway.shared.node
    }

    pub(crate) fn domain(&self) -> &str {
        self.session.jid.domain()
    }

    /// Sends one stanza.
    pub(crate) fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.send_as(Repeat::Stanza, write);
    }

    /// Sends the presence of another session.
    pub(crate) fn send_state(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.send_as(Repeat::State, write);
    }

    fn send_as(&mut self, repeat: Repeat, write: impl FnOnce(&mut Vec<u8>)) {
        self.gateway.shared.counters.stanzas_out.add(1);
        let counters = self.session.management();
        let mut asks = false;
        self.gateway.send(self.io, |out| {
            write(out);
            asks = counters.is_some_and(|counters| counters.sent(out, repeat));
        });
        if asks {
            self.gateway.send(self.io, management::write_count);
        }
    }

    /// Sends an element that is no stanza, so it is not counted.
    pub(crate) fn nonza(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.gateway.send(self.io, write);
    }

    /// A command whose outcome the client does not wait for.
    pub(crate) fn command(&mut self, command: impl Into<Command>) {
        let (id, now) = (self.id(), self.now());
        self.node().command(id, Request { re: None, command: command.into() }, now);
    }

    /// A command whose answer becomes the answer of a stanza.
    pub(crate) fn ask(&mut self, iq: &Iq<'_>, answer: Answer, command: impl Into<Command>) {
        self.ask_for(Asked::of(iq.element), answer, command);
    }

    /// A command for a stanza of the client. `then` gets the outcome, and answers the client.
    pub(crate) fn ask_then(
        &mut self,
        iq: &Iq<'_>,
        command: impl Into<Command>,
        then: impl FnOnce(&mut Turn<'_, '_>, Asked, Result<&Delivery, Refusal>) + Send + 'static,
    ) {
        self.continue_then(Asked::of(iq.element), command, then);
    }

    /// A further command for the same stanza.
    pub(crate) fn continue_then(
        &mut self,
        mut asked: Asked,
        command: impl Into<Command>,
        then: impl FnOnce(&mut Turn<'_, '_>, Asked, Result<&Delivery, Refusal>) + Send + 'static,
    ) {
        let extra = self.session.extra();
        if extra.asked.len() >= MOST_ASKED {
            return then(self, asked, Err(Refusal::Overloaded { retry_after_ms: 1000 }));
        }
        extra.last_re = extra.last_re.wrapping_add(1);
        asked.re = extra.last_re;
        asked.then = Some(Box::new(then));
        let request = Request { re: Some(asked.re.into()), command: command.into() };
        extra.asked.push(asked);
        let (id, now) = (self.id(), self.now());
        self.node().command(id, request, now);
    }

    /// A further command for the same stanza. A refusal is the answer of the client.
    pub(crate) fn ask_for(&mut self, asked: Asked, answer: Answer, command: impl Into<Command>) {
        self.continue_then(asked, command, move |turn, asked, outcome| match outcome {
            Ok(delivery) => answer(turn, asked, delivery),
            Err(refusal) => turn.answer_error(&asked, &crate::refusal::stanza_error(refusal)),
        });
    }

    /// The result of a request that has waited.
    pub(crate) fn answer(&mut self, asked: Asked, write: impl FnOnce(&mut Vec<u8>)) {
        let Asked { id, from, to, .. } = asked;
        self.send(|out| {
            Open::new(out, "iq")
                .attr("type", "result")
                .attr("id", &id)
                .opt("from", from.as_deref())
                .opt("to", to.as_deref())
                .children(write);
        });
    }

    pub(crate) fn answer_error(&mut self, asked: &Asked, error: &StanzaError) {
        self.error_with(asked, error, |_| {});
    }

    /// An error with further elements before it.
    pub(crate) fn error_with(
        &mut self,
        asked: &Asked,
        error: &StanzaError,
        before: impl FnOnce(&mut Vec<u8>),
    ) {
        let Some(kind) = asked.kind else { return };
        self.send(|out| {
            Open::new(out, kind.name())
                .attr("type", "error")
                .opt("id", Some(&*asked.id).filter(|id| !id.is_empty()))
                .opt("from", asked.from.as_deref())
                .opt("to", asked.to.as_deref())
                .children(|out| {
                    before(out);
                    error.write(out);
                });
        });
    }

    pub(crate) fn links(&self) -> Links {
        Links { shared: Arc::clone(&self.gateway.shared), site: self.session.user.site }
    }

    /// An id for a request of this server.
    pub(crate) fn push_id(&mut self) -> String {
        format!("{:08x}", self.gateway.rng.random::<u32>())
    }
}

impl Gateway {
    pub(crate) fn deliver_to_session(&mut self, state: &mut State, delivery: &Delivery, io: &mut Io<'_>) {
        let State::Live(session) = state else { return };
        let outcome = Turn { gateway: self, session, io }.deliver(delivery);
        if let Err(error) = outcome {
            self.end_stream(state, &error, io);
        }
    }

    /// Asks a silent client, and ends the stream of one that does not answer (XEP-0199 §4.2).
    pub(crate) fn session_is_silent(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Live(session) = state else { return };
        let config = &self.shared.config;
        let silence = u64::from(seconds(io.now()).wrapping_sub(session.heard));
        let (idle, answer) = (config.idle(io.framing()).as_secs(), config.answer);
        if silence < idle {
            session.set(Flags::PINGED, false);
            return io.set_timer(Some(std::time::Duration::from_secs(idle - silence)));
        }
        if session.has(Flags::PINGED) {
            return self.end_stream(state, &StreamError::new(StreamCondition::ConnectionTimeout), io);
        }
        session.set(Flags::PINGED, true);
        let (from, to) = (session.jid.domain().to_owned(), session.jid.as_str().to_owned());
        Turn { gateway: self, session, io }.send(|out| crate::xep::ping::write(out, &from, &to));
        io.set_timer(Some(answer));
    }
}

/// Pending output above which a client's stanzas wait.
pub(crate) const SOFT_LIMIT: usize = 64 * 1024;

impl Turn<'_, '_> {
    pub(crate) fn stanza(&mut self, element: Element<'_>) -> Result<(), StreamError> {
        if let Some(outcome) = self.stream_management(element) {
            return outcome;
        }
        if self.client_state(element) {
            return Ok(());
        }
        let kind = StanzaKind::of(element)
            .ok_or_else(|| StreamError::new(StreamCondition::UnsupportedStanzaType))?;
        if let Some(counters) = self.session.management() {
            counters.count_received();
        }
        // RFC 6120 §8.1.2.1: a client may leave out `from`, or send its own bare or full JID. Another server was checked before.
        if let Some(from) = element.attr("from")
            && !self.is_of_server()
            && Jid::parse(from).ok().is_none_or(|from| {
                from.as_str() != self.session.jid.as_str() && from.as_str() != self.session.bare()
            })
        {
            return Err(StreamError::new(StreamCondition::InvalidFrom));
        }
        self.addressed_stanza(element, kind, RemoteUser::MayBeMissing);
        Ok(())
    }

    /// The session of a user of another server, whose stanzas have their own addresses.
    pub(crate) fn is_of_server(&self) -> bool {
        s2s::is_session(self.io.handle())
    }

    fn addressed_stanza(&mut self, element: Element<'_>, kind: StanzaKind, remote: RemoteUser) {
        let to = match element.attr("to").map(Jid::parse).transpose() {
            Ok(to) => to,
            Err(_) => {
                return self.refuse(element, &StanzaError::new(Condition::JidMalformed));
            }
        };
        let mut target = self.target_of(to.as_ref());
        if let (Target::Room(None), Some(to)) = (&target, &to)
            && self.waits_for_room(element, kind, to)
        {
            return;
        }
        if let Target::User(user) = &target
            && user.remote_address().is_some()
        {
            if self.is_of_server() || !self.gateway.shared.reaches(self.session.user.site, user) {
                target = Target::Elsewhere;
            } else if remote == RemoteUser::MayBeMissing && self.waits_for_remote(element, kind, user) {
                return;
            }
        }
        self.dispatch(element, kind, to.as_ref(), target);
    }

    pub(crate) fn dispatch(
        &mut self,
        element: Element<'_>,
        kind: StanzaKind,
        to: Option<&Jid>,
        target: Target,
    ) {
        match kind {
            StanzaKind::Iq => self.iq(element, to, target),
            StanzaKind::Message => self.client_message(element, target),
            StanzaKind::Presence => self.presence(element, to, target),
        }
    }

    /// Answers a stanza by an error. Errors and results are never answered (RFC 6120 §8.3.1).
    pub(crate) fn refuse(&mut self, element: Element<'_>, error: &StanzaError) {
        if matches!(element.attr("type"), Some("error" | "result")) {
            return;
        }
        // Nobody asked for an answer to presence of another server, and it could tell who exists.
        if self.is_of_server() && element.name() == "presence" {
            return;
        }
        let from = element.attr("to").map(str::to_owned);
        let to = element.attr("from").filter(|_| self.is_of_server());
        self.send(|out| stanza::write_error(out, element, from.as_deref(), to, error));
    }
}
