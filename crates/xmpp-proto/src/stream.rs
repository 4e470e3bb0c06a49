//! Stream headers, footers and errors (RFC 6120 §4), in the forms of TCP and of WebSocket (RFC 7395).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::ns;
use crate::xml::{Element, Open};

/// RFC 6120 §4.8.2: the namespace of a stream's stanzas, which says what kind of stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Client,
    Server,
    Component,
}

impl Content {
    pub fn of(ns: &str) -> Option<Content> {
        [Content::Client, Content::Server, Content::Component].into_iter().find(|content| content.ns() == ns)
    }

    pub fn ns(self) -> &'static str {
        match self {
            Content::Client => ns::CLIENT,
            Content::Server => ns::SERVER,
            Content::Component => ns::COMPONENT,
        }
    }
}

/// RFC 6120 §4.7.5. A header without a version is older than 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

impl Version {
    pub const V1: Version = Version { major: 1, minor: 0 };
}

impl FromStr for Version {
    type Err = StreamError;

    fn from_str(text: &str) -> Result<Version, StreamError> {
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok()).flatten()
        };
        let parts = text.split_once('.').and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        let (major, minor) = parts.ok_or_else(|| StreamError::new(StreamCondition::UnsupportedVersion))?;
        Ok(Version { major, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The start of a stream, as one side sends it. The addresses are not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamHeader {
    pub content: Content,
    pub to: Option<Box<str>>,
    pub from: Option<Box<str>>,
    pub id: Option<Box<str>>,
    pub version: Option<Version>,
    pub lang: Option<Box<str>>,
}

impl StreamHeader {
    /// Writes the header for a TCP stream.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<?xml version='1.0'?>");
        let open = Open::new(out, "stream:stream")
            .attr("xmlns", self.content.ns())
            .attr("xmlns:stream", ns::STREAMS);
        // XEP-0220 §2.1: it tells older servers that this one knows Dialback.
        let open = open.opt("xmlns:db", (self.content == Content::Server).then_some(ns::DIALBACK));
        self.attributes(open).unclosed();
    }

    /// RFC 7395 §3.4: the header of a stream over WebSocket is a frame of its own.
    pub fn write_open(&self, out: &mut Vec<u8>) {
        self.attributes(Open::new(out, "open").attr("xmlns", ns::FRAMING)).empty();
    }

    fn attributes<'a>(&self, open: Open<'a>) -> Open<'a> {
        let open = open
            .opt("to", self.to.as_deref())
            .opt("from", self.from.as_deref())
            .opt("id", self.id.as_deref());
        let open = match self.version {
            Some(version) => open.display("version", version),
            None => open,
        };
        open.opt("xml:lang", self.lang.as_deref())
    }

    /// Reads the `open` of RFC 7395 §3.4, which only clients use.
    pub fn from_open(open: Element<'_>) -> Result<StreamHeader, StreamError> {
        if open.ns() != ns::FRAMING {
            return Err(StreamError::new(StreamCondition::InvalidNamespace));
        }
        if open.name() != "open" {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        let attribute = |name| open.attr(name).map(Box::from);
        Ok(StreamHeader {
            content: Content::Client,
            to: attribute("to"),
            from: attribute("from"),
            id: attribute("id"),
            version: open.attr("version").map(str::parse).transpose()?,
            lang: open.lang().map(Box::from),
        })
    }
}

/// Writes the end of a TCP stream.
pub fn write_footer(out: &mut Vec<u8>) {
    out.extend_from_slice(b"</stream:stream>");
}

/// RFC 7395 §3.6: the end of a stream over WebSocket, with the address of another server (§3.6.1) if there is one.
pub fn write_close(out: &mut Vec<u8>, see_other_uri: Option<&str>) {
    Open::new(out, "close").attr("xmlns", ns::FRAMING).opt("see-other-uri", see_other_uri).empty();
}

/// RFC 7395 §3.6: whether the frame ends the stream.
pub fn is_close(element: Element<'_>) -> bool {
    element.is("close", ns::FRAMING)
}

/// The conditions of RFC 6120 §4.9.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamCondition {
    BadFormat,
    BadNamespacePrefix,
    Conflict,
    ConnectionTimeout,
    HostGone,
    HostUnknown,
    ImproperAddressing,
    InternalServerError,
    InvalidFrom,
    InvalidNamespace,
    InvalidXml,
    NotAuthorized,
    NotWellFormed,
    PolicyViolation,
    RemoteConnectionFailed,
    Reset,
    ResourceConstraint,
    RestrictedXml,
    SeeOtherHost,
    SystemShutdown,
    UndefinedCondition,
    UnsupportedEncoding,
    UnsupportedFeature,
    UnsupportedStanzaType,
    UnsupportedVersion,
}

