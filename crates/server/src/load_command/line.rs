//! The command line of `kith load`.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use load::community::CommunityPlan;
use load::flood::FloodPlan;
use load::mix::MixPlan;
use load::storm::StormPlan;
use load::stress::StressPlan;
use load::target::Transport;
use load::visit::VisitPlan;
use toml::Value;

use super::cluster_plan::{ClusterPlan, KillTarget, StoreKind};
use crate::cli::{DataFlag, text};
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

#[derive(Debug, Subcommand)]
pub(crate) enum LoadCommand {
    /// Connect many members at a given rate, keep them, and report the cost of each for the node.
    ///
    /// Example: kith load flood --connections 15000 --rate 5000 --hold 15s --report out
    ///
    /// Without --url, the command starts its own node without limits. With --url, it finds
    /// the node's process and the site's secret if the node runs on this machine as the same user.
    ///
    /// Example: kith load flood --transport all --report out        all four transports, plain and with TLS
    #[command(verbatim_doc_comment)]
    Flood(FloodFlags),
    /// Send messages as fast as possible, and report throughput, latency and errors.
    ///
    /// Example: kith load stress --groups 100 --per-group 10 --seconds 10
    ///
    /// Checks each acknowledged message, and counts lost, doubled and misordered ones. Turn
    /// the node's message limits off first; otherwise the run measures the limits.
    ///
    /// Example: kith load stress --core --seconds 10        inside this process, without sockets
    #[command(verbatim_doc_comment)]
    Stress(StressFlags),
    /// Let each member send one message per 5 s at random times, and report like `stress`.
    Realistic(StressFlags),
    /// Disconnect all members at once, and report how long reconnecting takes and whether
    /// messages are lost.
    ///
    /// Example: kith load storm --members 5000 --spread 1s
    ///
    /// Some members stay connected. They watch the others and write to them before, during and after the storm.
    #[command(verbatim_doc_comment)]
    Storm(PlanFlags<StormPlan>),
    /// Simulate members with long contact lists who send messages and change presence, as in Tigase's
    /// test. Report cost, latency, and whether all messages and changes arrived.
    ///
    /// Example: kith load community --members 20000 --time 2m --report out
    ///
    /// The command writes contact lists into its own node's database before the start. With
    /// --url there are none, so members name the users they watch.
    #[command(verbatim_doc_comment)]
    Community(PlanFlags<CommunityPlan>),
    /// Let a few members stop reading while all write, and report the cost for the node and the others.
    ///
    /// Change its settings with `kith load run slow --set slow=20`.
    Slow(LoadTarget),
    /// Send typing events between pairs of members, and report throughput and latency.
    ///
    /// Change its settings with `kith load run typing --set rate=2000.0`.
    Typing(LoadTarget),
    /// Fill one room with 10,000 online members, and report deliveries and the cost for other members.
    ///
    /// Change its settings with `kith load run room --set members=2000`.
    Room(LoadTarget),
    /// Let pairs of members call each other, then hold all calls at once. Report calls per second, latency, and the
    /// cost of a held call.
    ///
    /// Change its settings with `kith load run calls --set pairs=15000`.
    Calls(LoadTarget),
    /// Send STUN requests, take TURN relays and send data through them. Report throughput and the cost of each for
    /// the server.
    ///
    /// Change its settings with `kith load run turn --set relays=5000`; another server is measured with
    /// `--set server=127.0.0.1:3478 --set turn-secret-file=FILE --pid PID`.
    Turn(LoadTarget),
    /// Simulate visitors that load pages like browsers and leave, and print a table like Siege's.
    ///
    /// Example: kith load visit --visitors 3333 --time 60s
    ///
    /// The number of visitors stays the same during the measurement: for each one who leaves, another comes.
    /// They fetch pages, scripts and pictures in a browser's order and with a cache. Each has a WebSocket session.
    #[command(verbatim_doc_comment)]
    Visit(PlanFlags<VisitPlan>),
    /// Add inactive, idle and active members until memory or errors reach a limit, and report how many fit.
    ///
    /// Example: kith load mix --rate 2000 --memory-limit 64MB
    #[command(verbatim_doc_comment)]
    Mix(PlanFlags<MixPlan>),
    /// Run each plan for a short time, and write one report.
    ///
    /// Example: kith load all --report out        then open out/report.html in a browser
    #[command(verbatim_doc_comment)]
    All(LoadTarget),
    /// Run a preset or a plan file.
    ///
    /// Example: kith load run chut-750x10 --report out
    ///          kith load run mine.toml --set connections=5000
    ///          kith load run erlang-study --report out        repeats a plan over several factors, and tests hypotheses
    #[command(verbatim_doc_comment)]
    Run(PlanArgs),
    /// List the built-in presets.
    Presets,
    /// Print a preset, as a start for your own plan.
    Show(PresetName),
}

