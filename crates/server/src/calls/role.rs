//! The calls role: our own STUN and TURN server, its listeners, and its addresses for clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use ::calls::{CallsConfig, Credentials, MOVES_FORMAT, Quotas, RelayAddress};
use chat::{CallId, SiteId, UserId};
use edge::{Listener, Predecessor, tls};

use super::servers;
use crate::config::{Calls, Config};
use crate::take_over::{Offer, joined};
use crate::trouble::{Outcome, Trouble};

/// RFC 8489 §18.6, RFC 8656 §20.
const PORT: u16 = 3_478;
const TLS_PORT: u16 = 5_349;

/// Our own running server.
pub(crate) struct Role {
    running: ::calls::Calls,
    secret: Arc<[u8]>,
    stun: Vec<Box<str>>,
    turn: Vec<Box<str>>,
    relays: Vec<RelayAddress>,
}

/// The server of a process that this one takes over.
#[derive(Clone, Copy)]
pub(crate) struct Old<'a> {
    pub(crate) offer: &'a Offer,
    pub(crate) secret: Option<&'a [u8]>,
    /// Its sockets and relays come. None: it still runs, and the system divides new clients between both.
    pub(crate) relays: Option<&'a Predecessor>,
}

/// Whether the relays of a process can go on here: it sends them, and both listen on the same addresses.
pub(crate) fn takes_relays(config: &Config, old: &Offer) -> Outcome<bool> {
    let places = places(config)?;
    let are_joined = |wanted: &[SocketAddr], old: &[SocketAddr]| {
        wanted.len() == old.len()
            && wanted.iter().zip(old).all(|(wanted, old)| joined(*wanted, Some(old)).is_some())
    };
    let streams: Vec<SocketAddr> = streams(config, &places)?.iter().map(|listener| listener.addr).collect();
    Ok(old.relays == MOVES_FORMAT
        && are_joined(&places.plain, &old.datagrams)
        && are_joined(&streams, &old.streams))
}

/// Whether this node starts its own server.
pub(crate) fn is_wanted(config: &Config) -> Outcome<bool> {
    Ok(places(config)? != Places::default())
}

/// Where it listens.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    plain: Vec<SocketAddr>,
    tls: Vec<SocketAddr>,
}

impl Role {
    /// None if it is disabled. `descriptors`: its limit for relays and connections together. `shared`: see
    /// [`shared_secret`](super::shared_secret).
    pub(crate) fn begin(
        config: &Config,
        workers: usize,
        descriptors: u64,
        shared: Option<Arc<[u8]>>,
        old: Option<Old<'_>>,
        is_in_call: impl Fn(UserId, Option<CallId>) -> bool + Send + Sync + 'static,
    ) -> Outcome<Option<Role>> {
        let mut places = places(config)?;
        if places == Places::default() {
            return Ok(None);
        }
        let secret = match (shared, old.as_ref().and_then(|old| old.secret)) {
            (Some(shared), _) => shared,
            // Clients have credentials of the old process.
            (None, Some(secret)) => Arc::from(secret),
            (None, None) => Arc::from(crate::serve::random()),
        };
        let relays = relays(&config.calls, &places)?;
        let room = u32::try_from(descriptors / 2).unwrap_or(u32::MAX);
        let quotas = quotas(&config.calls, room);
        let opened = config.calls.peers.0.clone();
        let mut streams = streams(config, &places)?;
        let mut shares_ports = false;
        if let Some(Old { offer, .. }) = &old {
            for (listener, old) in streams.iter_mut().zip(&offer.streams) {
                joined(listener.addr, Some(old)).into_iter().for_each(|addr| listener.join(addr));
            }
            for (address, old) in places.plain.iter_mut().zip(&offer.datagrams) {
                *address = joined(*address, Some(old)).unwrap_or(*address);
            }
            shares_ports = true;
        }
        let role_config = CallsConfig {
            udp: places.plain.clone(),
            shares_ports,
            streams,
            relays: relays.clone(),
            ports: config.calls.ports.0.clone(),
            credentials: Credentials::new(&secret),
            is_live: Arc::new(move |call| {
                let user = UserId { site: SiteId(call.site), num: call.user };
                is_in_call(user, call.call.map(CallId))
            }),
            may_relay: Arc::new(move |ip| reach::is_public(ip) || opened.contain(ip)),
            quotas,
            excess_bytes_per_second: config.calls.unproven_bytes.into(),
            max_connections: room as usize,
            per_address: crate::serve::address_limit(config, room as usize),
            private_descriptors: config.edge.private_descriptors,
        };
        let running = ::calls::start(role_config, workers, old.and_then(|old| old.relays))
            .map_err(|error| cannot_listen(&places, &error))?;
        let Host { name: host, is_in_certificate } = host(config, &relays);
        let streams = running.stream_addrs();
        let (tcp, tls) = streams.split_at(for_connections(&places.plain).len().min(streams.len()));
        let udp = running.udp_addrs();
        let ports = |scheme: &str, addresses: &[SocketAddr], rest: &str| {
            let mut ports: Vec<u16> = addresses.iter().map(SocketAddr::port).collect();
            ports.dedup();
            ports
                .into_iter()
                .map(|port| format!("{scheme}:{host}:{port}{rest}").into())
                .collect::<Vec<Box<str>>>()
        };
        if !is_in_certificate && !tls.is_empty() {
            tracing::warn!(
                "clients do not learn of TURN over TLS on this front: set calls.host to its name in the certificate"
            );
        }
        let tls = if is_in_certificate { tls } else { &[] };
        let turn = [
            ports("turn", udp, ""),
            ports("turn", tcp, "?transport=tcp"),
            ports("turns", tls, "?transport=tcp"),
        ];
        let (stun, turn) = (ports("stun", udp, ""), turn.concat());
        tracing::info!(%host, ?relays, at_most = quotas.relays, "calls: STUN and TURN");
        Ok(Some(Role { running, secret, stun, turn, relays }))
    }

