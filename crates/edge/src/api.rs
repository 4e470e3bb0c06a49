//! What a gateway implements, and what it is told.

use std::net::SocketAddr;
use std::time::Instant;

use crate::{Conns, Handle, Io};

/// The time of this turn of the loop, read once per turn.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub instant: Instant,
    /// Milliseconds since the Unix epoch.
    pub unix_ms: u64,
}

/// Data about a new connection.
#[derive(Debug, Clone, Copy)]
pub struct Accepted {
    pub peer: SocketAddr,
    /// Index of the listener in the gateway's configuration.
    pub listener: usize,
    /// It speaks TLS (known from its first bytes).
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
    /// No first byte or no finished handshake in time; for one of ours, no connection in time.
    HandshakeTimeout,
    /// The worker stops.
    Stopping,
    /// The protocol panicked on this connection: our bug, counted and logged.
    Panicked,
}

/// A gateway's side of a worker. One value per worker, made on the worker's thread; it owns what its
/// connections share. Everything is called on that thread.
///
/// A connection that has not sent its first byte, or has not finished its TLS handshake, is not known to the protocol
/// yet: `accept` is called with the first bytes, and `input` follows at once.
pub trait Protocol: Sized {
    /// State per connection, inside the slot. Keep it small: its size counts a million times.
    type Conn;
    /// Messages from other threads to this gateway on this worker.
    type Mail: Send + 'static;

    /// A connection is there, and its first bytes too (with TLS: its handshake is finished).
    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> Self::Conn;

    /// A connection that was asked for with [`Conns::connect`] is there, its TLS handshake is finished. If it does not
    /// come about, `closed` is called instead.
    fn connected(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>) {
        let _ = (conn, io);
    }

    /// All bytes that were received and not consumed yet. Answers how many are consumed; the rest is kept
    /// (in a pooled buffer) and comes again in front of what arrives next, or when reading is resumed with
    /// [`Io::set_reading`]. May be changed in place, but the rest is kept as it was left.
    fn input(&mut self, conn: &mut Self::Conn, input: &mut [u8], io: &mut Io<'_>) -> usize;

    /// The peer will send no more. Default of gateways: close.
    fn eof(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The connection's timer has fired (once; set it again if wanted).
    fn timer(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// Output has been over the soft limit and is now empty.
    fn drained(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>);

    /// The output of all connections takes more memory than `output_memory`, and this one has most of it. Drop what may be
    /// dropped ([`Io::drop_outgoing`]). Default: close.
    fn reclaim(&mut self, conn: &mut Self::Conn, io: &mut Io<'_>) {
        let _ = conn;
        io.abort();
    }

    /// The connection is over; its handle is dead. Called once for each `accept` and each `Conns::connect`.
    fn closed(&mut self, conn: Self::Conn, handle: Handle, why: Closed, now: Now);

    /// How much work a mail is, in mails for one connection: a turn of the loop takes so much and then looks at the sockets
    /// again.
    fn work(mail: &Self::Mail) -> usize {
        let _ = mail;
        1
    }

    /// Adds the connections that a mail is for, which lose something if handling it panics: our bug, counted and logged.
    /// Then those of this gateway on this worker are closed as [`Closed::Panicked`], so that their clients come back and
    /// resume; none of them goes on without an event. All are closed, also those that had got it. Called before `mail`.
    fn recipients(mail: &Self::Mail, into: &mut Vec<Handle>) {
        let _ = (mail, into);
    }

    /// Handling a mail has panicked, and its recipients on this worker are closed. For those that `conns` does not reach:
    /// on other workers, or sessions without a connection.
    fn lost(&mut self, recipients: &[Handle], conns: &mut Conns<'_, Self::Conn>) {
        let _ = (recipients, conns);
    }

    /// A mail has come. `conns` reaches any connection of this gateway on this worker.
    fn mail(&mut self, mail: Self::Mail, conns: &mut Conns<'_, Self::Conn>);

    /// Something can be read from a socket of the protocol's own, which it has shown with [`Conns::watch`]. Told once for
    /// each arrival, so it reads until nothing is there, or says [`Conns::look_again`].
    fn readable(&mut self, number: u32, conns: &mut Conns<'_, Self::Conn>) {
        let _ = (number, conns);
    }

    /// The last word of each turn of the loop, before what was sent is written: for what is better done once for all. A
    /// panic here, or in `tick`, is counted and closes nothing: keep no event for later that a client cannot miss.
    fn turn_ends(&mut self, conns: &mut Conns<'_, Self::Conn>) {
        let _ = conns;
    }

    /// About every 100 ms.
    fn tick(&mut self, conns: &mut Conns<'_, Self::Conn>);
}
