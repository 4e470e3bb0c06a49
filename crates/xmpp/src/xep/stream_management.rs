//! Stream Management (XEP-0198): acknowledgements in both directions, and streams that outlive their connection.
//!
//! What this server acknowledges is on disk: a message counts as handled once the domain has stored or refused it.
//!
//! A stream whose connection is lost leaves the domain, as every client without a connection does, and is *detached*: its
//! counters, the stanzas that the client has not acknowledged, and its position wait here. A client that resumes signs in
//! again, gets these stanzas, and then the changes since the position from the archive. So nothing piles up for an absent
//! client.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat::presence::Availability;
use chat::{Changes, ConversationId, Position, Seq, Timestamp};
use edge::Handle;
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::stream_management::{self as payload, Resumption};
use xmpp_proto::stanza::Condition;
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{Flags, Turn};
use crate::xep::muc;
use crate::xep::receipts::Expected;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(198),
    name: "Stream Management",
    version: "1.6.3",
    scenario: "stream_management",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Stanzas that a client may leave unacknowledged; a stream with more ends.
const MOST_UNACKED: usize = 1_000;
const MOST_UNACKED_BYTES: usize = 1024 * 1024;
/// How long a detached stream waits for its client. Told to clients as `max` (§5).
const DETACHED_SECONDS: u32 = 600;
/// Detached streams of this node. The oldest one gives way.
const MOST_DETACHED: usize = 20_000;
const MOST_DETACHED_BYTES: usize = 64 * 1024 * 1024;

/// Counters and unacknowledged stanzas of a stream.
pub(crate) struct Counters {
    /// None: the client did not ask for resumption.
    id: Option<Box<str>>,
    /// Stanzas of the client.
    received: u32,
    /// Numbers of its messages that the domain has not answered, in order.
    pending: VecDeque<u32>,
    /// The client has asked for the count, and a message is pending.
    owes_count: bool,
    /// Stanzas sent to the client, and acknowledged by it. They wrap (§3).
    sent: u32,
    acked: u32,
    unacked: VecDeque<Unacked>,
    unacked_bytes: usize,
    /// An `<r/>` is on its way to the client.
    has_asked: bool,
}

/// A stanza that the client has not acknowledged.
struct Unacked {
    stanza: Box<[u8]>,
    /// Of a message, which is received once the client acknowledges it.
    place: Option<(ConversationId, Seq)>,
}

/// A stream without a connection.
pub(crate) struct Detached {
    pub(crate) jid: Jid,
    pub(crate) flags: Flags,
    pub(crate) availability: Option<Arc<Availability>>,
    pub(crate) stream: u32,
    pub(crate) counters: Counters,
    /// The user's messages of which the client waits for a receipt or a marker.
    pub(crate) expected: Vec<Expected>,
    /// The rooms in which the client was.
    pub(crate) rooms: Vec<muc::Left>,
    /// Of the last event that was delivered.
    pub(crate) position: Position,
    pub(crate) until: Timestamp,
}

impl Detached {
    /// Waits for the client from now on. None: the client did not ask for resumption.
    pub(crate) fn wait(mut self, now: Timestamp) -> Option<Detached> {
        let counters = &mut self.counters;
        counters.id.as_ref()?;
        // The domain's answers to these messages are lost. The client sends them again, and they are stored once.
        counters.received = counters.handled();
        counters.pending.clear();
        (counters.owes_count, counters.has_asked) = (false, false);
        self.until = Timestamp(now.0 + u64::from(DETACHED_SECONDS) * 1000);
        Some(self)
    }
}

impl Counters {
    fn new(id: Option<Box<str>>) -> Counters {
        Counters {
            id,
            received: 0,
            pending: VecDeque::new(),
            owes_count: false,
            sent: 0,
            acked: 0,
            unacked: VecDeque::new(),
            unacked_bytes: 0,
            has_asked: false,
        }
    }

    /// The stanzas up to here are handled: none of them is pending.
    pub(crate) fn handled(&self) -> u32 {
        self.pending.front().map_or(self.received, |pending| pending.wrapping_sub(1))
    }

    /// A stanza of the client.
    pub(crate) fn count_received(&mut self) {
        self.received = self.received.wrapping_add(1);
    }

