//! Whether members connect through a proxy that is not in the settings.

use std::net::{Ipv4Addr, SocketAddr};

use super::finding::Finding;

/// Counts requests with a forwarding header from an address that is not in `web.trusted_proxies`.
pub(super) const COUNTED: &str = "kith_web_untrusted_forwarded_total";

/// Reads one metric of the running node; None without an answer.
pub(super) fn counted(node: SocketAddr, token: Option<&str>, figure: &str) -> Option<u64> {
    // A node on all addresses also listens on loopback.
    let address = if node.ip().is_unspecified() { (Ipv4Addr::LOCALHOST, node.port()).into() } else { node };
    load::metric(address, token, figure).map(|count| count as u64)
}

pub(super) fn judge(counted: u64) -> Finding {
    if counted == 0 {
        return Finding::ok("proxies", "no request came through a proxy that is not trusted");
    }
    Finding::warn(
        "proxies",
        format!("{counted} requests came through a proxy that is not in web.trusted_proxies"),
        "the node sees all clients of the proxy at one address, so all guests share one limit",
        "add your proxies to the setting; the node's log has the address of the first one. Headers from other \
         addresses are ignored",
    )
    .line("web.trusted_proxies = \"127.0.0.1\"")
}
