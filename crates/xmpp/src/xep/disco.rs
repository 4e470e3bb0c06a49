//! Service Discovery (XEP-0030) of the domain, its rooms and accounts.

use xmpp_proto::ns;
use xmpp_proto::payload::disco::{Identity, Info, Item, write_items};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{EXTENSIONS, Extension, Spec};
use crate::session::{Iq, IqHandler, IqKind, Turn};
use crate::xep::{commands, http_upload, muc};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(30),
    name: "Service Discovery",
    version: "2.5.0",
    scenario: "disco",
    server_features: &[ns::DISCO_INFO, ns::DISCO_ITEMS],
    account_features: &[ns::DISCO_INFO, ns::DISCO_ITEMS],
    iq: &[
        IqHandler { name: "query", ns: ns::DISCO_INFO, handle: info },
        IqHandler { name: "query", ns: ns::DISCO_ITEMS, handle: items },
    ],
};

const SERVER: &[Identity<'static>] = &[
    Identity { category: "server", kind: "im", name: Some("Kith") },
    // XEP-0363 §3. The last one, because a node may have no files.
    Identity { category: "store", kind: "file", name: Some("Files") },
];
const ACCOUNT: &[Identity<'static>] = &[
    Identity { category: "account", kind: "registered", name: None },
    Identity { category: "pubsub", kind: "pep", name: None },
];

fn info(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if let (Target::Server, Some(info)) = (&iq.target, iq.payload.attr("node").and_then(commands::info)) {
        turn.result(iq, |out| info.write(out, |_| {}));
        return Ok(());
    }
    let node = asked_node(iq)?;
    let (identities, features): (_, fn(&Extension) -> &'static [&'static str]) = match iq.target {
        Target::Server => (SERVER, |one| one.server_features),
        Target::Account => (ACCOUNT, |one| one.account_features),
        // Whether a user exists stays unknown to strangers (XEP-0030 §8).
        Target::Rooms => {
            muc::service_info(turn, iq);
            return Ok(());
        }
        Target::Room(number) => return muc::room_info(turn, iq, number),
        Target::User(_) | Target::Elsewhere => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    };
    let features = EXTENSIONS.iter().flat_map(|one| features(one)).copied().collect();
    let mut info = Info { node, identities: identities.to_vec(), features };
    let files = turn.links().files().filter(|_| iq.target == Target::Server).cloned();
    if iq.target == Target::Server && files.is_none() {
        info.identities.pop();
        info.features.retain(|feature| *feature != ns::UPLOAD);
    }
    turn.result(iq, |out| {
        info.write(out, |out| {
            if let Some(files) = &files {
                http_upload::write_limit(out, &**files);
            }
        });
    });
    Ok(())
}

fn items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target == Target::Server && iq.payload.attr("node") == Some(ns::COMMANDS) {
        commands::list(turn, iq);
        return Ok(());
    }
    let node = asked_node(iq)?;
    match iq.target {
        Target::Server => {
            let rooms = format!("{}.{}", muc::SERVICE, turn.domain());
            turn.result(iq, |out| {
                write_items(out, node, |out| {
                    Item { jid: &rooms, node: None, name: Some("Rooms") }.write(out)
                });
            });
        }
        Target::Rooms => return muc::service_items(turn, iq),
        // The occupants are in the presences that the room sends to those in it.
        Target::Account | Target::Room(_) => turn.result(iq, |out| write_items(out, node, |_| {})),
        Target::User(_) | Target::Elsewhere => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    }
    Ok(())
}

/// Only commands have nodes.
fn asked_node<'a>(iq: &Iq<'a>) -> Result<Option<&'a str>, StanzaError> {
    if iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    match iq.payload.attr("node") {
        None => Ok(None),
        Some(_) => Err(StanzaError::new(Condition::ItemNotFound)),
    }
}
