//! What a message carries beside its body: the text that the domain keeps as its extension, and gives back to XMPP clients.
//!
//! The first line is the type of the stanza, and whether it is excluded from copies. The child elements follow, in the form
//! for storage: see [`Element::write_stored`].

use xmpp_proto::ns;
use xmpp_proto::payload::carbons;
use xmpp_proto::payload::hints::Hints;
use xmpp_proto::xml::{Element, restore};

use crate::xep::replies;

/// The type of most messages.
const CHAT: &str = "chat";
/// Behind the type of a message that is excluded from copies.
const PRIVATE: &str = " private";

/// The extension of a client's message. None: it is a chat message with nothing but a body.
pub(crate) fn of(message: Element<'_>) -> Option<Box<str>> {
    with(message, is_kept)
}

/// The extension of an answer, which names the answered message otherwise.
pub(crate) fn of_reply(message: Element<'_>) -> Option<Box<str>> {
    with(message, |child| is_kept(child) && !replies::is_reply(child))
}

/// The extension of a message that has a file in the place of its address. `is_answer`: without the elements of an answer.
pub(crate) fn without_address(message: Element<'_>, is_answer: bool) -> Option<Box<str>> {
    let is_address = |child: Element<'_>| child.is("x", ns::OOB);
    with(message, |child| is_kept(child) && !is_address(child) && !(is_answer && replies::is_reply(child)))
}

fn with(message: Element<'_>, is_kept: impl Fn(Element<'_>) -> bool) -> Option<Box<str>> {
    let kind = message.attr("type").filter(|kind| matches!(*kind, "chat" | "headline")).unwrap_or("normal");
    let mut out = Vec::new();
    for child in message.children().filter(|child| is_kept(*child)) {
        child.write_stored(&mut out, ns::CLIENT);
    }
    let private = carbons::is_private(message) || Hints::of(message).no_copy;
    if out.is_empty() && kind == CHAT && !private {
        return None;
    }
    let children = String::from_utf8(out).expect("elements are written from UTF-8");
    let private = if private { PRIVATE } else { "" };
    Some(format!("{kind}{private}\n{children}").into())
}

/// Typing is no part of a message. Only servers give out stanza ids: a client's one would be forged (XEP-0359 §6).
fn is_kept(child: Element<'_>) -> bool {
    match (child.name(), child.ns()) {
        ("body", ns::CLIENT) => child.lang().is_some() && child.attr_ns(ns::XML, "lang").is_some(),
        ("stanza-id", ns::STANZA_IDS) => false,
        ("private", ns::CARBONS) => false,
        // Only rooms write these (XEP-0421 §4, XEP-0045 §7.4, XEP-0317 §8).
        ("occupant-id", ns::OCCUPANT_ID) | ("x", ns::MUC_USER) | ("hats", ns::HATS) => false,
        (_, ns::CHAT_STATES) => false,
        // What a correction changes is the message itself.
        ("replace", ns::CORRECTION) => false,
        _ => true,
    }
}

/// The type of a stored message, and its elements.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) kind: &'a str,
    /// XEP-0280 §9.
    pub(crate) is_private: bool,
    children: &'a str,
}

impl<'a> Stored<'a> {
    /// Messages of the widget have no extension.
    pub(crate) fn of(extension: Option<&'a str>) -> Stored<'a> {
        let (line, children) = extension.and_then(|text| text.split_once('\n')).unwrap_or((CHAT, ""));
        let kind = line.strip_suffix(PRIVATE);
        Stored { kind: kind.unwrap_or(line), is_private: kind.is_some(), children }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        restore(self.children, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xmpp_proto::xml::{Limits, document};

    fn extension(xml: &str) -> Option<String> {
        let xml = format!("<message xmlns='jabber:client' {xml}</message>");
        let tree = document(xml.as_bytes(), &Limits::default()).expect("a stanza");
        of(tree.root()).map(Into::into)
    }

    fn written(extension: &str) -> String {
        let mut out = Vec::new();
        Stored::of(Some(extension)).write(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_chat_message_with_a_body_alone_has_no_extension() {
        assert_eq!(extension("type='chat'><body>hi</body>"), None);
        assert_eq!(
            extension("type='chat'><body>hi</body><active xmlns='http://jabber.org/protocol/chatstates'/>"),
            None
        );
    }

    #[test]
    fn other_elements_are_kept_as_they_are() {
        let kept = extension(
            "><subject>S</subject><body>hi</body><x xmlns='jabber:x:oob'><url>https://a.example/</url></x>",
        );
        let kept = kept.expect("an extension");
        assert_eq!(Stored::of(Some(&kept)).kind, "normal");
        assert_eq!(
            written(&kept),
            "<subject>S</subject><x xmlns='jabber:x:oob'><url>https://a.example/</url></x>"
        );
        assert!(!kept.contains("jabber:x:oob"), "a namespace does not look like a link: {kept}");
    }

    #[test]
    fn an_excluded_message_is_remembered() {
        for inside in ["<private xmlns='urn:xmpp:carbons:2'/>", "<no-copy xmlns='urn:xmpp:hints'/>"] {
            let kept = extension(&format!("type='chat'><body>hi</body>{inside}")).expect("an extension");
            let stored = Stored::of(Some(&kept));
            assert_eq!((stored.kind, stored.is_private), ("chat", true), "{kept}");
        }
        assert!(!Stored::of(Some("normal\n<a/>")).is_private);
    }

    #[test]
    fn a_forged_stanza_id_is_dropped() {
        assert_eq!(
            extension(
                "type='chat'><stanza-id xmlns='urn:xmpp:sid:0' by='anna@forum' id='1'/><body>hi</body>"
            ),
            None
        );
    }
}
