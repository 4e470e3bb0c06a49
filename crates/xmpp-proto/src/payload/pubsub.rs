//! Publish-subscribe (XEP-0060), the part that a personal eventing service needs (XEP-0163).

use super::data_forms::Form;
use super::rsm;
use crate::ns;
use crate::stanza::{Condition, ErrorKind, StanzaError};
use crate::xml::{Element, Open};

/// The form types of XEP-0060 §7.1.5 and §16.4.4.
pub const PUBLISH_OPTIONS: &str = "http://jabber.org/protocol/pubsub#publish-options";
pub const NODE_CONFIG: &str = "http://jabber.org/protocol/pubsub#node_config";

/// A request of an owner or reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Request<'a> {
    /// §7.1. A missing id is chosen by the server. `options` are conditions on the node (§7.1.5).
    Publish { node: &'a str, id: Option<&'a str>, payload: Option<Element<'a>>, options: Option<Form<'a>> },
    /// §7.2.
    Retract { node: &'a str, id: &'a str, notify: bool },
    /// §6.5. `ids` are empty for all items.
    Items { node: &'a str, ids: Vec<&'a str>, max: Option<u32>, page: rsm::Request<'a> },
    /// §8.1. A missing name is chosen by the server.
    Create { node: Option<&'a str>, config: Option<Form<'a>> },
    /// §8.2: asks for the configuration of a node, or changes it, or (a form of the kind `Cancel`) does not change it.
    Configure { node: &'a str, config: Option<Form<'a>> },
    /// §8.4.
    Delete { node: &'a str },
    /// §8.5.
    Purge { node: &'a str },
    /// §6.1: subscriptions beside those that follow from presences.
    Subscribe { node: &'a str, jid: &'a str },
    /// §6.2.
    Unsubscribe { node: &'a str, jid: &'a str },
}

impl<'a> Request<'a> {
    /// Reads the `pubsub` element of a request.
    pub fn of(pubsub: Element<'a>) -> Result<Request<'a>, StanzaError> {
        let action = pubsub.first().ok_or_else(|| StanzaError::new(Condition::BadRequest))?;
        let node =
            || action.attr("node").filter(|node| !node.is_empty()).ok_or_else(|| error(Why::NodeIdRequired));
        let jid = || action.attr("jid").ok_or_else(|| error(Why::JidRequired));
        match (pubsub.ns(), action.name()) {
            (ns::PUBSUB, "publish") => {
                let mut items = action.children().filter(|child| child.is("item", ns::PUBSUB));
                let (Some(item), None) = (items.next(), items.next()) else {
                    return Err(error(Why::ItemRequired));
                };
                let mut payloads = item.children();
                let (payload, None) = (payloads.next(), payloads.next()) else {
                    return Err(error(Why::InvalidPayload));
                };
                let options = form(pubsub.child("publish-options", ns::PUBSUB), PUBLISH_OPTIONS)?;
                Ok(Request::Publish { node: node()?, id: item.attr("id"), payload, options })
            }
            (ns::PUBSUB, "retract") => {
                let item = action.child("item", ns::PUBSUB).and_then(|item| item.attr("id"));
                let id = item.ok_or_else(|| error(Why::ItemRequired))?;
                let notify = matches!(action.attr("notify"), Some("true" | "1"));
                Ok(Request::Retract { node: node()?, id, notify })
            }
            (ns::PUBSUB, "items") => {
                let items = action.children().filter(|child| child.is("item", ns::PUBSUB));
                let max = action.attr("max_items").map(|max| max.parse().map_err(|_| Condition::BadRequest));
                Ok(Request::Items {
                    node: node()?,
                    ids: items.filter_map(|item| item.attr("id")).collect(),
                    max: max.transpose().map_err(StanzaError::new)?,
                    page: rsm::Request::of(pubsub).map_err(StanzaError::new)?,
                })
            }
            (ns::PUBSUB, "create") => {
                let config = form(pubsub.child("configure", ns::PUBSUB), NODE_CONFIG)?;
                Ok(Request::Create { node: action.attr("node"), config })
            }
            (ns::PUBSUB_OWNER, "configure") => {
                Ok(Request::Configure { node: node()?, config: form(Some(action), NODE_CONFIG)? })
            }
            (ns::PUBSUB_OWNER, "delete") => Ok(Request::Delete { node: node()? }),
            (ns::PUBSUB_OWNER, "purge") => Ok(Request::Purge { node: node()? }),
            (ns::PUBSUB, "subscribe") => Ok(Request::Subscribe { node: node()?, jid: jid()? }),
            (ns::PUBSUB, "unsubscribe") => Ok(Request::Unsubscribe { node: node()?, jid: jid()? }),
            _ => Err(StanzaError::new(Condition::FeatureNotImplemented)),
        }
    }
}

/// A form that we cannot read is an error: published data would be open to everybody if its options were ignored.
fn form<'a>(parent: Option<Element<'a>>, form_type: &str) -> Result<Option<Form<'a>>, StanzaError> {
    parent.map_or(Ok(None), |parent| Form::within(parent, form_type)).map_err(|_| error(Why::InvalidOptions))
}

/// The conditions of XEP-0060 that a personal eventing service uses, each with its stanza error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    ClosedNode,
    InvalidOptions,
    InvalidPayload,
    ItemRequired,
    JidRequired,
    NodeFull,
    NodeIdRequired,
    PayloadRequired,
    PayloadTooBig,
    PreconditionNotMet,
    PresenceSubscriptionRequired,
}

