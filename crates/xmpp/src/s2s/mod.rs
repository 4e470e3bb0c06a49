//! Streams between servers, and the users of other servers. `docs/design/federation.md` has the reasons.
//!
//! A worker *owns* some remote domains ([`owner`]): their users and the links to their servers are on that worker alone. Streams that
//! other servers open may be on any worker, and send their stanzas to the owner by mail.

mod address;
mod bidi;
mod components;
mod dial;
mod directory;
mod initiator;
mod link;
mod responder;
mod server_iq;
mod stream;
#[cfg(test)]
mod tests;
mod user;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use chat::{AppWake, SiteId, Sub};
use edge::tls::{Authorities, ClientConfig};
use edge::{Handle, Mailboxes};
use xmpp_proto::payload::dialback::Verdict;

use crate::config::Shared;
use crate::extensions::{Extension, Spec};
use crate::gateway::Mail;
use crate::xep::push::Services;
pub(crate) use bidi::EXTENSION as BIDIRECTIONAL;
pub use components::Component;
use components::Components;
pub(crate) use components::EXTENSION as COMPONENTS;
use dial::Dials;
pub use directory::Directory;
pub(crate) use initiator::Pair;
use link::Links;
pub(crate) use stream::Stream;
use user::RemoteUsers;
pub(crate) use user::{BASE, NO_RESOURCE, Outlet, is_session};

pub(crate) const DIALBACK: Extension = Extension {
    spec: Spec::Xep(220),
    name: "Server Dialback",
    version: "1.1.1",
    scenario: "federation",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const DIALBACK_KEYS: Extension = Extension {
    spec: Spec::Xep(185),
    name: "Dialback Key Generation and Validation",
    version: "1.0",
    ..DIALBACK
};

pub(crate) const EXTERNAL: Extension = Extension {
    spec: Spec::Xep(178),
    name: "Best Practices for Use of SASL EXTERNAL with Certificates",
    version: "1.2",
    ..DIALBACK
};

/// A place where the server of a domain may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    pub to: SocketAddr,
    /// TLS begins at once (XEP-0368), without STARTTLS.
    pub direct_tls: bool,
}

/// Receives the addresses of a server, the best first. None: the domain has none.
pub type Found = Box<dyn FnOnce(Vec<Address>) + Send>;

/// What this gateway needs to know about other servers.
pub trait Names: Send + Sync + fmt::Debug {
    /// Finds the addresses of a domain's server. Must not block. The addresses are public, or the operator has chosen them.
    fn look_up(&self, domain: &str, found: Found);
    /// TLS for connections in the name of a local domain. True: it shows a certificate of that domain. None: this node
    /// connects to no server.
    fn client(&self, local: &str) -> Option<(Arc<ClientConfig>, bool)>;
    /// The component with this domain. Its connection proves the domain, and no server is looked up for it.
    fn component(&self, domain: &str) -> Option<Arc<Component>>;
    /// The domains of all components, sorted.
    fn components(&self) -> Vec<Box<str>>;
}

/// The home, as a front's gateway asks it.
pub trait ServersAtHome: Send + Sync + fmt::Debug {
    /// Makes sure that the home has a session of this user of another server, so that members can address the user. Must not block.
    fn ensure(&self, site: SiteId, user: &Sub, answer: Ensured);
    /// Finds the components that serve a site. Must not block.
    fn find_components(&self, site: SiteId, answer: FoundComponents);
}

/// Receives whether a member can address the user now. Called once, on any thread.
pub type Ensured = Box<dyn FnOnce(bool) + Send>;

/// Receives the domains of the components, sorted; none if the home does not answer. Called once, on any thread.
pub type FoundComponents = Box<dyn FnOnce(Vec<Box<str>>) + Send>;

/// See [`ServersAtHome::ensure`], at the home. `mailboxes`: of its gateway. If that ends first, the answer is dropped.
pub fn ensure_remote_user(mailboxes: &Mailboxes<Mail>, site: SiteId, user: Sub, answer: Ensured) {
    match domain_of(&user).map(str::to_owned) {
        None => answer(false),
        Some(domain) => {
            let content = Content::Ensure { site, user, is_known: false, asker: Some(answer) };
            send_to_owner(mailboxes, &domain, content);
        }
    }
}

/// See [`ServersAtHome::find_components`], at the home.
pub fn find_components(mailboxes: &Mailboxes<Mail>, site: SiteId, answer: FoundComponents) {
    mailboxes.send(0, Mail::Servers(Box::new(Letter(Content::FindComponents { site, answer }))));
}

fn send_to_owner(mailboxes: &Mailboxes<Mail>, domain: &str, content: Content) {
    let worker = owner(domain, mailboxes.workers());
    mailboxes.send(worker, Mail::Servers(Box::new(Letter(content))));
}

/// Settings of streams between servers.
#[derive(Debug, Clone)]
pub struct Servers {
    pub names: Arc<dyn Names>,
    pub authorities: Authorities,
    /// Of dialback keys; random for each process.
    pub secret: [u8; 32],
    /// The remote users of all sites in the store, when the node starts.
    pub known: Arc<[(SiteId, Sub)]>,
}

