//! Other XMPP servers: where they are, and our certificates for them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use ::xmpp::{Address, Component, Found, Names, Servers};
use chat::{Settings, SiteId, Store, Sub};
use edge::tls::{Acceptor, Authorities, CertifiedKey, ClientConfig, ServerConfig};
use hickory_resolver::TokioResolver;
use hickory_resolver::proto::rr::RData;

use crate::components::{self, Components};
use crate::config::{Config, Xmpp};
use crate::serve::random;
use crate::trouble::{Outcome, Trouble};

/// XEP-0368 §3: the protocol name of streams between servers.
const ALPN: &[u8] = b"xmpp-server";
/// RFC 6120 §14.7: for a domain without SRV records.
const PORT: u16 = 5269;
/// A look-up of a domain takes no longer.
const LOOK_UP: Duration = Duration::from_secs(10);
/// Servers of one domain that are looked up.
const MOST_TARGETS: usize = 4;
/// Users that one read of the store answers.
const PAGE: u32 = 1_000;

/// The checked settings, before the node starts.
#[derive(Clone)]
pub(crate) struct Federation {
    names: Arc<Directory>,
    authorities: Authorities,
    /// None: other servers cannot connect, and only components are reached.
    acceptor: Option<Acceptor>,
}

impl Federation {
    /// None: the operator has no listener for servers or components. Each certificate is for the domain of its name, `node` for all
    /// others.
    pub(crate) fn of(config: &Config) -> Outcome<Option<Federation>> {
        let Xmpp { s2s_listen, s2s_hosts, s2s_authority, .. } = &config.xmpp;
        let components = components::read(&config.xmpp)?;
        if crate::xmpp::addresses("xmpp.s2s_listen", s2s_listen)?.is_none_or(|all| all.is_empty()) {
            return match components.is_empty() {
                true => Ok(None),
                false => Federation::of_components(components).map(Some),
            };
        }
        let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else {
            return Err(Trouble::new("streams between servers need a certificate and its key")
                .because("other servers talk only with a server that proves its domain")
                .remedy("add --tls-cert and --tls-key, or set xmpp.s2s_listen to off"));
        };
        let unusable = |error: edge::tls::TlsError| Trouble::new("cannot use the certificate").because(error);
        let own = Some(&**s2s_authority).filter(|path| !path.is_empty()).map(Path::new);
        let authorities = Authorities::new(own)
            .map_err(|error| Trouble::new("cannot use xmpp.s2s_authority").because(error))?;
        let node = edge::tls::load_key(cert, key).map_err(unusable)?;
        let tls = edge::tls::load(cert, key, config.tls_memory.into()).map_err(unusable)?;
        let by_name = crate::xmpp::certificates_of(config)?;
        let clients = Clients::of(&authorities, &node, &by_name)?;
        let acceptor = Acceptor::new(for_servers(&tls, by_name)?);
        let names = Directory {
            hosts: hosts(s2s_hosts)?,
            clients: RwLock::new(Some(clients)),
            components: RwLock::new(components),
            dns: std::sync::OnceLock::new(),
        };
        Ok(Some(Federation { names: Arc::new(names), authorities, acceptor: Some(acceptor) }))
    }

    /// Without a listener for servers.
    fn of_components(components: Components) -> Outcome<Federation> {
        let authorities = Authorities::new(None)
            .map_err(|error| Trouble::new("cannot use the authorities of certificates").because(error))?;
        let names = Directory {
            hosts: HashMap::new(),
            clients: RwLock::new(None),
            components: RwLock::new(components),
            dns: std::sync::OnceLock::new(),
        };
        Ok(Federation { names: Arc::new(names), authorities, acceptor: None })
    }

    pub(crate) fn acceptor(&self) -> Option<&Acceptor> {
        self.acceptor.as_ref()
    }

    /// Reads the components again. A connection of one that is gone stays, and its stanzas are refused.
    pub(crate) fn reload_components(&self, config: &Config) -> Outcome {
        let components = components::read(&config.xmpp)?;
        *self.names.components.write().unwrap_or_else(PoisonError::into_inner) = components;
        Ok(())
    }