pub fn error(why: Why) -> StanzaError {
    let (condition, kind, name) = match why {
        Why::ClosedNode => (Condition::NotAllowed, ErrorKind::Cancel, "closed-node"),
        Why::InvalidOptions => (Condition::BadRequest, ErrorKind::Modify, "invalid-options"),
        Why::InvalidPayload => (Condition::BadRequest, ErrorKind::Modify, "invalid-payload"),
        Why::ItemRequired => (Condition::BadRequest, ErrorKind::Modify, "item-required"),
        Why::JidRequired => (Condition::BadRequest, ErrorKind::Modify, "jid-required"),
        Why::NodeFull => (Condition::Conflict, ErrorKind::Cancel, "node-full"),
        Why::NodeIdRequired => (Condition::BadRequest, ErrorKind::Modify, "nodeid-required"),
        Why::PayloadRequired => (Condition::BadRequest, ErrorKind::Modify, "payload-required"),
        Why::PayloadTooBig => (Condition::NotAcceptable, ErrorKind::Modify, "payload-too-big"),
        Why::PreconditionNotMet => (Condition::Conflict, ErrorKind::Cancel, "precondition-not-met"),
        Why::PresenceSubscriptionRequired => {
            (Condition::NotAuthorized, ErrorKind::Auth, "presence-subscription-required")
        }
    };
    StanzaError::new(condition).kind(kind).application(name, ns::PUBSUB_ERRORS)
}

/// XEP-0060 §10: the error for a feature that is missing here.
pub fn unsupported(feature: &str) -> StanzaError {
    StanzaError::new(Condition::FeatureNotImplemented).extension(|out| {
        Open::new(out, "unsupported").attr("xmlns", ns::PUBSUB_ERRORS).attr("feature", feature).empty();
    })
}

/// §7.1.2: answers a publication with the item's id.
pub fn write_published(out: &mut Vec<u8>, node: &str, id: &str) {
    Open::new(out, "pubsub").attr("xmlns", ns::PUBSUB).children(|out| {
        Open::new(out, "publish")
            .attr("node", node)
            .children(|out| Open::new(out, "item").attr("id", id).empty());
    });
}

/// §8.1.3: answers the creation of a node whose name the server has chosen.
pub fn write_created(out: &mut Vec<u8>, node: &str) {
    Open::new(out, "pubsub")
        .attr("xmlns", ns::PUBSUB)
        .children(|out| Open::new(out, "create").attr("node", node).empty());
}

