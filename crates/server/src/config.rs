//! The settings of a node: flags over `KITH_*` variables over the file over the defaults.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// Every setting of a node; the keys of `kith.toml`, which `docs/operate.md` explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Directory of the database and of all other durable data.
    pub data: PathBuf,
    /// URL of a PostgreSQL database; none: the SQLite file in the data directory.
    pub database: Option<String>,
    pub http: SocketAddr,
    pub https: Option<SocketAddr>,
    /// Certificate chain and key, PEM; reloaded on SIGHUP.
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    pub tls_memory: TlsMemory,
    /// Address of this node for browsers, in the embed code that `site add` prints.
    pub public_url: Option<String>,
    /// Serves `/metrics` without a token.
    pub metrics_public: bool,
    /// File with the token for `/metrics`; none: `metrics.token` in the data directory, which is created.
    pub metrics_token_file: Option<PathBuf>,
    /// A plain WebSocket echo at `/v1/echo`, for conformance suites.
    pub echo: bool,
    pub log: Log,
    pub edge: Edge,
    pub web: Web,
    pub limits: Limits,
    pub mail: Mail,
    pub presence: Presence,
    pub calls: Calls,
    pub push: Push,
    pub previews: Previews,
    pub tokens: Tokens,
    pub store: Store,
    pub files: Files,
    pub xmpp: Xmpp,
    pub cluster: Cluster,
    pub stop: Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// As `RUST_LOG`: `info`, or `warn,edge=debug`.
    pub level: String,
    pub format: LogFormat,
    /// A line per sign-in and per refused token: to this file, or to `stderr`; empty: none.
    pub sign_ins: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TlsMemory {
    /// Secrets and counters.
    Low,
    /// All that rustls keeps.
    Rustls,
}

