//! Contacts and other users.

use std::borrow::Cow;

use chat::contacts::{Command, Event as Of};
use chat::{ContactCard, Delivery, OwnPictureId, SiteId};
use web_proto::{Code, Command as Wire, Event};

use super::same::{ToChat, ToWire};
use super::{conversation_id, next, number, page, position, sub, subs};
use crate::own_pictures;

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Contact(changed) => {
            Event::Contact { re: delivery.re, contact: contact(changed), position: position(delivery) }
        }
        Of::Contacts { contacts, next } => Event::Contacts {
            re: number(delivery),
            contacts: contacts.iter().filter(is_shown).map(card).collect(),
            next: self::next(next),
        },
        Of::Changed(_) => unreachable!("only sessions that ask for it receive it, and these cannot"),
        Of::People { people, next } => Event::People {
            re: number(delivery),
            people: people.iter().map(person).collect(),
            next: self::next(next),
        },
        Of::Profiles(people) => {
            Event::Profiles { re: number(delivery), people: people.iter().map(person).collect() }
        }
    }
}

/// An answer to a request is a command of `rooms` if it is an invitation into a room.
pub(super) fn command(command: Wire<'_>, site: SiteId) -> Result<chat::Command, Code> {
    Ok(chat::Command::Contacts(match command {
        Wire::Contact { action, user, .. } => Command::Change { action: action.to_chat(), user: sub(&user)? },
        Wire::ContactName { user, name, .. } => {
            Command::Rename { user: sub(&user)?, name: name.map(|name| name.into_owned().into()) }
        }
        Wire::Contacts { after, limit, .. } => Command::List { page: page(after, limit) },
        Wire::People { query, after, limit, .. } => {
            Command::ListPeople { query: query.map(Cow::into_owned), page: page(after, limit) }
        }
        Wire::Profiles { users, .. } => Command::Profiles { users: subs(&users) },
        Wire::Request { conversation, answer, .. } => {
            let conversation = conversation_id(site, &conversation)?;
            return Ok(chat::Command::answer_request(conversation, answer.to_chat()));
        }
        not_of!(contacts) => unreachable!("another part decodes it"),
    }))
}

pub(super) fn contact(contact: &chat::Contact) -> web_proto::Contact<'_> {
    let note = contact.note.as_deref();
    let groups = note.map(|note| note.groups.iter().map(|group| Cow::Borrowed(&**group)).collect());
    web_proto::Contact {
        person: person(&contact.person),
        state: contact.state.to_wire(),
        own_name: note.and_then(|note| note.name.as_deref()).map(Cow::Borrowed),
        groups: groups.filter(|groups: &Vec<_>| !groups.is_empty()),
    }
}

/// An entry of a list.
pub(super) fn card(card: ContactCard<'_>) -> web_proto::Contact<'_> {
    let groups: Vec<_> = card.groups().map(Cow::Borrowed).collect();
    let (avatar, picture) = picture(card.id.site, card.avatar);
    web_proto::Contact {
        person: web_proto::Person {
            user: card.sub.into(),
            name: card.name.into(),
            avatar,
            picture,
            guest: card.guest,
            presence: card.presence.map(ToWire::to_wire),
        },
        state: card.state().to_wire(),
        own_name: card.own_name.map(Cow::Borrowed),
        groups: (!groups.is_empty()).then_some(groups),
    }
}

/// Clients of the web know no directions. So entries that an app keeps on the list, without contact, are not on theirs.
pub(super) fn is_shown(card: &ContactCard<'_>) -> bool {
    card.state() != chat::ContactState::None
}

pub(super) fn person(person: &chat::Person) -> web_proto::Person<'_> {
    let (avatar, picture) = picture(person.id.site, person.avatar.as_deref());
    web_proto::Person {
        user: person.sub.as_str().into(),
        name: Cow::Borrowed(&person.name),
        avatar,
        picture,
        guest: person.guest,
        presence: person.presence.map(ToWire::to_wire),
    }
}

/// The address of a picture of the site, or the path of one that the user has set in an app.
fn picture(site: SiteId, avatar: Option<&str>) -> (Option<Cow<'_, str>>, Option<Cow<'_, str>>) {
    let own = avatar.and_then(|avatar| OwnPictureId::of_avatar(site, avatar));
    (avatar.filter(|_| own.is_none()).map(Cow::Borrowed), own.map(|id| own_pictures::path(id).into()))
}
