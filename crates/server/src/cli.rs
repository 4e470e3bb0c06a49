//! The command line of `kith`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toml::Value;

use crate::config::{ClusterRole, LogFormat, TlsMemory};
use crate::load_command::LoadCommand;
use crate::span::Span;

/// An instant messenger for the members of any website.
///
/// Try it:   kith demo              then open http://127.0.0.1:8080
/// Run it:   kith serve --config kith.toml
/// Add a site to a running node:   kith site add garden --origin https://garden.example
#[derive(Debug, Parser)]
#[command(name = "kith", version, verbatim_doc_comment, max_term_width = 100)]
pub(crate) struct Cli {
    /// Configuration file (TOML); see `kith config show` for all settings. Flags and KITH_* variables win over it.
    #[arg(long, global = true, value_name = "FILE", env = "KITH_CONFIG")]
    pub config: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a node.
    ///
    /// Example: kith serve --data /var/lib/kith --http 127.0.0.1:8080 --https 0.0.0.0:443 \
    ///            --tls-cert chain.pem --tls-key key.pem
    ///
    /// Signals: SIGTERM and SIGINT stop gracefully (a second one at once), SIGHUP reads the certificate again, SIGUSR2
    /// starts the program anew with --take-over.
    #[command(verbatim_doc_comment)]
    Serve(ServeArgs),
    /// Run a node with a demo community to try it out.
    ///
    /// Example: kith demo --http 127.0.0.1:8080      then open http://127.0.0.1:8080 in a browser
    #[command(verbatim_doc_comment)]
    Demo(NodeFlags),
    /// Add, list, change and remove sites. A running node sees the change within a second.
    #[command(subcommand)]
    Site(SiteCommand),
    /// List, show, ban and unban the users of a site.
    #[command(subcommand)]
    User(UserCommand),
    /// Add, list and remove the stickers of a site. A running node uses them at once.
    #[command(subcommand)]
    Sticker(StickerCommand),
    /// Import users, contacts, rooms and old messages of another system. The node may run meanwhile.
    ///
    /// Example: kith import --site garden community.jsonl --data /var/lib/kith
    ///
    /// Each line of the file is a JSON object with a type: user, contact, room, member or message. docs/operate.md
    /// describes the format. Importing a line again changes nothing. An interrupted import continues where it stopped.
    #[command(verbatim_doc_comment)]
    Import(ImportArgs),
    /// Back up the database to a file while the node runs.
    ///
    /// Example: kith backup /var/backups/kith-$(date +%F).db
    #[command(verbatim_doc_comment)]
    Backup(BackupArgs),
    /// Replace the database by a backup. Stop the node first.
    ///
    /// Example: kith restore /var/backups/kith-2026-11-21.db --data /var/lib/kith
    ///
    /// The restored database gets a new epoch, so all clients reload their history.
    #[command(verbatim_doc_comment)]
    Restore(RestoreArgs),
    /// Move the whole database from SQLite to PostgreSQL, or back. Stop the node first.
    ///
    /// Example: kith migrate --from /var/lib/kith --to postgres://kith@db.example/kith
    ///
    /// The target must be empty. Clients go on where they were, with the node on the target. An interrupted migration
    /// continues where it stopped. Files of members stay where they are.
    #[command(verbatim_doc_comment)]
    Migrate(MigrateArgs),
    /// Print a signed token (JWT) for testing.
    ///
    /// Example: kith token --site demo --user anna --name "Anna" --ttl 1h
    ///
    /// A site signs tokens itself, on its own server; see docs/embed.md.
    #[command(verbatim_doc_comment)]
    Token(TokenArgs),
    /// Measure a node with many simulated members.
    #[command(subcommand)]
    Load(LoadCommand),
    /// Check the settings, or show each setting with its value and source.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Find problems and limits of this machine, and print how to fix them.
    ///
    /// Example: kith doctor --connections 100000
    ///
    /// Exits with code 1 if a check fails. Checks a running node with the limits of its process.
    #[command(verbatim_doc_comment)]
    Doctor(DoctorArgs),
    /// Write a man page for kith and one for each of its commands into a directory.
    ///
    /// Example: kith man /usr/local/share/man/man1
    #[command(verbatim_doc_comment)]
    Man(ManArgs),
    /// Print the completions of a shell.
    ///
    /// Example: kith completions bash > /etc/bash_completion.d/kith
    #[command(verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Look at the nodes of a cluster.
    #[command(subcommand)]
    Cluster(ClusterCommand),
    /// Decode a picture from stdin and write it to stdout. A node starts this for each picture of its members.
    #[command(hide = true)]
    Picture {
        /// The picture of a person: smaller, without a thumbnail.
        #[arg(long)]
        portrait: bool,
    },
}

