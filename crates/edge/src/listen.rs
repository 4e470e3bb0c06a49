//! Sockets: listeners for each worker, and outgoing connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, Socket, Type};

use crate::config::EdgeConfig;

/// A reserved address. With SO_REUSEPORT, which workers need, a second server would silently share it.
#[derive(Debug, Clone)]
pub(crate) struct Reservation {
    addr: SocketAddr,
    /// Without SO_REUSEPORT, and listening, because a socket that is only bound would not exclude others (socket(7)).
    alone: Arc<Mutex<Option<Socket>>>,
}

/// Keeps the port while workers bind their own sockets to it.
pub(crate) struct Shared {
    _socket: Socket,
}

/// Chooses a port for 0, and refuses a port with a listener.
pub(crate) fn reserve(addr: SocketAddr) -> io::Result<Reservation> {
    let alone = socket(addr)?;
    alone.set_reuse_address(true)?;
    alone.bind(&addr.into())?;
    alone.listen(1)?;
    let bound = alone.local_addr()?.as_socket().unwrap_or(addr);
    Ok(Reservation { addr: bound, alone: Arc::new(Mutex::new(Some(alone))) })
}

impl Reservation {
    /// An address on which another process listens that will end.
    pub(crate) fn joined(addr: SocketAddr) -> Reservation {
        Reservation { addr, alone: Arc::default() }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Releases the reservation: processes of this user can share the address now.
    pub(crate) fn share(&self) -> io::Result<Shared> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner).take();
        let socket = socket(self.addr)?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&self.addr.into())?;
        Ok(Shared { _socket: socket })
    }
}

/// Of one worker, for a burst.
const LEAST_BACKLOG: u32 = 64;

