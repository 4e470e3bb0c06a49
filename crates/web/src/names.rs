//! How ids of the domain are written on the wire. Opaque to clients; read strictly.

use chat::{ConversationId, Position, SiteId};

pub(crate) fn conversation(id: ConversationId) -> String {
    format!("{:x}", id.key)
}

/// A conversation of this site; None for what we never wrote.
pub(crate) fn parse_conversation(text: &str, site: SiteId) -> Option<ConversationId> {
    Some(ConversationId { site, key: hex(text)? })
}

pub(crate) fn position(position: Position) -> String {
    format!("{:x}-{:x}", position.epoch, position.number)
}

pub(crate) fn parse_position(text: &str) -> Option<Position> {
    let (epoch, number) = text.split_once('-')?;
    Some(Position { epoch: u32::try_from(hex(epoch)?).ok()?, number: hex(number)? })
}

/// `from_str_radix` alone would also take a sign, capitals and leading zeros.
fn hex(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let canonical = text == "0" || !text.starts_with('0');
    if plain && canonical { u64::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(site: u32, key: u64, epoch: u32, number: u64) {
            let id = ConversationId { site: SiteId(site), key };
            prop_assert_eq!(parse_conversation(&conversation(id), id.site), Some(id));
            let at = Position { epoch, number };
            prop_assert_eq!(parse_position(&position(at)), Some(at));
        }

        #[test]
        fn nothing_else_is(text in "\\PC{0,24}") {
            if let Some(at) = parse_position(&text) {
                prop_assert_eq!(position(at), text);
            } else if let Some(id) = parse_conversation(&text, SiteId(1)) {
                prop_assert_eq!(conversation(id), text);
            }
        }
    }
}
