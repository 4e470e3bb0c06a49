//! The roster (RFC 6121 §2) and subscriptions (§3): the user's contacts in both directions, with names and groups.

use chat::contacts::{Command, Event as ContactsEvent};
use chat::{
    Contact, ContactAction, ContactNote, Delivery, Event, PageOf, Position, Refusal, Side, Sub,
    SubscriptionAction,
};
use xmpp_proto::ns;
use xmpp_proto::payload::roster::{self as payload, Change, Item, Subscription};
use xmpp_proto::stanza::{Condition, StanzaError, StanzaKind};
use xmpp_proto::xml::Open;

use super::{Asked, Flags, Iq, IqHandler, IqKind, Turn};
use crate::address::{self, Target};
use crate::extensions::{Extension, Spec};
use crate::xep::roster_versioning;

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
            match payload::version(iq.payload) {
                Some(known) => turn.read_roster_since(Asked::of(iq.element), known),
                None => turn.read_roster(Asked::of(iq.element), None, None),
            }
            Ok(())
        }
        IqKind::Set => change(turn, iq),
    }
}

/// RFC 6121 §2.3 to §2.5.
fn change(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let Change { jid, remove, name, groups } = Change::of(iq.payload).map_err(StanzaError::new)?;
    let Target::User(user) = Target::of(Some(&jid), &turn.session.jid) else {
        return Err(StanzaError::new(Condition::NotAllowed));
    };
    if remove {
        turn.ask_then(iq, Command::Change { action: ContactAction::Remove, user }, removed);
        return Ok(());
    }
    let groups = groups.iter().map(|group| (**group).into()).collect();
    let note = ContactNote { name: name.map(Into::into), groups };
    turn.ask_then(iq, Command::Keep { user, note }, kept);
    Ok(())
}

/// RFC 6121 §2.5.3: a removal needs an item.
fn removed(turn: &mut Turn<'_, '_>, asked: Asked, outcome: Result<&Delivery, Refusal>) {
    match outcome {
        Ok(delivery) if contact_of(delivery).is_some_and(|contact| !was_on_list(contact)) => {
            turn.answer_error(&asked, &StanzaError::new(Condition::ItemNotFound));
        }
        Ok(delivery) => changed(turn, asked, delivery),
        Err(refusal) => turn.answer_error(&asked, &crate::refusal::stanza_error(refusal)),
    }
}

/// RFC 6121 §2.3.3: names and groups that are too long or too many are not acceptable.
fn kept(turn: &mut Turn<'_, '_>, asked: Asked, outcome: Result<&Delivery, Refusal>) {
    match outcome {
        Ok(delivery) => changed(turn, asked, delivery),
        Err(Refusal::BadValue) => turn.answer_error(&asked, &StanzaError::new(Condition::NotAcceptable)),
        Err(refusal) => turn.answer_error(&asked, &crate::refusal::stanza_error(refusal)),
    }
}

/// The change that answers a request is also a change for this session.
pub(super) fn changed(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    if asked.kind == Some(StanzaKind::Iq) {
        turn.answer(asked, |_| {});
    }
    if let Some(contact) = contact_of(delivery) {
        turn.contact_changed(contact);
    }
}

fn contact_of(delivery: &Delivery) -> Option<&Contact> {
    match &delivery.event {
        Event::Contacts(ContactsEvent::Contact(contact)) => Some(contact),
        _ => None,
    }
}

fn was_on_list(contact: &Contact) -> bool {
    contact.change.is_none_or(|change| change.was.is_on_list())
}

/// What a roster item shows of a relation. A request of the other user is not part of it (RFC 6121 §3.1.3).
fn shown(side: Side) -> (bool, Subscription, bool, bool) {
    let subscription = match (side.sees(), side.is_seen()) {
        (true, true) => Subscription::Both,
        (true, false) => Subscription::To,
        (false, true) => Subscription::From,
        (false, false) => Subscription::None,
    };
    (side.is_on_list(), subscription, side.has_asked(), side.has_approved())
}

/// Writes nothing if the user is not on the list: blocked users and those who only ask.
fn write_item(out: &mut Vec<u8>, contact: &Contact, domain: &str) {
    let (true, subscription, ask, approved) = shown(contact.side) else { return };
    let note = contact.note.as_deref();
    let groups: Vec<&str> = note.iter().flat_map(|note| note.groups.iter().map(|group| &**group)).collect();
    let name = note.and_then(|note| note.name.as_deref()).unwrap_or(&contact.person.name);
    let jid = address::user(&contact.person.sub, domain);
    Item { jid: &jid, name: Some(name), subscription, ask, approved, groups: &groups }.write(out);
}

impl Turn<'_, '_> {
    /// Answers the whole roster, page by page. `version`: the one that the client shall keep, if it knows versions.
    pub(crate) fn read_roster(&mut self, asked: Asked, after: Option<String>, version: Option<Position>) {
        let page = PageOf { after, limit: None };
        self.continue_then(asked, Command::List { page }, move |turn, asked, outcome| match outcome {
            Ok(delivery) => write_page(turn, asked, delivery, version),
            Err(refusal) => turn.answer_error(&asked, &crate::refusal::stanza_error(refusal)),
        });
    }

