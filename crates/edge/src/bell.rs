//! What wakes a worker that sleeps in `epoll_wait`.

use std::io;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

/// Rung from any thread. It is made before workers start, so that with private descriptor tables its number means the
/// same in all of them; see `descriptor_table.rs`.
#[derive(Debug)]
pub(crate) struct Bell {
    #[cfg(target_os = "linux")]
    event: std::os::fd::OwnedFd,
    #[cfg(not(target_os = "linux"))]
    pair: (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream),
}

#[cfg(target_os = "linux")]
impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        use rustix::event::{EventfdFlags, eventfd};
        Ok(Bell { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    /// Fails only when the counter is full, and then the bell is ringing.
    pub(crate) fn ring(&self) {
        let _ = rustix::io::write(&self.event, &1u64.to_ne_bytes());
    }

    /// Edge-triggered, every ring is an event: the counter need not be read.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.event.as_raw_fd()), token, Interest::READABLE)
    }

    pub(crate) fn hear(&self) {}

    #[expect(dead_code, reason = "kept across private descriptor tables")]
    pub(crate) fn descriptor(&self) -> i32 {
        self.event.as_raw_fd()
    }
}

#[cfg(not(target_os = "linux"))]
impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        let pair = std::os::unix::net::UnixStream::pair()?;
        pair.0.set_nonblocking(true)?;
        pair.1.set_nonblocking(true)?;
        Ok(Bell { pair })
    }

    /// Fails only when the pipe is full, and then the bell is ringing.
    pub(crate) fn ring(&self) {
        let _ = io::Write::write(&mut &self.pair.0, &[1]);
    }

    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.pair.1.as_raw_fd()), token, Interest::READABLE)
    }

    pub(crate) fn hear(&self) {
        while matches!(io::Read::read(&mut &self.pair.1, &mut [0; 64]), Ok(64)) {}
    }
}