    /// The client's last stanza is a message that the domain will answer. Returns its number.
    pub(crate) fn wait_for_last(&mut self) -> u32 {
        self.pending.push_back(self.received);
        self.received
    }

    /// The domain has answered it. True: a count that the client waits for can be sent now.
    pub(crate) fn answered(&mut self, number: u32) -> bool {
        self.pending.retain(|pending| *pending != number);
        self.owes_count && self.pending.is_empty()
    }

    /// Keeps a sent stanza until the client acknowledges it. True: the client must be asked for its count.
    pub(crate) fn sent(&mut self, stanza: &[u8]) -> bool {
        self.sent = self.sent.wrapping_add(1);
        self.unacked_bytes += stanza.len();
        self.unacked.push_back(Unacked { stanza: stanza.into(), place: None });
        self.asks()
    }

    /// The last stanza was this message.
    pub(crate) fn note_message(&mut self, place: (ConversationId, Seq)) {
        if let Some(last) = self.unacked.back_mut() {
            last.place = Some(place);
        }
    }

    /// One question at a time.
    fn asks(&mut self) -> bool {
        !std::mem::replace(&mut self.has_asked, true)
    }

    /// Whether the client has left too much unacknowledged.
    pub(crate) fn is_full(&self) -> bool {
        self.unacked.len() > MOST_UNACKED || self.unacked_bytes > MOST_UNACKED_BYTES
    }

    /// The client has handled `h` stanzas (§4). An error ends the stream.
    ///
    /// Returns the last message of each conversation among them.
    fn acknowledge(&mut self, h: u32) -> Result<Vec<(ConversationId, Seq)>, StreamError> {
        let new = h.wrapping_sub(self.acked);
        if new as usize > self.unacked.len() {
            return Err(payload::handled_count_too_high(h, self.sent));
        }
        let mut received: Vec<(ConversationId, Seq)> = Vec::new();
        for Unacked { stanza, place } in self.unacked.drain(..new as usize) {
            self.unacked_bytes -= stanza.len();
            if let Some((conversation, seq)) = place {
                received.retain(|(other, _)| *other != conversation);
                received.push((conversation, seq));
            }
        }
        self.acked = h;
        self.has_asked = false;
        Ok(received)
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }
}

pub(crate) fn write_enabled(out: &mut Vec<u8>, id: Option<&str>) {
    payload::write_enabled(out, id.map(|id| Resumption { id, seconds: DETACHED_SECONDS }));
}

impl Turn<'_, '_> {
    /// An element of stream management. None: the element is of something else.
    pub(crate) fn stream_management(&mut self, element: Element<'_>) -> Option<Result<(), StreamError>> {
        let request = match payload::Request::of(element)? {
            Ok(request) => request,
            Err(_) => return Some(Err(StreamError::new(StreamCondition::BadFormat))),
        };
        Some(match request {
            payload::Request::Enable { resume, .. } => {
                self.enable(resume);
                Ok(())
            }
            payload::Request::Resume { .. } => {
                self.nonza(|out| payload::write_failed(out, Condition::UnexpectedRequest, None));
                Ok(())
            }
            payload::Request::Count => {
                self.send_count();
                Ok(())
            }
            payload::Request::Handled { h } => self.acknowledged(h),
        })
    }

    /// §3: once per stream.
    fn enable(&mut self, resume: bool) {
        if self.session.management().is_some() {
            return self.nonza(|out| payload::write_failed(out, Condition::UnexpectedRequest, None));
        }
        let id = self.start_management(resume);
        self.nonza(|out| write_enabled(out, id.as_deref()));
    }

    /// The id with which the stream can be resumed, if the client wants that.
    pub(crate) fn start_management(&mut self, resume: bool) -> Option<Box<str>> {
        let id = resume.then(|| self.gateway.secret_id());
        if let Some(id) = &id {
            self.gateway.shared.streams.begin(id, self.session.bare(), self.io.handle());
        }
        self.session.begin_management(Counters::new(id.clone()));
        id
    }

