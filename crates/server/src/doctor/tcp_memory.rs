//! The kernel's memory for TCP buffers: of all sockets together, and of one.

use super::finding::Finding;
use super::machine::Machine;
use super::plan::Plan;
use crate::need;

/// `low pressure max` in the kernel's own ratio: 3 : 4 : 6.
pub(super) fn tcp_mem(connections: u64) -> [u64; 3] {
    let pressure = need::tcp_pages(connections).div_ceil(4) * 4;
    [pressure / 4 * 3, pressure, pressure / 2 * 3]
}

pub(super) fn of_all(machine: &Machine, plan: &Plan) -> Finding {
    let Some([low, pressure, most]) = machine.tcp_mem else {
        return Finding::unknown("tcp memory", "net.ipv4.tcp_mem of the host");
    };
    let megabytes = |pages: u64| pages.saturating_mul(machine.page_size) >> 20;
    let found = format!(
        "tcp_mem {low} {pressure} {most} pages: {} MB before pressure, {} MB at most",
        megabytes(pressure),
        megabytes(most)
    );
    let needed = need::tcp_pages(plan.connections);
    if pressure >= needed {
        return Finding::ok("tcp memory", found);
    }
    let why = "above the second mark the kernel shrinks all buffers, above the third it drops segments; \
               the marks are pages, not bytes";
    let wanted = tcp_mem(plan.connections);
    let mend = format!("room for half a page per connection: {} MB before pressure", megabytes(wanted[1]));
    Finding::warn("tcp memory", found, why, mend)
        .fail_if(plan.asked && most < needed / 8)
        .sysctl("net.ipv4.tcp_mem", three(wanted))
}

/// Buffer sizes of one socket: least, initial, most.
pub(super) fn of_one(machine: &Machine, plan: &Plan) -> Finding {
    let (Some(read), Some(write)) = (machine.tcp_rmem, machine.tcp_wmem) else {
        return Finding::unknown("tcp buffers", "net.ipv4.tcp_rmem and tcp_wmem");
    };
    let found = format!("tcp_rmem {}, tcp_wmem {}", three(read), three(write));
    let small = |[least, begin, most]: [u64; 3], usual: [u64; 3]| {
        (least < PAGE || begin < SMALL || most < begin).then(|| {
            three([least.max(PAGE), if begin < SMALL { usual[1] } else { begin }, most.max(usual[2])])
        })
    };
    let narrow = "with a small window a frame of 64 KiB needs many round trips, and a silent socket needs no buffer \
                  anyway";
    let finding = Finding::warn("tcp buffers", found.clone(), narrow, "the kernel's own values");
    match (small(read, USUAL_READ), small(write, USUAL_WRITE)) {
        (None, None) => stalled(machine, plan, found, write),
        (read, write) => {
            let keys = [("net.ipv4.tcp_rmem", read), ("net.ipv4.tcp_wmem", write)];
            keys.into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .fold(finding, |finding, (key, value)| finding.sysctl(key, value))
        }
    }
}

/// Defaults of Linux, on a machine with enough memory (tcp(7)).
const USUAL_READ: [u64; 3] = [4_096, 131_072, 6_291_456];
const USUAL_WRITE: [u64; 3] = [4_096, 16_384, 4_194_304];
const PAGE: u64 = 4_096;
const SMALL: u64 = 16_384;
/// One client in this number does not read, and its send buffer is full until TCP_USER_TIMEOUT ends it.
const ONE_STALLED_IN: u64 = 100;
/// Less would slow down reading clients.
const LEAST_SEND_BUFFER: u64 = 131_072;

/// The shared pool is for reading clients.
fn stalled(machine: &Machine, plan: &Plan, found: String, write: [u64; 3]) -> Finding {
    let Some([.., most]) = machine.tcp_mem else { return Finding::ok("tcp buffers", found) };
    let pool = most.max(tcp_mem(plan.connections)[2]).saturating_mul(machine.page_size.max(1));
    let stalled = plan.connections.div_ceil(ONE_STALLED_IN);
    if write[2].saturating_mul(stalled) <= pool {
        return Finding::ok("tcp buffers", found);
    }
    let fits = pool / stalled;
    let largest = if fits < LEAST_SEND_BUFFER { LEAST_SEND_BUFFER } else { 1 << fits.ilog2() };
    if largest >= write[2] {
        return Finding::ok("tcp buffers", found);
    }
    Finding::warn(
        "tcp buffers",
        found,
        "a client that does not read can fill its send buffer; if one client in a hundred does so, these buffers use up \
         the memory",
        format!("send buffers so small that {stalled} full ones fit into {} MB", pool >> 20),
    )
    .sysctl("net.ipv4.tcp_wmem", three([write[0], write[1].min(largest), largest]))
}

fn three([first, second, third]: [u64; 3]) -> String {
    format!("{first} {second} {third}")
}
