//! JIDs of sites, users and rooms.

use std::sync::Arc;

use chat::{Port, SiteId, Sub};
use xmpp_proto::jid::Jid;

use crate::s2s::{BASE, NO_RESOURCE};

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
    pub(crate) fn of_domain(node: &Port, domain: &str) -> Option<Site> {
        let (id, key) = node.site_of_domain(domain)?;
        Some(Site { id, key, domain: domain.into() })
    }
}

/// The resource of members who are here with the widget. No app can bind it.
pub(crate) const RESOURCE: &str = "kith";

/// Writes the bare JID of a user, who may be one of another server.
pub(crate) fn user(sub: &Sub, domain: &str) -> String {
    if let Some(address) = sub.remote_address() {
        return address.to_owned();
    }
    let mut jid = sub.address_local();
    jid.push('@');
    jid.push_str(domain);
    jid
}

/// Whether this is the address of a remote user's session inside of this gateway.
pub(crate) fn is_inside(jid: &Jid) -> bool {
    // The escaped form of `xmpp:`.
    jid.local().is_some_and(|local| local.starts_with("xmpp\\3a"))
}

/// The full JID under which a user's messages and presence are sent.
pub(crate) fn user_here(sub: &Sub, domain: &str) -> String {
    // The app of a user of another server is not known.
    if sub.remote_address().is_some() {
        return user(sub, domain);
    }
    user_at(sub, domain, RESOURCE)
}

/// Writes the full JID of a session. A remote service speaks without a resource.
pub(crate) fn user_at(sub: &Sub, domain: &str, resource: &str) -> String {
    let mut jid = user(sub, domain);
    if resource == NO_RESOURCE || sub.is_remote_service() && resource == BASE {
        return jid;
    }
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
    /// The service of rooms.
    Rooms,
    /// A room by its number, or an occupant there. None: no room has such an address.
    Room(Option<u64>),
    /// Another user of the site, a user of another domain, or another domain itself.
    User(Sub),
    /// Another domain, or an address that cannot exist.
    Elsewhere,
}

impl Target {
    pub(crate) fn of(to: Option<&Jid>, own: &Jid) -> Target {
        let Some(to) = to else { return Target::Account };
        if to.domain().strip_prefix(crate::xep::muc::SERVICE).and_then(|rest| rest.strip_prefix('.'))
            == Some(own.domain())
        {
            return to.local().map_or(Target::Rooms, |local| Target::Room(room_number(local)));
        }
        if to.domain() != own.domain() {
            return Sub::remote(to.bare()).map_or(Target::Elsewhere, Target::User);
        }
        match to.local() {
            None => Target::Server,
            local if local == own.local() => Target::Account,
            // Users of other servers have one address.
            Some(local) => Sub::of_address_local(local)
                .filter(|sub| sub.remote_address().is_none())
                .map_or(Target::Elsewhere, Target::User),
        }
    }
}

/// Only the decimal form that this server writes: one room has one address.
fn room_number(local: &str) -> Option<u64> {
    let number: u64 = local.parse().ok()?;
    (number >> 63 == 0 && number.to_string() == local).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_has_one_address() {
        let own = Jid::parse("anna@forum.example/phone").unwrap();
        let target = |to: &str| Target::of(Some(&Jid::parse(to).unwrap()), &own);
        assert_eq!(target("rooms.forum.example"), Target::Rooms);
        assert_eq!(target("7@rooms.forum.example"), Target::Room(Some(7)));
        assert_eq!(target("7@rooms.forum.example/Tom"), Target::Room(Some(7)));
        for local in ["07", "+7", "-7", "bikers", "9223372036854775808", "99999999999999999999"] {
            assert_eq!(target(&format!("{local}@rooms.forum.example")), Target::Room(None), "{local}");
        }
        let remote = |address: &str| Target::User(Sub::remote(address).unwrap());
        assert_eq!(target("7@rooms.other.example"), remote("7@rooms.other.example"));
        assert_eq!(target("7@roomsforum.example"), remote("7@roomsforum.example"));
    }

    #[test]
    fn a_user_of_another_server_has_one_address() {
        let own = Jid::parse("anna@forum.example/phone").unwrap();
        let target = |to: &str| Target::of(Some(&Jid::parse(to).unwrap()), &own);
        let romeo = Sub::remote("romeo@b.example").unwrap();
        assert_eq!(target("Romeo@B.example/garden"), Target::User(romeo.clone()));
        assert_eq!(user(&romeo, "forum.example"), "romeo@b.example");
        assert_eq!(user_here(&romeo, "forum.example"), "romeo@b.example");
        assert_eq!(user_at(&romeo, "forum.example", "garden"), "romeo@b.example/garden");
        assert_eq!(target("b.example"), Target::User(Sub::remote("b.example").unwrap()));
        let service = Sub::remote("b.example").unwrap();
        assert_eq!(user_at(&service, "forum.example", BASE), "b.example");
        assert_eq!(user_at(&service, "forum.example", "1"), "b.example/1");
        let inside = format!("{}@forum.example", romeo.address_local());
        assert_eq!(target(&inside), Target::Elsewhere);
        let long = format!("{}@b.example", "x".repeat(120));
        assert_eq!(target(&long), Target::Elsewhere);
    }
}
