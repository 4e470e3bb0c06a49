//! The one WebSocket of a visitor's page: logs in, sends requests and messages, and is closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use edge::{Conns, Handle, Io};
use web_proto::{Command, SendTo};

use super::super::Kind;
use super::super::events::EventSummary;
use super::super::state::State;
use super::super::visitor::Stage;
use super::{ANSWER_PATIENCE, Browsers, Conn, Errand, PING_EVERY};
use crate::client::{Client, Login};
use crate::failures::note;
use crate::target::Transport;
use crate::token;
use crate::worker::add;

pub(in super::super) struct Socket {
    pub(super) visitor: u32,
    pub(super) client: Client,
    pub(super) due: Instant,
    pub(super) welcome: bool,
    pub(super) received: bool,
    pub(super) hung_up: bool,
    /// Requests without an answer so far.
    pub(super) asked: Vec<(u64, Kind, Instant)>,
}

/// If a visitor leaves this soon after a request, the request counts neither as failed nor as answered.
const LEFT_TOO_SOON: Duration = Duration::from_millis(500);

impl Browsers {
    pub(super) fn log_in(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        let due = Instant::now();
        let socket = Socket {
            visitor: number,
            client: Client::new(Transport::Websocket),
            due,
            welcome: false,
            received: true,
            hung_up: false,
            asked: Vec::new(),
        };
        match conns.connect(self.state.connect(number), Conn::Socket(socket)) {
            Ok(handle) => visitor.socket = Some(handle),
            Err(error) => {
                visitor.give_up();
                self.fail(Kind::Login, due, &format!("connect: {error}"));
                self.errands.push(Errand::GoOn(number));
            }
        }
    }

    /// The connection is open: sends the handshake, then the hello.
    pub(super) fn say_hello(&mut self, socket: &mut Socket, io: &mut Io<'_>) {
        let State { options, tokens, .. } = &*self.state;
        let (site, token) = tokens.of(socket.visitor);
        self.out.clear();
        let user = token::user(socket.visitor);
        let login = Login { site, user: &user, token: &token, position: None };
        socket.client.start(&options.target, login, &mut self.chance, &mut self.out);
        io.send(&self.out);
        io.set_timer(Some(ANSWER_PATIENCE));
    }

    pub(super) fn hang_up(&mut self, handle: Handle, conns: &mut Conns<'_, Conn>) {
        let Some((Conn::Socket(socket), mut io)) = conns.get(handle) else { return };
        self.out.clear();
        socket.client.go_away(&mut self.chance, &mut self.out);
        if socket.welcome {
            add(&self.state.counts.left, 1);
        }
        socket.hung_up = true;
        let late = Instant::now().checked_sub(LEFT_TOO_SOON);
        for (_, kind, due) in std::mem::take(&mut socket.asked) {
            if late.is_some_and(|late| due < late) {
                self.fail(kind, due, "no answer before the page was left");
            } else {
                add(&self.state.given_up, 1);
            }
        }
        io.send(&self.out);
        io.close();
    }

    pub(super) fn write(&mut self, number: u32, handle: Handle, due: Instant, conns: &mut Conns<'_, Conn>) {
        let to = self.other_visitor(number);
        let rid = self.rid();
        let Some((Conn::Socket(socket), mut io)) = conns.get(handle) else { return };
        self.tally.written += u64::from(self.counting_from.is_some_and(|from| due >= from));
        add(&self.state.traffic.sent, 1);
        socket.asked.push((rid, Kind::Message, due));
        let id = self.state.stamps.write(rid, due);
        let command = token::send(id, to, "Did you see the new thread? I would not have thought so.");
        self.say(socket, &command, &mut io);
    }

    pub(super) fn say(&mut self, socket: &mut Socket, command: &Command<'_>, io: &mut Io<'_>) {
        self.frame.clear();
        self.out.clear();
        command.write(&mut self.frame);
        socket.client.say(&self.frame, &mut self.chance, &mut self.out);
        io.send(&self.out);
    }

