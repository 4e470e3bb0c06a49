//! The payloads of stanzas: one file for each specification.
//!
//! Readers are called `of`. For an `iq` they take its payload, for the others the message or presence that carries the
//! element. None is returned if the element is missing or is not what the specification requires. Readers of requests
//! return the [`Condition`](crate::stanza::Condition) of the refusal instead. Writers append the element to an output
//! buffer, at a place where `jabber:client` is the default namespace.

pub mod avatar;
pub mod bidi;
pub mod bind2;
pub mod blocking;
pub mod bookmarks;
pub mod caps;
pub mod carbons;
pub mod chat_states;
pub mod commands;
pub mod components;
pub mod correction;
pub mod csi;
pub mod data_forms;
pub mod date_time;
pub mod delay;
pub mod dialback;
pub mod disco;
pub mod displayed;
pub mod external_services;
pub mod fallback;
pub mod fast;
pub mod forward;
pub mod hats;
pub mod hints;
pub mod invitation;
pub mod jingle;
pub mod jingle_messages;
pub mod jingle_rtp;
pub mod last_activity;
pub mod mam;
pub mod markers;
pub mod moderation;
pub mod muc;
pub mod occupant_id;
pub mod oob;
pub mod ping;
pub mod private_xml;
pub mod pubsub;
pub mod push;
pub mod reactions;
pub mod receipts;
pub mod register;
pub mod replies;
pub mod reports;
pub mod retraction;
pub mod roster;
pub mod rsm;
pub mod stanza_ids;
pub mod stream_limits;
pub mod stream_management;
pub mod time;
pub mod upload;
pub mod vcard;
pub mod version;

#[cfg(test)]
fn read(xml: &str) -> crate::xml::Tree {
    let xml = format!("<x xmlns='jabber:client'>{xml}</x>");
    let wrapped = crate::xml::document(xml.as_bytes(), &crate::xml::Limits::default())
        .expect("the test's XML is right");
    let mut out = Vec::new();
    wrapped.root().first().expect("an element").write(&mut out, "");
    crate::xml::document(&out, &crate::xml::Limits::default()).expect("it was written by us")
}

#[cfg(test)]
fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("text")
}
