//! Connections of this gateway in the form in which one process hands them to its successor.
//!
//! A client's session moves once nothing waits for an answer. Streams that are being
//! negotiated, streams of other servers and components, and BOSH do not move.

#![deny(clippy::wildcard_enum_match_arm)]

use edge::{Io, Moves};

use crate::gateway::{Conn, Gateway, State};
use crate::session::Session;

/// The first byte of a record.
const REQUEST: u8 = 0;
const REQUEST_OVER_TLS: u8 = 1;
const SESSION: u8 = 2;

pub(crate) fn moves(conn: &Conn) -> Moves {
    match &conn.state {
        State::Request { .. } => Moves::Now,
        State::Live(session) => session.moves(),
        State::Opening(opening) if opening.is_waiting() => Moves::Soon,
        State::Opening(_) | State::Exchange(_) | State::Server(_) | State::Closing => Moves::Never,
    }
}

pub(crate) fn export(conn: &Conn, into: &mut Vec<u8>) -> bool {
    match &conn.state {
        State::Request { tls } => into.push(if *tls { REQUEST_OVER_TLS } else { REQUEST }),
        State::Live(session) => {
            let Some(record) = session.export() else { return false };
            into.push(SESSION);
            into.extend_from_slice(&record);
        }
        State::Opening(_) | State::Exchange(_) | State::Server(_) | State::Closing => return false,
    }
    true
}

impl Gateway {
    pub(crate) fn import_conn(&mut self, record: &[u8], io: &mut Io<'_>) -> Option<Conn> {
        let state = match record.split_first()? {
            (&REQUEST, _) => State::Request { tls: false },
            (&REQUEST_OVER_TLS, _) => State::Request { tls: true },
            (&SESSION, record) => {
                let session = Session::import(record, io.now())?;
                self.shared.counters.sessions.add(1);
                State::Live(Box::new(session))
            }
            _ => return None,
        };
        Some(Conn { state })
    }
}
