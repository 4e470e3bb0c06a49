//! Service Discovery (XEP-0030) of the domain, its rooms and accounts.

use chat::{Refusal, items};
use xmpp_proto::ns;
use xmpp_proto::payload::disco::{Identity, Info, Item, write_items};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::{self, Target};
use crate::config::FileLinks;
use crate::extensions::{EXTENSIONS, Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Iq, IqHandler, IqKind, Turn};
use crate::xep::pep::stored::lists_of;
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

/// Writes the answer for the domain. `files`: None if the node has no files.
pub(crate) fn write_server(out: &mut Vec<u8>, node: Option<&str>, files: Option<&dyn FileLinks>) {
    let features = features(|one| one.server_features);
    let mut info = Info { node, identities: SERVER.to_vec(), features };
    if files.is_none() {
        info.identities.pop();
        info.features.retain(|feature| *feature != ns::UPLOAD);
    }
    info.write(out, |out| {
        if let Some(files) = files {
            http_upload::write_limit(out, files);
        }
    });
}

fn account_info() -> Info<'static> {
    Info { node: None, identities: ACCOUNT.to_vec(), features: features(|one| one.account_features) }
}

/// Each once: an answer with a feature twice has no hash (XEP-0115 §5.4).
fn features(of: fn(&Extension) -> &'static [&'static str]) -> Vec<&'static str> {
    let mut features: Vec<&str> = EXTENSIONS.iter().flat_map(|one| of(one)).copied().collect();
    features.sort_unstable();
    features.dedup();
    features
}

fn info(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    if let (Target::Server, Some(info)) = (&iq.target, iq.payload.attr("node").and_then(commands::info)) {
        turn.result(iq, |out| info.write(out, |_| {}));
        return Ok(());
    }
    match (&iq.target, iq.payload.attr("node")) {
        (Target::Server, node) if node.is_none_or(|node| turn.gateway.is_caps_node(node)) => {
            let files = turn.links().files().cloned();
            turn.result(iq, |out| write_server(out, node, files.as_deref()));
        }
        // Nothing else has nodes with features of their own.
        (Target::Server | Target::Account | Target::Rooms | Target::Room(_), Some(_)) => {
            return Err(StanzaError::new(Condition::ItemNotFound));
        }
        (Target::Account, None) => turn.result(iq, |out| account_info().write(out, |_| {})),
        (Target::Rooms, None) => muc::service_info(turn, iq),
        (Target::Room(number), None) => return muc::room_info(turn, iq, *number),
        // Whether a user exists stays unknown to those who may read nothing of theirs (XEP-0030 §8).
        (Target::User(user), None) => {
            let command = items::Command::ReadLists { user: Some(user.clone()) };
            turn.ask_then(iq, command, |turn, asked, answer| match answer {
                Ok(_) => turn.answer(asked, |out| account_info().write(out, |_| {})),
                Err(refusal) => turn.answer_error(&asked, &hidden(refusal)),
            });
        }
        _ => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    }
    Ok(())
}

fn hidden(refusal: Refusal) -> StanzaError {
    match refusal {
        Refusal::NoSuchItem => StanzaError::new(Condition::ServiceUnavailable),
        other => stanza_error(other),
    }
}

fn items(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target == Target::Server && iq.payload.attr("node") == Some(ns::COMMANDS) {
        commands::list(turn, iq);
        return Ok(());
    }
    let node = asked_node(iq)?;
    let user = match &iq.target {
        Target::Server => {
            if !turn.waits_for_components(iq) {
                let components = turn.gateway.shared.components_of(turn.session.user.site);
                let domain = turn.domain().to_owned();
                turn.result(iq, |out| write_services(out, &domain, &components));
            }
            return Ok(());
        }
        Target::Rooms => return muc::service_items(turn, iq),
        // The occupants are in the presences that the room sends to those in it.
        Target::Room(_) => {
            turn.result(iq, |out| write_items(out, node, |_| {}));
            return Ok(());
        }
        Target::Account => None,
        Target::User(user) => Some(user.clone()),
        Target::Elsewhere => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    };
    let owner = match &user {
        None => turn.session.bare().to_owned(),
        Some(user) => address::user(user, turn.domain()),
    };
    turn.ask_then(iq, items::Command::ReadLists { user }, move |turn, asked, answer| match answer {
        Ok(delivery) => turn.answer(asked, |out| {
            write_items(out, None, |out| {
                for (node, _) in lists_of(delivery) {
                    Item { jid: &owner, node: Some(node), name: None }.write(out);
                }
            });
        }),
        Err(refusal) => turn.answer_error(&asked, &hidden(refusal)),
    });
    Ok(())
}

/// The items of a site's domain.
pub(crate) fn write_services(out: &mut Vec<u8>, domain: &str, components: &[Box<str>]) {
    let rooms = format!("{}.{domain}", muc::SERVICE);
    write_items(out, None, |out| {
        Item { jid: &rooms, node: None, name: Some("Rooms") }.write(out);
        components.iter().for_each(|jid| Item { jid, node: None, name: None }.write(out));
    });
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
