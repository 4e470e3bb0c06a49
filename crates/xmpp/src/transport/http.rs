//! Requests on the port of the web: the web's gateway hands over connections whose request is for this one.

use std::cell::Cell;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use http_proto::body;
use http_proto::head::{Fields, Head, NO_FIELDS, Offence, Version, parse};
use http_proto::websocket::{HandshakeError, check};

use crate::config::WebTransports;
use crate::gateway::{Gateway, State, Step};
use crate::stream::Opening;
use crate::transport::passed_on::is_passed_on;
use crate::transport::{Receiver, bosh, host_meta};

/// The paths that this gateway answers.
pub(crate) const WEBSOCKET: &str = "/xmpp-websocket";
pub(crate) const BOSH: &str = "/http-bind";
const HOST_META: &str = "/.well-known/host-meta";
const HOST_META_JSON: &str = "/.well-known/host-meta.json";

/// RFC 7395 §3.1.
const SUBPROTOCOL: &str = "xmpp";

/// Whether a request belongs to the XMPP gateway.
pub fn is_xmpp_path(path: &str) -> bool {
    matches!(path, WEBSOCKET | BOSH | HOST_META | HOST_META_JSON)
}

pub(super) const TEXT: &str = "content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\n\
                               x-content-type-options: nosniff\r\n";

/// The client of a request.
pub(crate) struct Visitor {
    /// TLS protects the whole way to the client.
    pub(crate) is_https: bool,
    /// From a trusted proxy. None: the peer is the client.
    pub(crate) address: Option<IpAddr>,
    /// Of the page that connects.
    pub(crate) origin: Option<Box<str>>,
}

impl Visitor {
    /// `tls`: of the connection. The header fields of a proxy count only if the proxy is trusted.
    fn of(head: &Head<'_>, tls: bool, web: &WebTransports, io: &edge::Io<'_>) -> Visitor {
        let proxies = &web.trusted_proxies;
        let by_proxy = !proxies.are_none() && io.peer().is_some_and(|peer| proxies.contain(peer.ip()));
        Visitor {
            is_https: if by_proxy { was_https(head).unwrap_or(tls) } else { tls },
            address: if by_proxy && head.forwarded { proxies.client(head) } else { None },
            origin: head.origin.map(Into::into),
        }
    }
}

/// Each proxy may append its own value to that of the client, so all of them must be `https`. None: the field is missing.
fn was_https(head: &Head<'_>) -> Option<bool> {
    let lines = head.fields.iter().filter(|field| field.name.eq_ignore_ascii_case("x-forwarded-proto"));
    let mut schemes = lines.flat_map(|field| field.value.split(|byte| *byte == b',')).peekable();
    schemes.peek()?;
    Some(schemes.all(|scheme| scheme.trim_ascii().eq_ignore_ascii_case(b"https")))
}

/// A request until its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending {
    keep_alive: bool,
    is_head: bool,
    version: Version,
}

impl Pending {
    pub(super) fn of(head: &Head<'_>) -> Pending {
        Pending { keep_alive: head.keep_alive, is_head: head.method == "HEAD", version: head.version }
    }

    /// The connection closes after the answer.
    pub(super) fn last(head: &Head<'_>) -> Pending {
        Pending { keep_alive: false, ..Pending::of(head) }
    }

