//! The command line of `kith`.

mod cluster;
mod site;
mod sticker;
mod user;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::config::{ClusterRole, LogFormat, TlsMemory};
use crate::load_command::LoadCommand;
use crate::span::Span;

pub(crate) use cluster::{ClusterCommand, ClusterPin, ClusterStatus, PinnedSlot};
pub(crate) use site::{
    SiteAdd, SiteCommand, SiteDomain, SiteKeyAdd, SiteKeyCommand, SiteKeyEnd, SiteMode, SiteRaid, SiteRemove,
    SiteRotate, SiteSet, SiteSignOut, SiteTestFilter,
};
pub(crate) use sticker::{StickerAdd, StickerCommand, StickerList, StickerRemove};
pub(crate) use user::{
    Role, TrustLevel, UserBan, UserCommand, UserErase, UserLevel, UserList, UserMerge, UserOne,
    UserRevokePassword, UserRole, UserSetPassword, UserShadow,
};

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
    /// For the homes that a node with several slots starts: ends when stdin closes.
    #[arg(long, hide = true)]
    pub of_node: bool,
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
    /// Slot of the PostgreSQL database to move, if its cluster has several (cluster.slots).
    #[arg(long, value_name = "N")]
    pub slot: Option<u8>,
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
