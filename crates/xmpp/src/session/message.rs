//! Messages between users (RFC 6121 §5).

use chat::messages::MessageName;
use chat::{ConversationId, FileId, MarkerSet, Message, Refusal, Seq, Sub, To};
use rand::Rng;
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::payload::hints::Hints;
use xmpp_proto::payload::reactions::Reactions;
use xmpp_proto::payload::replies::Reply;
use xmpp_proto::payload::{correction, fallback, retraction, stanza_ids};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Element;

use super::{Arrival, Asked, MessageStanza, Session, Turn, extension};
use crate::address::Target;
use crate::config::Links;
use crate::xep::http_upload::{self, WithFile};
use crate::xep::muc::Reflection;
use crate::xep::receipts::{Expected, Wanted};
use crate::xep::replies::Answered;
use crate::xep::{markers, receipts};

/// Messages of a session that are not stored yet. Above it, its stanzas are refused.
const MOST_SENDING: usize = 256;

/// An id of so many bytes is taken for a random one: 20 hexadecimal digits have 80 bits.
const UNIQUE_ID_BYTES: usize = 20;
/// Leaves room for the prefix within the 255 bytes that the domain takes.
const MOST_ID_BYTES: usize = 240;
/// Hexadecimal digits of a stream's prefix, and the character between it and an id.
const PREFIX_DIGITS: usize = 8;
const PREFIX_END: char = '~';

/// The id that the author's client gave the message: without the prefix of its stream.
pub(crate) fn own_id(client_id: &str) -> &str {
    match client_id.split_once(PREFIX_END) {
        Some((prefix, id))
            if prefix.len() == PREFIX_DIGITS && prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            id
        }
        _ => client_id,
    }
}

/// A message that the domain has not answered yet.
pub(super) struct Sending {
    client_id: Box<str>,
    asked: Asked,
    wanted: Wanted,
    /// A room sends the message back.
    reflection: Option<Box<Reflection>>,
}

/// A message of the client.
#[derive(Clone)]
pub(crate) struct Draft {
    client_id: Box<str>,
    to: Sub,
    pub(crate) body: Box<str>,
    pub(crate) extension: Option<Box<str>>,
    pub(crate) reply_to: Option<Seq>,
    /// It has the address of a file of this node, which may be its author's.
    pub(crate) with_file: Option<Box<WithFile>>,
    files: Vec<FileId>,
    wanted: Wanted,
}

/// A message of the client to a room, before it is sent.
struct RoomDraft {
    client_id: Box<str>,
    reflection: Reflection,
    body: Box<str>,
    extension: Option<Box<str>>,
    with_file: Option<Box<WithFile>>,
    reply_to: Option<Seq>,
}

/// The message with a file, if it has the address of one. `is_answer`: its extension has no elements of an answer.
pub(crate) fn with_file(
    message: Element<'_>,
    body: &str,
    links: &Links,
    is_answer: bool,
) -> Option<Box<WithFile>> {
    let (file, url) = http_upload::named_file(message, body, links)?;
    let extension = extension::without_address(message, is_answer);
    Some(Box::new(WithFile { file, body: http_upload::without_address(body, &url), extension }))
}

