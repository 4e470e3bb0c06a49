//! `kith load`: chooses the plan and the node, and writes the report.

mod before;
mod cluster_plan;
mod core;
mod line;
mod live;
mod own_cluster;
mod own_node;
mod plan;
mod plan_file;
mod presets;
mod seed;
mod study;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat::SecretKind;
use load::report::{Machine, Measure, Report, Run};
use load::stress::StressPlan;
use load::target::{Target, Transport};
use load::{Fault, Kill, LoadError, Observer, OtherProcesses, RunOptions};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use toml::Table;

use self::cluster_plan::ClusterPlan;
pub(crate) use self::line::LoadCommand;
use self::line::{LoadTarget, Order};
use self::live::Live;
use self::own_cluster::{OwnCluster, ProcessKill};
use self::own_node::{NodeWish, OwnNode};
use self::plan::Task;
use self::plan_file::{Part, Plan, Prepared, What};
use self::study::Study;
use crate::config::Loaded;
use crate::demo;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, print_line, print_with, run_file};

/// Carries out one command.
pub(crate) fn run(command: &LoadCommand, loaded: &Loaded) -> Outcome {
    match command {
        LoadCommand::Presets => list_presets(),
        LoadCommand::Show(args) => match presets::find(&args.name) {
            Some(preset) => print_with(|out| write!(out, "{}", preset.text)),
            None => Err(Trouble::new(format!("unknown preset: {}", args.name))
                .remedy("`kith load presets` lists them")),
        },
        of_plan => of_plan.order().map_or(Ok(()), |order| carry_out(order, loaded)),
    }
}

fn list_presets() -> Outcome {
    for preset in presets::ALL {
        let about = plan_file::find(preset.name, &[])?.about;
        print_line(&format!("{:<22} {about}", preset.name))?;
    }
    Ok(())
}

fn carry_out(order: Order<'_>, loaded: &Loaded) -> Outcome {
    let Order { plan, changes, target: args, svg } = order;
    // Check all names and files first, so that a typing error is reported at once.
    let Plan { name, about, what } = plan_file::find(plan, &changes?)?;
    let parts = match what {
        What::One(part) => vec![(name.clone(), part)],
        What::Several(names) => names.into_iter().map(part).collect::<Outcome<Vec<_>>>()?,
    };
    if svg.is_some() {
        is_one_run(&name, &parts)?;
    }
    let stop = stop_by_signal()?;
    let several = parts.len() > 1;
    let mut runs: Vec<Run> = Vec::new();
    for (name, part) in parts {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if several {
            progress(&format!("-- {name}"));
        }
        let made = match part {
            Part::Task(prepared) => one(&name, prepared, args, loaded, &stop),
            Part::Study(study) => repeated(&name, &study, args, loaded, &stop),
        };
        match made {
            // A plan that cannot run must not discard the figures of the others.
            Err(trouble) if several => {
                progress(&trouble.to_string());
                runs.push(Run::not_made(&name, &trouble.to_string()));
            }
            done => runs.push(done?),
        }
    }
    if let (Some(path), [run]) = (svg, runs.as_slice()) {
        std::fs::write(path, run.svg()).map_err(|error| {
            Trouble::new(format!("cannot write the picture {}", path.display())).because(error)
        })?;
    }
    let report = Report {
        title: format!("kith load {name}"),
        about,
        made: crate::date(crate::now()),
        machine: Machine::here(),
        runs,
    };
    if let Some(folder) = &args.report {
        report.write(folder).map_err(|error| {
            Trouble::new(format!("cannot write the report in {}", folder.display())).because(error)
        })?;
        progress(&format!("report: {}", folder.join("report.html").display()));
    }
    match report.runs.as_slice() {
        [run] if args.json && !several => print_line(&run.json()),
        _ if args.json => print_line(&report.json()),
        [run] if !several => print_with(|out| write!(out, "{run}")),
        _ => print_with(|out| write!(out, "{}", report.text())),
    }?;
    report.runs.iter().filter(|run| is_of_a_kill(run)).try_for_each(has_every_message_once)
}