/// A run that a command line orders.
pub(super) struct Order<'a> {
    /// A preset or a plan file.
    pub(super) plan: &'a str,
    pub(super) changes: Outcome<Vec<(String, Value)>>,
    pub(super) target: &'a LoadTarget,
    /// The file of a picture.
    pub(super) svg: Option<&'a Path>,
}

impl LoadCommand {
    /// None: the command sends no load.
    pub(super) fn order(&self) -> Option<Order<'_>> {
        let order = |plan, changes, target| Order { plan, changes, target, svg: None };
        Some(match self {
            LoadCommand::Flood(flags) => flags.order(),
            LoadCommand::Stress(flags) => flags.order("stress"),
            LoadCommand::Realistic(flags) => flags.order("realistic"),
            LoadCommand::Storm(flags) => flags.order("storm"),
            LoadCommand::Community(flags) => flags.order("community"),
            LoadCommand::Visit(flags) => flags.order("visit"),
            LoadCommand::Mix(flags) => flags.order("mix"),
            LoadCommand::Slow(target) => order("slow", Ok(Vec::new()), target),
            LoadCommand::Typing(target) => order("typing", Ok(Vec::new()), target),
            LoadCommand::Room(target) => order("room", Ok(Vec::new()), target),
            LoadCommand::Calls(target) => order("calls", Ok(Vec::new()), target),
            LoadCommand::Turn(target) => order("turn", Ok(Vec::new()), target),
            LoadCommand::All(target) => order("all", Ok(Vec::new()), target),
            LoadCommand::Run(args) => order(&args.plan, args.changes(), &args.target),
            LoadCommand::Presets | LoadCommand::Show(_) => return None,
        })
    }

    /// None: the command sends no load.
    pub(crate) fn target(&self) -> Option<&LoadTarget> {
        self.order().map(|order| order.target)
    }
}

/// The destination of a load, and the credentials of the site.
#[derive(Debug, Args)]
pub(crate) struct LoadTarget {
    /// URL of the node [default: start one for the run].
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Use TLS. The node started for the run gets a certificate that the members trust.
    #[arg(long, conflicts_with = "url")]
    pub(crate) tls: bool,
    /// Key of the site [default: demo].
    #[arg(long)]
    pub(crate) site: Option<String>,
    /// File with an HS256 secret of the site, as `site add` prints it [default: read it from the node's data].
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    /// Process id of the node [default: detect it].
    #[arg(long)]
    pub(crate) pid: Option<u32>,
    /// Trusted certificates for https, PEM [default: any certificate, on loopback only].
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterFlags,
    /// Number of threads of the load generator.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
    /// Confirm that the load may go to another machine.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON object at the end and nothing else to stdout.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write report.html, report.json, report.txt, summary.csv and series.csv into this folder, also after Ctrl-C.
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataFlag,
}

/// A cluster that is started for the run.
#[derive(Debug, Args)]
pub(crate) struct ClusterFlags {
    /// Start a cluster for the run: N fronts, over which the members are spread, and behind them a home, NATS and PostgreSQL.
    #[arg(long, value_name = "N", conflicts_with_all = ["url", "pid"], value_parser = clap::value_parser!(u32).range(1..=64))]
    nodes: Option<u32>,
    /// Servers of NATS: 1 or 3 [default: 1].
    #[arg(long, value_name = "COUNT", value_parser = one_or_three)]
    nats: Option<u32>,
    /// The store of the cluster. With PostgreSQL a second home stands by [default: postgres].
    #[arg(long, value_enum)]
    store: Option<StoreKind>,
    /// Kill one process of the cluster in mid-run, and report the outage. The command fails if a message is lost or doubled.
    #[arg(long, value_enum, value_name = "PROCESS")]
    kill: Option<KillTarget>,
    /// Seconds from the beginning of the traffic until the kill [default: half of the traffic].
    #[arg(long, value_name = "SECONDS")]
    kill_at: Option<u32>,
}

impl ClusterFlags {
    /// The cluster of the plan, with these changes. None: the run has no cluster of its own.
    pub(super) fn over(&self, plan: Option<ClusterPlan>) -> Outcome<Option<ClusterPlan>> {
        let planned = self.nodes.map(ClusterPlan::of).or(plan);
        let Some(mut cluster) = planned else {
            let is_given = self.nats.is_some() || self.store.is_some() || self.kill.is_some();
            return match is_given || self.kill_at.is_some() {
                true => Err(Trouble::new("the run has no cluster").remedy("--nodes 2, or more")),
                false => Ok(None),
            };
        };
        if let (Some(nodes), Some(plan)) = (self.nodes, plan) {
            cluster = ClusterPlan { nodes, ..plan };
        }
        cluster.nats = self.nats.unwrap_or(cluster.nats);
        cluster.store = self.store.unwrap_or(cluster.store);
        cluster.kill = self.kill.or(cluster.kill);
        let kill_at = self.kill_at.map(|seconds| Span::seconds(seconds.into()));
        cluster.kill_at = kill_at.or(cluster.kill_at);
        cluster.check()?;
        Ok(Some(cluster))
    }
}

