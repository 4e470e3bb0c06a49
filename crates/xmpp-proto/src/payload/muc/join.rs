//! Entering a room (XEP-0045 §7.2).

use std::borrow::Cow;
use std::fmt;

use crate::ns;
use crate::payload::date_time::DateTime;
use crate::xml::Element;

/// The request in a presence to a room.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Join<'a> {
    pub password: Option<Cow<'a, str>>,
    pub history: History,
}

/// §7.2.14: bounds on the old messages that the room sends; all of them apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct History {
    pub chars: Option<u32>,
    pub stanzas: Option<u32>,
    pub seconds: Option<u32>,
    pub since: Option<DateTime>,
}

impl<'a> Join<'a> {
    /// None: the presence does not enter a room, it changes what the occupant shows.
    pub fn of(presence: Element<'a>) -> Option<Join<'a>> {
        let x = presence.child("x", ns::MUC)?;
        let history = x.child("history", ns::MUC).map(|history| {
            let number = |name| history.attr(name).and_then(|number| number.parse().ok());
            History {
                chars: number("maxchars"),
                stanzas: number("maxstanzas"),
                seconds: number("seconds"),
                since: history.attr("since").and_then(DateTime::parse),
            }
        });
        Some(Join {
            password: x.child("password", ns::MUC).map(Element::text),
            history: history.unwrap_or_default(),
        })
    }
}

impl fmt::Debug for Join<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Join").field("history", &self.history).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::read;

    #[test]
    fn a_presence_enters_a_room() {
        let tree = read(
            "<presence><x xmlns='http://jabber.org/protocol/muc'><password>secret</password>\
             <history maxchars='0' maxstanzas='20' seconds='180' since='1970-01-01T00:00:01Z'/></x></presence>",
        );
        let history =
            History { chars: Some(0), stanzas: Some(20), seconds: Some(180), since: Some(DateTime(1000)) };
        let join = Join::of(tree.root()).unwrap();
        assert!(!format!("{join:?}").contains("secret"));
        assert_eq!(join, Join { password: Some("secret".into()), history });
        let least =
            read("<presence><x xmlns='http://jabber.org/protocol/muc'><history seconds='x'/></x></presence>");
        assert_eq!(Join::of(least.root()), Some(Join::default()));
        assert_eq!(Join::of(read("<presence/>").root()), None);
    }
}