/// Whether a process died in the run.
fn is_of_a_kill(run: &Run) -> bool {
    run.facts.iter().any(|(key, _)| *key == "kill.part")
}

/// A run in which a process died fails if a message was lost or doubled.
fn has_every_message_once(run: &Run) -> Outcome {
    let count =
        |key: &str| run.measures.iter().find(|of| of.key == key).and_then(Measure::figure).unwrap_or(0.0);
    match (count("lost"), count("doubled")) {
        (0.0, 0.0) => Ok(()),
        (lost, doubled) => {
            Err(Trouble::new(format!("{}: {lost} messages were lost, and {doubled} doubled", run.name)))
        }
    }
}

/// A picture shows one run.
fn is_one_run(name: &str, parts: &[(String, Part)]) -> Outcome {
    match parts {
        [(_, Part::Task(_))] => Ok(()),
        _ => Err(Trouble::new(format!("--svg draws one run, but {name} has several"))
            .remedy("choose one run, for example with --transport sse; or compare all with --report DIR")),
    }
}

/// A plan in a list of another plan.
fn part(name: String) -> Outcome<(String, Part)> {
    match plan_file::find(&name, &[])?.what {
        What::One(part) => Ok((name, part)),
        What::Several(_) => Err(Trouble::new(format!("{name} is a list of plans inside another list"))
            .remedy("name its plans instead")),
    }
}

fn one(
    name: &str,
    prepared: Prepared,
    args: &LoadTarget,
    loaded: &Loaded,
    stop: &Arc<AtomicBool>,
) -> Outcome<Run> {
    let Prepared { task, node, cluster } = prepared;
    let members = task.members();
    // A plan with a cluster of its own may be measured at another place.
    let cluster = args.cluster.over(cluster.filter(|_| args.url.is_none()))?;
    if let Some(inside) = task.inside() {
        return inside_this_process(inside, name, args, cluster.is_some(), stop);
    }
    let node = NodeWish {
        xmpp: task.transport().is_some_and(Transport::is_xmpp),
        ..node.with(args.tls, &Table::new())
    };
    if args.url.is_some() && (node.tls || node.seed.is_some() || !node.settings.is_empty()) {
        progress(&format!("warning: what {name} asks of its node is left to the one that --url names"));
    }
    if let Some(peer) = task.transport().filter(|transport| transport.is_of_peer() && args.url.is_none()) {
        return Err(Trouble::new(format!("no node of ours speaks {}", peer.name()))
            .remedy("name the other server: --url URL --secret-file FILE --pid PID"));
    }
    if let Some(cluster) = &cluster {
        fits_a_cluster(name, &*task, cluster)?;
    }
    if args.url.is_none() {
        before::room(members, node.tls)?;
    }
    // Lives until the run is over.
    let own = match (&args.url, cluster) {
        (Some(_), _) => None,
        (None, Some(wish)) => Some(Own::Cluster(OwnCluster::start(members, &node, &wish)?)),
        (None, None) => Some(Own::Node(OwnNode::start(members, &node)?)),
    };
    let live = Live::new(name);
    let observer = Arc::clone(&live) as Arc<dyn Observer>;
    let mut options = RunOptions { stop: Arc::clone(stop), observer, ..options(args, own.as_ref(), loaded)? };
    before::check(&options, task.transport(), members, own.is_some(), args.yes)?;
    let part = cluster.and_then(|cluster| Some(cluster.kill?.part()));
    let kill = process_kill(part, own.as_ref(), stop);
    options.kill = kill.as_ref().zip(part).map(|(kill, part)| Kill {
        part,
        front: kill.front(),
        after: cluster.and_then(|cluster| cluster.kill_at).map(Into::into),
        fault: Arc::clone(kill) as Arc<dyn Fault>,
    });
    let unmade = |error: LoadError| Trouble::new(format!("cannot run {name}")).because(error);
    let others = OtherProcesses::begin(&options);
    let mut run = task.carry_out(&options, &mut |line| live.say(line)).map_err(unmade)?;
    name.clone_into(&mut run.name);
    others.note(&mut run);
    if let Some(kill) = kill {
        kill.note(&mut run);
    }
    Ok(run)
}

