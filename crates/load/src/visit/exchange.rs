//! One request and its response on a kept connection, as in a browser. The body is counted, not kept.
//!
//! The code is our own, unlike that of single requests ([`crate::node_api`]). An event loop carries thousands of these
//! connections, and one without a request owns no buffer.

use crate::client::Fault;
use crate::client::http::{self, Body, Content};
use crate::target::Target;

/// Encodings that a browser accepts. The generator decodes nothing: it counts encoded bytes.
pub(super) const PACKED: &str = "gzip, deflate, br";
pub(super) const PLAIN: &str = "identity";
pub(super) const AGENT: &str = "Mozilla/5.0 (kith load)";

/// Appends a GET; with the tag of a cached file, it is conditional.
pub(super) fn get(target: &Target, path: &str, codings: &str, tag: Option<&str>, out: &mut Vec<u8>) {
    begin("GET", target, path, out);
    field("Accept-Encoding", codings, out);
    if let Some(tag) = tag {
        field("If-None-Match", tag, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a POST without a body, as the page's own script sends it.
pub(super) fn post(target: &Target, path: &str, out: &mut Vec<u8>) {
    begin("POST", target, path, out);
    field("Accept-Encoding", PACKED, out);
    field("Origin", &target.url(), out);
    field("Content-Length", "0", out);
    out.extend_from_slice(b"\r\n");
}

fn begin(method: &str, target: &Target, path: &str, out: &mut Vec<u8>) {
    for part in [method, " ", path, " HTTP/1.1\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    field("Host", &target.host, out);
    field("User-Agent", AGENT, out);
    field("Accept", "*/*", out);
    field("Accept-Language", "en", out);
    field("Sec-Fetch-Site", "same-origin", out);
}

fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    for part in [name, ": ", value, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// The end of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) json: bool,
    /// The server will close the connection.
    pub(super) closes: bool,
}

/// Reads one response after the other, strictly (RFC 9112 §6.3): a body must end where its head announced.
#[derive(Debug, Default)]
pub(super) struct Reading {
    answer: Option<Answer>,
    rest: Rest,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Rest {
    #[default]
    Head,
    Bytes(usize),
    Chunks,
}

impl Reading {
    /// Whether no byte of a response has come yet.
    pub(super) fn is_new(&self) -> bool {
        self.answer.is_none()
    }

    /// Reads input; returns the number of consumed bytes, and the response once it is complete.
    pub(super) fn read(&mut self, input: &[u8]) -> Result<(usize, Option<Answer>), Fault> {
        let mut taken = 0;
        loop {
            let rest = &input[taken..];
            match self.rest {
                Rest::Head => {
                    let Some(head) = http::head(rest, "")? else { return Ok((taken, None)) };
                    taken += head.bytes;
                    let json = head.content == Content::Json;
                    self.answer = Some(Answer { status: head.status, json, closes: head.closes });
                    self.rest = match head.body {
                        Body::Length(bytes) => Rest::Bytes(bytes),
                        Body::Chunked => Rest::Chunks,
                    };
                }
                Rest::Bytes(0) => return Ok((taken, self.end())),
                Rest::Bytes(_) if rest.is_empty() => return Ok((taken, None)),
                Rest::Bytes(left) => {
                    let now = left.min(rest.len());
                    taken += now;
                    self.rest = Rest::Bytes(left - now);
                }
                Rest::Chunks => {
                    let Some((data, bytes)) = http::chunk(rest)? else { return Ok((taken, None)) };
                    taken += bytes;
                    if data.is_empty() {
                        return Ok((taken, self.end()));
                    }
                }
            }
        }
    }

    fn end(&mut self) -> Option<Answer> {
        self.rest = Rest::Head;
        self.answer.take()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads responses that arrive in pieces of this size, as `edge` passes them on. Also returns the number of bytes
    /// left.
    fn read_in_pieces(bytes: &[u8], piece: usize) -> Result<(usize, Vec<Answer>), Fault> {
        let (mut reading, mut answers, mut waiting) = (Reading::default(), Vec::new(), Vec::new());
        for piece in bytes.chunks(piece) {
            waiting.extend_from_slice(piece);
            loop {
                let (taken, answer) = reading.read(&waiting)?;
                waiting.drain(..taken);
                answers.extend(answer);
                if answer.is_none() || waiting.is_empty() {
                    break;
                }
            }
        }
        Ok((waiting.len(), answers))
    }

    proptest! {
        #[test]
        fn an_answer_is_the_same_in_any_pieces(piece in 1_usize..200) {
            let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: br\r\n\r\nhello\
                HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n\
                HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
                3\r\n, y\r\n2\r\nou\r\n0\r\n\r\n\
                HTTP/1.1 503 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            let (left, answers) = read_in_pieces(bytes, piece).unwrap();
            prop_assert_eq!(left, 0);
            let seen: Vec<_> = answers.iter().map(|it| (it.status, it.json, it.closes)).collect();
            prop_assert_eq!(seen, [(200, false, false), (304, false, false), (200, true, false), (503, false, true)]);
        }

        #[test]
        fn nothing_from_outside_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1_usize..64) {
            let _ = read_in_pieces(&bytes, piece);
            let _ = read_in_pieces(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &bytes[..]].concat(), piece);
        }
    }

    #[test]
    fn a_body_without_an_end_is_a_fault() {
        for bad in
            ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "nonsense\r\n\r\n"]
        {
            assert!(read_in_pieces(bad.as_bytes(), 7).is_err(), "{bad}");
        }
    }

    #[test]
    fn requests_are_those_of_a_browser() {
        let target = Target::parse("http://127.0.0.1:8080").unwrap();
        let mut out = Vec::new();
        get(&target, "/kith.js", PACKED, Some("\"x-br\""), &mut out);
        let text = String::from_utf8(std::mem::take(&mut out)).unwrap();
        assert!(text.starts_with("GET /kith.js HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"), "{text}");
        assert!(
            text.contains("\r\nAccept-Encoding: gzip, deflate, br\r\nIf-None-Match: \"x-br\"\r\n\r\n"),
            "{text}"
        );
        post(&target, "/as/anna/kith-token", &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\r\nOrigin: http://127.0.0.1:8080\r\nContent-Length: 0\r\n\r\n"), "{text}");
    }
}
