//! Checks before the first member connects.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use load::RunOptions;
use load::target::Transport;

use super::progress;
use crate::doctor::Machine;
use crate::need;
use crate::question::is_answered_yes;
use crate::trouble::{Outcome, Trouble};

const REACH_PATIENCE: Duration = Duration::from_secs(5);
const PORTS_PATIENCE: Duration = Duration::from_secs(70);
/// The load uses no more than this, because other programs grow too.
const MOST_PERCENT: u64 = 90;

/// Checks before a node is started for the run, because filling its database may take minutes.
pub(super) fn room(members: u32, tls: bool) -> Outcome {
    let machine = Machine::read(None);
    enough_memory(members, tls, true, machine.room())?;
    if let Some(warning) = little_tcp_memory(&machine, members) {
        progress(&warning);
    }
    Ok(())
}

/// `own`: the node is one of ours, and has as many tables of descriptors as it needs.
pub(super) fn check(
    options: &RunOptions,
    transport: Option<Transport>,
    members: u32,
    own: bool,
    yes: bool,
) -> Outcome {
    may_go_there(options, yes)?;
    reachable(options)?;
    let local = options.target.addr.ip().is_loopback();
    enough_memory(members, options.target.tls, local, Machine::read(None).room())?;
    let server = options.server.filter(|_| local && !own);
    if let Some(warning) = server.and_then(|pid| few_descriptors(&Machine::read(Some(pid)), members)) {
        progress(&warning);
    }
    load::try_login(options, transport).map_err(|error| {
        Trouble::new(format!("a member could not log in at {} in the name of the site {}", options.target.host, options.site))
            .because(error)
            .remedy(
                "for `bad_token`: the secret is not that of the site; --secret-file FILE brings the right one, \
                 `kith site rotate-secret` makes a new one\nfor `no_such_site`: `kith site list` names the sites; --site KEY",
            )
    })
}

/// A load may go to another machine only if the user confirms it.
fn may_go_there(options: &RunOptions, yes: bool) -> Outcome {
    let host = &options.target.host;
    let asked = || is_answered_yes(&format!("{host} is another machine. Send load to it?"));
    if yes || options.target.addr.ip().is_loopback() || asked() {
        return Ok(());
    }
    Err(Trouble::new(format!("nothing was sent to {host}"))
        .because("it is not on this machine, and the run was not confirmed")
        .remedy("if the machine is yours, add --yes"))
}

fn reachable(options: &RunOptions) -> Outcome {
    let begin = Instant::now();
    let mut said = false;
    loop {
        match TcpStream::connect_timeout(&options.target.addr, REACH_PATIENCE) {
            // Closed connections of an earlier run keep their ports for a minute (TIME-WAIT, RFC 9293 §3.6.1).
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable && begin.elapsed() < PORTS_PATIENCE => {
                if !said {
                    progress("waiting for free ports, up to 70 s");
                }
                said = true;
                thread::sleep(Duration::from_secs(1));
            }
            reached => {
                return reached.map(drop).map_err(|error| {
                    Trouble::new(format!("no node answers at {}", options.target.addr)).because(error).remedy(
                        "start the node, or correct --url; without --url, the command starts its own node",
                    )
                });
            }
        }
    }
}

/// `local`: the node's ends of the connections are on this machine too.
fn enough_memory(members: u32, tls: bool, local: bool, room: Option<u64>) -> Outcome {
    let each = need::of_generator(tls) + if local { need::of_node(tls) } else { 0 };
    let needed = u64::from(members) * each;
    match room {
        Some(room) if needed > room / 100 * MOST_PERCENT => {
            let most = room / 100 * MOST_PERCENT / each;
            Err(Trouble::new(format!("too little memory for {members} members"))
                .because(format!("they need about {} MB, and {} MB are free", needed >> 20, room >> 20))
                .remedy(format!("use at most {most} members, or stop other programs first")))
        }
        _ => Ok(()),
    }
}

/// A node with a table per worker has more descriptors than its limit says, so this is no reason to refuse.
fn few_descriptors(node: &Machine, members: u32) -> Option<String> {
    let limit = node.soft_descriptors?;
    (limit < u64::from(members)).then(|| {
        format!(
            "warning: the node may open {limit} descriptors, and {members} members want to come: raise its limit \
             (`kith doctor` says how) or start it with --private-descriptors and more --workers"
        )
    })
}

/// For both ends of all connections, if each has data in flight.
fn little_tcp_memory(machine: &Machine, members: u32) -> Option<String> {
    let [_, pressure, _] = machine.tcp_mem?;
    let needed = need::tcp_pages(u64::from(members) * 2);
    (pressure < needed).then(|| {
        format!(
            "warning: TCP gets short of memory at {pressure} pages (net.ipv4.tcp_mem), and {members} connections with \
             data on their way on both ends take {needed}: silent ones take none, so most runs go through; `kith doctor \
             --connections {members}` says what to set"
        )
    })
}

#[cfg(test)]
mod tests {
    use load::target::Target;

    use super::*;

    #[test]
    fn too_little_memory_is_an_error_with_the_possible_number() {
        assert!(enough_memory(15_000, false, true, Some(1 << 30)).is_ok());
        assert!(enough_memory(1_000_000, false, true, None).is_ok());
        let trouble = enough_memory(1_000_000, false, true, Some(1 << 30)).expect_err("12 GB in 1 GB");
        assert!(trouble.to_string().contains("try: use at most 79865 members"), "{trouble}");
        assert!(enough_memory(140_000, false, false, Some(1 << 30)).is_ok(), "the node is elsewhere");
        assert!(enough_memory(70_000, true, true, Some(1 << 30)).is_err(), "TLS needs more");
    }

    #[test]
    fn shortages_of_the_machine_are_reported() {
        let mut small = Machine::default();
        (small.soft_descriptors, small.tcp_mem) = (Some(1_024), Some([750, 1_000, 1_500]));
        assert_eq!(few_descriptors(&small, 1_024), None);
        assert!(few_descriptors(&small, 1_025).is_some_and(|text| text.contains("--private-descriptors")));
        assert_eq!(little_tcp_memory(&small, 1_000), None);
        assert!(little_tcp_memory(&small, 1_001).is_some_and(|text| text.contains("take 1001:")));
        assert_eq!(little_tcp_memory(&Machine::default(), 1_000_000), None, "it cannot be seen");
    }

    #[test]
    fn other_machines_only_on_purpose() {
        let elsewhere = RunOptions::new(Target::parse("http://192.0.2.1").expect("a URL"), "demo", b"secret");
        assert!(may_go_there(&elsewhere, true).is_ok());
        let here = RunOptions::new(Target::parse("http://127.0.0.1").expect("a URL"), "demo", b"secret");
        assert!(may_go_there(&here, false).is_ok());
    }
}