    /// §5: the stream goes on in this session. The client gets the stanzas that it has not handled, and then what happened
    /// meanwhile.
    pub(crate) fn go_on(mut self, h: u32, detached: Detached, changes: &Changes) -> Result<(), StreamError> {
        let Detached { jid: _, flags, availability, stream, mut counters, expected, rooms, .. } = detached;
        let received = counters.acknowledge(h)?;
        if let Some(id) = counters.id.clone() {
            self.gateway.shared.streams.begin(&id, self.session.bare(), self.io.handle());
        }
        for one in &counters.unacked {
            self.nonza(|out| out.extend_from_slice(&one.stanza));
        }
        self.session.restore(flags, availability, stream, counters, expected);
        received.into_iter().for_each(|place| self.received(place));
        self.return_to_rooms(rooms, changes);
        self.changes(changes);
        Ok(())
    }

    /// §4. While a message is on its way to the disk, the answer waits for it.
    pub(crate) fn send_count(&mut self) {
        let Some(counters) = self.session.management() else { return };
        if !counters.pending.is_empty() && counters.owes_count {
            return;
        }
        counters.owes_count = !counters.pending.is_empty();
        let handled = counters.handled();
        if !counters.owes_count {
            self.nonza(|out| payload::write_handled(out, handled));
        }
    }

    fn acknowledged(&mut self, h: u32) -> Result<(), StreamError> {
        let Some(counters) = self.session.management() else { return Ok(()) };
        let received = counters.acknowledge(h)?;
        // More was sent since the question.
        if !counters.unacked.is_empty() && counters.asks() {
            self.nonza(payload::write_count);
        }
        received.into_iter().for_each(|place| self.received(place));
        Ok(())
    }
}

/// The streams of all workers that can be resumed.
#[derive(Default)]
pub struct Streams {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The bare JIDs and connections of those that have one.
    live: HashMap<Box<str>, (Box<str>, Handle)>,
    detached: HashMap<Box<str>, Detached>,
    /// Ids in the order in which they were detached; some may have been resumed since.
    order: VecDeque<Box<str>>,
    bytes: usize,
}

/// A stream that a client wants to resume.
pub(crate) enum Found {
    Detached(Box<Detached>),
    /// Its old connection has not ended yet.
    Live(Handle),
    Gone,
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self, id: &str, bare: &str, connection: Handle) {
        self.lock().live.insert(id.into(), (bare.into(), connection));
    }

    /// The stream has ended for good.
    pub(crate) fn end(&self, id: &str) {
        self.lock().live.remove(id);
    }

    /// Its connection is lost: keeps the stream for its client.
    pub(crate) fn detach(&self, detached: Detached) {
        let Some(id) = detached.counters.id.clone() else { return };
        let mut table = self.lock();
        table.live.remove(&id);
        table.bytes += detached.counters.unacked_bytes;
        table.order.push_back(id.clone());
        table.detached.insert(id, detached);
        while table.detached.len() > MOST_DETACHED || table.bytes > MOST_DETACHED_BYTES {
            table.drop_oldest();
        }
    }

    /// Takes the stream of this id, if it belongs to this bare JID. Ids are secrets, so a look-up need not take constant time.
    pub(crate) fn find(&self, id: &str, bare: &str, now: Timestamp) -> Found {
        let mut table = self.lock();
        if let Some((owner, connection)) = table.live.get(id) {
            return if &**owner == bare { Found::Live(*connection) } else { Found::Gone };
        }
        let is_theirs =
            table.detached.get(id).is_some_and(|found| found.jid.bare() == bare && found.until > now);
        match is_theirs.then(|| table.remove(id)).flatten() {
            Some(detached) => Found::Detached(Box::new(detached)),
            None => Found::Gone,
        }
    }

    /// Drops the streams whose time is over.
    pub(crate) fn expire(&self, now: Timestamp) {
        let mut table = self.lock();
        while let Some(id) = table.order.front() {
            if table.detached.get(id).is_some_and(|oldest| oldest.until > now) {
                return;
            }
            table.drop_oldest();
        }
    }
}

impl Table {
    fn drop_oldest(&mut self) {
        if let Some(id) = self.order.pop_front() {
            self.remove(&id);
        }
    }

    fn remove(&mut self, id: &str) -> Option<Detached> {
        let removed = self.detached.remove(id)?;
        self.bytes -= removed.counters.unacked_bytes;
        Some(removed)
    }
}