impl StreamCondition {
    pub const ALL: [StreamCondition; 25] = [
        StreamCondition::BadFormat,
        StreamCondition::BadNamespacePrefix,
        StreamCondition::Conflict,
        StreamCondition::ConnectionTimeout,
        StreamCondition::HostGone,
        StreamCondition::HostUnknown,
        StreamCondition::ImproperAddressing,
        StreamCondition::InternalServerError,
        StreamCondition::InvalidFrom,
        StreamCondition::InvalidNamespace,
        StreamCondition::InvalidXml,
        StreamCondition::NotAuthorized,
        StreamCondition::NotWellFormed,
        StreamCondition::PolicyViolation,
        StreamCondition::RemoteConnectionFailed,
        StreamCondition::Reset,
        StreamCondition::ResourceConstraint,
        StreamCondition::RestrictedXml,
        StreamCondition::SeeOtherHost,
        StreamCondition::SystemShutdown,
        StreamCondition::UndefinedCondition,
        StreamCondition::UnsupportedEncoding,
        StreamCondition::UnsupportedFeature,
        StreamCondition::UnsupportedStanzaType,
        StreamCondition::UnsupportedVersion,
    ];

    pub fn name(self) -> &'static str {
        match self {
            StreamCondition::BadFormat => "bad-format",
            StreamCondition::BadNamespacePrefix => "bad-namespace-prefix",
            StreamCondition::Conflict => "conflict",
            StreamCondition::ConnectionTimeout => "connection-timeout",
            StreamCondition::HostGone => "host-gone",
            StreamCondition::HostUnknown => "host-unknown",
            StreamCondition::ImproperAddressing => "improper-addressing",
            StreamCondition::InternalServerError => "internal-server-error",
            StreamCondition::InvalidFrom => "invalid-from",
            StreamCondition::InvalidNamespace => "invalid-namespace",
            StreamCondition::InvalidXml => "invalid-xml",
            StreamCondition::NotAuthorized => "not-authorized",
            StreamCondition::NotWellFormed => "not-well-formed",
            StreamCondition::PolicyViolation => "policy-violation",
            StreamCondition::RemoteConnectionFailed => "remote-connection-failed",
            StreamCondition::Reset => "reset",
            StreamCondition::ResourceConstraint => "resource-constraint",
            StreamCondition::RestrictedXml => "restricted-xml",
            StreamCondition::SeeOtherHost => "see-other-host",
            StreamCondition::SystemShutdown => "system-shutdown",
            StreamCondition::UndefinedCondition => "undefined-condition",
            StreamCondition::UnsupportedEncoding => "unsupported-encoding",
            StreamCondition::UnsupportedFeature => "unsupported-feature",
            StreamCondition::UnsupportedStanzaType => "unsupported-stanza-type",
            StreamCondition::UnsupportedVersion => "unsupported-version",
        }
    }

    pub fn of(name: &str) -> Option<StreamCondition> {
        StreamCondition::ALL.into_iter().find(|condition| condition.name() == name)
    }
}

/// RFC 6120 §4.9: the reason why one side ends a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    pub condition: StreamCondition,
    /// For a person who reads logs; never something that a peer sent.
    pub text: Option<Cow<'static, str>>,
    /// §4.9.4: the condition of an extension, as XML that declares its namespace.
    pub application: Option<Box<str>>,
    /// §4.9.3.19: the other host of a `see-other-host`.
    pub host: Option<Box<str>>,
}

impl StreamError {
    pub fn new(condition: StreamCondition) -> StreamError {
        StreamError { condition, text: None, application: None, host: None }
    }

    pub fn text(self, text: impl Into<Cow<'static, str>>) -> StreamError {
        StreamError { text: Some(text.into()), ..self }
    }

    pub fn application(self, name: &'static str, ns: &'static str) -> StreamError {
        self.extension(|out| Open::new(out, name).attr("xmlns", ns).empty())
    }

    /// `write` writes the condition of an extension, and declares its namespace.
    pub fn extension(self, write: impl FnOnce(&mut Vec<u8>)) -> StreamError {
        StreamError { application: Some(fragment(write)), ..self }
    }

    pub fn see_other_host(host: &str) -> StreamError {
        StreamError { host: Some(host.into()), ..StreamError::new(StreamCondition::SeeOtherHost) }
    }