/// Mail between workers, and from the look-up of names.
pub struct Letter(pub(crate) Content);

pub(crate) enum Content {
    /// The remote user of a site must have a session. `asker`: the stream of a member, or a front, that waits for it.
    Ensure {
        site: SiteId,
        user: Sub,
        is_known: bool,
        asker: Option<Ensured>,
    },
    /// The answer to the asker: whether a member can address the user now.
    Ensured {
        to: Handle,
        is_there: bool,
    },
    /// A front asks for the components that serve a site.
    FindComponents {
        site: SiteId,
        answer: FoundComponents,
    },
    /// The home's answer to the stream `to`, which is on a front.
    ComponentsFound {
        to: Handle,
        components: Vec<Box<str>>,
    },
    /// A stanza of another server, as a document of `jabber:client`.
    Stanza {
        pair: Pair,
        document: Box<[u8]>,
    },
    /// The addresses of a dial.
    Found {
        dial: u64,
        addresses: Vec<Address>,
    },
    /// The outcome of the check of a key.
    Checked {
        to: Handle,
        pair: Pair,
        verdict: Verdict,
    },
    /// A connection can carry stanzas of this pair from now on: it was opened by the other server (XEP-0288).
    Carries {
        pair: Pair,
        by: Handle,
    },
    /// It has ended.
    CarriesNoMore {
        pair: Pair,
        by: Handle,
    },
    /// Stanzas for the connection `to`, which is on another worker than the link.
    Carry {
        to: Handle,
        pair: Pair,
        stanzas: Vec<Vec<u8>>,
    },
    /// A connection has proved that it is the component `host`.
    ComponentArrived {
        host: Box<str>,
        by: Handle,
    },
    /// Whether it is the only one.
    ComponentAnswered {
        to: Handle,
        is_first: bool,
    },
    ComponentLeft {
        host: Box<str>,
        by: Handle,
    },
    /// A message waits for an app that sleeps.
    Wake(AppWake),
}

impl Letter {
    pub(crate) fn recipient(&self) -> Option<Handle> {
        match &self.0 {
            Content::Ensured { to, .. }
            | Content::ComponentsFound { to, .. }
            | Content::Checked { to, .. }
            | Content::Carry { to, .. }
            | Content::ComponentAnswered { to, .. } => Some(*to),
            Content::Ensure { .. }
            | Content::FindComponents { .. }
            | Content::Stanza { .. }
            | Content::Found { .. }
            | Content::Carries { .. }
            | Content::CarriesNoMore { .. }
            | Content::ComponentArrived { .. }
            | Content::ComponentLeft { .. }
            | Content::Wake(_) => None,
        }
    }
}

/// The part of one worker.
#[derive(Default)]
pub(crate) struct Federation {
    users: RemoteUsers,
    links: Links,
    dials: Dials,
    components: Components,
    pub(crate) push_services: Services,
}

/// The worker that owns a remote domain.
pub(crate) fn owner(domain: &str, workers: usize) -> usize {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = domain.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash % workers.max(1) as u64) as usize
}

/// The remote domain of a remote user.
pub(crate) fn domain_of(user: &Sub) -> Option<&str> {
    let address = user.remote_address()?;
    Some(address.split_once('@').map_or(address, |(_, domain)| domain))
}

impl Shared {
    /// Whether members of a site can address this remote user at all.
    pub(crate) fn reaches(&self, site: SiteId, user: &Sub) -> bool {
        let Some(domain) = domain_of(user) else { return false };
        // The domain of another server has no conversation and no contacts here. A front does not know the components; its home looks.
        let may_be_addressed =
            !user.is_remote_service() || self.config.home.is_some() || self.component(domain).is_some();
        may_be_addressed && self.talks_with(site, domain)
    }

    /// Whether a site talks with this domain. A component needs the leave of the operator, too; a front does not know that, and its home
    /// looks at it when it is asked for the user.
    pub(crate) fn talks_with(&self, site: SiteId, domain: &str) -> bool {
        self.node.talks_with(site, domain)
            && (self.config.servers.is_some() || self.config.home.is_some())
            && self.component(domain).is_none_or(|component| component.serves(self.node.site_key(site)))
    }

    /// A domain that the operator has also given to a site belongs to the site.
    pub(crate) fn component(&self, domain: &str) -> Option<Arc<Component>> {
        let component = self.config.servers.as_ref()?.names.component(domain)?;
        self.node.site_of_domain(domain).is_none().then_some(component)
    }

    /// The components that serve a site, for its members.
    pub(crate) fn components_of(&self, site: SiteId) -> Vec<Box<str>> {
        let all = self.config.servers.as_ref().map(|servers| servers.names.components()).unwrap_or_default();
        let serves = |host: &str| self.component(host).is_some() && self.talks_with(site, host);
        all.into_iter().filter(|host| serves(host)).collect()
    }

    pub(crate) fn send_to_owner(&self, domain: &str, content: Content) {
        send_to_owner(&self.mailboxes, domain, content);
    }

    pub(crate) fn send_to_worker(&self, worker: usize, content: Content) {
        self.mailboxes.send(worker, crate::gateway::Mail::Servers(Box::new(Letter(content))));
    }
}
