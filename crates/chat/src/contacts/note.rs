//! The user's own name and groups for a contact. Nobody else sees them.

use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::site::token::is_misleading;

/// Characters of a name or of a group.
pub const NOTE_NAME_CHARS: usize = 64;
/// Groups of one contact.
pub const MOST_GROUPS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContactNote {
    pub name: Option<Box<str>>,
    /// In the user's order, each once.
    pub groups: Vec<Box<str>>,
}

impl ContactNote {
    pub fn is_empty(&self) -> bool {
        self.name.is_none() && self.groups.is_empty()
    }

    /// Removes what misleads readers, as from display names, and checks the bounds. Names that become equal are one group.
    pub(crate) fn checked(self) -> Result<ContactNote, Refusal> {
        if self.groups.len() > MOST_GROUPS {
            return Err(Refusal::BadValue);
        }
        let name = self.name.map(|name| shown(&name)).transpose()?.flatten();
        let mut groups: Vec<Box<str>> = Vec::new();
        for group in &self.groups {
            let group = shown(group)?.ok_or(Refusal::BadValue)?;
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        Ok(ContactNote { name, groups })
    }
}

/// None: nothing is left of the text.
fn shown(text: &str) -> Result<Option<Box<str>>, Refusal> {
    // Four bytes are the longest character; so a huge text is not copied.
    if text.len() > NOTE_NAME_CHARS * 4 {
        return Err(Refusal::BadValue);
    }
    let shown: String = text.chars().filter(|c| !is_misleading(*c)).collect();
    let shown = shown.trim();
    match shown.chars().count() {
        0 => Ok(None),
        count if count <= NOTE_NAME_CHARS => Ok(Some(shown.into())),
        _ => Err(Refusal::BadValue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &str, groups: &[&str]) -> ContactNote {
        ContactNote { name: Some(name.into()), groups: groups.iter().map(|group| (*group).into()).collect() }
    }

    #[test]
    fn misleading_characters_are_removed() {
        let checked = note(" \u{202e}Ann\n\u{7} ", &["Fri\u{200f}ends", "Friends", "Work"]).checked();
        assert_eq!(checked, Ok(note("Ann", &["Friends", "Work"])));
        let nothing = ContactNote { name: None, groups: vec![] };
        assert_eq!(note("\u{202e}", &[]).checked(), Ok(nothing), "no name is left");
        assert_eq!(note("Ann", &["\u{202e}"]).checked(), Err(Refusal::BadValue));
    }

    #[test]
    fn notes_are_bounded() {
        let (long, longer) = ("ä".repeat(NOTE_NAME_CHARS), "ä".repeat(NOTE_NAME_CHARS + 1));
        assert!(note(&long, &[&long]).checked().is_ok());
        assert_eq!(note(&longer, &[]).checked(), Err(Refusal::BadValue));
        assert_eq!(note("Ann", &[&longer]).checked(), Err(Refusal::BadValue));
        let groups: Vec<String> = (0..=MOST_GROUPS).map(|group| group.to_string()).collect();
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        assert!(note("Ann", &groups[1..]).checked().is_ok());
        assert_eq!(note("Ann", &groups).checked(), Err(Refusal::BadValue));
    }
}
