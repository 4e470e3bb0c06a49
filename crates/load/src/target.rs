//! The server under load, and the transport to it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest;
use serde::{Deserialize, Serialize};

/// The transports of events to the client and of commands to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Transport {
    Websocket,
    Stream,
    Sse,
    Poll,
    Xmpp,
    XmppWebsocket,
    /// Centrifugo's Protobuf protocol over WebSocket.
    Centrifugo,
    CentrifugoJson,
    /// The line router of `tests/peers/router.c`.
    Line,
}

impl Transport {
    /// Those of the web protocol.
    pub const WEB: [Transport; 4] =
        [Transport::Websocket, Transport::Stream, Transport::Sse, Transport::Poll];

    /// With those of other protocols.
    pub const ALL: [Transport; 9] = [
        Transport::Websocket,
        Transport::Stream,
        Transport::Sse,
        Transport::Poll,
        Transport::Xmpp,
        Transport::XmppWebsocket,
        Transport::Centrifugo,
        Transport::CentrifugoJson,
        Transport::Line,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Transport::Websocket => "websocket",
            Transport::Stream => "stream",
            Transport::Sse => "sse",
            Transport::Poll => "poll",
            Transport::Xmpp => "xmpp",
            Transport::XmppWebsocket => "xmpp-websocket",
            Transport::Centrifugo => "centrifugo",
            Transport::CentrifugoJson => "centrifugo-json",
            Transport::Line => "line",
        }
    }

    pub fn is_xmpp(self) -> bool {
        matches!(self, Transport::Xmpp | Transport::XmppWebsocket)
    }

    /// Those of other servers than ours, which store nothing.
    pub fn is_of_peer(self) -> bool {
        matches!(self, Transport::Centrifugo | Transport::CentrifugoJson | Transport::Line)
    }

    /// Whether commands need requests of their own.
    pub fn posts(self) -> bool {
        matches!(self, Transport::Stream | Transport::Sse | Transport::Poll)
    }

    /// The longest silence of a living server. None: the client asks with a ping.
    pub(crate) fn silence(self) -> Option<Duration> {
        match self {
            Transport::Websocket | Transport::Xmpp | Transport::XmppWebsocket => None,
            // A ping every 25 s, with some time for the network.
            Transport::Centrifugo | Transport::CentrifugoJson => Some(Duration::from_secs(40)),
            // Two and a half heartbeats of 10 s.
            Transport::Stream | Transport::Sse => Some(Duration::from_secs(25)),
            // The line router sends nothing by itself.
            Transport::Line => Some(Duration::from_secs(24 * 3600)),
            // A poll of 25 s, with some time for the network.
            Transport::Poll => Some(Duration::from_secs(35)),
        }
    }

    pub(crate) fn farewell(self) -> Farewell {
        match self {
            Transport::Websocket
            | Transport::Xmpp
            | Transport::XmppWebsocket
            | Transport::Centrifugo
            | Transport::CentrifugoJson => Farewell::Say,
            Transport::Stream | Transport::Sse | Transport::Line => Farewell::Close,
            Transport::Poll => Farewell::Post,
        }
    }

    /// Whether the server closes the connection after the farewell.
    pub(crate) fn server_closes(self) -> bool {
        self.farewell() == Farewell::Say
    }
}

/// The end of a session by its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// The client says `bye`.
    Say,
    Close,
    /// No connection could be closed: `bye` goes with a request of its own.
    Post,
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Transport, String> {
        let found = Transport::ALL.into_iter().find(|transport| transport.name() == text);
        found.ok_or_else(|| {
            format!(
                "`{text}` is no transport: websocket, stream, sse, poll, xmpp or xmpp-websocket; of other servers, \
                 centrifugo, centrifugo-json or line"
            )
        })
    }
}

impl TryFrom<String> for Transport {
    type Error = String;

    fn try_from(text: String) -> Result<Transport, String> {
        text.parse()
    }
}