    /// Replaces the certificates for new connections.
    pub(crate) fn reload(&self, config: &Config, tls: &ServerConfig) -> Outcome {
        let Some(acceptor) = &self.acceptor else { return Ok(()) };
        let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else { return Ok(()) };
        let node = edge::tls::load_key(cert, key)
            .map_err(|error| Trouble::new("cannot use the certificate").because(error))?;
        let by_name = crate::xmpp::certificates_of(config)?;
        let clients = Clients::of(&self.authorities, &node, &by_name)?;
        acceptor.replace(for_servers(tls, by_name)?);
        *self.names.clients.write().unwrap_or_else(PoisonError::into_inner) = Some(clients);
        Ok(())
    }

    /// Settings for the gateway. Reads the known remote users of all sites.
    pub(crate) fn servers(&self, store: &dyn Store, runtime: &tokio::runtime::Handle) -> Outcome<Servers> {
        if self.acceptor.is_some() {
            let _entered = runtime.enter();
            let dns = TokioResolver::builder_tokio().and_then(|builder| builder.build());
            match dns {
                // Set once, at the start.
                Ok(dns) => drop(self.names.dns.set((dns, runtime.clone()))),
                Err(error) => {
                    tracing::warn!(%error, "no name server: only domains of xmpp.s2s_hosts are found");
                }
            }
        }
        let known = known_users(store)
            .map_err(|error| Trouble::new("cannot read the users of other servers").because(error))?;
        let names = Arc::clone(&self.names) as Arc<dyn Names>;
        Ok(Servers { names, authorities: self.authorities.clone(), secret: random(), known: known.into() })
    }
}

/// All remote users of sites that talk with other servers.
fn known_users(store: &dyn Store) -> Result<Vec<(SiteId, Sub)>, chat::StoreError> {
    let mut known = Vec::new();
    for site in store.sites()?.into_iter().filter(|site| is_on(&site.settings)) {
        let mut after = Sub::parse("xmpp:");
        loop {
            let page = store.list_users(site.id, after, PAGE)?;
            let subs = page.iter().map(|row| &row.profile.sub);
            let remote: Vec<Sub> = subs.filter(|sub| sub.remote_address().is_some()).cloned().collect();
            let is_last = page.len() < PAGE as usize || remote.len() < page.len();
            after = remote.last().cloned();
            known.extend(remote.into_iter().map(|sub| (site.id, sub)));
            if is_last {
                break;
            }
        }
    }
    Ok(known)
}

fn is_on(settings: &Settings) -> bool {
    settings.federation.on
}

fn for_servers(
    tls: &ServerConfig,
    by_name: HashMap<Box<str>, Arc<CertifiedKey>>,
) -> Outcome<Arc<ServerConfig>> {
    let named = edge::tls::with_names(&edge::tls::for_protocol(tls, ALPN), by_name);
    edge::tls::with_client_certificates(&named)
        .map_err(|error| Trouble::new("cannot use the certificate between servers").because(error))
}

/// TLS as a client, for each domain of a certificate and for all others.
#[derive(Debug)]
struct Clients {
    by_domain: HashMap<Box<str>, Arc<ClientConfig>>,
    others: Arc<ClientConfig>,
}

impl Clients {
    fn of(
        authorities: &Authorities,
        node: &Arc<CertifiedKey>,
        by_name: &HashMap<Box<str>, Arc<CertifiedKey>>,
    ) -> Outcome<Clients> {
        let client = |key: &Arc<CertifiedKey>| {
            authorities
                .client(Some(Arc::clone(key)), ALPN)
                .map_err(|error| Trouble::new("cannot use the certificate as a client").because(error))
        };
        let by_domain = by_name.iter().map(|(name, key)| Ok((name.clone(), client(key)?)));
        Ok(Clients { by_domain: by_domain.collect::<Outcome<_>>()?, others: client(node)? })
    }
}

