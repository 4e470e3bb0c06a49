//! The part of HTTP/1.1 (RFC 9112) that a client of our server needs, strict about faults of the server.
//!
//! The code is our own, because one event loop drives tens of thousands of connections, and an idle one must own no
//! buffer and no task. An HTTP library keeps both for each connection. Single requests use [`crate::node_api`].

use std::fmt::Write;
use std::ops::Range;

use super::Fault;
use crate::target::Target;

/// Largest accepted head.
const MAX_HEAD_BYTES: usize = 8 * 1024;
const MAX_HEADERS: usize = 32;
const MAX_CHUNK_LINE_BYTES: usize = 64;

/// Appends a POST of JSON. `key`: the session's key, for `Authorization`.
pub(crate) fn post(target: &Target, path: &str, key: Option<&str>, body: &[u8], out: &mut Vec<u8>) {
    let mut head = String::with_capacity(256);
    let _ =
        write!(head, "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", target.host);
    if let Some(key) = key {
        let _ = write!(head, "Authorization: Kith {key}\r\n");
    }
    let _ = write!(head, "Content-Length: {}\r\n\r\n", body.len());
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
}

/// The relevant part of a response's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) bytes: usize,
    pub(crate) status: u16,
    pub(crate) body: Body,
    pub(crate) content: Content,
    pub(crate) upgraded: bool,
    pub(crate) closes: bool,
}

/// How the end of a body is determined (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Length(usize),
    Chunked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Ndjson,
    EventStream,
    Json,
    Other,
}

/// None: more bytes are needed.
pub(crate) fn head(input: &[u8], websocket_accept: &str) -> Result<Option<Head>, Fault> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut fields);
    let bytes = match response.parse(input) {
        Ok(httparse::Status::Complete(bytes)) => bytes,
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD_BYTES => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(Fault::Http("a head longer than 8 KiB")),
        Err(_) => return Err(Fault::Http("a malformed head")),
    };
    let status = response.code.unwrap_or(0);
    let mut head = Head {
        bytes,
        status,
        body: Body::Length(0),
        content: Content::Other,
        upgraded: false,
        closes: response.version == Some(0),
    };
    let (mut framed, mut accepted) = (false, false);
    for field in response.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(|_| Fault::Http("a field that is not text"))?;
        match field.name.to_ascii_lowercase().as_str() {
            "content-length" | "transfer-encoding" if framed => {
                return Err(Fault::Http("two lengths of one body"));
            }
            "content-length" => {
                let length = value.parse().map_err(|_| Fault::Http("a malformed Content-Length"))?;
                head.body = Body::Length(length);
                framed = true;
            }
            "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                head.body = Body::Chunked;
                framed = true;
            }
            "transfer-encoding" => return Err(Fault::Http("an unknown Transfer-Encoding")),
            "content-type" => head.content = content(value),
            "connection" if value.eq_ignore_ascii_case("close") => head.closes = true,
            "sec-websocket-accept" => accepted = value == websocket_accept,
            _ => {}
        }
    }
    head.upgraded = status == 101 && accepted;
    if status == 101 && !accepted {
        return Err(Fault::Http("a wrong Sec-WebSocket-Accept"));
    }
    // RFC 9110 §15.4.5: a 304 has no body; its length, if any, is that of the body that was not sent.
    if status == 304 {
        head.body = Body::Length(0);
        return Ok(Some(head));
    }
    let bodiless = status == 101 || status == 204;
    if bodiless && framed {
        return Err(Fault::Http("a body where none may be"));
    }
    if !bodiless && !framed {
        return Err(Fault::Http("a body without an end"));
    }
    Ok(Some(head))
}

fn content(value: &str) -> Content {
    match value.split(';').next().unwrap_or_default().trim() {
        "application/x-ndjson" => Content::Ndjson,
        "text/event-stream" => Content::EventStream,
        "application/json" => Content::Json,
        _ => Content::Other,
    }
}