/// Whether the plan's members can be spread over fronts, and recover if a process dies.
fn fits_a_cluster(name: &str, task: &dyn Task, cluster: &ClusterPlan) -> Outcome {
    if !task.spreads() {
        return Err(Trouble::new(format!("the members of {name} cannot be spread over several nodes"))
            .remedy("choose stress, flood, storm or community, over websocket, xmpp or xmpp-websocket"));
    }
    if cluster.kill.is_some() && !task.recovers() {
        return Err(Trouble::new(format!("the members of {name} do not recover if a process dies"))
            .remedy("choose stress, realistic or community, over websocket"));
    }
    Ok(())
}

fn process_kill(
    part: Option<load::Part>,
    own: Option<&Own>,
    stop: &Arc<AtomicBool>,
) -> Option<Arc<ProcessKill>> {
    match own {
        Some(Own::Cluster(cluster)) => Some(cluster.process_kill(part?, stop)),
        _ => None,
    }
}

/// The processes that a run starts, and ends with itself.
enum Own {
    Node(OwnNode),
    Cluster(OwnCluster),
}

impl Own {
    /// Where members connect.
    fn targets(&self) -> Outcome<Vec<Target>> {
        match self {
            Own::Cluster(cluster) => Ok(cluster.targets().to_vec()),
            Own::Node(node) => {
                let mut target = parse(&node.url())?;
                target.xmpp = node.xmpp().unwrap_or(target.xmpp);
                Ok(vec![target])
            }
        }
    }

    fn settings(&self) -> Outcome<Loaded> {
        match self {
            Own::Cluster(cluster) => cluster.settings(),
            Own::Node(node) => node.settings(),
        }
    }

    fn certificate(&self) -> Option<PathBuf> {
        match self {
            Own::Cluster(cluster) => cluster.certificate(),
            Own::Node(node) => node.certificate(),
        }
    }
}

fn inside_this_process(
    plan: &StressPlan,
    name: &str,
    args: &LoadTarget,
    has_cluster: bool,
    stop: &Arc<AtomicBool>,
) -> Outcome<Run> {
    if args.url.is_some() || args.tls || has_cluster {
        return Err(Trouble::new(format!("{name} runs inside this process and connects to no node"))
            .remedy("leave out --url, --tls and --nodes, or --core"));
    }
    let mut run = core::carry_out(plan, name, Live::new(name), stop)?;
    name.clone_into(&mut run.name);
    Ok(run)
}

fn repeated(
    name: &str,
    study: &Study,
    args: &LoadTarget,
    loaded: &Loaded,
    stop: &Arc<AtomicBool>,
) -> Outcome<Run> {
    if let Some(factor) =
        study.own_nodes_only().filter(|factor| args.url.is_some() || (args.tls && *factor == "tls"))
    {
        return Err(Trouble::new(format!("{name}: --url does not fit, because the study varies {factor}"))
            .remedy("leave out --url and --tls; each run then starts its own node"));
    }
    study.carry_out(name, stop, &mut |of, prepared| one(of, prepared, args, loaded, stop))
}

/// For people, on stderr, so that stdout stays free for scripts.
fn progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Set by the first SIGINT or SIGTERM, so that the report is still written; the second one ends the process.
fn stop_by_signal() -> Outcome<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Trouble::new("cannot install signal handlers").because(error))?;
    }
    Ok(stop)
}