/// §6.5.3: answers a request for items. `items` uses [`write_item`]; `page` is for a request with a page.
pub fn write_items(
    out: &mut Vec<u8>,
    node: &str,
    page: Option<&rsm::Returned<'_>>,
    items: impl FnOnce(&mut Vec<u8>),
) {
    Open::new(out, "pubsub").attr("xmlns", ns::PUBSUB).children(|out| {
        Open::new(out, "items").attr("node", node).children(items);
        if let Some(page) = page {
            page.write(out);
        }
    });
}

/// `payload` declares its namespace.
pub fn write_item(out: &mut Vec<u8>, id: &str, payload: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "item").attr("id", id).children(payload);
}

/// A change of a node.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// §7.2.2.1.
    Retracted { id: &'a str },
    /// §8.5.2.
    Purged,
    /// §8.4.2.
    Deleted,
}

impl Event<'_> {
    /// Writes the content of a notification.
    pub fn write(self, out: &mut Vec<u8>, node: &str) {
        Open::new(out, "event").attr("xmlns", ns::PUBSUB_EVENT).children(|out| match self {
            Event::Retracted { id } => {
                Open::new(out, "items")
                    .attr("node", node)
                    .children(|out| Open::new(out, "retract").attr("id", id).empty());
            }
            Event::Purged => Open::new(out, "purge").attr("node", node).empty(),
            Event::Deleted => Open::new(out, "delete").attr("node", node).empty(),
        });
    }
}

/// §7.1.2.1: writes the content of a notification about published items. `items` uses [`write_item`].
pub fn write_event(out: &mut Vec<u8>, node: &str, items: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "event").attr("xmlns", ns::PUBSUB_EVENT).children(|out| {
        Open::new(out, "items").attr("node", node).children(items);
    });
}

