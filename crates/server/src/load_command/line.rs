//! What can be typed after `kith load`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toml::Value;

use super::plan::{CommunityArgs, FloodArgs, MixArgs, StormArgs, StressArgs, VisitArgs};
use crate::cli::{DataFlag, text};
use crate::trouble::{Outcome, Trouble};

#[derive(Debug, Subcommand)]
pub(crate) enum LoadCommand {
    /// Many members connect at a rate and stay; says what each costs the node.
    ///
    /// Example: kith load flood --connections 15000 --rate 5000 --hold 15s --report out
    ///
    /// Without --url, a node of our own is started for the run, without limits. With
    /// --url, the node's process and the site's secret are found by themselves where
    /// the node runs on this machine as the same user.
    ///
    /// Example: kith load flood --transport all --report out        all four side by side, plain and with TLS
    #[command(verbatim_doc_comment)]
    Flood(FloodArgs),
    /// Members write to each other as fast as they may; says how much arrives, how fast, and whether anything is wrong.
    ///
    /// Example: kith load stress --groups 100 --per-group 10 --seconds 10
    ///
    /// Every message is durable, acknowledged, and checked: lost, doubled and
    /// misordered ones are counted. A node's limits of messages per user and per
    /// second must be off, or they are what is measured.
    ///
    /// Example: kith load stress --core --seconds 10        inside of this process, without sockets
    #[command(verbatim_doc_comment)]
    Stress(StressArgs),
    /// The same, but everybody writes one message per 5 s, at moments of chance.
    Realistic(StressArgs),
    /// All members lose their connections at once and come back; says how long that
    /// takes, and whether a message is lost.
    ///
    /// Example: kith load storm --members 5000 --spread 1s
    ///
    /// Some members stay, watch the presence of the others, and write to them before, during and after the storm.
    #[command(verbatim_doc_comment)]
    Storm(StormArgs),
    /// Members of one or several sites with long rosters write to contacts and change
    /// their presence, as Tigase's test had it; says what each costs, how fast it is,
    /// and whether every message and every change has arrived.
    ///
    /// Example: kith load community --members 20000 --time 2m --report out
    ///
    /// Rosters are put into the node's database before it starts. A node that --url
    /// names has none of ours: members then name whom they watch.
    #[command(verbatim_doc_comment)]
    Community(CommunityArgs),
    /// A few members stop reading while everybody writes; says what that costs the node and the others.
    ///
    /// Its figures are changed with `kith load run slow --set slow=20`.
    Slow(LoadTarget),
    /// Members in pairs tell each other that they type, which is stored nowhere; says how much passes and how soon.
    ///
    /// Its figures are changed with `kith load run typing --set rate=2000.0`.
    Typing(LoadTarget),
    /// One room of 10,000 members who are all online; says how much is delivered and what it costs the others.
    ///
    /// Its figures are changed with `kith load run room --set members=2000`.
    Room(LoadTarget),
    /// Members in pairs call each other, then all are in a call at once; says how many calls are set up, how soon, and
    /// what one that is held costs.
    ///
    /// Its figures are changed with `kith load run calls --set pairs=15000`.
    Calls(LoadTarget),
    /// Clients of STUN and TURN ask, take relays and send data through them; says how much that is, and what each
    /// costs the server.
    ///
    /// Its figures are changed with `kith load run turn --set relays=5000`; another server is measured with
    /// `--set server=127.0.0.1:3478 --set turn-secret-file=FILE --pid PID`.
    Turn(LoadTarget),
    /// Visitors come, look at pages as browsers do, and leave; prints Siege's table.
    ///
    /// Example: kith load visit --visitors 3333 --time 60s
    ///
    /// Time is counted in the middle of it: all are there from the beginning, and as
    /// many come as leave. Pages, scripts and pictures are fetched in a browser's
    /// order and with its cache; each visitor has a session over WebSocket.
    #[command(verbatim_doc_comment)]
    Visit(VisitArgs),
    /// Inactive, idle and active members keep coming until memory or errors meet a limit; says how many fitted.
    ///
    /// Example: kith load mix --rate 2000 --memory-limit 64MB
    #[command(verbatim_doc_comment)]
    Mix(MixArgs),
    /// A short run of each plan, in one report.
    ///
    /// Example: kith load all --report out        then open out/report.html in a browser
    #[command(verbatim_doc_comment)]
    All(LoadTarget),
    /// Carry out a preset or a plan file.
    ///
    /// Example: kith load run chut-750x10 --report out
    ///          kith load run mine.toml --set connections=5000
    ///          kith load run erlang-study --report out        a plan repeated over factors, against hypotheses
    #[command(verbatim_doc_comment)]
    Run(PlanArgs),
    /// The plans that are built in.
    Presets,
    /// Print one of them, to begin a plan of your own with.
    Show(PresetName),
}

impl LoadCommand {
    /// None: nothing is sent to anybody.
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

/// Where a load goes, and how its author proves to be the site.
#[derive(Debug, Args)]
pub(crate) struct LoadTarget {
    /// The node [default: one of our own, started for the run].
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// With TLS: the node of our own gets a certificate for the run, which the members trust.
    #[arg(long, conflicts_with = "url")]
    pub(crate) tls: bool,
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
            // What is no number, true or false is text, so that nobody has to quote twice.
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

/// What was typed, as settings of a plan.
pub(super) fn changes<const N: usize>(given: [(&str, Option<Value>); N]) -> Vec<(String, Value)> {
    given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

pub(super) fn integer(number: u32) -> Value {
    Value::Integer(number.into())
}
