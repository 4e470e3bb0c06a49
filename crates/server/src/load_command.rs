//! `kith load`: finds out whom to measure, and tells the result.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chat::SecretKind;
use load::Aim;
use load::flood::{self, FloodPlan};
use load::report::{Machine, Report, Run};
use load::stress::{self, Pace, StressPlan};
use load::target::Target;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::cli::{FloodArgs, LoadCommand, LoadTarget, StressArgs};
use crate::config::Loaded;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, print_line, print_with, run_file};

/// Carries out one command.
pub(crate) fn run(command: &LoadCommand, loaded: &Loaded) -> Outcome {
    match command {
        LoadCommand::Flood(args) => flood(args, loaded),
        LoadCommand::Stress(args) => stress(args, loaded),
    }
}

impl LoadCommand {
    pub(crate) fn target(&self) -> &LoadTarget {
        match self {
            LoadCommand::Flood(args) => &args.target,
            LoadCommand::Stress(args) => &args.target,
        }
    }
}

fn flood(args: &FloodArgs, loaded: &Loaded) -> Outcome {
    let plan = FloodPlan {
        aim: aim(&args.target, loaded)?,
        transport: args.transport,
        connections: args.connections,
        rate: args.rate,
        hold: args.hold.into(),
        exchange: args.exchange,
        settle: Duration::from_secs(3),
    };
    let report = flood::run(&plan, &mut progress)
        .map_err(|error| Trouble::new("the flood could not be made").because(error))?;
    if let Some(path) = &args.svg {
        write_picture(path, &report.svg())?;
    }
    write_report(&args.target, "flood", || report.run("flood"))?;
    if args.target.json {
        return print_line(&report.json());
    }
    print_with(|out| write!(out, "{report}"))
}

fn stress(args: &StressArgs, loaded: &Loaded) -> Outcome {
    let plan = StressPlan {
        aim: aim(&args.target, loaded)?,
        transport: args.transport,
        members: args.members,
        group: args.group,
        body_bytes: args.body,
        pace: args.rate.map_or(Pace::Window(args.window), Pace::Rate),
        time: args.time.into(),
    };
    let report = stress::run(&plan, &mut progress)
        .map_err(|error| Trouble::new("the stress could not be made").because(error))?;
    write_report(&args.target, "stress", || report.run("stress"))?;
    if args.target.json {
        return print_line(&report.json());
    }
    print_with(|out| write!(out, "{report}"))
}

fn aim(args: &LoadTarget, loaded: &Loaded) -> Outcome<Aim> {
    let whom = Whom::find(args, loaded)?;
    Ok(Aim {
        server: whom.pid,
        ca: args.ca.clone(),
        threads: args.threads,
        stop: stop_by_signal()?,
        ..Aim::new(whom.target, &args.site, &whom.secret)
    })
}

/// Set by the first SIGINT or SIGTERM, so that the report is still written; the second one ends the process.
fn stop_by_signal() -> Outcome<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| Trouble::new("cannot listen to signals").because(error))?;
    }
    Ok(stop)
}

fn write_report(args: &LoadTarget, title: &str, run: impl FnOnce() -> Run) -> Outcome {
    let Some(folder) = &args.report else { return Ok(()) };
    let report = Report {
        title: format!("kith load {title}"),
        made: crate::date(crate::now()),
        machine: Machine::here(),
        runs: vec![run()],
    };
    report.write(folder).map_err(|error| {
        Trouble::new(format!("cannot write the report in {}", folder.display())).because(error)
    })?;
    progress(&format!("report: {}", folder.join("report.html").display()));
    Ok(())
}

/// For people, beside the report, so that stdout stays for scripts.
fn progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn write_picture(path: &Path, svg: &str) -> Outcome {
    std::fs::write(path, svg)
        .map_err(|error| Trouble::new(format!("cannot write the picture {}", path.display())).because(error))
}

/// The node to measure.
struct Whom {
    target: Target,
    secret: Vec<u8>,
    pid: Option<u32>,
}

impl Whom {
    fn find(args: &LoadTarget, loaded: &Loaded) -> Outcome<Whom> {
        let target = Target::parse(&args.url).map_err(|error| {
            Trouble::new(format!("{} cannot be reached", args.url))
                .because(error)
                .remedy("for example: --url http://127.0.0.1:8080")
        })?;
        let port = target.addr.port();
        let here = run_file::running()
            .into_iter()
            .find(|node| target.addr.ip().is_loopback() && node.listens_on(port));
        let secret = match &args.secret_file {
            Some(path) => read_secret(path)?,
            None => stored_secret(args, loaded, port)?,
        };
        Ok(Whom { target, secret, pid: args.pid.or(here.map(|node| node.pid)) })
    }
}

fn read_secret(path: &Path) -> Outcome<Vec<u8>> {
    let text = std::fs::read(path).map_err(|error| {
        Trouble::new(format!("cannot read the secret in {}", path.display())).because(error)
    })?;
    Ok(text.trim_ascii().to_vec())
}

fn stored_secret(args: &LoadTarget, loaded: &Loaded, port: u16) -> Outcome<Vec<u8>> {
    let remote = "for a node elsewhere, bring the site's secret: --secret-file FILE";
    let store = data_dir::open_existing(loaded, Some(port)).map_err(|trouble| trouble.or_try(remote))?;
    let site = data_dir::site(&*store, &args.site)?;
    let now = crate::now();
    let usable = site.secrets.into_iter().find(|secret| {
        secret.kind == SecretKind::Hs256 && secret.expires.is_none_or(|expires| expires > now)
    });
    usable.map(|secret| secret.bytes).ok_or_else(|| {
        Trouble::new(format!("the site {} has no HS256 secret, so members cannot be simulated", args.site))
            .remedy(format!("make one: kith site rotate-secret {}", args.site))
    })
}
