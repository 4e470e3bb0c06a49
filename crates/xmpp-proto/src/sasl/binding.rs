//! Channel bindings: what ties an authentication to its TLS connection, and proof of what a server offered.

use crate::ns;
use crate::xml::Open;

use super::{Mechanism, ScramHash, encode};

/// The kinds of channel bindings that a server can offer with TLS 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// RFC 9266.
    TlsExporter,
    /// RFC 5929 §4.
    TlsServerEndPoint,
}

/// RFC 9266 §2: the label of the exporter. Its context is empty, and it gives 32 bytes.
pub const EXPORTER_LABEL: &[u8] = b"EXPORTER-Channel-Binding";

impl BindingKind {
    pub fn name(self) -> &'static str {
        match self {
            BindingKind::TlsExporter => "tls-exporter",
            BindingKind::TlsServerEndPoint => "tls-server-end-point",
        }
    }
}

/// A binding that the server offers on this connection.
#[derive(Clone, Copy, Debug)]
pub struct ChannelBinding<'a> {
    pub kind: BindingKind,
    pub data: &'a [u8],
}

/// Writes the stream feature of XEP-0440 §2. Without bindings it writes nothing.
pub fn write_channel_bindings(out: &mut Vec<u8>, kinds: impl IntoIterator<Item = BindingKind>) {
    let mut kinds = kinds.into_iter().peekable();
    if kinds.peek().is_none() {
        return;
    }
    Open::new(out, "sasl-channel-binding").attr("xmlns", ns::CHANNEL_BINDING).children(|out| {
        for kind in kinds {
            Open::new(out, "channel-binding").attr("type", kind.name()).empty();
        }
    });
}

/// XEP-0474 §6.1: a hash of what the server offered, as the value of the attribute `h` of a SCRAM server's first message.
/// The client compares it, and so notices if an attacker between them removed an offer.
pub fn downgrade_hash(hash: ScramHash, mechanisms: &[Mechanism], bindings: &[BindingKind]) -> String {
    let mut mechanisms: Vec<&str> = mechanisms.iter().map(|mechanism| mechanism.name()).collect();
    mechanisms.sort_unstable();
    let mut offered = mechanisms.join("\x1E");
    if !bindings.is_empty() {
        let mut bindings: Vec<&str> = bindings.iter().map(|binding| binding.name()).collect();
        bindings.sort_unstable();
        offered.push('\x1F');
        offered.push_str(&bindings.join("\x1E"));
    }
    encode(hash.digest(offered.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XEP-0474 §6.3 has the hash of these offers.
    #[test]
    fn the_hash_of_offers_is_that_of_the_specification() {
        let mechanisms = [Mechanism::ScramSha1Plus, Mechanism::ScramSha1];
        let bindings = [BindingKind::TlsServerEndPoint, BindingKind::TlsExporter];
        assert_eq!(downgrade_hash(ScramHash::Sha1, &mechanisms, &bindings), "G6k/rBLDqgOhRRaCuuatSDFkJ08=");
        let without = downgrade_hash(ScramHash::Sha1, &mechanisms, &[]);
        assert_ne!(without, "G6k/rBLDqgOhRRaCuuatSDFkJ08=");
    }

    #[test]
    fn the_feature_lists_the_bindings() {
        let mut out = Vec::new();
        write_channel_bindings(&mut out, []);
        assert_eq!(out, b"");
        write_channel_bindings(&mut out, [BindingKind::TlsExporter]);
        assert_eq!(
            out,
            b"<sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'><channel-binding type='tls-exporter'/>\
              </sasl-channel-binding>"
        );
    }
}
