//! XMPP for members' own apps: its addresses, and its gateway on the node's workers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use ::xmpp::{
    Counters, FileSlot, Gateway, ListenerRole, Mail, PassedOn, Peers, RemoteUsers, Servers, ServersAtHome,
    Shared, Streams, WebTransports, XmppConfig,
};
use chat::{File, FileId, FileLimits, Port};
use edge::tls::{Acceptor, CertifiedKey, ServerConfig};
use edge::{EdgeConfig, Inbox, Listener, Mailboxes};
use xmpp_proto::xml::Limits;

use crate::config::{Config, Xmpp};
use crate::federation::Federation;
use crate::serve::random;
use crate::take_over;
use crate::trouble::{Outcome, Trouble};

/// RFC 6120 §14.7.
const PORT: u16 = 5222;
/// XEP-0368 §5 leaves the port to DNS; this one is usual.
const TLS_PORT: u16 = 5223;
/// RFC 7301: the protocol name that XEP-0368 §3 registers.
pub(crate) const ALPN: &[u8] = b"xmpp-client";

const STANZA_BYTES: std::ops::RangeInclusive<u32> = 16_384..=1_048_576;

/// The bound listeners, with the certificate that they offer.
#[derive(Default)]
pub(crate) struct Listening {
    pub(crate) listeners: Vec<Listener>,
    roles: Vec<ListenerRole>,
    web: Option<WebTransports>,
    passed_on: Option<PassedOn>,
    limits: Limits,
    origin: String,
    federation: Option<Federation>,
    streams: Arc<Streams>,
}

/// Checks that need no socket.
pub(crate) fn check(config: &Config) -> Outcome {
    let xmpp = &config.xmpp;
    addresses("xmpp.listen", &xmpp.listen)?;
    addresses("xmpp.listen_tls", &xmpp.listen_tls)?;
    crate::federation::check(config)?;
    if !["auto", "on", "off"].contains(&&*xmpp.web) {
        return Err(Trouble::new(format!("xmpp.web has `{}`", xmpp.web)).remedy("choose auto, on or off"));
    }
    if !STANZA_BYTES.contains(&xmpp.stanza_bytes) {
        let (least, most) = (STANZA_BYTES.start(), STANZA_BYTES.end());
        return Err(Trouble::new(format!("xmpp.stanza_bytes must be from {least} to {most}"))
            .because("RFC 6120 requires 10,000 bytes, and a picture of a contact needs some more"));
    }
    Ok(())
}

/// For the demo community on this machine: the usual port, without TLS, if it is free and the operator has chosen nothing.
pub(crate) fn listen_for_demo(config: &Config) -> Outcome<Listening> {
    let mut demo = config.clone();
    if demo.xmpp.listen == "auto" && demo.http.ip().is_loopback() && demo.tls_cert.is_none() {
        demo.xmpp.listen = SocketAddr::new(demo.http.ip(), PORT).to_string();
        demo.xmpp.allow_plain = true;
        if let Ok(listening) = listen(&demo, &[]) {
            return Ok(listening);
        }
    }
    listen(config, &[])
}

/// Binds the addresses. Without any, the node has no XMPP. Addresses that nobody has chosen may belong to another server, such as
/// the XMPP server of this machine; then the node runs without XMPP. `old`: the addresses of a process that this one takes over.
pub(crate) fn listen(config: &Config, old: &[SocketAddr]) -> Outcome<Listening> {
    let outcome = bind(config, old);
    let Xmpp { listen, listen_tls, s2s_listen, component_listen, .. } = &config.xmpp;
    let is_chosen = listen != "auto"
        || listen_tls != "auto"
        || !["off", "auto"].contains(&&**s2s_listen)
        || component_listen != "off";
    match outcome {
        Err(trouble) if !is_chosen => {
            tracing::warn!("no XMPP: {trouble}");
            Ok(Listening::default())
        }
        outcome => outcome,
    }
}

