//! vcard-temp (XEP-0054): the profile of a user, and what apps add to it.
//!
//! Name and picture come from the profile of the domain and from the avatar that an app has published (XEP-0398). The rest of the vCard is
//! stored as it is, for the user and the contacts. A new name is a change of the profile, under the rule of the site.

use chat::account::{Command, Event as AccountEvent};
use chat::items::{self, ITEM_BYTES, ItemAccess, ItemListChange, PutItem};
use chat::{Delivery, Event, NameChange, ProfileCard, ProfileChange, Sub};
use xmpp_proto::ns;
use xmpp_proto::payload::avatar as avatar_payload;
use xmpp_proto::payload::vcard::{Photo, VCard};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open, restore};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};
use crate::xep::avatar;
use crate::xep::pep::stored::latest_item;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(54),
    name: "vcard-temp",
    version: "1.3.0",
    scenario: "vcard",
    server_features: &[ns::VCARD],
    account_features: &[ns::VCARD],
    iq: &[IqHandler { name: "vCard", ns: ns::VCARD, handle: request }],
};

/// Parts of a vCard that come from elsewhere.
const DERIVED: &[&str] = &["FN", "NICKNAME", "PHOTO"];

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    match (iq.kind, &iq.target) {
        (IqKind::Get, Target::Account) => get(turn, iq, None),
        (IqKind::Get, Target::User(user)) => get(turn, iq, Some(user.clone())),
        (IqKind::Set, Target::Account) => return set(turn, iq),
        (IqKind::Set, Target::User(_)) => return Err(StanzaError::new(Condition::Forbidden)),
        _ => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    }
    Ok(())
}

fn card(delivery: &Delivery) -> Option<&ProfileCard> {
    match &delivery.event {
        Event::Account(AccountEvent::Profile(card)) => Some(card),
        _ => None,
    }
}

fn get(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, user: Option<Sub>) {
    turn.ask_then(iq, Command::Profile { user: user.clone() }, move |turn, asked, answer| match answer {
        Ok(delivery) => {
            let Some(person) = card(delivery).map(|card| card.person.clone()) else { return };
            let name = person.name;
            // A picture may be a path on the site, which apps do not know.
            let link =
                person.avatar.filter(|link| link.starts_with("https://") || link.starts_with("http://"));
            latest_item(turn, asked, user.clone(), ns::VCARD, move |turn, asked, rest| {
                let rest: Box<str> = rest.and_then(|rest| rest.payload.clone()).unwrap_or_default();
                avatar::of_user(turn, asked, user, move |turn, asked, photo| {
                    turn.answer(asked, |out| {
                        write(out, &name, &rest, photo.as_ref(), link.as_deref());
                    });
                });
            });
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

/// `link`: of the picture that the site has set, which clients fetch themselves.
fn write(out: &mut Vec<u8>, name: &str, rest: &str, photo: Option<&Photo<'_>>, link: Option<&str>) {
    Open::new(out, "vCard").attr("xmlns", ns::VCARD).children(|out| {
        Open::new(out, "FN").text(name);
        Open::new(out, "NICKNAME").text(name);
        restore(rest, out);
        match (photo, link) {
            (Some(photo), _) => photo.write(out),
            (None, Some(link)) => {
                Open::new(out, "PHOTO").children(|out| Open::new(out, "EXTVAL").text(link));
            }
            (None, None) => {}
        }
    });
}

/// The parts that are stored as they are.
fn rest(vcard: Element<'_>) -> Box<str> {
    let mut out = Vec::new();
    for child in vcard.children().filter(|child| !DERIVED.contains(&child.name())) {
        child.write_stored(&mut out, ns::VCARD);
    }
    String::from_utf8(out).expect("elements are written from UTF-8").into()
}

/// A new vCard.
struct New {
    name: Option<Box<str>>,
    rest: Box<str>,
    photo: Option<Photo<'static>>,
}

fn set(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let vcard = VCard::of(iq.payload).ok_or_else(|| StanzaError::new(Condition::BadRequest))?;
    let photo = vcard
        .photo
        .map(|photo| Photo { kind: photo.kind.map(|kind| kind.into_owned().into()), data: photo.data });
    let name = vcard.nickname.or(vcard.full_name).map(|name| name.trim().into());
    let new = New { name, rest: rest(iq.payload), photo };
    if new.rest.len() > ITEM_BYTES
        || new.photo.as_ref().is_some_and(|photo| photo.data.len() > avatar::MOST_BYTES)
    {
        return Err(StanzaError::new(Condition::NotAcceptable));
    }
    turn.ask_then(iq, Command::Profile { user: None }, move |turn, asked, answer| match answer {
        Ok(delivery) => {
            let before = card(delivery).map(|card| card.person.name.clone());
            new.set_name(turn, asked, before.as_deref());
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

impl New {
    /// The name decides first: a site that does not let members rename refuses the vCard as a whole.
    fn set_name(self, turn: &mut Turn<'_, '_>, asked: Asked, before: Option<&str>) {
        let Some(name) = self.name.clone().filter(|name| Some(&**name) != before) else {
            return self.set_rest(turn, asked);
        };
        let name = Some(NameChange::Own((*name).into()));
        let change = Box::new(ProfileChange { name, ..ProfileChange::default() });
        turn.continue_then(
            asked,
            Command::ChangeProfile { change },
            move |turn, asked, answer| match answer {
                Ok(_) => self.set_rest(turn, asked),
                Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
            },
        );
    }

    fn set_rest(self, turn: &mut Turn<'_, '_>, asked: Asked) {
        let New { rest, photo, name: _ } = self;
        let access = Some(ItemAccess::Contacts);
        let requires = ItemListChange { access, sends_latest: Some(false), ..ItemListChange::default() };
        let item = PutItem {
            list: ns::VCARD.into(),
            id: "current".into(),
            payload: rest,
            requires,
            default: ItemAccess::Contacts,
        };
        turn.continue_then(asked, items::Command::Put(item), move |turn, asked, answer| match answer {
            Ok(_) => avatar::set(turn, asked, photo, |turn, asked| turn.answer(asked, |_| {})),
            Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
        });
    }
}

/// The photo of an avatar item.
pub(crate) fn photo_of(data: Element<'_>, kind: Option<&str>) -> Option<Photo<'static>> {
    let data = avatar_payload::data(data)?;
    Some(Photo { kind: kind.map(|kind| kind.to_owned().into()), data })
}
