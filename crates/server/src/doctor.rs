//! `kith doctor`: limits and problems of this machine, with reasons and the lines that fix them.
//!
//! [`Machine`] is read first and as a whole; every finding is a function of it and of the [`Plan`].

mod descriptors;
mod finding;
mod harmful;
mod machine;
mod memory;
mod network;
mod pictures;
mod place;
mod plan;
mod proxies;
mod relays;
mod sandbox;
mod settings;
mod sysctl;
mod tcp_memory;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use self::finding::{Finding, State};
pub(crate) use self::machine::Machine;
use self::plan::Plan;
pub(crate) use self::sysctl::FILE as SYSCTL_FILE;
use self::sysctl::Line;
use crate::cli::DoctorArgs;
use crate::config::Loaded;
use crate::question::is_answered_yes;
use crate::run_file::{self, RunningNode};
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, print_json, print_with, status};

/// Exit code 1 if a check fails, for scripts.
pub(crate) fn run(args: &DoctorArgs, loaded: &Loaded) -> Outcome<ExitCode> {
    let config = &loaded.config;
    // With several running nodes and none named, the machine is checked without a node.
    let data = data_dir::locate(loaded, Some(config.http.port())).unwrap_or_else(|_| config.data.clone());
    let node = running_at(&data);
    let machine = Machine::read(node.as_ref().map(|node| node.pid));
    let plan = Plan::new(config, args.connections, &machine);
    let lines = sysctl::lines_of_machine();
    let mut findings = of_machine(&machine, &lines, &plan);
    let token = status::metrics_token(config, &data);
    let counted =
        |figure| node.as_ref().and_then(|node| proxies::counted(node.http, token.as_deref(), figure));
    findings.extend(counted(proxies::COUNTED).map(proxies::judge));
    findings.extend(counted(settings::COUNTED).map(settings::judge));
    findings.extend([place::free_space(&data), place::sync_time(&data), place::clock(crate::now().0)]);
    findings.push(pictures::judge(&crate::pictures::is_confined()));
    findings.push(sandbox::judge(node.as_ref().and_then(|node| sandbox::read(node.pid)).as_ref()));
    findings.extend(config.tls_cert.as_ref().map(|cert| place::certificate(cert, crate::now().0)));

    let asked = args.sysctl.iter().map(|text| sysctl::asked(text, &plan)).collect::<Outcome<Vec<_>>>()?;
    let older = fs::read_to_string(&args.sysctl_file).unwrap_or_default();
    let text = sysctl::text(&findings, &asked, &older, &plan);
    let worst = findings.iter().map(|finding| finding.state).max().unwrap_or(State::Ok);
    if !args.json {
        print_with(|out| print(out, &findings, text.is_some() && !args.apply, &plan))?;
    }
    let written = args.apply && apply(args, text.as_deref(), &older, &lines)?;
    if args.json {
        let file = text.map(|text| json!({ "path": args.sysctl_file, "text": text, "written": written }));
        let connections = plan.connections;
        print_json(&json!({
            "state": worst, "connections": connections, "findings": findings, "sysctl_file": file
        }))?;
    }
    Ok(if worst == State::Fail { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn running_at(data: &Path) -> Option<RunningNode> {
    let data = data.canonicalize().ok()?;
    run_file::running().into_iter().find(|node| node.data == data)
}

/// All findings that need no measurement, in the order of the output.
fn of_machine(machine: &Machine, lines: &[Line], plan: &Plan) -> Vec<Finding> {
    let mut findings = vec![descriptors::of_process(machine, plan)];
    findings.extend(relays::judge(machine, plan));
    findings.extend(descriptors::of_machine(machine, plan));
    findings.extend([
        memory::judge(machine, plan),
        tcp_memory::of_all(machine, plan),
        tcp_memory::of_one(machine, plan),
        network::backlog(machine),
        network::packets(machine, plan),
        network::ports(machine, plan),
    ]);
    findings.extend(network::conntrack(machine, plan));
    findings.extend(harmful::in_force(machine, plan));
    findings.extend(harmful::in_files(lines, plan));
    findings
}

fn print(out: &mut dyn Write, findings: &[Finding], has_file: bool, plan: &Plan) -> io::Result<()> {
    let width = terminal_width();
    findings.iter().try_for_each(|finding| finding.print(out, width))?;
    writeln!(out, "\n{}", verdict(findings, plan))?;
    if has_file {
        writeln!(
            out,
            "To write the sysctl lines to a file: kith doctor --connections {} --apply",
            plan.connections
        )?;
    }
    Ok(())
}

/// None: the output goes into a file or another program, or the terminal has no known width.
fn terminal_width() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(stdout))?.ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

fn verdict(findings: &[Finding], plan: &Plan) -> String {
    let topics = |state| {
        let of_state = findings.iter().filter(|finding| finding.state == state);
        let mut topics: Vec<&str> = of_state.map(|finding| finding.topic).collect();
        topics.dedup();
        topics.join(", ")
    };
    let (fails, warns) = (topics(State::Fail), topics(State::Warn));
    let connections = plan.connections;
    let verdict = match (fails.is_empty(), warns.is_empty()) {
        (false, _) => format!("This machine cannot hold {connections} connections yet: {fails}."),
        (true, false) => format!("Check before {connections} connections: {warns}."),
        (true, true) if topics(State::Unknown).is_empty() => {
            format!("This machine can hold {connections} connections.")
        }
        (true, true) => format!("No check failed for {connections} connections, but some could not run."),
    };
    if plan.asked { verdict } else { verdict + " To check another number: --connections N." }
}

/// Shows the file, asks, writes it, and prints how to load it. Returns whether it was written.
fn apply(args: &DoctorArgs, text: Option<&str>, older: &str, lines: &[Line]) -> Outcome<bool> {
    let path = &args.sysctl_file;
    // With --json the object alone is on stdout.
    let say = |text: &str| if args.json { Ok(()) } else { crate::print_line(text) };
    let Some(text) = text else {
        say("\nNo kernel setting needs a change; nothing to write.")?;
        return Ok(false);
    };
    if text == older {
        say(&format!("\n{} has all these lines. To load it: {}", path.display(), sysctl::LOAD))?;
        return Ok(false);
    }
    say(&format!("\n{} would contain:\n\n{text}", path.display()))?;
    confirm(args)?;
    sysctl::write(path, text).map_err(|error| {
        Trouble::new(format!("cannot write {}", path.display())).because(error).remedy(
            "run it as root (sudo), or write it elsewhere with --sysctl-file FILE and copy it into /etc/sysctl.d",
        )
    })?;
    for line in sysctl::overruled(text, lines, path) {
        let Line { file, key, value } = line;
        say(&format!(
            "{} is read later and overrides this by {key} = {value}. Change it there.",
            file.display()
        ))?;
    }
    say(&format!("Wrote the file. To load it now: {}", sysctl::LOAD))?;
    Ok(true)
}

fn confirm(args: &DoctorArgs) -> Outcome {
    if args.yes || is_answered_yes(&format!("Write {}?", args.sysctl_file.display())) {
        return Ok(());
    }
    Err(Trouble::new("nothing was written")
        .because("it was not confirmed")
        .remedy("add --yes to write it without a question"))
}