    /// Writes the error into a TCP stream, where the header has declared the prefix. The footer follows.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.content(Open::new(out, "stream:error"));
    }

    /// RFC 7395 §3.5: writes the error as a frame that declares the prefix itself. A `close` follows.
    pub fn write_frame(&self, out: &mut Vec<u8>) {
        self.content(Open::new(out, "stream:error").attr("xmlns:stream", ns::STREAMS));
    }

    fn content(&self, error: Open<'_>) {
        error.children(|out| {
            let host = self.host.as_deref().unwrap_or_default();
            Open::new(out, self.condition.name()).attr("xmlns", ns::STREAM_ERRORS).text(host);
            if let Some(text) = &self.text {
                Open::new(out, "text").attr("xmlns", ns::STREAM_ERRORS).attr("xml:lang", "en").text(text);
            }
            out.extend_from_slice(self.application.as_deref().unwrap_or_default().as_bytes());
        });
    }

    /// Reads the `stream:error` of a peer. An unknown condition counts as undefined.
    pub fn from_element(error: Element<'_>) -> Option<StreamError> {
        if !error.is("error", ns::STREAMS) {
            return None;
        }
        let mut read = StreamError::new(StreamCondition::UndefinedCondition);
        for child in error.children() {
            match (child.ns(), child.name()) {
                (ns::STREAM_ERRORS, "text") => read.text = Some(child.text().into_owned().into()),
                (ns::STREAM_ERRORS, name) => {
                    read.condition = StreamCondition::of(name).unwrap_or(StreamCondition::UndefinedCondition);
                    if read.condition == StreamCondition::SeeOtherHost {
                        read.host = Some(child.text().into());
                    }
                }
                _ => read = read.extension(|out| child.write(out, ns::STREAM_ERRORS)),
            }
        }
        Some(read)
    }
}

pub(crate) fn fragment(write: impl FnOnce(&mut Vec<u8>)) -> Box<str> {
    let mut xml = Vec::new();
    write(&mut xml);
    String::from_utf8(xml).expect("names and values are text").into_boxed_str()
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.condition.name())?;
        self.text.as_ref().map_or(Ok(()), |text| write!(f, ": {text}"))
    }
}

impl std::error::Error for StreamError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Item, Limits, Reader, document};

    fn header() -> StreamHeader {
        StreamHeader {
            content: Content::Client,
            to: Some("a@example.com".into()),
            from: Some("example.com".into()),
            id: Some("x'<&".into()),
            version: Some(Version::V1),
            lang: Some("en".into()),
        }
    }

    #[test]
    fn a_written_header_is_read_again() {
        for content in [Content::Client, Content::Server, Content::Component] {
            let header = StreamHeader { content, ..header() };
            let mut out = Vec::new();
            header.write(&mut out);
            let read = Reader::new().read(&out, &Limits::default());
            assert_eq!(read, Ok((out.len(), Some(Item::Header(header)))));
        }
    }

    #[test]
    fn frames_of_websocket_open_and_close_a_stream() {
        let mut out = Vec::new();
        header().write_open(&mut out);
        let open = document(&out, &Limits::default()).unwrap();
        assert_eq!(StreamHeader::from_open(open.root()), Ok(header()));
        assert!(!is_close(open.root()));

        out.clear();
        write_close(&mut out, Some("wss://other.example/"));
        let close = document(&out, &Limits::default()).unwrap();
        assert!(is_close(close.root()));
        assert_eq!(close.root().attr("see-other-uri"), Some("wss://other.example/"));
        let error = StreamHeader::from_open(close.root()).unwrap_err();
        assert_eq!(error.condition, StreamCondition::BadFormat);
    }

    #[test]
    fn versions_are_two_numbers() {
        assert_eq!("1.0".parse(), Ok(Version::V1));
        assert_eq!("01.12".parse(), Ok(Version { major: 1, minor: 12 }));
        for wrong in ["", "1", "1.", ".0", "+1.0", "1.0.0", "1.x", "99999.0"] {
            let error = wrong.parse::<Version>().unwrap_err();
            assert_eq!(error.condition, StreamCondition::UnsupportedVersion, "{wrong}");
        }
    }

    #[test]
    fn a_written_error_is_read_again() {
        let mut errors: Vec<StreamError> = StreamCondition::ALL.into_iter().map(StreamError::new).collect();
        errors
            .push(StreamError::new(StreamCondition::PolicyViolation).text("a < b").application("x", "urn:x"));
        errors.push(StreamError::see_other_host("[2001:db8::1]:5222"));
        for mut error in errors {
            if error.condition == StreamCondition::SeeOtherHost {
                error.host.get_or_insert_default();
            }
            let mut out = Vec::new();
            error.write_frame(&mut out);
            let tree = document(&out, &Limits::default()).unwrap();
            assert_eq!(StreamError::from_element(tree.root()), Some(error));
        }
    }
}
