//! Last Activity (XEP-0012) of those who show it to the user.

use chat::account::{Command, Event as AccountEvent};
use chat::{Delivery, Event, Presence, ProfileCard, Timestamp};
use xmpp_proto::ns;
use xmpp_proto::payload::last_activity as payload;
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(12),
    name: "Last Activity",
    version: "2.0",
    scenario: "last_activity",
    server_features: &[],
    account_features: &[ns::LAST_ACTIVITY],
    iq: &[IqHandler { name: "query", ns: ns::LAST_ACTIVITY, handle: request }],
};

/// The server does not tell for how long it runs: that is known to its operator (§5 leaves it open).
fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    match &iq.target {
        Target::Account => turn.result(iq, |out| payload::write(out, 0, None)),
        Target::User(user) => {
            let command = Command::Profile { user: Some(user.clone()) };
            turn.ask_then(iq, command, |turn, asked, answer| match answer {
                Ok(delivery) => answer_with(turn, asked, delivery),
                // An unknown user gets the answer of one who shows nothing.
                Err(_) => turn.answer_error(&asked, &StanzaError::new(Condition::Forbidden)),
            });
        }
        Target::Server | Target::Rooms | Target::Room(_) | Target::Elsewhere => {
            return Err(StanzaError::new(Condition::ServiceUnavailable));
        }
    }
    Ok(())
}

fn answer_with(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    let now = turn.now();
    match &delivery.event {
        Event::Account(AccountEvent::Profile(card)) => match seconds(card, now) {
            Some(seconds) => turn.answer(asked, |out| payload::write(out, seconds, None)),
            None => turn.answer_error(&asked, &StanzaError::new(Condition::Forbidden)),
        },
        _ => turn.answer_error(&asked, &StanzaError::new(Condition::InternalServerError)),
    }
}

/// §4: 0 for a user who is here. None: the user does not show it.
fn seconds(card: &ProfileCard, now: Timestamp) -> Option<u64> {
    match card.person.presence {
        Some(Presence::Online | Presence::Busy | Presence::Away) => Some(0),
        Some(Presence::Offline | Presence::Unknown) | None => {
            card.last_seen.map(|seen| now.since(seen) / 1000)
        }
    }
}