    /// A contact has changed: a roster push (RFC 6121 §2.1.6), and the subscription stanzas that explain it.
    pub(crate) fn contact_changed(&mut self, contact: &Contact) {
        if self.is_of_server() {
            return self.explain(contact);
        }
        let is_shown_as_before =
            contact.change.is_some_and(|change| change.by_other && shown(change.was) == shown(contact.side));
        if !is_shown_as_before && (contact.side.is_on_list() || was_on_list(contact)) {
            let version = self.session.has(Flags::ROSTER_VERSIONS).then(|| self.session.position());
            self.push(contact, version);
        }
        self.push_block(contact);
        self.explain(contact);
        if contact.side.is_contact() || contact.side.is_blocked() {
            self.answered_by_relation(&contact.person.sub, contact.side.is_contact());
        }
    }

    /// The stanzas of the other user that lead to this change (RFC 6121 §3), also those that the server sends for them.
    fn explain(&mut self, contact: &Contact) {
        // After a reconnect only what waits is known.
        let was = contact.change.map_or(Side::NONE, |change| change.was);
        let is = contact.side;
        if is.asks() {
            self.session.set(Flags::REQUESTS_WAIT, true);
        }
        // An unavailable session gets the requests with its initial presence.
        if is.asks() && !was.asks() && (self.session.is_available() || self.is_of_server()) {
            self.subscription(&contact.person.sub, "subscribe");
        }
        let Some(change) = contact.change else { return };
        if is.sees() && !was.sees() {
            self.subscription(&contact.person.sub, "subscribed");
        }
        if !change.by_other {
            return;
        }
        if was.sees() && !is.sees() {
            self.subscription(&contact.person.sub, "unsubscribed");
        }
        // Also an end of the request, before it was answered (§3.3.3).
        if (was.is_seen() || was.asks()) && !is.is_seen() && !is.asks() {
            self.subscription(&contact.person.sub, "unsubscribe");
        }
    }

    /// A subscription stanza of another server. It gets an answer only if the request is granted, now or before (RFC 6121 §3.1.3); an
    /// error could tell who exists.
    pub(super) fn subscribe_of_server(&mut self, kind: &str, user: Sub) {
        let Some(action) = action(kind) else { return };
        let command = Command::Subscribe { action, user };
        self.continue_then(Asked::internal(), command, move |turn, _, outcome| {
            if let Some(contact) = outcome.ok().and_then(contact_of)
                && contact.side.sees()
                && action == SubscriptionAction::Ask
            {
                turn.subscription(&contact.person.sub, "subscribed");
            }
        });
    }

    pub(crate) fn push(&mut self, contact: &Contact, version: Option<Position>) {
        if !self.session.has(Flags::INTERESTED) {
            return;
        }
        let (domain, to) = (self.domain().to_owned(), self.session.jid.as_str().to_owned());
        let id = self.push_id();
        let version = version.map(roster_versioning::text);
        self.send(|out| {
            Open::new(out, "iq").attr("type", "set").attr("id", &id).attr("to", &to).children(|out| {
                payload::write(out, version.as_deref(), |out| {
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

    /// Requests that wait for an answer (RFC 6121 §3.1.3).
    pub(super) fn deliver_pending_requests(&mut self) {
        if !self.session.has(Flags::REQUESTS_WAIT) {
            return;
        }
        let page = PageOf { after: None, limit: None };
        self.ask_for(Asked::internal(), pending_requests, Command::List { page });
    }
}

/// A page of contacts. The result is sent with the last one.
fn write_page(turn: &mut Turn<'_, '_>, mut asked: Asked, delivery: &Delivery, version: Option<Position>) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    let domain = turn.domain().to_owned();
    for card in contacts.iter() {
        write_item(&mut asked.pages, &card.contact(), &domain);
    }
    if next.is_some() {
        return turn.read_roster(asked, next.clone(), version);
    }
    let items = std::mem::take(&mut asked.pages);
    let version = version.map(roster_versioning::text);
    turn.answer(asked, |out| {
        payload::write(out, version.as_deref(), |out| out.extend_from_slice(&items));
    });
}

fn pending_requests(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let Event::Contacts(ContactsEvent::Contacts { contacts, next }) = &delivery.event else { return };
    for card in contacts.iter().filter(|card| card.side.asks()) {
        turn.subscription(&card.sub(), "subscribe");
    }
    if let Some(after) = next {
        let page = PageOf { after: Some(after.clone()), limit: None };
        turn.ask_for(asked, pending_requests, Command::List { page });
    }
}

/// The action of a subscription stanza (RFC 6121 §3).
pub(super) fn action(kind: &str) -> Option<SubscriptionAction> {
    Some(match kind {
        "subscribe" => SubscriptionAction::Ask,
        "subscribed" => SubscriptionAction::LetIn,
        "unsubscribe" => SubscriptionAction::Leave,
        "unsubscribed" => SubscriptionAction::Refuse,
        _ => return None,
    })
}
