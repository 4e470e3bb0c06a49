//! Roster Versioning (XEP-0237, RFC 6121 §2.6): a client that keeps its roster gets only what has changed since.
//!
//! A version is a position. The domain gives a session its events in the order of positions, so a roster that is read
//! now has at least the changes up to the session's position.

use chat::contacts::{Command, Event as ContactsEvent};
use chat::{Delivery, Event, Position};

use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Flags, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(237),
    name: "Roster Versioning",
    version: "1.3",
    scenario: "roster_versioning",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Writes a version, which clients do not read.
pub(crate) fn text(version: Position) -> String {
    format!("{}.{}", version.epoch, version.number)
}

/// None: not one of ours, or empty for a client without a roster.
fn parse(text: &str) -> Option<Position> {
    let (epoch, number) = text.split_once('.')?;
    Some(Position { epoch: epoch.parse().ok()?, number: number.parse().ok()? })
}

impl Turn<'_, '_> {
    /// Answers a request for the roster with the version that the client has.
    pub(crate) fn read_roster_since(&mut self, asked: Asked, known: &str) {
        self.session.set(Flags::ROSTER_VERSIONS, true);
        let version = self.session.position();
        let Some(since) = parse(known) else { return self.read_roster(asked, None, Some(version)) };
        self.continue_then(asked, Command::Changed { since }, move |turn, asked, outcome| match outcome {
            Ok(delivery) => answer(turn, asked, delivery, since, version),
            Err(refusal) => turn.answer_error(&asked, &crate::refusal::stanza_error(refusal)),
        });
    }
}

/// RFC 6121 §2.6.3: an empty result, and a push for each change. The client keeps its version until the last push, so it
/// loses nothing if the stream ends in between.
fn answer(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery, since: Position, version: Position) {
    let Event::Contacts(ContactsEvent::Changed(changed)) = &delivery.event else { return };
    let Some(changed) = changed else { return turn.read_roster(asked, None, Some(version)) };
    turn.answer(asked, |_| {});
    let last = changed.len().saturating_sub(1);
    for (at, card) in changed.iter().enumerate() {
        turn.push(&card.contact(), Some(if at == last { version.max(since) } else { since }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_back_and_others_are_unknown() {
        let version = Position { epoch: u32::MAX, number: u64::MAX };
        assert_eq!(parse(&text(version)), Some(version));
        for other in ["", ".", "1", "1.", ".1", "-1.2", "1.18446744073709551616", "4294967296.1", "ver14"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
