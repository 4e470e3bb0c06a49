//! Presence.

use chat::presence::Event as Of;
use web_proto::{Event, Presence};

use super::same::ToWire;

pub(super) fn event(event: &Of) -> Event<'_> {
    match event {
        Of::Presence { user, presence, last_seen } => Event::Presence {
            user: user.as_str().into(),
            presence: presence.to_wire(),
            last_seen: last_seen.map(|time| time.0),
        },
        Of::Watching { here, more } => {
            let those = |seen: Presence| {
                let with = here.iter().filter(|(_, presence)| presence.to_wire() == seen);
                with.map(|(user, _)| user.as_str().into()).collect()
            };
            Event::Watching {
                online: those(Presence::Online),
                away: those(Presence::Away),
                busy: those(Presence::Busy),
                more: *more,
            }
        }
    }
}
