//! Stream Management (XEP-0198): acknowledgements in both directions, and streams that outlive their connection.
//!
//! What this server acknowledges is on disk: a message counts as handled once the domain has stored or refused it.
//!
//! A stream whose connection is lost leaves the domain, as every client without a connection does, and is *detached*: its
//! counters, the stanzas that the client has not acknowledged, and its position wait here. A client that resumes signs in
//! again, gets these stanzas, and then the changes since the position from the archive. So nothing piles up for an absent
//! client.

use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::presence::Availability;
use chat::{Changes, ConversationId, Position, Seq, Timestamp};
use edge::Handle;
use rand::Rng;
use serde::{Deserialize, Serialize};
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::stream_management::{self as payload, Resumption};
use xmpp_proto::stanza::Condition;
use xmpp_proto::stream::{StreamCondition, StreamError};
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{Flags, ShownRequest, Turn};
use crate::xep::bookmarks::stored::Shown;
use crate::xep::caps::Wanted;
use crate::xep::jingle::Call;
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
/// Unacknowledged stanzas of detached streams that move to another process.
const MOST_MOVED_BYTES: usize = 4 * 1024 * 1024;

/// The name of a stream that its client can resume. With the secret, nobody can guess it.
///
/// It has the connection on which the stream began, so that no table of streams is needed to find that.
#[derive(Clone, Copy, Eq, Serialize, Deserialize)]
pub struct StreamId {
    #[serde(with = "handle_bits")]
    connection: Handle,
    secret: [u64; 2],
}

impl PartialEq for StreamId {
    /// Takes constant time.
    fn eq(&self, other: &StreamId) -> bool {
        let differs = |at: usize| self.secret[at] ^ other.secret[at];
        (differs(0) | differs(1)) == 0 && self.connection == other.connection
    }
}

impl Hash for StreamId {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.secret.hash(hasher);
    }
}

impl StreamId {
    fn new(connection: Handle, rng: &mut impl Rng) -> StreamId {
        StreamId { connection, secret: rng.random() }
    }