#[derive(Debug, Args, Default)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub flags: NodeFlags,
    /// Replace the running node of the data directory: its connections and sessions go on here. If this version cannot
    /// start, the running one goes on.
    #[arg(long)]
    pub take_over: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show the running node of this data directory: its role, its links, and what waits in them.
    ///
    /// Example: kith cluster status --data ./data/home --watch
    #[command(verbatim_doc_comment)]
    Status(ClusterStatus),
    /// Give the role of the home to another home that stands by. The old home ends, and its unit starts it again as a standby.
    ///
    /// Works at the home and at a front, and needs the secret of the cluster.
    ///
    /// Example: kith cluster drain --cluster-secret-file /etc/kith/cluster.secret
    #[command(verbatim_doc_comment)]
    Drain(ClusterDrain),
    /// Give the role of the home to one node that stands by; `kith cluster status` lists their names.
    ///
    /// Example: kith cluster move "kith 10.0.0.2:8080" --cluster-secret-file /etc/kith/cluster.secret
    #[command(verbatim_doc_comment)]
    Move(ClusterMove),
}

#[derive(Debug, Args)]
pub(crate) struct ClusterDrain {
    /// File with the secret of the cluster [env: KITH_CLUSTER_SECRET_FILE].
    #[arg(long, value_name = "FILE")]
    pub cluster_secret_file: Option<PathBuf>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterMove {
    /// The name of the node.
    pub node: String,
    #[command(flatten)]
    pub drain: ClusterDrain,
}

impl ClusterDrain {
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let secret =
            self.cluster_secret_file.iter().map(|path| ("cluster.secret_file", text(path.display())));
        self.data.settings().into_iter().chain(secret).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct ClusterStatus {
    /// Repeat every second until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

/// Settings of a node as flags; each wins over its `KITH_*` variable and the file.
#[derive(Debug, Args, Default)]
pub(crate) struct NodeFlags {
    #[command(flatten)]
    pub data: DataFlag,
    /// Address for HTTP and WebSocket [default: 127.0.0.1:8080] [env: KITH_HTTP].
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Address for HTTPS; needs --tls-cert and --tls-key [env: KITH_HTTPS].
    #[arg(long, value_name = "ADDR")]
    pub https: Option<SocketAddr>,
    /// Certificate chain, PEM [env: KITH_TLS_CERT].
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key, PEM [env: KITH_TLS_KEY].
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Memory of a TLS connection: low, or all that rustls keeps [default: low] [env: KITH_TLS_MEMORY].
    #[arg(long, value_enum, value_name = "MEMORY")]
    pub tls_memory: Option<TlsMemory>,
    /// Address of this node for browsers, for example https://im.example [env: KITH_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Event-loop threads [default: one per core] [env: KITH_EDGE_WORKERS].
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Give each worker its own descriptor table, if you cannot raise the descriptor limit (Linux).
    #[arg(long)]
    pub private_descriptors: bool,
    /// Most connections at a time [default: the limit of descriptors].
    #[arg(long, value_name = "N")]
    pub max_connections: Option<u32>,
    /// Answer /metrics without a token.
    #[arg(long)]
    pub metrics_public: bool,
    /// Open a plain WebSocket echo at /v1/echo, for conformance suites.
    #[arg(long)]
    pub echo: bool,
    /// Log level: error, warn, info, debug, trace; or per part: warn,edge=debug [env: KITH_LOG_LEVEL].
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
    /// Format of the log [env: KITH_LOG_FORMAT].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Run as a node of a cluster on this NATS server: nats://USER:PASSWORD@HOST:4222 [env: KITH_CLUSTER_NATS].
    #[arg(long, value_name = "URL")]
    pub cluster: Option<String>,
    /// The part of this node in the cluster [default: home] [env: KITH_CLUSTER_ROLE].
    #[arg(long, value_enum, value_name = "ROLE")]
    pub role: Option<ClusterRole>,
    /// File with the secret of the cluster, the same on all nodes [env: KITH_CLUSTER_SECRET_FILE].
    #[arg(long, value_name = "FILE")]
    pub cluster_secret_file: Option<PathBuf>,
    /// For nodes that `kith load` starts for a run: ends when stdin closes, and removes its data directory.
    #[arg(long, hide = true)]
    pub throwaway: bool,
    /// With `demo`: members can write to strangers without a request, for load runs and tests.
    #[arg(long)]
    pub strangers: bool,
}

impl NodeFlags {
    /// Those that were given, by the key of their setting.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| text(path.display()));
        let on = |flag: bool| flag.then_some(Value::Boolean(true));
        [
            ("data", path(&self.data.data)),
            ("database", self.data.database.as_ref().map(text)),
            ("http", self.http.map(text)),
            ("https", self.https.map(text)),
            ("tls_cert", path(&self.tls_cert)),
            ("tls_key", path(&self.tls_key)),
            ("tls_memory", self.tls_memory.and_then(|memory| Value::try_from(memory).ok())),
            ("public_url", self.public_url.clone().map(Value::String)),
            ("metrics_public", on(self.metrics_public)),
            ("echo", on(self.echo)),
            ("edge.workers", self.workers.map(|workers| Value::Integer(workers as i64))),
            ("edge.private_descriptors", on(self.private_descriptors)),
            ("edge.max_connections", self.max_connections.map(|most| Value::Integer(most.into()))),
            ("cluster.nats", self.cluster.clone().map(Value::String)),
            ("cluster.role", self.role.and_then(|role| Value::try_from(role).ok())),
            ("cluster.secret_file", path(&self.cluster_secret_file)),
            ("log.level", self.log.clone().map(Value::String)),
            ("log.format", self.log_format.and_then(|format| Value::try_from(format).ok())),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

pub(crate) fn text(value: impl std::fmt::Display) -> Value {
    Value::String(value.to_string())
}

#[derive(Debug, Args, Default, Clone)]
pub(crate) struct DataFlag {
    /// Data directory [default: ./data, or the running node's if ./data has no database] [env: KITH_DATA].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// PostgreSQL in place of the SQLite file: postgres://user@host/name [env: KITH_DATABASE].
    ///
    /// A password belongs into KITH_DATABASE or kith.toml, because others can see the arguments of a process.
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
}

impl DataFlag {
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let data = self.data.iter().map(|data| ("data", text(data.display())));
        data.chain(self.database.iter().map(|url| ("database", text(url)))).collect()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Add a site; prints its key, its secret (only this once) and the embed code.
    ///
    /// Example: kith site add garden --name "Garden forum" --origin https://garden.example
    #[command(verbatim_doc_comment)]
    Add(SiteAdd),
    /// List all sites.
    List(Listing),
    /// Show one site and its settings, without secrets.
    Show(SiteShow),
    /// Change a site: settings, name, mode, guests, origins. A running node applies the change within a second.
    ///
    /// Example: kith site set garden requests.on=true requests.per_day=10
    /// Example: kith site set garden --name "Garden" --origin https://garden.example --origin https://www.garden.example
    ///
    /// `kith site show garden` prints all settings. `requests=null` restores the defaults of `requests`.
    #[command(verbatim_doc_comment)]
    Set(SiteSet),
    /// Turn raid mode on or off: new members cannot start chats or write in rooms. Ends automatically.
    ///
    /// Example: kith site raid garden --for 30m
    #[command(verbatim_doc_comment)]
    Raid(SiteRaid),
    /// Test a text against the filters of the site.
    ///
    /// Example: kith site test-filter garden "cheap pills at www.pills.example"
    #[command(verbatim_doc_comment)]
    TestFilter(SiteTestFilter),
    /// Create a new secret; the old one stays valid for the overlap time.
    ///
    /// Example: kith site rotate-secret garden --overlap 24h
    ///
    /// With --overlap 0s the old secrets end now, and the sessions that they opened end, too.
    #[command(verbatim_doc_comment)]
    RotateSecret(SiteRotate),
    /// List, add and end the keys that sign the tokens of a site.
    #[command(subcommand)]
    Key(SiteKeyCommand),
    /// End sessions and refuse tokens signed until now. Members come back with new tokens.
    ///
    /// Example: kith site sign-out garden
    #[command(verbatim_doc_comment)]
    SignOut(SiteSignOut),
    /// Set the XMPP domain of a site, or show it. Without one, the site's key is its domain.
    ///
    /// Example: kith site domain garden garden.example
    #[command(verbatim_doc_comment)]
    Domain(SiteDomain),
    /// Delete a site with all its users and messages. This cannot be undone.
    Remove(SiteRemove),
}

impl SiteCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            SiteCommand::Add(args) => &args.output.data,
            SiteCommand::List(output) => &output.data,
            SiteCommand::Show(args) => &args.output.data,
            SiteCommand::Set(args) => &args.output.data,
            SiteCommand::Raid(args) => &args.data,
            SiteCommand::TestFilter(args) => &args.output.data,
            SiteCommand::RotateSecret(args) => &args.output.data,
            SiteCommand::Key(SiteKeyCommand::List(args)) => &args.output.data,
            SiteCommand::Key(SiteKeyCommand::Add(args)) => &args.data,
            SiteCommand::Key(SiteKeyCommand::End(args)) => &args.data,
            SiteCommand::SignOut(args) => &args.data,
            SiteCommand::Domain(args) => &args.data,
            SiteCommand::Remove(args) => &args.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SiteAdd {
    /// Public key of the site, 1 to 64 of a-z, 0-9 and -
    pub key: String,
    /// Name that people see [default: the key].
    #[arg(long)]
    pub name: Option<String>,
    /// Whether all members see each other, or only contacts.
    #[arg(long, value_enum, default_value = "open")]
    pub mode: SiteMode,
    /// Allow visitors without an account (guests).
    #[arg(long)]
    pub guests: bool,
    /// Origin whose pages may connect, for example https://garden.example. Repeat for several; * allows any.
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// Address of the node for browsers, used in the embed code [env: KITH_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SiteMode {
    /// All members can see and message each other.
    Open,
    /// Only contacts can see and message each other.
    Contacts,
}

#[derive(Debug, Args)]
pub(crate) struct SiteShow {
    pub key: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteSet {
    pub key: String,
    /// A setting and its value, for example requests.on=true
    #[arg(
        required_unless_present_any = ["name", "mode", "guests", "origins", "public_url"],
        value_name = "SETTING=VALUE"
    )]
    pub settings: Vec<String>,
    /// Name that people see.
    #[arg(long)]
    pub name: Option<String>,
    /// Whether all members see each other, or only contacts.
    #[arg(long, value_enum)]
    pub mode: Option<SiteMode>,
    /// Allow visitors without an account (guests).
    #[arg(long, value_name = "true|false")]
    pub guests: Option<bool>,
    /// Origins whose pages may connect; replaces the present list. `none` allows only the server's own pages.
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// Address of the node for browsers, used in the embed code. `none` uses the configuration of the server.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteDomain {
    pub key: String,
    /// Host name in lower case, for example garden.example
    #[arg(value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// Remove the domain: the site's key is its domain again.
    #[arg(long, conflicts_with = "domain")]
    pub clear: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRaid {
    pub key: String,
    /// How long raid mode lasts, a week at most.
    #[arg(long = "for", default_value = "30m", value_name = "SPAN")]
    pub time: Span,
    /// Turn raid mode off now.
    #[arg(long)]
    pub end: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteTestFilter {
    pub key: String,
    pub text: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRotate {
    pub key: String,
    /// How long the old secret stays valid.
    #[arg(long, default_value = "24h", value_name = "SPAN")]
    pub overlap: Span,
    /// Replace the server's key for guests' tokens instead of the site's secret.
    #[arg(long)]
    pub guests: bool,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteKeyCommand {
    /// List the names, kinds and ends of a site's keys. Never prints a key.
    List(SiteShow),
    /// Register a public key: P-256 for ES256, Ed25519 for EdDSA. The private key stays on the site's server.
    ///
    /// Example: kith site key add garden garden.pub.pem --kid 2026-11
    #[command(verbatim_doc_comment)]
    Add(SiteKeyAdd),
    /// End a key. The node refuses tokens that it signed and ends their sessions.
    ///
    /// Example: kith site key end garden 2026-08 --after 24h
    #[command(verbatim_doc_comment)]
    End(SiteKeyEnd),
}

#[derive(Debug, Args)]
pub(crate) struct SiteKeyAdd {
    pub key: String,
    /// A public key in PEM.
    pub file: PathBuf,
    /// Name of the key in token headers (`kid`) [default: the first digits of its SHA-256].
    #[arg(long)]
    pub kid: Option<String>,
    /// End all other keys after this time [default: keep them].
    #[arg(long, value_name = "SPAN")]
    pub overlap: Option<Span>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteKeyEnd {
    pub key: String,
    pub kid: String,
    /// Time until the key ends.
    #[arg(long, default_value = "0s", value_name = "SPAN")]
    pub after: Span,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteSignOut {
    pub key: String,
    /// Sign out only sessions whose token this key signed [default: all members].
    #[arg(long, conflicts_with_all = ["guests", "everybody"])]
    pub kid: Option<String>,
    /// Sign out guests. They come back as new guests.
    #[arg(long, conflicts_with = "everybody")]
    pub guests: bool,
    /// Sign out members and guests.
    #[arg(long)]
    pub everybody: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRemove {
    pub key: String,
    /// Confirm: delete all users and messages of the site.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory for the pages; created if it does not exist.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Flags of everything that prints rows.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StickerCommand {
    /// Add pictures (JPEG, PNG, GIF or WebP) to a set of stickers.
    ///
    /// Example: kith sticker add --site garden --set Bees wave.png="👋 Hello" thanks.png
    ///
    /// The text after = describes the sticker for screen readers, emails and search; default: the file name.
    /// Pictures are re-encoded without animation, at most 480 pixels wide or high. A site has at most 200 stickers.
    #[command(verbatim_doc_comment)]
    Add(StickerAdd),
    /// List all stickers of a site.
    List(StickerList),
    /// Remove stickers by their ids. Sent messages show the words of a removed sticker.
    Remove(StickerRemove),
}

impl StickerCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            StickerCommand::Add(args) => &args.output.data,
            StickerCommand::List(args) => &args.output.data,
            StickerCommand::Remove(args) => &args.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StickerAdd {
    #[arg(long)]
    pub site: String,
    /// Name of the set: stickers of one set are shown together.
    #[arg(long, value_name = "NAME")]
    pub set: String,
    /// Picture and its words: FILE or FILE=WORDS.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct StickerList {
    #[arg(long)]
    pub site: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct StickerRemove {
    #[arg(long)]
    pub site: String,
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// List the users of a site, ordered by id.
    List(UserList),
    /// Show one user.
    Show(UserOne),
    /// Ban a user. All sessions end, and sign-ins are refused.
    ///
    /// Example: kith user ban --site garden tom --for 7d --reason "Insults"
    #[command(verbatim_doc_comment)]
    Ban(UserBan),
    /// Unban a user.
    Unban(UserOne),
    /// Erase a user: name, picture, contacts, room memberships and messages. This cannot be undone.
    ///
    /// Example: kith user erase --site garden tom --keep-messages
    #[command(verbatim_doc_comment)]
    Erase(UserErase),
    /// Turn a guest into a member: the guest's data moves to an account that has not been used yet.
    ///
    /// The guest's token proves that the account is the guest's; a public id is not enough. A page gets it by Kith.guestToken().
    ///
    /// Example: kith user merge --site garden --guest-token-file token.txt anna
    #[command(verbatim_doc_comment)]
    Merge(UserMerge),
    /// Set the role of a user on the site: member, moderator or admin.
    ///
    /// Example: kith user role --site garden anna moderator
    #[command(verbatim_doc_comment)]
    Role(UserRole),
    /// Hide what a user writes from all others, without notice to the user.
    ///
    /// Example: kith user shadow-ban --site garden tom --for 7d
    #[command(verbatim_doc_comment)]
    ShadowBan(UserShadow),
    /// End a shadow ban. Messages written during it stay hidden.
    LiftShadowBan(UserOne),
    /// Set the trust level of a user: new, basic or trusted; or auto, by age and activity.
    ///
    /// Example: kith user level --site garden anna trusted
    #[command(verbatim_doc_comment)]
    Level(UserLevel),
    /// Make an app password, with which a user signs in from an XMPP app.
    ///
    /// Example: kith user set-password --site garden anna --name "Tablet"
    ///
    /// Prints a random password, only this once. With --stdin, the password is read from standard input instead; it has 12
    /// characters or more. A user has at most 16.
    #[command(verbatim_doc_comment)]
    SetPassword(UserSetPassword),
    /// List the app passwords of a user: number, name, and when each was made and last used.
    Passwords(UserOne),
    /// Revoke an app password. Sessions of the password end.
    ///
    /// Example: kith user revoke-password --site garden anna 3
    #[command(verbatim_doc_comment)]
    RevokePassword(UserRevokePassword),
}

impl UserCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            UserCommand::List(args) => &args.output.data,
            UserCommand::Show(args)
            | UserCommand::Unban(args)
            | UserCommand::LiftShadowBan(args)
            | UserCommand::Passwords(args) => &args.output.data,
            UserCommand::Ban(args) => &args.user.output.data,
            UserCommand::Erase(args) => &args.user.output.data,
            UserCommand::Merge(args) => &args.output.data,
            UserCommand::Role(args) => &args.user.output.data,
            UserCommand::ShadowBan(args) => &args.user.output.data,
            UserCommand::Level(args) => &args.user.output.data,
            UserCommand::SetPassword(args) => &args.user.output.data,
            UserCommand::RevokePassword(args) => &args.user.output.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct UserList {
    #[arg(long)]
    pub site: String,
    /// List users after this id, for the next page.
    #[arg(long, value_name = "USER")]
    pub after: Option<String>,
    /// Most users to print.
    #[arg(long, default_value_t = 1_000)]
    pub limit: u32,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserOne {
    #[arg(long)]
    pub site: String,
    /// Id of the user on your site: the `sub` of the token.
    pub user: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserBan {
    #[command(flatten)]
    pub user: UserOne,
    /// How long the ban lasts [default: until you lift it].
    #[arg(long = "for", value_name = "SPAN")]
    pub time: Option<Span>,
    /// Reason that the user sees.
    #[arg(long, default_value = "")]
    pub reason: String,
    /// Ban the user's devices, too: nobody can sign in from them.
    #[arg(long)]
    pub devices: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserShadow {
    #[command(flatten)]
    pub user: UserOne,
    /// How long the ban lasts [default: until you lift it].
    #[arg(long = "for", value_name = "SPAN")]
    pub time: Option<Span>,
    /// Reason for the record of the site.
    #[arg(long, default_value = "")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct UserSetPassword {
    #[command(flatten)]
    pub user: UserOne,
    /// Name of the password in the user's list.
    #[arg(long, default_value = "Operator")]
    pub name: String,
    /// Read the password from standard input.
    #[arg(long)]
    pub stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserRevokePassword {
    #[command(flatten)]
    pub user: UserOne,
    /// Number of the password, as `kith user passwords` prints it.
    pub number: u32,
}

#[derive(Debug, Args)]
pub(crate) struct UserLevel {
    #[command(flatten)]
    pub user: UserOne,
    #[arg(value_enum)]
    pub level: TrustLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TrustLevel {
    New,
    Basic,
    Trusted,
    /// By age and activity.
    Auto,
}

#[derive(Debug, Args)]
pub(crate) struct UserErase {
    #[command(flatten)]
    pub user: UserOne,
    /// Keep the user's messages, without their name.
    #[arg(long)]
    pub keep_messages: bool,
    /// Confirm: erase the user for good.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UserMerge {
    #[arg(long)]
    pub site: String,
    /// File with the guest's token, or - for standard input.
    #[arg(long, value_name = "FILE")]
    pub guest_token_file: PathBuf,
    /// Id of the account: the `sub` of its tokens.
    #[arg(value_name = "ACCOUNT")]
    pub account: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct UserRole {
    #[command(flatten)]
    pub user: UserOne,
    #[arg(value_enum)]
    pub role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Member,
    /// Handles reports, mutes and bans members.
    Moderator,
    /// Moderates moderators, too, and changes the settings of the site.
    Admin,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[arg(long)]
    pub(crate) site: String,
    /// File of JSON lines, or - for standard input. A line must come after the lines that it refers to.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Most lines per second [default: as many as the node takes without slowing its members].
    #[arg(long, value_name = "LINES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate: Option<u32>,
    /// Append messages that are older than the newest of their conversation, instead of refusing them.
    #[arg(long)]
    pub(crate) append_late: bool,
    #[command(flatten)]
    pub(crate) output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// File to write. It contains secrets and messages, so only its owner can read it.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Directory for members' files. Copies only files that are not there yet, and removes none.
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub key: BackupKey,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Database to read: a data directory, its kith.db, or postgres://user@host/name.
    ///
    /// A password belongs into the variable, because others can see the arguments of a process.
    #[arg(long, value_name = "SOURCE", env = "KITH_MIGRATE_FROM", hide_env_values = true)]
    pub from: String,
    /// Empty database to write: a data directory without kith.db, or postgres://user@host/name.
    #[arg(long, value_name = "TARGET", env = "KITH_MIGRATE_TO", hide_env_values = true)]
    pub to: String,
}

#[derive(Debug, Args)]
pub(crate) struct BackupKey {
    /// Encrypt the backup to this public key of age (age1…). Repeat for several keys; each one can restore.
    #[arg(long, value_name = "KEY")]
    pub encrypt_to: Vec<String>,
    /// Encrypt the backup with the passphrase in the first line of this file.
    #[arg(long, value_name = "FILE", conflicts_with = "encrypt_to")]
    pub passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// File that `kith backup` wrote, or the kith.db of a copied data directory.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// Directory that you gave to `kith backup --files`. Restores missing files of members from it.
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Replace an existing database. It is kept as kith.db.replaced.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub key: RestoreKey,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreKey {
    /// File with the secret key of an encrypted backup, as `age-keygen -o FILE` writes it.
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// File whose first line is the passphrase of an encrypted backup.
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    pub passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TokenArgs {
    /// Key of the site.
    #[arg(long)]
    pub site: String,
    /// Id of the user: the `sub` of the token.
    #[arg(long)]
    pub user: String,
    /// Name that others see [default: the id].
    #[arg(long)]
    pub name: Option<String>,
    /// `moderator`, `admin`, or `service` for REST [default: no role].
    #[arg(long)]
    pub role: Option<String>,
    /// How long the token is valid.
    #[arg(long, default_value = "1h", value_name = "SPAN")]
    pub ttl: Span,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the settings and exit.
    Check(NodeFlags),
    /// Print every setting, its value and where it comes from.
    Show(ConfigShow),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: NodeFlags,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Connected members to check for [default: --max-connections, else 10000].
    /// A check fails if the machine cannot hold them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: Option<u32>,
    /// Write the sysctl lines to a file, after showing it and asking. Runs no command.
    #[arg(long)]
    pub apply: bool,
    /// Write the file without asking.
    #[arg(long, requires = "apply")]
    pub yes: bool,
    /// Another line for that file. Settings that are known to do harm are refused, with the reason.
    #[arg(long, value_name = "KEY=VALUE")]
    pub sysctl: Vec<String>,
    /// File for the sysctl lines.
    #[arg(long, value_name = "FILE", default_value = crate::doctor::SYSCTL_FILE)]
    pub sysctl_file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub flags: NodeFlags,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::config::{Layers, load};

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_flag_of_a_node_reaches_its_setting() {
        let line = "kith serve --data d --http 127.0.0.1:1 --https 127.0.0.1:2 --tls-cert c --tls-key k --tls-memory rustls \
                    --public-url https://im.example --workers 3 --private-descriptors --max-connections 4 \
                    --metrics-public --echo --log debug --log-format json \
                    --cluster nats://127.0.0.1:4222 --role front --cluster-secret-file f";
        let cli = Cli::try_parse_from(line.split_whitespace()).expect("a valid line");
        let Command::Serve(ServeArgs { flags, .. }) = cli.command else { panic!("it is serve") };
        let loaded = load(Layers { flags: flags.settings(), ..Layers::default() }).expect("valid settings");
        let config = loaded.config;
        assert_eq!((config.http.port(), config.https.map(|https| https.port())), (1, Some(2)));
        assert_eq!((config.edge.workers, config.edge.max_connections), (3, 4));
        assert!(config.edge.private_descriptors && config.metrics_public && config.echo);
        assert_eq!((config.log.level.as_str(), config.log.format), ("debug", LogFormat::Json));
        let flagged = loaded.settings.values().filter(|(_, source)| *source == crate::config::Source::Flag);
        assert_eq!(config.tls_memory, TlsMemory::Rustls);
        assert_eq!(config.cluster.role, ClusterRole::Front);
        assert_eq!(flagged.count(), 17);
    }
}
