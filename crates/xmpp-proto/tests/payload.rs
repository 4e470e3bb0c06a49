//! Another implementation reads what we write.

use std::fmt::Debug;

use xmpp_parsers::minidom::Element;
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::disco::{Identity, Info};
use xmpp_proto::payload::roster::{self, Item, Subscription};
use xmpp_proto::payload::*;
use xmpp_proto::stanza::Condition;

const STAMP: DateTime = DateTime(1_278_803_305_007);

/// What the other implementation makes of an element.
fn theirs<T: TryFrom<Element, Error: Debug>>(write: impl FnOnce(&mut Vec<u8>)) -> T {
    let mut out = Vec::new();
    write(&mut out);
    let xml = String::from_utf8(out).unwrap();
    let element: Element = xml.parse().unwrap_or_else(|error| panic!("{xml}: {error}"));
    T::try_from(element).unwrap_or_else(|error| panic!("{xml}: {error:?}"))
}

#[test]
fn rosters() {
    let item = Item {
        jid: "a@example.com",
        name: Some("A & B"),
        subscription: Subscription::Both,
        ask: true,
        approved: false,
        groups: &["one", "two"],
    };
    let read: xmpp_parsers::roster::Roster =
        theirs(|out| roster::write(out, Some("v"), |out| item.write(out)));
    assert_eq!(read.ver.as_deref(), Some("v"));
    let [read] = &read.items[..] else { panic!("{read:?}") };
    assert_eq!((read.jid.as_str(), read.name.as_deref()), ("a@example.com", Some("A & B")));
    assert_eq!(read.subscription, xmpp_parsers::roster::Subscription::Both);
    assert_eq!(read.ask, xmpp_parsers::roster::Ask::Subscribe);
    assert_eq!(read.groups.len(), 2);
}

#[test]
fn service_discovery() {
    let info = Info {
        node: Some("n"),
        identities: vec![Identity { category: "server", kind: "im", name: Some("Kith") }],
        features: vec![ns::DISCO_INFO],
    };
    let read: xmpp_parsers::disco::DiscoInfoResult = theirs(|out| info.write(out, |_| ()));
    assert_eq!((read.node.as_deref(), read.identities[0].type_.as_str()), (Some("n"), "im"));
    assert_eq!(read.features.len(), 1);
    let item = disco::Item { jid: "b.example", node: Some("x"), name: Some("y") };
    let read: xmpp_parsers::disco::DiscoItemsResult =
        theirs(|out| disco::write_items(out, None, |out| item.write(out)));
    assert_eq!((read.items[0].jid.as_str(), read.items[0].node.as_deref()), ("b.example", Some("x")));
}

#[test]
fn facts_about_an_entity() {
    let read: xmpp_parsers::version::VersionResult =
        theirs(|out| version::write(out, "Kith", "1", Some("Linux")));
    assert_eq!((&*read.name, &*read.version, read.os.as_deref()), ("Kith", "1", Some("Linux")));
    let read: xmpp_parsers::time::TimeResult = theirs(|out| time::write(out, STAMP));
    assert_eq!(read.utc.timestamp_millis(), 1_278_803_305_007);
    let _: xmpp_parsers::ping::Ping = theirs(ping::write);
}

#[test]
fn times() {
    let read: xmpp_parsers::delay::Delay =
        theirs(|out| delay::Delay { stamp: STAMP, from: Some("b.example") }.write(out));
    assert_eq!(read.stamp.0.timestamp_millis(), 1_278_803_305_007);
    assert_eq!(read.from.unwrap().as_str(), "b.example");
}

#[test]
fn what_messages_carry() {
    let _: xmpp_parsers::chatstates::ChatState = theirs(|out| chat_states::ChatState::Composing.write(out));
    let read: xmpp_parsers::receipts::Received =
        theirs(|out| receipts::Receipt::Received { id: "1" }.write(out));
    assert_eq!(read.id, "1");
    let read: xmpp_parsers::stanza_id::StanzaId =
        theirs(|out| stanza_ids::write_stanza_id(out, "b.example", "1"));
    assert_eq!((read.by.as_str(), &*read.id), ("b.example", "1"));
    let read: xmpp_parsers::stanza_id::OriginId = theirs(|out| stanza_ids::write_origin_id(out, "1"));
    assert_eq!(read.id, "1");
    let read: xmpp_parsers::message_correct::Replace = theirs(|out| correction::write(out, "1"));
    assert_eq!(read.id, xmpp_parsers::message::Id("1".into()));
    let emoji = vec!["👋".into()];
    let read: xmpp_parsers::reactions::Reactions =
        theirs(|out| reactions::Reactions { id: "1", emoji }.write(out));
    assert_eq!((&*read.id, &*read.reactions[0].emoji), ("1", "👋"));
}