fn bind(config: &Config, old: &[SocketAddr]) -> Outcome<Listening> {
    let Xmpp { listen, listen_tls, web, s2s_listen, allow_plain, stanza_bytes, .. } = &config.xmpp;
    let tls = certificate(config)?;
    let beyond = |address: &SocketAddr| tls.is_some() && !address.ip().is_loopback();
    let auto = config.https.filter(beyond).map(|address| address.ip());
    let on = |port| auto.map(|ip| SocketAddr::new(ip, port)).into_iter().collect();
    let plain: Vec<SocketAddr> = addresses("xmpp.listen", listen)?.unwrap_or_else(|| on(PORT));
    let direct: Vec<SocketAddr> = addresses("xmpp.listen_tls", listen_tls)?.unwrap_or_else(|| on(TLS_PORT));
    if tls.is_none() && !(plain.is_empty() || *allow_plain) || tls.is_none() && !direct.is_empty() {
        return Err(Trouble::new("XMPP needs a certificate and its key")
            .because("without TLS, anybody on the path could read the passwords of members")
            .remedy("add --https, --tls-cert and --tls-key, or set xmpp.listen to off"));
    }
    let role = ListenerRole { peers: Peers::Clients, tls: tls.clone(), allows_plain: *allow_plain };
    let first = plain.into_iter().map(|address| match &tls {
        Some(tls) => Listener::both(address, tls.clone()),
        None => Listener::plain(address),
    });
    let second =
        direct.into_iter().zip(tls.iter().cycle()).map(|(address, tls)| Listener::tls(address, tls.clone()));
    let mut listeners: Vec<Listener> = first.chain(second).collect();
    let mut roles = vec![role; listeners.len()];
    let federation = Federation::of(config)?;
    if let Some(federation) = &federation {
        let of_servers = addresses("xmpp.s2s_listen", s2s_listen)?.unwrap_or_default();
        for (address, tls) in of_servers.into_iter().zip(federation.acceptor().into_iter().cycle()) {
            listeners.push(Listener::both(address, tls.clone()));
            roles.push(ListenerRole { peers: Peers::Servers, tls: Some(tls.clone()), allows_plain: false });
        }
        for address in crate::components::addresses(&config.xmpp)? {
            if !address.ip().is_loopback() {
                tracing::warn!(%address, "components connect without TLS: let nobody else reach this address");
            }
            listeners.push(Listener::plain(address));
            roles.push(ListenerRole { peers: Peers::Components, tls: None, allows_plain: false });
        }
    }
    for (number, listener) in listeners.iter_mut().enumerate() {
        if let Some(addr) = take_over::joined(listener.addr, old.get(number)) {
            listener.join(addr);
            continue;
        }
        listener.reserve().map_err(|error| {
            Trouble::new(format!("cannot listen on {} for XMPP", listener.addr)).because(error).remedy(
                "stop the other server on this port, or change xmpp.listen, xmpp.listen_tls, xmpp.s2s_listen and xmpp.component_listen \
                 (off disables them)",
            )
        })?;
    }
    let limits = Limits { stanza_bytes: *stanza_bytes as usize, ..Limits::default() };
    let has_clients = roles.iter().any(|role| role.peers == Peers::Clients);
    let is_on_web = web == "on" || web == "auto" && has_clients;
    let web = is_on_web.then(|| WebTransports {
        pages: crate::serve::WEB,
        trusted_proxies: config.web.trusted_proxies.0.clone(),
        allows_plain: *allow_plain,
        public_url: config.public_url.as_deref().map(Into::into),
    });
    let (origin, streams) = (origin(config), Arc::default());
    Ok(Listening { listeners, roles, web, passed_on: None, limits, origin, federation, streams })
}

/// The node's certificate, with the protocol name of XMPP.
fn certificate(config: &Config) -> Outcome<Option<Acceptor>> {
    let (Some(cert), Some(key)) = (&config.tls_cert, &config.tls_key) else { return Ok(None) };
    let tls = edge::tls::load(cert, key, config.tls_memory.into())
        .map_err(|error| Trouble::new("cannot use the certificate").because(error))?;
    Ok(Some(Acceptor::new(for_streams(config, &tls)?)))
}

