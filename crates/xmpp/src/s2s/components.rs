//! Jabber Component Protocol (XEP-0114): a program of the operator is a remote domain. Its connection proves the domain by a secret.
//!
//! After that, its stanzas take the way of those of other servers, with the same rules and limits. A domain has one connection: the
//! worker that owns the domain decides which.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use edge::{Handle, Io};
use rand::Rng;
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::components;
use xmpp_proto::stanza::{Condition, StanzaKind};
use xmpp_proto::stream::{Content as Namespace, StreamCondition, StreamError, StreamHeader};
use xmpp_proto::xml::{Element, Reader};

use super::initiator::Pair;
use super::stream::{Pace, Stream};
use super::{Content, DIALBACK, server_iq};
use crate::address::Site;
use crate::extensions::{Extension, Spec};
use crate::gateway::{Gateway, State};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(114),
    name: "Jabber Component Protocol",
    version: "1.6",
    scenario: "components",
    ..DIALBACK
};

/// A silent component gets a byte of whitespace this often, so that a connection that is dead ends.
pub(super) const SILENT: Duration = Duration::from_secs(120);

/// A component, as the operator has named it.
pub struct Component {
    pub secret: Box<str>,
    /// The keys of the sites that it may talk with. None: all.
    pub sites: Option<Box<[Box<str>]>>,
}

/// The secret stays out of logs.
impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component").field("sites", &self.sites).finish_non_exhaustive()
    }
}

impl Component {
    pub(super) fn serves(&self, site_key: Option<Arc<str>>) -> bool {
        let sites = self.sites.as_deref();
        site_key.is_some_and(|key| sites.is_none_or(|sites| sites.iter().any(|one| **one == *key)))
    }
}

/// The components of this worker's domains that are connected.
#[derive(Default)]
pub(super) struct Components {
    by_host: HashMap<Box<str>, Handle>,
}

impl Components {
    pub(super) fn connection(&self, host: &str) -> Option<Handle> {
        self.by_host.get(host).copied()
    }
}

/// The connection of a component.
pub(crate) struct ComponentStream {
    pub(super) reader: Reader,
    pub(super) pace: Pace,
    host: Box<str>,
    /// Of the stream. The proof contains it, so nobody can use a proof again.
    id: Box<str>,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Handshake,
    /// The owner of the domain is asked whether there is another connection.
    Asked,
    Ready,
}

impl ComponentStream {
    pub(super) fn new() -> ComponentStream {
        ComponentStream {
            reader: Reader::new(),
            pace: Pace::default(),
            host: Box::default(),
            id: Box::default(),
            stage: Stage::Header,
        }
    }

    /// Stanzas can be sent.
    pub(super) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }
}

