//! Message Replies (XEP-0461), as answers of the domain, with the quotation that older clients show (XEP-0428).

use std::ops::Range;

use chat::messages::MessageName;
use chat::{Message, Seq, Sub, To};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::fallback;
use xmpp_proto::payload::replies::Reply;
use xmpp_proto::xml::Element;

use crate::address;
use crate::extensions::{Extension, Spec};
use crate::session::{Turn, own_id, with_file};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(461),
    name: "Message Replies",
    version: "0.2.1",
    scenario: "replies",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const FALLBACK: Extension = Extension {
    spec: Spec::Xep(428),
    name: "Fallback Indication",
    version: "0.2.1",
    scenario: "replies",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Characters of a message that its answer quotes.
const QUOTED: usize = 200;

impl Turn<'_, '_> {
    /// A client answers a message of either user. If the message is not known, the answer is stored as the client wrote it.
    pub(crate) fn reply(&mut self, element: Element<'_>, user: Sub, reply: Reply<'_>) {
        let as_written = self.draft(element, &user);
        let mut draft = as_written.clone();
        draft.body = fallback::without_fallback(element, ns::REPLIES, &as_written.body).into();
        draft.extension = crate::session::extension_of_reply(element);
        draft.with_file = with_file(element, &draft.body, &self.links(), true);
        let is_own =
            reply.to.and_then(|to| Jid::parse(to).ok()).is_some_and(|to| to.bare() == self.session.bare());
        let (mine, theirs) = (self.own_names(reply.id), vec![MessageName::Theirs(reply.id.into())]);
        let names = if is_own { [mine, theirs] } else { [theirs, mine] }.concat();
        let asked = self.counted(element);
        self.find_named(asked, To::User(user), names.into_iter(), move |turn, asked, found| match found {
            Ok(Some(message)) => {
                draft.reply_to = Some(message.seq);
                turn.submit(asked, draft);
            }
            Ok(None) => turn.submit(asked, as_written),
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }
}

/// The text and the extension of an answer without its quotation, as the domain keeps an answer to a message that it knows.
pub(crate) fn without_quotation(element: Element<'_>) -> (Box<str>, Option<Box<str>>) {
    let body = element.child("body", ns::CLIENT).map(|body| body.text().into_owned());
    let body = fallback::without_fallback(element, ns::REPLIES, &body.unwrap_or_default()).into();
    (body, crate::session::extension_of_reply(element))
}

/// A message of a room that another one answers (§3.1): the room's id names it.
pub(crate) struct AnsweredInRoom {
    pub(crate) seq: Seq,
    /// The address of its author in the room, and the quotation; None: only the id is known.
    pub(crate) known: Option<(String, Box<str>)>,
}

impl AnsweredInRoom {
    pub(crate) fn quotation(&self) -> &str {
        self.known.as_ref().map_or("", |(_, quotation)| quotation)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let to = self.known.as_ref().map(|(to, _)| to.as_str());
        Reply { to, id: &self.seq.0.to_string() }.write(out);
        write_fallback(out, self.quotation());
    }
}

/// The part of the body that older clients show.
fn write_fallback(out: &mut Vec<u8>, quotation: &str) {
    let quoted: Range<usize> = 0..quotation.chars().count();
    if !quoted.is_empty() {
        fallback::write(out, ns::REPLIES, quoted);
    }
}

/// The begin of a text, as a quotation that ends a line.
pub(crate) fn quotation_of(body: &str) -> Box<str> {
    let mut quotation = String::new();
    let text: String = body.chars().take(QUOTED).collect();
    for line in text.lines() {
        quotation.push_str("> ");
        quotation.push_str(line);
        quotation.push('\n');
    }
    quotation.into()
}

/// The message that another one answers.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Its author.
    pub(crate) user: Sub,
    id: Box<str>,
    /// The begin of its text, as a quotation that ends a line.
    quotation: Box<str>,
}

impl Answered {
    /// `is_own`: the receiving user is its author.
    pub(crate) fn new(message: &Message, is_own: bool) -> Answered {
        let id = if is_own { own_id(&message.client_id) } else { &message.client_id };
        Answered { user: message.from.clone(), id: id.into(), quotation: quotation_of(&message.body) }
    }

    /// Goes before the text of the answer.
    pub(crate) fn quotation(&self) -> &str {
        &self.quotation
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>, domain: &str) {
        let to = address::user(&self.user, domain);
        Reply { to: Some(&to), id: &self.id }.write(out);
        write_fallback(out, &self.quotation);
    }
}

/// The elements that are mapped to an answer, and so no part of the message.
pub(crate) fn is_reply(child: Element<'_>) -> bool {
    child.is("reply", ns::REPLIES)
        || child.is("fallback", ns::FALLBACK) && child.attr("for") == Some(ns::REPLIES)
}
