//! HTTP/1.1 request heads, strictly: the parser refuses heads that two servers could read differently (RFC 9112).

use httparse::{Header, Status};

/// Longest head (request line and headers), in bytes. The connection layer's input limit must not be smaller.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Longest request line, in bytes.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// Most header fields of one request.
const MAX_HEADERS: usize = 100;

/// Room for the fields of one head, on the stack of the caller.
pub type Fields<'a> = [Header<'a>; MAX_HEADERS];

/// Nothing parsed yet.
pub const NO_FIELDS: Fields<'static> = [httparse::EMPTY_HEADER; MAX_HEADERS];

/// A request head with a single meaning.
#[derive(Debug)]
pub struct Head<'a> {
    pub method: &'a str,
    /// Path of the target, always with its leading `/` (or `*` of `OPTIONS *`).
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub version: Version,
    pub host: &'a str,
    pub framing: Framing,
    /// The connection may carry another request after this one.
    pub keep_alive: bool,
    pub expects_continue: bool,
    pub origin: Option<&'a str>,
    pub authorization: Option<&'a str>,
    /// A proxy has forwarded this request, so the peer is not the client.
    pub forwarded: bool,
    pub fields: &'a [Header<'a>],
    /// Length of the head in the input, with the empty line.
    pub bytes: usize,
}

impl<'a> Head<'a> {
    /// The value of the first field of this name.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    }

    /// Whether a comma-separated field has this token in any of its lines (RFC 9110 §5.6.1).
    pub fn has_token(&self, name: &str, token: &str) -> bool {
        self.fields
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(name))
            .flat_map(|field| field.value.split(|&byte| byte == b','))
            .any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Http10,
    Http11,
}

/// How the body's end is found (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
}

/// Why a request is refused for its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Offence {
    /// CR without LF or LF without CR (RFC 9112 §2.2 lets recipients accept the latter; that is how requests are smuggled).
    BareLineEnd,
    /// A control byte inside the head.
    ControlByte,
    /// A header line that begins with white space (obs-fold, RFC 9112 §5.2).
    FoldedHeader,
    /// Not `method SP target SP HTTP/x.y`.
    BadRequestLine,
    BadVersion,
    /// A field line that is not `token ":" value`, white space before the colon included (RFC 9112 §5.1).
    BadHeader,
    /// A field that may be there once is there twice.
    RepeatedHeader,
    /// No Host, two of them, or one that is no host (RFC 9112 §3.2).
    BadHost,
    /// Content-Length beside Transfer-Encoding.
    BothLengths,
    /// Content-Length more than once, not of digits only, or too big for any machine.
    BadLength,
    /// Transfer-Encoding other than exactly `chunked`, or with HTTP/1.0.
    BadTransferCoding,
    /// A chunked body that breaks RFC 9112 §7.1.
    BadChunk,
    TargetTooLong,
    HeadTooLarge,
    TooManyHeaders,
    BodyTooLarge,
    /// Expect other than `100-continue`.
    BadExpectation,
    /// The head did not arrive in time.
    SlowHead,
    /// The body did not arrive in time.
    SlowBody,
    /// Too many unfinished bodies are held already, and this one has been unfinished for longest.
    NoRoom,
    /// The client behind a trusted proxy has the most connections that it may have.
    TooManyConnections,
}

impl Offence {
    /// All of them, for metrics and tests.
    pub const ALL: [Offence; 21] = [
        Offence::BareLineEnd,
        Offence::ControlByte,
        Offence::FoldedHeader,
        Offence::BadRequestLine,
        Offence::BadVersion,
        Offence::BadHeader,
        Offence::RepeatedHeader,
        Offence::BadHost,
        Offence::BothLengths,
        Offence::BadLength,
        Offence::BadTransferCoding,
        Offence::BadChunk,
        Offence::TargetTooLong,
        Offence::HeadTooLarge,
        Offence::TooManyHeaders,
        Offence::BodyTooLarge,
        Offence::BadExpectation,
        Offence::SlowHead,
        Offence::SlowBody,
        Offence::NoRoom,
        Offence::TooManyConnections,
    ];

