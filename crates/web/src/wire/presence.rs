//! Presence.

use chat::presence::{Command, Event as Of};
use web_proto::{Code, Command as Wire, Event, Presence};

use super::same::{ToChat, ToWire};
use super::subs;

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
        Of::Sessions(_) | Of::Relayed { .. } | Of::RelayDone => {
            unreachable!("only sessions with a resource receive it, and these have none")
        }
    }
}

pub(super) fn command(command: Wire<'_>) -> Result<Command, Code> {
    Ok(match command {
        Wire::Presence { set } => Command::Set(set.to_chat()),
        Wire::Watch { contacts, users } => Command::Watch { contacts, users: subs(&users) },
        not_of!(presence) => unreachable!("another part decodes it"),
    })
}
