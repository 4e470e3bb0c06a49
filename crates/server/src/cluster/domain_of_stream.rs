//! The domain for which another server or a component opens a stream: a front passes the stream on to the home of its site.
//!
//! It is the `to` of the stream's head (RFC 6120 §4.7.2), or the name in the first message of TLS (RFC 6066 §3). Both come before anything
//! secret, and nothing is proven: the home checks both.

use rustls::server::Acceptor;

/// The first byte of TLS (RFC 8446 §5.1).
pub(super) const TLS: u8 = 0x16;
/// A head is within so many bytes. A first message of TLS with keys for post-quantum exchange has some 1,800.
pub(super) const HEAD_BYTES: usize = 8 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    Domain(String),
    /// More bytes are needed.
    More,
    /// The head names none, or is wrong.
    No,
}

/// `head`: the first bytes of the client.
pub(super) fn domain(head: &[u8]) -> Found {
    let found = match head.first() {
        None => Found::More,
        Some(&TLS) => in_tls(head),
        Some(_) => in_xml(head),
    };
    match found {
        Found::More if head.len() >= HEAD_BYTES => Found::No,
        found => found,
    }
}

fn in_tls(mut head: &[u8]) -> Found {
    let mut acceptor = Acceptor::default();
    while !head.is_empty() {
        if acceptor.read_tls(&mut head).is_err() {
            return Found::No;
        }
    }
    match acceptor.accept() {
        Ok(Some(accepted)) => {
            accepted.client_hello().server_name().map_or(Found::No, |name| Found::Domain(name.to_owned()))
        }
        Ok(None) => Found::More,
        Err(_) => Found::No,
    }
}

/// Finds `to` in the start tag of the stream. No parser of XML is needed: a value has no quotes and no `<` inside.
fn in_xml(head: &[u8]) -> Found {
    let Ok(text) = std::str::from_utf8(head) else { return Found::No };
    let Some(begin) = text.find("stream") else { return Found::More };
    let Some(mut rest) = text[begin..].find(char::is_whitespace).map(|at| &text[begin + at..]) else {
        return Found::More;
    };
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Found::More;
        }
        if rest.starts_with(['>', '/']) {
            return Found::No;
        }
        let Some((name, value)) = rest.split_once('=') else { return Found::More };
        let value = value.trim_start();
        let Some(quote) = value.chars().next() else { return Found::More };
        if quote != '\'' && quote != '"' {
            return Found::No;
        }
        let Some((value, after)) = value[1..].split_once(quote) else { return Found::More };
        if name.trim_end() == "to" {
            return if value.is_empty() { Found::No } else { Found::Domain(value.to_ascii_lowercase()) };
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, RootCertStore};

    use super::*;

    const STREAM: &str = "<?xml version='1.0'?>\n<stream:stream xmlns='jabber:server' xmlns:db=\"jabber:server:dialback\" \
                          from='prosody.example' to='Garden.example' version='1.0'>";

    fn hello(name: &'static str) -> Vec<u8> {
        let config =
            ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        let name = ServerName::try_from(name).expect("a name");
        let mut client = ClientConnection::new(Arc::new(config), name).expect("a client");
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).expect("a Vec takes all");
        bytes
    }

    #[test]
    fn the_head_of_a_stream_names_the_domain_once_it_is_there() {
        let garden = Found::Domain("garden.example".into());
        assert_eq!(domain(STREAM.as_bytes()), garden);
        let end = STREAM.find("' version").expect("it has a version") + 1;
        for cut in 0..end {
            assert_eq!(domain(&STREAM.as_bytes()[..cut]), Found::More, "{cut}");
        }
        assert_eq!(domain(&STREAM.as_bytes()[..end]), garden);
    }

    #[test]
    fn the_first_message_of_tls_names_the_domain_once_it_is_there() {
        let bytes = hello("garden.example");
        assert_eq!(domain(&bytes), Found::Domain("garden.example".into()));
        for cut in [0, 1, 5, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(domain(&bytes[..cut]), Found::More, "{cut}");
        }
        assert_eq!(domain(&hello("127.0.0.1")), Found::No, "an address is no name");
    }

    #[test]
    fn a_head_without_a_domain_is_refused_within_its_bound() {
        for wrong in
            ["<stream:stream from='a'>", "<stream:stream to=garden>", "<stream:stream to=''>", "<stream />"]
        {
            assert_eq!(domain(wrong.as_bytes()), Found::No, "{wrong}");
        }
        assert_eq!(domain(b"\xff\xfe<stream"), Found::No);
        assert_eq!(domain(&vec![b' '; HEAD_BYTES - 1]), Found::More);
        assert_eq!(domain(&vec![b' '; HEAD_BYTES]), Found::No);
        assert_eq!(domain(&vec![TLS; HEAD_BYTES]), Found::No);
    }

    #[test]
    fn no_bytes_panic() {
        for text in
            ["stream to", "stream to=", "stream to='", "stream é='", "stream =", "stream \u{a0}to='x'"]
        {
            for cut in 0..=text.len() {
                let _ = domain(&text.as_bytes()[..cut]);
            }
        }
    }
}
