//! XMPP stanzas: a parsed one can be written and read again, and no reader of a payload panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xmpp_proto::payload::*;
use xmpp_proto::sasl::{Request, Request2};
use xmpp_proto::stanza::{StanzaError, StanzaKind};
use xmpp_proto::stream::{StreamError, StreamHeader};
use xmpp_proto::xml::{Element, Limits, document};

fuzz_target!(|input: &[u8]| {
    let limits = Limits::default();
    let Ok(tree) = document(input, &limits) else { return };
    for outer in ["", "jabber:client"] {
        let mut written = Vec::new();
        if !outer.is_empty() {
            written.extend_from_slice(b"<outer xmlns='jabber:client'>");
        }
        tree.root().write(&mut written, outer);
        if !outer.is_empty() {
            written.extend_from_slice(b"</outer>");
        }
        // Declarations can make the second form larger than the first, and its root is one deeper.
        let limits = Limits { stanza_bytes: usize::MAX, depth: u16::MAX, attributes: u16::MAX, ..limits };
        let again = document(&written, &limits).expect("we write well-formed XML");
        let root = if outer.is_empty() { again.root() } else { again.root().first().expect("an element") };
        assert_eq!(root, tree.root());
    }
    read(tree.root());
    for child in tree.root().children() {
        read(child);
    }
});

/// Every reader, on an element that it perhaps is for.
fn read(element: Element<'_>) {
    let mut out = Vec::new();
    let _ = StanzaKind::of(element);
    if let Some(error) = StanzaError::of(element) {
        error.write(&mut out);
    }
    if let Some(error) = StreamError::from_element(element) {
        error.write_frame(&mut out);
    }
    if let Ok(header) = StreamHeader::from_open(element) {
        header.write(&mut out);
    }
    let _ = Request::of(element);
    let _ = Request2::of(element);
    let _ = avatar::infos(element);
    let _ = avatar::data(element);
    let _ = bind2::Request::of(element);
    let _ = blocking::Request::of(element);
    if let Some(bookmark) = bookmarks::Bookmark::of(element) {
        bookmark.write(&mut out);
    }
    let _ = carbons::is_enabled(element);
    let _ = carbons::is_private(element);
    let _ = chat_states::ChatState::of(element);
    let _ = commands::Request::of(element);
    let _ = correction::of(element);
    let _ = csi::ClientState::of(element);
    let _ = data_forms::Form::read(element);
    let _ = delay::Delay::of(element);
    let _ = disco::Info::of(element);
    let _ = displayed::Displayed::of(element);
    let _ = external_services::Request::of(element);
    let body = element.text();
    assert!(fallback::without_fallback(element, "urn:xmpp:reply:0", &body).len() <= body.len());
    let _ = fast::Fast::of(element);
    let _ = forward::of(element);
    let _ = hints::Hints::of(element);
    let _ = invitation::Invitation::of(element);
    let _ = mam::Preferences::of(element);
    if let Some(message) = jingle_messages::JingleMessage::of(element) {
        message.write(&mut out);
    }
    let _ = mam::Query::of(element);
    let _ = markers::Marker::of(element);
    let _ = moderation::Request::of(element);
    let _ = muc::AdminRequest::of_get(element);
    let _ = muc::AdminRequest::of_set(element);
    let _ = muc::Join::of(element);
    let _ = muc::Mediated::of(element);
    let _ = muc::OwnerRequest::of(element);
    let _ = occupant_id::of(element);
    let _ = oob::of(element);
    let _ = private_xml::of(element);
    let _ = pubsub::Request::of(element);
    let _ = push::Request::of(element);
    let _ = reactions::Reactions::of(element);
    let _ = receipts::Receipt::of(element);
    let _ = register::Request::of(element);
    let _ = replies::Reply::of(element);
    let _ = reports::of(element);
    let _ = retraction::of(element);
    let _ = roster::Change::of(element);
    let _ = rsm::Request::of(element);
    let _ = stanza_ids::origin_id(element);
    let _ = stream_management::Request::of(element);
    let _ = upload::Request::of(element);
    let _ = vcard::VCard::of(element);
}
