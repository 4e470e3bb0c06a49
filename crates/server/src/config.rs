//! The settings of a node: flags over `KITH_*` variables over the file over the defaults.

mod check;
mod layers;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::span::Span;

pub(crate) use layers::{Layers, Loaded, Source, load, strange_variables, variable_of, variables};

impl Config {
    /// Whether this node has connections only.
    pub(crate) fn is_front(&self) -> bool {
        !self.cluster.nats.is_empty() && self.cluster.role == ClusterRole::Front
    }
}

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
    /// Name of this node in the addresses of its own server.
    pub host: String,
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

/// Several nodes as one server: homes and fronts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The address of the home for requests of fronts; empty: `http`. With several slots its port is 0: each home takes a free one.
    pub http: String,
    /// Groups of sites with a home of their own, the same number on all nodes, 1 to 64. It can grow. More than one needs `database`.
    pub slots: u8,
    /// The slot of this home. A node with several homes sets it for each of them.
    pub slot: u8,
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
            host: String::new(),
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

impl Default for Cluster {
    fn default() -> Cluster {
        Cluster {
            nats: String::new(),
            nats_authority: String::new(),
            role: ClusterRole::Home,
            secret_file: String::new(),
            name: String::new(),
            http: String::new(),
            slots: 1,
            slot: 0,
        }
    }
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { grace: Span::seconds(10), spread: Span::seconds(15) }
    }
}