impl From<TlsMemory> for edge::tls::Memory {
    fn from(memory: TlsMemory) -> Self {
        match memory {
            TlsMemory::Low => Self::Low,
            TlsMemory::Rustls => Self::Rustls,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Edge {
    /// Event-loop threads; 0: one per core.
    pub workers: usize,
    /// A descriptor table per worker (Linux), where the descriptor limit cannot be raised.
    pub private_descriptors: bool,
    /// All connections of the node; 0: as many as descriptors allow.
    pub max_connections: u32,
    /// Connections of one IPv4 address or one IPv6 /64, and never more than half of all; 0: no limit. This machine and
    /// trusted proxies have none.
    pub connections_per_address: u32,
    /// Memory for pending output of all connections.
    pub output_memory_mib: u32,
    /// The kernel's buffers for each connection, each way; 0: by need.
    pub socket_buffer_kib: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Web {
    /// Longest frame or POST body.
    pub frame_bytes: u32,
    /// A session ends after this time without a frame.
    pub idle: Span,
    /// Interval of heartbeats on the stream transports.
    pub heartbeat: Span,
    /// Longest time that a poll waits for an event.
    pub poll_wait: Span,
    /// A session ends after this time without a poll.
    pub poll_gap: Span,
    /// A connection is closed after this time without a request.
    pub keep_alive: Span,
    /// Addresses and networks whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
}

/// One text, so that a variable can set it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Networks(pub web::TrustedProxies);

impl TryFrom<String> for Networks {
    type Error = String;

    fn try_from(text: String) -> Result<Networks, String> {
        text.parse().map(Networks)
    }
}

impl From<Networks> for String {
    fn from(networks: Networks) -> String {
        networks.0.to_string()
    }
}

/// See `chat::Limits`; 0 means no limit for the rates and for rooms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Limits {
    pub body_bytes: u32,
    pub extension_bytes: u32,
    pub page: u32,
    pub watch: u32,
    pub contacts: u32,
    pub sessions_per_user: u32,
    pub sessions_per_site: u32,
    pub send_burst: u32,
    pub send_per_minute: u32,
    pub command_burst: u32,
    pub command_per_minute: u32,
    pub site_sends_per_second: u32,
    pub guest_burst: u32,
    pub guest_per_minute: u32,
    pub requests_per_user: u32,
    pub requests_per_address: u32,
    pub requests_per_site: u32,
    pub guest_upload_bytes: u64,
    pub import_bytes: u64,
    pub room_members: u32,
    pub rooms_per_user: u32,
    pub rooms_owned: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Presence {
    /// Time for which a user stays online after a lost connection.
    pub grace: Span,
    /// Time for which changes are collected before they are sent.
    pub coalesce: Span,
}

/// Digests of missed messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mail {
    /// The mail relay, such as `smtps://user:password@smtp.example.com`; empty: no mail is sent.
    pub relay: String,
    pub from: String,
    /// Time of unread messages before a mail, unless the member chooses another.
    pub after: Span,
}

/// Notifications for browsers of absent members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Push {
    pub enabled: bool,
    /// Names of allowed push services, separated by commas; `*.` before a name: its subdomains; `*`: any public one.
    pub services: String,
    /// Contact for their operators, such as `mailto:me@example.com`; empty: the address of the site.
    pub contact: String,
    /// PEM file with the certificate authority of the operator's own push service, which may be in a private network.
    pub authority: String,
}

/// Previews of links, on sites that have switched them on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Previews {
    pub enabled: bool,
    /// Also pages of private networks, for a community of an intranet. Its members then learn which addresses answer there.
    pub private: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Calls {
    pub from: CallsFrom,
    /// Most calls of this node at one time.
    pub most: u32,
    /// Invitations of one user; 0: no limit.
    pub burst: u32,
    pub per_minute: u32,
    /// STUN and TURN servers, as URIs, separated by commas.
    pub stun: String,
    pub turn: String,
    /// File with the secret that the TURN servers share.
    pub turn_secret_file: String,
    /// Validity of credentials.
    pub turn_life: Span,
    /// Addresses of our own server for datagrams and connections, separated by commas; `auto` or `off`.
    pub listen: String,
    pub listen_tls: String,
    /// Addresses that clients get, if they differ from the listening ones; one of each family.
    pub external: String,
    /// Ports of relays, such as `49152-65535`.
    pub ports: Ports,
    /// Private networks that relays can reach.
    pub peers: Networks,
    /// Most relays of this node, of a user, of an address and of a site at one time; 0: no limit.
    pub relays: u32,
    pub relays_per_user: u32,
    pub relays_per_address: u32,
    pub relays_per_site: u32,
    /// Bandwidth of all their relays together, both ways; 0: no limit.
    pub kbit_per_user: u32,
    pub kbit_per_address: u32,
    pub kbit_per_site: u32,
    /// Bytes per second and address by which answers to unproven sources may exceed their requests; 0: no limit.
    pub unproven_bytes: u32,
}

/// One text, so that a variable can set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Ports(pub std::ops::RangeInclusive<u16>);

impl TryFrom<String> for Ports {
    type Error = String;

    fn try_from(text: String) -> Result<Ports, String> {
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if 1_024 <= first && first <= last => Ok(Ports(first..=last)),
            _ => Err(format!("`{text}` is no range of ports; write it as 49152-65535, above 1023")),
        }
    }
}

impl From<Ports> for String {
    fn from(ports: Ports) -> String {
        format!("{}-{}", ports.0.start(), ports.0.end())
    }
}

/// The users whose calls ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CallsFrom {
    Nobody,
    Contacts,
    Everyone,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Tokens {
    /// Allowed error of the sites' clocks.
    pub clock_skew: Span,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Store {
    pub sync: Sync,
    /// Reader threads beside the one writer.
    pub readers: usize,
}

/// Data that a power failure can lose. A crash of the process loses nothing in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sync {
    /// No acknowledged message.
    Full,
    /// The last moments, for disks that are slow to sync.
    Normal,
}

/// Files that members send; see `chat::FileLimits`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Files {
    /// Largest file; 0: no files.
    pub file_bytes: u64,
    /// All files of a user, of a guest, and of a site; 0: no limit.
    pub user_bytes: u64,
    pub guest_bytes: u64,
    pub site_bytes: u64,
    /// CPU time for pictures per hour.
    pub picture_cpu_per_user: Span,
    pub picture_cpu_per_site: Span,
    /// Another origin of this node for files; empty: this one.
    pub url: String,
    /// Validity of a link to a file.
    pub link_life: Span,
    /// Unsent files are removed after this time.
    pub unsent_life: Span,
    /// The same for files from apps: encrypted messages name them where no server can read it.
    pub open_life: Span,
    /// Folder of the files, which all homes of a cluster share; empty: `files` in the data directory. Needs `database`.
    pub folder: String,
    /// Bucket of S3 or a compatible server; empty: files are in the folder.
    pub bucket: String,
    /// Such as `https://s3.eu-west-1.amazonaws.com`.
    pub bucket_endpoint: String,
    pub bucket_region: String,
    /// The bucket is named in the path instead of the host's name.
    pub bucket_in_path: bool,
    /// Prefix of all object names, such as `kith/`.
    pub bucket_prefix: String,
    /// Two lines: the key's id, and its secret.
    pub bucket_key_file: String,
}

