//! `kith import`: users, contacts, rooms and messages of another system, into a running node or without one.
//!
//! A running node is the only writer: the lines go to its `POST /v1/sites/{site}/import` in parts, with a token that this command signs.
//! Without one the command holds the lock of the data directory and calls the store itself.

mod progress;
mod source;
mod target;

use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::ImportArgs;
use crate::config::Loaded;
use crate::data_dir;
use crate::trouble::{Outcome, Trouble};
use crate::{print_json, print_line};
use progress::Progress;
use source::Source;
use target::Target;

/// Lines of one part, and their bytes: the limits of a request.
const PART_LINES: usize = 1_000;
const PART_BYTES: usize = 900 << 10;
/// Most failed lines that are printed.
const MOST_SHOWN: usize = 100;

/// Outcomes of lines, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Totals {
    added: u64,
    known: u64,
    expired: u64,
    refused: u64,
}

/// The result of one part: errors by line of the file.
#[derive(Default)]
struct Answer {
    totals: Totals,
    errors: Vec<(u64, String)>,
}

impl Totals {
    fn add(&mut self, other: Totals) {
        self.added += other.added;
        self.known += other.known;
        self.expired += other.expired;
        self.refused += other.refused;
    }
}

/// Runs the command.
pub(crate) fn run(args: &ImportArgs, loaded: &Loaded) -> Outcome {
    let dir = data_dir::locate(loaded, None)?;
    let (store, site) = data_dir::open_site(loaded, None, &args.site)?;
    let mut source = Source::open(&args.file, &dir, &site, store.epoch().map_err(data_dir::unreadable)?)?;
    let mut target = Target::open(&dir, store, site, loaded, args.append_late)?;
    let (mut progress, mut shown) = (Progress::begin(source.bytes()), Vec::new());
    let lines = args.rate.map_or(PART_LINES, |rate| PART_LINES.min(rate as usize));
    let begin = Instant::now();
    let mut sent: u64 = 0;
    while let Some(part) = source.next(lines, PART_BYTES)? {
        let answer = target.import(&part)?;
        for (line, why) in answer.errors {
            if shown.len() < MOST_SHOWN {
                progress.say(&format!("line {line} is not imported: {why}"));
                shown.push((line, why));
            }
        }
        source.done(&part, answer.totals)?;
        sent += part.lines.len() as u64;
        progress.show(source.line(), source.offset());
        if let Some(rate) = args.rate {
            let due = Duration::from_secs_f64(sent as f64 / f64::from(rate));
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
    }
    progress.end();
    report(source.finish()?, &shown, args.output.json)
}

fn report(totals: Totals, shown: &[(u64, String)], as_json: bool) -> Outcome {
    let Totals { added, known, expired, refused } = totals;
    if as_json {
        let errors: Vec<_> = shown.iter().map(|(line, why)| json!({ "line": line, "text": why })).collect();
        print_json(&json!({
            "added": added, "known": known, "expired": expired, "refused": refused, "errors": errors,
        }))?;
    } else {
        print_line(&format!("added    {added}"))?;
        print_line(&format!("known    {known} (imported before, or here already)"))?;
        if expired > 0 {
            print_line(&format!("expired  {expired} messages that the site's retention would remove"))?;
        }
        print_line(&format!("refused  {refused}"))?;
    }
    match refused {
        0 => Ok(()),
        _ => Err(Trouble::new(format!("{refused} lines were not imported; all others are"))
            .remedy("correct these lines and import the file again; imported lines do not change")),
    }
}
