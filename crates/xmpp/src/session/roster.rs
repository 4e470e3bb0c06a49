//! The roster (RFC 6121 §2): the user's contacts.

use chat::contacts::Event as ContactsEvent;
use chat::{Contact, ContactAction, ContactState, Delivery, Event, PageOf, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::stanza::{Condition, StanzaError, StanzaKind};
use xmpp_proto::xml::Open;

use super::{Asked, Flags, Iq, IqHandler, IqKind, Turn};
use crate::address::{self, Target};
use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Rfc(6121),
    name: "Roster",
    version: "",
    scenario: "roster",
    server_features: &[],
    account_features: &[],
    iq: &[IqHandler { name: "query", ns: ns::ROSTER, handle: roster }],
};

fn roster(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Account {
        return Err(StanzaError::new(Condition::Forbidden));
    }
    match iq.kind {
        IqKind::Get => {
            turn.session.set(Flags::INTERESTED, true);
            let page = PageOf { after: None, limit: None };
            turn.ask(iq, write_page, chat::contacts::Command::List { page });
            Ok(())
        }
        IqKind::Set => change(turn, iq),
    }
}

/// RFC 6121 §2.3 to §2.5.
fn change(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let mut items = iq.payload.children();
    let (Some(item), None) = (items.next(), items.next()) else {
        return Err(StanzaError::new(Condition::BadRequest));
    };
    let jid = item
        .attr("jid")
        .and_then(|jid| Jid::parse(jid).ok())
        .ok_or_else(|| StanzaError::new(Condition::BadRequest))?;
    let Target::User(user) = Target::of(Some(&jid), &turn.session.jid) else {
        return Err(StanzaError::new(Condition::NotAllowed));
    };
    match item.attr("subscription") {
        Some("remove") => {
            let action = ContactAction::Remove;
            turn.ask(iq, changed, chat::contacts::Command::Change { action, user });
            Ok(())
        }
        _ => Err(StanzaError::new(Condition::FeatureNotImplemented)),
    }
}

/// The change that answers a request is also a change for this session.
pub(super) fn changed(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    if asked.kind == Some(StanzaKind::Iq) {
        turn.answer(asked, |_| {});
    }
    if let Event::Contacts(ContactsEvent::Contact(contact)) = &delivery.event {
        turn.contact_changed(contact);
    }
}

/// A page of contacts. The result is sent with the last one.
fn write_page(turn: &mut Turn<'_, '_>, mut asked: Asked, delivery: &Delivery) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    let domain = turn.domain().to_owned();
    for contact in contacts {
        write_item(&mut asked.pages, contact, &domain);
    }
    if let Some(after) = next {
        let page = PageOf { after: Some(after.clone()), limit: None };
        return turn.ask_for(asked, write_page, chat::contacts::Command::List { page });
    }
    let items = std::mem::take(&mut asked.pages);
    turn.answer(asked, |out| {
        Open::new(out, "query").attr("xmlns", ns::ROSTER).children(|out| out.extend_from_slice(&items));
    });
}

/// Requests of others and blocked users are no roster items.
fn write_item(out: &mut Vec<u8>, contact: &Contact, domain: &str) {
    let (subscription, ask) = match contact.state {
        ContactState::Contact => ("both", None),
        ContactState::RequestSent => ("none", Some("subscribe")),
        ContactState::None | ContactState::RequestReceived | ContactState::Blocked => return,
    };
    Open::new(out, "item")
        .attr("jid", &address::user(&contact.person.sub, domain))
        .attr("name", &contact.person.name)
        .attr("subscription", subscription)
        .opt("ask", ask)
        .empty();
}

impl Turn<'_, '_> {
    /// A contact has changed: a roster push (RFC 6121 §2.1.6), and the subscription stanza that explains it.
    pub(crate) fn contact_changed(&mut self, contact: &Contact) {
        if self.is_of_server() {
            return self.contact_of_server(contact);
        }
        self.push(contact);
        self.push_block(contact);
        if contact.state == ContactState::RequestReceived {
            self.subscription(&contact.person.sub, "subscribe");
        }
    }

    /// A subscription stanza of another server. It gets an answer only if the request is granted already (RFC 6121 §3.1.3); an error could
    /// tell who exists.
    pub(super) fn subscribe_of_server(&mut self, kind: &str, user: Sub) {
        let Some(action) = action(kind) else { return };
        let command = chat::contacts::Command::Change { action, user };
        self.continue_then(Asked::internal(), command, move |turn, _, outcome| {
            if let Ok(Delivery { event: Event::Contacts(ContactsEvent::Contact(contact)), .. }) = outcome
                && contact.state == ContactState::Contact
                && action == ContactAction::Request
            {
                turn.subscription(&contact.person.sub, "subscribed");
            }
        });
    }

    /// A contact of a user of another server has changed. A contact of this server is one in both directions (RFC 6121 §3).
    fn contact_of_server(&mut self, contact: &Contact) {
        let kinds: &[&str] = match contact.state {
            ContactState::RequestReceived => &["subscribe"],
            ContactState::Contact => &["subscribed", "subscribe"],
            ContactState::None => &["unsubscribed", "unsubscribe"],
            // The user knows these, and a block stays hidden.
            ContactState::RequestSent | ContactState::Blocked => &[],
        };
        kinds.iter().for_each(|kind| self.subscription(&contact.person.sub, kind));
    }

    fn push(&mut self, contact: &Contact) {
        if !self.session.has(Flags::INTERESTED) {
            return;
        }
        let (domain, to) = (self.domain().to_owned(), self.session.jid.as_str().to_owned());
        let id = self.push_id();
        self.send(|out| {
            Open::new(out, "iq").attr("type", "set").attr("id", &id).attr("to", &to).children(|out| {
                Open::new(out, "query").attr("xmlns", ns::ROSTER).children(|out| {
                    let from = out.len();
                    write_item(out, contact, &domain);
                    if out.len() == from {
                        let jid = address::user(&contact.person.sub, &domain);
                        Open::new(out, "item").attr("jid", &jid).attr("subscription", "remove").empty();
                    }
                });
            });
        });
    }

    /// A subscription stanza of another user (RFC 6121 §3).
    pub(super) fn subscription(&mut self, of: &Sub, kind: &str) {
        let from = address::user(of, self.domain());
        let to = self.session.bare().to_owned();
        self.send(|out| {
            Open::new(out, "presence").attr("type", kind).attr("from", &from).attr("to", &to).empty();
        });
    }

    /// Requests that came while the user was away (RFC 6121 §3.1.3).
    pub(super) fn deliver_pending_requests(&mut self) {
        let page = PageOf { after: None, limit: None };
        self.ask_for(Asked::internal(), pending_requests, chat::contacts::Command::List { page });
    }
}

fn pending_requests(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    for contact in contacts.iter().filter(|contact| contact.state == ContactState::RequestReceived) {
        turn.subscription(&contact.person.sub, "subscribe");
    }
    if let Some(after) = next {
        let page = PageOf { after: Some(after.clone()), limit: None };
        turn.ask_for(asked, pending_requests, chat::contacts::Command::List { page });
    }
}

/// The action of a subscription stanza (RFC 6121 §3).
pub(super) fn action(kind: &str) -> Option<ContactAction> {
    Some(match kind {
        "subscribe" => ContactAction::Request,
        "subscribed" => ContactAction::Accept,
        "unsubscribe" | "unsubscribed" => ContactAction::Remove,
        _ => return None,
    })
}
