//! The metrics of a node with homes: its own, and those of its processes with the label `slot`. The processes listen on free ports, so a
//! scraper could not find them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::cluster::status_command::request;
use crate::run_file;

/// For the answers of all processes. A frozen one must not cost the metrics of the others.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the processes for their metrics, all at once. `pids`: the slot of each, and its process. A process that does not answer in time is left out.
pub(super) fn ask(pids: impl Iterator<Item = (u8, u32)>, token: &str) -> Vec<(u8, String)> {
    let nodes = run_file::running();
    let (sender, answers) = channel();
    for (slot, pid) in pids {
        let Some(node) = nodes.iter().find(|node| node.pid == pid) else { continue };
        let (http, token, sender) = (node.http_from_here(), token.to_owned(), sender.clone());
        // Its sockets have a time-out of their own.
        thread::spawn(move || {
            if let Ok((code, text)) = request(http, "GET /metrics", &token, "")
                && code == "200"
            {
                let _ = sender.send((slot, text));
            }
        });
    }
    drop(sender);
    let end = Instant::now() + PATIENCE;
    let mut texts: Vec<(u8, String)> =
        std::iter::from_fn(|| answers.recv_timeout(end.saturating_duration_since(Instant::now())).ok())
            .collect();
    texts.sort_unstable_by_key(|(slot, _)| *slot);
    texts
}

/// One text in Prometheus' format. All samples of a name are together, as the format wants it.
pub(super) fn merge(own: &str, of_slots: &[(u8, String)]) -> String {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let slots = of_slots.iter().map(|(slot, text)| (Some(*slot), text.as_str()));
    for (slot, text) in std::iter::once((None, own)).chain(slots) {
        let mut current = None;
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let name = comment.split(' ').nth(1).unwrap_or_default();
                let place = *places.entry(name).or_insert(families.len());
                if place == families.len() {
                    families.push(Family::default());
                }
                let family = &mut families[place];
                // The first text with this name describes it.
                if family.samples.is_empty() {
                    family.head.push(line);
                }
                current = Some(place);
            } else if let Some(family) = current.map(|place| &mut families[place]) {
                family.add(line, slot);
            }
        }
    }
    let mut out = String::new();
    for Family { head, samples } in families {
        head.iter().for_each(|line| out.extend([line, "\n"]));
        out.push_str(&samples);
    }
    out
}

/// The lines of one name.
#[derive(Default)]
struct Family<'t> {
    head: Vec<&'t str>,
    samples: String,
}

impl Family<'_> {
    fn add(&mut self, line: &str, slot: Option<u8>) {
        let end = line.find(['{', ' ']).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let written = match (slot, rest.strip_prefix('{')) {
            (None, _) => writeln!(self.samples, "{line}"),
            (Some(slot), Some(labels)) => writeln!(self.samples, "{name}{{slot=\"{slot}\",{labels}"),
            (Some(slot), None) => writeln!(self.samples, "{name}{{slot=\"{slot}\"}}{rest}"),
        };
        written.expect("a String takes everything");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_processes_have_their_slot_and_stand_together() {
        let own = "# HELP up Up.\n# TYPE up gauge\nup 1\n# HELP nodes Nodes.\n# TYPE nodes gauge\nnodes 2\n";
        let of = |value: u32| {
            format!(
                "# HELP up Up.\n# TYPE up gauge\nup {value}\n# HELP refused_total R.\n# TYPE refused_total counter\n\
                 refused_total{{code=\"a b\"}} {value}\nrefused_total{{code=\"c}}\"}} 9\n"
            )
        };
        assert_eq!(
            merge(own, &[(0, of(5)), (3, of(6))]),
            "# HELP up Up.\n# TYPE up gauge\nup 1\nup{slot=\"0\"} 5\nup{slot=\"3\"} 6\n\
             # HELP nodes Nodes.\n# TYPE nodes gauge\nnodes 2\n\
             # HELP refused_total R.\n# TYPE refused_total counter\n\
             refused_total{slot=\"0\",code=\"a b\"} 5\nrefused_total{slot=\"0\",code=\"c}\"} 9\n\
             refused_total{slot=\"3\",code=\"a b\"} 6\nrefused_total{slot=\"3\",code=\"c}\"} 9\n"
        );
        assert_eq!(merge(own, &[]), own);
    }
}
