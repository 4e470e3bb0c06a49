//! Message carbons (XEP-0280): copies of messages for the other devices of a user.

use super::forward;
use crate::ns;
use crate::xml::{Element, Open};

/// The feature of servers that copy by the rules of XEP-0280 §6.1.
pub const RULES: &str = "urn:xmpp:carbons:rules:0";

/// XEP-0280 §4, §5: whether the payload of a request switches copies on or off for this session.
pub fn is_enabled(payload: Element<'_>) -> Option<bool> {
    match (payload.ns(), payload.name()) {
        (ns::CARBONS, "enable") => Some(true),
        (ns::CARBONS, "disable") => Some(false),
        _ => None,
    }
}

/// XEP-0280 §9: whether the sender excludes the message from copies. The server removes the element on delivery.
pub fn is_private(message: Element<'_>) -> bool {
    message.child("private", ns::CARBONS).is_some()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Received,
    Sent,
}

/// Writes the content of a copy. `message` writes the copied one, and declares its namespace.
pub fn write(out: &mut Vec<u8>, direction: Direction, message: impl FnOnce(&mut Vec<u8>)) {
    let name = match direction {
        Direction::Received => "received",
        Direction::Sent => "sent",
    };
    Open::new(out, name).attr("xmlns", ns::CARBONS).children(|out| forward::write(out, None, message));
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn copies_are_switched() {
        assert_eq!(is_enabled(read("<enable xmlns='urn:xmpp:carbons:2'/>").root()), Some(true));
        assert_eq!(is_enabled(read("<disable xmlns='urn:xmpp:carbons:2'/>").root()), Some(false));
        assert_eq!(is_enabled(read("<enable xmlns='urn:xmpp:sm:3'/>").root()), None);
        assert!(is_private(read("<message><private xmlns='urn:xmpp:carbons:2'/></message>").root()));
        assert!(!is_private(read("<message><private/></message>").root()));
    }

    #[test]
    fn a_copy_contains_the_whole_message() {
        let message = read("<message to='a@example.com'><body>b</body></message>");
        for (direction, name) in [(Direction::Received, "received"), (Direction::Sent, "sent")] {
            let xml = written(|out| write(out, direction, |out| message.root().write(out, ns::FORWARD)));
            let copy = read(&xml);
            let forwarded = copy.root().child("forwarded", ns::FORWARD).unwrap();
            assert!(copy.root().is(name, ns::CARBONS));
            assert_eq!(forwarded.child("message", ns::CLIENT).unwrap(), message.root());
        }
    }
}
