//! An XMPP client in the place of one of the web protocol: it translates commands to stanzas, and stanzas to events.
//!
//! It signs in with the site's token as its password (SASL PLAIN), binds a resource, enables stream management (XEP-0198), asks for the
//! roster and sends its presence, as apps do. After each message it asks for the count of handled stanzas. The server counts a message once it is
//! on disk, so the count is the acknowledgement.
//!
//! It reads only what this server writes: no comments, no CDATA, and attributes in double or single quotes.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use web_proto::{Code, Command, Event, Message, Presence, SendTo, SetPresence};

use super::websocket::{self, Content};
use super::{Fault, Login, Masks, OtherProtocol};

const STREAM: &str = "http://etherx.jabber.org/streams";
const FRAMING: &str = "urn:ietf:params:xml:ns:xmpp-framing";
/// Longest accepted stanza. A longer one is a fault of the server.
const MAX_STANZA_BYTES: usize = 16 * 1024 * 1024;

/// How elements are cut out of the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// RFC 6120.
    Stream,
    /// RFC 7395.
    Websocket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Authenticating,
    Binding,
    Active,
}

/// The state of one stream. Its site and user stay for the addresses of messages.
#[derive(Debug)]
pub(super) struct Stream {
    framing: Framing,
    step: Step,
    site: Box<str>,
    /// SASL PLAIN in base64, until it is sent.
    secret: Option<Box<str>>,
    /// Stanzas of the client since it has enabled stream management, and of the server.
    sent: u32,
    received: u32,
    /// Messages that the server has not acknowledged, with their number.
    unacknowledged: VecDeque<(u32, Box<str>)>,
}

/// An element of the server.
#[derive(Clone, Copy)]
enum Piece<'a> {
    /// The stream has begun.
    Header,
    Element(&'a str),
    End,
}

impl Stream {
    pub(super) fn new(framing: Framing, login: Login<'_>) -> Stream {
        let secret = STANDARD.encode(format!("\0{}\0{}", login.user, login.token)).into();
        Stream {
            framing,
            step: Step::Authenticating,
            site: login.site.into(),
            secret: Some(secret),
            sent: 0,
            received: 0,
            unacknowledged: VecDeque::new(),
        }
    }

