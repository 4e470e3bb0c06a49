//! The transports of a stream: TCP, WebSocket (RFC 7395) and BOSH (XEP-0124). A transport frames elements. Streams and sessions read and write
//! elements, and do not see the frames.

pub(crate) mod bosh;
pub(crate) mod host_meta;
pub(crate) mod http;
pub(crate) mod passed_on;
mod tcp;
pub(crate) mod websocket;

use std::net::IpAddr;
use std::time::Duration;

use edge::tls::{Acceptor, ChannelBindings};
use edge::{Handle, Now};
use xmpp_proto::stream::{StreamError, StreamHeader};
use xmpp_proto::xml::{Limits, Reader, Tree};

use crate::s2s;

/// The receiving side of a stream. It owns no memory between two elements.
pub(crate) enum Receiver {
    Tcp(Reader),
    WebSocket(http_proto::websocket::Reader),
    /// Elements come with requests, and do not pass through here.
    Bosh,
    /// The session of a user of another server, whose stanzas come by mail.
    None,
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
            Receiver::Bosh | Receiver::None => Ok((input.len(), None)),
        }
    }

    /// The client begins a new stream (RFC 6120 §4.3.3).
    pub(crate) fn restart(&mut self) {
        match self {
            Receiver::Tcp(reader) => reader.restart(),
            Receiver::WebSocket(_) | Receiver::Bosh | Receiver::None => {}
        }
    }

    pub(crate) fn framing(&self) -> Framing {
        match self {
            Receiver::Tcp(_) | Receiver::None => Framing::Tcp,
            Receiver::WebSocket(_) => Framing::WebSocket,
            Receiver::Bosh => Framing::Bosh,
        }
    }
}

/// How elements follow each other on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Tcp,
    WebSocket,
    Bosh,
}

impl Framing {
    pub(crate) fn write_header(self, header: &StreamHeader, out: &mut Vec<u8>) {
        match self {
            Framing::Tcp => header.write(out),
            Framing::WebSocket => header.write_open(out),
            // The attributes of the bodies say the same.
            Framing::Bosh => {}
        }
    }

    /// Writes the end of our side of the stream.
    pub(crate) fn write_end(self, out: &mut Vec<u8>) {
        match self {
            Framing::Tcp => xmpp_proto::stream::write_footer(out),
            Framing::WebSocket => xmpp_proto::stream::write_close(out, None),
            Framing::Bosh => {}
        }
    }

    pub(crate) fn on(self, io: edge::Io<'_>) -> Io<'_> {
        Io { line: Line::Connection(io), framing: self, close_code: websocket::NORMAL }
    }
}

/// Operations of a stream on its transport.
pub(crate) struct Io<'a> {
    line: Line<'a>,
    framing: Framing,
    /// Of the last frame of a WebSocket.
    close_code: u16,
}