impl Turn<'_, '_> {
    pub(super) fn client_message(&mut self, element: Element<'_>, target: Target) {
        let kind = element.attr("type").unwrap_or("normal");
        if kind == "error" {
            return;
        }
        if self.jingle_message(element, &target) {
            return;
        }
        if let Target::User(invited) = &target
            && self.direct_invitation(element, invited)
        {
            return;
        }
        let user = match target {
            Target::User(user) => user,
            Target::Room(number) => {
                return self.room_message(element, number);
            }
            Target::Elsewhere => {
                return self.refuse(element, &StanzaError::new(Condition::RemoteServerNotFound));
            }
            Target::Account | Target::Server | Target::Rooms => {
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
        if let Some(id) = retraction::of(element) {
            return self.retract(element, user, id);
        }
        if let Some(reactions) = Reactions::of(element) {
            return self.react(element, user, &reactions);
        }
        let has_body = element.child("body", ns::CLIENT).is_some();
        if !has_body && let Some(name) = markers::displayed(element, self.session.bare()) {
            return self.mark_read(user, name);
        }
        if self.is_of_server() && !has_body && self.receipt_of_server(element, &user) {
            return;
        }
        // Without a body, only what asks for it is kept: an encrypted message does (XEP-0334 §4.4).
        if !has_body && (!Hints::of(element).store || receipts::is_receipt(element)) {
            return;
        }
        if self.session.extra().sending.len() >= MOST_SENDING {
            return self.refuse(element, &StanzaError::new(Condition::ResourceConstraint));
        }
        if let Some(id) = correction::of(element) {
            return self.correct(element, user, id);
        }
        if let Some(reply) = Reply::of(element) {
            return self.reply(element, user, reply);
        }
        let draft = self.draft(element, &user);
        let asked = self.counted(element);
        self.submit(asked, draft);
    }

    /// The message of a stanza.
    pub(crate) fn draft(&mut self, element: Element<'_>, user: &Sub) -> Draft {
        let body = element.child("body", ns::CLIENT).map(|body| body.text().into_owned());
        let body: Box<str> = body.unwrap_or_default().into();
        Draft {
            client_id: self.client_id(element),
            to: user.clone(),
            with_file: with_file(element, &body, &self.links(), false),
            body,
            extension: extension::of(element),
            reply_to: None,
            files: Vec::new(),
            wanted: Wanted::of(element),
        }
    }

    /// Sends a new message.
    pub(crate) fn submit(&mut self, asked: Asked, mut draft: Draft) {
        if let Some(with_file) = draft.with_file.take() {
            let WithFile { file, body, extension } = *with_file;
            return self.with_file(asked, file, move |turn, asked, may_have| {
                if may_have {
                    draft = Draft { body, extension, files: vec![file], ..draft };
                }
                turn.submit(asked, draft);
            });
        }
        let Draft { client_id, to, body, extension, reply_to, with_file: _, files, wanted } = draft;
        if to.remote_address().is_some() {
            let (site, handle) = (self.session.user.site, self.io.handle());
            self.gateway.shared.remote_users.sent(site, &client_id, handle);
        }
        let sending = Sending { client_id: client_id.clone(), asked, wanted, reflection: None };
        self.session.extra().sending.push(sending);
        self.command(chat::messages::Command::Send {
            client_id,
            to: To::User(to),
            body,
            extension,
            reply_to,
            files,
            rich: None,
        });
    }

    /// Sends a message of the client to a room. An answer to a message that the room has loses its quotation (XEP-0461).
    pub(crate) fn submit_to_room(&mut self, element: Element<'_>, room: ConversationId, body: Box<str>) {
        if self.session.extra().sending.len() >= MOST_SENDING {
            return self.refuse(element, &StanzaError::new(Condition::ResourceConstraint));
        }
        let (client_id, extension) = (self.client_id(element), extension::of(element));
        // The author's client gets what it has sent, also if others get a file in the place of its address.
        let reflection = Reflection::new(room, element.attr("id"), &body, extension.as_deref());
        let asked = self.counted(element);
        let with_file_of =
            |turn: &Self, body: &str, is_answer| with_file(element, body, &turn.links(), is_answer);
        let as_written = RoomDraft {
            client_id,
            with_file: with_file_of(self, &body, false),
            reflection,
            body,
            extension,
            reply_to: None,
        };
        let answered = Reply::of(element).and_then(|reply| reply.id.parse().ok()).map(Seq);
        let Some(seq) = answered else { return self.submit_room_draft(asked, as_written) };
        let rest: Box<str> = fallback::without_fallback(element, ns::REPLIES, &as_written.body).into();
        let extension = extension::of_reply(element);
        let with_file = with_file_of(self, &rest, true);
        let names = vec![MessageName::Seq(seq)].into_iter();
        self.find_named(asked, To::Conversation(room), names, move |turn, asked, found| {
            let draft = match found {
                Ok(Some(_)) => {
                    RoomDraft { body: rest, extension, with_file, reply_to: Some(seq), ..as_written }
                }
                Ok(None) => as_written,
                Err(refusal) => return turn.fail(&asked, refusal),
            };
            turn.submit_room_draft(asked, draft);
        });
    }

    fn submit_room_draft(&mut self, asked: Asked, mut draft: RoomDraft) {
        let Some(with_file) = draft.with_file.take() else {
            return self.submit_reflected(asked, draft, Vec::new());
        };
        self.with_file(asked, with_file.file, move |turn, asked, may_have| {
            let WithFile { file, body, extension } = *with_file;
            match may_have {
                true => turn.submit_reflected(asked, RoomDraft { body, extension, ..draft }, vec![file]),
                false => turn.submit_reflected(asked, draft, Vec::new()),
            }
        });
    }

    fn submit_reflected(&mut self, asked: Asked, draft: RoomDraft, files: Vec<FileId>) {
        let RoomDraft { client_id, reflection, body, extension, reply_to, with_file: _ } = draft;
        let to = To::Conversation(reflection.room());
        let (wanted, reflection) = (Wanted::default(), Some(Box::new(reflection)));
        let sending = Sending { client_id: client_id.clone(), asked, wanted, reflection };
        self.session.extra().sending.push(sending);
        self.command(chat::messages::Command::Send {
            client_id,
            to,
            body,
            extension,
            reply_to,
            files,
            rich: None,
        });
    }

    /// The names of an own message that a client calls so: a short id has the prefix of this stream.
    pub(crate) fn own_names(&self, id: &str) -> Vec<MessageName> {
        let as_it_is = MessageName::Mine(id.into());
        match id.len() >= UNIQUE_ID_BYTES {
            true => vec![as_it_is],
            false => vec![MessageName::Mine(self.prefixed(id)), as_it_is],
        }
    }

    fn prefixed(&self, id: &str) -> Box<str> {
        format!("{:08x}{PREFIX_END}{id}", self.session.stream).into()
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
        self.prefixed(id.unwrap_or(&random))
    }

    /// The message is on disk.
    pub(super) fn stored(&mut self, client_id: &str, conversation: ConversationId, seq: Seq) {
        self.answered_by_message(conversation, seq);
        if let Some(sending) = self.session.take_sending(client_id) {
            if let Some(reflection) = &sending.reflection {
                self.reflect(reflection, Some(seq));
            }
            if let Some(expected) = Expected::new(conversation, seq, &sending.asked.id, sending.wanted) {
                self.session.expect(expected);
            }
            self.done(&sending.asked);
        }
    }

    /// The message waits for a moderator. Its author must not see that.
    pub(super) fn held_by_filter(&mut self, client_id: &str) {
        if let Some(sending) = self.session.take_sending(client_id) {
            if let Some(reflection) = &sending.reflection {
                self.reflect(reflection, None);
            }
            self.done(&sending.asked);
        }
    }

    /// The client's count of handled stanzas may have waited for this one.
    pub(super) fn count_answered(&mut self, number: Option<u32>) {
        if let (Some(number), Some(counters)) = (number, self.session.management())
            && counters.answered(number)
        {
            self.send_count();
        }
    }

    pub(super) fn send_refused(&mut self, client_id: &str, refusal: Refusal) {
        if let Some(sending) = self.session.take_sending(client_id) {
            self.fail(&sending.asked, refusal);
        }
    }

    /// Sends a message of a direct conversation to the client. `answered`: the message that it answers.
    pub(super) fn write_message(&mut self, message: &Message, arrival: Arrival, answered: Option<&Answered>) {
        let jid = self.session.jid.clone();
        let links = self.links();
        let Some(stanza) = MessageStanza::of(message, &jid, &links) else { return };
        let stanza = stanza.answering(answered);
        let delay = Delay { stamp: DateTime(message.time.0), from: Some(jid.domain()) };
        let delay = Some(delay).filter(|_| arrival == Arrival::Earlier);
        match stanza.is_own {
            true => self.sent_elsewhere(&stanza, delay),
            false => {
                self.send_message((message.conversation, message.seq), |out| stanza.write(out, None, delay))
            }
        }
    }
}

impl Turn<'_, '_> {
    /// Sends a message, and marks it as received: once the client has acknowledged it, or at once if it never will.
    fn send_message(&mut self, place: (ConversationId, Seq), write: impl FnOnce(&mut Vec<u8>)) {
        self.send(write);
        self.note_sent(place);
    }

    /// The last stanza was this message.
    pub(crate) fn note_sent(&mut self, place: (ConversationId, Seq)) {
        // Another server says when a device has it.
        if self.is_of_server() {
            return;
        }
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
    /// Whether the domain has not answered yet whether it has stored the message.
    pub(super) fn is_sending(&self, client_id: &str) -> bool {
        let sending = self.extra.as_ref().map(|extra| &extra.sending[..]).unwrap_or_default();
        sending.iter().any(|one| &*one.client_id == client_id)
    }

    fn take_sending(&mut self, client_id: &str) -> Option<Sending> {
        let extra = self.extra.as_mut()?;
        let at = extra.sending.iter().position(|sending| &*sending.client_id == client_id)?;
        let sending = extra.sending.remove(at);
        self.drop_empty_extra();
        Some(sending)
    }
}

#[cfg(test)]
mod tests {
    use super::own_id;

    #[test]
    fn an_author_sees_the_id_of_the_client() {
        for (client_id, expected) in [
            ("0a1b2c3d~1", "1"),
            ("0a1b2c3d~a~b", "a~b"),
            ("b5f8c1de-0000-4000-8000-000000000002", "b5f8c1de-0000-4000-8000-000000000002"),
            ("longer-than-8~1", "longer-than-8~1"),
            ("~1", "~1"),
            ("not-hex!~1", "not-hex!~1"),
        ] {
            assert_eq!(own_id(client_id), expected);
        }
    }
}
