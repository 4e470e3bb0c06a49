//! Presence of the client, and of others (RFC 6121 §3 and §4).

use chat::contacts::Event as ContactsEvent;
use chat::{ContactState, Delivery, Event, PageOf, Presence, SetPresence, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::{Asked, Flags, Turn, roster};
use crate::address::{self, Target};

fn contacts_now(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    for contact in contacts.iter().filter(|contact| contact.state == ContactState::Contact) {
        if let Some(presence) = contact.person.presence {
            turn.presence_of(&contact.person.sub, presence);
        }
    }
    if let Some(after) = next {
        let page = PageOf { after: Some(after.clone()), limit: None };
        turn.ask_for(asked, chat::contacts::Command::List { page });
    }
}

impl Turn<'_, '_> {
    pub(super) fn presence(&mut self, element: Element<'_>, to: Option<&Jid>, target: Target) {
        match (element.attr("type"), to) {
            (None, None) => self.available(element),
            (Some("unavailable"), None) => self.unavailable(element),
            (Some("error"), _) => {}
            (Some(kind @ ("subscribe" | "subscribed" | "unsubscribe" | "unsubscribed")), Some(_)) => {
                self.subscribe(element, kind, target);
            }
            // RFC 6121 §4.6: presence directed at one user, and probes, which only servers send.
            (None | Some("unavailable" | "probe"), Some(_)) => {}
            _ => self.refuse(element, &StanzaError::new(Condition::BadRequest)),
        }
    }

    /// RFC 6121 §4.2: the first one opens the flow of presence, requests and messages.
    fn available(&mut self, element: Element<'_>) {
        let is_first = !self.session.has(Flags::AVAILABLE);
        self.session.set(Flags::AVAILABLE, true);
        self.session.set(Flags::LEFT, false);
        let set = match element.child("show", element.ns()).map(|show| show.text().into_owned()).as_deref() {
            Some("away" | "xa") => SetPresence::Away,
            Some("dnd") => SetPresence::Busy,
            _ => SetPresence::Online,
        };
        self.command(chat::presence::Command::Set(set));
        self.echo(element);
        if is_first {
            self.watch_contacts();
            self.deliver_pending_requests();
            self.deliver_offline_messages();
        }
    }

    /// The presence of all contacts follows.
    pub(super) fn watch_contacts(&mut self) {
        self.command(chat::presence::Command::Watch { contacts: true, users: Vec::new() });
    }

    /// RFC 6121 §4.5.2.
    fn unavailable(&mut self, element: Element<'_>) {
        if self.session.has(Flags::AVAILABLE) {
            self.session.set(Flags::AVAILABLE, false);
            self.session.set(Flags::LEFT, true);
            self.command(chat::presence::Command::Watch { contacts: false, users: Vec::new() });
            self.echo(element);
        }
    }

    /// A client gets its own presence back (RFC 6121 §4.2.2).
    fn echo(&mut self, element: Element<'_>) {
        let jid = self.session.jid.as_str().to_owned();
        self.send(|out| {
            Open::new(out, "presence")
                .attr("from", &jid)
                .attr("to", &jid)
                .opt("id", element.attr("id"))
                .opt("type", element.attr("type"))
                .children(|out| element.children().for_each(|child| child.write(out, element.ns())));
        });
    }

    fn subscribe(&mut self, element: Element<'_>, kind: &str, target: Target) {
        let Target::User(user) = target else {
            return self.refuse(element, &StanzaError::new(Condition::ItemNotFound));
        };
        if let Some(action) = roster::action(kind) {
            let asked = Asked::of(element, roster::changed);
            self.ask_for(asked, chat::contacts::Command::Change { action, user });
        }
    }

    /// Sends the presence of all contacts to a client that has missed some. A list of those who are here would not name those who
    /// have left.
    pub(crate) fn catch_up_presence(&mut self) {
        if self.session.has(Flags::PRESENCE_MISSED) && !self.session.has(Flags::INACTIVE) {
            self.session.set(Flags::PRESENCE_MISSED, false);
            let page = PageOf { after: None, limit: None };
            self.ask_for(Asked::internal(contacts_now), chat::contacts::Command::List { page });
        }
    }

    /// The presence of another user.
    pub(super) fn presence_of(&mut self, user: &Sub, presence: Presence) {
        if !self.session.has(Flags::AVAILABLE) {
            return;
        }
        let from = address::user_here(user, self.domain());
        let to = self.session.jid.as_str().to_owned();
        let (kind, show) = match presence {
            Presence::Online => (None, None),
            Presence::Away => (None, Some("away")),
            Presence::Busy => (None, Some("dnd")),
            Presence::Offline => (Some("unavailable"), None),
            // This node does not know it, and does not guess.
            Presence::Unknown => return,
        };
        self.send(|out| {
            let stanza = Open::new(out, "presence").opt("type", kind).attr("from", &from).attr("to", &to);
            match show {
                Some(show) => stanza.children(|out| Open::new(out, "show").text(show)),
                None => stanza.empty(),
            }
        });
    }
}