fn one_or_three(written: &str) -> Result<u32, String> {
    match written {
        "1" => Ok(1),
        "3" => Ok(3),
        _ => Err("NATS runs alone, or with three servers".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Name of a preset, or path of a file.
    pub(crate) plan: String,
    /// A setting of the plan, for example connections=5000. Repeat for several.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) target: LoadTarget,
}

impl PlanArgs {
    fn changes(&self) -> Outcome<Vec<(String, Value)>> {
        let changes = self.set.iter().map(|change| {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                Trouble::new(format!("--set {change} has no value"))
                    .remedy("for example: --set connections=5000")
            })?;
            Ok((key.to_owned(), value_of(value)))
        });
        changes.collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct PresetName {
    pub(crate) name: String,
}

/// Values that are not numbers, true or false are strings, so that users need not quote twice.
fn value_of(written: &str) -> Value {
    let number = written.parse().map(Value::Integer);
    let number = number.or_else(|_| written.parse().map(Value::Float));
    number.or_else(|_| written.parse().map(Value::Boolean)).unwrap_or_else(|_| text(written))
}

/// The flags of a plan `T`.
#[derive(Debug, Args)]
pub(crate) struct PlanFlags<T: Args> {
    #[command(flatten)]
    target: LoadTarget,
    #[command(flatten)]
    settings: Given<T>,
}

impl<T: Args> PlanFlags<T> {
    fn order<'a>(&'a self, preset: &'a str) -> Order<'a> {
        let changes = Ok(self.settings.changes.clone());
        Order { plan: preset, changes, target: &self.target, svg: None }
    }
}

#[derive(Debug, Args)]
#[command(mut_arg("transport", |flag| {
    flag.value_parser(transport_or_all)
        .help("websocket, stream, sse or poll; xmpp or xmpp-websocket; or all of the web, one after the other, plain and with TLS. Other servers with --url: centrifugo, centrifugo-json, line")
}))]
pub(crate) struct FloodFlags {
    #[command(flatten)]
    plan: PlanFlags<FloodPlan>,
    /// Write a picture of the run. With --transport all, the report has the pictures.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn transport_or_all(written: &str) -> Result<(), String> {
    let one = || written.parse::<Transport>().map_err(|why| format!("{why}, or all"));
    if written == "all" { Ok(()) } else { one().map(drop) }
}

impl FloodFlags {
    /// The preset for all transports varies the transport itself.
    fn order(&self) -> Order<'_> {
        let mut changes = self.plan.settings.changes.clone();
        let given = changes.len();
        changes.retain(|(name, value)| name != "transport" || value.as_str() != Some("all"));
        let plan = if changes.len() < given { "flood-transports" } else { "flood" };
        Order { plan, changes: Ok(changes), target: &self.plan.target, svg: self.svg.as_deref() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StressFlags {
    #[command(flatten)]
    plan: PlanFlags<StressPlan>,
    /// Duration in seconds.
    #[arg(long, conflicts_with = "time")]
    seconds: Option<u32>,
}

impl StressFlags {
    fn order<'a>(&'a self, preset: &'a str) -> Order<'a> {
        let seconds = self.seconds.map(|seconds| ("time".to_owned(), text(format!("{seconds}s"))));
        let changes = self.plan.settings.changes.iter().cloned().chain(seconds).collect();
        Order { changes: Ok(changes), ..self.plan.order(preset) }
    }
}

/// The flags that the command line has of those that a plan `T` declares: as changes, because flags and settings have
/// the same names.
#[derive(Debug)]
pub(crate) struct Given<T> {
    changes: Vec<(String, Value)>,
    plan: PhantomData<T>,
}

impl<T: Args> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given<T>, clap::Error> {
        let plan = T::augment_args(Command::new("plan"));
        let given = plan.get_arguments().filter_map(|flag| {
            let id = flag.get_id().as_str();
            matches.value_source(id).filter(|source| *source == ValueSource::CommandLine)?;
            let value = match flag.get_action() {
                ArgAction::SetTrue => Value::Boolean(true),
                _ => value_of(&matches.get_raw(id)?.next()?.to_string_lossy()),
            };
            Some((flag.get_long()?.to_owned(), value))
        });
        Ok(Given { changes: given.collect(), plan: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}