/// XMPP for members' own apps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Xmpp {
    /// Addresses for clients, with STARTTLS and TLS, separated by commas; `auto` or `off`.
    pub listen: String,
    /// Addresses for clients with TLS alone.
    pub listen_tls: String,
    /// A folder with a folder for each XMPP domain: `DOMAIN/fullchain.pem` and `DOMAIN/privkey.pem`. Empty: all domains use `tls_cert`.
    pub certificates: String,
    /// Streams over WebSocket on the port of the web: `on`, `off`, or `auto`, which is `on` if `listen` or `listen_tls` has an address.
    pub web: String,
    /// Addresses for other XMPP servers, with STARTTLS and TLS, separated by commas; `off`: no streams between servers.
    pub s2s_listen: String,
    /// Where the servers of some domains are, as `DOMAIN=ADDRESS:PORT`, separated by commas. All others are found by DNS.
    pub s2s_hosts: String,
    /// A file of PEM certificates of authorities that are trusted for other servers, beside the public ones.
    pub s2s_authority: String,
    /// Addresses for components, without TLS, separated by commas; `auto`: this machine with port 5347; `off`: no components.
    pub component_listen: String,
    /// A file with a line for each component: its host, its secret, and perhaps the keys of its sites.
    pub components: String,
    /// Clients may sign in without TLS, so that anybody on the path can read passwords and messages.
    pub allow_plain: bool,
    /// Longest stanza of a signed-in client.
    pub stanza_bytes: u32,
}

/// Several nodes as one server: a home and fronts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Cluster {
    /// NATS, as `nats://USER:PASSWORD@HOST:4222` or `tls://…`; several servers separated by commas; empty: this node runs alone.
    pub nats: String,
    /// PEM certificates of authorities that are trusted for `tls://`, beside those of the system.
    pub nats_authority: String,
    pub role: ClusterRole,
    /// File with the secret of the cluster, the same on all nodes: 32 random bytes or more.
    pub secret_file: String,
    /// The name of this node in logs and tables; empty: its address.
    pub name: String,
    /// The address of the home for requests of fronts; empty: `http`.
    pub http: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClusterRole {
    /// The node with the domain. With PostgreSQL several nodes can have this role: one is the home, and the others stand by.
    #[default]
    Home,
    /// A node with connections of clients, and without a database.
    Front,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Stop {
    /// Longest duration of a graceful stop.
    pub grace: Span,
    /// Clients return within this time after a stop, each at its own moment.
    pub spread: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            data: PathBuf::from("./data"),
            database: None,
            http: SocketAddr::from(([127, 0, 0, 1], 8080)),
            https: None,
            tls_cert: None,
            tls_key: None,
            tls_memory: TlsMemory::Low,
            public_url: None,
            metrics_public: false,
            metrics_token_file: None,
            echo: false,
            log: Log::default(),
            edge: Edge::default(),
            web: Web::default(),
            limits: Limits::default(),
            mail: Mail::default(),
            presence: Presence::default(),
            calls: Calls::default(),
            push: Push::default(),
            previews: Previews::default(),
            tokens: Tokens::default(),
            store: Store::default(),
            files: Files::default(),
            xmpp: Xmpp::default(),
            cluster: Cluster::default(),
            stop: Stop::default(),
        }
    }
}

impl Default for Log {
    fn default() -> Log {
        Log { level: "info".into(), format: LogFormat::Text, sign_ins: String::new() }
    }
}

impl Default for Edge {
    fn default() -> Edge {
        Edge {
            workers: 0,
            private_descriptors: false,
            max_connections: 0,
            connections_per_address: 2_000,
            output_memory_mib: 256,
            socket_buffer_kib: 0,
        }
    }
}

impl Default for Web {
    fn default() -> Web {
        Web {
            frame_bytes: 65_536,
            idle: Span::seconds(90),
            heartbeat: Span::seconds(10),
            poll_wait: Span::seconds(25),
            poll_gap: Span::seconds(30),
            keep_alive: Span::seconds(60),
            trusted_proxies: Networks::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 8_192,
            extension_bytes: 32_768,
            page: 100,
            watch: 500,
            contacts: 10_000,
            sessions_per_user: 16,
            sessions_per_site: 1_000_000,
            send_burst: 30,
            send_per_minute: 120,
            command_burst: 120,
            command_per_minute: 1_200,
            site_sends_per_second: 5_000,
            guest_burst: 20,
            guest_per_minute: 2,
            requests_per_user: 240,
            requests_per_address: 1_200,
            requests_per_site: 12_000,
            guest_upload_bytes: 104_857_600,
            import_bytes: 1_073_741_824,
            room_members: 100_000,
            rooms_per_user: 1_000,
            rooms_owned: 100,
        }
    }
}

