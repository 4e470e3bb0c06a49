//! A client of the line router in `tests/peers/router.c` in the place of one of the web protocol: the least that a server for
//! messages can do.
//!
//! A line ends with a line feed. The client names itself in its first line, and the answer is `+`. Then each line has the receiver, the id of
//! the message and its body, separated by spaces. The router answers `+` and the id, and the receiver gets the line with its sender
//! in the place of the receiver. Bodies have no line feeds.

use web_proto::{Command, Event, SendTo};

use super::{Fault, Login, Masks, OtherProtocol};

/// Longest accepted line. A longer one is a fault of the server.
const MAX_LINE_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Line {
    user: Box<str>,
    is_welcome: bool,
}

impl Line {
    pub(super) fn new(login: Login<'_>) -> Line {
        Line { user: login.user.into(), is_welcome: false }
    }
}

impl OtherProtocol for Line {
    fn open(&mut self, _: &mut Masks, out: &mut Vec<u8>) {
        out.extend_from_slice(self.user.as_bytes());
        out.push(b'\n');
    }

    fn say(&mut self, command: &[u8], _: &mut Masks, out: &mut Vec<u8>) {
        let Ok(Command::Send { id, to: SendTo::User(user), body, .. }) = Command::parse(command) else {
            return;
        };
        for part in [&*user, " ", &*id, " ", &*body, "\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }

    fn input(
        &mut self,
        input: &[u8],
        _: &mut Masks,
        _: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(usize, bool), Fault> {
        let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
            let too_long = input.len() > MAX_LINE_BYTES;
            return if too_long { Err(Fault::Line("an endless line")) } else { Ok((0, false)) };
        };
        let line = std::str::from_utf8(&input[..end]).map_err(|_| Fault::Line("bytes that are no UTF-8"))?;
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (first, self.is_welcome) {
            ("+", false) => {
                self.is_welcome = true;
                super::welcome(take)?;
            }
            (_, false) => return Err(Fault::Line("a line before the welcome")),
            ("+", true) => take(&super::ack(rest)),
            (from, true) => {
                let (id, body) = rest.split_once(' ').ok_or(Fault::Line("a message without an id"))?;
                take(&super::message_of(from, id, body));
            }
        }
        Ok((end + 1, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &mut Line, input: &str) -> Result<(usize, Vec<String>), Fault> {
        let mut events = Vec::new();
        let (bytes, _) = line.input(input.as_bytes(), &mut Masks::new(1), &mut Vec::new(), &mut |event| {
            let mut json = Vec::new();
            event.write(&mut json);
            events.push(String::from_utf8(json).unwrap());
        })?;
        Ok((bytes, events))
    }

    #[test]
    fn lines_become_events_and_messages_lines() {
        let login = Login { site: "demo", user: "load-000001", token: "t", position: None };
        let (mut line, mut masks, mut out) = (Line::new(login), Masks::new(1), Vec::new());
        line.open(&mut masks, &mut out);
        assert_eq!(read(&mut line, "+").unwrap(), (0, Vec::new()));
        let (bytes, events) = read(&mut line, "+\nload-").unwrap();
        assert!(bytes == 2 && events[0].contains(r#""t":"welcome""#), "{events:?}");
        let mut command = Vec::new();
        crate::token::send("1-2".to_owned(), "load-000002".to_owned(), "a b").write(&mut command);
        line.say(&command, &mut masks, &mut out);
        assert_eq!(out, b"load-000001\nload-000002 1-2 a b\n");
        let (_, events) = read(&mut line, "+ 1-2\n").unwrap();
        assert!(events[0].contains(r#""t":"ack""#) && events[0].contains(r#""id":"1-2""#), "{events:?}");
        let (_, events) = read(&mut line, "load-000002 3-4 a b\n").unwrap();
        for part in [r#""from":"load-000002""#, r#""id":"3-4""#, r#""body":"a b""#] {
            assert!(events[0].contains(part), "{part} in {events:?}");
        }
        assert_eq!(read(&mut line, "load-000002 \n").err(), Some(Fault::Line("a message without an id")));
    }

    #[test]
    fn nothing_comes_before_the_welcome() {
        let login = Login { site: "demo", user: "u", token: "t", position: None };
        let read = read(&mut Line::new(login), "load-000002 3-4 a\n");
        assert_eq!(read.err(), Some(Fault::Line("a line before the welcome")));
    }
}