/// Certificates of domains. More would be a mistake of the operator.
const MOST_CERTIFICATES: usize = 10_000;

/// The node's certificate for streams, beside those of domains.
pub(crate) fn for_streams(config: &Config, tls: &ServerConfig) -> Outcome<Arc<ServerConfig>> {
    let by_name = certificates_of(config)?;
    let tls = edge::tls::with_names(&edge::tls::for_protocol(tls, ALPN), by_name);
    Ok(edge::tls::with_channel_bindings(&tls))
}

/// The certificates of XMPP domains.
pub(crate) fn certificates_of(config: &Config) -> Outcome<HashMap<Box<str>, Arc<CertifiedKey>>> {
    match &*config.xmpp.certificates {
        "" => Ok(HashMap::new()),
        folder => certificates(Path::new(folder)),
    }
}

/// Reads `DOMAIN/fullchain.pem` and `DOMAIN/privkey.pem`. Folders without both files are for something else.
fn certificates(folder: &Path) -> Outcome<HashMap<Box<str>, Arc<CertifiedKey>>> {
    let unreadable =
        |error| Trouble::new(format!("cannot read xmpp.certificates, {}", folder.display())).because(error);
    let mut by_name = HashMap::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let (chain, key) = (path.join("fullchain.pem"), path.join("privkey.pem"));
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !chain.exists() || !key.exists() {
            continue;
        }
        if by_name.len() >= MOST_CERTIFICATES {
            return Err(Trouble::new(format!("xmpp.certificates has more than {MOST_CERTIFICATES} domains")));
        }
        let certified = edge::tls::load_key(&chain, &key).map_err(|error| {
            Trouble::new(format!("cannot use the certificate of the XMPP domain {name}")).because(error)
        })?;
        by_name.insert(name.to_ascii_lowercase().into(), certified);
    }
    Ok(by_name)
}

/// Addresses of files for apps, which know no page.
#[derive(Debug)]
struct FileLinks {
    files: FilesOfApps,
    /// Of this server.
    origin: String,
}

/// What apps may do with files.
#[derive(Debug, Clone)]
pub(crate) struct FilesOfApps {
    pub(crate) links: web::files::Links,
    pub(crate) limits: FileLimits,
    /// How long the node keeps a file that is in no message.
    pub(crate) life_ms: u64,
}

impl ::xmpp::FileLinks for FileLinks {
    fn link(&self, file: &File) -> String {
        self.files.links.absolute(file, &self.origin)
    }

    fn slot(&self, id: FileId, name: &str) -> FileSlot {
        let slot = self.files.links.slot(id, name, &self.origin, self.files.life_ms);
        let web::files::Slot { put, get, authorization } =
            slot.expect("links of a node with files make slots");
        FileSlot { put, get, authorization }
    }

    fn named(&self, url: &str) -> Option<FileId> {
        self.files.links.named(url, &self.origin)
    }

    fn limits(&self) -> FileLimits {
        self.files.limits
    }
}

/// The origin under which members reach this server, as far as the configuration tells.
fn origin(config: &Config) -> String {
    let of_address = || match config.https {
        Some(https) => format!("https://{https}"),
        None => format!("http://{}", config.http),
    };
    config.public_url.clone().unwrap_or_else(of_address)
}

/// All addresses of this machine, which are the address of none.
fn is_unspecified(origin: &str) -> bool {
    ["://0.0.0.0:", "://[::]:"].iter().any(|any| origin.contains(any))
}