    /// None: no stream has this name.
    pub(crate) fn parse(text: &str) -> Option<StreamId> {
        let bytes: [u8; 24] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let [connection, first, second] =
            [0, 8, 16].map(|at| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("these are 8 bytes")));
        Some(StreamId { connection: Handle::from_bits(connection), secret: [first, second] })
    }

    fn text(self) -> String {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.connection.to_bits().to_be_bytes());
        bytes[8..16].copy_from_slice(&self.secret[0].to_be_bytes());
        bytes[16..].copy_from_slice(&self.secret[1].to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

/// A handle in a record for another process.
mod handle_bits {
    use edge::Handle;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(handle: &Handle, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(handle.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Handle, D::Error> {
        u64::deserialize(from).map(Handle::from_bits)
    }
}

mod jid_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use xmpp_proto::jid::Jid;

    pub(super) fn serialize<S: Serializer>(jid: &Jid, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(jid.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Jid, D::Error> {
        Jid::parse(&String::deserialize(from)?).map_err(|_| D::Error::custom("not a JID"))
    }
}

/// Counters of a stream, and what each side waits for.
#[derive(Serialize, Deserialize)]
pub(crate) struct Counters {
    /// None: the client did not ask for resumption.
    id: Option<StreamId>,
    /// Stanzas of the client.
    received: u32,
    /// Stanzas sent to the client, and acknowledged by it. They wrap (§3).
    sent: u32,
    acked: u32,
    /// The client has asked for the count, and a message is pending.
    owes_count: bool,
    /// An `<r/>` is on its way to the client.
    has_asked: bool,
    /// None on an idle stream.
    waiting: Option<Box<Waiting>>,
}

/// What is not acknowledged.
#[derive(Default, Serialize, Deserialize)]
struct Waiting {
    /// Numbers of the client's messages that the domain has not answered, in order.
    pending: VecDeque<u32>,
    unacked: VecDeque<Unacked>,
    unacked_bytes: usize,
}

/// What the client has not acknowledged.
#[derive(Serialize, Deserialize)]
enum Unacked {
    Stanza {
        stanza: Box<[u8]>,
        /// Of a message, which is received once the client acknowledges it.
        place: Option<(ConversationId, Seq)>,
    },
    /// So many stanzas in a row that a resumption does not repeat: it sends the present state in their place.
    State(u32),
}

/// Whether a stanza is repeated after a resumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Stanza,
    /// The presence of others. It is outdated by then, and copies of it would be most of what a stream keeps after a sign-in.
    State,
}

/// A stream without a connection.
#[derive(Serialize, Deserialize)]
pub(crate) struct Detached {
    #[serde(with = "jid_text")]
    pub(crate) jid: Jid,
    pub(crate) flags: Flags,
    pub(crate) availability: Option<Arc<Availability>>,
    pub(crate) stream: u32,
    pub(crate) counters: Box<Counters>,
    /// The user's messages of which the client waits for a receipt or a marker.
    pub(crate) expected: Vec<Expected>,
    /// The lists of items that the client wants.
    pub(crate) wanted: Option<Arc<Wanted>>,
    /// The rooms in which the client was.
    pub(crate) rooms: Vec<muc::Left>,
    pub(crate) known_rooms: Vec<muc::KnownRoom>,
    /// The message requests that the client has got.
    pub(crate) shown_requests: Vec<ShownRequest>,
    /// The call in which the client was. Its place is kept for 20 s.
    pub(crate) call: Option<Box<Call>>,
    pub(crate) bookmarks: Shown,
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
        if let Some(waiting) = &mut counters.waiting {
            waiting.pending.clear();
        }
        (counters.owes_count, counters.has_asked) = (false, false);
        self.until = Timestamp(now.0 + u64::from(DETACHED_SECONDS) * 1000);
        Some(self)
    }
}

impl Counters {
    fn new(id: Option<StreamId>) -> Counters {
        Counters { id, received: 0, sent: 0, acked: 0, owes_count: false, has_asked: false, waiting: None }
    }

    /// The stanzas up to here are handled: none of them is pending.
    pub(crate) fn handled(&self) -> u32 {
        let first = self.waiting.as_ref().and_then(|waiting| waiting.pending.front());
        first.map_or(self.received, |pending| pending.wrapping_sub(1))
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| !waiting.pending.is_empty())
    }

    /// Bytes of stanzas that the client has not acknowledged.
    fn unacked_bytes(&self) -> usize {
        self.waiting.as_ref().map_or(0, |waiting| waiting.unacked_bytes)
    }

    fn drop_empty(&mut self) {
        if self.waiting.as_ref().is_some_and(|waiting| waiting.is_empty()) {
            self.waiting = None;
        }
    }

    /// A stanza of the client.
    pub(crate) fn count_received(&mut self) {
        self.received = self.received.wrapping_add(1);
    }

    /// The client's last stanza is a message that the domain will answer. Returns its number.
    pub(crate) fn wait_for_last(&mut self) -> u32 {
        self.waiting.get_or_insert_default().pending.push_back(self.received);
        self.received
    }

    /// The domain has answered it. True: a count that the client waits for can be sent now.
    pub(crate) fn answered(&mut self, number: u32) -> bool {
        if let Some(waiting) = &mut self.waiting {
            waiting.pending.retain(|pending| *pending != number);
        }
        self.drop_empty();
        self.owes_count && !self.is_pending()
    }

    /// Counts a sent stanza until the client acknowledges it. True: the client must be asked for its count.
    pub(crate) fn sent(&mut self, stanza: &[u8], repeat: Repeat) -> bool {
        self.sent = self.sent.wrapping_add(1);
        self.waiting.get_or_insert_default().add(stanza, repeat);
        self.asks()
    }

    /// The last stanza was this message.
    pub(crate) fn note_message(&mut self, of: (ConversationId, Seq)) {
        let last = self.waiting.as_mut().and_then(|waiting| waiting.unacked.back_mut());
        if let Some(Unacked::Stanza { place, .. }) = last {
            *place = Some(of);
        }
    }

    /// One question at a time.
    fn asks(&mut self) -> bool {
        !std::mem::replace(&mut self.has_asked, true)
    }

    /// Whether the client has left too much unacknowledged.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.is_full())
    }

    /// The client has handled `h` stanzas (§4). An error ends the stream.
    ///
    /// Returns the last message of each conversation among them.
    fn acknowledge(&mut self, h: u32) -> Result<Vec<(ConversationId, Seq)>, StreamError> {
        let new = h.wrapping_sub(self.acked);
        if new > self.sent.wrapping_sub(self.acked) {
            return Err(payload::handled_count_too_high(h, self.sent));
        }
        let received = self.waiting.as_mut().map(|waiting| waiting.drop_first(new)).unwrap_or_default();
        self.drop_empty();
        (self.acked, self.has_asked) = (h, false);
        Ok(received)
    }

    /// After a resumption: the stanzas that are repeated are the next ones of the count.
    fn repeat(&mut self) {
        let mut repeated = 0;
        if let Some(waiting) = &mut self.waiting {
            waiting.unacked.retain(|one| matches!(one, Unacked::Stanza { .. }));
            repeated = waiting.unacked.len() as u32;
        }
        self.drop_empty();
        self.sent = self.acked.wrapping_add(repeated);
    }

    fn stanzas(&self) -> impl Iterator<Item = &[u8]> {
        let unacked = self.waiting.iter().flat_map(|waiting| &waiting.unacked);
        unacked.filter_map(|one| match one {
            Unacked::Stanza { stanza, .. } => Some(&**stanza),
            Unacked::State(_) => None,
        })
    }

    pub(crate) fn id(&self) -> Option<StreamId> {
        self.id
    }
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.pending.is_empty() && self.unacked.is_empty()
    }

    fn is_full(&self) -> bool {
        self.unacked.len() > MOST_UNACKED || self.unacked_bytes > MOST_UNACKED_BYTES
    }

    fn add(&mut self, stanza: &[u8], repeat: Repeat) {
        match (repeat, self.unacked.back_mut()) {
            (Repeat::State, Some(Unacked::State(count))) => *count += 1,
            (Repeat::State, _) => self.unacked.push_back(Unacked::State(1)),
            (Repeat::Stanza, _) => {
                self.unacked_bytes += stanza.len();
                self.unacked.push_back(Unacked::Stanza { stanza: stanza.into(), place: None });
            }
        }
    }

    /// The last message of each conversation among the first `count` stanzas, which are dropped.
    fn drop_first(&mut self, mut count: u32) -> Vec<(ConversationId, Seq)> {
        let mut received: Vec<(ConversationId, Seq)> = Vec::new();
        while count > 0 {
            match self.unacked.front_mut() {
                Some(Unacked::State(all)) if *all > count => {
                    *all -= count;
                    break;
                }
                Some(Unacked::State(all)) => count -= *all,
                Some(Unacked::Stanza { stanza, place }) => {
                    count -= 1;
                    self.unacked_bytes -= stanza.len();
                    if let Some((conversation, seq)) = *place {
                        received.retain(|(other, _)| *other != conversation);
                        received.push((conversation, seq));
                    }
                }
                None => break,
            }
            self.unacked.pop_front();
        }
        received
    }
}