impl Default for Presence {
    fn default() -> Presence {
        Presence { grace: Span::seconds(15), coalesce: Span::millis(500) }
    }
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            from: CallsFrom::Contacts,
            most: 100_000,
            burst: 6,
            per_minute: 12,
            stun: String::new(),
            turn: String::new(),
            turn_secret_file: String::new(),
            turn_life: Span::seconds(12 * 3_600),
            listen: "auto".into(),
            listen_tls: "auto".into(),
            external: String::new(),
            ports: Ports(49_152..=65_535),
            peers: Networks::default(),
            relays: 10_000,
            relays_per_user: 40,
            relays_per_address: 160,
            relays_per_site: 2_500,
            kbit_per_user: 20_000,
            kbit_per_address: 80_000,
            kbit_per_site: 250_000,
            unproven_bytes: 65_536,
        }
    }
}

impl Default for Mail {
    fn default() -> Mail {
        Mail { relay: String::new(), from: String::new(), after: Span::seconds(1_800) }
    }
}

impl Default for Push {
    fn default() -> Push {
        // Those of Chromium, Firefox, Edge and Safari. Other hosts of googleapis.com belong to other services.
        let services =
            "fcm.googleapis.com, updates.push.services.mozilla.com, *.notify.windows.com, web.push.apple.com";
        Push { enabled: true, services: services.into(), contact: String::new(), authority: String::new() }
    }
}

impl Default for Previews {
    fn default() -> Previews {
        Previews { enabled: true, private: false }
    }
}

impl Default for Tokens {
    fn default() -> Tokens {
        Tokens { clock_skew: Span::seconds(30) }
    }
}

impl Default for Store {
    fn default() -> Store {
        Store { sync: Sync::Full, readers: 4 }
    }
}

impl Default for Files {
    fn default() -> Files {
        Files {
            file_bytes: 104_857_600,
            user_bytes: 1_073_741_824,
            guest_bytes: 26_214_400,
            site_bytes: 53_687_091_200,
            picture_cpu_per_user: Span::seconds(60),
            picture_cpu_per_site: Span::seconds(600),
            url: String::new(),
            link_life: Span::seconds(12 * 3_600),
            unsent_life: Span::seconds(24 * 3_600),
            open_life: Span::seconds(7 * 24 * 3_600),
            folder: String::new(),
            bucket: String::new(),
            bucket_endpoint: String::new(),
            bucket_region: "us-east-1".into(),
            bucket_in_path: false,
            bucket_prefix: String::new(),
            bucket_key_file: String::new(),
        }
    }
}

impl Default for Xmpp {
    fn default() -> Xmpp {
        Xmpp {
            listen: "auto".into(),
            listen_tls: "auto".into(),
            certificates: String::new(),
            web: "auto".into(),
            s2s_listen: "off".into(),
            s2s_hosts: String::new(),
            s2s_authority: String::new(),
            component_listen: "off".into(),
            components: String::new(),
            allow_plain: false,
            stanza_bytes: 262_144,
        }
    }
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { grace: Span::seconds(10), spread: Span::seconds(15) }
    }
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Variable(String),
    Flag,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Variable(name) => f.write_str(name),
            Source::Flag => f.write_str("flag"),
        }
    }
}

/// The settings with the source of each.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub config: Config,
    /// By dotted key, as in `limits.body_bytes`.
    pub settings: BTreeMap<String, (Value, Source)>,
}

/// All layers of a configuration, so that tests need no process environment.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    pub file: Option<PathBuf>,
    pub variables: Vec<(String, String)>,
    /// Dotted key and value.
    pub flags: Vec<(&'static str, Value)>,
}

