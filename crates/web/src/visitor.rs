//! The client of a connection before its hello: the origin of its page, and its address.

use std::net::IpAddr;

use chat::Agent;
use edge::Io;
use http_proto::head::Head;

use crate::config::Shared;
use crate::hand_over::VisitorRecord;
use crate::request::is_own_origin;

/// Data that only the head of a request has, and its hello needs.
#[derive(Debug, Default)]
pub(crate) struct Visitor {
    /// Of the page, where it is not ours.
    pub(crate) origin: Option<Box<str>>,
    /// The client's address from a trusted proxy. Without a proxy it is the peer's address, which the system keeps.
    forwarded_for: Option<IpAddr>,
    /// Looked at only where some site wants to know it.
    pub(crate) agent: Agent,
}

impl Visitor {
    pub(crate) fn of(head: &Head<'_>, shared: &Shared, io: &Io<'_>) -> Visitor {
        let origin = head.origin.filter(|origin| !is_own_origin(origin, head.host)).map(Into::into);
        let proxies = &shared.config.trusted_proxies;
        let is_ours = || io.peer().is_some_and(|peer| proxies.contain(peer.ip()));
        let forwarded_for = match head.forwarded {
            true if !proxies.are_none() && is_ours() => proxies.client(head),
            true => {
                warn_of_proxy(shared, io);
                None
            }
            false => None,
        };
        let agent = if shared.node.keeps_devices() { agent(head) } else { Agent::default() };
        Visitor { origin, forwarded_for, agent }
    }

    pub(crate) fn export(&self) -> VisitorRecord {
        let Visitor { origin, forwarded_for, agent } = self;
        VisitorRecord { origin: origin.clone(), forwarded_for: *forwarded_for, agent: *agent }
    }

    pub(crate) fn import(record: VisitorRecord) -> Visitor {
        let VisitorRecord { origin, forwarded_for, agent } = record;
        Visitor { origin, forwarded_for, agent }
    }

    /// Nothing that needs to be kept.
    pub(crate) fn is_plain(&self) -> bool {
        self.origin.is_none() && self.forwarded_for.is_none() && !self.agent.is_known()
    }

    pub(crate) fn address(&self, io: &Io<'_>) -> Option<IpAddr> {
        self.forwarded_for.or_else(|| Some(io.peer()?.ip()))
    }
}

fn agent(head: &Head<'_>) -> Agent {
    let field = head.fields.iter().find(|field| field.name.eq_ignore_ascii_case("user-agent"));
    field.map_or_else(Agent::default, |field| Agent::parse(field.value))
}

/// Logged once: a setting is missing, or a client has sent the header, which it may do often.
fn warn_of_proxy(shared: &Shared, io: &Io<'_>) {
    if shared.counters.untrusted_forwarded.add_is_first() {
        tracing::warn!(
            proxy = io.peer().map(|peer| peer.ip().to_string()),
            "requests come through a proxy that is not in web.trusted_proxies; all its clients share the limit \
             of one address"
        );
    }
}
