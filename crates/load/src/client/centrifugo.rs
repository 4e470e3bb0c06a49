//! A client of Centrifugo 6 in the place of one of the web protocol, over its bidirectional WebSocket, to measure both with one
//! generator.
//!
//! It connects with a JWT, and the server subscribes it to its user's personal channel (`subscribe_to_user_personal_channel`).
//! A message is a publication in the personal channel of its receiver (`allow_publish_for_client`). The reply to the publish
//! command is the acknowledgement; Centrifugo has stored nothing by then, because the channels have no history.

mod json;
mod protobuf;

use std::borrow::Cow;
use std::collections::VecDeque;

use web_proto::{Code, Command, Event, SendTo};

use super::websocket::{self, Content};
use super::{Fault, Login, Masks, OtherProtocol};
use crate::target::Transport;

/// Server error codes of Centrifugo that stand for a limit.
const LIMITS: [u32; 2] = [106, 111];
/// RFC 6455 §7.4.1: a normal closure, which echoes that of the client.
const NORMAL_CLOSURE: [u8; 2] = 1000_u16.to_be_bytes();

/// How commands and replies are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    pub(super) fn of(transport: Transport) -> Encoding {
        if transport == Transport::CentrifugoJson { Encoding::Json } else { Encoding::Protobuf }
    }

    fn opcode(self) -> u8 {
        match self {
            Encoding::Json => websocket::TEXT,
            Encoding::Protobuf => websocket::BINARY,
        }
    }

    fn connect(self, number: u32, token: &str) -> Vec<u8> {
        match self {
            Encoding::Json => json::connect(number, token),
            Encoding::Protobuf => protobuf::connect(number, token),
        }
    }

    /// A publication in the personal channel of this user.
    fn publish(self, number: u32, user: &str, text: &str) -> Vec<u8> {
        match self {
            Encoding::Json => json::publish(number, user, text),
            Encoding::Protobuf => protobuf::publish(number, user, text),
        }
    }

    /// The answer to a ping: an empty command.
    fn pong(self) -> &'static [u8] {
        match self {
            Encoding::Json => b"{}",
            Encoding::Protobuf => &[0],
        }
    }

    fn replies<'a>(self, frame: &'a [u8], each: &mut EachReply<'_, 'a>) -> Result<(), Fault> {
        match self {
            Encoding::Json => json::replies(frame, each),
            Encoding::Protobuf => protobuf::replies(frame, each),
        }
    }
}