fn parse(url: &str) -> Outcome<Target> {
    Target::parse(url).map_err(|error| {
        Trouble::new(format!("cannot reach {url}"))
            .because(error)
            .remedy("for example: --url http://127.0.0.1:8080")
    })
}

/// The node to measure: the one of the URL, else our own.
fn options(args: &LoadTarget, own: Option<&Own>, loaded: &Loaded) -> Outcome<RunOptions> {
    let targets = match own {
        Some(own) => own.targets()?,
        None => vec![parse(args.url.as_deref().unwrap_or_default())?],
    };
    let mut targets = targets.into_iter();
    let mut target = targets.next().expect("a run has a node");
    let port = target.addr.port();
    let here =
        run_file::running().into_iter().find(|node| target.addr.ip().is_loopback() && node.listens_on(port));
    let site = args.site.as_deref().unwrap_or(demo::SITE);
    let secret = match (&args.secret_file, own) {
        (_, Some(own)) => stored_secret(site, &own.settings()?, port)?,
        (Some(path), None) => read_secret(path)?,
        (None, None) => stored_secret(site, loaded, port)?,
    };
    if let Some(xmpp) = here.as_ref().filter(|_| own.is_none()).and_then(|node| node.xmpp) {
        target.xmpp = xmpp;
    }
    let (server, processes) = match own {
        Some(Own::Cluster(cluster)) => (None, Some(cluster.processes())),
        Some(Own::Node(node)) => (args.pid.or(Some(node.pid())), None),
        None => (args.pid.or(here.map(|node| node.pid)), None),
    };
    Ok(RunOptions {
        server,
        processes,
        more_targets: targets.collect(),
        ca: own.and_then(Own::certificate).or(args.ca.clone()),
        threads: args.threads,
        ..RunOptions::new(target, site, &secret)
    })
}

fn read_secret(path: &Path) -> Outcome<Vec<u8>> {
    let text = std::fs::read(path).map_err(|error| {
        Trouble::new(format!("cannot read the secret in {}", path.display())).because(error)
    })?;
    Ok(text.trim_ascii().to_vec())
}

fn stored_secret(site: &str, loaded: &Loaded, port: u16) -> Outcome<Vec<u8>> {
    let remote = "for a node elsewhere, bring the site's secret: --secret-file FILE";
    let store = data_dir::open_with(loaded, Some(port), site).map_err(|trouble| trouble.or_try(remote))?;
    let found = data_dir::site(&*store, site)?;
    let now = crate::now();
    let usable = found.secrets.into_iter().find(|secret| {
        secret.kind == SecretKind::Hs256 && secret.expires.is_none_or(|expires| expires > now)
    });
    usable.map(|secret| secret.bytes).ok_or_else(|| {
        Trouble::new(format!("the site {site} has no HS256 secret, so members cannot be simulated"))
            .remedy(format!("create one: kith site rotate-secret {site}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_a_lost_or_doubled_message_fails() {
        let run = |lost: u64, doubled: u64| Run {
            measures: vec![
                Measure::new("lost", "lost", "", lost),
                Measure::new("doubled", "doubled", "", doubled),
            ],
            ..Run::not_made("stress", "")
        };
        assert!(has_every_message_once(&run(0, 0)).is_ok());
        for (lost, doubled) in [(1, 0), (0, 2)] {
            let trouble = has_every_message_once(&run(lost, doubled)).expect_err("it must fail").to_string();
            assert!(
                trouble.contains(&format!("{lost} messages were lost, and {doubled} doubled")),
                "{trouble}"
            );
        }
    }

    #[test]
    fn a_picture_of_several_runs_is_refused_before_the_first_one() {
        let parts = |preset: &str| vec![part(preset.to_owned()).expect("a preset of one part")];
        assert!(is_one_run("flood", &parts("flood")).is_ok());
        let trouble = is_one_run("flood-transports", &parts("flood-transports")).expect_err("a study");
        assert!(trouble.to_string().contains("--transport sse"), "{trouble}");
    }
}