enum Line<'a> {
    Connection(edge::Io<'a>),
    Bosh(bosh::Outlet<'a>),
    Remote(s2s::Outlet),
}

impl<'a> Io<'a> {
    pub(crate) fn on_bosh(outlet: bosh::Outlet<'a>) -> Io<'a> {
        Io { line: Line::Bosh(outlet), framing: Framing::Bosh, close_code: websocket::NORMAL }
    }

    /// Of the session of a user of another server.
    pub(crate) fn of_remote(outlet: s2s::Outlet) -> Io<'a> {
        Io { line: Line::Remote(outlet), framing: Framing::Tcp, close_code: websocket::NORMAL }
    }

    /// What such a session has sent.
    pub(crate) fn into_remote_stanzas(self) -> Vec<Vec<u8>> {
        match self.line {
            Line::Remote(outlet) => outlet.into_stanzas(),
            Line::Connection(_) | Line::Bosh(_) => Vec::new(),
        }
    }
}

impl Io<'_> {
    pub(crate) fn handle(&self) -> Handle {
        match &self.line {
            Line::Connection(io) => io.handle(),
            Line::Bosh(outlet) => outlet.handle(),
            Line::Remote(outlet) => outlet.handle(),
        }
    }

    pub(crate) fn now(&self) -> Now {
        match &self.line {
            Line::Connection(io) => io.now(),
            Line::Bosh(outlet) => outlet.now(),
            Line::Remote(outlet) => outlet.now(),
        }
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// The other end of the connection, which may be a proxy.
    pub(crate) fn peer(&self) -> Option<IpAddr> {
        match &self.line {
            Line::Connection(io) => io.peer().map(|peer| peer.ip()),
            Line::Bosh(outlet) => outlet.peer(),
            Line::Remote(_) => None,
        }
    }

    /// Pending bytes.
    pub(crate) fn outgoing(&self) -> usize {
        match &self.line {
            Line::Connection(io) => io.outgoing(),
            Line::Bosh(outlet) => outlet.outgoing(),
            Line::Remote(_) => 0,
        }
    }

    /// Sends one element, in the form of TCP.
    pub(crate) fn send(&mut self, element: &[u8]) {
        match (&mut self.line, self.framing) {
            (Line::Connection(io), Framing::WebSocket) => websocket::send(io, element),
            (Line::Connection(io), _) => io.send(element),
            (Line::Bosh(outlet), _) => outlet.send(element),
            (Line::Remote(outlet), _) => outlet.send(element),
        }
    }

    /// Bytes that are no element.
    fn send_frame(&mut self, frame: &[u8]) {
        if let Line::Connection(io) = &mut self.line {
            io.send(frame);
        }
    }

    /// Sends the error that ends the stream. The end follows.
    pub(crate) fn fail(&mut self, error: &StreamError) {
        if let Line::Bosh(outlet) = &mut self.line {
            return outlet.fail(error);
        }
        let mut out = Vec::new();
        error.write(&mut out);
        self.send(&out);
    }

    /// Sets the timer of the stream, or clears it.
    pub(crate) fn set_timer(&mut self, after: Option<Duration>) {
        match &mut self.line {
            Line::Connection(io) => io.set_timer(after),
            Line::Bosh(outlet) => outlet.set_timer(after),
            Line::Remote(_) => {}
        }
    }

    /// A session of BOSH reads on by itself after each call.
    pub(crate) fn set_reading(&mut self, on: bool) {
        if let Line::Connection(io) = &mut self.line {
            io.set_reading(on);
        }
    }

    /// Handles the bytes that arrived meanwhile.
    pub(crate) fn read_on(&mut self) {
        self.set_reading(false);
        self.set_reading(true);
    }

    /// Flushes, and then closes the transport.
    pub(crate) fn close(&mut self) {
        match (&mut self.line, self.framing) {
            (Line::Connection(io), framing) => {
                if framing == Framing::WebSocket {
                    websocket::send_close(io, self.close_code);
                }
                io.close();
            }
            (Line::Bosh(outlet), _) => outlet.close(),
            (Line::Remote(_), _) => {}
        }
    }

    pub(crate) fn abort(&mut self) {
        match &mut self.line {
            Line::Connection(io) => io.abort(),
            Line::Bosh(outlet) => outlet.abort(),
            Line::Remote(_) => {}
        }
    }

    /// Of TLS between the client and this node. On the port of the web a proxy may be between them.
    pub(crate) fn channel_bindings(&self) -> Option<&ChannelBindings> {
        match &self.line {
            Line::Connection(io) if self.framing == Framing::Tcp => io.channel_bindings(),
            _ => None,
        }
    }

    pub(crate) fn drop_channel_bindings(&mut self) {
        if let Line::Connection(io) = &mut self.line {
            io.drop_channel_bindings();
        }
    }

    /// See [`edge::Io::start_tls`].
    pub(crate) fn start_tls(&mut self, acceptor: &Acceptor) -> bool {
        match &mut self.line {
            Line::Connection(io) => io.start_tls(acceptor),
            Line::Bosh(_) | Line::Remote(_) => false,
        }
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
