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

/// Reads an element with the other implementation.
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
fn reports_of_others_are_read() {
    let xml = "<report xmlns='urn:xmpp:reporting:1' reason='urn:xmpp:reporting:abuse'>\
               <stanza-id xmlns='urn:xmpp:sid:0' by='b@example.com' id='7'/><text>why</text></report>";
    let theirs = xmpp_parsers::spam_reporting::Report::try_from(xml.parse::<Element>().unwrap()).unwrap();
    let theirs = String::from(&Element::from(theirs));
    let block = format!("<block xmlns='urn:xmpp:blocking'><item jid='a@example.com'>{theirs}</item></block>");
    let tree = xmpp_proto::xml::document(block.as_bytes(), &xmpp_proto::xml::Limits::default()).unwrap();
    let read = reports::of(tree.root()).unwrap();
    assert_eq!(
        (read[0].reason, &read[0].messages[..]),
        (reports::Reason::Abuse, &[("b@example.com", "7")][..])
    );
    assert_eq!(read[0].text.as_deref(), Some("why"));
}

#[test]
fn preferences_of_an_archive() {
    let read: xmpp_parsers::mam_prefs::Prefs = theirs(mam::write_preferences);
    assert_eq!(read.default_, xmpp_parsers::mam_prefs::DefaultPrefs::Always);
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

#[test]
fn personal_events() {
    let item = |out: &mut Vec<u8>| {
        pubsub::write_item(out, "i", |out| displayed::Displayed { by: "a@example.com", id: "1" }.write(out));
    };
    let read: xmpp_parsers::pubsub::PubSub = theirs(|out| pubsub::write_items(out, "n", None, item));
    assert!(matches!(read, xmpp_parsers::pubsub::PubSub::Items(items) if items.items.len() == 1));
    let read: xmpp_parsers::pubsub::PubSub = theirs(|out| pubsub::write_published(out, "n", "i"));
    assert!(matches!(read, xmpp_parsers::pubsub::PubSub::Publish { .. }));
    for write in [
        &(|out: &mut Vec<u8>| pubsub::write_event(out, "n", item)) as &dyn Fn(&mut Vec<u8>),
        &|out| pubsub::Event::Retracted { id: "i" }.write(out, "n"),
        &|out| pubsub::Event::Purged.write(out, "n"),
        &|out| pubsub::Event::Deleted.write(out, "n"),
    ] {
        let _: xmpp_parsers::pubsub::Event = theirs(write);
    }
    let bookmark = bookmarks::Bookmark { name: Some("R"), autojoin: true, ..bookmarks::Bookmark::default() };
    let read: xmpp_parsers::bookmarks2::Conference = theirs(|out| bookmark.write(out));
    assert_eq!((read.name.as_deref(), read.autojoin), (Some("R"), true));
    let _: xmpp_parsers::message_displayed::Displayed =
        theirs(|out| displayed::Displayed { by: "a@example.com", id: "1" }.write(out));
}

#[test]
fn files_and_services() {
    let headers = [("Authorization", "Basic x")];
    let slot = upload::Slot { put: "https://u.example/1", get: "https://g.example/1", headers: &headers };
    let read: xmpp_parsers::http_upload::SlotResult = theirs(|out| slot.write(out));
    assert_eq!((&*read.put.url, &*read.get.url, read.put.headers.len()), (slot.put, slot.get, 1));
    let credentials = external_services::Credentials { username: "u", password: "p", expires: STAMP };
    let (kind, transport, credentials) = ("turn", "udp", Some(credentials));
    let service = external_services::Service { kind, host: "t.example", port: 3478, transport, credentials };
    let request = external_services::Request::Services { kind: None };
    let read: xmpp_parsers::extdisco::ServicesResult =
        theirs(|out| external_services::write(out, request, |out| service.write(out)));
    assert_eq!(read.services.len(), 1);
    let read: xmpp_parsers::oob::Oob = theirs(|out| oob::write(out, "https://g.example/1"));
    assert_eq!(read.url, "https://g.example/1");
}

#[test]
fn rooms() {
    let (affiliation, role) = (muc::Affiliation::Member, muc::Role::Participant);
    let jid = Some("a@example.com/b");
    let item = muc::Item { affiliation, role, jid, nick: None, actor: Some("m"), reason: Some("r") };
    for code in [
        muc::Status::NonAnonymous,
        muc::Status::AffiliationChangedWhileAway,
        muc::Status::ConfigurationChanged,
        muc::Status::OwnPresence,
        muc::Status::LoggingEnabled,
        muc::Status::LoggingDisabled,
        muc::Status::NowNonAnonymous,
        muc::Status::NowSemiAnonymous,
        muc::Status::RoomCreated,
        muc::Status::NickAssigned,
        muc::Status::Banned,
        muc::Status::NewNick,
        muc::Status::Kicked,
        muc::Status::RemovedByAffiliation,
        muc::Status::RemovedByMembersOnly,
        muc::Status::ServiceShutdown,
        muc::Status::RemovedByError,
    ] {
        let read: xmpp_parsers::muc::MucUser =
            theirs(|out| muc::write_user(out, Some(&item), &[code], |_| ()));
        assert_eq!((read.status.len(), read.items.len()), (1, 1), "{code:?}");
    }
    let read: xmpp_parsers::muc::MucUser = theirs(|out| {
        muc::write_user(out, None, &[], |out| {
            muc::Mediated::write(out, "invite", "a@example.com", Some("r"))
        });
    });
    assert_eq!(read.invite.unwrap().reason.as_deref(), Some("r"));
    let read: xmpp_parsers::occupant_id::OccupantId = theirs(|out| occupant_id::write(out, "dd72"));
    assert_eq!(read.id, "dd72");
}

#[test]
fn streams_of_few_round_trips() {
    let _: xmpp_parsers::bind2::BindFeature = theirs(bind2::write_feature);
    let _: xmpp_parsers::bind2::Bound = theirs(|out| bind2::write_bound(out, |_| ()));
    let read: xmpp_parsers::fast::Token = theirs(|out| fast::Token { token: "t", expiry: STAMP }.write(out));
    assert_eq!((&*read.token, read.expiry.0.timestamp_millis()), ("t", 1_278_803_305_007));
    let read: xmpp_parsers::stream_limits::Limits =
        theirs(|out| stream_limits::write(out, 262_144, Some(60)));
    assert_eq!((read.max_bytes.map(u32::from), read.idle_seconds.map(u32::from)), (Some(262_144), Some(60)));
}

#[test]
fn authentications() {
    use xmpp_proto::sasl::{self, BindingKind, HtMechanism, Mechanism, SaslError};
    let read: xmpp_parsers::sasl2::Authentication = theirs(|out| {
        sasl::write_authentication(out, &[Mechanism::Plain, Mechanism::ScramSha256], |out| {
            bind2::write_feature(out);
            fast::write_feature(out, &HtMechanism::ALL);
        });
    });
    assert_eq!(read.mechanisms, ["SCRAM-SHA-256", "PLAIN"]);
    let read: xmpp_parsers::sasl2::Success = theirs(|out| {
        sasl::Success2 { data: Some(b"ab"), identifier: "a@example.com/b" }.write(out, |_| ());
    });
    assert_eq!(
        (read.additional_data.as_deref(), read.authorization_identifier.as_str()),
        (Some(&b"ab"[..]), "a@example.com/b")
    );
    let _: xmpp_parsers::sasl2::Challenge = theirs(|out| sasl::write_challenge2(out, b"ab"));
    let _: xmpp_parsers::sasl2::Failure =
        theirs(|out| sasl::write_failure2(out, SaslError::NotAuthorized, None));
    let read: xmpp_parsers::sasl::Success = theirs(|out| sasl::write_success(out, Some(b"ab")));
    assert_eq!(read.data, b"ab");
    let _: xmpp_parsers::sasl::Failure = theirs(|out| SaslError::MalformedRequest.write(Some("why"), out));
    let read: xmpp_parsers::sasl_cb::SaslChannelBinding = theirs(|out| {
        sasl::write_channel_bindings(out, [BindingKind::TlsExporter, BindingKind::TlsServerEndPoint])
    });
    assert_eq!(read.types.len(), 2);
}
