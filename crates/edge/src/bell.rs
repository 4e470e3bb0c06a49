//! Wakes a worker that sleeps in `epoll_wait`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::system::means_the_same;

/// Any thread can ring it. All bells of an edge are created before its workers start, so that private descriptor tables have them
/// under the same numbers.
#[derive(Debug)]
pub(crate) struct Bell {
    /// The writing end; None only during the drop.
    ring: Option<OwnedFd>,
    #[cfg(not(target_os = "linux"))]
    read_end: std::os::unix::net::UnixStream,
}

impl Bell {
    /// Fails only when the counter is full, and then the worker is awake.
    ///
    /// Does nothing on a worker whose private table is older than the bell (of another edge): that bell's worker finds its mail at
    /// its next tick.
    pub(crate) fn ring(&self) {
        if let Some(ring) = &self.ring
            && means_the_same(ring.as_raw_fd())
        {
            let _ = rustix::io::write(ring, &1u64.to_ne_bytes());
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Some(ring) = self.ring.take()
            && !means_the_same(ring.as_raw_fd())
        {
            // This thread's table has another file under the number.
            std::mem::forget(ring);
        }
    }
}

#[cfg(target_os = "linux")]
impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        use rustix::event::{EventfdFlags, eventfd};
        Ok(Bell { ring: Some(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?) })
    }

    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        let Some(ring) = &self.ring else { return Ok(()) };
        registry.register(&mut SourceFd(&ring.as_raw_fd()), token, Interest::READABLE)
    }

    /// Edge-triggered, every ring is an event: the counter need not be read. It is full after 2^64 rings.
    pub(crate) fn drain(&self) {}

    #[cfg(test)]
    pub(crate) fn has_rung(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| rustix::io::read(ring, &mut [0; 8]).is_ok())
    }
}

#[cfg(not(target_os = "linux"))]
impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        let (ring, read_end) = std::os::unix::net::UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        read_end.set_nonblocking(true)?;
        Ok(Bell { ring: Some(ring.into()), read_end })
    }

    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.read_end.as_raw_fd()), token, Interest::READABLE)
    }

    pub(crate) fn drain(&self) {
        while matches!(io::Read::read(&mut &self.read_end, &mut [0; 64]), Ok(64)) {}
    }

    #[cfg(test)]
    pub(crate) fn has_rung(&self) -> bool {
        io::Read::read(&mut &self.read_end, &mut [0; 64]).is_ok()
    }
}
