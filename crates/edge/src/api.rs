//! The trait that a gateway implements, and the events that it receives.

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Instant;

use crate::{Conns, Handle, Io, Moves};

/// The time of this turn of the loop, read once per turn.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub instant: Instant,
    /// The wall clock, in milliseconds since the Unix epoch. It may jump, ahead and back.
    pub unix_ms: u64,
    /// The steady clock in milliseconds, for times that are kept as a number. It is near the wall clock of the begin of the process,
    /// so a successor of the process can go on with it.
    pub steady_ms: u64,
}

/// Data about a new connection.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub peer: SocketAddr,
    /// Index of the listener in the gateway's configuration, or [`HANDED_OVER`](Accepted::HANDED_OVER).
    pub listener: usize,
    /// The connection uses TLS (detected from its first bytes).
    pub tls: bool,
}

impl Accepted {
    /// In the place of a listener: another gateway has accepted the connection, and handed it over ([`Io::hand_over`]).
    pub const HANDED_OVER: usize = usize::MAX;
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
    /// No first byte or no finished handshake in time; for an outgoing connection, no connection in time.
    HandshakeTimeout,
    /// The worker stops.
    Stopping,
    /// The protocol panicked on this connection: our bug, counted and logged.
    Panicked,
}

/// A gateway's side of a worker. One value per worker, made on the worker's thread; it owns what its
/// connections share. Everything is called on that thread.
///
/// The protocol does not know a connection before its first byte and its finished TLS handshake: `accept` is called with the
/// first bytes, and `input` follows at once.
pub trait Protocol: Sized {
    /// State per connection, inside the slot. Keep it small: a million connections have one each.
    type Conn;
    /// Messages from other threads to this gateway on this worker.
    type Mail: Send + 'static;

    /// A client has connected and sent its first bytes (with TLS: its handshake is finished), or another gateway has handed its
    /// connection over.
    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> Self::Conn;

    /// A connection of [`Conns::connect`] is established, and its TLS handshake is finished; or the handshake of [`Io::start_tls`]
    /// is. If the attempt fails, `closed` is called instead.
    fn connected(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>) {
        let _ = (conn, io);
    }

    /// All received bytes that are not consumed yet. Returns the number of consumed bytes. The rest is kept in a pooled buffer
    /// and passed again in front of the next bytes, or when [`Io::set_reading`] resumes. The protocol may change the bytes in
    /// place; the rest keeps the changes.
    fn input(&mut self, conn: &mut Self::Conn, input: &mut [u8], io: &mut Io<'_>) -> usize;

    /// The peer has closed its side. Default: close.
    fn eof(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The connection's timer has fired. It fires once; set it again if needed.
    fn timer(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// Output was over the soft limit and is empty now.
    fn drained(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The output of all connections exceeds `output_memory`, and this connection has the most. Drop its queue
    /// ([`Io::drop_outgoing`]) where the protocol permits it. Default: close.
    fn reclaim(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>) {
        let _ = conn;
        io.abort();
    }

    /// The connection has ended; its handle is invalid. Called once for each `accept` and each `Conns::connect`, except for
    /// connections that were handed over.
    fn closed(&mut self, conn: Self::Conn, handle: Handle, why: Closed, now: Now);

    /// How soon a connection can move to another process that replaces this one. Default: never; then it is closed with the process.
    fn moves(conn: &Self::Conn) -> Moves {
        let _ = conn;
        Moves::Never
    }

    /// Connections are about to move to another process, and nothing is read any more. Finish what can be finished at once, such as
    /// answers that wait for events. If the move fails, the connection goes on.
    fn rest(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>) {
        let _ = (conn, io);
    }

    /// Writes down the state of a connection that moves [`Now`](Moves::Now). Socket, TLS, pending output, unconsumed input and timer
    /// are written by the connection layer. False: it does not move.
    fn export(&self, conn: &Self::Conn, now: Now, into: &mut Vec<u8>) -> bool {
        let _ = (conn, now, into);
        false
    }

    /// Continues a connection of another process, under its old handle. `io` must not be used for output: the domain does not know the
    /// session yet. Neither [`accept`](Self::accept) nor `closed` was called for it here. None: it cannot be continued.
    fn import(&mut self, state: &[u8], io: &mut Io<'_>) -> Option<Self::Conn> {
        let _ = (state, io);
        None
    }

    /// Writes down state that belongs to no connection, such as sessions between two requests.
    fn export_state(&self, now: Now, into: &mut Vec<u8>) {
        let _ = (now, into);
    }

    /// The state of the protocol's value in another process, before its connections. Not called if that has ended before. Returns the
    /// handles of sessions without a connection, which [`Edge::imported`](crate::Edge::imported) contains.
    fn import_state(&mut self, state: &[u8], now: Now) -> Vec<Handle> {
        let _ = (state, now);
        Vec::new()
    }

    /// The sockets that the protocol has registered with [`Conns::watch`] and that move to another process, by their numbers.
    fn own_sockets(&self) -> Vec<(u32, BorrowedFd<'_>)> {
        Vec::new()
    }

    /// The sockets of the protocol's value in another process, before its [state](Self::import_state). None if nothing came, and at the
    /// start of a process that takes nothing over. Register them in the first turn.
    fn import_own_sockets(&mut self, sockets: Vec<(u32, OwnedFd)>) {
        let _ = sockets;
    }

    /// The other process has the [own sockets](Self::own_sockets): close them here, so that this one receives nothing from them.
    fn own_sockets_moved(&mut self) {}

    /// The work of a mail, in mails for one connection. A turn of the loop does a bounded amount of work and then polls the
    /// sockets again.
    fn work(mail: &Self::Mail) -> usize {
        let _ = mail;
        1
    }

    /// Adds the recipients of a mail. If handling the mail panics (our bug, counted and logged), the recipients of this gateway on
    /// this worker are closed as [`Closed::Panicked`], so that their clients reconnect and resume without a lost event. That
    /// includes recipients that had received it. Called before `mail`.
    fn recipients(mail: &Self::Mail, into: &mut Vec<Handle>) {
        let _ = (mail, into);
    }

    /// Handling a mail has panicked, and its recipients on this worker are closed. For recipients that `conns` does not reach: on
    /// other workers, or sessions without a connection.
    fn lost(&mut self, recipients: &[Handle], conns: &mut Conns<'_, Self::Conn>) {
        let _ = (recipients, conns);
    }

    /// A mail has arrived. `conns` reaches any connection of this gateway on this worker.
    fn mail(&mut self, mail: Self::Mail, conns: &mut Conns<'_, Self::Conn>);

    /// A socket that the protocol has registered with [`Conns::watch`] is readable. Called once for each arrival, so read until the
    /// socket is empty, or call [`Conns::look_again`].
    fn readable(&mut self, number: u32, conns: &mut Conns<'_, Self::Conn>) {
        let _ = (number, conns);
    }

    /// Called at the end of each turn of the loop, before output is written, for work that is cheaper in a batch. A panic here, or
    /// in `tick`, is counted and closes no connection: do not defer events that a client must not lose.
    fn turn_ends(&mut self, conns: &mut Conns<'_, Self::Conn>) {
        let _ = conns;
    }

    /// About every 100 ms.
    fn tick(&mut self, conns: &mut Conns<'_, Self::Conn>);
}