/// Finds servers.
struct Directory {
    /// Chosen by the operator.
    hosts: HashMap<Box<str>, Vec<Address>>,
    /// None: this node connects to no server.
    clients: RwLock<Option<Clients>>,
    components: RwLock<Components>,
    dns: std::sync::OnceLock<(TokioResolver, tokio::runtime::Handle)>,
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl Names for Directory {
    fn look_up(&self, domain: &str, found: Found) {
        if let Some(addresses) = self.hosts.get(domain) {
            return found(addresses.clone());
        }
        let Some((dns, runtime)) = self.dns.get() else { return found(Vec::new()) };
        let (dns, domain) = (dns.clone(), domain.to_owned());
        runtime.spawn(async move {
            let addresses = tokio::time::timeout(LOOK_UP, look_up(&dns, &domain)).await;
            found(addresses.unwrap_or_default());
        });
    }

    fn client(&self, local: &str) -> Option<(Arc<ClientConfig>, bool)> {
        let clients = self.clients.read().unwrap_or_else(PoisonError::into_inner);
        let clients = clients.as_ref()?;
        Some((Arc::clone(clients.by_domain.get(local).unwrap_or(&clients.others)), true))
    }

    fn component(&self, domain: &str) -> Option<Arc<Component>> {
        self.components.read().unwrap_or_else(PoisonError::into_inner).get(domain).cloned()
    }

    fn components(&self) -> Vec<Box<str>> {
        let components = self.components.read().unwrap_or_else(PoisonError::into_inner);
        let mut hosts: Vec<Box<str>> = components.keys().cloned().collect();
        hosts.sort_unstable();
        hosts
    }
}

/// A target of an SRV record (RFC 2782).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    priority: u16,
    weight: u16,
    direct_tls: bool,
    host: String,
    port: u16,
}

/// RFC 6120 §3.2 and XEP-0368 §4: both kinds of records together, and the domain itself without any.
async fn look_up(dns: &TokioResolver, domain: &str) -> Vec<Address> {
    let (direct, plain) = tokio::join!(
        srv(dns, domain, "_xmpps-server._tcp", true),
        srv(dns, domain, "_xmpp-server._tcp", false)
    );
    let has_records = direct.is_some() || plain.is_some();
    let mut targets: Vec<Target> = direct.into_iter().chain(plain).flatten().collect();
    if !has_records {
        targets.push(Target {
            priority: 0,
            weight: 0,
            direct_tls: false,
            host: format!("{domain}."),
            port: PORT,
        });
    }
    let mut addresses = Vec::new();
    for target in ordered(targets) {
        let Ok(found) = dns.lookup_ip(&*target.host).await else { continue };
        addresses.extend(allowed(found.iter().collect(), &target));
    }
    addresses
}

/// None: no such records. A single record for the root means that the service does not exist (RFC 2782).
async fn srv(dns: &TokioResolver, domain: &str, service: &str, direct_tls: bool) -> Option<Vec<Target>> {
    let found = dns.srv_lookup(format!("{service}.{domain}.")).await.ok()?;
    let targets = found.answers().iter().filter_map(|record| match &record.data {
        RData::SRV(srv) => Some(Target {
            priority: srv.priority,
            weight: srv.weight,
            direct_tls,
            host: srv.target.to_ascii(),
            port: srv.port,
        }),
        _ => None,
    });
    let targets: Vec<Target> = targets.collect();
    (!targets.is_empty()).then(|| targets.into_iter().filter(|target| target.host != ".").collect())
}

/// The first ones by priority, and then by weight.
fn ordered(mut targets: Vec<Target>) -> Vec<Target> {
    targets.sort_by_key(|target| (target.priority, !target.direct_tls, std::cmp::Reverse(target.weight)));
    targets.truncate(MOST_TARGETS);
    targets
}

/// All addresses of a name must be public: its owner may want us to connect to a host of our own. Ports of other well-known
/// services are refused, too.
fn allowed(found: Vec<std::net::IpAddr>, target: &Target) -> Vec<Address> {
    let is_port = target.port >= 1_024 || target.port == 443;
    if !is_port || !found.iter().all(|ip| reach::is_public(*ip)) {
        return Vec::new();
    }
    let address = |ip| Address { to: SocketAddr::new(ip, target.port), direct_tls: target.direct_tls };
    found.into_iter().take(2).map(address).collect()
}