    pub(crate) fn secret(&self) -> Arc<[u8]> {
        Arc::clone(&self.secret)
    }

    /// As in RFC 7064,
    pub(crate) fn stun(&self) -> &[Box<str>] {
        &self.stun
    }

    /// and RFC 7065. Without an address for relays, no TURN server is offered.
    pub(crate) fn turn(&self) -> &[Box<str>] {
        if self.relays.is_empty() { &[] } else { &self.turn }
    }

    pub(crate) fn running(&self) -> &::calls::Calls {
        &self.running
    }

    pub(crate) fn stop(self, flush: Duration) {
        self.running.stop(flush);
    }

    /// A successor has what it could take.
    pub(crate) fn leave(self) {
        self.running.leave();
    }
}

/// Checks that need no socket.
pub(super) fn check(calls: &Calls) -> Outcome {
    addresses("calls.listen", &calls.listen)?;
    addresses("calls.listen_tls", &calls.listen_tls)?;
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if !calls.host.chars().all(is_of_name) && calls.host.parse::<IpAddr>().is_err() {
        return Err(Trouble::new(format!(
            "calls.host has `{}`, which is not the name of a host",
            calls.host
        ))
        .remedy("for example: calls.host = \"turn1.im.example\""));
    }
    let external = external(calls)?;
    match external.iter().filter(|ip| ip.is_ipv4()).count() > 1
        || external.iter().filter(|ip| ip.is_ipv6()).count() > 1
    {
        true => {
            Err(Trouble::new("calls.external has two addresses of one family").remedy("name one of each"))
        }
        false => Ok(()),
    }
}

/// `auto`: the addresses at which browsers reach the node. Off on loopback, and if the operator has named other servers, such as
/// coturn.
fn places(config: &Config) -> Outcome<Places> {
    let calls = &config.calls;
    let named = !calls.turn.is_empty() || !calls.stun.is_empty();
    let beyond = |address: &SocketAddr| !address.ip().is_loopback();
    let auto = config.https.filter(beyond).or(Some(config.http).filter(beyond)).filter(|_| !named);
    let plain = match addresses("calls.listen", &calls.listen)? {
        Some(named) => named,
        None => auto.map_or(Vec::new(), |address| both_families(address.ip())),
    };
    let has_certificate = config.tls_cert.is_some() && config.tls_key.is_some();
    let tls = match addresses("calls.listen_tls", &calls.listen_tls)? {
        Some(named) if !named.is_empty() && !has_certificate => {
            return Err(Trouble::new("calls.listen_tls needs a certificate and its key")
                .remedy("add --tls-cert chain.pem --tls-key key.pem, or remove the setting"));
        }
        Some(named) => named,
        None if has_certificate => {
            plain.iter().map(|address| SocketAddr::new(address.ip(), TLS_PORT)).collect()
        }
        None => Vec::new(),
    };
    Ok(Places { plain, tls })
}

