//! Personal Eventing (XEP-0163): nodes of a user, with items.
//!
//! The items of most nodes are stored by the domain as they are ([`stored`]). A few nodes show other data of the domain: their items are
//! derived ([`Node`]).

pub(crate) mod notices;
pub(crate) mod stored;

use chat::items::Command;

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
    scenario: "pep",
    server_features: &[],
    account_features: &[
        "http://jabber.org/protocol/pubsub#access-open",
        "http://jabber.org/protocol/pubsub#access-presence",
        "http://jabber.org/protocol/pubsub#access-whitelist",
        "http://jabber.org/protocol/pubsub#auto-create",
        "http://jabber.org/protocol/pubsub#auto-subscribe",
        "http://jabber.org/protocol/pubsub#filtered-notifications",
        "http://jabber.org/protocol/pubsub#last-published",
    ],
    iq: &[],
};

pub(crate) const PUBSUB: Extension = Extension {
    spec: Spec::Xep(60),
    name: "Publish-Subscribe",
    version: "1.29.0",
    scenario: "pep",
    server_features: &[],
    account_features: &[
        ns::PUBSUB,
        "http://jabber.org/protocol/pubsub#config-node",
        "http://jabber.org/protocol/pubsub#config-node-max",
        "http://jabber.org/protocol/pubsub#create-and-configure",
        "http://jabber.org/protocol/pubsub#create-nodes",
        "http://jabber.org/protocol/pubsub#delete-items",
        "http://jabber.org/protocol/pubsub#delete-nodes",
        "http://jabber.org/protocol/pubsub#instant-nodes",
        "http://jabber.org/protocol/pubsub#item-ids",
        "http://jabber.org/protocol/pubsub#multi-items",
        "http://jabber.org/protocol/pubsub#persistent-items",
        "http://jabber.org/protocol/pubsub#publish",
        "http://jabber.org/protocol/pubsub#publish-options",
        "http://jabber.org/protocol/pubsub#purge-nodes",
        "http://jabber.org/protocol/pubsub#retrieve-items",
        "http://jabber.org/protocol/pubsub#rsm",
    ],
    iq: &[
        IqHandler { name: "pubsub", ns: ns::PUBSUB, handle: request },
        IqHandler { name: "pubsub", ns: ns::PUBSUB_OWNER, handle: request },
    ],
};

/// Items that everybody may read.
pub(crate) const PUBLIC: Extension = Extension {
    spec: Spec::Xep(222),
    name: "Persistent Storage of Public Data via PubSub",
    version: "1.0.1",
    scenario: "pep",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Items that only the user reads.
pub(crate) const PRIVATE: Extension = Extension {
    spec: Spec::Xep(223),
    name: "Persistent Storage of Private Data via PubSub",
    version: "1.1.1",
    scenario: "pep",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Clients encrypt. The server stores the keys of devices, and messages keep the element.
pub(crate) const OMEMO: Extension = Extension {
    spec: Spec::Xep(384),
    name: "OMEMO Encryption",
    version: "0.8.3",
    scenario: "omemo",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Messages keep the element.
pub(crate) const ENCRYPTION: Extension = Extension {
    spec: Spec::Xep(380),
    name: "Explicit Message Encryption",
    version: "0.4.0",
    scenario: "omemo",
    server_features: &[],
    account_features: &[],
    iq: &[],
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

static NODES: &[&Node] = &[&bookmarks::NODE, &bookmarks::stored::NODE, &displayed::NODE];

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let request = Request::of(iq.payload)?;
    let user = match (&iq.target, &request) {
        (Target::Account, _) => None,
        (Target::User(user), Request::Items { .. }) => Some(user.clone()),
        // Only the user changes items.
        (Target::User(_), _) => return Err(StanzaError::new(Condition::Forbidden)),
        _ => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    };
    match (iq.kind, request) {
        (IqKind::Get, Request::Items { node, ids, max, page }) => match (find(node), user) {
            // A derived node is its owner's alone. To others it looks as if it did not exist.
            (Some(_), Some(_)) => Err(StanzaError::new(Condition::ItemNotFound)),
            (Some(node), None) => {
                (node.items)(turn, iq, ids.into_iter().map(str::to_owned).collect());
                Ok(())
            }
            (None, _) if stored::is_reserved(node) => Err(StanzaError::new(Condition::ItemNotFound)),
            (None, user) => stored::items(turn, iq, user, node, &ids, max, &page),
        },
        (IqKind::Set, Request::Publish { node, id, payload, options }) => match find(node) {
            Some(node) => {
                check(options.as_ref())?;
                (node.publish)(turn, iq, id, payload)
            }
            None => {
                stored::check_name(node)?;
                stored::publish(turn, iq, node, id, payload, options.as_ref())
            }
        },
        (IqKind::Set, Request::Retract { node, id, notify }) => match find(node).map(|node| node.retract) {
            Some(Some(retract)) => retract(turn, iq, id),
            Some(None) => Err(unsupported("delete-items")),
            None => {
                stored::check_name(node)?;
                stored::remove(turn, iq, node, Command::Delete { list: node.into(), id: id.into(), notify });
                Ok(())
            }
        },
        (IqKind::Set, Request::Create { node, config }) => {
            if node.is_some_and(|node| find(node).is_some()) {
                return Err(StanzaError::new(Condition::Conflict));
            }
            node.map_or(Ok(()), stored::check_name)?;
            stored::create(turn, iq, node, config.as_ref())
        }
        (kind, Request::Configure { node, config }) => {
            own_node(node)?;
            match (kind, config) {
                (IqKind::Get, _) => stored::configure(turn, iq, node, None),
                (IqKind::Set, Some(config)) => stored::configure(turn, iq, node, Some(&config)),
                (IqKind::Set, None) => Err(StanzaError::new(Condition::BadRequest)),
            }
        }
        (IqKind::Set, Request::Delete { node }) => {
            own_node(node)?;
            stored::remove(turn, iq, node, Command::DeleteList { list: node.into() });
            Ok(())
        }
        (IqKind::Set, Request::Purge { node }) => {
            own_node(node)?;
            stored::remove(turn, iq, node, Command::Empty { list: node.into() });
            Ok(())
        }
        (_, Request::Subscribe { .. } | Request::Unsubscribe { .. }) => Err(unsupported("subscribe")),
        _ => Err(StanzaError::new(Condition::BadRequest)),
    }
}

/// A node whose configuration and existence the client may change.
fn own_node(node: &str) -> Result<(), StanzaError> {
    if find(node).is_some() { Err(StanzaError::new(Condition::NotAllowed)) } else { stored::check_name(node) }
}

fn find(name: &str) -> Option<&'static Node> {
    NODES.iter().find(|node| node.name == name).copied()
}

/// The derived nodes are private: a client that publishes to others must learn that they do not get it (XEP-0060 §7.1.5).
fn check(options: Option<&Form<'_>>) -> Result<(), StanzaError> {
    match options.and_then(|options| options.value("pubsub#access_model")) {
        None | Some("whitelist") => Ok(()),
        Some(_) => Err(payload::error(Why::PreconditionNotMet)),
    }
}
