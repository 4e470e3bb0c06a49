//! Requirements for the machine: the number of connections, and how the node will hold them.

use crate::calls;
use crate::config::Config;

use super::machine::Machine;

/// Default number of connections for a check.
const FEW_CONNECTIONS: u64 = 10_000;

#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) connections: u64,
    /// The operator has named the number, so an impossible one is a failure instead of a warning.
    pub(super) asked: bool,
    pub(super) tls: bool,
    pub(super) workers: u64,
    pub(super) private_descriptors: bool,
    /// Relays of calls at one time; 0: as many as fit. None: Kith relays none.
    pub(super) relays: Option<u64>,
    /// Members come through a proxy, perhaps on this machine.
    pub(super) behind_proxy: bool,
}

impl Plan {
    pub(super) fn new(config: &Config, asked: Option<u32>, machine: &Machine) -> Plan {
        let connections = match (asked, config.edge.max_connections) {
            (Some(asked), _) => u64::from(asked),
            (None, 0) => FEW_CONNECTIONS,
            (None, most) => u64::from(most),
        };
        let workers = match config.edge.workers {
            0 => machine.cores.max(1),
            workers => workers as u64,
        };
        Plan {
            connections,
            asked: asked.is_some(),
            tls: config.https.is_some(),
            workers,
            private_descriptors: config.edge.private_descriptors,
            // Wrong settings are reported by the start of the node.
            relays: calls::is_wanted(config).unwrap_or(false).then_some(config.calls.relays.into()),
            behind_proxy: config.web.trusted_proxies != Default::default(),
        }
    }
}
