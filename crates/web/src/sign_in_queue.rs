//! The queue of WebSockets that wait for their sign-in, because as many as finish soon are under way.
//!
//! A refused client would connect once more, which costs about as much as the sign-in. So the gateway keeps the connection, and tells the
//! client that it is [`queued`](web_proto::Event::Queued). Each worker has a queue, and serves it in the order of arrival as soon as the
//! domain has room. If the bytes of a queue are used up, further hellos go to the domain, which refuses them with a time for a retry.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use edge::{Conns, Handle, Io};
use web_proto::Event;

use crate::framing::Framing;
use crate::gateway::{Conn, Gateway, State};
use crate::live::{Phase, Socket};
use crate::request::read_hello;
use crate::visitor::Visitor;

/// A client in the queue is told so again after this time.
const AGAIN: Duration = Duration::from_secs(25);

/// The client should not give up within this time: it gets a frame before.
const WITHIN_MS: u64 = 40_000;

/// Bytes of the hellos that wait at all workers.
const BYTES: usize = 256 * 1024 * 1024;

/// Each queued connection counts as this many bytes more than its hello has.
const BYTES_EACH: usize = 128;

/// The hello of a queued connection, which has left the queue when this is dropped.
pub(crate) struct Queued {
    pub(crate) visitor: Visitor,
    pub(crate) hello: Box<str>,
    bytes_of_queue: Arc<AtomicUsize>,
}

impl Queued {
    fn bytes(&self) -> usize {
        self.hello.len() + BYTES_EACH
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.bytes_of_queue.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(crate) struct SignInQueue {
    /// In the order of arrival. Connections that have gone stay until their turn.
    handles: VecDeque<Handle>,
    /// Of those that have not gone.
    bytes: Arc<AtomicUsize>,
}

impl SignInQueue {
    pub(crate) fn push(&mut self, handle: Handle, visitor: Visitor, hello: Box<str>) -> Box<Queued> {
        let queued = Box::new(Queued { visitor, hello, bytes_of_queue: Arc::clone(&self.bytes) });
        self.handles.push_back(handle);
        self.bytes.fetch_add(queued.bytes(), Ordering::Relaxed);
        queued
    }
}

impl Gateway {
    /// Whether this hello has to wait.
    pub(crate) fn must_queue(&self, hello: &[u8]) -> bool {
        let queue = &self.queue;
        let bytes = queue.bytes.load(Ordering::Relaxed) + hello.len();
        let has_room = bytes < BYTES / self.shared.mailboxes.workers();
        has_room && (!queue.handles.is_empty() || self.shared.node.is_crowded())
    }

    pub(crate) fn queue_sign_in(
        &mut self,
        socket: &mut Socket,
        visitor: Visitor,
        hello: &str,
        io: &mut Io<'_>,
    ) {
        socket.phase = Phase::Queued(self.queue.push(io.handle(), visitor, hello.into()));
        self.shared.counters.sign_ins_queued.add(1);
        self.still_queued(io);
    }

    /// Tells the client that it waits.
    pub(crate) fn still_queued(&mut self, io: &mut Io<'_>) {
        self.send_frame(&Event::Queued { within_ms: WITHIN_MS }, Framing::WebSocket, io);
        io.set_timer(Some(AGAIN));
    }

    /// Signs in those for whom there is room. Called at the end of each turn.
    pub(crate) fn serve_queue(&mut self, conns: &mut Conns<'_, Conn>) {
        if self.queue.handles.is_empty() {
            return;
        }
        while !self.queue.handles.is_empty() && !self.shared.node.is_crowded() {
            let next = self.queue.handles.pop_front();
            let Some((conn, mut io)) = next.and_then(|handle| conns.get(handle)) else { continue };
            let State::Socket(socket) = &mut conn.state else { continue };
            let queued = match mem::replace(&mut socket.phase, Phase::SigningIn) {
                Phase::Queued(queued) => queued,
                // It stood in the queue twice.
                other => {
                    socket.phase = other;
                    continue;
                }
            };
            io.set_reading(false);
            io.set_timer(Some(self.shared.config.hello));
            // It was readable when it came.
            if let Ok(hello) = read_hello(queued.hello.as_bytes()) {
                let handle = chat::SessionHandle(io.handle().to_bits());
                self.sign_in(&hello, &queued.visitor, handle, &io);
            }
        }
        if self.queue.handles.is_empty() {
            self.queue.handles = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hello_that_leaves_the_queue_gives_its_bytes_back() {
        let mut queue = SignInQueue::default();
        let places: Vec<_> = (0..3)
            .map(|number| queue.push(Handle::from_bits(number), Visitor::default(), "x".repeat(1_000).into()))
            .collect();
        assert_eq!(queue.bytes.load(Ordering::Relaxed), 3 * (1_000 + BYTES_EACH));
        drop(places);
        assert_eq!(queue.bytes.load(Ordering::Relaxed), 0);
    }
}