    fn rid(&mut self) -> u64 {
        self.next_rid += 1;
        self.next_rid * 8 + self.worker as u64 % 8
    }

    pub(super) fn socket_input(&mut self, socket: &mut Socket, input: &[u8], io: &mut Io<'_>) -> usize {
        let now = Instant::now();
        let state = Arc::clone(&self.state);
        self.out.clear();
        let mut summary = EventSummary::default();
        let taken = socket.client.input(
            &state.options.target,
            input,
            &mut self.chance,
            &mut self.out,
            &mut |event| {
                summary.note(event, state.stamps);
            },
        );
        io.send(&self.out);
        if socket.hung_up {
            return taken.unwrap_or(input.len());
        }
        socket.received = true;
        self.tally.received += summary.messages;
        for (rid, refused) in summary.answered {
            let Some(at) = socket.asked.iter().position(|(asked, ..)| *asked == rid) else { continue };
            let (_, kind, due) = socket.asked.swap_remove(at);
            match refused {
                None => self.succeed(kind, due, now),
                Some(code) => self.fail(kind, due, &format!("refused: {code}")),
            }
        }
        if summary.welcome && !socket.welcome {
            self.welcome(socket, now, io);
        }
        match (taken, summary.bye) {
            (Ok(taken), None) => {
                self.note_bytes(taken);
                return taken;
            }
            (Ok(_), Some(code)) => self.lose(socket, &format!("bye: {code}")),
            (Err(fault), _) => self.lose(socket, &fault.to_string()),
        }
        io.abort();
        input.len()
    }

    fn welcome(&mut self, socket: &mut Socket, now: Instant, io: &mut Io<'_>) {
        socket.welcome = true;
        add(&self.state.counts.welcomed, 1);
        io.set_timer(Some(PING_EVERY));
        self.begin_reading(socket, now, io);
        self.succeed(Kind::Login, socket.due, now);
    }

    fn begin_reading(&mut self, socket: &mut Socket, now: Instant, io: &mut Io<'_>) {
        let Some(visitor) = self.visitors.get_mut(&socket.visitor) else { return };
        visitor.stage = Stage::There;
        // Before counting begins, the other user may not exist yet.
        if visitor.opens && self.counting_from.is_some() {
            let to = self.other_visitor(socket.visitor);
            let (contacts, history) = (self.rid(), self.rid());
            socket.asked.extend([(contacts, Kind::Contacts, now), (history, Kind::History, now)]);
            add(&self.state.traffic.sent, 2);
            self.say(socket, &Command::Contacts { rid: contacts, after: None, limit: None }, io);
            let history = Command::History {
                rid: history,
                to: SendTo::User(to.into()),
                before: None,
                after: None,
                since: None,
                thread: None,
                limit: Some(30),
            };
            self.say(socket, &history, io);
        }
        self.errands.push(Errand::GoOn(socket.visitor));
    }

    /// The session ends, but not by the visitor.
    pub(super) fn lose(&mut self, socket: &mut Socket, reason: &str) {
        if std::mem::replace(&mut socket.hung_up, true) {
            return;
        }
        if socket.welcome {
            add(&self.state.counts.left, 1);
        } else {
            self.fail(Kind::Login, socket.due, reason);
        }
        for (_, kind, due) in std::mem::take(&mut socket.asked) {
            self.fail(kind, due, &format!("the session was lost: {reason}"));
        }
        if let Some(visitor) = self.visitors.get_mut(&socket.visitor) {
            visitor.socket = None;
            if visitor.stage == Stage::LoggingIn {
                visitor.give_up();
                self.errands.push(Errand::GoOn(socket.visitor));
            }
        }
        if socket.welcome {
            note(&mut self.tally.failures, format!("session lost: {reason}"));
            self.tally.failed += u64::from(self.counting_from.is_some());
        }
    }
}
