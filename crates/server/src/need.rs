//! What members need of a machine, as measured: the doctor and the load tool judge by these figures and by no others.
//!
//! All are of silent members on Linux 6.18 with 64 bits, and rounded up from the most that was measured with many of them.

/// Of one end of a connection, in the kernel: the socket with its file and its epoll entry. docs/capacity.md has 4.7 to 5.1 kB
/// with 15,000 members, docs/capacity.md 3.9 kB with 100,000 and 4.1 kB with a million.
pub(crate) const KERNEL: u64 = 5_100;

/// In the node. docs/capacity.md has 366 to 485 bytes with 15,000 members, and 354 with a million.
pub(crate) const NODE: u64 = 500;
/// docs/capacity.md: 3,872 bytes with 15,000 members.
pub(crate) const NODE_WITH_TLS: u64 = 3_900;

/// In `kith load`, while the member comes: of 6,000 the most was 1,365 bytes each (one run, the most RSS of it less that of
/// one with 1,000). Later less: docs/capacity.md has 256 bytes with a million.
const GENERATOR: u64 = 1_400;
/// Likewise, 4,622 bytes.
const GENERATOR_WITH_TLS: u64 = 4_700;

/// The node itself, with the caches of its database.
pub(crate) const NODE_ITSELF: u64 = 64 << 20;

/// Descriptors of a node that are no connections: database, listeners, logs, wake-ups.
pub(crate) const OTHER_DESCRIPTORS: u64 = 200;

/// Descriptors of the calls role, half of them for relays and half for connections: a quarter of the process' where they come out of
/// its table, so that a rush of calls does not turn members away; else all of the workers' own.
pub(crate) fn for_calls(limit: u64, workers: u64, private: bool) -> u64 {
    if private { limit.saturating_sub(OTHER_DESCRIPTORS).saturating_mul(workers) } else { limit / 4 }
}

/// More workers are refused. The handle of a connection has room for 255 of them (`edge::Handle`).
pub(crate) const MOST_WORKERS: usize = 127;

/// Sockets of which half may be full of traffic at a time. Measured from `/proc/net/sockstat`: 30,003 silent sockets held
/// 142 pages, which are reserves of the cores; 2,003 of 1,000 members who wrote to each other as fast as they could held
/// at most 1,682, which is 0.84 of a page each.
const SOCKETS_PER_PAGE: u64 = 2;

/// Bytes on the machine of the node, for each member.
pub(crate) fn of_node(tls: bool) -> u64 {
    KERNEL + if tls { NODE_WITH_TLS } else { NODE }
}

/// Bytes on the machine of the generator, for each member.
pub(crate) fn of_generator(tls: bool) -> u64 {
    KERNEL + if tls { GENERATOR_WITH_TLS } else { GENERATOR }
}

/// Pages that must fit below the mark of `net.ipv4.tcp_mem` where the kernel begins to make buffers smaller.
pub(crate) fn tcp_pages(sockets: u64) -> u64 {
    sockets.div_ceil(SOCKETS_PER_PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_say_the_same() {
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
    fn a_million_members_need_no_more_than_is_asked_for() {
        assert!(2 * 4_072 + 354 + 256 <= of_node(false) + of_generator(false));
        assert!(of_node(false) + of_generator(false) < 12_500, "16 GB are said to be enough");
    }
}