    fn write(&self, text: &str, masks: &mut Masks, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Stream => out.extend_from_slice(text.as_bytes()),
            Framing::Websocket => websocket::write(websocket::TEXT, text.as_bytes(), masks.next(), out),
        }
    }

    /// Each document of a WebSocket names its namespace (RFC 7395 §3.3.3).
    fn write_stanza(&self, text: &str, masks: &mut Masks, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Stream => self.write(text, masks, out),
            Framing::Websocket => {
                let (name, rest) = text.split_at(1 + name(text).len());
                self.write(&format!("{name} xmlns='jabber:client'{rest}"), masks, out);
            }
        }
    }

    fn stanza(&mut self, text: &str, masks: &mut Masks, out: &mut Vec<u8>) {
        self.sent = self.sent.wrapping_add(1);
        self.write_stanza(text, masks, out);
    }

    /// Reads one message of a WebSocket.
    fn document(
        &mut self,
        payload: &[u8],
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(), Fault> {
        let text = std::str::from_utf8(payload).map_err(|_| Fault::Xmpp("bytes that are no UTF-8"))?;
        let piece = match name(text) {
            "open" => Piece::Header,
            // The server closes the WebSocket.
            "close" => return Ok(()),
            _ => Piece::Element(text),
        };
        self.piece(piece, masks, out, take).map(drop)
    }

    fn piece(
        &mut self,
        piece: Piece<'_>,
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<bool, Fault> {
        let element = match piece {
            Piece::Header => return Ok(false),
            Piece::End => return Ok(true),
            Piece::Element(element) => element,
        };
        match name(element) {
            "stream:features" => self.features(masks, out)?,
            "success" => {
                self.step = Step::Binding;
                self.open(masks, out);
            }
            "failure" => return Err(Fault::Xmpp("the server does not accept the token")),
            "stream:error" => return Err(Fault::Xmpp(condition(element))),
            "iq" => self.iq(element, masks, out, take)?,
            "message" => {
                self.received = self.received.wrapping_add(1);
                self.message(element, take);
            }
            "presence" => {
                self.received = self.received.wrapping_add(1);
                presence(element, take);
            }
            "r" => {
                let answer = format!("<a xmlns='urn:xmpp:sm:3' h='{}'/>", self.received);
                self.write(&answer, masks, out);
            }
            "a" => {
                let handled = attribute(element, "h").and_then(|h| h.parse().ok());
                self.acknowledged(handled.ok_or(Fault::Xmpp("a count that is no number"))?, take);
            }
            "enabled" => self.received = 0,
            _ => return Err(Fault::Xmpp("an element that nobody asked for")),
        }
        Ok(false)
    }

    fn features(&mut self, masks: &mut Masks, out: &mut Vec<u8>) -> Result<(), Fault> {
        match self.step {
            Step::Authenticating => {
                let secret = self.secret.take().ok_or(Fault::Xmpp("features twice"))?;
                let auth = format!(
                    "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>"
                );
                self.write(&auth, masks, out);
            }
            Step::Binding => {
                let bind = "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                            <resource>load</resource></bind></iq>";
                self.write_stanza(bind, masks, out);
            }
            Step::Active => return Err(Fault::Xmpp("features after the begin of the session")),
        }
        Ok(())
    }

    fn iq(
        &mut self,
        element: &str,
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(), Fault> {
        self.received = self.received.wrapping_add(1);
        let (id, kind) = (attribute(element, "id"), attribute(element, "type"));
        match (self.step, kind.as_deref()) {
            (Step::Binding, Some("result")) if id.as_deref() == Some("bind") => {
                self.step = Step::Active;
                self.write("<enable xmlns='urn:xmpp:sm:3' resume='true'/>", masks, out);
                self.stanza("<iq type='get' id='roster'><query xmlns='jabber:iq:roster'/></iq>", masks, out);
                self.stanza("<presence/>", masks, out);
                super::welcome(take)?;
            }
            (Step::Binding, _) => return Err(Fault::Xmpp("no resource could be bound")),
            // A ping, or a push of the roster.
            (_, Some("get" | "set")) => {
                let answer = format!("<iq type='result' id='{}'/>", id.unwrap_or_default());
                self.stanza(&answer, masks, out);
            }
            _ => {}
        }
        Ok(())
    }

    fn message(&mut self, element: &str, take: &mut dyn FnMut(&Event<'_>)) {
        let id = attribute(element, "id").unwrap_or_default();
        if attribute(element, "type").as_deref() == Some("error") {
            self.unacknowledged.retain(|(_, waiting)| **waiting != *id);
            let code = match condition(element) {
                "policy-violation" | "resource-constraint" => Code::RateLimited,
                _ => Code::NotAllowed,
            };
            let retry_after = (code == Code::RateLimited).then_some(1_000);
            let text = condition(element).into();
            return take(&Event::Error { code, text, re: None, id: Some(id), retry_after });
        }
        let Some(body) = text_of(element, "body") else { return };
        let from = attribute(element, "from").unwrap_or_default();
        let user = from.split('@').next().unwrap_or_default();
        // A short id has a prefix of its author's stream.
        let id = id.split_once('~').map_or(&*id, |(_, id)| id);
        let position = element.find("<stanza-id").and_then(|at| attribute(&element[at..], "id"));
        let message = Message {
            conversation: user.into(),
            from: user.into(),
            id: id.into(),
            body,
            ..Message::default()
        };
        take(&Event::Message { message, position: position.unwrap_or_default() });
    }

    /// Stanzas up to this number are handled, so their messages are stored.
    fn acknowledged(&mut self, handled: u32, take: &mut dyn FnMut(&Event<'_>)) {
        // Numbers wrap (XEP-0198 §4).
        while self.unacknowledged.front().is_some_and(|(number, _)| handled.wrapping_sub(*number) < 1 << 31) {
            let Some((_, id)) = self.unacknowledged.pop_front() else { return };
            take(&super::ack(&id));
        }
        if self.unacknowledged.is_empty() {
            self.unacknowledged = VecDeque::new();
        }
    }
}

impl OtherProtocol for Stream {
    /// Begins the stream, or begins it anew after the authentication.
    fn open(&mut self, masks: &mut Masks, out: &mut Vec<u8>) {
        let site = &self.site;
        let text = match self.framing {
            Framing::Stream => format!(
                "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='{STREAM}' to='{site}' version='1.0'>"
            ),
            Framing::Websocket => format!("<open xmlns='{FRAMING}' to='{site}' version='1.0'/>"),
        };
        self.write(&text, masks, out);
    }

    fn say(&mut self, command: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
        let Ok(command) = Command::parse(command) else { return };
        match command {
            Command::Send { id, to: SendTo::User(user), body, .. } => {
                let mut text = format!("<message type='chat' to='{user}@{}' id='{id}'><body>", self.site);
                push_escaped(&mut text, &body);
                text.push_str("</body></message>");
                self.stanza(&text, masks, out);
                self.unacknowledged.push_back((self.sent, (&*id).into()));
                self.write("<r xmlns='urn:xmpp:sm:3'/>", masks, out);
            }
            Command::Typing { to: SendTo::User(user), on } => {
                let state = if on { "composing" } else { "paused" };
                let text = format!(
                    "<message type='chat' to='{user}@{}'><{state} xmlns='http://jabber.org/protocol/chatstates'/></message>",
                    self.site
                );
                self.stanza(&text, masks, out);
            }
            Command::Presence { set } => {
                let show = match set {
                    SetPresence::Away => "<presence><show>away</show></presence>",
                    SetPresence::Busy => "<presence><show>dnd</show></presence>",
                    _ => "<presence/>",
                };
                self.stanza(show, masks, out);
            }
            Command::Ping { .. } => {
                self.stanza("<iq type='get' id='ping'><ping xmlns='urn:xmpp:ping'/></iq>", masks, out);
            }
            Command::Bye => match self.framing {
                Framing::Stream => self.write("</stream:stream>", masks, out),
                Framing::Websocket => self.write(&format!("<close xmlns='{FRAMING}'/>"), masks, out),
            },
            _ => {}
        }
    }

    fn input(
        &mut self,
        input: &[u8],
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(usize, bool), Fault> {
        if self.framing == Framing::Stream {
            let Some((piece, bytes)) = cut(input)? else { return Ok((0, false)) };
            return Ok((bytes, self.piece(piece, masks, out, take)?));
        }
        let (content, bytes) = websocket::content(websocket::TEXT, input, masks, out)?;
        if let Content::Message(payload) = content {
            self.document(payload, masks, out, take)?;
        }
        Ok((bytes, matches!(content, Content::Closed(_))))
    }
}

fn presence(element: &str, take: &mut dyn FnMut(&Event<'_>)) {
    let Some(from) = attribute(element, "from") else { return };
    let user = from.split('@').next().unwrap_or_default();
    let presence = match attribute(element, "type").as_deref() {
        Some("unavailable") => Presence::Offline,
        Some(_) => return,
        None => match text_of(element, "show").as_deref() {
            Some("away" | "xa") => Presence::Away,
            Some("dnd") => Presence::Busy,
            _ => Presence::Online,
        },
    };
    take(&Event::Presence { user: user.into(), presence, last_seen: None });
}

/// The first element of a stream, and its length. None: more bytes are needed.
fn cut(input: &[u8]) -> Result<Option<(Piece<'_>, usize)>, Fault> {
    let start = input.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(input.len());
    let rest = &input[start..];
    let text = |bytes: usize| {
        std::str::from_utf8(&rest[..bytes]).map_err(|_| Fault::Xmpp("bytes that are no UTF-8"))
    };
    let Some(end) = tag_end(rest, 0) else {
        return if rest.len() > MAX_STANZA_BYTES { Err(Fault::Xmpp("an endless tag")) } else { Ok(None) };
    };
    if rest.starts_with(b"<?xml") {
        return Ok(Some((Piece::Header, start + end)));
    }
    if rest.starts_with(b"<stream:stream") {
        return Ok(Some((Piece::Header, start + end)));
    }
    if rest.starts_with(b"</stream:stream") {
        return Ok(Some((Piece::End, start + end)));
    }
    if !rest.starts_with(b"<") {
        return Err(Fault::Xmpp("text between stanzas"));
    }
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(end) = tag_end(rest, at) {
        let tag = &rest[at..end];
        match (tag.starts_with(b"</"), tag.ends_with(b"/>")) {
            (true, _) => depth = depth.checked_sub(1).ok_or(Fault::Xmpp("an end tag of nothing"))?,
            (false, true) => {}
            (false, false) => depth += 1,
        }
        if depth == 0 {
            return Ok(Some((Piece::Element(text(end)?), start + end)));
        }
        let Some(next) = rest[end..].iter().position(|byte| *byte == b'<') else { break };
        at = end + next;
    }
    if rest.len() > MAX_STANZA_BYTES { Err(Fault::Xmpp("an endless stanza")) } else { Ok(None) }
}

/// The place behind the tag that begins at `at`; None: it is not complete.
fn tag_end(input: &[u8], at: usize) -> Option<usize> {
    let mut quote = None;
    for (offset, byte) in input.get(at..)?.iter().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'>') => return Some(at + offset + 1),
            (None, _) => {}
        }
    }
    None
}

fn name(element: &str) -> &str {
    let inner = element.strip_prefix('<').unwrap_or_default();
    let name = inner.split([' ', '/', '>', '\n']).next().unwrap_or_default();
    if name == "features" { "stream:features" } else { name }
}

/// An attribute of the first tag.
fn attribute<'a>(element: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let tag = &element[..tag_end(element.as_bytes(), 0)?];
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        rest = after;
        let Some(value) = after.strip_prefix('=') else { continue };
        if !before.ends_with(char::is_whitespace) {
            continue;
        }
        let quote = value.chars().next()?;
        let value = &value[1..];
        return Some(unescaped(&value[..value.find(quote)?]));
    }
}

/// The text of the first child with this name and without attributes.
fn text_of<'a>(element: &'a str, child: &str) -> Option<Cow<'a, str>> {
    let begin = format!("<{child}>");
    let rest = &element[element.find(&begin)? + begin.len()..];
    Some(unescaped(&rest[..rest.find('<')?]))
}

