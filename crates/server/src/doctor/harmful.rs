//! Harmful settings from recipes for many connections: in force, in a file, or requested.

use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;
use super::sysctl::Line;
use crate::need;

/// Why a value is harmful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Harm {
    pub(super) why: &'static str,
    /// The right value; None: remove the line.
    pub(super) better: Option<&'static str>,
}

/// A setting that does not depend on the number of connections.
struct Rule {
    key: &'static str,
    harms: fn(&str) -> bool,
    harm: Harm,
}

const RULES: [Rule; 4] = [
    Rule {
        key: "net.ipv4.tcp_tw_recycle",
        harms: |value| value != "0",
        harm: Harm {
            why: "it refused all but one member behind the same NAT address; Linux 4.12 removed it, so the line is an \
                  error there",
            better: None,
        },
    },
    Rule {
        key: "net.ipv4.tcp_tw_reuse",
        harms: |value| value == "1",
        harm: Harm {
            why: "it concerns only connections that this machine opens, and can confuse an old connection with a new \
                  one; 2 enables it on loopback, for a proxy or load generator",
            better: Some("2"),
        },
    },
    Rule {
        key: "net.ipv4.tcp_timestamps",
        harms: |value| value == "0",
        harm: Harm {
            why: "without timestamps the kernel can accept old segments (RFC 7323 §5), cannot reuse ports in TIME-WAIT, \
                  and loses the window scale with SYN cookies",
            better: Some("1"),
        },
    },
    Rule {
        key: "net.ipv4.tcp_syncookies",
        harms: |value| value == "0",
        harm: Harm {
            why: "then a flood of forged SYNs, or many members who reconnect, blocks all new connections",
            better: Some("1"),
        },
    },
];

pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.key)
}

/// None if it is not known as harmful.
pub(super) fn judge(key: &str, value: &str, plan: &Plan) -> Option<Harm> {
    if key == "net.ipv4.tcp_mem" {
        let pressure: u64 = value.split_whitespace().nth(1)?.parse().ok()?;
        let too_small = pressure < need::tcp_pages(plan.connections);
        return too_small.then_some(Harm {
            why: "too little for so many sockets: above the second mark the kernel shrinks all buffers, above the third \
                  it drops segments; the marks are pages, not bytes",
            better: None,
        });
    }
    RULES.iter().find(|rule| rule.key == key && (rule.harms)(value)).map(|rule| rule.harm)
}

/// Checks the settings in force.
pub(super) fn in_force(machine: &Machine, plan: &Plan) -> Vec<Finding> {
    let harmful = machine.settings.iter().filter_map(|(key, value)| {
        let harm = judge(key, value, plan)?;
        let finding =
            Finding::warn("tcp settings", format!("{key} = {value}"), harm.why, "restore the value");
        Some(finding.sysctl(key, harm.better.unwrap_or("0")))
    });
    let harmful: Vec<Finding> = harmful.collect();
    match (harmful.is_empty(), machine.settings.is_empty()) {
        (false, _) => harmful,
        (true, true) => vec![Finding::unknown("tcp settings", "the values of harmful settings")],
        (true, false) => vec![Finding::ok("tcp settings", "no harmful value is set")],
    }
}

/// Checks the files that are read at boot.
pub(super) fn in_files(lines: &[Line], plan: &Plan) -> Vec<Finding> {
    let harmful = lines.iter().filter_map(|line| Some((line, judge(&line.key, &line.value, plan)?)));
    let harmful = harmful.map(|(line, harm)| {
        let found = format!("{} says {} = {}", line.file.display(), line.key, line.value);
        let mend = match harm.better {
            None => "remove the line".to_owned(),
            Some(better) => format!("write {better}, or remove the line"),
        };
        Finding::warn("sysctl files", found, harm.why, mend)
    });
    harmful.collect()
}
