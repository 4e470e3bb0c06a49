//! A message of the domain as a stanza: live, as a copy, or from the archive.

use std::borrow::Cow;

use chat::{Message, MessageKind, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::carbons::{self, Direction};
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::payload::markers::Marker;
use xmpp_proto::payload::receipts::Receipt;
use xmpp_proto::payload::stanza_ids;
use xmpp_proto::xml::Open;

use super::extension::Stored;
use super::message::own_id;
use super::{Flags, Turn, message_text};
use crate::address;
use crate::config::Links;
use crate::xep::replies::Answered;
use crate::xep::{change_id, oob, retractions};

/// A message of a direct conversation, as one of its users receives it.
pub(crate) struct MessageStanza<'a> {
    message: &'a Message,
    text: Cow<'a, str>,
    stored: Stored<'a>,
    /// The message that it answers, if that is known.
    answered: Option<&'a Answered>,
    /// The receiving user is its author.
    pub(crate) is_own: bool,
    from: String,
    to: String,
    /// The own bare JID: the archive that gives the message its id.
    archive: &'a str,
    /// Addresses of the message's files, made for this stanza.
    files: Vec<String>,
    /// For a user of another server, who has no archive here.
    is_remote: bool,
}

impl<'a> MessageStanza<'a> {
    /// None for messages of rooms, and for an own message whose receiver is not known.
    pub(crate) fn of(message: &'a Message, jid: &'a Jid, links: &Links) -> Option<MessageStanza<'a>> {
        if message.conversation.is_room() {
            return None;
        }
        let (domain, archive) = (jid.domain(), jid.bare());
        let is_own = message.from.address_local() == jid.local().unwrap_or_default();
        let is_remote = crate::address::is_inside(jid);
        let (from, to) = match is_own {
            false if is_remote => (address::user(&message.from, domain), archive.to_owned()),
            true => (archive.to_owned(), address::user(message.to.as_ref()?, domain)),
            false => (address::user_here(&message.from, domain), archive.to_owned()),
        };
        let stored = Stored::of(message.extension.as_deref());
        let (text, files) = (message_text::text(message, domain, links), oob::addresses(message, links));
        Some(MessageStanza {
            message,
            text,
            stored,
            answered: None,
            is_own,
            from,
            to,
            archive,
            files,
            is_remote,
        })
    }

    pub(crate) fn answering(self, answered: Option<&'a Answered>) -> MessageStanza<'a> {
        MessageStanza { answered, ..self }
    }

    pub(crate) fn kind(&self) -> &'a str {
        self.stored.kind
    }

    /// Whether its author excludes it from copies (XEP-0280 §9).
    pub(crate) fn is_private(&self) -> bool {
        self.stored.is_private
    }

    /// Bytes that it takes in a stanza, roughly.
    pub(crate) fn size(&self) -> usize {
        const ENVELOPE: usize = 512;
        let of_files: usize = self.files.iter().map(|url| 2 * url.len()).sum();
        ENVELOPE + self.text.len() + self.message.extension.as_deref().map_or(0, str::len) + of_files
    }

    /// The id that the author's client gave the message: its author knows it by this one.
    pub(crate) fn id(&self) -> &'a str {
        let id = &self.message.client_id;
        if self.is_own { own_id(id) } else { id }
    }

    /// Body and extension.
    pub(crate) fn write_content(&self, out: &mut Vec<u8>) {
        if self.message.deleted {
            return retractions::write_tombstone(out, self.message);
        }
        let quotation = self.answered.map_or("", Answered::quotation);
        oob::write_body(out, quotation, &self.text, &self.files);
        if let Some(answered) = self.answered {
            answered.write(out, self.archive.rsplit('@').next().unwrap_or_default());
        }
        self.stored.write(out);
        // The author's app may have asked already.
        let asks = || self.message.extension.as_deref().is_some_and(|stored| stored.contains(ns::RECEIPTS));
        if self.is_remote && !asks() {
            Receipt::Request.write(out);
        }
        // An app that gets a message of the widget tells when it was displayed.
        if !self.is_own && self.message.extension.is_none() && self.message.kind == MessageKind::Text {
            Marker::Markable.write(out);
        }
    }

    /// `ns`: the namespace to declare, inside of another stanza.
    pub(crate) fn write(&self, out: &mut Vec<u8>, ns: Option<&str>, delay: Option<Delay<'_>>) {
        Open::new(out, "message")
            .opt("xmlns", ns)
            .attr("type", self.stored.kind)
            .attr("from", &self.from)
            .attr("to", &self.to)
            .attr("id", self.id())
            .children(|out| {
                self.write_content(out);
                if !self.is_remote {
                    stanza_ids::write_stanza_id(out, self.archive, &self.message.position.to_string());
                }
                if let Some(delay) = delay {
                    delay.write(out);
                }
            });
    }
}

impl Turn<'_, '_> {
    /// A stanza of a user that is not a stored message. One of the own user, from another session, comes as a copy (XEP-0280).
    /// `other`: the receiver of an own one.
    pub(crate) fn send_from(
        &mut self,
        by: &Sub,
        other: &Sub,
        id: Option<&str>,
        children: impl FnOnce(&mut Vec<u8>),
    ) {
        let jid = self.session.jid.clone();
        if !self.session.is_own(by) {
            if self.session.wants_messages() {
                let from = address::user_here(by, jid.domain());
                self.send(|out| {
                    let open = Open::new(out, "message").attr("type", "chat").attr("from", &from);
                    open.attr("to", jid.bare()).opt("id", id).children(children);
                });
            }
        } else if self.session.has(Flags::CARBONS) {
            let to = address::user(other, jid.domain());
            self.send(|out| {
                let open = Open::new(out, "message").attr("type", "chat").attr("from", jid.bare());
                open.attr("to", jid.as_str()).children(|out| {
                    carbons::write(out, Direction::Sent, |out| {
                        let open = Open::new(out, "message").attr("xmlns", ns::CLIENT).attr("type", "chat");
                        open.attr("from", jid.bare()).attr("to", &to).opt("id", id).children(children);
                    });
                });
            });
        }
    }

    /// A change of a message, from its author.
    pub(crate) fn send_change(&mut self, message: &Message, children: impl FnOnce(&mut Vec<u8>)) {
        if let Some(other) = self.session.other_user(message) {
            self.send_from(&message.from, &other, Some(&change_id(message)), children);
        }
    }
}
