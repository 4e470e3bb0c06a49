//! JIDs of sites, users and rooms.

use std::sync::Arc;

use chat::{Node, SiteId, Sub};
use xmpp_proto::jid::Jid;

/// The site of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) id: SiteId,
    pub(crate) key: Arc<str>,
    /// Its XMPP domain.
    pub(crate) domain: Arc<str>,
}

impl Site {
    /// None: no site has this domain, or the site has disabled XMPP.
    pub(crate) fn of_domain(node: &Node, domain: &str) -> Option<Site> {
        let (id, key) = node.site_of_domain(domain)?;
        Some(Site { id, key, domain: domain.into() })
    }
}

/// The resource of members who are here with the widget. No app can bind it.
pub(crate) const RESOURCE: &str = "kith";

/// Writes the bare JID of a user.
pub(crate) fn user(sub: &Sub, domain: &str) -> String {
    let mut jid = sub.address_local();
    jid.push('@');
    jid.push_str(domain);
    jid
}

/// The full JID under which a user's messages and presence are sent.
pub(crate) fn user_here(sub: &Sub, domain: &str) -> String {
    user_at(sub, domain, RESOURCE)
}

/// Writes the full JID of a session.
pub(crate) fn user_at(sub: &Sub, domain: &str, resource: &str) -> String {
    let mut jid = user(sub, domain);
    jid.push('/');
    jid.push_str(resource);
    jid
}

/// Where a stanza of a session goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// No address, or the own bare JID.
    Account,
    /// The domain of the site.
    Server,
    /// Another user of the site.
    User(Sub),
    /// Another domain.
    Elsewhere,
}

impl Target {
    pub(crate) fn of(to: Option<&Jid>, own: &Jid) -> Target {
        let Some(to) = to else { return Target::Account };
        if to.domain() != own.domain() {
            return Target::Elsewhere;
        }
        match to.local() {
            None => Target::Server,
            local if local == own.local() => Target::Account,
            Some(local) => Sub::of_address_local(local).map_or(Target::Elsewhere, Target::User),
        }
    }
}
