//! Jabber Component Protocol (XEP-0114): the handshake that follows the stream headers.

use ring::digest;

use crate::ns;
use crate::xml::{Element, Open};

/// The proof of a component: SHA-1 of the id of the stream and the secret, in lower case (XEP-0114 §3).
pub fn proof(id: &str, secret: &str) -> String {
    let hash = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, format!("{id}{secret}").as_bytes());
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the handshake has the proof, in constant time. False for any other element, too.
pub fn is_proof(handshake: Element<'_>, id: &str, secret: &str) -> bool {
    use subtle::ConstantTimeEq;
    let is_right: bool = proof(id, secret).as_bytes().ct_eq(handshake.text().trim().as_bytes()).into();
    is_right && handshake.is("handshake", ns::COMPONENT)
}

/// The answer to a right proof, in the namespace of the stream.
pub fn write_accepted(out: &mut Vec<u8>) {
    Open::new(out, "handshake").empty();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, document};

    #[test]
    fn a_proof_is_of_one_stream_and_one_secret() {
        // The example of XEP-0114 §3.
        let right = "aaee83c26aeeafcbabeabfcbcd50df997e0a2a1e";
        assert_eq!(proof("3BF96D32", "test"), right);
        let accepts = |xml: &str, id, secret| {
            is_proof(document(xml.as_bytes(), &Limits::default()).unwrap().root(), id, secret)
        };
        let handshake = format!("<handshake xmlns='jabber:component:accept'>\n{right}</handshake>");
        assert!(accepts(&handshake, "3BF96D32", "test"));
        assert!(!accepts(&handshake, "3BF96D33", "test") && !accepts(&handshake, "3BF96D32", "tesT"));
        assert!(!accepts(&handshake.replace("component:accept", "client"), "3BF96D32", "test"));
        assert!(!accepts("<handshake xmlns='jabber:component:accept'/>", "3BF96D32", "test"));
    }
}