    /// Status, the word for logs and metrics, and the sentence for people.
    const fn about(self) -> (u16, &'static str, &'static str) {
        match self {
            Offence::BareLineEnd => (400, "bare_line_end", "a line must end with CR LF"),
            Offence::ControlByte => (400, "control_byte", "control byte in the head"),
            Offence::FoldedHeader => (400, "folded_header", "folded header line"),
            Offence::BadRequestLine => (400, "bad_request_line", "malformed request line"),
            Offence::BadVersion => (505, "bad_version", "only HTTP/1.0 and HTTP/1.1 are spoken here"),
            Offence::BadHeader => (400, "bad_header", "malformed header line"),
            Offence::RepeatedHeader => (400, "repeated_header", "this header may be given once"),
            Offence::BadHost => (400, "bad_host", "exactly one valid Host is needed"),
            Offence::BothLengths => (400, "both_lengths", "Content-Length and Transfer-Encoding"),
            Offence::BadLength => (400, "bad_length", "bad Content-Length"),
            Offence::BadTransferCoding => (400, "bad_transfer_coding", "bad Transfer-Encoding"),
            Offence::BadChunk => (400, "bad_chunk", "malformed chunked body"),
            Offence::TargetTooLong => (414, "target_too_long", "the request line is too long"),
            Offence::HeadTooLarge => (431, "head_too_large", "the headers are too large"),
            Offence::TooManyHeaders => (431, "too_many_headers", "too many headers"),
            Offence::BodyTooLarge => (413, "body_too_large", "the body is too large"),
            Offence::BadExpectation => (417, "bad_expectation", "unknown expectation"),
            Offence::SlowHead => (408, "slow_head", "the request took too long"),
            Offence::SlowBody => (408, "slow_body", "the body took too long"),
            Offence::NoRoom => (503, "no_room", "too many unfinished requests"),
            Offence::TooManyConnections => {
                (429, "too_many_connections", "this address has too many connections")
            }
        }
    }

    pub const fn status(self) -> u16 {
        self.about().0
    }

    pub const fn word(self) -> &'static str {
        self.about().1
    }

    pub const fn text(self) -> &'static str {
        self.about().2
    }
}

/// Reads one head from the beginning of `input`; None while it is not complete.
pub fn parse<'a>(input: &'a [u8], room: &'a mut Fields<'a>) -> Result<Option<Head<'a>>, Offence> {
    // RFC 9112 §2.2: an empty line before the request line is ignored; old clients end a POST with one.
    let skipped = if input.starts_with(b"\r\n") { 2 } else { 0 };
    let Some(end) = find_end(&input[skipped..])? else { return Ok(None) };
    let bytes = &input[skipped..skipped + end];

    let mut request = httparse::Request::new(room);
    match request.parse(bytes) {
        Ok(Status::Complete(length)) if length == end => {}
        Ok(_) => return Err(Offence::BadHeader),
        Err(error) => return Err(offence_of(error)),
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(Offence::BadRequestLine);
    };
    // Exactly one space on either side: httparse's leniency is none of ours.
    if !bytes[method.len() + 1 + target.len() + 1..].starts_with(b"HTTP/1.") {
        return Err(Offence::BadRequestLine);
    }
    let version = if minor == 0 { Version::Http10 } else { Version::Http11 };
    let fields = Known::of(request.headers, version)?;
    let (path, query) = split_target(method, target, fields.host)?;
    Ok(Some(Head {
        method,
        path,
        query,
        version,
        host: fields.host,
        framing: fields.framing,
        keep_alive: fields.keep_alive,
        expects_continue: fields.expects_continue,
        origin: fields.origin,
        authorization: fields.authorization,
        forwarded: fields.forwarded,
        fields: request.headers,
        bytes: skipped + end,
    }))
}

/// Where the head ends, once its lines are beyond doubt. Fails as early as the bytes allow.
fn find_end(input: &[u8]) -> Result<Option<usize>, Offence> {
    let mut start = 0;
    let mut lines = 0;
    loop {
        let rest = &input[start..];
        let first_special = rest.iter().position(|&byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f);
        if lines > 0 && matches!(rest.first(), Some(b' ' | b'\t')) {
            return Err(Offence::FoldedHeader);
        }
        let length = match first_special {
            None => rest.len(),
            Some(at) => match (rest[at], rest.get(at + 1)) {
                (b'\r', None | Some(b'\n')) => at,
                (b'\r' | b'\n', _) => return Err(Offence::BareLineEnd),
                _ => return Err(Offence::ControlByte),
            },
        };
        if lines == 0 && length > MAX_LINE_BYTES {
            return Err(Offence::TargetTooLong);
        }
        if start + length > MAX_HEAD_BYTES {
            return Err(Offence::HeadTooLarge);
        }
        if first_special.is_none() || start + length + 1 == input.len() {
            return Ok(None);
        }
        start += length + 2;
        if length == 0 {
            return if lines == 0 { Err(Offence::BadRequestLine) } else { Ok(Some(start)) };
        }
        lines += 1;
        if lines > MAX_HEADERS + 1 {
            return Err(Offence::TooManyHeaders);
        }
    }
}

