//! What a gateway implements and what it may ask for.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;

/// The time of this turn of the loop, read once per turn.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub instant: Instant,
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
}

/// A connection: worker, slot, generation. A handle of a connection that is gone never reaches a new one
/// (until its slot was reused 2^24 times).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u64);

impl Handle {
    pub fn new(_worker: usize, _slot: u32, _generation: u32) -> Handle {
        todo!()
    }
    pub fn worker(self) -> usize {
        todo!()
    }
    pub fn slot(self) -> u32 {
        todo!()
    }
    pub fn generation(self) -> u32 {
        todo!()
    }
    /// For tables of gateways and the domain; `from_bits(h.to_bits()) == h`.
    pub fn to_bits(self) -> u64 {
        self.0
    }
    pub fn from_bits(bits: u64) -> Handle {
        Handle(bits)
    }
}

/// What is known of a new connection.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub peer: SocketAddr,
    /// Index of the listener in the configuration.
    pub listener: usize,
    /// It speaks TLS (known from its first bytes; `accept` is called when they are there).
    pub tls: bool,
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closed {
    /// The protocol asked for it and all output was flushed, or not (`flushed`).
    ByUs { flushed: bool },
    /// The peer closed its side.
    ByPeer,
    /// Reset or another socket error.
    Error,
    /// TLS failed: handshake, record, certificate.
    Tls,
    /// More unconsumed input than `input_limit`.
    InputLimit,
    /// More pending output than `output_limit`.
    OutputLimit,
    /// No first byte or no finished handshake in time.
    HandshakeTimeout,
    /// The worker stops.
    Stopping,
    /// The protocol panicked on this connection: our bug, counted and logged.
    Panicked,
}

/// A gateway's side of a worker. One value per worker, made on the worker's thread; it owns what its
/// connections share. Everything is called on that thread.
pub trait Protocol: Sized {
    /// What stays per connection, inside the slot: keep it small, its size counts a million times.
    type Conn;
    /// What other threads say to this worker.
    type Mail: Send + 'static;

    /// A connection is there (with TLS: after the ClientHello was recognised).
    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> Self::Conn;

    /// All bytes that were received and not consumed yet. Answers how many are consumed; the rest is kept
    /// (in a pooled buffer) and comes again in front of what arrives next. May be changed in place.
    fn input(&mut self, conn: &mut Self::Conn, input: &mut [u8], io: &mut Io<'_>) -> usize;

    /// The peer will send no more. Default of gateways: close.
    fn eof(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The connection's timer has fired (once; set it again if wanted).
    fn timer(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// Output has been over the soft limit and is now empty.
    fn drained(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The connection is over; its handle is dead.
    fn closed(&mut self, conn: Self::Conn, handle: Handle, why: Closed, now: Now);

    /// A mail has come. `conns` reaches any connection of this worker.
    fn mail(&mut self, mail: Self::Mail, conns: &mut Conns<'_, Self::Conn>);

    /// About every 100 ms.
    fn tick(&mut self, conns: &mut Conns<'_, Self::Conn>);
}

/// What a protocol may ask of one connection.
pub struct Io<'a> {
    _worker: &'a mut (),
}

impl Io<'_> {
    pub fn handle(&self) -> Handle {
        todo!()
    }
    pub fn now(&self) -> Now {
        todo!()
    }
    /// Appends to the output; written once at the end of the loop turn.
    pub fn send(&mut self, _bytes: &[u8]) {
        todo!()
    }
    /// The same without a copy: for what is large or goes to many.
    pub fn send_shared(&mut self, _bytes: Bytes) {
        todo!()
    }
    /// Bytes that wait to be written.
    pub fn outgoing(&self) -> usize {
        todo!()
    }
    /// Drops what waits and has not begun to be written: whole `send`s only, never part of one. Answers the bytes dropped.
    pub fn drop_outgoing(&mut self) -> usize {
        todo!()
    }
    /// Sets the one timer of this connection (coarse: fires up to 100 ms late, never early), or clears it.
    pub fn set_timer(&mut self, _after: Option<Duration>) {
        todo!()
    }
    /// Stops or resumes reading from the peer (backpressure).
    pub fn set_reading(&mut self, _on: bool) {
        todo!()
    }
    /// Flush, then close (bounded by the configured linger time). `input` is not called again.
    pub fn close(&mut self) {
        todo!()
    }
    /// Close at once.
    pub fn abort(&mut self) {
        todo!()
    }
}

/// All connections of a worker, for mail and ticks.
pub struct Conns<'a, C> {
    _worker: &'a mut Vec<C>,
}

impl<C> Conns<'_, C> {
    pub fn now(&self) -> Now {
        todo!()
    }
    /// None if the connection is gone or belongs to another worker.
    pub fn get(&mut self, _handle: Handle) -> Option<(&mut C, Io<'_>)> {
        todo!()
    }
}

/// The way to workers from any thread. Cheap to clone.
pub struct Mailboxes<M> {
    _mail: std::marker::PhantomData<M>,
}

impl<M: Send + 'static> Mailboxes<M> {
    pub fn workers(&self) -> usize {
        todo!()
    }
    /// Puts mail into a worker's mailbox and wakes it once per batch; order of one sender is kept. Never blocks.
    pub fn send(&self, _worker: usize, _mail: M) {
        todo!()
    }
}
