//! Nicknames: the name of a member in one room. A member without one has the display name there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::directory::fold;
use crate::rooms::is_line;
use crate::serialize::serialize_as_text;

/// Longest nickname, in bytes.
const NICKNAME_BYTES: usize = 100;

/// A name that a member has chosen for one room: one line of 1 to 100 bytes, without spaces around it.
///
/// No two members of a room have the same one, compared by [`folded`](Self::folded), and none has the display name of
/// another member who has chosen no nickname.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nickname(Arc<str>);

impl Nickname {
    /// None if the text breaks the rule.
    pub fn parse(text: &str) -> Option<Nickname> {
        let text = text.trim();
        is_line(text, NICKNAME_BYTES).then(|| Nickname(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }

    /// The form in which nicknames are compared. For stores.
    pub fn folded(&self) -> String {
        fold(&self.0)
    }
}

/// The names of users in a room that a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Naming {
    /// The nickname, or the display name.
    Shown,
    /// Nicknames alone: users without one are left out.
    Chosen,
}

serialize_as_text!(Nickname, as_str, Nickname::parse);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nickname_is_one_line() {
        let text = |text: &str| Nickname::parse(text).map(|nickname| nickname.as_str().to_owned());
        assert_eq!(text(" Anna B. "), Some("Anna B.".to_owned()));
        assert_eq!(text(&"a".repeat(100)), Some("a".repeat(100)));
        assert_eq!(["", "  ", "a\nb", "a\0", &"a".repeat(101)].map(text), [const { None }; 5]);
        assert_eq!(Nickname::parse("ÄNNE").map(|nickname| nickname.folded()), Some("änne".to_owned()));
    }
}
