//! Events about contacts and other users.

#![deny(clippy::wildcard_enum_match_arm)]

use serde::{Deserialize, Serialize};

use crate::event::{Answers, Policy};
use crate::privacy::Signal;
use crate::{Contact, ContactList, Person};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    Contact(Box<Contact>),
    Contacts {
        /// In a box, so that every other event stays small.
        contacts: Box<ContactList>,
        next: Option<String>,
    },
    /// None: too much has changed for a difference.
    Changed(Option<ContactList>),
    People {
        people: Vec<Person>,
        next: Option<String>,
    },
    Profiles(Vec<Person>),
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Contact(_) => Policy { answers: Answers::RequestOrNone, ..Policy::STORED },
            Event::Contacts { .. } | Event::Changed(_) | Event::People { .. } | Event::Profiles(_) => {
                Policy::ANSWER
            }
        }
    }

    // Lists of people carry presence, which `presence::shown` decides.
    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Contact(contact) => contact.person.signal(),
            Event::Changed(contacts) => contacts.as_ref().and_then(ContactList::signal),
            Event::Contacts { contacts, .. } => contacts.signal(),
            Event::People { people, .. } | Event::Profiles(people) => people.iter().find_map(Person::signal),
        }
    }
}