impl From<Transport> for &'static str {
    fn from(transport: Transport) -> &'static str {
        transport.name()
    }
}

/// A server, from its URL.
#[derive(Debug, Clone)]
pub struct Target {
    pub addr: SocketAddr,
    /// For [`Transport::Xmpp`].
    pub xmpp: SocketAddr,
    pub tls: bool,
    /// Name without port, for TLS.
    pub name: String,
    /// Value of the Host header.
    pub host: String,
    /// One handshake key for all connections, so that the check of the response costs nothing.
    pub(crate) websocket_key: String,
    pub(crate) websocket_accept: String,
}

#[derive(Debug, thiserror::Error)]
pub enum BadTarget {
    #[error("the URL must begin with http:// or https:// and name a host, without a path")]
    Url,
    #[error("cannot find {0}: {1}")]
    Unknown(String, std::io::Error),
}

impl Target {
    /// Parses `http://host:port` or `https://host:port` and looks the host up.
    pub fn parse(url: &str) -> Result<Target, BadTarget> {
        let (scheme, rest) = url.split_once("://").ok_or(BadTarget::Url)?;
        let (tls, port) = match scheme {
            "http" => (false, 80),
            "https" => (true, 443),
            _ => return Err(BadTarget::Url),
        };
        let host = rest.strip_suffix('/').unwrap_or(rest);
        if host.is_empty() || host.contains(['/', '?', '#', '@', ' ']) {
            return Err(BadTarget::Url);
        }
        let (name, port) = match host.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => {
                (name, digits.parse().map_err(|_| BadTarget::Url)?)
            }
            _ => (host, port),
        };
        let name = name.trim_matches(['[', ']']).to_owned();
        let unknown = |why| BadTarget::Unknown(name.clone(), why);
        let mut found = (name.as_str(), port).to_socket_addrs().map_err(unknown)?;
        let addr = found.next().ok_or_else(|| unknown(std::io::ErrorKind::NotFound.into()))?;
        Ok(Target::new(addr, tls, name, host))
    }

    pub(crate) fn addr_for(&self, transport: Transport) -> SocketAddr {
        if transport == Transport::Xmpp { self.xmpp } else { self.addr }
    }

    pub fn url(&self) -> String {
        format!("{}://{}", if self.tls { "https" } else { "http" }, self.host)
    }

    fn new(addr: SocketAddr, tls: bool, name: String, host: &str) -> Target {
        let websocket_key = STANDARD.encode(b"kith load client");
        // RFC 6455 §1.3: the GUID that shows that the server understands WebSocket.
        let joined = format!("{websocket_key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
        let sha1 = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, joined.as_bytes());
        let websocket_accept = STANDARD.encode(sha1);
        // RFC 6120 §14.7, and the usual port of XEP-0368.
        let xmpp = SocketAddr::new(addr.ip(), if tls { 5223 } else { 5222 });
        Target { addr, xmpp, tls, name, host: host.to_owned(), websocket_key, websocket_accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let plain = Target::parse("http://127.0.0.1:8080").unwrap();
        assert_eq!((plain.addr, plain.tls), ("127.0.0.1:8080".parse().unwrap(), false));
        assert_eq!(plain.host, "127.0.0.1:8080");
        assert_eq!(plain.url(), "http://127.0.0.1:8080");
        let tls = Target::parse("https://[::1]/").unwrap();
        assert_eq!((tls.addr, tls.tls, tls.name.as_str()), ("[::1]:443".parse().unwrap(), true, "::1"));
        for bad in ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://h/path", "http://127.0.0.1:x"] {
            assert!(matches!(Target::parse(bad), Err(BadTarget::Url)), "{bad}");
        }
    }

    #[test]
    fn transports() {
        for transport in Transport::ALL {
            assert_eq!(transport.name().parse(), Ok(transport));
        }
        assert!("carrier-pigeon".parse::<Transport>().is_err());
    }
}
