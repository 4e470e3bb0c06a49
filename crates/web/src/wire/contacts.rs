//! Contacts and other users.

use std::borrow::Cow;

use chat::contacts::{Command, Event as Of};
use chat::{Delivery, OwnPictureId, SiteId};
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
            contacts: contacts.iter().filter(|one| is_shown(one)).map(contact).collect(),
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

/// Clients of the web know no directions. So entries that an app keeps on the list, without contact, are not on theirs.
pub(super) fn is_shown(contact: &chat::Contact) -> bool {
    contact.state != chat::ContactState::None
}

pub(super) fn person(person: &chat::Person) -> web_proto::Person<'_> {
    let avatar = person.avatar.as_deref();
    let own = avatar.and_then(|avatar| OwnPictureId::of_avatar(person.id.site, avatar));
    web_proto::Person {
        user: person.sub.as_str().into(),
        name: Cow::Borrowed(&person.name),
        avatar: avatar.filter(|_| own.is_none()).map(Cow::Borrowed),
        picture: own.map(|id| own_pictures::path(id).into()),
        guest: person.guest,
        presence: person.presence.map(ToWire::to_wire),
    }
}
