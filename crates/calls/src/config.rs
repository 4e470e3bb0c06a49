//! What an operator may set of the calls role.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;

use edge::{AddressLimit, Listener};

use crate::Credentials;

/// Whether a call that credentials were made for is still there, and its user in it. May lock, must not wait.
pub type IsLive = Arc<dyn Fn(CallOf) -> bool + Send + Sync>;

/// A user's part in a call, by the numbers in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallOf {
    pub site: u32,
    pub user: u32,
    pub call: u64,
}

/// Whether data may be relayed to an address. There is no default: an answer that is always yes opens the network behind us.
pub type MayRelay = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct CallsConfig {
    /// Where datagrams are taken; port 0 lets the system choose. A machine with several addresses names each: answers to what
    /// comes to a wildcard leave from the address that the system prefers.
    pub udp: Vec<SocketAddr>,
    /// TCP and TLS.
    pub streams: Vec<Listener>,
    /// Of each family at most one counts. Without one, its relays are refused.
    pub relays: Vec<RelayAddress>,
    /// Of which relays get theirs.
    pub ports: RangeInclusive<u16>,
    pub credentials: Credentials,
    pub may_relay: MayRelay,
    pub is_live: IsLive,
    pub quotas: Quotas,
    /// Bytes per second and address by which answers to unproven sources may be longer than their questions. 0: no limit.
    pub excess_bytes_per_second: u64,
    /// Connections over TCP and TLS.
    pub max_connections: usize,
    /// Of them, those of one address.
    pub per_address: Option<AddressLimit>,
    /// A table of descriptors for each worker (`EdgeConfig::private_descriptor_tables`): relays beyond the limit of the process.
    pub private_descriptors: bool,
}

/// Where relays of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RelayAddress {
    /// The address to which sockets are bound.
    pub bind: IpAddr,
    /// The address that clients get: the same, or that of a NAT in front which keeps ports.
    pub told: IpAddr,
}

/// 0: no limit, everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// Relays of this node at one time.
    pub relays: u32,
    /// Of a user, of an address (an IPv6 /64 is one), and of a site.
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
