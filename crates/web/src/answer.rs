//! HTTP answers: status lines, framing, CORS.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edge::Io;
use http_proto::head::{Head, Offence, Version};
use web_proto::{Code, Event};

/// State of a request until its answer.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) keep_alive: bool,
    pub(crate) is_head: bool,
    pub(crate) version: Version,
    /// The origin that may read the answer.
    pub(crate) cors: Option<Box<str>>,
    pub(crate) what: Awaited,
}

/// Where the answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// The pages and REST.
    Rest,
    /// A session, to which the request posts commands.
    Posted,
    /// The welcome of a new session on this connection.
    Stream,
    Sse,
    /// The welcome of a new session that polls.
    PollHello,
    /// Events of a session between polls.
    Poll,
}

impl Pending {
    pub(crate) fn of(head: &Head<'_>, what: Awaited) -> Pending {
        Pending {
            keep_alive: head.keep_alive,
            is_head: head.method == "HEAD",
            version: head.version,
            cors: None,
            what,
        }
    }

    /// Sends a whole answer.
    pub(crate) fn send(&self, io: &mut Io<'_>, status: u16, fields: &str, body: &[u8]) {
        let mut head = self.begin(io, status, fields);
        end_with_length(&mut head, status, body.len());
        let body = if self.is_head || has_no_body(status) { &[] } else { body };
        io.send_parts(&[head.as_bytes(), body]);
    }

    /// Answers with a shared body. Returns the rest of a large one: [`send_piece`] sends it.
    #[must_use]
    pub(crate) fn send_shared(
        &self,
        io: &mut Io<'_>,
        status: u16,
        fields: &str,
        body: Option<&Bytes>,
        length: usize,
    ) -> Bytes {
        let mut head = self.begin(io, status, fields);
        end_with_length(&mut head, status, length);
        io.send(head.as_bytes());
        let body = body.filter(|_| !self.is_head && !has_no_body(status));
        send_piece(body.cloned().unwrap_or_default(), io)
    }

    /// Sends an answer that is ready but for status, Date and Connection. Returns the rest, as `send_shared` does.
    #[must_use]
    pub(crate) fn send_ready(&self, io: &mut Io<'_>, date: &mut DateLine, status: u16, rest: Bytes) -> Bytes {
        let line = match status {
            200 => "HTTP/1.1 200 OK\r\n",
            206 => "HTTP/1.1 206 Partial Content\r\n",
            304 => "HTTP/1.1 304 Not Modified\r\n",
            412 => "HTTP/1.1 412 Precondition Failed\r\n",
            _ => "HTTP/1.1 416 Range Not Satisfiable\r\n",
        };
        let date = date.at(io.now().unix_ms / 1000);
        io.send_parts(&[line.as_bytes(), date.as_bytes(), self.connection().as_bytes()]);
        send_piece(rest, io)
    }

    /// The head of an answer whose chunks follow as they come.
    pub(crate) fn send_chunked_head(&self, io: &mut Io<'_>, content_type: &str) {
        let fields = format!(
            "content-type: {content_type}\r\ntransfer-encoding: chunked\r\ncache-control: no-store\r\n\
             x-accel-buffering: no\r\nx-content-type-options: nosniff\r\n"
        );
        let mut head = self.begin(io, 200, &fields);
        head.push_str("\r\n");
        io.send(head.as_bytes());
    }

    /// One frame as the whole answer, with the status of its code.
    pub(crate) fn send_event(&self, io: &mut Io<'_>, code: Code, event: &Event<'_>) {
        let mut body = Vec::new();
        event.write(&mut body);
        self.send(io, code.http_status(), JSON, &body);
    }

    fn begin(&self, io: &Io<'_>, status: u16, fields: &str) -> String {
        let mut head = String::with_capacity(384 + fields.len());
        let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_millis(io.now().unix_ms));
        write!(head, "HTTP/1.1 {status} {}\r\ndate: {date}\r\n", reason(status)).expect("a String takes all");
        head.push_str(self.connection());
        if let Some(origin) = &self.cors {
            write!(head, "access-control-allow-origin: {origin}\r\nvary: origin\r\n")
                .expect("a String takes all");
        }
        if status == 401 {
            // RFC 9110 §15.5.2 asks for it. Of the two places of a token, the body of a hello has no scheme.
            head.push_str("www-authenticate: Bearer realm=\"kith\"\r\n");
        }
        head.push_str(fields);
        head
    }

    fn connection(&self) -> &'static str {
        match (self.keep_alive, self.version) {
            (false, _) => "connection: close\r\n",
            (true, Version::Http10) => "connection: keep-alive\r\n",
            (true, Version::Http11) => "",
        }
    }
}

/// `date: …`, written once a second.
#[derive(Debug, Default)]
pub(crate) struct DateLine {
    second: u64,
    line: String,
}

impl DateLine {
    fn at(&mut self, second: u64) -> &str {
        if self.second != second || self.line.is_empty() {
            let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
            *self = DateLine { second, line: format!("date: {date}\r\n") };
        }
        &self.line
    }
}

impl Awaited {
    /// A hello. `bye` refuses a hello, `error` everything else.
    pub(crate) fn is_hello(self) -> bool {
        matches!(self, Awaited::Stream | Awaited::Sse | Awaited::PollHello)
    }
}

/// So much of a large body is sent at a time: more than the connection layer's soft limit, so that it says when a piece
/// is written.
const PIECE_BYTES: usize = 256 * 1024;

/// Sends the next piece of a body. Returns the rest.
pub(crate) fn send_piece(mut body: Bytes, io: &mut Io<'_>) -> Bytes {
    let piece = body.split_to(body.len().min(PIECE_BYTES));
    io.send_shared(piece);
    body
}

/// Fields of every frame that is a whole answer.
pub(crate) const JSON: &str =
    "content-type: application/json\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n";
pub(crate) const TEXT: &str = "content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n";

/// Refuses an invalid request and closes, because the start of the next request is unknown.
pub(crate) fn refuse(io: &mut Io<'_>, offence: Offence) {
    let pending = Pending {
        keep_alive: false,
        is_head: false,
        version: Version::Http11,
        cors: None,
        what: Awaited::Rest,
    };
    pending.send(io, offence.status(), TEXT, format!("{}\n", offence.text()).as_bytes());
    io.close();
}

fn end_with_length(head: &mut String, status: u16, length: usize) {
    // RFC 9110 §8.6: none with 1xx and 204; a 304 may do without.
    if has_no_body(status) {
        head.push_str("\r\n");
    } else {
        write!(head, "content-length: {length}\r\n\r\n").expect("a String takes all");
    }
}

fn has_no_body(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

fn reason(status: u16) -> &'static str {
    axum::http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("")
}
