//! Incoming connections: ports, the queues in front of `accept`, the table of the firewall.

use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;

/// About the default of the kernel.
const USUAL_PORTS: u64 = 28_000;
/// Ports below are left to services that people start.
const WIDE_RANGE: (u64, u64) = (10_240, 65_535);
/// The backlog that `edge` requests; more has no effect.
const BACKLOG: u64 = 4_096;
/// One connection in this number has a packet in flight at the same moment. An estimate: the usual queue of 1,000 overflowed on
/// loopback with a million connections (docs/capacity.md).
const ONE_PACKET_IN: u64 = 64;
/// The kernel's default queue, the smallest useful value.
const USUAL_PACKETS: u64 = 1_000;

/// A connection to one address of a node uses up a port of the address that it comes from. Members have their own; a
/// proxy or a load generator has one for all.
pub(super) fn ports(machine: &Machine, plan: &Plan) -> Finding {
    let Some((first, last)) = machine.port_range else {
        return Finding::unknown("port range", "net.ipv4.ip_local_port_range");
    };
    let ports = (last + 1).saturating_sub(first);
    let addresses = plan.connections.div_ceil(ports.max(1));
    let found = format!("{first} to {last}: {ports} connections of one proxy or generator from one address");
    let wide = WIDE_RANGE.1 + 1 - WIDE_RANGE.0;
    let why =
        "each connection of a proxy, or of a load generator on this machine, needs a port of its own address";
    if plan.behind_proxy && addresses > 1 {
        let finding = Finding::warn(
            "port range",
            found,
            why,
            format!(
                "give the proxy {} source addresses, in nginx by split_clients and proxy_bind; on loopback \
                 127.0.0.1 to 127.0.0.{} exist already",
                plan.connections.div_ceil(ports.max(wide)),
                plan.connections.div_ceil(ports.max(wide)).min(254)
            ),
        );
        return if ports < wide { widen(finding) } else { finding };
    }
    if ports < USUAL_PORTS {
        return widen(Finding::warn("port range", found, why, "widen the range"));
    }
    Finding::ok("port range", found)
}

fn widen(finding: Finding) -> Finding {
    finding.sysctl("net.ipv4.ip_local_port_range", format!("{} {}", WIDE_RANGE.0, WIDE_RANGE.1))
}

/// Two queues: connections in the TCP handshake, and connections that wait for `accept`.
pub(super) fn backlog(machine: &Machine) -> Finding {
    let Some(somaxconn) = machine.somaxconn else {
        return Finding::unknown("backlog", "net.core.somaxconn");
    };
    let syn = machine.syn_backlog;
    let found = format!(
        "somaxconn {somaxconn}, tcp_max_syn_backlog {}",
        syn.map_or("unknown".into(), |syn| syn.to_string())
    );
    let small = [("net.core.somaxconn", Some(somaxconn)), ("net.ipv4.tcp_max_syn_backlog", syn)]
        .into_iter()
        .filter(|(_, most)| most.is_some_and(|most| most < BACKLOG));
    let small: Vec<&str> = small.map(|(key, _)| key).collect();
    if small.is_empty() {
        return Finding::ok("backlog", found);
    }
    let why = "when many members reconnect at once, those above the limit must retry a second later";
    let mend = "longer queues; the node asks for 4096 when it starts";
    small.into_iter().fold(Finding::warn("backlog", found, why, mend), |finding, key| {
        finding.sysctl(key, BACKLOG.to_string())
    })
}

/// Packets between their arrival and the kernel's processing, for each core. On loopback, with a proxy or generator on this machine, all
/// packets pass this queue; from a network card only if they are spread over the cores (RPS).
pub(super) fn packets(machine: &Machine, plan: &Plan) -> Finding {
    let Some(most) = machine.netdev_max_backlog else {
        return Finding::unknown("packet queue", "net.core.netdev_max_backlog");
    };
    let dropped =
        machine.packets_dropped.map_or(String::new(), |dropped| format!(", {dropped} dropped since boot"));
    let found = format!("netdev_max_backlog {most}{dropped}");
    let needed = (plan.connections / ONE_PACKET_IN).max(USUAL_PACKETS);
    if most >= needed {
        return Finding::ok("packet queue", found);
    }
    let why = "bursts of packets wait there for their core, and so do all packets of a proxy or load generator on this \
               machine; the kernel drops the excess, and the sender repeats it 0.2 s later";
    Finding::warn("packet queue", found, why, "a longer queue; it takes memory only while packets wait")
        .sysctl("net.core.netdev_max_backlog", needed.next_power_of_two().to_string())
}

/// None without a firewall that tracks connections.
pub(super) fn conntrack(machine: &Machine, plan: &Plan) -> Option<Finding> {
    let most = machine.conntrack_max?;
    let count = machine.conntrack_count.unwrap_or(0);
    let idle = if count == 0 { ", so no rule seems to need it" } else { "" };
    let found = format!("nf_conntrack_max {most}, {count} in use{idle}");
    // Ended connections stay in the table for two minutes (nf_conntrack_tcp_timeout_time_wait), so all may reconnect once
    // meanwhile.
    let needed = plan.connections * 2;
    Some(if most >= needed {
        Finding::ok("conntrack", found)
    } else {
        Finding::warn(
            "conntrack",
            found,
            "the firewall keeps an entry for each connection until two minutes after its end; when its table is full, \
             the kernel drops packets of new connections",
            "a larger table, or none for the node's port: nft rules with `notrack`. The module must be loaded before the \
             file is read at boot:",
        )
        .fail_if(plan.asked && count > 0 && most < plan.connections)
        .line("echo nf_conntrack > /etc/modules-load.d/kith.conf")
        .sysctl("net.netfilter.nf_conntrack_max", needed.next_power_of_two().to_string())
    })
}