/// Checks that need no socket.
pub(crate) fn check(config: &Config) -> Outcome {
    let xmpp = &config.xmpp;
    crate::xmpp::addresses("xmpp.s2s_listen", &xmpp.s2s_listen)?;
    match config.is_front() {
        // It passes connections on to the home, which has the secrets.
        true => drop(components::addresses(xmpp)?),
        false => drop(components::read(xmpp)?),
    }
    hosts(&xmpp.s2s_hosts).map(drop)
}

/// Reads `DOMAIN=ADDRESS:PORT`, with `tls:` before an address for TLS without STARTTLS; separated by commas.
fn hosts(text: &str) -> Outcome<HashMap<Box<str>, Vec<Address>>> {
    let mut hosts: HashMap<Box<str>, Vec<Address>> = HashMap::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let entry = word.split_once('=').and_then(|(domain, address)| {
            let (direct_tls, address) = match address.trim().strip_prefix("tls:") {
                Some(address) => (true, address),
                None => (false, address.trim()),
            };
            Some((domain.trim().to_ascii_lowercase(), Address { to: address.parse().ok()?, direct_tls }))
        });
        let Some((domain, address)) = entry.filter(|(domain, _)| !domain.is_empty()) else {
            return Err(Trouble::new(format!("xmpp.s2s_hosts has `{word}`")).remedy(
                "for example: xmpp.s2s_hosts = \"chat.example=192.0.2.7:5269, other.example=tls:[2001:db8::1]:5270\"",
            ));
        };
        hosts.entry(domain.into()).or_default().push(address);
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_can_name_the_addresses_of_servers() {
        let found = hosts("b.example = 127.0.0.1:5269, B.example=tls:[::1]:5270,").expect("no mistake");
        let address = |to: &str, direct_tls| Address { to: to.parse().expect("an address"), direct_tls };
        assert_eq!(found["b.example"], [address("127.0.0.1:5269", false), address("[::1]:5270", true)]);
        for wrong in ["b.example", "b.example=5269", "=127.0.0.1:5269", "b.example=localhost:5269"] {
            let trouble = hosts(wrong).expect_err(wrong).to_string();
            assert!(trouble.contains("xmpp.s2s_hosts"), "{trouble}");
        }
    }

    fn target(priority: u16, weight: u16, direct_tls: bool, port: u16) -> Target {
        Target { priority, weight, direct_tls, host: "h.example.".into(), port }
    }

    #[test]
    fn targets_are_tried_by_priority() {
        let best = target(1, 5, true, 5270);
        let given = [target(2, 0, false, 1), target(1, 5, false, 2), target(1, 9, false, 3), best.clone()];
        let order = ordered(given.to_vec());
        assert_eq!(order[0], best);
        assert_eq!(order.iter().map(|one| one.port).collect::<Vec<_>>(), [5270, 3, 2, 1]);
        assert_eq!(ordered(vec![best; 9]).len(), MOST_TARGETS);
    }

    #[test]
    fn names_do_not_lead_into_our_own_network() {
        let ips = |all: &[&str]| all.iter().map(|ip| ip.parse().expect("an address")).collect::<Vec<_>>();
        let server = target(0, 0, false, 5269);
        assert_eq!(allowed(ips(&["9.9.9.9"]), &server).len(), 1);
        assert!(allowed(ips(&["9.9.9.9", "10.0.0.1"]), &server).is_empty(), "one private address is enough");
        for private in ["127.0.0.1", "192.168.1.1", "169.254.169.254", "::1", "fd00::1"] {
            assert!(allowed(ips(&[private]), &server).is_empty(), "{private}");
        }
        for port in [22, 25, 80, 587] {
            assert!(allowed(ips(&["9.9.9.9"]), &target(0, 0, false, port)).is_empty(), "{port}");
        }
        assert_eq!(allowed(ips(&["9.9.9.9"]), &target(0, 0, true, 443)).len(), 1);
    }
}