/// Reads, checks and merges all layers.
pub(crate) fn load(layers: Layers) -> Outcome<Loaded> {
    let mut settings: BTreeMap<String, (Value, Source)> =
        default_settings().into_iter().map(|(key, value)| (key, (value, Source::Default))).collect();
    if let Some(path) = &layers.file {
        for (key, value) in flat(&read_file(path)?) {
            settings.insert(key, (value, Source::File(path.clone())));
        }
    }
    for (name, text) in &layers.variables {
        let (key, value) = from_variable(name, text)?;
        settings.insert(key, (value, Source::Variable(name.clone())));
    }
    for (key, value) in layers.flags {
        settings.insert(key.to_owned(), (value, Source::Flag));
    }
    let table = nested(settings.iter().map(|(key, (value, _))| (key.as_str(), value.clone())));
    let config: Config = table.try_into().map_err(|error| {
        Trouble::new("some settings contradict each other").because(error.to_string().trim())
    })?;
    check(&config)?;
    Ok(Loaded { config, settings })
}

fn read_file(path: &Path) -> Outcome<Table> {
    let problem = || format!("cannot use the configuration file {}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| {
        Trouble::new(problem())
            .because(error)
            .remedy("name an existing file with --config, or leave it out to use the defaults")
    })?;
    // Parsed directly from the text, so that the error has line and column.
    toml::from_str::<Config>(&text).map_err(|error| {
        Trouble::new(problem())
            .because(error.to_string().trim_end())
            .remedy("`kith config show` prints every setting with its value")
    })?;
    text.parse().map_err(|error: toml::de::Error| Trouble::new(problem()).because(error))
}

/// `KITH_LIMITS_BODY_BYTES` is `limits.body_bytes`; the type of the default decides how the text is read.
fn from_variable(name: &str, text: &str) -> Outcome<(String, Value)> {
    let wrong = |why: String| {
        Trouble::new(format!("cannot use the variable {name}={text}"))
            .because(why)
            .remedy("correct it, or remove it from the environment")
    };
    let key = keys()
        .into_iter()
        .find(|key| variable_of(key) == name)
        .ok_or_else(|| wrong("no setting has this name; list all with `kith config show`".into()))?;
    let value = match default_settings().get(&key) {
        Some(Value::Boolean(_)) => {
            Value::Boolean(text.parse().map_err(|_| wrong("it takes true or false".into()))?)
        }
        Some(Value::Integer(_)) => {
            Value::Integer(text.parse().map_err(|_| wrong("it takes a whole number".into()))?)
        }
        _ => Value::String(text.to_owned()),
    };
    Config::deserialize(nested([(key.as_str(), value.clone())])).map_err(|error| wrong(error.to_string()))?;
    Ok((key, value))
}

/// The variable that overrides a setting.
pub(crate) fn variable_of(key: &str) -> String {
    format!("KITH_{}", key.replace('.', "_").to_uppercase())
}

/// The `KITH_*` variables of this process that are settings. Others are ignored, because orchestrators set some for every service,
/// such as `KITH_PORT`; `kith config check` lists them in case of a typing mistake.
pub(crate) fn variables() -> Vec<(String, String)> {
    of_kith().filter(|(name, _)| is_setting(name)).collect()
}

/// Variables with the prefix that are not settings.
pub(crate) fn strange_variables() -> Vec<String> {
    of_kith()
        .map(|(name, _)| name)
        .filter(|name| !is_setting(name) && !OF_COMMANDS.contains(&name.as_str()))
        .collect()
}

/// Variables of the command line.
const OF_COMMANDS: [&str; 3] = ["KITH_CONFIG", "KITH_MIGRATE_FROM", "KITH_MIGRATE_TO"];

fn of_kith() -> impl Iterator<Item = (String, String)> {
    // Variables of other programs may not be UTF-8.
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("KITH_"))
}

fn is_setting(name: &str) -> bool {
    keys().iter().any(|key| variable_of(key) == name)
}

/// Settings without a default value.
const OPTIONAL: [&str; 6] = ["database", "https", "tls_cert", "tls_key", "public_url", "metrics_token_file"];

/// All keys, sorted.
fn keys() -> Vec<String> {
    let mut keys: Vec<String> = default_settings().into_keys().collect();
    keys.extend(OPTIONAL.map(str::to_owned));
    keys.sort();
    keys
}

fn default_settings() -> BTreeMap<String, Value> {
    flat(&Table::try_from(Config::default()).expect("the defaults are plain values"))
}

fn flat(table: &Table) -> BTreeMap<String, Value> {
    let mut settings = BTreeMap::new();
    for (key, value) in table {
        match value {
            Value::Table(section) => {
                settings
                    .extend(section.iter().map(|(inner, value)| (format!("{key}.{inner}"), value.clone())));
            }
            value => drop(settings.insert(key.clone(), value.clone())),
        }
    }
    settings
}