/// The condition of an error.
fn condition(element: &str) -> &'static str {
    const CONDITIONS: [&str; 17] = [
        "policy-violation",
        "resource-constraint",
        "not-allowed",
        "forbidden",
        "item-not-found",
        "service-unavailable",
        "not-acceptable",
        "bad-request",
        "conflict",
        "connection-timeout",
        "host-unknown",
        "not-authorized",
        "system-shutdown",
        "internal-server-error",
        "not-well-formed",
        "invalid-namespace",
        "remote-server-not-found",
    ];
    CONDITIONS
        .into_iter()
        .find(|condition| element.contains(&format!("<{condition} ")))
        .unwrap_or("an error without a known condition")
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Cow::Owned(plain.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to)))
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.write_char(c).expect("a String takes all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanzas_are_cut_where_they_end() {
        let stream = "<?xml version='1.0'?><stream:stream id='1'> <a x='>' h='3'/><m><b>&lt;a</b><c/></m></stream:stream>";
        let (mut rest, mut found) = (stream.as_bytes(), Vec::new());
        while let Some((piece, bytes)) = cut(rest).unwrap() {
            found.push(match piece {
                Piece::Header => "header",
                Piece::End => "end",
                Piece::Element(element) => element,
            });
            rest = &rest[bytes..];
            if rest.is_empty() {
                break;
            }
        }
        assert_eq!(found, ["header", "header", "<a x='>' h='3'/>", "<m><b>&lt;a</b><c/></m>", "end"]);
        for end in 0.."<m><b>x</b></m>".len() {
            assert!(cut(&b"<m><b>x</b></m>"[..end]).unwrap().is_none(), "{end}");
        }
        assert!(cut(b"text").unwrap().is_none() && cut(b"text>").is_err());
    }

    #[test]
    fn attributes_and_texts_are_read() {
        let element =
            "<message from='a@b/c' xid='no' id='x&amp;y'><body>1 &lt; 2</body><stanza-id id='7'/></message>";
        assert_eq!(name(element), "message");
        assert_eq!(attribute(element, "id").as_deref(), Some("x&y"));
        assert_eq!(attribute(element, "to"), None);
        assert_eq!(text_of(element, "body").as_deref(), Some("1 < 2"));
        assert_eq!(name("<r xmlns='urn:xmpp:sm:3'/>"), "r");
        assert_eq!(name("<presence/>"), "presence");
        let error =
            "<message type='error'><error type='wait'><policy-violation xmlns='x'/></error></message>";
        assert_eq!(condition(error), "policy-violation");
    }

    fn exchange(stream: &mut Stream, input: &str) -> (String, Vec<String>) {
        let (mut out, mut events, mut rest) = (Vec::new(), Vec::new(), input.as_bytes());
        while !rest.is_empty() {
            let mut take = |event: &Event<'_>| {
                let mut json = Vec::new();
                event.write(&mut json);
                events.push(String::from_utf8(json).unwrap());
            };
            let (bytes, _) = stream.input(rest, &mut Masks::new(1), &mut out, &mut take).unwrap();
            assert!(bytes > 0, "{input}");
            rest = &rest[bytes..];
        }
        (String::from_utf8(out).unwrap(), events)
    }

    #[test]
    fn a_client_signs_in_and_counts_acknowledged_messages() {
        let login = Login { site: "forum", user: "load-000001", token: "t", position: None };
        let mut stream = Stream::new(Framing::Stream, login);
        let (out, _) = exchange(&mut stream, "<stream:stream><stream:features><x/></stream:features>");
        assert!(out.contains("mechanism='PLAIN'>AGxvYWQtMDAwMDAxAHQ=<"), "{out}");
        let (out, _) = exchange(&mut stream, "<success xmlns='x'/><stream:stream><stream:features/>");
        assert!(out.contains("<stream:stream") && out.contains("<bind"), "{out}");
        let (out, events) = exchange(&mut stream, "<iq type='result' id='bind'><bind/></iq><enabled/>");
        assert!(
            out.contains("<enable") && out.ends_with("<presence/>") && events.len() == 1,
            "{out} {events:?}"
        );

        let mut out = Vec::new();
        for id in ["a", "b"] {
            let to = SendTo::User("load-000002".into());
            let send = Command::Send {
                id: id.into(),
                to,
                body: "<&".into(),
                reply_to: None,
                files: Vec::new(),
                thread: None,
            };
            let mut json = Vec::new();
            send.write(&mut json);
            stream.say(&json, &mut Masks::new(1), &mut out);
        }
        let out = String::from_utf8(out).unwrap();
        let first = "<message type='chat' to='load-000002@forum' id='a'><body>&lt;&amp;</body></message>";
        assert!(out.starts_with(first), "{out}");
        let (_, events) = exchange(&mut stream, "<a xmlns='urn:xmpp:sm:3' h='3'/>");
        assert!(events.len() == 1 && events[0].contains(r#""id":"a""#), "{events:?}");
        let (_, events) = exchange(
            &mut stream,
            "<message type='error' id='b'><error><policy-violation xmlns='x'/></error></message><a h='4'/>",
        );
        assert!(events.len() == 1 && events[0].contains("rate_limited"), "{events:?}");
        let (out, _) = exchange(&mut stream, "<presence from='x@forum/y'/><r/>");
        assert!(out.contains("h='2'"), "{out}");
    }
}
