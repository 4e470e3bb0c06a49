//! Nodes whose items the domain stores as lists of items (XEP-0060, the part that XEP-0163 needs).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::account::Event as AccountEvent;
use chat::items::{
    self, ITEM_BYTES, Item, ItemAccess, ItemList, ItemListChange, ItemsOf, ItemsPage, MOST_ITEMS, PutItem,
};
use chat::{Delivery, Event, Refusal, Sub};
use rand::Rng;
use xmpp_proto::ns;
use xmpp_proto::payload::data_forms::{self, Field, FieldKind, Form, FormKind};
use xmpp_proto::payload::pubsub::{self as payload, NODE_CONFIG, Why, unsupported};
use xmpp_proto::payload::rsm::{Page, Request as Pages, Returned};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, restore};

use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, Turn};
use crate::xep::avatar;

/// Nodes in which the server keeps data of other extensions.
const RESERVED: &[&str] = &[ns::PRIVATE, ns::VCARD];

pub(crate) fn is_reserved(node: &str) -> bool {
    RESERVED.contains(&node)
}

/// The payload of an item in the form for storage.
pub(crate) fn stored(payload: Element<'_>) -> Box<str> {
    let mut out = Vec::new();
    payload.write_stored(&mut out, ns::PUBSUB);
    String::from_utf8(out).expect("elements are written from UTF-8").into()
}

pub(crate) fn write_item(out: &mut Vec<u8>, item: &Item) {
    payload::write_item(out, &item.id, |out| {
        if let Some(payload) = &item.payload {
            restore(payload, out);
        }
    });
}

/// The items of an answer.
pub(crate) fn items_of(delivery: &Delivery) -> Option<&ItemsPage> {
    match &delivery.event {
        Event::Account(AccountEvent::Items(items::Event::Items(page))) => Some(page),
        _ => None,
    }
}

/// The lists of an answer, without reserved ones.
pub(crate) fn lists_of(delivery: &Delivery) -> Vec<(&str, ItemList)> {
    match &delivery.event {
        Event::Account(AccountEvent::Items(items::Event::Lists(lists))) => {
            let lists = lists.iter().map(|(name, list)| (&**name, *list));
            lists.filter(|(name, _)| !is_reserved(name)).collect()
        }
        _ => Vec::new(),
    }
}

/// §7.1.
pub(super) fn publish(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    node: &str,
    id: Option<&str>,
    payload: Option<Element<'_>>,
    options: Option<&Form<'_>>,
) -> Result<(), StanzaError> {
    let payload = stored(payload.ok_or_else(|| payload::error(Why::PayloadRequired))?);
    if payload.len() > ITEM_BYTES {
        return Err(payload::error(Why::PayloadTooBig));
    }
    let requires = change(options).map_err(|_| payload::error(Why::PreconditionNotMet))?;
    let default = avatar::default_access(node);
    let id = match id {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => URL_SAFE_NO_PAD.encode(turn.gateway.rng.random::<[u8; 12]>()),
    };
    let item = PutItem { list: node.into(), id: id.as_str().into(), payload, requires, default };
    let node = node.to_owned();
    turn.ask_then(iq, items::Command::Put(item), move |turn, asked, answer| match answer {
        Ok(_) => avatar::follow_node(turn, asked, &node.clone(), move |turn, asked| {
            turn.answer(asked, |out| payload::write_published(out, &node, &id));
        }),
        Err(refusal) => turn.answer_error(&asked, &error(refusal, Why::PreconditionNotMet)),
    });
    Ok(())
}

/// A refusal with the condition of XEP-0060. `differs`: if the node has another configuration.
fn error(refusal: Refusal, differs: Why) -> StanzaError {
    match refusal {
        Refusal::ItemListDiffers => payload::error(differs),
        other => stanza_error(other),
    }
}

