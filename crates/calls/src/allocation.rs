//! One relay: its owner and its permitted peers.

mod record;

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use crate::credentials::For;
use crate::machine::{Client, RelayId};
use crate::meter::Share;
use crate::refusal::Refusal;
use crate::stun::Transaction;
use crate::{Key, RelayAddress};

pub(crate) use record::RelayRecord;

/// RFC 8656 §9.
const PERMISSION_LIFE: Duration = Duration::from_secs(300);
/// RFC 8656 §12.
const CHANNEL_LIFE: Duration = Duration::from_secs(600);

/// Most permissions of a client; a browser has one for each candidate of the other side.
const MOST_PERMISSIONS: usize = 64;
const MOST_CHANNELS: usize = 64;

pub(crate) struct Allocation {
    pub(crate) client: Client,
    /// Source address of the client's packets, as sent to the client.
    pub(crate) from: SocketAddr,
    /// The owner, and the key of its requests (RFC 8656 §5).
    pub(crate) name: Box<str>,
    pub(crate) key: Key,
    pub(crate) share: Share,
    /// Transaction of the request that created it: a repetition gets the same answer.
    pub(crate) transaction: Transaction,
    pub(crate) fingerprint: bool,
    pub(crate) lifetime: u32,
    pub(crate) expires: Instant,
    pub(crate) what_for: For,
    /// End of a network check; a refresh cannot exceed it.
    pub(crate) ends: Option<Instant>,
    pub(crate) address: RelayAddress,
    /// None until it has a socket.
    pub(crate) port: Option<u16>,
    pub(crate) other: Other,
    permissions: Vec<Permission>,
    channels: Vec<Channel>,
}

/// The relay of the other family: a dual allocation (RFC 8656 §7.2) is two linked ones, each with its own peers and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    /// Not requested, or ended.
    None,
    Is(RelayId),
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    pub(crate) fn of(ip: IpAddr) -> Family {
        if ip.is_ipv6() { Family::V6 } else { Family::V4 }
    }

    pub(crate) fn other(self) -> Family {
        match self {
            Family::V4 => Family::V6,
            Family::V6 => Family::V4,
        }
    }

    /// From the family byte of an attribute (RFC 8489 §14.1).
    pub(crate) fn numbered(value: &[u8]) -> Option<Family> {
        match value.first()? {
            1 => Some(Family::V4),
            2 => Some(Family::V6),
            _ => None,
        }
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Family::V4 => 1,
            Family::V6 => 2,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Permission {
    ip: IpAddr,
    until: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Channel {
    number: u16,
    peer: SocketAddr,
    until: Instant,
}

/// Why a channel or permission is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotBound {
    /// The number or the peer has another binding (RFC 8656 §12.2).
    Taken,
    TooMany,
}

/// The arguments of a new allocation.
pub(crate) struct Wanted<'a> {
    pub(crate) client: Client,
    pub(crate) from: SocketAddr,
    pub(crate) name: &'a str,
    pub(crate) key: Key,
    pub(crate) share: Share,
    pub(crate) transaction: Transaction,
    pub(crate) fingerprint: bool,
    pub(crate) lifetime: u32,
    pub(crate) expires: Instant,
    pub(crate) what_for: For,
    pub(crate) ends: Option<Instant>,
    pub(crate) address: RelayAddress,
}

impl Allocation {
    pub(crate) fn new(wanted: Wanted<'_>) -> Allocation {
        let Wanted { client, from, name, key, share, transaction, fingerprint, lifetime, .. } = wanted;
        let Wanted { expires, what_for, ends, address, .. } = wanted;
        Allocation {
            client,
            from,
            name: name.into(),
            key,
            share,
            transaction,
            fingerprint,
            lifetime,
            expires,
            what_for,
            ends,
            address,
            port: None,
            other: Other::None,
            permissions: Vec::new(),
            channels: Vec::new(),
        }
    }

    /// RFC 8656 §10.2: installs a permission or restarts its lifetime.
    pub(crate) fn permit(&mut self, ip: IpAddr, now: Instant) -> Result<(), NotBound> {
        let until = now + PERMISSION_LIFE;
        if let Some(permission) = self.permissions.iter_mut().find(|permission| permission.ip == ip) {
            permission.until = until;
            return Ok(());
        }
        self.permissions.retain(|permission| permission.until > now);
        if self.permissions.len() >= MOST_PERMISSIONS {
            return Err(NotBound::TooMany);
        }
        self.permissions.push(Permission { ip, until });
        Ok(())
    }

    /// RFC 8656 §12.2: binds, or restarts the lifetime of the same binding.
    pub(crate) fn bind(&mut self, number: u16, peer: SocketAddr, now: Instant) -> Result<(), NotBound> {
        self.channels.retain(|channel| channel.until > now);
        let until = now + CHANNEL_LIFE;
        let touched = self.channels.iter().position(|it| it.number == number || it.peer == peer);
        match touched.map(|index| (index, self.channels[index])) {
            Some((index, channel)) if channel.number == number && channel.peer == peer => {
                self.permit(peer.ip(), now)?;
                self.channels[index].until = until;
            }
            Some(_) => return Err(NotBound::Taken),
            None if self.channels.len() >= MOST_CHANNELS => return Err(NotBound::TooMany),
            None => {
                self.permit(peer.ip(), now)?;
                self.channels.push(Channel { number, peer, until });
            }
        }
        Ok(())
    }

    pub(crate) fn peer_of(&self, number: u16, now: Instant) -> Option<SocketAddr> {
        let channel = self.channels.iter().find(|channel| channel.number == number && channel.until > now)?;
        Some(channel.peer)
    }

    pub(crate) fn channel_of(&self, peer: SocketAddr, now: Instant) -> Option<u16> {
        let channel = self.channels.iter().find(|channel| channel.peer == peer && channel.until > now)?;
        Some(channel.number)
    }

    /// A peer may send if its address is permitted, from any port (RFC 8656 §9). A peer with a channel may, too. A client that refreshes
    /// the channel wants the peer, and some clients do not refresh the permission, which ends earlier.
    pub(crate) fn permits(&self, ip: IpAddr, now: Instant) -> bool {
        self.permissions.iter().any(|permission| permission.ip == ip && permission.until > now)
    }

    pub(crate) fn family(&self) -> Family {
        Family::of(self.address.external)
    }

    /// It has a socket and has not expired.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        self.expires > now && self.port.is_some()
    }

    /// The relayed address for peers and client. None until it has a socket.
    pub(crate) fn relayed(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.address.external, self.port?))
    }
}
