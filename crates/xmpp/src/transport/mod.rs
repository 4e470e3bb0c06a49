//! The transports of a stream: TCP, and WebSocket (RFC 7395). A transport frames elements. Streams and sessions read and write
//! elements, and do not see the frames.

pub(crate) mod host_meta;
pub(crate) mod http;
mod tcp;
pub(crate) mod websocket;

use std::net::IpAddr;
use std::time::Duration;

use edge::tls::Acceptor;
use edge::{Handle, Now};
use xmpp_proto::stream::{StreamError, StreamHeader};
use xmpp_proto::xml::{Limits, Reader, Tree};

/// The receiving side of a stream. It owns no memory between two elements.
pub(crate) enum Receiver {
    Tcp(Reader),
    WebSocket(http_proto::websocket::Reader),
}

/// A part of a stream.
pub(crate) enum Arrived {
    Header(StreamHeader),
    Element(Tree),
    /// The client has ended the stream.
    End,
    /// A frame that carries nothing.
    Alive,
    /// The client closes the connection, and leaves the stream open: it may resume the stream.
    Lost,
}

impl Receiver {
    /// Reads at most one part from the beginning of `input`, and returns the number of consumed bytes. `input` may change.
    pub(crate) fn read(
        &mut self,
        input: &mut [u8],
        limits: &Limits,
        io: &mut Io<'_>,
    ) -> Result<(usize, Option<Arrived>), StreamError> {
        match self {
            Receiver::Tcp(reader) => tcp::read(reader, input, limits),
            Receiver::WebSocket(reader) => websocket::read(reader, input, limits, io),
        }
    }

    /// The client begins a new stream (RFC 6120 §4.3.3).
    pub(crate) fn restart(&mut self) {
        match self {
            Receiver::Tcp(reader) => reader.restart(),
            Receiver::WebSocket(_) => {}
        }
    }

    pub(crate) fn framing(&self) -> Framing {
        match self {
            Receiver::Tcp(_) => Framing::Tcp,
            Receiver::WebSocket(_) => Framing::WebSocket,
        }
    }
}

/// How elements follow each other on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Tcp,
    WebSocket,
}

impl Framing {
    pub(crate) fn write_header(self, header: &StreamHeader, out: &mut Vec<u8>) {
        match self {
            Framing::Tcp => header.write(out),
            Framing::WebSocket => header.write_open(out),
        }
    }

    /// Writes the end of our side of the stream.
    pub(crate) fn write_end(self, out: &mut Vec<u8>) {
        match self {
            Framing::Tcp => xmpp_proto::stream::write_footer(out),
            Framing::WebSocket => xmpp_proto::stream::write_close(out, None),
        }
    }

    pub(crate) fn on(self, io: edge::Io<'_>) -> Io<'_> {
        Io { connection: io, framing: self, close_code: websocket::NORMAL }
    }
}

/// Operations of a stream on its connection.
pub(crate) struct Io<'a> {
    connection: edge::Io<'a>,
    framing: Framing,
    /// Of the last frame of a WebSocket.
    close_code: u16,
}

impl Io<'_> {
    pub(crate) fn handle(&self) -> Handle {
        self.connection.handle()
    }

    pub(crate) fn now(&self) -> Now {
        self.connection.now()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// The other end of the connection, which may be a proxy.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        self.connection.peer().map(|peer| peer.ip())
    }

    /// Pending bytes.
    pub(crate) fn outgoing(&self) -> usize {
        self.connection.outgoing()
    }

    /// Sends one element, in the form of TCP.
    pub(crate) fn send(&mut self, element: &[u8]) {
        match self.framing {
            Framing::Tcp => self.connection.send(element),
            Framing::WebSocket => websocket::send(&mut self.connection, element),
        }
    }

    /// Sets the timer of the connection, or clears it.
    pub(crate) fn set_timer(&mut self, after: Option<Duration>) {
        self.connection.set_timer(after);
    }

    pub(crate) fn set_reading(&mut self, on: bool) {
        self.connection.set_reading(on);
    }

    /// Handles the bytes that arrived meanwhile.
    pub(crate) fn read_on(&mut self) {
        self.connection.set_reading(false);
        self.connection.set_reading(true);
    }

    /// Flushes, and then closes the connection.
    pub(crate) fn close(&mut self) {
        if self.framing == Framing::WebSocket {
            websocket::send_close(&mut self.connection, self.close_code);
        }
        self.connection.close();
    }

    pub(crate) fn abort(&mut self) {
        self.connection.abort();
    }

    /// See [`edge::Io::start_tls`].
    pub(crate) fn start_tls(&mut self, acceptor: &Acceptor) -> bool {
        self.connection.start_tls(acceptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stream_is_small() {
        assert!(size_of::<Receiver>() <= 16, "{}", size_of::<Receiver>());
    }
}
