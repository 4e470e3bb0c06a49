//! A session in the form in which one process hands it to its successor.

use std::sync::Arc;

use chat::presence::Availability;
use chat::{Sub, UserId};
use edge::{Moves, Now};
use serde::{Deserialize, Serialize};
use xmpp_proto::jid::Jid;
use xmpp_proto::xml::Reader;

use super::{Extra, Flags, Session, ShownRequest, seconds};
use crate::transport::Receiver;
use crate::xep::bookmarks::stored::Shown;
use crate::xep::caps::Wanted;
use crate::xep::jingle::Call;
use crate::xep::muc::{KnownRoom, Left, Visit};
use crate::xep::receipts::Expected;
use crate::xep::stream_management::Counters;

/// A session. What waits for an answer of the domain or of the client is not in it: such a session moves later.
#[derive(Serialize, Deserialize)]
struct Record<'a> {
    receiver: ReceiverRecord,
    jid: String,
    user: UserId,
    heard: u32,
    stream: u32,
    epoch: u32,
    number: u64,
    flags: Flags,
    #[serde(skip_serializing_if = "Option::is_none")]
    availability: Option<Arc<Availability>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    management: Option<Ref<'a, Counters>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wanted: Option<Arc<Wanted>>,
    questions: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<ExtraRecord<'a>>,
}

#[derive(Default, Serialize, Deserialize)]
struct ExtraRecord<'a> {
    last_re: u32,
    blocked: Option<Vec<Sub>>,
    expected: Ref<'a, Vec<Expected>>,
    rooms: Vec<Left>,
    known_rooms: Ref<'a, Vec<KnownRoom>>,
    shown_requests: Ref<'a, Vec<ShownRequest>>,
    bookmarks: Ref<'a, Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Ref<'a, Call>>,
}

#[derive(Serialize, Deserialize)]
enum ReceiverRecord {
    Tcp(Vec<(Box<str>, Box<str>)>),
    WebSocket(Vec<u8>),
}

/// Written from a reference, and read as a value.
enum Ref<'a, T> {
    Borrowed(&'a T),
    Owned(T),
}

impl<T> Ref<'_, T> {
    /// None: it was not read.
    fn owned(self) -> Option<T> {
        match self {
            Ref::Owned(value) => Some(value),
            Ref::Borrowed(_) => None,
        }
    }
}

impl<T: Default> Default for Ref<'_, T> {
    fn default() -> Self {
        Ref::Owned(T::default())
    }
}

impl<T: Serialize> Serialize for Ref<'_, T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Ref::Borrowed(value) => value.serialize(to),
            Ref::Owned(value) => value.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ref<'_, T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Ref::Owned)
    }
}

impl Session {
    pub(crate) fn moves(&self) -> Moves {
        let is_between = match &self.receiver {
            Receiver::Tcp(reader) => reader.prefixes_between_stanzas().is_some(),
            Receiver::WebSocket(_) => true,
            Receiver::Bosh | Receiver::None => return Moves::Never,
        };
        let is_pending = self.management.as_ref().is_some_and(|counters| counters.is_pending());
        if !is_between || is_pending || self.has(Flags::PAUSED) {
            return Moves::Soon;
        }
        let Some(extra) = &self.extra else { return Moves::Now };
        let Extra { asked, sending, missed, held, visits, question, for_remote, .. } = &**extra;
        let is_idle = visits.iter().all(Visit::is_shown)
            && asked.is_empty()
            && sending.is_empty()
            && held.is_none()
            && missed.is_empty();
        let is_idle = is_idle && question.is_none() && for_remote.is_none();
        if is_idle { Moves::Now } else { Moves::Soon }
    }

    /// None: it does not move now.
    pub(crate) fn export(&self) -> Option<Vec<u8>> {
        if self.moves() != Moves::Now {
            return None;
        }
        let receiver = match &self.receiver {
            Receiver::Tcp(reader) => ReceiverRecord::Tcp(reader.prefixes_between_stanzas()?.to_vec()),
            Receiver::WebSocket(reader) => ReceiverRecord::WebSocket(reader.export()),
            Receiver::Bosh | Receiver::None => return None,
        };
        let extra = self.extra.as_deref().map(|extra| ExtraRecord {
            last_re: extra.last_re,
            blocked: extra.blocked.clone(),
            expected: Ref::Borrowed(&extra.expected),
            rooms: extra.visits.iter().filter_map(Visit::left).collect(),
            known_rooms: Ref::Borrowed(&extra.known_rooms),
            shown_requests: Ref::Borrowed(&extra.shown_requests),
            bookmarks: Ref::Borrowed(&extra.bookmarks),
            call: extra.call.as_deref().map(Ref::Borrowed),
        });
        let record = Record {
            receiver,
            jid: self.jid.to_string(),
            user: self.user,
            heard: self.heard,
            stream: self.stream,
            epoch: self.epoch,
            number: self.number,
            flags: self.flags,
            availability: self.availability.clone(),
            management: self.management.as_deref().map(Ref::Borrowed),
            wanted: self.wanted.clone(),
            questions: self.questions,
            extra,
        };
        serde_json::to_vec(&record).ok()
    }

    /// The client gets the whole idle time again, because the two processes may have different steady clocks.
    pub(crate) fn import(record: &[u8], now: Now) -> Option<Session> {
        let record: Record<'_> = serde_json::from_slice(record).ok()?;
        let receiver = match record.receiver {
            ReceiverRecord::Tcp(prefixes) => Receiver::Tcp(Reader::between_stanzas(prefixes)),
            ReceiverRecord::WebSocket(reader) => {
                Receiver::WebSocket(http_proto::websocket::Reader::import(&reader)?)
            }
        };
        let management = match record.management {
            Some(counters) => Some(Box::new(counters.owned()?)),
            None => None,
        };
        let extra = match record.extra {
            Some(extra) => Some(Box::new(Extra {
                last_re: extra.last_re,
                blocked: extra.blocked,
                expected: extra.expected.owned()?,
                // The domain says that the session is behind, and then it enters them again.
                visits: extra.rooms.into_iter().map(Visit::again).collect(),
                known_rooms: extra.known_rooms.owned()?,
                shown_requests: extra.shown_requests.owned()?,
                bookmarks: extra.bookmarks.owned()?,
                call: match extra.call {
                    Some(call) => Some(Box::new(call.owned()?)),
                    None => None,
                },
                ..Extra::default()
            })),
            None => None,
        };
        Some(Session {
            receiver,
            jid: Jid::parse(&record.jid).ok()?,
            user: record.user,
            heard: seconds(now),
            stream: record.stream,
            epoch: record.epoch,
            number: record.number,
            flags: record.flags,
            availability: record.availability,
            management,
            wanted: record.wanted,
            questions: record.questions,
            extra,
        })
    }
}