/// One whole chunk at the start of `input`: the range of its data, and its length. Empty data: the end. None: more
/// bytes are needed.
pub(crate) fn chunk(input: &[u8]) -> Result<Option<(Range<usize>, usize)>, Fault> {
    let window = &input[..input.len().min(MAX_CHUNK_LINE_BYTES)];
    let Some(line) = window.windows(2).position(|two| two == b"\r\n") else {
        let too_long = input.len() >= MAX_CHUNK_LINE_BYTES;
        return if too_long { Err(Fault::Http("an endless chunk size")) } else { Ok(None) };
    };
    // The server has no reason to send extensions.
    let digits = std::str::from_utf8(&input[..line]).ok().filter(|text| !text.starts_with('+'));
    let size = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    let size = size.filter(|size| *size < 1 << 30).ok_or(Fault::Http("a malformed chunk size"))?;
    let data = line + 2..line + 2 + size;
    let end = data.end + 2;
    if input.len() < end {
        return Ok(None);
    }
    if &input[data.end..end] != b"\r\n" {
        return Err(Fault::Http("a chunk longer than it said"));
    }
    Ok(Some((data, end)))
}

/// The whole body at the start of `input`, joined if it was chunked, and its encoded length.
pub(crate) fn whole_body(body: Body, input: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Fault> {
    match body {
        Body::Length(length) => Ok(input.get(..length).map(|body| (body.to_vec(), length))),
        Body::Chunked => {
            let (mut joined, mut taken) = (Vec::new(), 0);
            while let Some((data, bytes)) = chunk(&input[taken..])? {
                joined.extend_from_slice(&input[taken..][data.clone()]);
                taken += bytes;
                if data.is_empty() {
                    return Ok(Some((joined, taken)));
                }
            }
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n";
        let found = head(text, "").unwrap().unwrap();
        assert_eq!((found.status, found.body, found.content), (200, Body::Chunked, Content::Ndjson));
        assert_eq!(found.bytes, text.len() - 3);
        assert_eq!(head(&text[..40], "").unwrap(), None);
        for unchanged in
            [&b"HTTP/1.1 304 N\r\netag: \"a\"\r\n\r\n"[..], b"HTTP/1.1 304 N\r\ncontent-length: 9\r\n\r\n"]
        {
            assert_eq!(head(unchanged, "").unwrap().unwrap().body, Body::Length(0));
        }
        let upgrade = b"HTTP/1.1 101 S\r\nupgrade: websocket\r\nsec-websocket-accept: abc\r\n\r\n";
        assert!(head(upgrade, "abc").unwrap().unwrap().upgraded);
        for bad in [
            &b"HTTP/1.1 101 S\r\nsec-websocket-accept: xyz\r\n\r\n"[..],
            b"HTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 204 No\r\ncontent-length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
            b"kith\r\n\r\n",
        ] {
            assert!(head(bad, "abc").is_err(), "{}", String::from_utf8_lossy(bad));
        }
        assert!(head(&[b'x'; 9000], "").is_err());
    }

    #[test]
    fn chunks() {
        assert_eq!(chunk(b"5\r\nhello\r\n3").unwrap(), Some((3..8, 10)));
        assert_eq!(chunk(b"0\r\n\r\n").unwrap(), Some((3..3, 5)));
        for partial in [&b""[..], b"5", b"5\r", b"5\r\nhell", b"5\r\nhello\r"] {
            assert_eq!(chunk(partial).unwrap(), None);
        }
        for bad in [&b"x\r\n"[..], b"+5\r\nhello\r\n", b"5\r\nhellooo", b"ffffffffffff\r\n", &[b'1'; 64]] {
            assert!(chunk(bad).is_err());
        }
        let whole = whole_body(Body::Chunked, b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\nHTTP").unwrap().unwrap();
        assert_eq!(whole, (b"abc".to_vec(), 18));
        assert_eq!(whole_body(Body::Length(2), b"abc").unwrap(), Some((b"ab".to_vec(), 2)));
        assert_eq!(whole_body(Body::Length(4), b"abc").unwrap(), None);
    }
}
