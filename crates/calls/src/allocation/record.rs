//! The record of a relay that moves to another process of this machine. Its socket and its client's connection travel beside it.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use edge::Handle;
use serde::{Deserialize, Serialize};

use super::{Allocation, Channel, Other, Permission, Wanted};
use crate::machine::{Client, RelayId, Shared};
use crate::stun::Transaction;
use crate::{RelayAddress, credentials};

/// A field that is added later has a default. It has no key: both processes have the secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct RelayRecord {
    slot: u32,
    generation: u32,
    client: ClientRecord,
    from: SocketAddr,
    name: Box<str>,
    transaction: Transaction,
    fingerprint: bool,
    lifetime: u32,
    expires_ms: u64,
    ends_ms: Option<u64>,
    bind: IpAddr,
    external: IpAddr,
    port: u16,
    /// Slot and generation of the relay of the other family.
    other: Option<(u32, u32)>,
    /// Each with the milliseconds that it has left.
    permissions: Vec<(IpAddr, u64)>,
    channels: Vec<(u16, SocketAddr, u64)>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum ClientRecord {
    Datagrams { listener: u8, from: SocketAddr },
    Stream(u64),
}

impl RelayRecord {
    /// None: it has no socket yet.
    pub(crate) fn of(relay: RelayId, allocation: &Allocation, now: Instant) -> Option<RelayRecord> {
        let left = |until: Instant| until.saturating_duration_since(now).as_millis() as u64;
        let client = match allocation.client {
            Client::Datagrams { listener, from } => ClientRecord::Datagrams { listener, from },
            Client::Stream(handle) => ClientRecord::Stream(handle.to_bits()),
        };
        let other = match allocation.other {
            Other::Is(other) => Some((other.slot, other.generation)),
            Other::None | Other::Refused(_) => None,
        };
        Some(RelayRecord {
            slot: relay.slot,
            generation: relay.generation,
            client,
            from: allocation.from,
            name: allocation.name.clone(),
            transaction: allocation.transaction,
            fingerprint: allocation.fingerprint,
            lifetime: allocation.lifetime,
            expires_ms: left(allocation.expires),
            ends_ms: allocation.ends.map(left),
            bind: allocation.address.bind,
            external: allocation.address.external,
            port: allocation.port?,
            other,
            permissions: allocation.permissions.iter().map(|it| (it.ip, left(it.until))).collect(),
            channels: allocation.channels.iter().map(|it| (it.number, it.peer, left(it.until))).collect(),
        })
    }

    pub(crate) fn relay(&self) -> RelayId {
        RelayId { slot: self.slot, generation: self.generation }
    }

    pub(crate) fn client(&self) -> Client {
        match self.client {
            ClientRecord::Datagrams { listener, from } => Client::Datagrams { listener, from },
            ClientRecord::Stream(bits) => Client::Stream(Handle::from_bits(bits)),
        }
    }

    /// None: a quota of this process is reached.
    pub(crate) fn into_allocation(self, shared: &Shared, now: Instant) -> Option<Allocation> {
        let until = |left_ms: u64| now + Duration::from_millis(left_ms);
        let owner = credentials::owner(&self.name)?;
        let mut allocation = Allocation::new(Wanted {
            client: self.client(),
            from: self.from,
            name: &self.name,
            key: shared.config().credentials.key(&self.name),
            share: shared.sites.open(owner, self.from.ip())?,
            transaction: self.transaction,
            fingerprint: self.fingerprint,
            lifetime: self.lifetime,
            expires: until(self.expires_ms),
            what_for: owner.what_for,
            ends: self.ends_ms.map(until),
            address: RelayAddress { bind: self.bind, external: self.external },
        });
        allocation.port = Some(self.port);
        allocation.other =
            self.other.map_or(Other::None, |(slot, generation)| Other::Is(RelayId { slot, generation }));
        let permission = |(ip, left): (IpAddr, u64)| Permission { ip, until: until(left) };
        allocation.permissions = self.permissions.into_iter().map(permission).collect();
        let channel = |(number, peer, left)| Channel { number, peer, until: until(left) };
        allocation.channels = self.channels.into_iter().map(channel).collect();
        Some(allocation)
    }
}
