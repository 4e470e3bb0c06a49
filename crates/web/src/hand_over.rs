//! Connections and sessions of this gateway in the form in which one process hands them to its successor.
//!
//! | state | moves |
//! |---|---|
//! | between requests; a WebSocket before its hello, in the queue or with a session; stream; SSE | now |
//! | a poll that waits | now: it is answered without events, and the client polls again |
//! | a hello, REST or posted commands without an answer | with the answer |
//! | a body, a download | when it is complete |
//! | echo, the last bytes of a connection | never |

#![deny(clippy::wildcard_enum_match_arm)]

use std::net::IpAddr;

use chat::{Agent, SessionHandle};
use edge::{Handle, Io, Moves, Now};
use serde::{Deserialize, Serialize};

use crate::answer::Awaited;
use crate::framing::Framing;
use crate::gateway::{Conn, Gateway, State};
use crate::live::{Down, LiveRecord, Phase, Socket};
use crate::poll::PollRecord;
use crate::visitor::Visitor;

/// A connection.
#[derive(Serialize, Deserialize)]
enum Record {
    Idle { head_began: bool },
    Socket { reader: Vec<u8>, phase: PhaseRecord },
    Down { live: LiveRecord, framing: FramingRecord },
}

#[derive(Serialize, Deserialize)]
enum PhaseRecord {
    BeforeHello(Option<VisitorRecord>),
    Queued { visitor: VisitorRecord, hello: Box<str> },
    Live(LiveRecord),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct VisitorRecord {
    pub(crate) origin: Option<Box<str>>,
    pub(crate) forwarded_for: Option<IpAddr>,
    pub(crate) agent: Agent,
}

#[derive(Serialize, Deserialize)]
enum FramingRecord {
    Stream,
    Sse,
}

/// State of a worker without a connection.
#[derive(Default, Serialize, Deserialize)]
struct StateRecord {
    polls: Vec<PollRecord>,
    /// For sessions that begin later.
    newest_poll: u32,
}

pub(crate) fn moves(conn: &Conn) -> Moves {
    match &conn.state {
        State::Idle { .. } | State::Down(_) => Moves::Now,
        State::Socket(socket) if socket.is_signing_in() => Moves::Soon,
        State::Socket(_) => Moves::Now,
        State::Waiting(_) => Moves::Soon,
        State::Upload(_) | State::Incoming(_) | State::Sending(_) | State::Outgoing(_) => Moves::Late,
        State::Echo(_) | State::Closing => Moves::Never,
    }
}

impl Gateway {
    /// A poll is answered, so that no request waits.
    pub(crate) fn rest_before_move(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        if matches!(&conn.state, State::Waiting(waiting) if waiting.pending.what == Awaited::Poll) {
            self.answer_is_late(conn, io);
        }
    }

    pub(crate) fn export_conn(conn: &Conn, into: &mut Vec<u8>) -> bool {
        let record = match &conn.state {
            State::Idle { head_began, .. } => Record::Idle { head_began: *head_began },
            State::Socket(Socket { reader, phase }) => {
                let phase = match phase {
                    Phase::BeforeHello(visitor) => {
                        PhaseRecord::BeforeHello(visitor.as_ref().map(|visitor| visitor.export()))
                    }
                    Phase::Queued(queued) => {
                        PhaseRecord::Queued { visitor: queued.visitor.export(), hello: queued.hello.clone() }
                    }
                    Phase::Live(live) => PhaseRecord::Live(live.export()),
                    Phase::SigningIn => return false,
                };
                Record::Socket { reader: reader.export(), phase }
            }
            State::Down(down) => {
                let framing = match down.framing() {
                    Framing::Stream => FramingRecord::Stream,
                    Framing::Sse => FramingRecord::Sse,
                    Framing::WebSocket => return false,
                };
                Record::Down { live: down.live().export(), framing }
            }
            State::Upload(_)
            | State::Incoming(_)
            | State::Waiting(_)
            | State::Sending(_)
            | State::Outgoing(_)
            | State::Echo(_)
            | State::Closing => return false,
        };
        serde_json::to_writer(into, &record).is_ok()
    }

    pub(crate) fn import_conn(&mut self, state: &[u8], io: &mut Io<'_>) -> Option<Conn> {
        let state = match serde_json::from_slice(state).ok()? {
            Record::Idle { head_began } => State::Idle { head_began, held: None },
            Record::Socket { reader, phase } => {
                let reader = http_proto::websocket::Reader::import(&reader)?;
                let phase = match phase {
                    PhaseRecord::BeforeHello(visitor) => {
                        Phase::BeforeHello(visitor.map(|visitor| Box::new(Visitor::import(visitor))))
                    }
                    PhaseRecord::Queued { visitor, hello } => {
                        Phase::Queued(self.queue.push(io.handle(), Visitor::import(visitor), hello))
                    }
                    PhaseRecord::Live(live) => {
                        self.shared.counters.session_began(crate::Transport::WebSocket);
                        Phase::Live(live.import(io.now()))
                    }
                };
                State::Socket(Socket { reader, phase })
            }
            Record::Down { live, framing } => {
                let framing = match framing {
                    FramingRecord::Stream => Framing::Stream,
                    FramingRecord::Sse => Framing::Sse,
                };
                self.shared.counters.session_began(framing.transport());
                State::Down(Down::new(live.import(io.now()), framing))
            }
        };
        Some(Conn { state })
    }

    pub(crate) fn export_sessions(&self, into: &mut Vec<u8>) {
        let (newest_poll, polls) = self.polls.export();
        // Without polls, the other process has none either.
        let written = serde_json::to_writer(&mut *into, &StateRecord { polls, newest_poll });
        if let Err(error) = written {
            tracing::error!(%error, "cannot write poll sessions down");
            into.clear();
        }
    }

    /// Returns the handles of the sessions.
    pub(crate) fn import_sessions(&mut self, state: &[u8], now: Now) -> Vec<Handle> {
        let record: StateRecord = match serde_json::from_slice(state) {
            Ok(record) => record,
            Err(error) => {
                tracing::error!(%error, "cannot read the poll sessions of the old process");
                return Vec::new();
            }
        };
        let live = record.polls.iter().filter(|poll| poll.is_live()).count();
        (0..live).for_each(|_| self.shared.counters.session_began(crate::Transport::Poll));
        let handles = self.polls.import(record.polls, record.newest_poll, now);
        handles.into_iter().map(|SessionHandle(bits)| Handle::from_bits(bits)).collect()
    }
}