/// A worker's own socket on a reserved address. Accepted connections inherit its options. `workers`: those that listen there.
pub(crate) fn listen(addr: SocketAddr, config: &EdgeConfig, workers: usize) -> io::Result<TcpListener> {
    let socket = socket(addr)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_tcp_nodelay(true)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(config.user_timeout)?;
    if let Some(bytes) = config.socket_buffer {
        socket.set_send_buffer_size(bytes)?;
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind(&addr.into())?;
    socket.listen(backlog(config.backlog, workers))?;
    // Delays the acknowledgement of the first data until the answer, so that it needs no packet of its own. listen(2) would reset
    // the option.
    #[cfg(target_os = "linux")]
    socket.set_tcp_quickack(false)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// The share of one worker.
fn backlog(of_all: u32, workers: usize) -> i32 {
    let share = of_all / u32::try_from(workers.max(1)).unwrap_or(u32::MAX);
    i32::try_from(share.max(LEAST_BACKLOG.min(of_all))).unwrap_or(i32::MAX)
}

/// A listening socket of another process, if it listens on this address.
pub(crate) fn inherit(socket: OwnedFd, addr: SocketAddr) -> Option<TcpListener> {
    let socket = std::net::TcpListener::from(socket);
    let is_same = socket.local_addr().is_ok_and(|bound| bound == addr);
    (is_same && socket.set_nonblocking(true).is_ok()).then(|| TcpListener::from_std(socket))
}

/// Source ports for connections from a given address, one after the other.
///
/// The system's bind would search for a port without any connection, which takes longer the more are in use (390 µs at 9,000
/// connections). A port without a connection *to the same peer* is enough.
pub(crate) struct SourcePorts {
    next: u16,
}

/// Above the ports of most services; used ones are skipped.
const FIRST_SOURCE_PORT: u16 = 20_000;

/// Linux gives no port to other connections of this machine as long as one is bound to it here, whatever its addresses. So the upper
/// 5,000 ports of its range (`ip_local_port_range`) are left to them.
const LAST_SOURCE_PORT: u16 = 55_999;

/// Ports tried for one connection.
const PORT_TRIES: usize = 64;

impl SourcePorts {
    /// Workers, their gateways and processes begin at different ports, to avoid collisions.
    pub(crate) fn new(number: usize) -> SourcePorts {
        let spread = (number as u32 + 1).wrapping_mul(7919) ^ std::process::id().wrapping_mul(2_654_435_761);
        let ports = u32::from(LAST_SOURCE_PORT - FIRST_SOURCE_PORT);
        SourcePorts { next: FIRST_SOURCE_PORT + (spread % ports) as u16 }
    }

    fn next(&mut self) -> u16 {
        self.next = if self.next < LAST_SOURCE_PORT { self.next + 1 } else { FIRST_SOURCE_PORT };
        self.next
    }
}

/// Begins a connection; the socket becomes writable when it is established.
pub(crate) fn connect(
    to: SocketAddr,
    from: Option<IpAddr>,
    ports: &mut SourcePorts,
) -> io::Result<TcpStream> {
    let Some(from) = from else { return begin(socket(to)?, to) };
    let mut tries = 0;
    loop {
        tries += 1;
        let socket = socket(to)?;
        // Several connections share a port if their peers differ.
        socket.set_reuse_address(true)?;
        let begun = socket.bind(&SocketAddr::new(from, ports.next()).into()).and_then(|()| begin(socket, to));
        match begun {
            Err(error) if tries < PORT_TRIES && is_taken(&error) => {}
            begun => return begun,
        }
    }
}

fn begin(socket: Socket, to: SocketAddr) -> io::Result<TcpStream> {
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {
            Err(error)
        }
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable)
}

fn socket(addr: SocketAddr) -> io::Result<Socket> {
    // Two system calls fewer per outgoing connection than a later query.
    #[cfg(any(target_os = "linux", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
    return Socket::new(Domain::for_address(addr), Type::STREAM.nonblocking(), Some(Protocol::TCP));
    #[cfg(not(any(
        target_os = "linux",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd"
    )))]
    {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    #[test]
    fn connections_inherit_the_listeners_options() {
        let reserved = reserve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let config = EdgeConfig {
            user_timeout: Some(Duration::from_secs(7)),
            socket_buffer: Some(16 << 10),
            ..EdgeConfig::default()
        };
        let _shared = reserved.share().unwrap();
        let listener = listen(reserved.addr(), &config, 1).unwrap();
        let _peer = std::net::TcpStream::connect(reserved.addr()).unwrap();
        let accepted = loop {
            match listener.accept() {
                Ok((accepted, _)) => break accepted,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        };
        let accepted = socket2::SockRef::from(&accepted);
        assert_eq!(accepted.tcp_user_timeout().unwrap(), Some(Duration::from_secs(7)));
        assert!(accepted.tcp_nodelay().unwrap() && !accepted.keepalive().unwrap());
        assert!(!accepted.tcp_quickack().unwrap());
        let buffers = (accepted.send_buffer_size().unwrap(), accepted.recv_buffer_size().unwrap());
        assert_eq!(buffers, (32 << 10, 32 << 10), "the kernel doubles them");
    }

    #[test]
    fn the_workers_of_an_address_share_its_backlog() {
        let of = |workers| backlog(4_096, workers);
        assert_eq!([0, 1, 2, 33, 64, 100].map(of), [4_096, 4_096, 2_048, 124, 64, 64]);
        assert_eq!(backlog(10, 4), 10, "fewer, if the operator wants it");
        assert_eq!(backlog(u32::MAX, 1), i32::MAX);
    }

    #[test]
    fn a_port_in_use_is_refused_although_ports_are_shared() {
        let reserved = reserve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let taken = || reserve(reserved.addr()).err().map(|error| error.kind());
        assert_eq!(taken(), Some(io::ErrorKind::AddrInUse), "before anybody listens");
        let _shared = reserved.share().unwrap();
        let _listener = listen(reserved.addr(), &EdgeConfig::default(), 1).unwrap();
        assert_eq!(taken(), Some(io::ErrorKind::AddrInUse));
    }
}
