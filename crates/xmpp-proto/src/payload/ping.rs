//! Ping (XEP-0199).

use crate::ns;
use crate::xml::{Element, Open};

/// Whether the payload of a request is a ping. Its result is empty (XEP-0199 §4).
pub fn is(payload: Element<'_>) -> bool {
    payload.is("ping", ns::PING)
}

pub fn write(out: &mut Vec<u8>) {
    Open::new(out, "ping").attr("xmlns", ns::PING).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};

    #[test]
    fn a_ping_is_recognised() {
        assert!(super::is(read(&written(super::write)).root()));
        assert!(!super::is(read("<ping xmlns='urn:x'/>").root()));
    }
}