/// Connections of both families can share one wildcard address; datagrams need one of each.
fn both_families(ip: IpAddr) -> Vec<SocketAddr> {
    let mut addresses = vec![SocketAddr::new(ip, PORT)];
    if ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        addresses.push((Ipv4Addr::UNSPECIFIED, PORT).into());
    }
    addresses
}

/// None: `auto`.
fn addresses(key: &str, text: &str) -> Outcome<Option<Vec<SocketAddr>>> {
    let wrong = |word: &str| {
        Trouble::new(format!("{key} has `{word}`, which is not an address with a port"))
            .remedy(format!("for example: {key} = \"0.0.0.0:3478, [::]:3478\"; or auto, or off"))
    };
    match text {
        "auto" => Ok(None),
        "off" => Ok(Some(Vec::new())),
        text => servers(text)
            .iter()
            .map(|word| word.parse().map_err(|_| wrong(word)))
            .collect::<Outcome<_>>()
            .map(Some),
    }
}

fn external(calls: &Calls) -> Outcome<Vec<IpAddr>> {
    let wrong = |word: &str| {
        Trouble::new(format!("calls.external has `{word}`, which is not an address"))
            .remedy("for example: calls.external = \"203.0.113.7, 2001:db8::7\"")
    };
    servers(&calls.external).iter().map(|word| word.parse().map_err(|_| wrong(word))).collect()
}

/// For each listening family: the address of relays, and the address for clients.
fn relays(calls: &Calls, places: &Places) -> Outcome<Vec<RelayAddress>> {
    let external = external(calls)?;
    let mut relays: Vec<RelayAddress> = Vec::new();
    for bind in places.plain.iter().chain(&places.tls).map(SocketAddr::ip) {
        if relays.iter().any(|relay| relay.bind.is_ipv4() == bind.is_ipv4()) {
            continue;
        }
        let named = external.iter().copied().find(|ip| ip.is_ipv4() == bind.is_ipv4());
        let external = named.or_else(|| if bind.is_unspecified() { outward(bind) } else { Some(bind) });
        match external {
            Some(external) => relays.push(RelayAddress { bind, external }),
            None => {
                tracing::warn!(%bind, "no relays of this address family: calls.external is not set, and the machine has no route")
            }
        }
        if let Some(external) = external
            .filter(|external| named.is_none() && !external.is_loopback() && !reach::is_public(*external))
        {
            tracing::warn!(%external, "relays work within this network only; set calls.external to the public address");
        }
    }
    Ok(relays)
}