impl Gateway {
    /// The header of a component (XEP-0114 §3): `to` is its own domain. The answer goes to `out`.
    pub(super) fn component_header(
        &mut self,
        component: &mut ComponentStream,
        header: &StreamHeader,
        out: &mut Vec<u8>,
    ) -> Result<(), StreamError> {
        if component.stage != Stage::Header {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        let named = header.to.as_deref().and_then(|to| Jid::parse(to).ok());
        let host = named.filter(|jid| jid.local().is_none() && jid.is_bare());
        let host = host.filter(|host| self.shared.component(host.domain()).is_some());
        component.id = format!("{:032x}", self.rng.random::<u128>()).into();
        StreamHeader {
            content: Namespace::Component,
            to: None,
            from: host.as_ref().map(|host| host.domain().into()),
            id: Some(component.id.clone()),
            version: None,
            lang: None,
        }
        .write(out);
        if header.content != Namespace::Component {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        let host = host.ok_or_else(|| StreamError::new(StreamCondition::HostUnknown))?;
        (component.host, component.stage) = (host.domain().into(), Stage::Handshake);
        Ok(())
    }

    /// False: the next bytes wait.
    pub(super) fn component_element(
        &mut self,
        component: &mut ComponentStream,
        element: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<bool, StreamError> {
        if let Some(error) = StreamError::from_element(element) {
            return Err(error);
        }
        match component.stage {
            Stage::Handshake => {
                let known = self.shared.component(&component.host);
                if !known.is_some_and(|known| components::is_proof(element, &component.id, &known.secret)) {
                    return Err(StreamError::new(StreamCondition::NotAuthorized));
                }
                component.stage = Stage::Asked;
                let content = Content::ComponentArrived { host: component.host.clone(), by: io.handle() };
                self.shared.send_to_owner(&component.host, content);
                Ok(true)
            }
            Stage::Header | Stage::Asked => Err(StreamError::new(StreamCondition::NotAuthorized)),
            Stage::Ready if StanzaKind::of(element).is_none() => {
                Err(StreamError::new(StreamCondition::UnsupportedStanzaType))
            }
            Stage::Ready => self.component_stanza(component, element, io),
        }
    }

    fn component_stanza(
        &mut self,
        component: &mut ComponentStream,
        stanza: Element<'_>,
        io: &mut Io<'_>,
    ) -> Result<bool, StreamError> {
        let address = |name: &str| stanza.attr(name).and_then(|jid| Jid::parse(jid).ok());
        let (Some(from), Some(to)) = (address("from"), address("to")) else {
            return Err(StreamError::new(StreamCondition::ImproperAddressing));
        };
        if from.domain() != &*component.host {
            return Err(StreamError::new(StreamCondition::InvalidFrom));
        }
        self.shared.counters.stanzas_in.add(1);
        let site = Site::of_domain(&self.shared.node, to.domain());
        let talks = site.is_some_and(|site| self.shared.talks_with(site.id, &component.host));
        match talks {
            true => {
                let pair = Pair { local: to.domain().into(), remote: component.host.clone() };
                self.stanza_of_server(pair, stanza)?;
            }
            // A domain of another site gets the same answer as one that does not exist.
            false
                if stanza.name() != "presence"
                    && !matches!(stanza.attr("type"), Some("error" | "result")) =>
            {
                io.send(&server_iq::refusal(stanza, Condition::RemoteServerNotFound));
            }
            false => {}
        }
        Ok(component.pace.may_go_on(io, SILENT))
    }

    /// A component of this worker's domains wants to connect.
    pub(super) fn component_arrived(&mut self, host: Box<str>, by: Handle) {
        let components = &mut self.federation.components.by_host;
        let is_first = !components.contains_key(&host);
        self.shared.send_to_worker(by.worker(), Content::ComponentAnswered { to: by, is_first });
        if is_first {
            tracing::info!(%host, "a component is connected");
            self.retry_links_to(&host);
            self.federation.components.by_host.insert(host, by);
        }
    }

    pub(super) fn component_answered(&mut self, state: &mut State, is_first: bool, io: &mut Io<'_>) {
        let State::Server(stream) = state else { return };
        let Stream::Component(component) = &mut **stream else { return };
        if !is_first {
            return self.fail_server(state, &StreamError::new(StreamCondition::Conflict), io);
        }
        component.stage = Stage::Ready;
        let mut out = Vec::new();
        components::write_accepted(&mut out);
        io.send(&out);
        io.set_timer(Some(SILENT));
    }

    pub(super) fn component_closed(&self, component: ComponentStream, by: Handle) {
        if matches!(component.stage, Stage::Asked | Stage::Ready) {
            let host = component.host;
            self.shared.send_to_owner(&host.clone(), Content::ComponentLeft { host, by });
        }
    }

    /// Its users are not available any more.
    pub(super) fn component_left(&mut self, host: &str, by: Handle) {
        if self.federation.components.connection(host) != Some(by) {
            return;
        }
        tracing::info!(host, "a component is disconnected");
        self.federation.components.by_host.remove(host);
        self.links_are_closed(host, by);
        self.end_resources_of(host);
    }
}
