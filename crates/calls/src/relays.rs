//! The sockets of relays: one for each, on a port of its own.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::ops::RangeInclusive;

use ring::rand::{SecureRandom, SystemRandom};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{RelayAddress, RelayId};

/// Ports tried for one relay. With nine of ten ports in use, one in forty relays finds none.
const TRIES: usize = 32;

pub(crate) struct Relays {
    ports: RangeInclusive<u16>,
    random: SystemRandom,
    /// By slot of the machine.
    sockets: Vec<Option<Relay>>,
    /// With a NAT in front: the external address, and ours.
    behind: Vec<(IpAddr, IpAddr)>,
}

pub(crate) struct Relay {
    pub(crate) id: RelayId,
    pub(crate) socket: UdpSocket,
    pub(crate) is_ipv6: bool,
}

impl Relays {
    pub(crate) fn new(ports: RangeInclusive<u16>, addresses: &[RelayAddress]) -> Relays {
        let behind = addresses.iter().filter(|it| it.bind != it.external && !it.bind.is_unspecified());
        Relays {
            ports,
            random: SystemRandom::new(),
            sockets: Vec::new(),
            behind: behind.map(|it| (it.external, it.bind)).collect(),
        }
    }

    /// RFC 8656 §7.2: binds a random port. Returns it.
    pub(crate) fn open(&mut self, id: RelayId, address: RelayAddress, even: bool) -> io::Result<u16> {
        let mut tries = TRIES;
        let (socket, port) = loop {
            let port = self.port(even)?;
            match bind(SocketAddr::new(address.bind, port)) {
                Ok(socket) => break (socket, port),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 1 => tries -= 1,
                Err(error) => return Err(error),
            }
        };
        self.insert(Relay { id, socket, is_ipv6: address.bind.is_ipv6() });
        Ok(port)
    }

    pub(crate) fn insert(&mut self, relay: Relay) {
        let index = relay.id.slot as usize;
        if self.sockets.len() <= index {
            self.sockets.resize_with(index + 1, || None);
        }
        self.sockets[index] = Some(relay);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.sockets.iter().flatten()
    }

    pub(crate) fn close_all(&mut self) {
        self.sockets.clear();
    }

    pub(crate) fn close(&mut self, id: RelayId) {
        if let Some(place) = self.sockets.get_mut(id.slot as usize)
            && place.as_ref().is_some_and(|relay| relay.id == id)
        {
            *place = None;
        }
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Relay> {
        self.sockets.get(slot as usize)?.as_ref()
    }

    /// The real address of a peer behind the NAT's external address: another relay of this node.
    pub(crate) fn inward(&self, peer: SocketAddr) -> SocketAddr {
        match self.behind.iter().find(|(external, _)| *external == peer.ip()) {
            Some((_, ours)) if self.ports.contains(&peer.port()) => SocketAddr::new(*ours, peer.port()),
            _ => peer,
        }
    }

    /// The external address of a peer that is one of our relays.
    pub(crate) fn outward(&self, peer: SocketAddr) -> SocketAddr {
        match self.behind.iter().find(|(_, ours)| *ours == peer.ip()) {
            Some((external, _)) if self.ports.contains(&peer.port()) => {
                SocketAddr::new(*external, peer.port())
            }
            _ => peer,
        }
    }

    fn port(&self, even: bool) -> io::Result<u16> {
        let mut chance = [0; 4];
        self.random.fill(&mut chance).map_err(|_| io::Error::other("the system gives no random numbers"))?;
        let (first, count) =
            (*self.ports.start(), u32::from(self.ports.end().saturating_sub(*self.ports.start())) + 1);
        let port = first.saturating_add((u32::from_be_bytes(chance) % count) as u16);
        Ok(if even && port % 2 == 1 { (port - 1).max(first) } else { port })
    }
}

/// A non-blocking socket of one family only.
pub(crate) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = unbound(address)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

pub(crate) fn unbound(address: SocketAddr) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    // One system call on Linux, three elsewhere.
    #[cfg(target_os = "linux")]
    let socket = Socket::new(domain, Type::DGRAM.nonblocking(), Some(Protocol::UDP))?;
    #[cfg(not(target_os = "linux"))]
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    #[cfg(not(target_os = "linux"))]
    socket.set_nonblocking(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: RelayAddress = RelayAddress { bind: LOOPBACK, external: LOOPBACK };
    const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn id(slot: u32, generation: u32) -> RelayId {
        RelayId { slot, generation }
    }

    #[test]
    fn each_relay_has_a_port_of_the_range_and_gives_it_back() {
        let mut relays = Relays::new(42_000..=42_999, &[HERE]);
        let port = relays.open(id(3, 1), HERE, false).unwrap();
        assert!((42_000..=42_999).contains(&port));
        assert_eq!(relays.get(3).unwrap().socket.local_addr().unwrap().port(), port);
        relays.close(id(3, 0));
        assert!(relays.get(3).is_some(), "another's of the same slot");
        relays.close(id(3, 1));
        assert!(relays.get(3).is_none() && relays.get(9).is_none());
        assert_eq!(relays.open(id(0, 1), HERE, true).unwrap() % 2, 0);
    }

    #[test]
    fn without_a_free_port_a_connection_fails() {
        let taken = UdpSocket::bind((LOOPBACK, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let mut relays = Relays::new(port..=port, &[HERE]);
        assert_eq!(relays.open(id(0, 0), HERE, false).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn behind_a_nat_our_own_relays_are_reached_without_it() {
        let address = |text: &str| text.parse().unwrap();
        let behind = RelayAddress { bind: address("10.0.0.5"), external: address("198.51.100.7") };
        let relays = Relays::new(50_000..=60_000, &[behind]);
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        assert_eq!(relays.inward(at("198.51.100.7:50001")), at("10.0.0.5:50001"));
        assert_eq!(relays.outward(at("10.0.0.5:50001")), at("198.51.100.7:50001"));
        assert_eq!(relays.inward(at("198.51.100.7:53")), at("198.51.100.7:53"), "no relay");
        assert_eq!(relays.outward(at("10.0.0.6:50001")), at("10.0.0.6:50001"));
    }
}
