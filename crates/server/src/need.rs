//! Measured needs of members, for the doctor and the load tool.
//!
//! All figures are for silent members on 64-bit Linux 6.18, rounded up from the largest measurement with many members.

/// The kernel's bytes for one end of a connection: the socket with its file and its epoll entry. docs/capacity.md has 4.7 to 5.1 kB with
/// 15,000 members, 3.9 kB with 100,000 and 4.1 kB with a million.
pub(crate) const KERNEL: u64 = 5_100;

/// The node's bytes. docs/capacity.md has 366 to 485 bytes with 15,000 members, and 354 with a million.
pub(crate) const NODE: u64 = 500;
/// docs/capacity.md: 965 bytes with 15,000 members. With `tls_memory = "rustls"` it is 4,093.
pub(crate) const NODE_WITH_TLS: u64 = 1_000;

/// The bytes of `kith load` during the logins: 1,365 each with 6,000 members (one run, its largest RSS less that of a run with 1,000).
/// Later less: docs/capacity.md has 256 bytes with a million.
const GENERATOR: u64 = 1_400;
/// A connection with TLS took 4,622 bytes when rustls kept its state until the end.
const GENERATOR_WITH_TLS: u64 = 4_700;

/// The node itself, with the caches of its database.
pub(crate) const NODE_ITSELF: u64 = 64 << 20;

/// Descriptors of a node for other purposes than connections: database, listeners, logs, wake-ups.
pub(crate) const OTHER_DESCRIPTORS: u64 = 200;

/// Descriptors of the calls role, half for relays and half for connections. It is a quarter of the process' table, so that many calls
/// do not exclude members; with private tables, all of the workers' own.
pub(crate) fn for_calls(limit: u64, workers: u64, private: bool) -> u64 {
    if private { limit.saturating_sub(OTHER_DESCRIPTORS).saturating_mul(workers) } else { limit / 4 }
}

/// Most workers. The handle of a connection has space for 255 (`edge::Handle`).
pub(crate) const MOST_WORKERS: usize = 127;

/// Sockets per page, if half of them are full of traffic. Measured from `/proc/net/sockstat`: 30,003 silent sockets held 142 pages, which
/// are reserves of the cores. 2,003 sockets of 1,000 members who wrote as fast as they could held at most 1,682, 0.84 of a page each.
const SOCKETS_PER_PAGE: u64 = 2;

/// Bytes per member on the machine of the node.
pub(crate) fn of_node(tls: bool) -> u64 {
    KERNEL + if tls { NODE_WITH_TLS } else { NODE }
}

/// Bytes per member on the machine of the generator.
pub(crate) fn of_generator(tls: bool) -> u64 {
    KERNEL + if tls { GENERATOR_WITH_TLS } else { GENERATOR }
}

/// Pages that must fit below the value of `net.ipv4.tcp_mem` at which the kernel begins to shrink buffers.
pub(crate) fn tcp_pages(sockets: u64) -> u64 {
    sockets.div_ceil(SOCKETS_PER_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_same_figures() {
        let operate = include_str!("../../../docs/operate.md");
        let kb = |bytes: u64| format!("{:.1} kB", bytes as f64 / 1_000.0);
        let said = format!(
            "about {} of the kernel, and {} of the node, or {} with TLS",
            kb(KERNEL),
            kb(NODE),
            kb(NODE_WITH_TLS)
        );
        assert!(operate.contains(&said), "{said}");
        assert!(operate.contains("Half a page per connection") && SOCKETS_PER_PAGE == 2);
    }

    /// docs/capacity.md, the million: 4,072 bytes of the kernel for each end, 354 of the node, 256 of the generator.
    #[test]
    fn a_million_members_need_no_more_than_the_check_requires() {
        assert!(2 * 4_072 + 354 + 256 <= of_node(false) + of_generator(false));
        assert!(of_node(false) + of_generator(false) < 12_500, "16 GB are said to be enough");
    }
}