/// The source address of this machine. Nothing is sent: the system only selects a route to an address for documentation (RFC 5737,
/// RFC 3849).
fn outward(any: IpAddr) -> Option<IpAddr> {
    let far = match any {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((far, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// The host in the addresses for clients.
struct Host {
    name: String,
    /// Clients of TLS check the name.
    is_in_certificate: bool,
}

/// The host's name if known, because certificates have names. The public URL of a cluster leads to its balancer, so a front has a name of
/// its own, or an address.
fn host(config: &Config, relays: &[RelayAddress]) -> Host {
    let is_front = config.is_front();
    let named = match &*config.calls.host {
        "" if is_front => None,
        "" => of_url(config),
        host => Some(match host.parse() {
            Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
            Ok(IpAddr::V4(_)) | Err(_) => host.to_owned(),
        }),
    };
    let is_in_certificate = named.is_some() || !is_front;
    let of_relay =
        || match relays.iter().find(|it| it.external.is_ipv4()).or(relays.first()).map(|it| it.external) {
            Some(IpAddr::V6(ip)) => format!("[{ip}]"),
            Some(ip) => ip.to_string(),
            None => "localhost".into(),
        };
    Host { name: named.unwrap_or_else(of_relay), is_in_certificate }
}

fn of_url(config: &Config) -> Option<String> {
    let authority = config.public_url.as_deref()?.split_once("://")?.1.split('/').next()?;
    let bracket = authority.rfind(']').unwrap_or(0);
    let end = authority[bracket..].find(':').map_or(authority.len(), |at| bracket + at);
    Some(authority[..end].to_owned()).filter(|host| !host.is_empty())
}

fn quotas(calls: &Calls, room: u32) -> Quotas {
    let bytes = |kbit: u32| u64::from(kbit) * 1_000 / 8;
    Quotas {
        relays: if calls.relays == 0 { room } else { calls.relays.min(room) },
        user_relays: calls.relays_per_user,
        address_relays: calls.relays_per_address,
        site_relays: calls.relays_per_site,
        user_bytes_per_second: bytes(calls.kbit_per_user),
        address_bytes_per_second: bytes(calls.kbit_per_address),
        site_bytes_per_second: bytes(calls.kbit_per_site),
    }
}

/// For connections, the wildcard of IPv6 includes that of IPv4.
fn for_connections(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let covered = |address: &SocketAddr| {
        address.ip() == IpAddr::V4(Ipv4Addr::UNSPECIFIED)
            && addresses.contains(&SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), address.port()))
    };
    addresses.iter().copied().filter(|address| !covered(address)).collect()
}

/// TCP on the addresses of datagrams, and then TLS.
fn streams(config: &Config, places: &Places) -> Outcome<Vec<Listener>> {
    let plain = for_connections(&places.plain);
    let mut listeners: Vec<Listener> = plain.into_iter().map(Listener::plain).collect();
    if let (false, Some(cert), Some(key)) = (places.tls.is_empty(), &config.tls_cert, &config.tls_key) {
        let loaded = tls::load(cert, key, config.tls_memory.into())
            .map_err(|error| Trouble::new("cannot use the certificate for calls").because(error))?;
        let acceptor = tls::Acceptor::new(::calls::tls(&loaded));
        let tls = for_connections(&places.tls);
        listeners.extend(tls.into_iter().map(|addr| Listener::tls(addr, acceptor.clone())));
    }
    Ok(listeners)
}

fn cannot_listen(places: &Places, error: &std::io::Error) -> Trouble {
    let addresses: Vec<String> = places.plain.iter().chain(&places.tls).map(SocketAddr::to_string).collect();
    Trouble::new(format!("cannot listen for calls on {}", addresses.join(", ")))
        .because(error)
        .remedy("stop the other server on these ports, or change calls.listen and calls.listen_tls (off disables them)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ClusterRole;

    fn config(http: &str, change: impl FnOnce(&mut Config)) -> Config {
        let mut config = Config { http: http.parse().expect(http), ..Config::default() };
        change(&mut config);
        config
    }

    fn plain(config: &Config) -> Vec<String> {
        places(config).expect("all is well").plain.iter().map(SocketAddr::to_string).collect()
    }

    #[test]
    fn relays_are_taken_over_if_both_processes_listen_on_the_same_addresses() {
        let here = config("127.0.0.1:8080", |config| config.calls.listen = "127.0.0.1:0, [::1]:7".into());
        let at = |text: &[&str]| text.iter().map(|it| it.parse().expect(it)).collect::<Vec<SocketAddr>>();
        let (datagrams, streams) = (at(&["127.0.0.1:4000", "[::1]:7"]), at(&["127.0.0.1:4001", "[::1]:7"]));
        let offer = Offer { relays: MOVES_FORMAT, datagrams, streams, ..Offer::default() };
        let takes = |offer: &Offer| takes_relays(&here, offer).expect("all is well");
        assert!(takes(&offer));
        assert!(!takes(&Offer { relays: 0, ..offer.clone() }), "the version before sends none");
        assert!(!takes(&Offer { relays: MOVES_FORMAT + 1, ..offer.clone() }));
        assert!(!takes(&Offer { datagrams: at(&["127.0.0.1:4000", "[::1]:8"]), ..offer.clone() }));
        assert!(!takes(&Offer { streams: at(&["127.0.0.1:4001"]), ..offer.clone() }));
        assert!(!takes(&Offer::default()), "it had no server");
    }

    #[test]
    fn auto_listens_where_members_connect_unless_other_servers_are_named() {
        assert!(plain(&config("127.0.0.1:8080", |_| {})).is_empty());
        assert_eq!(plain(&config("0.0.0.0:80", |_| {})), ["0.0.0.0:3478"]);
        let coturn = |config: &mut Config| config.calls.turn = "turn:a:3478".into();
        assert_eq!(plain(&config("[::]:80", |_| {})), ["[::]:3478", "0.0.0.0:3478"]);
        assert!(plain(&config("0.0.0.0:80", coturn)).is_empty());
        assert!(plain(&config("0.0.0.0:80", |config| config.calls.listen = "off".into())).is_empty());
        let named = |config: &mut Config| config.calls.listen = "127.0.0.1:0, [::1]:7".into();
        assert_eq!(plain(&config("127.0.0.1:80", named)), ["127.0.0.1:0", "[::1]:7"]);
        let behind_a_proxy =
            |config: &mut Config| config.https = Some("198.51.100.7:443".parse().expect("an address"));
        assert_eq!(plain(&config("127.0.0.1:80", behind_a_proxy)), ["198.51.100.7:3478"]);
    }

    #[test]
    fn tls_comes_with_the_certificate() {
        let with = config("0.0.0.0:80", |config| {
            (config.tls_cert, config.tls_key) = (Some("c".into()), Some("k".into()));
        });
        assert_eq!(places(&with).expect("all is well").tls, ["0.0.0.0:5349".parse().expect("an address")]);
        let without = config("0.0.0.0:80", |config| config.calls.listen_tls = "0.0.0.0:443".into());
        assert!(places(&without).expect_err("no certificate").to_string().contains("--tls-cert"));
    }

    #[test]
    fn a_wildcard_of_both_families_is_listened_on_once() {
        let at = |text: &str| text.parse::<SocketAddr>().expect(text);
        let [six, four, other] = [at("[::]:3478"), at("0.0.0.0:3478"), at("0.0.0.0:3479")];
        assert_eq!(for_connections(&[four, six, other]), [six, other]);
        assert_eq!(for_connections(&[four]), [four]);
    }

    #[test]
    fn errors_name_the_setting() {
        let message = |change: fn(&mut Calls)| {
            let mut calls = Calls::default();
            change(&mut calls);
            check(&calls).expect_err("it is wrong").to_string()
        };
        assert!(message(|calls| calls.listen = "3478".into()).contains("`3478`"));
        assert!(message(|calls| calls.listen_tls = "x".into()).contains("calls.listen_tls"));
        assert!(message(|calls| calls.external = "im.example".into()).contains("203.0.113.7"));
        assert!(message(|calls| calls.external = "1.1.1.1, 2.2.2.2".into()).contains("one of each"));
        assert!(check(&Calls::default()).is_ok());
    }

    #[test]
    fn clients_get_the_public_name_or_the_address() {
        let at = |url: Option<&str>, external: &str| {
            let external = external.parse().expect("an address");
            let config = Config { public_url: url.map(str::to_owned), ..Config::default() };
            host(&config, &[RelayAddress { bind: external, external }]).name
        };
        assert_eq!(at(Some("https://im.example"), "192.0.2.7"), "im.example");
        assert_eq!(at(Some("https://im.example:8443/x"), "192.0.2.7"), "im.example");
        assert_eq!(at(Some("https://[2001:db8::1]:8443"), "192.0.2.7"), "[2001:db8::1]");
        assert_eq!(at(None, "192.0.2.7"), "192.0.2.7");
        assert_eq!(at(None, "2001:db8::7"), "[2001:db8::7]");
    }

    #[test]
    fn a_front_has_a_name_of_its_own_or_its_address() {
        let external = "192.0.2.7".parse().expect("an address");
        let relays = [RelayAddress { bind: external, external }];
        let mut config = Config { public_url: Some("https://im.example".into()), ..Config::default() };
        (config.cluster.nats, config.cluster.role) = ("nats://10.0.0.1".into(), ClusterRole::Front);
        let by_address = host(&config, &relays);
        assert_eq!((&*by_address.name, by_address.is_in_certificate), ("192.0.2.7", false));
        for (setting, expected) in
            [("turn1.im.example", "turn1.im.example"), ("2001:db8::7", "[2001:db8::7]")]
        {
            config.calls.host = setting.into();
            let named = host(&config, &relays);
            assert_eq!((&*named.name, named.is_in_certificate), (expected, true));
            assert!(check(&config.calls).is_ok());
        }
        for wrong in ["turn:im.example", "im.example:3478", "a b"] {
            config.calls.host = wrong.into();
            assert!(check(&config.calls).expect_err(wrong).to_string().contains("calls.host"));
        }
    }

    #[test]
    fn behind_a_nat_clients_get_the_external_address() {
        let calls = Calls { external: "198.51.100.7".into(), ..Calls::default() };
        let places = Places { plain: vec!["10.0.0.5:3478".parse().expect("an address")], tls: Vec::new() };
        let ip = |text: &str| text.parse::<IpAddr>().expect(text);
        let expected = RelayAddress { bind: ip("10.0.0.5"), external: ip("198.51.100.7") };
        assert_eq!(relays(&calls, &places).expect("all is well"), [expected]);
    }
}
