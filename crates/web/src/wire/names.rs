//! Ids and positions on the wire: numbers in hexadecimal, opaque to clients. The site is the session's.

use std::borrow::Cow;
use std::fmt::Write as _;

use chat::{ConversationId, Position, SiteId};

/// The text of an id or a position, on the stack.
pub(super) struct Name {
    /// Room for `ffffffff.ffffffffffffffff`.
    text: [u8; 25],
    length: usize,
}

impl Name {
    pub(super) fn conversation(id: ConversationId) -> Name {
        Name::of(format_args!("{:x}", id.key))
    }

    pub(super) fn position(position: Position) -> Name {
        Name::of(format_args!("{:x}.{:x}", position.epoch, position.number))
    }

    fn of(text: std::fmt::Arguments<'_>) -> Name {
        let mut name = Name { text: [0; 25], length: 0 };
        name.write_fmt(text).expect("no number is longer than its type allows");
        name
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.length]).expect("digits and a dot")
    }
}

impl std::fmt::Write for Name {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let end = self.length + part.len();
        self.text.get_mut(self.length..end).ok_or(std::fmt::Error)?.copy_from_slice(part.as_bytes());
        self.length = end;
        Ok(())
    }
}

pub(crate) fn conversation_text(id: ConversationId) -> Cow<'static, str> {
    Cow::Owned(Name::conversation(id).as_str().to_owned())
}

pub(crate) fn position_text(position: Position) -> Cow<'static, str> {
    Cow::Owned(Name::position(position).as_str().to_owned())
}

/// Only what `conversation_text` writes: one conversation has one name.
pub(crate) fn parse_conversation(site: SiteId, text: &str) -> Option<ConversationId> {
    parse_hex(text, 16).map(|key| ConversationId { site, key })
}

/// None: not a position of this server, so the answer is a first page.
pub(crate) fn parse_position(text: &str) -> Option<Position> {
    let (epoch, number) = text.split_once('.')?;
    Some(Position { epoch: u32::try_from(parse_hex(epoch, 8)?).ok()?, number: parse_hex(number, 16)? })
}

pub(super) fn parse_hex(text: &str, digits: usize) -> Option<u64> {
    let canonical = (1..=digits).contains(&text.len())
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && (text == "0" || !text.starts_with('0'));
    canonical.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_and_positions_come_back_as_they_were(key: u64, epoch: u32, number: u64) {
            let id = ConversationId { site: SiteId(7), key };
            prop_assert_eq!(parse_conversation(SiteId(7), &conversation_text(id)), Some(id));
            let position = Position { epoch, number };
            prop_assert_eq!(parse_position(&position_text(position)), Some(position));
        }

        #[test]
        fn nothing_else_is_an_id_or_a_position(text in "[0-9a-fA-F+. -]{0,20}") {
            if let Some(id) = parse_conversation(SiteId(7), &text) {
                prop_assert_eq!(&conversation_text(id), &text);
            }
            if let Some(position) = parse_position(&text) {
                prop_assert_eq!(&position_text(position), &text);
            }
        }
    }
}