fn nested<'a>(settings: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    let mut table = Table::new();
    for (key, value) in settings {
        match key.split_once('.') {
            None => drop(table.insert(key.to_owned(), value)),
            Some((section, inner)) => {
                let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
                if let Value::Table(section) = section {
                    section.insert(inner.to_owned(), value);
                }
            }
        }
    }
    table
}

/// A page of messages is read into memory as a whole.
const MOST_EXTENSION_BYTES: u32 = 262_144;
const OUTPUT_MEMORY_MIB: std::ops::RangeInclusive<u32> = 16..=65_536;
/// More than any line can use.
const MOST_SOCKET_BUFFER_KIB: u32 = 65_536;

/// Checks that types cannot express.
fn check(config: &Config) -> Outcome {
    match (&config.https, &config.tls_cert, &config.tls_key) {
        (Some(_), Some(_), Some(_)) | (None, None, None) => {}
        (Some(_), ..) => {
            return Err(Trouble::new("HTTPS needs a certificate and its key")
                .remedy("add --tls-cert chain.pem --tls-key key.pem, or leave out --https"));
        }
        (None, ..) => {
            return Err(Trouble::new("a certificate is set, but no address for HTTPS")
                .remedy("add --https 0.0.0.0:8443, or leave out --tls-cert and --tls-key"));
        }
    }
    if config.limits.body_bytes.saturating_mul(2) > config.web.frame_bytes {
        return Err(Trouble::new("limits.body_bytes is too large for web.frame_bytes")
            .because("a body can double in size when it is encoded as JSON")
            .remedy(format!(
                "set web.frame_bytes to {} or more",
                config.limits.body_bytes.saturating_mul(2)
            )));
    }
    if config.limits.extension_bytes > MOST_EXTENSION_BYTES {
        return Err(Trouble::new(format!("limits.extension_bytes may not be above {MOST_EXTENSION_BYTES}"))
            .because("a page of messages is read into memory as a whole"));
    }
    let too_small = [
        ("limits.body_bytes", u64::from(config.limits.body_bytes)),
        ("limits.page", u64::from(config.limits.page)),
        ("limits.sessions_per_user", u64::from(config.limits.sessions_per_user)),
        ("limits.sessions_per_site", u64::from(config.limits.sessions_per_site)),
        ("store.readers", config.store.readers as u64),
    ]
    .into_iter()
    .find(|(_, value)| *value == 0);
    if let Some((key, _)) = too_small {
        return Err(Trouble::new(format!("{key} may not be 0")));
    }
    if !OUTPUT_MEMORY_MIB.contains(&config.edge.output_memory_mib) {
        let (least, most) = (OUTPUT_MEMORY_MIB.start(), OUTPUT_MEMORY_MIB.end());
        return Err(Trouble::new(format!("edge.output_memory_mib must be from {least} to {most}"))
            .remedy("the default is 256; sessions that read too slowly lose their queue above it"));
    }
    if config.edge.socket_buffer_kib > MOST_SOCKET_BUFFER_KIB {
        return Err(Trouble::new(format!(
            "edge.socket_buffer_kib may not be above {MOST_SOCKET_BUFFER_KIB}"
        ))
        .remedy("0 lets the system choose the size"));
    }
    check_files(&config.files, config.database.is_some())?;
    check_mail(config)?;
    let contact = &config.push.contact;
    if !(contact.is_empty() || contact.starts_with("mailto:") || contact.starts_with("https://")) {
        return Err(
            Trouble::new("push.contact is not an address").remedy("write it as mailto:me@example.com")
        );
    }
    // Browsers choose the address that is called, so a service outside the public network must be named by the operator.
    if !config.push.authority.is_empty() && config.push.services.split(',').any(|name| name.trim() == "*") {
        return Err(Trouble::new(
            "push.authority and push.services = \"*\" would let anybody reach your network",
        )
        .remedy("name your own push service in push.services"));
    }
    check_times(&config.web)?;
    crate::xmpp::check(&config.xmpp)?;
    crate::calls::check(&config.calls)
}

