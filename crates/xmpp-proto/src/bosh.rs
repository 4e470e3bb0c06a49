//! The `body` of BOSH (XEP-0124, XEP-0206): requests of clients, and answers to them.

use crate::ns;
use crate::xml::{Element, Open};

/// XEP-0124 §7.1: the largest number that a request may have.
const LARGEST_RID: u64 = (1 << 53) - 1;

/// The attributes of a request. Its elements are the children of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The number of the request.
    pub rid: u64,
    /// None: the client wants a new session.
    pub sid: Option<&'a str>,
    pub to: Option<&'a str>,
    pub lang: Option<&'a str>,
    /// Seconds that the client lets a request wait. None: the client did not say.
    pub wait: Option<u16>,
    /// Requests that the client lets wait at the same time.
    pub hold: Option<u8>,
    /// The client has sent the version of XMPP, so it knows XEP-0206.
    pub is_xmpp: bool,
    /// XEP-0124 §9: the client wants to know which requests have arrived.
    pub wants_ack: bool,
    /// XEP-0124 §11: seconds without a request that the client asks for.
    pub pause: Option<u16>,
    /// XEP-0124 §13: the client ends the session.
    pub is_end: bool,
    /// XEP-0206 §5: the client begins a new stream.
    pub is_restart: bool,
}

impl<'a> Request<'a> {
    /// XEP-0124 §7.2, §8. An error is a [`Condition::BadRequest`].
    pub fn of(body: Element<'a>) -> Result<Request<'a>, Condition> {
        if !body.is("body", ns::BOSH) {
            return Err(Condition::BadRequest);
        }
        let rid = body.attr("rid").and_then(number).filter(|rid| (1..=LARGEST_RID).contains(rid));
        let seconds =
            |name| body.attr(name).map(|text| number(text).ok_or(Condition::BadRequest)).transpose();
        let least = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
        Ok(Request {
            rid: rid.ok_or(Condition::BadRequest)?,
            sid: body.attr("sid"),
            to: body.attr("to"),
            lang: body.lang(),
            wait: seconds("wait")?.map(least),
            hold: seconds("hold")?.map(|hold| u8::try_from(hold).unwrap_or(u8::MAX)),
            is_xmpp: body.attr_ns(ns::XBOSH, "version").is_some(),
            wants_ack: body.attr("ack").is_some(),
            pause: seconds("pause")?.map(least),
            is_end: body.attr("type") == Some("terminate"),
            is_restart: matches!(body.attr_ns(ns::XBOSH, "restart"), Some("true" | "1")),
        })
    }
}

/// Digits only: `u64::from_str` also takes a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The `sid` in the start tag of a body, before the body is parsed. The parsed one decides.
pub fn peek_sid(body: &[u8]) -> Option<&str> {
    let end = body.iter().position(|byte| *byte == b'>')?;
    let tag = &body[..end];
    let name = tag.windows(5).position(|five| five[0].is_ascii_whitespace() && &five[1..] == b"sid=")?;
    let (quote, value) = tag[name + 5..].split_first()?;
    let end = value.iter().position(|byte| byte == quote).filter(|_| matches!(quote, b'\'' | b'"'))?;
    str::from_utf8(&value[..end]).ok()
}

/// The reason why a server ends a session (XEP-0124 §17.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    BadRequest,
    HostUnknown,
    ImproperAddressing,
    InternalServerError,
    ItemNotFound,
    PolicyViolation,
    /// The answer has the stream error.
    RemoteStreamError,
    SystemShutdown,
    UndefinedCondition,
}

impl Condition {
    pub fn name(self) -> &'static str {
        match self {
            Condition::BadRequest => "bad-request",
            Condition::HostUnknown => "host-unknown",
            Condition::ImproperAddressing => "improper-addressing",
            Condition::InternalServerError => "internal-server-error",
            Condition::ItemNotFound => "item-not-found",
            Condition::PolicyViolation => "policy-violation",
            Condition::RemoteStreamError => "remote-stream-error",
            Condition::SystemShutdown => "system-shutdown",
            Condition::UndefinedCondition => "undefined-condition",
        }
    }
}

/// The properties of a new session (XEP-0124 §7.3).
#[derive(Clone, Copy, Debug)]
pub struct Created<'a> {
    pub sid: &'a str,
    pub from: &'a str,
    /// Seconds.
    pub wait: u16,
    pub inactivity: u16,
    pub max_pause: u16,
    /// Requests that may wait, and that may be on their way.
    pub hold: u8,
    pub requests: u8,
}