impl Listening {
    /// The gateway for the node's workers, beside that of the web.
    #[allow(clippy::too_many_arguments, reason = "one for each part of the node that it uses")]
    pub(crate) fn gateway(
        self,
        node: Port,
        mailboxes: Mailboxes<Mail>,
        inboxes: Vec<Inbox<Mail>>,
        counters: Arc<Counters>,
        files: Option<FilesOfApps>,
        servers: Option<Servers>,
        home: Option<Arc<dyn ServersAtHome>>,
        config: EdgeConfig,
    ) -> edge::Gateway {
        if files.is_some() && self.accepts_clients() && is_unspecified(&self.origin) {
            tracing::warn!("apps cannot reach files at {}: set public_url", self.origin);
        }
        let Listening { listeners, roles, web, passed_on, limits, origin, federation: _, streams } = self;
        let files = files.map(|files| Arc::new(FileLinks { files, origin }) as Arc<dyn ::xmpp::FileLinks>);
        let settings = XmppConfig {
            listeners: roles,
            web,
            passed_on,
            files,
            servers,
            home,
            limits,
            ..XmppConfig::default()
        };
        let remote_users = RemoteUsers::default();
        let shared = Arc::new(Shared { node, mailboxes, config: settings, counters, streams, remote_users });
        let input_limit = 2 * limits.stanza_bytes;
        edge::Gateway::new(EdgeConfig { listeners, input_limit, ..config }, inboxes, move |_| {
            Gateway::new(Arc::clone(&shared), random())
        })
    }

    /// Those that can be resumed.
    pub(crate) fn streams(&self) -> Arc<Streams> {
        Arc::clone(&self.streams)
    }

    /// For the web's gateway, whose port also carries streams.
    pub(crate) fn on_web(&self) -> Option<web::OtherGateway> {
        let takes_path: fn(&str) -> bool = match (&self.web, &self.passed_on) {
            (None, None) => return None,
            (Some(_), None) => ::xmpp::is_xmpp_path,
            (None, Some(_)) => ::xmpp::is_passed_on,
            (Some(_), Some(_)) => |path| ::xmpp::is_xmpp_path(path) || ::xmpp::is_passed_on(path),
        };
        Some(web::OtherGateway { number: crate::serve::XMPP, takes_path })
    }

    /// This node is a home, and fronts with this proof pass on connections of other servers and components.
    pub(crate) fn accept_from_fronts(&mut self, proof: &str) {
        let proof: Box<str> = proof.into();
        let is_proof = Arc::new(move |given: &[u8]| web::is_same(given, proof.as_bytes()));
        if self.federation.is_some() {
            self.passed_on = Some(PassedOn { is_proof, pages: crate::serve::WEB });
        }
    }

    pub(crate) fn accepts_clients(&self) -> bool {
        self.roles.iter().any(|role| role.peers == Peers::Clients) || self.web.is_some()
    }

    pub(crate) fn federation(&self) -> Option<&Federation> {
        self.federation.as_ref()
    }

    /// Where clients can connect.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|listener| listener.addr).collect()
    }

    /// New connections get this certificate.
    pub(crate) fn acceptors(&self) -> Vec<Acceptor> {
        let of_clients = self.roles.iter().filter(|role| role.peers == Peers::Clients);
        of_clients.filter_map(|role| role.tls.clone()).take(1).collect()
    }
}