fn check_files(files: &Files, has_server: bool) -> Outcome {
    let is_origin = files.url.starts_with("https://") || files.url.starts_with("http://");
    if !files.url.is_empty() && !is_origin {
        return Err(Trouble::new(format!("files.url may not be {}", files.url))
            .remedy("set an origin, for example https://files.example, or leave it out"));
    }
    let (hour, month) = (Span::seconds(3_600), Span::seconds(30 * 24 * 3_600));
    let spans = [
        ("files.link_life", files.link_life),
        ("files.unsent_life", files.unsent_life),
        ("files.open_life", files.open_life),
    ];
    for (key, value) in spans {
        if value < hour || value > month {
            return Err(Trouble::new(format!("{key} may not be {value}"))
                .remedy(format!("set {key} between {hour} and {month}, or leave it out")));
        }
    }
    if !files.folder.is_empty() && !has_server {
        return Err(Trouble::new("files.folder needs a database of PostgreSQL")
            .because("`kith backup` copies the files of the data directory")
            .remedy("set database, or leave files.folder out and mount the other disk at DATA/files"));
    }
    crate::files::check(files)
}

fn check_mail(config: &Config) -> Outcome {
    let Mail { relay, from, after } = &config.mail;
    if relay.is_empty() {
        return Ok(());
    }
    // The address has a password in it, so it is not repeated.
    if let Err(error) = crate::mail::relay(relay) {
        return Err(Trouble::new("mail.relay is not the address of a mail relay")
            .because(error)
            .remedy("write it as smtps://user:password@smtp.example.com"));
    }
    if from.parse::<lettre::message::Mailbox>().is_err() {
        return Err(Trouble::new("mail.from is not an address").remedy("write it as kith@example.com"));
    }
    if config.public_url.is_none() {
        return Err(Trouble::new("mail needs public_url")
            .because("each mail has a link to unsubscribe")
            .remedy("set public_url to the address of this node for browsers"));
    }
    let (least, most) = (Span::seconds(60), Span::seconds(7 * 86_400));
    match *after >= least && *after <= most {
        true => Ok(()),
        false => Err(Trouble::new(format!("mail.after may not be {after}"))
            .remedy(format!("set it from {least} to {most}"))),
    }
}

