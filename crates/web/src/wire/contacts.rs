//! Contacts and other users.

use std::borrow::Cow;

use chat::Delivery;
use chat::contacts::Event as Of;
use web_proto::Event;

use super::same::ToWire;
use super::{next, number, position};

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Contact(changed) => {
            Event::Contact { re: delivery.re, contact: contact(changed), position: position(delivery) }
        }
        Of::Contacts { contacts, next } => Event::Contacts {
            re: number(delivery),
            contacts: contacts.iter().map(contact).collect(),
            next: self::next(next),
        },
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

pub(super) fn contact(contact: &chat::Contact) -> web_proto::Contact<'_> {
    web_proto::Contact { person: person(&contact.person), state: contact.state.to_wire() }
}

pub(super) fn person(person: &chat::Person) -> web_proto::Person<'_> {
    web_proto::Person {
        user: person.sub.as_str().into(),
        name: Cow::Borrowed(&person.name),
        avatar: person.avatar.as_deref().map(Cow::Borrowed),
        guest: person.guest,
        presence: person.presence.map(ToWire::to_wire),
    }
}