#[test]
fn copies_of_messages() {
    let message = |out: &mut Vec<u8>| {
        out.extend_from_slice(b"<message xmlns='jabber:client' to='a@example.com'><body>b</body></message>");
    };
    let read: xmpp_parsers::carbons::Sent =
        theirs(|out| carbons::write(out, carbons::Direction::Sent, message));
    assert_eq!(read.forwarded.message.to.unwrap().as_str(), "a@example.com");
    let read: xmpp_parsers::forwarding::Forwarded = theirs(|out| forward::write(out, Some(STAMP), message));
    assert_eq!(read.delay.unwrap().stamp.0.timestamp_millis(), 1_278_803_305_007);
}

#[test]
fn stream_management_answers() {
    let resumption = stream_management::Resumption { id: "x", seconds: 300 };
    let read: xmpp_parsers::sm::Enabled =
        theirs(|out| stream_management::write_enabled(out, Some(resumption)));
    assert_eq!((read.id.unwrap().0.as_str(), read.max), ("x", Some(300)));
    let read: xmpp_parsers::sm::Resumed = theirs(|out| stream_management::write_resumed(out, "x", 8));
    assert_eq!((read.previd.0.as_str(), read.h), ("x", 8));
    let failed = |out: &mut Vec<u8>| stream_management::write_failed(out, Condition::ItemNotFound, Some(9));
    let read: xmpp_parsers::sm::Failed = theirs(failed);
    assert_eq!(read.h, Some(9));
    assert_eq!(read.error, Some(xmpp_parsers::stanza_error::DefinedCondition::ItemNotFound));
}

#[test]
fn archives() {
    let found = mam::Found { query_id: Some("f27"), id: "7", stamp: STAMP };
    let message = |out: &mut Vec<u8>| out.extend_from_slice(b"<message xmlns='jabber:client'/>");
    let read: xmpp_parsers::mam::Result_ = theirs(|out| found.write(out, message));
    assert_eq!((read.id.as_str(), read.queryid.unwrap().0.as_str()), ("7", "f27"));
    let page = rsm::Returned { ends: Some(("a", "b")), index: Some(0), count: Some(2) };
    let read: xmpp_parsers::mam::Fin = theirs(|out| mam::write_fin(out, true, &page));
    assert!(read.complete);
    assert_eq!(
        (read.set.first.as_ref().map(|first| &*first.item), read.set.last.as_deref(), read.set.count),
        (Some("a"), Some("b"), Some(2))
    );
}

#[test]
fn forms() {
    let field = data_forms::Field { label: Some("L"), ..data_forms::Field::new("a", &["1"]) };
    let kind = Some(data_forms::FieldKind::ListSingle);
    let field = data_forms::Field { kind, options: &[("1", "one")], ..field };
    let read: xmpp_parsers::data_forms::DataForm =
        theirs(|out| data_forms::write(out, data_forms::FormKind::Form, "urn:x", |out| field.write(out)));
    assert_eq!(read.form_type(), Some("urn:x"));
    let read = read.fields.iter().find(|field| field.var.as_deref() == Some("a")).unwrap();
    assert_eq!((read.values[0].as_str(), read.options[0].value.as_str()), ("1", "1"));
}

#[test]
fn block_lists() {
    let read: xmpp_parsers::blocking::BlocklistResult =
        theirs(|out| blocking::write(out, blocking::Listing::Blocklist, ["a@example.com"]));
    assert_eq!(read.items[0].as_str(), "a@example.com");
}

#[test]
fn pictures_of_users() {
    let photo = vcard::Photo { kind: Some("image/png".into()), data: vec![1, 2] };
    let vcard = vcard::VCard { photo: Some(photo), ..vcard::VCard::default() };
    let read: xmpp_parsers::vcard::VCard = theirs(|out| vcard.write(out));
    assert_eq!(read.photo.unwrap().binval.data, [1, 2]);
    let _: xmpp_parsers::vcard_update::VCardUpdate =
        theirs(|out| vcard::write_photo_hash(out, "01b87fcd030b72895ff8e88db57ec525450f000d"));
    let id = "111f4b3c50d7b0df729d299bc6f8e9ef9066971f";
    let info = avatar::Info { id, bytes: 7, kind: "image/png", width: Some(64), height: Some(64) };
    let read: xmpp_parsers::avatar::Metadata = theirs(|out| avatar::write_infos(out, &[info]));
    assert_eq!((read.infos[0].bytes, read.infos[0].width), (7, Some(64)));
    let read: xmpp_parsers::avatar::Data = theirs(|out| avatar::write_data(out, &[1, 2]));
    assert_eq!(read.data, [1, 2]);
}