/// §7.2, §8.2, §8.4 and §8.5: a change of a node whose answer is empty.
pub(super) fn remove(turn: &mut Turn<'_, '_>, iq: &Iq<'_>, node: &str, command: items::Command) {
    let node = node.to_owned();
    turn.ask_then(iq, command, move |turn, asked, answer| match answer {
        Ok(_) => avatar::follow_node(turn, asked, &node, |turn, asked| turn.answer(asked, |_| {})),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

/// §6.5. `user`: None for the own account.
pub(super) fn items(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    user: Option<Sub>,
    node: &str,
    ids: &[&str],
    max: Option<u32>,
    page: &Pages<'_>,
) -> Result<(), StanzaError> {
    let is_paged = page.max.is_some() || page.page != Page::First;
    let of = match &page.page {
        _ if !ids.is_empty() => {
            ItemsOf::Ids(ids.iter().take(MOST_ITEMS as usize).map(|id| (*id).into()).collect())
        }
        Page::First => page.max.map_or(ItemsOf::Newest(max), ItemsOf::First),
        Page::Last => ItemsOf::Newest(page.max),
        Page::After(after) => ItemsOf::After((**after).into(), page.max),
        Page::Before(before) => ItemsOf::Before((**before).into(), page.max),
        Page::Index(_) => return Err(StanzaError::new(Condition::FeatureNotImplemented)),
    };
    let node = node.to_owned();
    let command = items::Command::Read { user, list: node.as_str().into(), of };
    turn.ask_then(iq, command, move |turn, asked, answer| match answer {
        Ok(delivery) => {
            let Some(page) = items_of(delivery) else { return };
            turn.answer(asked, |out| write_page(out, &node, page, is_paged));
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

fn write_page(out: &mut Vec<u8>, node: &str, page: &ItemsPage, is_paged: bool) {
    let ends = page.items.first().zip(page.items.last()).map(|(first, last)| (&*first.id, &*last.id));
    let returned = Returned { ends, index: Some(page.index.into()), count: Some(page.count.into()) };
    // A client that has not asked for pages learns that there are more.
    let is_part = is_paged || page.items.len() < page.count as usize;
    payload::write_items(out, node, is_part.then_some(&returned), |out| {
        page.items.iter().for_each(|item| write_item(out, item));
    });
}

/// §8.1.
pub(super) fn create(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    node: Option<&str>,
    config: Option<&Form<'_>>,
) -> Result<(), StanzaError> {
    let mut change = change(config)?;
    change.access = change.access.or_else(|| node.map(avatar::default_access));
    let chosen = node.map(str::to_owned);
    let node =
        chosen.clone().unwrap_or_else(|| URL_SAFE_NO_PAD.encode(turn.gateway.rng.random::<[u8; 12]>()));
    let command = items::Command::Configure { list: node.as_str().into(), creates: true, change };
    turn.ask_then(iq, command, move |turn, asked, answer| match answer {
        Ok(_) if chosen.is_some() => turn.answer(asked, |_| {}),
        Ok(_) => turn.answer(asked, |out| payload::write_created(out, &node)),
        // §8.1.1: the node exists.
        Err(Refusal::ItemListDiffers) => turn.answer_error(&asked, &StanzaError::new(Condition::Conflict)),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

/// §8.2.
pub(super) fn configure(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    node: &str,
    config: Option<&Form<'_>>,
) -> Result<(), StanzaError> {
    match config {
        None => {
            let node = node.to_owned();
            let command = items::Command::ReadLists { user: None };
            turn.ask_then(iq, command, move |turn, asked, answer| match answer {
                Ok(delivery) => {
                    let lists = lists_of(delivery);
                    match lists.into_iter().find(|(name, _)| *name == node) {
                        Some((_, list)) => turn.answer(asked, |out| {
                            payload::write_configuration(out, &node, |out| write_form(out, list));
                        }),
                        None => turn.answer_error(&asked, &StanzaError::new(Condition::ItemNotFound)),
                    }
                }
                Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
            });
        }
        Some(form) if form.kind == FormKind::Cancel => turn.empty_result(iq),
        Some(form) => {
            let change = change(Some(form))?;
            let command = items::Command::Configure { list: node.into(), creates: false, change };
            remove(turn, iq, node, command);
        }
    }
    Ok(())
}

const ACCESS: &str = "pubsub#access_model";
const MAX_ITEMS: &str = "pubsub#max_items";
const PERSIST: &str = "pubsub#persist_items";
const SEND_LAST: &str = "pubsub#send_last_published_item";
const ACCESS_MODELS: &[(&str, &str, ItemAccess)] = &[
    ("presence", "Contacts who see the presence", ItemAccess::Contacts),
    ("whitelist", "Nobody else", ItemAccess::Nobody),
    ("open", "Everybody", ItemAccess::Everybody),
];

/// Choices in a form (§16.4.4). Options that have one value here are accepted with that value. Others are refused: their sender relies
/// on them.
fn change(form: Option<&Form<'_>>) -> Result<ItemListChange, StanzaError> {
    let mut change = ItemListChange::default();
    let Some(form) = form else { return Ok(change) };
    let wrong = || payload::error(Why::InvalidOptions);
    for name in form.names() {
        let value = form.value(name).unwrap_or_default();
        match name {
            ACCESS => {
                let access = ACCESS_MODELS.iter().find(|(model, ..)| *model == value);
                change.access = Some(access.ok_or_else(|| unsupported(&format!("access-{value}")))?.2);
            }
            // §16.4.4: as many as the server allows.
            MAX_ITEMS if value == "max" => change.most = Some(MOST_ITEMS),
            MAX_ITEMS => {
                let most: u32 = value.parse().map_err(|_| wrong())?;
                change.most = Some(most.clamp(1, MOST_ITEMS));
            }
            PERSIST => change.persists = Some(form.boolean(PERSIST).ok_or_else(wrong)?),
            SEND_LAST => change.sends_latest = Some(value != "never"),
            "pubsub#deliver_payloads" | "pubsub#deliver_notifications"
                if form.boolean(name) == Some(true) => {}
            "pubsub#publish_model" if value == "publishers" => {}
            "pubsub#notification_type" if value == "headline" => {}
            // For people, or about notices that subscriptions get.
            "pubsub#title"
            | "pubsub#description"
            | "pubsub#type"
            | "pubsub#notify_config"
            | "pubsub#notify_delete"
            | "pubsub#notify_retract"
            | "pubsub#notify_sub"
            | "pubsub#max_payload_size" => {}
            "pubsub#item_expire" if value == "max" => {}
            _ => return Err(wrong()),
        }
    }
    Ok(change)
}

fn write_form(out: &mut Vec<u8>, list: ItemList) {
    let flag = |on: bool| if on { "1" } else { "0" };
    let model =
        ACCESS_MODELS.iter().find(|(_, _, access)| *access == list.access).map_or("", |found| found.0);
    let models: Vec<(&str, &str)> = ACCESS_MODELS.iter().map(|(value, label, _)| (*value, *label)).collect();
    let when = if list.sends_latest { "on_sub_and_presence" } else { "never" };
    let whens = [("never", "Never"), ("on_sub_and_presence", "When a reader comes")];
    data_forms::write(out, FormKind::Form, NODE_CONFIG, |out| {
        let field =
            |name, kind, label| Field { kind: Some(kind), label: Some(label), ..Field::new(name, &[]) };
        let access = field(ACCESS, FieldKind::ListSingle, "Who reads the items");
        Field { values: &[model], options: &models, ..access }.write(out);
        let most = list.most.to_string();
        Field { values: &[&most], ..field(MAX_ITEMS, FieldKind::TextSingle, "Items that are kept") }
            .write(out);
        let persist = field(PERSIST, FieldKind::Boolean, "Whether items are kept");
        Field { values: &[flag(list.persists)], ..persist }.write(out);
        let last = field(SEND_LAST, FieldKind::ListSingle, "When the latest item is sent");
        Field { values: &[when], options: &whens, ..last }.write(out);
    });
}

/// A command about a node that holds data of another extension.
pub(super) fn check_name(node: &str) -> Result<(), StanzaError> {
    if is_reserved(node) { Err(StanzaError::new(Condition::Forbidden)) } else { Ok(()) }
}

/// Reads the latest item of one list of a user, for another extension. None: there is none, or not for this reader.
pub(crate) fn latest_item(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    user: Option<Sub>,
    list: &str,
    then: impl FnOnce(&mut Turn<'_, '_>, Asked, Option<&Item>) + Send + 'static,
) {
    let command = items::Command::Read { user, list: list.into(), of: ItemsOf::Newest(Some(1)) };
    turn.continue_then(asked, command, move |turn, asked, answer| {
        let item = answer.ok().and_then(items_of).and_then(|page| page.items.last());
        then(turn, asked, item);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::ExportedItem;
    use xmpp_proto::xml::{Limits, document};

    /// The export has no XML, so the domain restores the stored form by itself.
    #[test]
    fn the_export_has_a_value_as_apps_read_it() {
        let xml = "<a xmlns='http://example.org/a:b'><c xmlns='urn:d.e'>1.2:3/4</c></a>";
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        let payload = stored(tree.root());
        let mut read = Vec::new();
        restore(&payload, &mut read);
        let item = Item { id: "i".into(), version: 1, payload: Some(payload) };
        assert_eq!(ExportedItem { list: "l".into(), item }.value().as_bytes(), read);
    }
}
