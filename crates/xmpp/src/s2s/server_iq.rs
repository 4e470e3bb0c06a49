//! Requests of other servers and their users to a site's domain. Everybody gets the same answers.

use xmpp_proto::ns;
use xmpp_proto::payload::disco::{Identity, Info, write_items};
use xmpp_proto::payload::{ping, version};
use xmpp_proto::stanza::{Condition, StanzaError, write_error};
use xmpp_proto::xml::{Element, Open};

/// The features of the domain for strangers.
const FEATURES: &[&str] = &[ns::DISCO_INFO, ns::DISCO_ITEMS, ns::PING, ns::VERSION];
const SERVER: Identity<'static> = Identity { category: "server", kind: "im", name: Some("Kith") };

/// The answer to a stanza. None: it gets none.
pub(super) fn answer(iq: Element<'_>) -> Option<Vec<u8>> {
    if iq.name() != "iq" || !matches!(iq.attr("type"), Some("get" | "set")) {
        return None;
    }
    let (from, to, id) = (iq.attr("from")?, iq.attr("to")?, iq.attr("id")?);
    let payload = iq.first().filter(|_| iq.attr("type") == Some("get"));
    let no_node = payload.is_some_and(|payload| payload.attr("node").is_none());
    let mut out = Vec::new();
    let open =
        |out| Open::new(out, "iq").attr("type", "result").attr("id", id).attr("from", to).attr("to", from);
    match payload.map(|payload| (payload, payload.ns())) {
        Some((payload, _)) if ping::is(payload) => open(&mut out).empty(),
        Some((_, ns::DISCO_INFO)) if no_node => {
            let info = Info { node: None, identities: vec![SERVER], features: FEATURES.to_vec() };
            open(&mut out).children(|out| info.write(out, |_| {}));
        }
        Some((_, ns::DISCO_ITEMS)) if no_node => {
            open(&mut out).children(|out| write_items(out, None, |_| {}))
        }
        Some((_, ns::VERSION)) => {
            open(&mut out).children(|out| version::write(out, "Kith", env!("CARGO_PKG_VERSION"), None));
        }
        _ => return Some(refusal(iq, Condition::ServiceUnavailable)),
    }
    Some(out)
}

/// An error for the sender of a stanza.
pub(super) fn refusal(stanza: Element<'_>, condition: Condition) -> Vec<u8> {
    let mut out = Vec::new();
    write_error(&mut out, stanza, stanza.attr("to"), stanza.attr("from"), &StanzaError::new(condition));
    out
}
