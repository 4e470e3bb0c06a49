//! Connections of other servers and components that a front of the cluster has accepted, and whose bytes it passes on.
//!
//! The front connects to the port of the web, and sends a request with the proof that it is a node of the cluster. After the answer, the
//! bytes are those of the client: to this node, the connection is one of its own listener. TLS ends here, where the certificates are.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http_proto::head::{Head, Offence};

use super::http::{Pending, TEXT, refuse};
use crate::config::Peers;
use crate::gateway::{Gateway, State, Step};
use crate::s2s;

const SERVERS: &str = "/cluster/streams/servers";
const COMPONENTS: &str = "/cluster/streams/components";
const PROOF: &str = "kith-cluster-stream";
const CLIENT: &str = "kith-cluster-stream-client";
/// TLS begins with the first byte (XEP-0368).
const TLS: &str = "kith-cluster-stream-tls";

/// The head of the answer to a front, without its end. The stream of the client follows.
pub const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols";
const ACCEPTED_HEAD: &str =
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: kith-stream\r\nconnection: Upgrade\r\n\r\n";

/// Whether this is the proof of a node of the cluster. It takes constant time.
pub type IsProof = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Settings of a home.
#[derive(Clone)]
pub struct PassedOn {
    pub is_proof: IsProof,
    /// The number of the gateway that answers all other paths.
    pub pages: usize,
}

impl fmt::Debug for PassedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassedOn").field("pages", &self.pages).finish_non_exhaustive()
    }
}

/// A connection that a front passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassedStream {
    /// Not [`Peers::Clients`]: those belong to the front itself.
    pub peers: Peers,
    pub client: IpAddr,
    /// Its first byte begins TLS.
    pub tls: bool,
}

/// Whether a request begins such a connection.
pub fn is_passed_on(path: &str) -> bool {
    matches!(path, SERVERS | COMPONENTS)
}

impl PassedStream {
    /// The request of a front. `proof` is the value of a header field.
    pub fn request(&self, proof: &str) -> String {
        let path = if self.peers == Peers::Components { COMPONENTS } else { SERVERS };
        let tls = if self.tls { "1" } else { "0" };
        format!(
            "GET {path} HTTP/1.1\r\nhost: home\r\nconnection: Upgrade\r\nupgrade: kith-stream\r\n\
             {PROOF}: {proof}\r\n{CLIENT}: {}\r\n{TLS}: {tls}\r\n\r\n",
            self.client
        )
    }

    /// None: the request does not have this form.
    fn of(head: &Head<'_>) -> Option<PassedStream> {
        let text = |name| head.field(name).and_then(|value| std::str::from_utf8(value).ok());
        Some(PassedStream {
            peers: if head.path == COMPONENTS { Peers::Components } else { Peers::Servers },
            client: text(CLIENT)?.parse().ok()?,
            tls: text(TLS)? == "1",
        })
    }
}

impl Gateway {
    /// `waits`: bytes of the input, which are those of the head unless the front sends before the answer.
    pub(super) fn take_passed_on(
        &mut self,
        state: &mut State,
        head: &Head<'_>,
        waits: usize,
        io: &mut edge::Io<'_>,
    ) -> Step {
        let config = &self.shared.config;
        let is_node = config
            .passed_on
            .as_ref()
            .is_some_and(|passed_on| head.field(PROOF).is_some_and(|proof| (passed_on.is_proof)(proof)));
        let stream = PassedStream::of(head);
        let role_of =
            |stream: PassedStream| config.listeners.iter().position(|role| role.peers == stream.peers);
        let (stream, listener) = match stream.map(|stream| (stream, role_of(stream))) {
            _ if !is_node => return no(state, head, 403, "not a node of this cluster\n", io),
            None => return no(state, head, 400, "the stream of a client needs its address\n", io),
            Some((_, None)) => {
                return no(state, head, 404, "this home has no listener for such streams\n", io);
            }
            Some((stream, Some(listener))) => (stream, listener),
        };
        if waits != head.bytes {
            return no(state, head, 400, "the stream begins after the answer\n", io);
        }
        if !io.count_for(stream.client) {
            return refuse(state, Offence::TooManyConnections, io);
        }
        tracing::debug!(client = %stream.client, peers = ?stream.peers, "a front passes a connection on");
        io.send(ACCEPTED_HEAD.as_bytes());
        io.set_timer(Some(config.negotiation));
        let tls = config.role(listener).tls.filter(|_| stream.tls);
        let of_peer = match stream.peers {
            Peers::Components => s2s::Stream::of_component(),
            Peers::Servers | Peers::Clients => s2s::Stream::accepted(false, listener),
        };
        *state = State::Server(Box::new(of_peer));
        if let Some(tls) = tls
            && !io.start_tls(&tls)
        {
            // Too many handshakes: the other server tries again.
            *state = State::Closing;
            io.close();
        }
        Step::Wait(waits)
    }
}

fn no(state: &mut State, head: &Head<'_>, status: u16, why: &str, io: &mut edge::Io<'_>) -> Step {
    Pending::last(head).send(io, status, TEXT, why.as_bytes());
    *state = State::Closing;
    io.close();
    Step::Wait(0)
}

#[cfg(test)]
mod tests {
    use http_proto::head::{Fields, NO_FIELDS, parse};

    use super::*;

    fn read(request: &str) -> Option<PassedStream> {
        let mut room: Fields<'_> = NO_FIELDS;
        let head = parse(request.as_bytes(), &mut room).expect("a request").expect("a whole one");
        assert!(is_passed_on(head.path) && head.field(PROOF) == Some(b"proof"));
        PassedStream::of(&head)
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        for peers in [Peers::Servers, Peers::Components] {
            for (client, tls) in [("192.0.2.7", true), ("2001:db8::7", false)] {
                let stream = PassedStream { peers, client: client.parse().expect(client), tls };
                assert_eq!(read(&stream.request("proof")), Some(stream));
            }
        }
    }

    #[test]
    fn a_request_without_the_address_of_its_client_is_refused() {
        let request = format!("GET {SERVERS} HTTP/1.1\r\nhost: x\r\n{PROOF}: proof\r\n");
        for fields in ["", "kith-cluster-stream-client: anna\r\nkith-cluster-stream-tls: 0\r\n"] {
            assert_eq!(read(&format!("{request}{fields}\r\n")), None);
        }
    }
}
