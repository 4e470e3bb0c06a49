//! A stream over WebSocket (RFC 7395): one document in each message, and a frame in the place of the stream's header.

use http_proto::websocket::{Message, Opcode, Reader, Violation, frame_head, write_close, write_frame};
use xmpp_proto::ns;
use xmpp_proto::stream::{StreamCondition, StreamError, StreamHeader, is_close};
use xmpp_proto::xml::{Limits, document};

use super::{Arrived, Io};
use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Rfc(7395),
    name: "WebSocket",
    version: "",
    scenario: "websocket",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// RFC 6455 §7.4.1.
pub(super) const NORMAL: u16 = 1000;
const UNSUPPORTED_DATA: u16 = 1003;

/// A message is as long as an element may be. Control frames are answered here.
pub(super) fn read(
    reader: &mut Reader,
    input: &mut [u8],
    limits: &Limits,
    io: &mut Io<'_>,
) -> Result<(usize, Option<Arrived>), StreamError> {
    let (used, message) = reader.read(input, limits.stanza_bytes).map_err(|broken| violation(broken, io))?;
    let arrived = match message {
        None => return Ok((used, None)),
        Some(Message::Text(payload)) => element(&payload, limits)?,
        // RFC 7395 §3.2.
        Some(Message::Binary(_)) => {
            return Err(violation(Violation { code: UNSUPPORTED_DATA, text: "messages are text" }, io));
        }
        Some(Message::Ping(payload)) => {
            let mut pong = Vec::with_capacity(2 + payload.len());
            write_frame(&mut pong, Opcode::Pong, payload);
            io.send_frame(&pong);
            Arrived::Alive
        }
        Some(Message::Pong) => Arrived::Alive,
        Some(Message::Close(close)) => {
            io.close_code = close.code.unwrap_or(NORMAL);
            Arrived::Lost
        }
    };
    Ok((used, Some(arrived)))
}

fn violation(Violation { code, text }: Violation, io: &mut Io<'_>) -> StreamError {
    io.close_code = code;
    StreamError::new(StreamCondition::PolicyViolation).text(text)
}

fn element(payload: &[u8], limits: &Limits) -> Result<Arrived, StreamError> {
    let tree = document(payload, limits)?;
    Ok(match tree.root() {
        root if root.ns() != ns::FRAMING => Arrived::Element(tree),
        root if is_close(root) => Arrived::End,
        root => Arrived::Header(StreamHeader::from_open(root)?),
    })
}

/// Sends an element, as a document of its own, in one message (RFC 7395 §3.3).
pub(super) fn send(connection: &mut edge::Io<'_>, element: &[u8]) {
    let (start, declaration, rest) = declared(element);
    let (head, at) = frame_head(Opcode::Text, element.len() + declaration.len());
    connection.send_parts(&[&head[at..], start, declaration, rest]);
}

pub(super) fn send_close(connection: &mut edge::Io<'_>, code: u16) {
    let mut frame = Vec::with_capacity(4);
    write_close(&mut frame, code, "");
    connection.send(&frame);
}

/// Elements of a TCP stream use the namespaces of its header. Returns the start of the tag, the declaration that the element needs
/// without a header, and the rest.
pub(super) fn declared(element: &[u8]) -> (&[u8], &'static [u8], &[u8]) {
    let end = element.iter().position(|byte| matches!(byte, b' ' | b'/' | b'>')).unwrap_or(0);
    let (start, rest) = element.split_at(end);
    let declaration: &[u8] = match start {
        b"<iq" | b"<message" | b"<presence" => b" xmlns='jabber:client'",
        _ if start.starts_with(b"<stream:") => b" xmlns:stream='http://etherx.jabber.org/streams'",
        _ => b"",
    };
    (start, declaration, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_declare_the_namespaces_of_the_header() {
        let table = [
            ("<iq type='get'/>", "<iq xmlns='jabber:client' type='get'/>"),
            ("<presence/>", "<presence xmlns='jabber:client'/>"),
            ("<message><body>a</body></message>", "<message xmlns='jabber:client'><body>a</body></message>"),
            ("<stream:features/>", "<stream:features xmlns:stream='http://etherx.jabber.org/streams'/>"),
            ("<r xmlns='urn:xmpp:sm:3'/>", "<r xmlns='urn:xmpp:sm:3'/>"),
        ];
        for (tcp, alone) in table {
            let (start, declaration, rest) = declared(tcp.as_bytes());
            assert_eq!([start, declaration, rest].concat(), alone.as_bytes());
            document(alone.as_bytes(), &Limits::default()).expect("a document");
        }
    }
}