    /// Sends a whole answer.
    pub(super) fn send(self, io: &mut edge::Io<'_>, status: u16, fields: &str, body: &[u8]) {
        let mut head = String::with_capacity(256 + fields.len());
        let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_millis(io.now().unix_ms));
        let connection = match (self.keep_alive, self.version) {
            (false, _) => "connection: close\r\n",
            (true, Version::Http10) => "connection: keep-alive\r\n",
            (true, Version::Http11) => "",
        };
        let (reason, length) = (reason(status), body.len());
        write!(
            head,
            "HTTP/1.1 {status} {reason}\r\ndate: {date}\r\n{connection}{fields}content-length: {length}\r\n\r\n"
        )
        .expect("a String takes all");
        io.send_parts(&[head.as_bytes(), if self.is_head { b"" } else { body }]);
    }

    /// The connection waits for the next request, or closes.
    pub(super) fn finish(self, state: &mut State, tls: bool, keep_alive: Duration, io: &mut edge::Io<'_>) {
        if self.keep_alive {
            *state = State::Request { tls };
            io.set_timer(Some(keep_alive));
        } else {
            *state = State::Closing;
            io.close();
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        414 => "URI Too Long",
        417 => "Expectation Failed",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

impl Gateway {
    pub(crate) fn read_request(&mut self, state: &mut State, input: &[u8], io: &mut edge::Io<'_>) -> Step {
        let State::Request { tls } = *state else { return Step::Wait(0) };
        let mut room: Fields<'_> = NO_FIELDS;
        let head = match parse(input, &mut room) {
            Ok(Some(head)) => head,
            Ok(None) => return Step::Wait(0),
            Err(offence) => return refuse(state, offence, io),
        };
        if is_passed_on(head.path) {
            return self.take_passed_on(state, &head, input.len(), io);
        }
        let config = &self.shared.config;
        let Some(web) = config.web.as_ref().filter(|_| is_xmpp_path(head.path)) else {
            // Proxies send requests of all kinds on one connection.
            let of_web = config.web.as_ref().map(|web| web.pages);
            let pages = of_web.or(config.passed_on.as_ref().map(|passed_on| passed_on.pages));
            if !pages.is_some_and(|pages| io.hand_over(pages)) {
                *state = State::Closing;
                io.close();
            }
            return Step::Wait(0);
        };
        let visitor = Visitor::of(&head, tls, web, io);
        if visitor.address.is_some_and(|client| !io.count_for(client)) {
            return refuse(state, Offence::TooManyConnections, io);
        }
        let pending = Pending::of(&head);
        if head.path == WEBSOCKET {
            self.open_websocket(state, &head, visitor, io);
            return Step::Again(head.bytes);
        }
        if head.path == BOSH {
            return self.begin_exchange(state, &head, tls, visitor, io);
        }
        let is_json = head.path == HOST_META_JSON;
        let keep_alive = self.shared.config.keep_alive;
        match (host_meta::answer(&self.shared, &head, &visitor, is_json), head.method) {
            (_, method) if method != "GET" && method != "HEAD" => {
                pending.send(io, 405, &format!("{TEXT}allow: GET, HEAD\r\n"), b"this path takes GET\n");
            }
            (Some((fields, body)), _) => pending.send(io, 200, fields, &body),
            (None, _) => pending.send(io, 404, TEXT, b"the host is not the XMPP domain of a site here\n"),
        }
        // A body, which such a request does not need, would be read as the next request.
        let pending = Pending { keep_alive: pending.keep_alive && has_no_body(&head), ..pending };
        pending.finish(state, tls, keep_alive, io);
        Step::Again(head.bytes)
    }

    /// RFC 7395 §3.1. Pages of any origin may connect: no cookie or other credential of the browser counts, so a page
    /// can use only the password that its user enters.
    fn open_websocket(
        &mut self,
        state: &mut State,
        head: &Head<'_>,
        visitor: Visitor,
        io: &mut edge::Io<'_>,
    ) {
        let outcome = check(head).map_err(|error| match error {
            HandshakeError::NotAnUpgrade => {
                (426, "upgrade: websocket\r\n", "this path takes WebSockets (RFC 7395)\n")
            }
            HandshakeError::BadVersion => {
                (426, "upgrade: websocket\r\nsec-websocket-version: 13\r\n", "WebSocket has version 13\n")
            }
            HandshakeError::Malformed => (400, "", "the handshake is not one of RFC 6455\n"),
        });
        let allows_plain = self.shared.config.web.as_ref().is_some_and(|web| web.allows_plain);
        let outcome = outcome.and_then(|accept| match visitor.is_https || allows_plain {
            _ if !head.has_token("sec-websocket-protocol", SUBPROTOCOL) => {
                Err((400, "", "ask for the subprotocol: Sec-WebSocket-Protocol: xmpp\n"))
            }
            false => Err((403, "", PLAIN)),
            true => Ok(accept),
        });
        match outcome {
            Ok(accept) => {
                io.send_parts(&[
                    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                      sec-websocket-protocol: xmpp\r\nsec-websocket-accept: ",
                    &accept,
                    b"\r\n\r\n",
                ]);
                let receiver = Receiver::WebSocket(Default::default());
                *state = State::Opening(Box::new(Opening::on_web(receiver, visitor)));
                io.set_timer(Some(self.shared.config.negotiation));
            }
            Err((status, fields, text)) => {
                Pending::last(head).send(io, status, &format!("{TEXT}{fields}"), text.as_bytes());
                *state = State::Closing;
                io.close();
            }
        }
    }
}

/// A request of BOSH.
pub(crate) struct Exchange {
    tls: bool,
    pending: Pending,
    phase: Phase,
}

enum Phase {
    Body {
        reader: body::Reader,
        body: Vec<u8>,
        visitor: Visitor,
        held: Held,
    },
    /// Its session has the body.
    Answering,
}

/// Bytes of bodies above [`SMALL_BODY`] that are arriving at this worker. Others cannot use more memory than the clients of TCP.
#[derive(Default)]
pub(crate) struct LargeBodies(Rc<Cell<usize>>);

/// The part of one body.
struct Held {
    all: Rc<Cell<usize>>,
    bytes: usize,
}

const SMALL_BODY: usize = 10_000;
const MOST_LARGE_BODIES: usize = 16 * 1024 * 1024;

impl LargeBodies {
    fn hold(&self) -> Held {
        Held { all: Rc::clone(&self.0), bytes: 0 }
    }
}

impl Held {
    /// False: the bodies of all clients take too much.
    fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= SMALL_BODY {
            return true;
        }
        let all = self.all.get() - self.bytes + bytes;
        self.all.set(all);
        self.bytes = bytes;
        all <= MOST_LARGE_BODIES
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.set(self.all.get() - self.bytes);
    }
}

/// For the body of a request.
const BODY_TIME: Duration = Duration::from_secs(30);
/// A session answers after a minute at the latest.
const ANSWER_TIME: Duration = Duration::from_secs(75);

/// XEP-0124 §6: pages of other hosts read the answers. They carry no credentials of the browser.
const XML: &str = "content-type: text/xml; charset=utf-8\r\naccess-control-allow-origin: *\r\ncache-control: no-store\r\n\
                   x-content-type-options: nosniff\r\n";
const PREFLIGHT: &str = "access-control-allow-origin: *\r\naccess-control-allow-methods: POST, OPTIONS\r\n\
                         access-control-allow-headers: content-type\r\naccess-control-max-age: 7200\r\n";

impl Gateway {
    fn begin_exchange(
        &mut self,
        state: &mut State,
        head: &Head<'_>,
        tls: bool,
        mut visitor: Visitor,
        io: &mut edge::Io<'_>,
    ) -> Step {
        let config = &self.shared.config;
        let pending = Pending::of(head);
        let allows_plain = config.web.as_ref().is_some_and(|web| web.allows_plain);
        let refusal = match head.method {
            _ if !visitor.is_https && !allows_plain => Some((403, TEXT.to_owned(), PLAIN)),
            "POST" if has_no_body(head) => Some((400, TEXT.to_owned(), "the body is missing (XEP-0124)\n")),
            "POST" => None,
            "OPTIONS" => Some((200, PREFLIGHT.to_owned(), "")),
            _ => Some((405, format!("{TEXT}allow: POST, OPTIONS\r\n"), "this path takes POST (XEP-0124)\n")),
        };
        if let Some((status, fields, text)) = refusal {
            let pending = Pending { keep_alive: pending.keep_alive && has_no_body(head), ..pending };
            pending.send(io, status, &fields, text.as_bytes());
            pending.finish(state, tls, config.keep_alive, io);
            return Step::Again(head.bytes);
        }
        let reader = match body::Reader::new(head.framing, config.limits.stanza_bytes + bosh::ATTRIBUTE_BYTES)
        {
            Ok(reader) => reader,
            Err(offence) => return refuse(state, offence, io),
        };
        if head.expects_continue {
            io.send(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        visitor.address = visitor.address.or_else(|| Some(io.peer()?.ip()));
        let phase = Phase::Body { reader, body: Vec::new(), visitor, held: self.large_bodies.hold() };
        *state = State::Exchange(Box::new(Exchange { tls, pending, phase }));
        io.set_timer(Some(BODY_TIME));
        Step::Again(head.bytes)
    }

    pub(crate) fn read_body(&mut self, state: &mut State, input: &[u8], io: &mut edge::Io<'_>) -> Step {
        let State::Exchange(exchange) = state else { return Step::Wait(0) };
        let Phase::Body { reader, body, held, .. } = &mut exchange.phase else {
            // The next request waits until this one is answered.
            return Step::Wait(0);
        };
        let used = match reader.read(input, body) {
            Ok(used) => used,
            Err(offence) => return refuse(state, offence, io),
        };
        if !held.grow(body.capacity()) {
            return refuse(state, Offence::NoRoom, io);
        }
        if !reader.is_done() {
            return Step::Wait(used);
        }
        if let Phase::Body { body, visitor, .. } = std::mem::replace(&mut exchange.phase, Phase::Answering) {
            io.set_timer(Some(ANSWER_TIME));
            self.bosh_request(body, visitor, io.handle(), io.now());
        }
        Step::Again(used)
    }

    pub(crate) fn answer_exchange(&self, state: &mut State, answer: &[u8], io: &mut edge::Io<'_>) {
        let State::Exchange(exchange) = state else { return };
        if let Exchange { tls, pending, phase: Phase::Answering } = **exchange {
            pending.send(io, 200, XML, answer);
            pending.finish(state, tls, self.shared.config.keep_alive, io);
            io.set_reading(false);
            io.set_reading(true);
        }
    }

    pub(crate) fn exchange_is_late(state: &mut State, io: &mut edge::Io<'_>) {
        let State::Exchange(exchange) = state else { return };
        if matches!(exchange.phase, Phase::Body { .. }) {
            refuse(state, Offence::SlowBody, io);
        } else {
            *state = State::Closing;
            io.close();
        }
    }
}

/// The answer to a connection without TLS.
pub(super) const PLAIN: &str = "XMPP needs https here: anybody on the path could read passwords. A proxy that ends TLS must be in \
                                web.trusted_proxies and send X-Forwarded-Proto\n";

pub(super) fn has_no_body(head: &Head<'_>) -> bool {
    head.framing == http_proto::head::Framing::Length(0)
}

/// Refuses an invalid request and closes, because the start of the next one is unknown.
pub(super) fn refuse(state: &mut State, offence: Offence, io: &mut edge::Io<'_>) -> Step {
    let pending = Pending { keep_alive: false, is_head: false, version: Version::Http11 };
    pending.send(io, offence.status(), TEXT, format!("{}\n", offence.text()).as_bytes());
    *state = State::Closing;
    io.close();
    Step::Wait(0)
}
