//! What can be typed after `kith`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use toml::Value;

use crate::config::LogFormat;
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

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
    /// Signals: SIGTERM and SIGINT stop gracefully (a second one at once), SIGHUP reads the certificate again.
    #[command(verbatim_doc_comment)]
    Serve(NodeFlags),
    /// Run a node with a demo community to try it out.
    ///
    /// Example: kith demo --http 127.0.0.1:8080      then open http://127.0.0.1:8080 in a browser
    #[command(verbatim_doc_comment)]
    Demo(NodeFlags),
    /// Add, list, change and remove sites. A running node sees the change within a second.
    #[command(subcommand)]
    Site(SiteCommand),
    /// Look at the users of a site; ban and unban them.
    #[command(subcommand)]
    User(UserCommand),
    /// Copy the database to a file, while the node runs.
    ///
    /// Example: kith backup /var/backups/kith-$(date +%F).db
    #[command(verbatim_doc_comment)]
    Backup(BackupArgs),
    /// Put a copy in the place of the database. Stop the node first.
    ///
    /// Example: kith restore /var/backups/kith-2026-11-21.db --data /var/lib/kith
    ///
    /// Clients begin afresh with what the copy has: it gets a new epoch, so that nobody takes for seen what it lacks.
    #[command(verbatim_doc_comment)]
    Restore(RestoreArgs),
    /// Print a signed token (JWT) for trying things out, and nothing else.
    ///
    /// Example: kith token --site demo --user anna --name "Anna" --ttl 1h
    ///
    /// A site signs tokens itself, on its own server; see docs/embed.md.
    #[command(verbatim_doc_comment)]
    Token(TokenArgs),
    /// Measure a node with many simulated members.
    #[command(subcommand)]
    Load(LoadCommand),
    /// Check the settings, or show each with its value and where that comes from.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Look for what would limit or break a node on this machine, and say how to mend it.
    Doctor(DoctorArgs),
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
    /// Where browsers reach this node, as in https://im.example [env: KITH_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Event-loop threads [default: one per core] [env: KITH_EDGE_WORKERS].
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// A descriptor table per worker, where the limit of descriptors cannot be raised (Linux).
    #[arg(long)]
    pub private_descriptors: bool,
    /// Most connections at a time [default: as many as descriptors allow].
    #[arg(long, value_name = "N")]
    pub max_connections: Option<u32>,
    /// Answer /metrics to everybody, not only to this machine.
    #[arg(long)]
    pub metrics_public: bool,
    /// Open a plain WebSocket echo at /v1/echo, for conformance suites.
    #[arg(long)]
    pub echo: bool,
    /// What to log: error, warn, info, debug, trace, or per part as in warn,edge=debug [env: KITH_LOG_LEVEL].
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl NodeFlags {
    /// Those that were given, by the key of their setting.
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| text(path.display()));
        let on = |flag: bool| flag.then_some(Value::Boolean(true));
        [
            ("data", path(&self.data.data)),
            ("http", self.http.map(text)),
            ("https", self.https.map(text)),
            ("tls_cert", path(&self.tls_cert)),
            ("tls_key", path(&self.tls_key)),
            ("public_url", self.public_url.clone().map(Value::String)),
            ("metrics_public", on(self.metrics_public)),
            ("echo", on(self.echo)),
            ("edge.workers", self.workers.map(|workers| Value::Integer(workers as i64))),
            ("edge.private_descriptors", on(self.private_descriptors)),
            ("edge.max_connections", self.max_connections.map(|most| Value::Integer(most.into()))),
            ("log.level", self.log.clone().map(Value::String)),
            ("log.format", self.log_format.and_then(|format| Value::try_from(format).ok())),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

fn text(value: impl std::fmt::Display) -> Value {
    Value::String(value.to_string())
}

#[derive(Debug, Args, Default, Clone)]
pub(crate) struct DataFlag {
    /// Data directory [default: ./data; where that has no database, the one of the running node] [env: KITH_DATA].
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl DataFlag {
    pub(crate) fn settings(&self) -> Vec<(&'static str, Value)> {
        self.data.iter().map(|data| ("data", text(data.display()))).collect()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum SiteCommand {
    /// Add a site; prints its key, its secret (only this once) and the embed code.
    ///
    /// Example: kith site add garden --name "Garden forum" --origin https://garden.example
    #[command(verbatim_doc_comment)]
    Add(SiteAdd),
    /// All sites.
    List(Listing),
    /// Settings of one site; no secrets.
    Show(SiteShow),
    /// Make a new secret; the old one stays valid for a while, so that nobody is sent away.
    ///
    /// Example: kith site rotate-secret garden --overlap 24h
    #[command(verbatim_doc_comment)]
    RotateSecret(SiteRotate),
    /// Remove a site with all its users and messages, for good.
    Remove(SiteRemove),
}

impl SiteCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            SiteCommand::Add(args) => &args.output.data,
            SiteCommand::List(output) => &output.data,
            SiteCommand::Show(args) => &args.output.data,
            SiteCommand::RotateSecret(args) => &args.output.data,
            SiteCommand::Remove(args) => &args.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SiteAdd {
    /// Public key of the site, 1 to 64 of a-z, 0-9 and -
    pub key: String,
    /// Name for people [default: the key].
    #[arg(long)]
    pub name: Option<String>,
    /// Who sees whom.
    #[arg(long, value_enum, default_value = "open")]
    pub mode: SiteMode,
    /// Let visitors without an account in.
    #[arg(long)]
    pub guests: bool,
    /// Origin whose pages may connect, as in https://garden.example; may be given several times; * allows any.
    #[arg(long = "origin", value_name = "ORIGIN")]
    pub origins: Vec<String>,
    /// Where browsers reach the node, for the embed code [env: KITH_PUBLIC_URL].
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SiteMode {
    /// All members see each other and may write to each other.
    Open,
    /// Only contacts do.
    Contacts,
}

#[derive(Debug, Args)]
pub(crate) struct SiteShow {
    pub key: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRotate {
    pub key: String,
    /// How long the old secret stays valid.
    #[arg(long, default_value = "24h", value_name = "SPAN")]
    pub overlap: Span,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct SiteRemove {
    pub key: String,
    /// Yes, with all its users and messages.
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub data: DataFlag,
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
pub(crate) enum UserCommand {
    /// Users of a site, by id.
    List(UserList),
    /// One user.
    Show(UserOne),
    /// Ban a user: the sessions end and new ones are refused.
    Ban(UserOne),
    /// Take a ban back.
    Unban(UserOne),
}

impl UserCommand {
    pub(crate) fn data(&self) -> &DataFlag {
        match self {
            UserCommand::List(args) => &args.output.data,
            UserCommand::Show(args) | UserCommand::Ban(args) | UserCommand::Unban(args) => &args.output.data,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct UserList {
    #[arg(long)]
    pub site: String,
    /// Only those after this id: for the next page.
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
    /// The site's own id of the user: `sub` of the token.
    pub user: String,
    #[command(flatten)]
    pub output: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file to write. It holds secrets and messages, so only its owner may read it.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Replace the file if it is there.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// What `kith backup` has written, or the kith.db of a copied data directory.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// Also where there is a database already; that one is kept beside it as kith.db.replaced.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub data: DataFlag,
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
    /// How long the token is valid.
    #[arg(long, default_value = "1h", value_name = "SPAN")]
    pub ttl: Span,
    #[command(flatten)]
    pub data: DataFlag,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoadCommand {
    /// Many members connect at a rate and stay; says what each costs the node.
    ///
    /// Example: kith load flood --connections 15000 --rate 5000 --hold 15s --report out
    ///
    /// Without --url, a node of our own is started for the run, without limits. With --url, the node's process and the
    /// site's secret are found by themselves where the node runs on this machine as the same user.
    #[command(verbatim_doc_comment)]
    Flood(FloodArgs),
    /// Members write to each other as fast as they may; says how much arrives, how fast, and whether anything is wrong.
    ///
    /// Example: kith load stress --groups 100 --per-group 10 --seconds 10
    ///
    /// Every message is durable, acknowledged, and checked: lost, doubled and misordered ones are counted. A node's
    /// limits of messages per user and per second must be off, or they are what is measured.
    #[command(verbatim_doc_comment)]
    Stress(StressArgs),
    /// The same, but everybody writes one message per 5 s, at moments of chance.
    Realistic(StressArgs),
    /// All members lose their connections at once and come back; says how long that takes, and whether a message is
    /// lost.
    ///
    /// Example: kith load storm --members 5000 --spread 1s
    ///
    /// Some members stay, watch the presence of the others, and write to them before, during and after the storm.
    #[command(verbatim_doc_comment)]
    Storm(StormArgs),
    /// A few members stop reading while everybody writes; says what that costs the node and the others.
    ///
    /// Its figures are changed with `kith load run slow --set slow=20`.
    Slow(LoadTarget),
    /// A short run of each plan, in one report.
    ///
    /// Example: kith load all --report out        then open out/report.html in a browser
    #[command(verbatim_doc_comment)]
    All(LoadTarget),
    /// Carry out a preset or a plan file.
    ///
    /// Example: kith load run chut-750x10 --report out
    ///          kith load run mine.toml --set connections=5000
    #[command(verbatim_doc_comment)]
    Run(PlanArgs),
    /// The plans that are built in.
    Presets,
    /// Print one of them, to begin a plan of your own with.
    Show(PresetName),
}

/// Where a load goes, and how its author proves to be the site.
#[derive(Debug, Args)]
pub(crate) struct LoadTarget {
    /// The node [default: one of our own, started for the run].
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Key of the site [default: demo].
    #[arg(long)]
    pub(crate) site: Option<String>,
    /// File with an HS256 secret of the site, as `site add` printed it [default: read from the node's data].
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Process of the node [default: found by itself].
    #[arg(long)]
    pub(crate) pid: Option<u32>,
    /// Certificates that are trusted for https, PEM [default: any certificate, on loopback only].
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Threads of the generator.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Yes, to another machine.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object at the end, and nothing else on stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write report.html, report.json, report.txt, summary.csv and series.csv into this folder; Ctrl-C does too.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataFlag,
}

#[derive(Debug, Args)]
pub(crate) struct FloodArgs {
    #[command(flatten)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<load::target::Transport>,
    /// How many members [default: 1000].
    #[arg(long)]
    pub(crate) connections: Option<u32>,
    /// Connections begun per second [default: 1000].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// How long all of them stay [default: 15s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) hold: Option<Span>,
    /// After the hold, each member sends and receives one message of so many bytes, and memory is measured again.
    #[arg(long, value_name = "BYTES")]
    pub(crate) exchange: Option<u32>,
    /// Write a picture of the run.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl FloodArgs {
    /// What differs from the preset.
    pub(crate) fn changes(&self) -> Vec<(String, Value)> {
        changes([
            ("transport", self.transport.map(|transport| text(transport.name()))),
            ("connections", self.connections.map(integer)),
            ("rate", self.rate.map(Value::Float)),
            ("hold", self.hold.map(text)),
            ("exchange", self.exchange.map(integer)),
        ])
    }
}

#[derive(Debug, Args)]
pub(crate) struct StressArgs {
    #[command(flatten)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<load::target::Transport>,
    /// Groups of members [default: 100].
    #[arg(long, conflicts_with = "members")]
    pub(crate) groups: Option<u32>,
    /// Members of a group write to each other [default: 10].
    #[arg(long, visible_alias = "group")]
    pub(crate) per_group: Option<u32>,
    /// All members, instead of --groups.
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Bytes of a message [default: 100].
    #[arg(long)]
    pub(crate) body: Option<u32>,
    /// Messages that each member has on their way [default: 4].
    #[arg(long)]
    pub(crate) window: Option<u32>,
    /// Messages per second of all members together, instead of a window.
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// One message of each member in so much time, at a moment of chance, instead of a window.
    #[arg(long, value_name = "SPAN", conflicts_with = "rate")]
    pub(crate) every: Option<Span>,
    /// How long they write [default: 10s].
    #[arg(long, value_name = "SPAN", conflicts_with = "seconds")]
    pub(crate) time: Option<Span>,
    /// The same in seconds.
    #[arg(long)]
    pub(crate) seconds: Option<u32>,
}

impl StressArgs {
    /// What differs from the preset.
    pub(crate) fn changes(&self) -> Vec<(String, Value)> {
        let seconds = self.seconds.map(|seconds| Span::seconds(seconds.into()));
        changes([
            ("transport", self.transport.map(|transport| text(transport.name()))),
            ("groups", self.groups.map(integer)),
            ("per-group", self.per_group.map(integer)),
            ("members", self.members.map(integer)),
            ("body", self.body.map(integer)),
            ("window", self.window.map(integer)),
            ("rate", self.rate.map(Value::Float)),
            ("every", self.every.map(text)),
            ("time", self.time.or(seconds).map(text)),
        ])
    }
}

#[derive(Debug, Args)]
pub(crate) struct StormArgs {
    #[command(flatten)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<load::target::Transport>,
    /// Whose connections break [default: 5000].
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Who stay [default: 20].
    #[arg(long)]
    pub(crate) watchers: Option<u32>,
    /// Connections begun per second, before the storm [default: 2500].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Messages per second of all who stay [default: 500].
    #[arg(long)]
    pub(crate) writes: Option<f64>,
    /// Each comes back after a time of chance up to this [default: 1s, as the protocol advises].
    #[arg(long, value_name = "SPAN")]
    pub(crate) spread: Option<Span>,
    /// How long they write before the storm, and after all are back [default: 2s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) calm: Option<Span>,
}

impl StormArgs {
    /// What differs from the preset.
    pub(crate) fn changes(&self) -> Vec<(String, Value)> {
        changes([
            ("transport", self.transport.map(|transport| text(transport.name()))),
            ("members", self.members.map(integer)),
            ("watchers", self.watchers.map(integer)),
            ("rate", self.rate.map(Value::Float)),
            ("writes", self.writes.map(Value::Float)),
            ("spread", self.spread.map(text)),
            ("calm", self.calm.map(text)),
        ])
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Name of a preset, or path of a file.
    pub(crate) plan: String,
    /// A setting of the plan, as in connections=5000; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) target: LoadTarget,
}

impl PlanArgs {
    pub(crate) fn changes(&self) -> Outcome<Vec<(String, Value)>> {
        let changes = self.set.iter().map(|change| {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                Trouble::new(format!("--set {change} has no value")).remedy("as in --set connections=5000")
            })?;
            // What is no number is text, so that nobody has to quote twice.
            let number = value.parse().map(Value::Integer);
            let number = number.or_else(|_| value.parse().map(Value::Float));
            Ok((key.to_owned(), number.unwrap_or_else(|_| text(value))))
        });
        changes.collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct PresetName {
    pub(crate) name: String,
}

fn changes<const N: usize>(given: [(&str, Option<Value>); N]) -> Vec<(String, Value)> {
    given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

fn integer(number: u32) -> Value {
    Value::Integer(number.into())
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
        let line = "kith serve --data d --http 127.0.0.1:1 --https 127.0.0.1:2 --tls-cert c --tls-key k \
                    --public-url https://im.example --workers 3 --private-descriptors --max-connections 4 \
                    --metrics-public --echo --log debug --log-format json";
        let cli = Cli::try_parse_from(line.split_whitespace()).expect("a valid line");
        let Command::Serve(flags) = cli.command else { panic!("it is serve") };
        let loaded = load(Layers { flags: flags.settings(), ..Layers::default() }).expect("valid settings");
        let config = loaded.config;
        assert_eq!((config.http.port(), config.https.map(|https| https.port())), (1, Some(2)));
        assert_eq!((config.edge.workers, config.edge.max_connections), (3, 4));
        assert!(config.edge.private_descriptors && config.metrics_public && config.echo);
        assert_eq!((config.log.level.as_str(), config.log.format), ("debug", LogFormat::Json));
        let flagged = loaded.settings.values().filter(|(_, source)| *source == crate::config::Source::Flag);
        assert_eq!(flagged.count(), 13);
    }
}
