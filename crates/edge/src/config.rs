//! Settings of the connection layer, with defaults for a small machine.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::AddressLimit;
use crate::listen::{self, Reservation};
use crate::tls;

/// Where to listen.
#[derive(Debug, Clone)]
pub struct Listener {
    /// Port 0 lets the system choose; see `Edge::local_addrs`.
    pub addr: SocketAddr,
    /// With it, a first byte of 0x16 begins TLS (RFC 8446 §5.1); anything else is plain.
    pub tls: Option<tls::Acceptor>,
    /// Plain connections are closed at once.
    pub require_tls: bool,
    pub(crate) reserved: Option<Reservation>,
}

impl Listener {
    pub fn plain(addr: SocketAddr) -> Listener {
        Listener { addr, tls: None, require_tls: false, reserved: None }
    }

    /// Accepts TLS connections only.
    pub fn tls(addr: SocketAddr, tls: tls::Acceptor) -> Listener {
        Listener { tls: Some(tls), require_tls: true, ..Listener::plain(addr) }
    }

    /// Accepts plain and TLS connections on one port.
    pub fn both(addr: SocketAddr, tls: tls::Acceptor) -> Listener {
        Listener { tls: Some(tls), ..Listener::plain(addr) }
    }

    /// Shares this address with a process that this one replaces ([`Edge::succeed`](crate::Edge::succeed)).
    pub fn join(&mut self, addr: SocketAddr) {
        self.addr = addr;
        self.reserved = Some(Reservation::joined(addr));
    }

    /// Binds the address now, before `Edge::start`, so that no other process can listen there. Fails if one does. Connections before
    /// `Edge::start` get no answer.
    pub fn reserve(&mut self) -> io::Result<()> {
        let reservation = listen::reserve(self.addr)?;
        self.addr = reservation.addr();
        self.reserved = Some(reservation);
        Ok(())
    }
}

/// How output is divided into TLS records. Boundaries have no meaning by RFC 8446 §5.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// As few as possible: all output of one turn is sent together.
    Full,
    /// One for each send, up to the largest size: for peers that treat a record as a message.
    PerSend,
}

#[derive(Debug, Clone)]
pub struct EdgeConfig {
    pub listeners: Vec<Listener>,
    /// Of all workers together; further connections are accepted, closed at once, and counted. Default 1,000,000.
    pub max_connections: usize,
    /// Connections per address. Default None: no limit.
    pub per_address: Option<AddressLimit>,
    /// New connections per listener and loop turn, so that a burst does not delay existing connections. Default 64.
    pub accepts_per_turn: usize,
    /// TLS handshakes in progress per worker; further ones wait unread. Default 1,024.
    pub handshakes_in_flight: usize,
    /// TLS handshakes that a worker begins per loop turn: each costs a signature. Default 16.
    pub handshakes_per_turn: usize,
    /// Time limit for the first byte and for a finished handshake. Default 10 s.
    pub first_byte_timeout: Duration,
    /// Received bytes that the protocol has not consumed; more closes the connection. Default 128 KiB.
    pub input_limit: usize,
    /// Pending output above which `Protocol::drained` is called once it is empty again. Default 64 KiB.
    pub output_soft_limit: usize,
    /// Pending output above which the connection is closed. Default 1 MiB.
    pub output_limit: usize,
    /// Memory for pending output of all connections, an equal share for each worker. Above it the connections with the most pending
    /// output have to [`reclaim`](crate::Protocol::reclaim) it. Checked every 200 ms. Encrypted bytes, at most 36 KiB per TLS
    /// connection, are not included. Default 256 MiB.
    pub output_memory: usize,
    /// How long a closing connection may take to flush, and then to close its own side. Default 5 s.
    pub linger: Duration,
    /// Unused buffers that a worker keeps for reuse. Default 256 KiB.
    pub pool_limit: usize,
    /// A descriptor table per worker thread, so that the limit of open files counts per worker (Linux only). A worker's thread has the
    /// same descriptors as other threads only if they were open before `Edge::start` and are not internet sockets. So start runtimes
    /// that workers wake, and open log files, before. Protocols must not open, use or close files of other threads, or start threads.
    /// Default off.
    pub private_descriptor_tables: bool,
    /// Added to the nice value of the workers (0 to 19, Linux): while all processors are busy, other threads of the process go first.
    /// Default 0. That of the first gateway counts.
    pub niceness: u8,
    /// TCP_USER_TIMEOUT (RFC 5482): how long written bytes may stay unacknowledged before the kernel gives the
    /// connection up. None leaves it to the system. Default 60 s. Linux only.
    ///
    /// The protocol has to detect a peer that vanishes while nothing is written, by heartbeats or silence. Keepalive probes
    /// (RFC 9293 §3.8.4) are off: Linux sends the probes of some seconds in one burst, tens of thousands with a million silent peers.
    /// Probes that the next queue drops then end healthy connections.
    pub user_timeout: Option<Duration>,
    /// SO_SNDBUF and SO_RCVBUF of every connection, in bytes; Linux doubles them (socket(7)). Bounds the kernel's memory for a peer
    /// that has stopped reading, and the bytes in flight on a long path. None: the kernel sizes both by need. Default None.
    pub socket_buffer: Option<usize>,
    /// Default [`Records::Full`].
    pub records: Records,
    /// Connections that the kernel holds for each address until they are accepted, shared by all workers; at least 64 for each worker. Others
    /// ask again, which costs nothing here. With a longer queue an overloaded node would serve clients that have given up. Default 4,096.
    pub backlog: u32,
}

impl Default for EdgeConfig {
    fn default() -> EdgeConfig {
        EdgeConfig {
            listeners: Vec::new(),
            max_connections: 1_000_000,
            per_address: None,
            accepts_per_turn: 64,
            handshakes_in_flight: 1024,
            handshakes_per_turn: 16,
            first_byte_timeout: Duration::from_secs(10),
            input_limit: 128 * 1024,
            output_soft_limit: 64 * 1024,
            output_limit: 1024 * 1024,
            output_memory: 256 * 1024 * 1024,
            linger: Duration::from_secs(5),
            pool_limit: 256 * 1024,
            private_descriptor_tables: false,
            niceness: 0,
            user_timeout: Some(Duration::from_secs(60)),
            socket_buffer: None,
            records: Records::Full,
            backlog: 4096,
        }
    }
}
