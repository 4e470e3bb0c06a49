//! The name in the address of a room that an app has created.

use std::sync::Arc;

use crate::rooms::is_name;
use crate::serialize::serialize_as_text;

/// A name that an app has chosen for the address of a new room. It never changes, and no other room of the site gets it, even
/// after the room was closed: clients that still know the address would enter a room of somebody else.
///
/// Gateways compare it byte by byte, so they bring it into one form first. It is the first name of the room, too.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Alias(Arc<str>);

impl Alias {
    /// None if it is no name for a room, or has no letter: a number is the address of another room.
    pub fn parse(text: &str) -> Option<Alias> {
        let has_letter = text.chars().any(char::is_alphabetic);
        (is_name(text) && text.trim() == text && has_letter).then(|| Alias(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

serialize_as_text!(Alias, as_str, Alias::parse);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_is_no_number() {
        assert_eq!(Alias::parse("bikers").unwrap().as_str(), "bikers");
        assert!(Alias::parse("garden 7").is_some() && Alias::parse("7b").is_some());
        // Arabic-Indic and fullwidth digits look like numbers, too.
        for wrong in
            ["", "7", "007", "+7", "-7", "7.", "\u{667}", "\u{ff17}", " bikers", "a\nb", &"a".repeat(201)]
        {
            assert!(Alias::parse(wrong).is_none(), "{wrong:?}");
        }
    }
}