fn offence_of(error: httparse::Error) -> Offence {
    match error {
        httparse::Error::HeaderName | httparse::Error::HeaderValue | httparse::Error::NewLine => {
            Offence::BadHeader
        }
        httparse::Error::TooManyHeaders => Offence::TooManyHeaders,
        httparse::Error::Version => Offence::BadVersion,
        httparse::Error::Token | httparse::Error::Status => Offence::BadRequestLine,
    }
}

/// The fields about framing and about the client.
struct Known<'a> {
    host: &'a str,
    framing: Framing,
    keep_alive: bool,
    expects_continue: bool,
    origin: Option<&'a str>,
    authorization: Option<&'a str>,
    forwarded: bool,
}

impl<'a> Known<'a> {
    fn of(fields: &[Header<'a>], version: Version) -> Result<Known<'a>, Offence> {
        let (mut host, mut length, mut coding, mut expect) = (None, None, None, None);
        let (mut origin, mut authorization) = (None, None);
        let (mut close, mut persist, mut forwarded) = (false, false, false);
        for field in fields {
            let name = field.name;
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            // By length first: most fields of a browser are none of these.
            match name.len() {
                4 if is("host") => once(&mut host, field, Offence::BadHost)?,
                6 if is("origin") => once(&mut origin, field, Offence::RepeatedHeader)?,
                6 if is("expect") => once(&mut expect, field, Offence::BadExpectation)?,
                9 | 15 | 16 if is("forwarded") || is("x-forwarded-for") || is("x-forwarded-host") => {
                    forwarded = true;
                }
                9 if is("x-real-ip") => forwarded = true,
                10 if is("connection") => {
                    for token in field.value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                        close |= token.eq_ignore_ascii_case(b"close");
                        persist |= token.eq_ignore_ascii_case(b"keep-alive");
                    }
                }
                13 if is("authorization") => once(&mut authorization, field, Offence::RepeatedHeader)?,
                14 if is("content-length") => once(&mut length, field, Offence::BadLength)?,
                17 if is("transfer-encoding") => once(&mut coding, field, Offence::BadTransferCoding)?,
                _ => {}
            }
        }
        Ok(Known {
            host: host_of(host, version)?,
            framing: framing_of(length, coding, version)?,
            keep_alive: !close && (version == Version::Http11 || persist),
            expects_continue: match expect {
                None => false,
                // RFC 9110 §10.1.1: a 1.0 client did not mean it.
                Some(value) if value.eq_ignore_ascii_case(b"100-continue") => version == Version::Http11,
                Some(_) => return Err(Offence::BadExpectation),
            },
            origin: text_of(origin)?,
            authorization: text_of(authorization)?,
            forwarded,
        })
    }
}

fn once<'a>(slot: &mut Option<&'a [u8]>, field: &Header<'a>, offence: Offence) -> Result<(), Offence> {
    match slot.replace(field.value) {
        None => Ok(()),
        Some(_) => Err(offence),
    }
}

fn text_of(value: Option<&[u8]>) -> Result<Option<&str>, Offence> {
    value.map(std::str::from_utf8).transpose().map_err(|_| Offence::BadHeader)
}

/// RFC 9112 §3.2: exactly one with 1.1; a 1.0 client may leave it out.
fn host_of(value: Option<&[u8]>, version: Version) -> Result<&str, Offence> {
    let Some(value) = value else {
        return if version == Version::Http10 { Ok("") } else { Err(Offence::BadHost) };
    };
    let legal = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+;=".contains(&byte);
    if value.is_empty() || value.len() > 300 || !value.iter().all(legal) {
        return Err(Offence::BadHost);
    }
    std::str::from_utf8(value).map_err(|_| Offence::BadHost)
}

