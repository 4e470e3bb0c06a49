//! The socket under a connection; in tests, a pair of buffers.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use mio::net::TcpStream;
use mio::{Interest, Registry};

use crate::source::Source;
use crate::{Closed, Handle};

pub(crate) enum Wire {
    Tcp(TcpStream),
    #[cfg(feature = "testing")]
    Pipe(crate::testing::Pipe),
}

impl Wire {
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Tcp(socket) => socket.read(into),
            #[cfg(feature = "testing")]
            Wire::Pipe(pipe) => pipe.read(into),
        }
    }

    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Wire::Tcp(socket) if slices.len() == 1 => socket.write(&slices[0]),
            Wire::Tcp(socket) => socket.write_vectored(slices),
            #[cfg(feature = "testing")]
            Wire::Pipe(pipe) => pipe.write(slices),
        }
    }

    pub(crate) fn shutdown_write(&mut self) -> io::Result<()> {
        match self {
            Wire::Tcp(socket) => socket.shutdown(Shutdown::Write),
            #[cfg(feature = "testing")]
            Wire::Pipe(pipe) => {
                pipe.shutdown_write();
                Ok(())
            }
        }
    }

    /// Registers this socket under its handle for both directions once, edge-triggered: idle sockets cost nothing.
    pub(crate) fn watch(&mut self, registry: &Registry, handle: Handle) -> io::Result<()> {
        match self {
            Wire::Tcp(socket) => {
                let token = Source::Connection(handle).token();
                registry.register(socket, token, Interest::READABLE | Interest::WRITABLE)
            }
            #[cfg(feature = "testing")]
            Wire::Pipe(_) => Ok(()),
        }
    }

    /// Registers a watched socket under another handle. The system reports its readiness again.
    pub(crate) fn watch_again(&mut self, registry: &Registry, handle: Handle) -> io::Result<()> {
        match self {
            Wire::Tcp(socket) => {
                let token = Source::Connection(handle).token();
                registry.reregister(socket, token, Interest::READABLE | Interest::WRITABLE)
            }
            #[cfg(feature = "testing")]
            Wire::Pipe(_) => Ok(()),
        }
    }

    /// None in a test without sockets.
    pub(crate) fn socket(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Wire::Tcp(socket) => Some(socket.as_fd()),
            #[cfg(feature = "testing")]
            Wire::Pipe(_) => None,
        }
    }

    /// None if the connection is closed.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Wire::Tcp(socket) => socket.peer_addr().ok(),
            #[cfg(feature = "testing")]
            Wire::Pipe(_) => Some(SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 40_000))),
        }
    }

    /// Whether an outgoing connection is established.
    pub(crate) fn connected(&mut self) -> io::Result<()> {
        match self {
            // One call in the normal case; the other returns the error.
            Wire::Tcp(socket) => match socket.peer_addr() {
                Ok(_) => Ok(()),
                Err(error) => Err(socket.take_error()?.unwrap_or(error)),
            },
            #[cfg(feature = "testing")]
            Wire::Pipe(_) => Ok(()),
        }
    }

    /// The protocol's connection has ended; the socket may linger for a while.
    pub(crate) fn note_closed(&mut self, why: Closed) {
        match self {
            Wire::Tcp(_) => {
                let _ = why;
            }
            #[cfg(feature = "testing")]
            Wire::Pipe(pipe) => pipe.note_closed(why),
        }
    }
}
