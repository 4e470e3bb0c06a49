//! `kith man` and `kith completions`, generated from the definitions of `--help`, so they cannot differ from it.

use std::fs;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::print_with;
use crate::trouble::{Outcome, Trouble};

/// One page per command that `kith help` lists: `kith.1`, `kith-site.1`, `kith-site-add.1` and so on.
pub(crate) fn write_man_pages(args: &ManArgs) -> Outcome {
    let place = args.directory.display();
    fs::create_dir_all(&args.directory)
        .and_then(|()| {
            clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), &args.directory)
        })
        .map_err(|error| Trouble::new(format!("cannot write man pages to {place}")).because(error))?;
    print_with(|out| writeln!(out, "wrote the pages to {place}; read one with: man -l {place}/kith.1"))
}

pub(crate) fn print_completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kith", &mut script);
    print_with(|out| out.write_all(&script))
}
