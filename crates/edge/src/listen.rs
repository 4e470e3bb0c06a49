//! Sockets: listening ones for each worker, and those of connections that we make.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use crate::config::EdgeConfig;

/// An address that is ours. It keeps the port while workers bind their own sockets to it.
pub(crate) struct Reserved {
    pub(crate) addr: SocketAddr,
    _socket: Socket,
}

/// Finds the port where it is 0, and refuses one that somebody else listens on: with SO_REUSEPORT a second server
/// would silently share it.
pub(crate) fn reserve(addr: SocketAddr) -> io::Result<Reserved> {
    if addr.port() != 0 {
        let probe = socket(addr)?;
        probe.set_reuse_address(true)?;
        probe.bind(&addr.into())?;
        probe.listen(1)?;
    }
    let socket = socket(addr)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&addr.into())?;
    let bound = socket.local_addr()?.as_socket().unwrap_or(addr);
    Ok(Reserved { addr: bound, _socket: socket })
}

/// A worker's own socket on a reserved address. What accepted connections inherit is set here once.
pub(crate) fn listen(addr: SocketAddr, config: &EdgeConfig) -> io::Result<TcpListener> {
    let socket = socket(addr)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(timeout) = config.user_timeout {
        end_half_open(&socket, timeout)?;
    }
    socket.bind(&addr.into())?;
    socket.listen(i32::try_from(config.backlog).unwrap_or(i32::MAX))?;
    Ok(TcpListener::from_std(socket.into()))
}

/// Begins a connection; the socket becomes writable when it is there.
pub(crate) fn connect(to: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = socket(to)?;
    socket.set_tcp_nodelay(true)?;
    if let Some(from) = from {
        socket.bind(&SocketAddr::new(from, 0).into())?;
    }
    match socket.connect(&to.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    Ok(TcpStream::from_std(socket.into()))
}

fn socket(addr: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Unacknowledged bytes end the connection after `timeout`; where nothing is sent, probes find out.
fn end_half_open(socket: &Socket, timeout: Duration) -> io::Result<()> {
    let interval = (timeout / 4).max(Duration::from_secs(1));
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(timeout).with_interval(interval))?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(timeout))?;
    Ok(())
}
