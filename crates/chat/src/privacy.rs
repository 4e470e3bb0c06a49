//! Privacy: who may begin to write to a member, who sees that they are here, and when they were here last.
//!
//! Three choices in one byte of the member's row, which each sign-in reads anyway; while the member is here they are kept in
//! the table of who is. It holds one way: who hides may still see others, so that a telling never asks what its hearers have chosen.

use crate::{ContactState, Relation};

/// What a member has chosen. The default, for all who have chosen nothing: everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Privacy {
    /// Who may begin a conversation; one that is there goes on.
    pub write: Audience,
    pub presence: Audience,
    /// Not who may not see the presence.
    pub last_seen: Audience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Audience {
    #[default]
    Everybody,
    Contacts,
    Nobody,
}

impl Audience {
    /// Is somebody among them to whom one stands like this? Contacts are mutual, so either side will do.
    pub fn has(self, relation: Relation) -> bool {
        match self {
            Audience::Everybody => true,
            Audience::Contacts => relation.of_a == ContactState::Contact,
            Audience::Nobody => false,
        }
    }

    fn of_code(code: u8) -> Audience {
        match code & 3 {
            1 => Audience::Contacts,
            2 => Audience::Nobody,
            _ => Audience::Everybody,
        }
    }
}

impl Privacy {
    pub fn sees_last_seen(self, relation: Relation) -> bool {
        self.presence.has(relation) && self.last_seen.has(relation)
    }

    /// As stores keep it: two bits each.
    pub fn code(self) -> u8 {
        self.write as u8 | (self.presence as u8) << 2 | (self.last_seen as u8) << 4
    }

    pub fn of_code(code: u8) -> Privacy {
        Privacy {
            write: Audience::of_code(code),
            presence: Audience::of_code(code >> 2),
            last_seen: Audience::of_code(code >> 4),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Audience::{Contacts, Everybody, Nobody};

    #[test]
    fn who_is_in_an_audience() {
        use ContactState::{Blocked, Contact, None as Nothing, RequestReceived, RequestSent};
        let table = [(Everybody, "yyyyy"), (Contacts, "---y-"), (Nobody, "-----")];
        for (audience, row) in table {
            let has = |of_a| if audience.has(Relation { of_a, of_b: of_a }) { 'y' } else { '-' };
            let said: String =
                [Nothing, RequestSent, RequestReceived, Contact, Blocked].map(has).iter().collect();
            assert_eq!(said, row, "{audience:?}");
        }
    }

    #[test]
    fn who_may_not_see_the_presence_does_not_see_when_it_ended() {
        let stranger = Relation { of_a: ContactState::None, of_b: ContactState::None };
        let hidden = Privacy { presence: Contacts, ..Privacy::default() };
        assert!(Privacy::default().sees_last_seen(stranger) && !hidden.sees_last_seen(stranger));
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(code: u8) {
            let privacy = Privacy::of_code(code);
            prop_assert_eq!(Privacy::of_code(privacy.code()), privacy);
            prop_assert!(privacy.code() < 64);
        }
    }
}
