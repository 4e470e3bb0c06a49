//! The address of a page or a picture. Any user may choose it.

use std::net::IpAddr;

use reach::Reach;
use url::{Host, Url};

/// Longest address, in bytes.
const MAX_BYTES: usize = 2_048;

/// An `http` or `https` address that the client may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAddress(Url);

/// Not an address of a page of the public web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not the address of a public page")]
pub struct WrongAddress;

impl WebAddress {
    /// Parses an address as browsers do (WHATWG URL). [`Reach::Public`] accepts only names with a dot, at the usual
    /// ports: no numeric addresses, and no user name.
    pub fn parse(text: &str, reach: Reach) -> Result<WebAddress, WrongAddress> {
        let url = Some(text).filter(|text| text.len() <= MAX_BYTES).and_then(|text| Url::parse(text).ok());
        WebAddress::checked(url.ok_or(WrongAddress)?, reach)
    }

    /// Resolves a reference on this page, or a redirect from it.
    pub fn join(&self, reference: &str, reach: Reach) -> Result<WebAddress, WrongAddress> {
        if reference.len() > MAX_BYTES {
            return Err(WrongAddress);
        }
        WebAddress::checked(self.0.join(reference).map_err(|_| WrongAddress)?, reach)
    }

    fn checked(mut url: Url, reach: Reach) -> Result<WebAddress, WrongAddress> {
        let is_web = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_BYTES;
        let is_plain = url.username().is_empty() && url.password().is_none();
        if !is_web || !is_plain {
            return Err(WrongAddress);
        }
        if reach == Reach::Public && !(is_public_name(&url) && url.port().is_none()) {
            return Err(WrongAddress);
        }
        url.set_fragment(None);
        Ok(WebAddress(url))
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host in lower case, with non-ASCII characters encoded.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(443)
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The target in the first line of a request.
    pub(crate) fn target(&self) -> String {
        match self.0.query() {
            Some(query) => format!("{}?{query}", self.0.path()),
            None => self.0.path().to_owned(),
        }
    }

    /// The value of the field `Host`.
    pub(crate) fn authority(&self) -> String {
        match self.0.port() {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        }
    }
}

/// Accepts a name and refuses every way to write a number. Names of one label belong to private networks, and so do
/// some endings (RFC 6761, RFC 6762, RFC 8375).
fn is_public_name(url: &Url) -> bool {
    let Some(Host::Domain(host)) = url.host() else { return false };
    let host = host.trim_end_matches('.');
    let Some((_, last)) = host.rsplit_once('.') else { return false };
    let is_own =
        ["local", "localhost", "internal", "lan", "home", "corp", "intranet", "test", "invalid", "onion"]
            .contains(&last)
            || host.ends_with(".home.arpa");
    !is_own && last.bytes().any(|byte| byte.is_ascii_alphabetic()) && host.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_public_pages_are_accepted() {
        for text in [
            "https://example.org/a?b=c#d",
            "http://example.org",
            "https://example.org:443/",
            "https://xn--bcher-kva.example/",
            "https://bücher.example/",
        ] {
            assert!(WebAddress::parse(text, Reach::Public).is_ok(), "{text}");
        }
        for text in [
            "",
            "example.org",
            "ftp://example.org/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "https://user@example.org/",
            "https://user:secret@example.org/",
            "https://example.org:8443/",
            "http://example.org:22/",
            "http://localhost/",
            "http://intranet/",
            "http://printer.local/",
            "http://db.internal/",
            "http://router.home.arpa/",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://017700000001/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://8.8.8.8/",
            "http://169.254.169.254/latest/meta-data/",
        ] {
            assert_eq!(WebAddress::parse(text, Reach::Public), Err(WrongAddress), "{text}");
        }
        assert_eq!(
            WebAddress::parse(&format!("https://a.example/{}", "x".repeat(2_048)), Reach::Public),
            Err(WrongAddress)
        );
    }

    #[test]
    fn a_redirect_is_checked_like_the_first_address() {
        let page = WebAddress::parse("https://example.org/a/b?c", Reach::Public).expect("it is one");
        let to = |reference| page.join(reference, Reach::Public).map(|to| to.as_str().to_owned());
        assert_eq!(to("../d.png"), Ok("https://example.org/d.png".into()));
        assert_eq!(to("//other.example/x"), Ok("https://other.example/x".into()));
        for reference in [
            "http://127.0.0.1/",
            "//localhost/",
            "file:///etc/passwd",
            "http://[::1]/",
            "https://x.example:25/",
        ] {
            assert_eq!(to(reference), Err(WrongAddress), "{reference}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_address_has_a_host_name_and_no_user(text in "https?://[a-z0-9.:@\\[\\]%_-]{1,30}/.{0,10}", any: String) {
            for text in [text, any] {
                if let Ok(address) = WebAddress::parse(&text, Reach::Public) {
                    prop_assert!(address.host().contains('.') && address.host().parse::<IpAddr>().is_err());
                    prop_assert!(!address.target().contains([' ', '\r', '\n']) && address.target().starts_with('/'));
                    prop_assert!(matches!(address.port(), 80 | 443));
                }
            }
        }
    }
}
