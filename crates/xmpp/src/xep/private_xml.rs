//! Private XML Storage (XEP-0049): elements that only the user reads, by name and namespace. Each is an item of one private list.

use chat::items::{self, ITEM_BYTES, ItemAccess, ItemListChange, ItemsOf, MOST_ITEMS, PutItem};
use xmpp_proto::ns;
use xmpp_proto::payload::private_xml as payload;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open, restore};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Iq, IqHandler, IqKind, Turn};
use crate::xep::bookmarks;
use crate::xep::pep::stored::{items_of, stored};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(49),
    name: "Private XML Storage",
    version: "1.2",
    scenario: "private_xml",
    server_features: &[ns::PRIVATE],
    account_features: &[],
    iq: &[IqHandler { name: "query", ns: ns::PRIVATE, handle: query }],
};

fn query(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Account {
        return Err(StanzaError::new(Condition::Forbidden));
    }
    let element = payload::of(iq.payload).map_err(StanzaError::new)?;
    match iq.kind {
        // The bookmarks are the rooms of the user (XEP-0048).
        IqKind::Get if element.is("storage", ns::BOOKMARKS_OLD) => bookmarks::stored::read_private(turn, iq),
        IqKind::Set if element.is("storage", ns::BOOKMARKS_OLD) => {
            return bookmarks::stored::write_private(turn, iq, element);
        }
        IqKind::Get => get(turn, iq, element),
        IqKind::Set => return set(turn, iq, element),
    }
    Ok(())
}

/// No name of an element has a space.
fn id(element: Element<'_>) -> Box<str> {
    format!("{} {}", element.name(), element.ns()).into()
}

fn get(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, element: Element<'_>) {
    let of = ItemsOf::Ids(vec![id(element)]);
    let command = items::Command::Read { user: None, list: ns::PRIVATE.into(), of };
    let (name, namespace) = (element.name().to_owned(), element.ns().to_owned());
    turn.ask_then(iq, command, move |turn, asked, answer| {
        let item = answer.ok().and_then(items_of).and_then(|page| page.items.first());
        let element = item.and_then(|item| item.payload.as_deref());
        turn.answer(asked, |out| {
            payload::write(out, |out| match element {
                Some(element) => restore(element, out),
                // XEP-0049 §2.2: an element that was not stored is empty.
                None => Open::new(out, &name).attr("xmlns", &namespace).empty(),
            });
        });
    });
}

fn set(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, element: Element<'_>) -> Result<(), StanzaError> {
    let payload = stored(element);
    if payload.len() > ITEM_BYTES {
        return Err(StanzaError::new(Condition::ResourceConstraint));
    }
    let requires = ItemListChange {
        access: Some(ItemAccess::Nobody),
        most: Some(MOST_ITEMS),
        persists: Some(true),
        sends_latest: Some(false),
    };
    let default = ItemAccess::Nobody;
    let item = PutItem { list: ns::PRIVATE.into(), id: id(element), payload, requires, default };
    turn.ask_then(iq, items::Command::Put(item), |turn, asked, answer| match answer {
        Ok(_) => turn.answer(asked, |_| {}),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}