/// Writes an answer around `elements`. `ack`: the last request that has arrived with all before it (XEP-0124 §9.1).
pub fn write(out: &mut Vec<u8>, ack: Option<u64>, created: Option<&Created<'_>>, elements: &[u8]) {
    let mut body = Open::new(out, "body").attr("xmlns", ns::BOSH);
    if let Some(ack) = ack {
        body = body.display("ack", ack);
    }
    if let Some(created) = created {
        body = body
            .attr("xmlns:xmpp", ns::XBOSH)
            .attr("sid", created.sid)
            .attr("from", created.from)
            .display("wait", created.wait)
            .display("inactivity", created.inactivity)
            .display("maxpause", created.max_pause)
            .display("hold", created.hold)
            .display("requests", created.requests)
            .attr("ver", "1.11")
            .attr("xmpp:version", "1.0")
            .attr("xmpp:restartlogic", "true");
    }
    body.children(|out| out.extend_from_slice(elements));
}

/// Writes the last answer of a session. Without a condition the client has ended it.
pub fn write_end(out: &mut Vec<u8>, condition: Option<Condition>, elements: &[u8]) {
    Open::new(out, "body")
        .attr("xmlns", ns::BOSH)
        .attr("type", "terminate")
        .opt("condition", condition.map(Condition::name))
        .children(|out| out.extend_from_slice(elements));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, document};

    fn read(attributes: &str) -> Result<String, Condition> {
        let xml = format!("<body xmlns='{}' xmlns:xmpp='{}' {attributes}/>", ns::BOSH, ns::XBOSH);
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        Request::of(tree.root()).map(|request| format!("{request:?}"))
    }

    #[test]
    fn a_request_has_a_number() {
        for wrong in
            ["", "rid=''", "rid='0'", "rid='+1'", "rid='x'", "rid='9007199254740992'", "rid='1' wait='-1'"]
        {
            assert_eq!(read(wrong), Err(Condition::BadRequest), "{wrong}");
        }
        assert!(read("rid='9007199254740991'").is_ok());
        let tree = document(b"<body xmlns='urn:x' rid='1'/>", &Limits::default()).unwrap();
        assert_eq!(Request::of(tree.root()), Err(Condition::BadRequest));
    }

    #[test]
    fn attributes_are_read() {
        let xml = format!(
            "<body xmlns='{}' xmlns:xmpp='{}' rid='7' sid='a' to='b' wait='60' hold='300' ack='1' pause='99999' \
             type='terminate' xml:lang='en' xmpp:version='1.0' xmpp:restart='true'/>",
            ns::BOSH,
            ns::XBOSH
        );
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        let expected = Request {
            rid: 7,
            sid: Some("a"),
            to: Some("b"),
            lang: Some("en"),
            wait: Some(60),
            hold: Some(255),
            is_xmpp: true,
            wants_ack: true,
            pause: Some(u16::MAX),
            is_end: true,
            is_restart: true,
        };
        assert_eq!(Request::of(tree.root()), Ok(expected));
    }

    #[test]
    fn the_session_of_a_body_is_found_before_it_is_parsed() {
        let table = [
            ("<body rid='1' sid='abc' xmlns='x'/>", Some("abc")),
            ("<body\nsid=\"a'b\">", Some("a'b")),
            ("<body rid='1' xmlns='x'/>", None),
            ("<body xsid='1'/>", None),
            ("<body sid=1>", None),
            ("<body sid='1", None),
            ("<body><a sid='1'/></body>", None),
            ("", None),
        ];
        for (body, sid) in table {
            assert_eq!(peek_sid(body.as_bytes()), sid, "{body}");
        }
    }

    #[test]
    fn answers_are_written() {
        let mut out = Vec::new();
        write(&mut out, Some(7), None, b"<a xmlns='urn:x'/>");
        write(&mut out, None, None, b"");
        write_end(&mut out, Some(Condition::ItemNotFound), b"");
        write_end(&mut out, None, b"");
        let created =
            Created { sid: "s", from: "f", wait: 60, inactivity: 30, max_pause: 120, hold: 1, requests: 2 };
        write(&mut out, None, Some(&created), b"");
        let written = String::from_utf8(out).unwrap().replace(ns::BOSH, "B").replace(ns::XBOSH, "X");
        assert_eq!(
            written,
            "<body xmlns='B' ack='7'><a xmlns='urn:x'/></body><body xmlns='B'/>\
             <body xmlns='B' type='terminate' condition='item-not-found'/><body xmlns='B' type='terminate'/>\
             <body xmlns='B' xmlns:xmpp='X' sid='s' from='f' wait='60' inactivity='30' maxpause='120' hold='1' \
             requests='2' ver='1.11' xmpp:version='1.0' xmpp:restartlogic='true'/>"
        );
    }
}
