//! What the widget's resource can do: apps offer calls to a contact only if one of its resources has these features.
//!
//! The answer is the same for every address with that resource, so it tells nothing about a user.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use xmpp_proto::ns;
use xmpp_proto::payload::disco::{Identity, Info};
use xmpp_proto::xml::{Element, Open};

use crate::session::Turn;

/// In the order of their bytes, as XEP-0115 §5.1 hashes them.
const FEATURES: [&str; 12] = [
    ns::DISCO_INFO,
    ns::JINGLE_MESSAGES,
    ns::JINGLE,
    ns::JINGLE_DTLS,
    ns::JINGLE_GROUPING,
    ns::JINGLE_RTP,
    ns::JINGLE_RTP_AUDIO,
    ns::JINGLE_RTCP_FB,
    ns::JINGLE_RTP_HDREXT,
    ns::JINGLE_SSMA,
    ns::JINGLE_RTP_VIDEO,
    ns::JINGLE_ICE,
];

const IDENTITY: Identity<'static> = Identity { category: "client", kind: "web", name: Some("Kith") };
const NODE: &str = "urn:kith:widget";

/// XEP-0115 §5.1: the hash of identity and features.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let text = format!("client/web//Kith<{}<", FEATURES.join("<"));
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
});

/// Of the widget's presence.
pub(crate) fn write_caps(out: &mut Vec<u8>) {
    let open = Open::new(out, "c").attr("xmlns", ns::CAPS).attr("hash", "sha-1").attr("node", NODE);
    open.attr("ver", &VERSION).empty();
}

impl Turn<'_, '_> {
    pub(super) fn discover_widget(&mut self, element: Element<'_>, payload: Element<'_>) -> bool {
        if !payload.is("query", ns::DISCO_INFO) {
            return false;
        }
        let node = payload.attr("node");
        let is_own =
            |node: &str| node.strip_prefix(NODE).and_then(|rest| rest.strip_prefix('#')) == Some(&VERSION);
        if !node.is_none_or(is_own) {
            return false;
        }
        let info = Info { node, identities: vec![IDENTITY], features: FEATURES.to_vec() };
        self.send(|out| {
            Open::new(out, "iq")
                .attr("type", "result")
                .opt("id", element.attr("id"))
                .opt("from", element.attr("to"))
                .children(|out| info.write(out, |_| {}));
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_hashed_in_their_order() {
        assert!(FEATURES.is_sorted(), "{FEATURES:?}");
        assert_eq!(VERSION.len(), 28);
    }
}
