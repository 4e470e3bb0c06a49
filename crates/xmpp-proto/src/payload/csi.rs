//! Client state indication (XEP-0352): whether the user looks at the client.

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientState {
    Active,
    Inactive,
}

impl ClientState {
    /// Reads the top-level element of a stream.
    pub fn of(element: Element<'_>) -> Option<ClientState> {
        match (element.ns(), element.name()) {
            (ns::CSI, "active") => Some(ClientState::Active),
            (ns::CSI, "inactive") => Some(ClientState::Inactive),
            _ => None,
        }
    }
}

/// Writes the stream feature.
pub fn write_feature(out: &mut Vec<u8>) {
    Open::new(out, "csi").attr("xmlns", ns::CSI).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn states_are_read() {
        assert_eq!(
            ClientState::of(read("<active xmlns='urn:xmpp:csi:0'/>").root()),
            Some(ClientState::Active)
        );
        assert_eq!(
            ClientState::of(read("<inactive xmlns='urn:xmpp:csi:0'/>").root()),
            Some(ClientState::Inactive)
        );
        assert_eq!(ClientState::of(read(&written(write_feature)).root()), None);
    }
}
