//! Settings of the calls role.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use edge::{AddressLimit, Listener};

use crate::Credentials;

/// Whether the call of these credentials exists, with the user in it. It may lock, but must not block on I/O.
pub type IsLive = Arc<dyn Fn(CallOf) -> bool + Send + Sync>;

/// A user's place in a call, by the numbers in a name. `call`: None for any call of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallOf {
    pub site: u32,
    pub user: u32,
    pub call: Option<u64>,
}

/// Whether data may be relayed to an address. It has no default, because permitting every address would open the network behind us.
pub type MayRelay = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct CallsConfig {
    /// Addresses for datagrams; port 0 lets the system choose. List each address of a machine with several: answers from a wildcard
    /// address leave from the one that the system prefers.
    pub udp: Vec<SocketAddr>,
    /// Another process may listen on `udp`, too: one that this one replaces, and that will end.
    pub shares_ports: bool,
    /// TCP and TLS.
    pub streams: Vec<Listener>,
    /// Only the first of each family is used. A family without one has no relays.
    pub relays: Vec<RelayAddress>,
    /// Range of relay ports.
    pub ports: RangeInclusive<u16>,
    pub credentials: Credentials,
    pub may_relay: MayRelay,
    pub is_live: IsLive,
    pub quotas: Quotas,
    /// Bytes per second and address by which answers to unproven sources may exceed their requests. 0: no limit.
    pub excess_bytes_per_second: u64,
    /// Connections over TCP and TLS.
    pub max_connections: usize,
    /// Connections of one address.
    pub per_address: Option<AddressLimit>,
    /// A descriptor table for each worker (`EdgeConfig::private_descriptor_tables`), for more relays than the limit of the process.
    pub private_descriptors: bool,
}

/// Addresses of the relays of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayAddress {
    /// The address to which sockets are bound.
    pub bind: IpAddr,
    /// The address for clients: the same, or that of a NAT that keeps ports.
    pub external: IpAddr,
}

/// 0: no limit, everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Most relays of this node at one time.
    pub relays: u32,
    /// Limits of a user, of an address (IPv6: a /64), and of a site.
    pub user_relays: u32,
    pub address_relays: u32,
    pub site_relays: u32,
    pub user_bytes_per_second: u64,
    pub address_bytes_per_second: u64,
    pub site_bytes_per_second: u64,
}

impl Default for Quotas {
    fn default() -> Quotas {
        Quotas {
            relays: 10_000,
            user_relays: 40,
            address_relays: 0,
            site_relays: 0,
            user_bytes_per_second: 2_500_000,
            address_bytes_per_second: 0,
            site_bytes_per_second: 0,
        }
    }
}

impl fmt::Debug for CallsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallsConfig")
            .field("udp", &self.udp)
            .field("relays", &self.relays)
            .finish_non_exhaustive()
    }
}