fn framing_of(length: Option<&[u8]>, coding: Option<&[u8]>, version: Version) -> Result<Framing, Offence> {
    match (length, coding) {
        (Some(_), Some(_)) => Err(Offence::BothLengths),
        (None, None) => Ok(Framing::Length(0)),
        (None, Some(coding)) => {
            let exact = coding.eq_ignore_ascii_case(b"chunked") && version == Version::Http11;
            if exact { Ok(Framing::Chunked) } else { Err(Offence::BadTransferCoding) }
        }
        (Some(digits), None) => parse_length(digits).map(Framing::Length).ok_or(Offence::BadLength),
    }
}

/// `1*DIGIT` (RFC 9110 §8.6), no sign, no list.
fn parse_length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

/// Origin-form, absolute-form for this very host, or `OPTIONS *` (RFC 9112 §3.2).
fn split_target<'a>(
    method: &str,
    target: &'a str,
    host: &str,
) -> Result<(&'a str, Option<&'a str>), Offence> {
    if !target.bytes().all(|byte| (0x21..=0x7e).contains(&byte) && byte != b'#') {
        return Err(Offence::BadRequestLine);
    }
    if target == "*" && method == "OPTIONS" {
        return Ok((target, None));
    }
    let origin_form = match target.strip_prefix("http://").or_else(|| target.strip_prefix("https://")) {
        None => target,
        Some(rest) => {
            let authority = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
            // A proxy and we could differ in which of the two counts, so both must say the same.
            if !authority.eq_ignore_ascii_case(host) {
                return Err(Offence::BadHost);
            }
            &rest[authority.len()..]
        }
    };
    let (path, query) = match origin_form.split_once('?') {
        None => (origin_form, None),
        Some((path, query)) => (path, Some(query)),
    };
    match path {
        "" => Ok(("/", query)),
        _ if path.starts_with('/') => Ok((path, query)),
        _ => Err(Offence::BadRequestLine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offence(input: &str) -> Option<Offence> {
        parse(input.as_bytes(), &mut NO_FIELDS.clone()).err()
    }

    fn with<T>(input: &str, look: impl FnOnce(&Head<'_>) -> T) -> T {
        let mut room = NO_FIELDS;
        look(&parse(input.as_bytes(), &mut room).unwrap().unwrap())
    }

    #[test]
    fn reads_a_plain_request() {
        with("GET /a/b?c=d HTTP/1.1\r\nHost: x.example:80\r\nOrigin: https://y\r\n\r\nrest", |head| {
            assert_eq!((head.method, head.path, head.query), ("GET", "/a/b", Some("c=d")));
            assert_eq!((head.host, head.origin), ("x.example:80", Some("https://y")));
            assert_eq!((head.framing, head.keep_alive), (Framing::Length(0), true));
            assert_eq!(head.bytes, 64);
        });
    }

    /// Every documented refusal, by the request that earns it.
    #[test]
    fn attacks_are_refused_by_name() {
        let many = format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "a: b\r\n".repeat(MAX_HEADERS));
        let large = format!("GET / HTTP/1.1\r\nHost: x\r\na: {}\r\n\r\n", "b".repeat(MAX_HEAD_BYTES));
        let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(MAX_LINE_BYTES));
        let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n");
        let get = |fields: &str| format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n");
        let table: &[(&str, Offence)] = &[
            ("GET / HTTP/1.1\nHost: x\n\n", Offence::BareLineEnd),
            ("GET / HTTP/1.1\r\nHost: x\n\r\n", Offence::BareLineEnd),
            ("GET / HTTP/1.1\rHost: x\r\n\r\n", Offence::BareLineEnd),
            (&get("Host: x\r\na: b\rc: d"), Offence::BareLineEnd),
            (&get("Host: x\r\na: b\0c"), Offence::ControlByte),
            (&get("Host: x\r\na: b\x07c"), Offence::ControlByte),
            (&get("Host: x\r\na: b\x7f"), Offence::ControlByte),
            (&get("Host: x\r\na: b\r\n c"), Offence::FoldedHeader),
            (&get("Host: x\r\na: b\r\n\tc"), Offence::FoldedHeader),
            (&get(" Host: x"), Offence::FoldedHeader),
            (&get("Host : x"), Offence::BadHeader),
            (&get("Host: x\r\nno colon"), Offence::BadHeader),
            (&get("Host: x\r\n: empty"), Offence::BadHeader),
            (&get("Host: x\r\n(a): b"), Offence::BadHeader),
            ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadRequestLine),
            ("GET /  HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadVersion),
            ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadVersion),
            ("GET / HTTP/1.1 \r\nHost: x\r\n\r\n", Offence::BadHeader),
            ("GET /#a HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadRequestLine),
            ("GET /\u{e4} HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadRequestLine),
            ("GET x HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadRequestLine),
            ("CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", Offence::BadRequestLine),
            ("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadRequestLine),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Offence::BadVersion),
            ("GET / HTTP/0.9\r\nHost: x\r\n\r\n", Offence::BadVersion),
            (&get("a: b"), Offence::BadHost),
            (&get("Host: x\r\nHost: x"), Offence::BadHost),
            (&get("Host: x/y"), Offence::BadHost),
            (&get("Host: a@b"), Offence::BadHost),
            (&get("Host: x, y"), Offence::BadHost),
            (&get("Host:"), Offence::BadHost),
            ("GET http://evil/ HTTP/1.1\r\nHost: x\r\n\r\n", Offence::BadHost),
            (&post("Content-Length: 1\r\nTransfer-Encoding: chunked"), Offence::BothLengths),
            (&post("Content-Length: 1\r\nContent-Length: 2"), Offence::BadLength),
            (&post("Content-Length: 1\r\nContent-Length: 1"), Offence::BadLength),
            (&post("Content-Length: 1, 1"), Offence::BadLength),
            (&post("Content-Length: +1"), Offence::BadLength),
            (&post("Content-Length: -1"), Offence::BadLength),
            (&post("Content-Length: 0x1"), Offence::BadLength),
            (&post("Content-Length: 1 1"), Offence::BadLength),
            (&post("Content-Length:"), Offence::BadLength),
            (&post("Content-Length: 99999999999999999999"), Offence::BadLength),
            (&post("Transfer-Encoding: gzip, chunked"), Offence::BadTransferCoding),
            (&post("Transfer-Encoding: chunked, identity"), Offence::BadTransferCoding),
            (&post("Transfer-Encoding: xchunked"), Offence::BadTransferCoding),
            (&post("Transfer-Encoding: identity"), Offence::BadTransferCoding),
            (&post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), Offence::BadTransferCoding),
            ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Offence::BadTransferCoding),
            (&post("Authorization: a\r\nAuthorization: b"), Offence::RepeatedHeader),
            (&post("Origin: a\r\nOrigin: b"), Offence::RepeatedHeader),
            (&post("Expect: the-unexpected"), Offence::BadExpectation),
            (&long, Offence::TargetTooLong),
            (&large, Offence::HeadTooLarge),
            (&many, Offence::TooManyHeaders),
        ];
        for (input, expected) in table {
            assert_eq!(offence(input), Some(*expected), "{:?}", &input[..input.len().min(120)]);
        }
    }

    #[test]
    fn an_endless_line_is_refused_before_it_ends() {
        assert_eq!(offence(&"G".repeat(MAX_LINE_BYTES + 1)), Some(Offence::TargetTooLong));
        let head = format!("GET / HTTP/1.1\r\nHost: x\r\na: {}", "b".repeat(MAX_HEAD_BYTES));
        assert_eq!(offence(&head), Some(Offence::HeadTooLarge));
    }

    #[test]
    fn transfer_coding_hidden_by_odd_white_space_is_seen() {
        // RFC 9110 §5.5: white space around the value is no part of it, whichever it is.
        let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\t chunked \t\r\n\r\n";
        with(head, |head| assert_eq!(head.framing, Framing::Chunked));
        let vertical_tab = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n";
        assert_eq!(offence(vertical_tab), Some(Offence::ControlByte));
    }

    #[test]
    fn old_and_closing_clients_do_not_stay() {
        with("GET / HTTP/1.0\r\n\r\n", |head| assert!(!head.keep_alive));
        with("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", |head| assert!(head.keep_alive));
        with("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n", |head| {
            assert!(!head.keep_alive);
        });
    }

    #[test]
    fn absolute_targets_lose_their_authority() {
        with("GET http://x?a HTTP/1.1\r\nHost: x\r\n\r\n", |head| {
            assert_eq!((head.path, head.query), ("/", Some("a")));
        });
        with("GET http://X.example/p?a HTTP/1.1\r\nHost: x.example\r\n\r\n", |head| {
            assert_eq!((head.path, head.query), ("/p", Some("a")));
        });
    }

    #[test]
    fn one_empty_line_before_a_request_is_ignored() {
        with("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", |head| assert_eq!(head.bytes, 29));
    }
}