/// Limits that clients rely on: `docs/protocol.md` promises them.
fn check_times(web: &Web) -> Outcome {
    let hour = Span::seconds(3_600);
    let ranges = [
        // Clients send a frame at least every 50 s.
        ("web.idle", web.idle, Span::seconds(60), hour),
        ("web.heartbeat", web.heartbeat, Span::seconds(1), Span::seconds(60)),
        // They give up a poll after 35 s.
        ("web.poll_wait", web.poll_wait, Span::seconds(1), Span::seconds(30)),
        ("web.poll_gap", web.poll_gap, Span::seconds(10), hour),
        ("web.keep_alive", web.keep_alive, Span::seconds(1), hour),
    ];
    match ranges.into_iter().find(|(_, value, least, most)| value < least || value > most) {
        None => Ok(()),
        Some((key, value, least, most)) => Err(Trouble::new(format!("{key} may not be {value}"))
            .because(format!("clients need {least} to {most}"))
            .remedy(format!("set {key} in this range, or leave it out"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../kith.example.toml");
    const GUIDE: &str = include_str!("../../../docs/operate.md");

    #[test]
    fn a_flag_wins_over_a_variable_over_the_file_over_the_default() {
        let file = Scratch::with("http = \"127.0.0.1:1\"\n[limits]\npage = 7\nwatch = 8\n");
        let loaded = load(Layers {
            file: Some(file.path.clone()),
            variables: vec![
                ("KITH_HTTP".into(), "127.0.0.1:2".into()),
                ("KITH_LIMITS_WATCH".into(), "9".into()),
                ("KITH_ECHO".into(), "true".into()),
            ],
            flags: vec![("http", "127.0.0.1:3".into())],
        })
        .expect("all is well");
        let config = &loaded.config;
        assert_eq!(config.http.port(), 3);
        assert_eq!((config.limits.page, config.limits.watch), (7, 9));
        assert!(config.echo);
        assert_eq!(config.limits.body_bytes, 8_192);
        let source = |key: &str| loaded.settings[key].1.to_string();
        assert_eq!(source("http"), "flag");
        assert_eq!(source("limits.watch"), "KITH_LIMITS_WATCH");
        assert_eq!(source("limits.page"), file.path.display().to_string());
        assert_eq!(source("limits.contacts"), "default");
    }

    #[test]
    fn errors_name_their_place() {
        let message = |text: &str| {
            let file = Scratch::with(text);
            load(Layers { file: Some(file.path.clone()), ..Layers::default() }).expect_err(text).to_string()
        };
        assert!(message("htpp = \"127.0.0.1:1\"").contains("unknown field `htpp`"));
        assert!(message("\n\nhttp = 5").contains("line 3"));
        assert!(message("[limits]\nbody_bytes = -1").contains("line 2"));
        assert!(message("[presence]\ngrace = \"ten\"").contains("as in 10s"));
        assert!(message("not toml at all").contains("line 1"));
        assert!(message("https = \"127.0.0.1:8443\"").contains("--tls-cert"));
        assert!(message("tls_cert = \"x\"\ntls_key = \"y\"").contains("--https"));
        assert!(message("[limits]\nbody_bytes = 60000").contains("120000"));
        assert!(message("[limits]\nextension_bytes = 262145").contains("may not be above 262144"));
        for (setting, range) in [
            ("idle = \"59s\"", "1m to 1h"),
            ("idle = \"2h\"", "1m to 1h"),
            ("heartbeat = \"0s\"", "1s to 1m"),
            ("heartbeat = \"2m\"", "1s to 1m"),
            ("poll_wait = \"31s\"", "1s to 30s"),
            ("poll_gap = \"9s\"", "10s to 1h"),
            ("keep_alive = \"999ms\"", "1s to 1h"),
        ] {
            assert!(message(&format!("[web]\n{setting}")).contains(range), "{setting}");
        }
        assert!(message("[web]\ntrusted_proxies = \"10.0.0.0/8, localhost\"").contains("`localhost`"));
        assert!(message("[mail]\nrelay = \"mail.example.com\"").contains("smtps://"));
        let relay = "relay = \"smtp://127.0.0.1:25\"";
        assert!(message(&format!("[mail]\n{relay}\nfrom = \"kith\"")).contains("mail.from"));
        assert!(message(&format!("[mail]\n{relay}\nfrom = \"kith@example.com\"")).contains("public_url"));
        assert!(message("[push]\ncontact = \"me@example.com\"").contains("mailto:"));
        assert!(
            message("[push]\nservices = \"a.example, *\"\nauthority = \"own.pem\"")
                .contains("your own push service")
        );
        assert!(message("[store]\nreaders = 0").contains("store.readers may not be 0"));
        assert!(message("[edge]\noutput_memory_mib = 1").contains("16 to 65536"));
        assert!(message("[edge]\nsocket_buffer_kib = 65537").contains("0 lets the system choose"));
        assert!(message("[files]\nurl = \"files.example\"").contains("https://files.example"));
        assert!(message("[files]\nfolder = \"/srv/files\"").contains("needs a database of PostgreSQL"));
        assert!(message("[files]\nlink_life = \"10s\"").contains("files.link_life"));
        assert!(message("[files]\nunsent_life = \"90d\"").contains("files.unsent_life"));
        let missing = load(Layers { file: Some("/no/such.toml".into()), ..Layers::default() });
        assert!(missing.expect_err("no file").to_string().contains("--config"));
    }

    #[test]
    fn a_variable_that_is_no_setting_or_no_value_is_named() {
        let message = |name: &str, text: &str| {
            let variables = vec![(name.to_owned(), text.to_owned())];
            load(Layers { variables, ..Layers::default() }).expect_err(name).to_string()
        };
        assert!(message("KITH_HTPP", "x").contains("KITH_HTPP=x"));
        assert!(message("KITH_ECHO", "maybe").contains("true or false"));
        assert!(message("KITH_EDGE_WORKERS", "two").contains("whole number"));
        assert!(message("KITH_HTTP", "nowhere").contains("KITH_HTTP=nowhere"));
        assert!(message("KITH_LOG_FORMAT", "xml").contains("KITH_LOG_FORMAT"));
    }

    #[test]
    fn the_example_file_has_the_defaults() {
        let config: Config = toml::from_str(EXAMPLE).expect("kith.example.toml is valid");
        assert_eq!(config, Config::default());
    }

    #[test]
    fn the_example_and_the_guide_have_every_setting() {
        for key in keys() {
            let last = key.rsplit('.').next().expect("a key has a name");
            assert!(EXAMPLE.contains(&format!("{last} = ")), "kith.example.toml lacks {key}");
            assert!(GUIDE.contains(&format!("`{key}`")), "docs/operate.md lacks `{key}`");
        }
    }

    struct Scratch {
        path: PathBuf,
    }

    impl Scratch {
        fn with(text: &str) -> Scratch {
            use std::sync::atomic::{AtomicU32, Ordering};
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let name =
                format!("kith-config-{}-{}.toml", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).expect("the temporary directory is writable");
            Scratch { path }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