/// §8.2.2: writes the configuration of a node. `form` writes the data form.
pub fn write_configuration(out: &mut Vec<u8>, node: &str, form: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "pubsub").attr("xmlns", ns::PUBSUB_OWNER).children(|out| {
        Open::new(out, "configure").attr("node", node).children(form);
    });
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    const PUBSUB: &str = "<pubsub xmlns='http://jabber.org/protocol/pubsub'>";
    const OWNER: &str = "<pubsub xmlns='http://jabber.org/protocol/pubsub#owner'>";

    #[test]
    fn a_publication_has_a_node_an_item_and_options() {
        let tree = read(&format!(
            "{PUBSUB}<publish node='n'><item id='i'><a xmlns='urn:a'/></item></publish><publish-options>\
             <x xmlns='jabber:x:data' type='submit'><field var='FORM_TYPE'><value>{PUBLISH_OPTIONS}</value></field>\
             <field var='pubsub#access_model'><value>whitelist</value></field></x></publish-options></pubsub>"
        ));
        let Ok(Request::Publish { node: "n", id: Some("i"), payload: Some(payload), options: Some(options) }) =
            Request::of(tree.root())
        else {
            panic!()
        };
        assert!(payload.is("a", "urn:a"));
        assert_eq!(options.value("pubsub#access_model"), Some("whitelist"));
    }

    #[test]
    fn other_requests_are_read() {
        for (xml, expected) in [
            (
                format!("{PUBSUB}<retract node='n' notify='1'><item id='i'/></retract></pubsub>"),
                Request::Retract { node: "n", id: "i", notify: true },
            ),
            (
                format!("{PUBSUB}<items node='n' max_items='1'><item id='i'/></items></pubsub>"),
                Request::Items { node: "n", ids: vec!["i"], max: Some(1), page: rsm::Request::default() },
            ),
            (format!("{PUBSUB}<create/></pubsub>"), Request::Create { node: None, config: None }),
            (
                format!("{OWNER}<configure node='n'/></pubsub>"),
                Request::Configure { node: "n", config: None },
            ),
            (format!("{OWNER}<delete node='n'/></pubsub>"), Request::Delete { node: "n" }),
            (format!("{OWNER}<purge node='n'/></pubsub>"), Request::Purge { node: "n" }),
            (
                format!("{PUBSUB}<subscribe node='n' jid='a@b.example'/></pubsub>"),
                Request::Subscribe { node: "n", jid: "a@b.example" },
            ),
            (
                format!("{PUBSUB}<unsubscribe node='n' jid='a@b.example'/></pubsub>"),
                Request::Unsubscribe { node: "n", jid: "a@b.example" },
            ),
        ] {
            assert_eq!(Request::of(read(&xml).root()), Ok(expected), "{xml}");
        }
    }

    #[test]
    fn incomplete_requests_are_refused_with_their_reason() {
        for (inside, expected) in [
            ("", StanzaError::new(Condition::BadRequest)),
            ("<items/>", error(Why::NodeIdRequired)),
            ("<items node='n' max_items='x'/>", StanzaError::new(Condition::BadRequest)),
            ("<publish node='n'/>", error(Why::ItemRequired)),
            ("<publish node='n'><item/><item/></publish>", error(Why::ItemRequired)),
            ("<publish node='n'><item><a/><b/></item></publish>", error(Why::InvalidPayload)),
            ("<publish><item/></publish>", error(Why::NodeIdRequired)),
            ("<retract node='n'><item/></retract>", error(Why::ItemRequired)),
            (
                "<publish node='n'><item/></publish><publish-options><x xmlns='jabber:x:data' type='submit'>\
                 <field var='FORM_TYPE'><value>urn:x</value></field></x></publish-options>",
                error(Why::InvalidOptions),
            ),
            ("<subscribe node='n'/>", error(Why::JidRequired)),
            ("<delete node='n'/>", StanzaError::new(Condition::FeatureNotImplemented)),
            ("<options node='n'/>", StanzaError::new(Condition::FeatureNotImplemented)),
        ] {
            let tree = read(&format!("{PUBSUB}{inside}</pubsub>"));
            assert_eq!(Request::of(tree.root()), Err(expected), "{inside}");
        }
    }

    #[test]
    fn answers_and_notifications_are_written() {
        let item = |out: &mut Vec<u8>| {
            write_item(out, "i", |out| Open::new(out, "a").attr("xmlns", "urn:a").empty())
        };
        let xml = written(|out| {
            write_published(out, "n", "i");
            write_items(out, "n", Some(&rsm::Returned { count: Some(1), ..rsm::Returned::default() }), item);
            write_event(out, "n", item);
            Event::Retracted { id: "i" }.write(out, "n");
            Event::Purged.write(out, "n");
            Event::Deleted.write(out, "n");
        });
        let xml = xml.replace("http://jabber.org/protocol/pubsub", "P");
        assert_eq!(
            xml,
            "<pubsub xmlns='P'><publish node='n'><item id='i'/></publish></pubsub>\
             <pubsub xmlns='P'><items node='n'><item id='i'><a xmlns='urn:a'/></item></items>\
             <set xmlns='http://jabber.org/protocol/rsm'><count>1</count></set></pubsub>\
             <event xmlns='P#event'><items node='n'><item id='i'><a xmlns='urn:a'/></item></items></event>\
             <event xmlns='P#event'><items node='n'><retract id='i'/></items></event>\
             <event xmlns='P#event'><purge node='n'/></event><event xmlns='P#event'><delete node='n'/></event>"
        );
    }

    #[test]
    fn a_configuration_is_a_form() {
        let xml = written(|out| write_configuration(out, "n", |_| ()));
        assert_eq!(xml, format!("{OWNER}<configure node='n'/></pubsub>"));
    }

    #[test]
    fn a_missing_feature_is_named() {
        let xml = written(|out| unsupported("subscribe").write(out));
        let name = "<unsupported xmlns='http://jabber.org/protocol/pubsub#errors' feature='subscribe'/>";
        assert!(xml.contains(name), "{xml}");
    }
}