pub(crate) fn write_enabled(out: &mut Vec<u8>, id: Option<StreamId>) {
    let id = id.map(StreamId::text);
    payload::write_enabled(out, id.as_deref().map(|id| Resumption { id, seconds: DETACHED_SECONDS }));
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
        self.nonza(|out| write_enabled(out, id));
    }

    /// The id with which the stream can be resumed, if the client wants that.
    pub(crate) fn start_management(&mut self, resume: bool) -> Option<StreamId> {
        let id = resume.then(|| StreamId::new(self.io.handle(), &mut self.gateway.rng));
        self.session.begin_management(Box::new(Counters::new(id)));
        id
    }

    /// §5: the stream goes on in this session. The client gets the stanzas that it has not handled, and then what happened
    /// meanwhile.
    pub(crate) fn go_on(mut self, h: u32, detached: Detached, changes: &Changes) -> Result<(), StreamError> {
        let Detached {
            flags,
            availability,
            stream,
            expected,
            wanted,
            rooms,
            known_rooms,
            shown_requests,
            call,
            bookmarks,
            position,
            ..
        } = detached;
        let mut counters = detached.counters;
        let received = counters.acknowledge(h)?;
        counters.repeat();
        if let Some(id) = counters.id {
            self.gateway.shared.streams.moved(id, self.io.handle());
        }
        for stanza in counters.stanzas() {
            self.nonza(|out| out.extend_from_slice(stanza));
        }
        self.session.restore(flags, availability, stream, counters, expected, wanted);
        received.into_iter().for_each(|place| self.received(place));
        if !known_rooms.is_empty() {
            *self.session.know_rooms() = known_rooms;
        }
        if !bookmarks.is_empty() {
            *self.session.shown_bookmarks() = bookmarks;
        }
        self.session.show_requests_again(shown_requests);
        self.return_to_rooms(rooms, changes);
        if let Some(call) = call {
            self.return_to_call(call);
        }
        self.changes(changes, position);
        Ok(())
    }

    /// §4. While a message is on its way to the disk, the answer waits for it.
    pub(crate) fn send_count(&mut self) {
        let Some(counters) = self.session.management() else { return };
        if counters.is_pending() && counters.owes_count {
            return;
        }
        counters.owes_count = counters.is_pending();
        let handled = counters.handled();
        if !counters.owes_count {
            self.nonza(|out| payload::write_handled(out, handled));
        }
    }

    fn acknowledged(&mut self, h: u32) -> Result<(), StreamError> {
        let Some(counters) = self.session.management() else { return Ok(()) };
        let received = counters.acknowledge(h)?;
        // More was sent since the question.
        if counters.sent != counters.acked && counters.asks() {
            self.nonza(payload::write_count);
        }
        received.into_iter().for_each(|place| self.received(place));
        Ok(())
    }
}