/// Receives the replies of a frame in their order.
type EachReply<'f, 'a> = dyn FnMut(Reply<'a>) -> Result<(), Fault> + 'f;

/// A reply or a push of the server. `number` is that of the command that it answers.
#[derive(Debug, PartialEq, Eq)]
enum Reply<'a> {
    Ping,
    /// `pong`: the server expects an answer to its pings.
    Connected {
        pong: bool,
    },
    Published {
        number: u32,
    },
    Refused {
        number: u32,
        code: u32,
    },
    Publication {
        from: Cow<'a, str>,
        text: Cow<'a, str>,
    },
    /// A push that no plan needs.
    Other,
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Connection {
    encoding: Encoding,
    /// Until it is sent.
    token: Option<Box<str>>,
    pong: bool,
    /// Number of the last command.
    number: u32,
    /// Messages that the server has not acknowledged, with the numbers of their commands.
    unacknowledged: VecDeque<(u32, Box<str>)>,
}

impl Connection {
    pub(super) fn new(encoding: Encoding, login: Login<'_>) -> Connection {
        Connection {
            encoding,
            token: Some(login.token.into()),
            pong: false,
            number: 0,
            unacknowledged: VecDeque::new(),
        }
    }

    /// The value of `Sec-WebSocket-Protocol`.
    pub(super) fn subprotocol(&self) -> &'static str {
        match self.encoding {
            Encoding::Json => "centrifuge-json",
            Encoding::Protobuf => "centrifuge-protobuf",
        }
    }

    fn write(&self, payload: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
        websocket::write(self.encoding.opcode(), payload, masks.next(), out);
    }

    fn reply(
        &mut self,
        reply: Reply<'_>,
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(), Fault> {
        match reply {
            Reply::Ping if self.pong => self.write(self.encoding.pong(), masks, out),
            Reply::Ping | Reply::Other => {}
            Reply::Connected { pong } => {
                self.pong = pong;
                super::welcome(take)?;
            }
            Reply::Published { number } => take(&super::ack(&self.answered(number)?)),
            Reply::Refused { number: 1, .. } => {
                return Err(Fault::Centrifugo("the server does not accept the token"));
            }
            Reply::Refused { number, code } => {
                let id = self.answered(number)?;
                let code = if LIMITS.contains(&code) { Code::RateLimited } else { Code::NotAllowed };
                let id = Some(Cow::Borrowed(&*id));
                take(&Event::Error { code, text: "".into(), re: None, id, retry_after: None });
            }
            Reply::Publication { from, text } => {
                // Other publishers may write other texts.
                let (id, body) = text.split_once(' ').unwrap_or(("", &text));
                take(&super::message_of(&from, id, body));
            }
        }
        Ok(())
    }

    /// The id of the message that the command with this number has published.
    fn answered(&mut self, number: u32) -> Result<Box<str>, Fault> {
        // The server carries out the commands of a connection in their order.
        match self.unacknowledged.pop_front() {
            Some((first, id)) if first == number => Ok(id),
            _ => Err(Fault::Centrifugo("a reply to no command")),
        }
    }
}

impl OtherProtocol for Connection {
    fn open(&mut self, masks: &mut Masks, out: &mut Vec<u8>) {
        let token = self.token.take().unwrap_or_default();
        self.number = 1;
        self.write(&self.encoding.connect(self.number, &token), masks, out);
    }

    fn say(&mut self, command: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
        match Command::parse(command) {
            Ok(Command::Send { id, to: SendTo::User(user), body, .. }) => {
                self.number += 1;
                let text = format!("{id} {body}");
                self.write(&self.encoding.publish(self.number, &user, &text), masks, out);
                self.unacknowledged.push_back((self.number, (&*id).into()));
            }
            Ok(Command::Bye) => websocket::write(websocket::CLOSE, &NORMAL_CLOSURE, masks.next(), out),
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
        let (content, bytes) = websocket::content(self.encoding.opcode(), input, masks, out)?;
        match content {
            Content::Message(frame) => {
                let encoding = self.encoding;
                encoding.replies(frame, &mut |reply| self.reply(reply, masks, out, take))?;
            }
            Content::Nothing => {}
            Content::Closed(payload) if payload.is_empty() || payload.starts_with(&NORMAL_CLOSURE) => {
                return Ok((bytes, true));
            }
            Content::Closed(payload) => {
                let code = payload.first_chunk().map_or(0, |code| u16::from_be_bytes(*code));
                return Err(Fault::Disconnected(code));
            }
        }
        Ok((bytes, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of Centrifugo 6.9.1, without the heads of the frames.
    type Recorded = [&'static [u8]; 5];
    const JSON: Recorded = [
        br##"{"id":1,"connect":{"client":"d6367329-5f95-4edd-adad-0ce633b32d32","version":"0.0.0 OSS","expires":true,"ttl":31536000,"subs":{"#load-000001":{}},"ping":25,"pong":true}}"##,
        br#"{"id":2,"publish":{}}"#,
        br##"{"push":{"channel":"#load-000001","pub":{"data":"1-2-3 xx","info":{"user":"load-000002","client":"d6367329-5f95-4edd-adad-0ce633b32d32"}}}}"##,
        br#"{"id":3,"error":{"code":102,"message":"unknown channel"}}"#,
        b"{}",
    ];
    const PROTOBUF: Recorded = [
        b"R\x08\x01*N\x0a$b81f6616-0470-4d8a-9bee-023686bafe72\x12\x090.0.0 OSS\x18\x01 \x80\xe7\x84\x0f2\x10\x0a\x0c#load-000001\x12\x008\x19@\x01",
        b"\x04\x08\x02B\x00",
        b"Q\"O\x12\x0c#load-000001\"?\"\x081-2-3 xx*3\x0a\x0bload-000002\x12$b81f6616-0470-4d8a-9bee-023686bafe72",
        b"\x17\x08\x03\x12\x13\x08f\x12\x0funknown channel",
        b"\x00",
    ];
    /// With the separator of replies.
    const BOTH: [(Encoding, Recorded, &[u8]); 2] =
        [(Encoding::Json, JSON, b"\n"), (Encoding::Protobuf, PROTOBUF, b"")];

    fn connected(encoding: Encoding) -> Connection {
        let login = Login { site: "demo", user: "load-000001", token: "t", position: None };
        let mut connection = Connection::new(encoding, login);
        connection.open(&mut Masks::new(1), &mut Vec::new());
        connection
    }

    fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        let head = if payload.len() < 126 { vec![length[1]] } else { vec![126, length[0], length[1]] };
        [&[0x80 | opcode], &*head, payload].concat()
    }

    /// Reads one frame. Returns its events in JSON, and the bytes to send.
    fn read(connection: &mut Connection, frame: &[u8]) -> Result<(Vec<String>, Vec<u8>), Fault> {
        let (mut events, mut out) = (Vec::new(), Vec::new());
        let (bytes, _) = connection.input(frame, &mut Masks::new(1), &mut out, &mut |event| {
            let mut json = Vec::new();
            event.write(&mut json);
            events.push(String::from_utf8(json).unwrap());
        })?;
        assert_eq!(bytes, frame.len());
        Ok((events, out))
    }

    fn say(connection: &mut Connection, id: &str) {
        let mut command = Vec::new();
        crate::token::send(id.to_owned(), "load-000002".to_owned(), "xx").write(&mut command);
        connection.say(&command, &mut Masks::new(1), &mut Vec::new());
    }

    #[test]
    fn recorded_frames_become_events() {
        for (encoding, recorded, _) in BOTH {
            let mut connection = connected(encoding);
            say(&mut connection, "a");
            say(&mut connection, "b");
            let [welcome, ack, message, error, ping] =
                recorded.map(|payload| read(&mut connection, &frame(encoding.opcode(), payload)).unwrap());
            let has = |(events, _): &(Vec<String>, Vec<u8>), parts: &[&str]| {
                assert!(events.len() == 1 && parts.iter().all(|part| events[0].contains(part)), "{events:?}");
            };
            has(&welcome, &[r#""t":"welcome""#]);
            has(&ack, &[r#""t":"ack""#, r#""id":"a""#]);
            has(
                &message,
                &[r#""t":"message""#, r#""from":"load-000002""#, r#""id":"1-2-3""#, r#""body":"xx""#],
            );
            has(&error, &[r#""t":"error""#, r#""id":"b""#, "not_allowed"]);
            let mut pong = Vec::new();
            websocket::write(encoding.opcode(), encoding.pong(), Masks::new(1).next(), &mut pong);
            assert_eq!(ping, (Vec::new(), pong));
        }
    }

    #[test]
    fn several_replies_in_one_frame_are_read_in_order() {
        for (encoding, recorded, separator) in BOTH {
            let mut connection = connected(encoding);
            say(&mut connection, "a");
            let (events, _) =
                read(&mut connection, &frame(encoding.opcode(), &recorded[..3].join(separator))).unwrap();
            let kinds = ["welcome", "ack", "message"];
            assert_eq!(events.len(), 3);
            for (event, kind) in events.iter().zip(kinds) {
                assert!(event.starts_with(&format!(r#"{{"t":"{kind}""#)), "{event}");
            }
        }
    }

    #[test]
    fn faults_have_reasons() {
        for (encoding, recorded, _) in BOTH {
            let check = |opcode: u8, payload: &[u8], expected: Fault| {
                let read = read(&mut connected(encoding), &frame(opcode, payload));
                assert_eq!(read.err(), Some(expected), "{payload:?}");
            };
            check(encoding.opcode(), recorded[1], Fault::Centrifugo("a reply to no command"));
            check(websocket::CLOSE, b"\x0d\xacinvalid token", Fault::Disconnected(3500));
            let other = websocket::TEXT + websocket::BINARY - encoding.opcode();
            check(other, b"{}", Fault::Websocket("a message of the wrong type"));
        }
        let check = |frame: &[u8]| read(&mut connected(Encoding::Json), frame).is_err();
        assert!(check(&frame(websocket::TEXT, b"x")) && check(&frame(websocket::TEXT, br#"{"id":5}"#)));
    }
}
