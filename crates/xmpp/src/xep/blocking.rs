//! Blocking Command (XEP-0191), as blocks of the domain.

use chat::contacts::{Command, Event as ContactsEvent};
use chat::{Contact, ContactAction, ContactState, Delivery, Event, PageOf, Sub};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::blocking::{self as payload, Listing, Request};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use crate::address::{self, Target};
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, Turn};
use crate::xep::reports::Reports;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(191),
    name: "Blocking Command",
    version: "1.3",
    scenario: "blocking",
    server_features: &[ns::BLOCKING],
    account_features: &[],
    iq: &[
        IqHandler { name: "blocklist", ns: ns::BLOCKING, handle: request },
        IqHandler { name: "block", ns: ns::BLOCKING, handle: request },
        IqHandler { name: "unblock", ns: ns::BLOCKING, handle: request },
    ],
};

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Account {
        return Err(StanzaError::new(Condition::Forbidden));
    }
    match Request::of(iq.payload) {
        Some(Ok(Request::List)) => turn.ask(iq, write_list, first_page()),
        Some(Ok(Request::UnblockAll)) => turn.ask(iq, unblock_listed, first_page()),
        Some(Ok(Request::Block(jids))) => {
            let reports = Reports::of(turn, iq)?;
            let users = users_of(turn, &jids)?;
            change(turn, Asked::of(iq.element), ContactAction::Block, users, reports);
        }
        Some(Ok(Request::Unblock(jids))) => {
            let users = users_of(turn, &jids)?;
            change(turn, Asked::of(iq.element), ContactAction::Unblock, users, Reports::default());
        }
        Some(Err(condition)) => return Err(StanzaError::new(condition)),
        None => return Err(StanzaError::new(Condition::BadRequest)),
    }
    Ok(())
}

/// It has all blocked users: see [`chat::ContactStore::contacts`].
fn first_page() -> Command {
    Command::List { page: PageOf { after: None, limit: None } }
}

fn blocked(delivery: &Delivery) -> Vec<Sub> {
    let Event::Contacts(ContactsEvent::Contacts { contacts, .. }) = &delivery.event else {
        return Vec::new();
    };
    contacts.iter().filter(|card| card.side.is_blocked()).map(|card| card.sub()).collect()
}

/// XEP-0191 §3.2. From now on the session gets pushes.
fn write_list(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let blocked = blocked(delivery);
    let domain = turn.domain().to_owned();
    let jids: Vec<String> = blocked.iter().map(|user| address::user(user, &domain)).collect();
    turn.session.watch_block_list(blocked);
    turn.answer(asked, |out| payload::write(out, Listing::Blocklist, jids.iter().map(String::as_str)));
}

/// XEP-0191 §3.5.
fn unblock_listed(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    change(turn, asked, ContactAction::Unblock, blocked(delivery), Reports::default());
}

/// Only members of the site can be blocked: nobody else can write here.
fn users_of(turn: &Turn<'_, '_>, jids: &[Jid]) -> Result<Vec<Sub>, StanzaError> {
    let user = |jid: &Jid| match Target::of(Some(jid), &turn.session.jid) {
        Target::User(user) => Ok(user),
        _ => Err(StanzaError::new(Condition::ItemNotFound)),
    };
    jids.iter().map(user).collect()
}

/// Changes one user after the other, because a request can name more users than there may be commands in flight. Then come the
/// reports, which answer the client.
fn change(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    action: ContactAction,
    mut users: Vec<Sub>,
    reports: Reports,
) {
    let Some(user) = users.pop() else { return reports.make(turn, asked) };
    turn.continue_then(asked, Command::Change { action, user }, move |turn, asked, answer| match answer {
        Ok(delivery) => {
            if let Event::Contacts(ContactsEvent::Contact(contact)) = &delivery.event {
                turn.contact_changed(contact);
            }
            change(turn, asked, action, users, reports);
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

impl Turn<'_, '_> {
    /// Pushes a new or ended block to a client that has read the list (XEP-0191 §3.3).
    pub(crate) fn push_block(&mut self, contact: &Contact) {
        let is_blocked = contact.state == ContactState::Blocked;
        if !self.session.note_block(&contact.person.sub, is_blocked) {
            return;
        }
        let (jid, to) =
            (address::user(&contact.person.sub, self.domain()), self.session.jid.as_str().to_owned());
        let listing = if is_blocked { Listing::Block } else { Listing::Unblock };
        let id = self.push_id();
        self.send(|out| {
            Open::new(out, "iq").attr("type", "set").attr("id", &id).attr("to", &to).children(|out| {
                payload::write(out, listing, [jid.as_str()]);
            });
        });
    }
}