/// The streams of all workers that can be resumed and are not on the connection where they began.
#[derive(Default)]
pub struct Streams {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The present connections of streams that were resumed.
    moved: HashMap<StreamId, Handle>,
    detached: HashMap<StreamId, Detached>,
    /// Ids in the order in which they were detached; some may have been resumed since.
    order: VecDeque<StreamId>,
    bytes: usize,
}

impl Streams {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream was resumed on another connection.
    fn moved(&self, id: StreamId, connection: Handle) {
        self.lock().moved.insert(id, connection);
    }

    /// The stream has ended for good.
    pub(crate) fn end(&self, id: StreamId) {
        self.lock().moved.remove(&id);
    }

    /// Its connection is lost: keeps the stream for its client.
    pub(crate) fn detach(&self, detached: Detached) {
        let Some(id) = detached.counters.id else { return };
        let mut table = self.lock();
        table.moved.remove(&id);
        table.bytes += detached.counters.unacked_bytes();
        table.order.push_back(id);
        table.detached.insert(id, detached);
        while table.detached.len() > MOST_DETACHED || table.bytes > MOST_DETACHED_BYTES {
            table.drop_oldest();
        }
    }

    /// Takes the detached stream of this id, if it belongs to this bare JID.
    pub(crate) fn take(&self, id: StreamId, bare: &str, now: Timestamp) -> Option<Box<Detached>> {
        let mut table = self.lock();
        let found = table.detached.get(&id)?;
        let is_theirs = found.jid.bare() == bare && found.until > now;
        is_theirs.then(|| table.remove(id)).flatten().map(Box::new)
    }

    /// The connection that has the stream, if it has not ended. That connection checks the id.
    pub(crate) fn connection(&self, id: StreamId) -> Handle {
        self.lock().moved.get(&id).copied().unwrap_or(id.connection)
    }

    /// The streams for another process, the newest ones within a bound of bytes.
    pub fn write_down(&self) -> String {
        let table = self.lock();
        let mut bytes = 0;
        let newest = table.order.iter().rev().filter_map(|id| table.detached.get(id));
        let mut detached: Vec<&Detached> = newest
            .take_while(|one| {
                bytes += one.counters.unacked_bytes();
                bytes <= MOST_MOVED_BYTES
            })
            .collect();
        detached.reverse();
        let moved = table.moved.iter().map(|(id, handle)| (*id, handle.to_bits())).collect();
        serde_json::to_string(&Record { detached, moved }).unwrap_or_default()
    }

    /// Takes the streams of another process, before this one serves. A record that cannot be read has none: their clients begin new
    /// sessions.
    pub fn continue_streams(&self, record: &str) {
        let Ok(Record::<Detached> { detached, moved }) = serde_json::from_str(record) else { return };
        moved.into_iter().for_each(|(id, handle)| self.moved(id, Handle::from_bits(handle)));
        detached.into_iter().for_each(|one| self.detach(one));
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

/// All streams, for another process. Ids and handles, and the streams in the order in which they were detached.
#[derive(Serialize, Deserialize)]
struct Record<Detached> {
    detached: Vec<Detached>,
    moved: Vec<(StreamId, u64)>,
}

impl Table {
    fn drop_oldest(&mut self) {
        if let Some(id) = self.order.pop_front() {
            self.remove(id);
        }
    }

    fn remove(&mut self, id: StreamId) -> Option<Detached> {
        let removed = self.detached.remove(&id)?;
        self.bytes -= removed.counters.unacked_bytes();
        Some(removed)
    }
}
