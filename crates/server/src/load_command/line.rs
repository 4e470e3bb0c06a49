//! The command line of `kith load`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use toml::{Table, Value};

use super::plan::{CommunityArgs, FloodArgs, MixArgs, StormArgs, StressArgs, VisitArgs};
use crate::cli::{DataFlag, text};
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
    Flood(FloodArgs),
    /// Send messages as fast as possible, and report throughput, latency and errors.
    ///
    /// Example: kith load stress --groups 100 --per-group 10 --seconds 10
    ///
    /// Checks each acknowledged message, and counts lost, doubled and misordered ones. Turn
    /// the node's message limits off first; otherwise the run measures the limits.
    ///
    /// Example: kith load stress --core --seconds 10        inside this process, without sockets
    #[command(verbatim_doc_comment)]
    Stress(StressArgs),
    /// Let each member send one message per 5 s at random times, and report like `stress`.
    Realistic(StressArgs),
    /// Disconnect all members at once, and report how long reconnecting takes and whether
    /// messages are lost.
    ///
    /// Example: kith load storm --members 5000 --spread 1s
    ///
    /// Some members stay connected. They watch the others and write to them before, during and after the storm.
    #[command(verbatim_doc_comment)]
    Storm(StormArgs),
    /// Simulate members with long contact lists who send messages and change presence, as in Tigase's
    /// test. Report cost, latency, and whether all messages and changes arrived.
    ///
    /// Example: kith load community --members 20000 --time 2m --report out
    ///
    /// The command writes contact lists into its own node's database before the start. With
    /// --url there are none, so members name the users they watch.
    #[command(verbatim_doc_comment)]
    Community(CommunityArgs),
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
    Visit(VisitArgs),
    /// Add inactive, idle and active members until memory or errors reach a limit, and report how many fit.
    ///
    /// Example: kith load mix --rate 2000 --memory-limit 64MB
    #[command(verbatim_doc_comment)]
    Mix(MixArgs),
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

impl LoadCommand {
    /// None: the command sends no load.
    pub(crate) fn target(&self) -> Option<&LoadTarget> {
        match self {
            LoadCommand::Flood(args) => Some(&args.target),
            LoadCommand::Stress(args) | LoadCommand::Realistic(args) => Some(&args.target),
            LoadCommand::Storm(args) => Some(&args.target),
            LoadCommand::Community(args) => Some(&args.target),
            LoadCommand::Visit(args) => Some(&args.target),
            LoadCommand::Mix(args) => Some(&args.target),
            LoadCommand::Slow(target)
            | LoadCommand::Typing(target)
            | LoadCommand::Room(target)
            | LoadCommand::Calls(target)
            | LoadCommand::Turn(target)
            | LoadCommand::All(target) => Some(target),
            LoadCommand::Run(args) => Some(&args.target),
            LoadCommand::Presets | LoadCommand::Show(_) => None,
        }
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
    pub(crate) fn changes(&self) -> Outcome<Vec<(String, Value)>> {
        let changes = self.set.iter().map(|change| {
            let (key, value) = change.split_once('=').ok_or_else(|| {
                Trouble::new(format!("--set {change} has no value"))
                    .remedy("for example: --set connections=5000")
            })?;
            // Values that are not numbers, true or false are strings, so that users need not quote twice.
            let number = value.parse().map(Value::Integer);
            let number = number.or_else(|_| value.parse().map(Value::Float));
            let number = number.or_else(|_| value.parse().map(Value::Boolean));
            Ok((key.to_owned(), number.unwrap_or_else(|_| text(value))))
        });
        changes.collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct PresetName {
    pub(crate) name: String,
}

/// The given flags as settings of a plan: both have the same names.
pub(super) fn changes(flags: &impl Serialize) -> Vec<(String, Value)> {
    Table::try_from(flags).expect("flags are numbers, texts and booleans").into_iter().collect()
}
