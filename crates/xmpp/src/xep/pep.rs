//! Personal Eventing (XEP-0163) for nodes whose items are data of the domain. There is no store of other items.

use xmpp_proto::ns;
use xmpp_proto::payload::data_forms::Form;
use xmpp_proto::payload::pubsub::{self as payload, Request, Why, unsupported};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Element;

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Iq, IqHandler, IqKind, Turn};
use crate::xep::{bookmarks, displayed};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(163),
    name: "Personal Eventing Protocol",
    version: "1.2.2",
    scenario: "displayed",
    server_features: &[],
    account_features: &[
        ns::PUBSUB,
        "http://jabber.org/protocol/pubsub#access-whitelist",
        "http://jabber.org/protocol/pubsub#item-ids",
        "http://jabber.org/protocol/pubsub#multi-items",
        "http://jabber.org/protocol/pubsub#persistent-items",
        "http://jabber.org/protocol/pubsub#publish",
        "http://jabber.org/protocol/pubsub#publish-options",
        "http://jabber.org/protocol/pubsub#retrieve-items",
    ],
    iq: &[IqHandler { name: "pubsub", ns: ns::PUBSUB, handle: request }],
};

/// A node that only its owner reads and writes.
pub(crate) struct Node {
    pub(crate) name: &'static str,
    /// Answers with the items of these ids; with all, if there are no ids.
    pub(crate) items: fn(&mut Turn<'_, '_>, &Iq<'_>, Vec<String>),
    pub(crate) publish: Publish,
    /// Deletes the item of this id, and answers. None: items cannot be deleted.
    pub(crate) retract: Option<Retract>,
}

/// Publishes an item with this id and payload, and answers.
type Publish = fn(&mut Turn<'_, '_>, &Iq<'_>, Option<&str>, Option<Element<'_>>) -> Result<(), StanzaError>;

type Retract = fn(&mut Turn<'_, '_>, &Iq<'_>, &str) -> Result<(), StanzaError>;

static NODES: &[&Node] = &[&bookmarks::NODE, &displayed::NODE];

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    // Whether another user has a node is not told.
    if iq.target != Target::Account {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    match (iq.kind, Request::of(iq.payload)?) {
        (IqKind::Get, Request::Items { node, ids, .. }) => {
            let node = find(node)?;
            (node.items)(turn, iq, ids.into_iter().map(str::to_owned).collect());
            Ok(())
        }
        (IqKind::Set, Request::Publish { node, id, payload, options }) => {
            let Ok(node) = find(node) else { return Err(unsupported("auto-create")) };
            check(options.as_ref())?;
            (node.publish)(turn, iq, id, payload)
        }
        (IqKind::Set, Request::Retract { node, id, .. }) => match find(node)?.retract {
            Some(retract) => retract(turn, iq, id),
            None => Err(unsupported("delete-items")),
        },
        (IqKind::Set, Request::Create { .. }) => Err(unsupported("create-nodes")),
        (_, Request::Subscribe { .. } | Request::Unsubscribe { .. }) => Err(unsupported("subscribe")),
        _ => Err(StanzaError::new(Condition::BadRequest)),
    }
}

fn find(name: &str) -> Result<&'static Node, StanzaError> {
    let node = NODES.iter().find(|node| node.name == name);
    node.copied().ok_or_else(|| StanzaError::new(Condition::ItemNotFound))
}

/// The nodes are private: a client that publishes to others must learn that they do not get it (XEP-0060 §7.1.5).
fn check(options: Option<&Form<'_>>) -> Result<(), StanzaError> {
    match options.and_then(|options| options.value("pubsub#access_model")) {
        None | Some("whitelist") => Ok(()),
        Some(_) => Err(payload::error(Why::PreconditionNotMet)),
    }
}
