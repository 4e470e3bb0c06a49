//! Messages between users (RFC 6121 §5).

use chat::{ConversationId, MarkerSet, Message, Refusal, Seq, To};
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::payload::hints::Hints;
use xmpp_proto::payload::stanza_ids;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::extension::{self, Stored};
use super::{Session, Turn};
use crate::address::{self, Target};
use crate::xep::stream_management::Counters;

/// Messages of a session that are not stored yet. Above it, its stanzas are refused.
const MOST_SENDING: usize = 256;

/// An id of so many bytes is taken for a random one: 20 hexadecimal digits have 80 bits.
const UNIQUE_ID_BYTES: usize = 20;
/// Leaves room for the prefix within the 255 bytes that the domain takes.
const MOST_ID_BYTES: usize = 240;
/// Between a stream's prefix and an id.
const PREFIX_END: char = '~';

/// A message that the domain has not answered yet.
pub(super) struct Sending {
    client_id: Box<str>,
    /// The stanza's own id and address, for an error.
    id: Option<Box<str>>,
    to: Box<str>,
    /// Among the client's stanzas, if it has enabled stream management.
    number: Option<u32>,
}

impl Turn<'_, '_> {
    pub(super) fn message(&mut self, element: Element<'_>, to: Option<&Jid>, target: Target) {
        let kind = element.attr("type").unwrap_or("normal");
        if kind == "error" {
            return;
        }
        let user = match target {
            Target::User(user) => user,
            Target::Elsewhere => {
                return self.refuse(element, &StanzaError::new(Condition::RemoteServerNotFound));
            }
            Target::Account | Target::Server => {
                return self.refuse(element, &StanzaError::new(Condition::ServiceUnavailable));
            }
        };
        if kind == "groupchat" {
            return self.refuse(element, &StanzaError::new(Condition::ServiceUnavailable));
        }
        if let Some(on) = crate::xep::chat_states::is_composing(element) {
            let to = To::User(user.clone());
            self.command(chat::messages::Command::Typing { to, on });
        }
        let body = element.child("body", ns::CLIENT).map(|body| body.text().into_owned());
        let extension = extension::of(element);
        // Without a body, only what asks for it is kept: an encrypted message does (XEP-0334 §4.4).
        if body.is_none() && !Hints::of(element).store {
            return;
        }
        let (id, to) = (element.attr("id"), to.map_or("", Jid::as_str));
        let client_id = self.client_id(element);
        if self.session.extra().sending.len() >= MOST_SENDING {
            return self.refuse(element, &StanzaError::new(Condition::ResourceConstraint));
        }
        let number = self.session.management().map(Counters::wait_for_last);
        let sending = Sending { client_id: client_id.clone(), id: id.map(Into::into), to: to.into(), number };
        self.session.extra().sending.push(sending);
        self.command(chat::messages::Command::Send {
            client_id,
            to: To::User(user),
            body: body.unwrap_or_default().into(),
            extension,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        });
    }

    /// The id under which the domain stores the message once, however often the client sends it.
    ///
    /// A stanza's id need only be unique within its stream (RFC 6120 §8.1.3), and some clients count from 1 in each. So the place
    /// of a short id is taken by the origin id (XEP-0359 §3), which is unique, or by the id with the stream's own prefix.
    fn client_id(&mut self, element: Element<'_>) -> Box<str> {
        let is_fit =
            |id: &&str| !id.is_empty() && id.len() <= MOST_ID_BYTES && !id.chars().any(char::is_control);
        let id = element.attr("id").filter(is_fit);
        let unique = id.filter(|id| id.len() >= UNIQUE_ID_BYTES);
        if let Some(id) = unique.or_else(|| stanza_ids::origin_id(element).filter(is_fit)) {
            return id.into();
        }
        let random = format!("{:016x}", self.gateway.rng.random::<u64>());
        format!("{:08x}{PREFIX_END}{}", self.session.stream, id.unwrap_or(&random)).into()
    }

    /// The message is on disk.
    pub(super) fn stored(&mut self, client_id: &str) {
        if let Some(sending) = self.session.take_sending(client_id) {
            self.answered(&sending);
        }
    }

    /// The client's count of handled stanzas may have waited for this message.
    fn answered(&mut self, sending: &Sending) {
        if let (Some(number), Some(counters)) = (sending.number, self.session.management())
            && counters.answered(number)
        {
            self.send_count();
        }
    }

    pub(super) fn send_refused(&mut self, client_id: &str, refusal: Refusal) {
        let Some(sending) = self.session.take_sending(client_id) else { return };
        let error = crate::refusal::stanza_error(refusal);
        self.send(|out| {
            Open::new(out, "message")
                .attr("type", "error")
                .attr("from", &sending.to)
                .opt("id", sending.id.as_deref())
                .children(|out| error.write(out));
        });
        self.answered(&sending);
    }

    /// A new message of a conversation.
    pub(super) fn message_event(&mut self, message: &Message) {
        if !message.conversation.is_room() && self.session.wants_messages() {
            self.incoming(message, None);
        }
    }

    /// A message that came while the user had no client (XEP-0203).
    pub(crate) fn delayed_message(&mut self, message: &Message) {
        let domain = self.domain().to_owned();
        let delay = Delay { stamp: DateTime(message.time.0), from: Some(&domain) };
        self.incoming(message, Some(delay));
    }

    fn incoming(&mut self, message: &Message, delay: Option<Delay<'_>>) {
        if message.from.address_local() == self.session.jid.local().unwrap_or_default() {
            return;
        }
        let from = address::user_here(&message.from, self.domain());
        let to = self.session.bare().to_owned();
        let place = (message.conversation, message.seq);
        let stored = Stored::of(message.extension.as_deref());
        let position = message.position.to_string();
        self.send_message(place, |out| {
            Open::new(out, "message")
                .attr("type", stored.kind)
                .attr("from", &from)
                .attr("to", &to)
                .attr("id", &message.client_id)
                .children(|out| {
                    if !message.body.is_empty() {
                        Open::new(out, "body").text(&message.body);
                    }
                    stored.write(out);
                    stanza_ids::write_stanza_id(out, &to, &position);
                    if let Some(delay) = delay {
                        delay.write(out);
                    }
                });
        });
    }
}

impl Turn<'_, '_> {
    /// Sends a message, and marks it as received: once the client has acknowledged it, or at once if it never will.
    fn send_message(&mut self, place: (ConversationId, Seq), write: impl FnOnce(&mut Vec<u8>)) {
        self.send(write);
        match self.session.management() {
            Some(counters) => counters.note_message(place),
            None => self.received(place),
        }
    }

    /// A device of the user has received everything up to this message.
    pub(crate) fn received(&mut self, (conversation, seq): (ConversationId, Seq)) {
        self.command(chat::messages::Command::Mark { conversation, set: MarkerSet::Received(seq) });
    }
}

impl Session {
    fn take_sending(&mut self, client_id: &str) -> Option<Sending> {
        let extra = self.extra.as_mut()?;
        let at = extra.sending.iter().position(|sending| &*sending.client_id == client_id)?;
        let sending = extra.sending.remove(at);
        self.drop_empty_extra();
        Some(sending)
    }
}