/// None: `auto`.
pub(crate) fn addresses(key: &str, text: &str) -> Outcome<Option<Vec<SocketAddr>>> {
    let wrong = |word: &str| {
        Trouble::new(format!("{key} has `{word}`, which is not an address with a port"))
            .remedy(format!("for example: {key} = \"0.0.0.0:5222, [::]:5222\"; or auto, or off"))
    };
    match text {
        "auto" => Ok(None),
        "off" => Ok(Some(Vec::new())),
        text => text
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().map_err(|_| wrong(word)))
            .collect::<Outcome<_>>()
            .map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        let outcome = check(&config).and_then(|()| listen(&config, &[]).map(drop));
        outcome.expect_err("a mistake").to_string()
    }

    #[test]
    fn mistakes_are_named_with_a_remedy() {
        assert!(message(|config| config.xmpp.listen = "5222".into()).contains("`5222`"));
        assert!(message(|config| config.xmpp.listen_tls = "x".into()).contains("xmpp.listen_tls"));
        assert!(message(|config| config.xmpp.stanza_bytes = 9_999).contains("16384 to 1048576"));
        assert!(message(|config| config.xmpp.listen = "127.0.0.1:0".into()).contains("certificate"));
        assert!(
            message(|config| {
                (config.xmpp.listen_tls, config.xmpp.allow_plain) = ("127.0.0.1:0".into(), true);
            })
            .contains("certificate")
        );
    }

    #[test]
    fn without_a_certificate_there_is_no_xmpp_by_itself() {
        let config = Config::default();
        assert!(listen(&config, &[]).expect("no mistake").listeners.is_empty());
    }

    #[test]
    fn streams_on_the_web_follow_the_listeners_unless_the_operator_chooses() {
        let on_web = |listen: &str, web: &str| {
            let mut config = Config::default();
            (config.xmpp.listen, config.xmpp.web, config.xmpp.allow_plain) =
                (listen.into(), web.into(), true);
            listen_for(&config)
        };
        let expected = [("127.0.0.1:0", "auto", true), ("off", "auto", false), ("off", "on", true)];
        for (listen, web, is_on) in expected {
            let listening = on_web(listen, web);
            assert_eq!(
                (listening.on_web().is_some(), listening.accepts_clients()),
                (is_on, is_on),
                "{listen} {web}"
            );
        }
        assert!(on_web("127.0.0.1:0", "off").on_web().is_none());
        assert!(message(|config| config.xmpp.web = "yes".into()).contains("`yes`"));
    }

    #[test]
    fn the_port_of_the_web_takes_streams_from_fronts_without_streams_of_clients() {
        let is_proof = Arc::new(|_: &[u8]| false);
        let listening =
            Listening { passed_on: Some(PassedOn { is_proof, pages: 0 }), ..Listening::default() };
        let takes = listening.on_web().expect("these paths").takes_path;
        assert!(takes("/cluster/streams/servers") && takes("/cluster/streams/components"));
        assert!(!takes("/xmpp-websocket") && !takes("/cluster"));
    }

    fn listen_for(config: &Config) -> Listening {
        check(config).and_then(|()| listen(config, &[])).expect("no mistake")
    }

    #[test]
    fn files_of_apps_need_an_address_of_the_node() {
        let mut config =
            Config { https: Some("0.0.0.0:443".parse().expect("an address")), ..Config::default() };
        assert!(is_unspecified(&origin(&config)));
        config.https = Some("[::]:443".parse().expect("an address"));
        assert!(is_unspecified(&origin(&config)));
        config.public_url = Some("https://im.example".into());
        assert!(!is_unspecified(&origin(&config)));
        assert!(!is_unspecified(&origin(&Config::default())));
    }

    #[test]
    fn each_domain_has_a_certificate_in_its_folder() {
        let folder = std::env::temp_dir().join(format!("kith-certificates-{}", std::process::id()));
        let write = |domain: &str, key: Option<&str>| {
            let made = rcgen::generate_simple_self_signed(vec![domain.into()]).expect("a certificate");
            let place = folder.join(domain);
            std::fs::create_dir_all(&place).expect("a folder");
            std::fs::write(place.join("fullchain.pem"), made.cert.pem()).expect("a file");
            let own = made.signing_key.serialize_pem();
            std::fs::write(place.join("privkey.pem"), key.unwrap_or(&own)).expect("a file");
        };
        write("Garden.example", None);
        std::fs::create_dir_all(folder.join("empty.example")).expect("a folder");
        std::fs::write(folder.join("README"), "").expect("a file");
        let names: Vec<_> = certificates(&folder).expect("certificates").into_keys().collect();
        assert_eq!(names, ["garden.example".into()]);
        write("broken.example", Some("no key"));
        let trouble = certificates(&folder).expect_err("a broken key").to_string();
        assert!(trouble.contains("broken.example"), "{trouble}");
        std::fs::remove_dir_all(&folder).expect("our folder");
        assert!(certificates(&folder).is_err());
    }

    #[test]
    fn plain_xmpp_is_only_for_operators_who_ask_for_it() {
        let mut config = Config::default();
        (config.xmpp.listen, config.xmpp.allow_plain) = ("127.0.0.1:0".into(), true);
        let listening = listen(&config, &[]).expect("no mistake");
        assert_eq!((listening.listeners.len(), listening.acceptors().len()), (1, 0));
    }
}
