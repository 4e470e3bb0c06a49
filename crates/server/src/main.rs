//! `kith`: one binary that runs, demonstrates, administers and measures a node.
//!
//! It wires the other crates and knows their settings; it has no rules about messages.
//!
//! Read first: [`cli`] (the commands), [`config`] (the settings), [`serve`] (the parts of a node).

mod allocator;
mod backup;
mod calls;
mod cli;
mod clock_jumps;
mod cluster;
mod components;
mod config;
mod config_command;
mod data_dir;
mod data_lock;
mod demo;
mod doctor;
mod federation;
mod figures;
mod files;
mod housekeeping;
mod import;
mod load_command;
mod logging;
mod mail;
mod manual;
mod metrics;
mod migrate;
mod need;
mod own_pictures;
mod pictures;
mod previews;
mod process;
mod progress;
mod push;
mod question;
mod refused_connections;
mod run_file;
mod serve;
mod sign_in_log;
mod site;
mod span;
mod status;
mod sticker;
mod take_over;
mod token;
mod trouble;
mod user;
mod widget;
mod widget_builds;
mod wording;
mod xmpp;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use chat::Timestamp;
use clap::Parser;
use toml::Value;

use crate::cli::{Cli, ClusterCommand, Command, ConfigCommand, NodeFlags};
use crate::config::{Layers, Loaded};
use crate::serve::{Purpose, Start};
use crate::trouble::{Outcome, Trouble};

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(trouble) => {
            // If stderr is closed too, the error cannot be reported.
            let _ = writeln!(io::stderr(), "{trouble}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Outcome<ExitCode> {
    let load = |flags: Vec<(&'static str, Value)>| -> Outcome<Loaded> {
        config::load(Layers { file: cli.config.clone(), variables: config::variables(), flags })
    };
    match &cli.command {
        Command::Serve(args) => {
            let start = if args.take_over { Start::TakeOver } else { start_of(&args.flags) };
            return serve::run(&load(args.flags.settings())?, Purpose::Serve, start);
        }
        Command::Demo(flags) => {
            let purpose = match (flags.throwaway, flags.strangers) {
                (true, _) => Purpose::Throwaway,
                (false, true) => Purpose::DemoOfStrangers,
                (false, false) => Purpose::Demo,
            };
            return serve::run(&load(flags.settings())?, purpose, start_of(flags));
        }
        Command::Picture { portrait } => return Ok(pictures::run(*portrait)),
        Command::Man(args) => manual::write_man_pages(args)?,
        Command::Completions(args) => manual::print_completions(args)?,
        Command::Load(command) => {
            let flags = command.target().map(|target| target.data.settings()).unwrap_or_default();
            load_command::run(command, &load(flags)?)?;
        }
        Command::Site(command) => site::run(command, &load(command.data().settings())?)?,
        Command::User(command) => user::run(command, &load(command.data().settings())?)?,
        Command::Sticker(command) => sticker::run(command, &load(command.data().settings())?)?,
        Command::Import(args) => import::run(args, &load(args.output.data.settings())?)?,
        Command::Backup(args) => backup::take(args, &load(args.data.settings())?)?,
        Command::Restore(args) => backup::restore(args, &load(args.data.settings())?)?,
        Command::Migrate(args) => migrate::run(args)?,
        Command::Token(args) => token::print(args, &load(args.data.settings())?)?,
        Command::Config(ConfigCommand::Check(flags)) => config_command::check(&load(flags.settings())?)?,
        Command::Config(ConfigCommand::Show(args)) => {
            config_command::show(&load(args.flags.settings())?, args.json)?;
        }
        Command::Cluster(ClusterCommand::Status(args)) => {
            cluster::status(args, &load(args.data.settings())?)?
        }
        Command::Cluster(ClusterCommand::Drain(args)) => cluster::hand_over(None, &load(args.settings())?)?,
        Command::Cluster(ClusterCommand::Move(args)) => {
            cluster::hand_over(Some(&args.node), &load(args.drain.settings())?)?
        }
        Command::Cluster(ClusterCommand::Pin(args)) => {
            cluster::pin(args, &load(args.slot.data.settings())?)?;
        }
        Command::Cluster(ClusterCommand::Unpin(slot)) => cluster::unpin(slot, &load(slot.data.settings())?)?,
        Command::Doctor(args) => return doctor::run(args, &load(args.flags.settings())?),
    }
    Ok(ExitCode::SUCCESS)
}

fn start_of(flags: &NodeFlags) -> Start {
    if flags.of_node { Start::OfNode } else { Start::Alone }
}

/// The wall clock, read only here: all other code takes the time as an argument.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(since.as_millis() as u64)
}

/// For text output: `2026-11-21T08:30:00Z`. JSON has the milliseconds.
fn date(at: Timestamp) -> String {
    let seconds = i64::try_from(at.0 / 1_000).unwrap_or(i64::MAX);
    time::OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .and_then(|at| at.format(&time::format_description::well_known::Rfc3339).ok())
        .unwrap_or_else(|| "unknown".into())
}

fn print_line(line: &str) -> Outcome {
    print_with(|out| writeln!(out, "{line}"))
}

fn print_json(value: &serde_json::Value) -> Outcome {
    print_with(|out| writeln!(out, "{value:#}"))
}

/// Writes to stdout. A closed reader (`kith user list | head`) is not an error.
fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let mut out = io::stdout().lock();
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Trouble::new("cannot write to stdout").because(error))
        }
        _ => Ok(()),
    }
}
