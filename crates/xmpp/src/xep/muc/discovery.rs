//! Service discovery of rooms (XEP-0045 §6).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::rooms::{Command, Event as RoomsEvent};
use chat::{ConversationId, Delivery, Event, PageOf, RoomKind};
use xmpp_proto::ns;
use xmpp_proto::payload::data_forms::{self, Field, FormKind};
use xmpp_proto::payload::disco::{Identity, Info, Item, write_items};
use xmpp_proto::payload::rsm::{Page, Request, Returned};
use xmpp_proto::stanza::{Condition, StanzaError};

use super::address_of;
use crate::session::{Asked, Iq, Turn};

const SERVICE_FEATURES: &[&str] =
    &[ns::DISCO_INFO, ns::DISCO_ITEMS, ns::MUC, ns::OCCUPANT_ID, ns::HATS, ns::RSM];
/// Of every room. XEP-0410 §3.3 names the second one.
const ROOM_FEATURES: &[&str] = &[
    ns::MUC,
    "http://jabber.org/protocol/muc#self-ping-optimization",
    "http://jabber.org/protocol/muc#stable_id",
    ns::STANZA_IDS,
    ns::OCCUPANT_ID,
    ns::HATS,
    ns::CHAT_STATES,
    ns::MODERATION,
    ns::RETRACTION,
    ns::MAM,
    ns::PING,
    "muc_persistent",
    "muc_nonanonymous",
    "muc_unsecured",
];
const ROOM_INFO: &str = "http://jabber.org/protocol/muc#roominfo";
/// An answer to a client that does not ask for pages ends with the page that reaches this size: some 200 rooms.
const ITEMS_BYTES: usize = 16 * 1024;

/// §6.2.
pub(crate) fn service_info(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) {
    let identity = Identity { category: "conference", kind: "text", name: Some("Rooms") };
    let info = Info { node: None, identities: vec![identity], features: SERVICE_FEATURES.to_vec() };
    turn.result(iq, |out| info.write(out, |_| {}));
}

/// §6.3: the rooms that everybody may find, in pages (XEP-0059) or some of them at once.
pub(crate) fn service_items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let request = Request::of(iq.payload).map_err(StanzaError::new)?;
    let after = match request.page {
        Page::First => None,
        Page::After(after) => Some(parse_place(&after).ok_or(StanzaError::new(Condition::ItemNotFound))?),
        Page::Last | Page::Before(_) | Page::Index(_) => {
            return Err(StanzaError::new(Condition::FeatureNotImplemented));
        }
    };
    if request.max.is_none() && after.is_none() {
        turn.ask(iq, all_items, list(None, None));
    } else {
        turn.ask(iq, items_page, list(after, request.max));
    }
    Ok(())
}

fn list(after: Option<String>, limit: Option<u32>) -> Command {
    Command::List { query: None, page: PageOf { after, limit } }
}

fn listed(delivery: &Delivery) -> (&[(ConversationId, chat::Room)], Option<&String>) {
    match &delivery.event {
        Event::Rooms(RoomsEvent::Rooms { rooms, next }) => (rooms, next.as_ref()),
        _ => (&[], None),
    }
}

fn write_rooms(out: &mut Vec<u8>, rooms: &[(ConversationId, chat::Room)], domain: &str) {
    for (id, room) in rooms {
        Item { jid: &address_of(*id, room, domain), node: None, name: Some(&room.name) }.write(out);
    }
}

fn all_items(turn: &mut Turn<'_, '_>, mut asked: Asked, delivery: &Delivery) {
    let (rooms, next) = listed(delivery);
    let domain = turn.domain().to_owned();
    write_rooms(&mut asked.pages, rooms, &domain);
    if let Some(next) = next.filter(|_| asked.pages.len() < ITEMS_BYTES) {
        return turn.ask_for(asked, all_items, list(Some(next.clone()), None));
    }
    let pages = std::mem::take(&mut asked.pages);
    turn.answer(asked, |out| write_items(out, None, |out| out.extend_from_slice(&pages)));
}

fn items_page(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let (rooms, next) = listed(delivery);
    let domain = turn.domain().to_owned();
    let first = rooms.first().map(|(id, room)| address_of(*id, room, &domain));
    // After the last page nothing is asked for.
    let last = next.map_or_else(|| first.clone(), |next| Some(place(next)));
    turn.answer(asked, |out| {
        write_items(out, None, |out| {
            write_rooms(out, rooms, &domain);
            Returned { ends: first.as_deref().zip(last.as_deref()), index: None, count: None }.write(out);
        });
    });
}

/// The domain's place in a list, as text without control characters.
fn place(next: &str) -> String {
    URL_SAFE_NO_PAD.encode(next)
}

fn parse_place(text: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

/// §6.4. A room that the user may not read does not exist for them.
pub(crate) fn room_info(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    number: Option<u64>,
) -> Result<(), StanzaError> {
    let number = number.ok_or(StanzaError::new(Condition::ItemNotFound))?;
    let conversation = ConversationId::room(turn.session.user.site, number);
    turn.ask(iq, shown, Command::Show { conversation });
    Ok(())
}

fn shown(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Some((_, room)) = listed(delivery).0.first() else { return };
    let (public, open) = match room.kind {
        RoomKind::Public | RoomKind::Announcement => ("muc_public", "muc_open"),
        RoomKind::Private => ("muc_hidden", "muc_membersonly"),
    };
    let is_moderated = room.frozen || room.kind == RoomKind::Announcement;
    let moderated = if is_moderated { "muc_moderated" } else { "muc_unmoderated" };
    let features = ROOM_FEATURES.iter().copied().chain([public, open, moderated]).collect();
    let identity = Identity { category: "conference", kind: "text", name: Some(&room.name) };
    let info = Info { node: None, identities: vec![identity], features };
    let members = room.members.to_string();
    turn.answer(asked, |out| {
        info.write(out, |out| {
            data_forms::write(out, FormKind::Result, ROOM_INFO, |out| {
                let topic = room.topic.as_deref().unwrap_or_default();
                Field::new("muc#roominfo_description", &[topic]).write(out);
                Field::new("muc#roominfo_subject", &[topic]).write(out);
                Field::new("muc#roominfo_occupants", &[&members]).write(out);
                Field::new("muc#roomconfig_roomname", &[&room.name]).write(out);
            });
        });
    });
}
