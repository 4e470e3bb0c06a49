//! What wakes a worker that sleeps in `epoll_wait`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::system::means_the_same;

/// Rung from any thread. All bells of an edge are made before its workers start, so that with private descriptor tables
/// their numbers mean the same in all of them.
#[derive(Debug)]
pub(crate) struct Bell {
    /// The writing end; None only while it is dropped.
    ring: Option<OwnedFd>,
    #[cfg(not(target_os = "linux"))]
    hear: std::os::unix::net::UnixStream,
}

impl Bell {
    /// Fails only when the bell is full, and then it is ringing.
    ///
    /// On a worker with a private table that is older than the bell (of another edge), nothing can be done: that bell's
    /// worker finds its mail at its next tick.
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
            // Here the number belongs to somebody else.
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
    pub(crate) fn hear(&self) {}

    #[cfg(test)]
    pub(crate) fn has_rung(&self) -> bool {
        self.ring.as_ref().is_some_and(|ring| rustix::io::read(ring, &mut [0; 8]).is_ok())
    }
}

#[cfg(not(target_os = "linux"))]
impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        let (ring, hear) = std::os::unix::net::UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        hear.set_nonblocking(true)?;
        Ok(Bell { ring: Some(ring.into()), hear })
    }

    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.hear.as_raw_fd()), token, Interest::READABLE)
    }

    pub(crate) fn hear(&self) {
        while matches!(io::Read::read(&mut &self.hear, &mut [0; 64]), Ok(64)) {}
    }

    #[cfg(test)]
    pub(crate) fn has_rung(&self) -> bool {
        io::Read::read(&mut &self.hear, &mut [0; 64]).is_ok()
    }
}
