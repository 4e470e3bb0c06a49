//! The address at which a push service accepts messages for one browser. The browser names it, so a stranger may choose
//! it.

use std::net::IpAddr;

use reach::Reach;

/// Longest address, in bytes. Those of the known services have 150 to 500.
const MAX_BYTES: usize = 2_048;

/// An `https` address that the client may call. Its path is the browser's secret, so `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) host: Box<str>,
    pub(crate) port: u16,
    /// Begins with the slash and includes the query.
    pub(crate) path: Box<str>,
}

/// Not an address of a push service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not the https address of a public push service")]
pub struct WrongEndpoint;

impl Endpoint {
    /// Parses an address strictly, because an attacker may use every accepted form: no user, no fragment, no escapes in
    /// the host. [`Reach::Public`] also requires a name with a dot whose last label has letters, and no port. So the
    /// host cannot be a numeric address.
    pub fn parse(text: &str, reach: Reach) -> Result<Endpoint, WrongEndpoint> {
        let rest = text.strip_prefix("https://").filter(|_| text.len() <= MAX_BYTES).ok_or(WrongEndpoint)?;
        let (authority, path) = rest.find('/').map(|at| rest.split_at(at)).ok_or(WrongEndpoint)?;
        // Refuses characters that could end the request line, or that servers read differently.
        if !path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'\\' | b'"' | b'<' | b'>'))
        {
            return Err(WrongEndpoint);
        }
        let (host, port) = match authority.rsplit_once(':') {
            None => (authority, 443),
            Some((host, port)) if reach == Reach::Anywhere => {
                (host, port.parse().map_err(|_| WrongEndpoint)?)
            }
            Some((host, "443")) => (host, 443),
            Some(_) => return Err(WrongEndpoint),
        };
        let host = host.to_ascii_lowercase();
        if !is_name(&host) || (reach == Reach::Public && !is_public_name(&host)) {
            return Err(WrongEndpoint);
        }
        Ok(Endpoint { host: host.into(), port, path: path.into() })
    }

    /// The origin (RFC 6454 §6.2), which is the audience of the signature.
    pub fn origin(&self) -> String {
        match self.port {
            443 => format!("https://{}", self.host),
            port => format!("https://{}:{port}", self.host),
        }
    }

    pub fn host(&self) -> &str {
        &self.host
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Letters, digits and hyphens between dots (RFC 1123 §2.1).
fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        let fits = (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
        fits && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    host.len() <= 253 && host.split('.').all(is_label)
}

/// Not a number in any form that resolvers accept (`127.1`, `0x7f.1`, `2130706433`).
fn is_public_name(host: &str) -> bool {
    let Some((_, last)) = host.rsplit_once('.') else { return false };
    let is_word = last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_encoded_word = last.starts_with("xn--");
    (is_word || is_encoded_word) && host.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_services_are_accepted_and_unsafe_forms_are_refused() {
        for good in [
            "https://fcm.googleapis.com/fcm/send/fyXj3:APA91bE_x-y",
            "https://updates.push.services.mozilla.com/wpush/v2/gAAAAABk",
            "https://web.push.apple.com/QGuQyavXutnMH",
            "https://wns2-par02p.notify.windows.com/w/?token=BQYAAA%3d%3d",
            "https://FCM.GoogleAPIs.com:443/x",
        ] {
            assert!(Endpoint::parse(good, Reach::Public).is_ok(), "{good}");
        }
        for bad in [
            "",
            "https://",
            "https:///x",
            "http://fcm.googleapis.com/x",
            "HTTPS://fcm.googleapis.com/x",
            "https://fcm.googleapis.com",
            "https://fcm.googleapis.com:8443/x",
            "https://fcm.googleapis.com:/x",
            "https://me@fcm.googleapis.com/x",
            "https://fcm.googleapis.com@127.0.0.1/x",
            "https://localhost/x",
            "https://127.0.0.1/x",
            "https://127.1/x",
            "https://0x7f.1/x",
            "https://0x7f000001/x",
            "https://2130706433/x",
            "https://1.2.3.0x4/x",
            "https://[::1]/x",
            "https://[::ffff:127.0.0.1]/x",
            "https://a..b/x",
            "https://.example.com/x",
            "https://example.com./x",
            "https://exa%6dple.com/x",
            "https://exämple.com/x",
            "https://-a.example/x",
            "https://example.com/a b",
            "https://example.com/a\r\nHost: x",
            "https://example.com/a#b",
            "https://example.com\\@evil.example/x",
            "https://example.com/\\evil",
        ] {
            assert_eq!(Endpoint::parse(bad, Reach::Public), Err(WrongEndpoint), "{bad}");
        }
        let long = format!("https://example.com/{}", "x".repeat(MAX_BYTES));
        assert_eq!(Endpoint::parse(&long, Reach::Public), Err(WrongEndpoint));
    }

    #[test]
    fn an_origin_has_a_port_only_if_it_is_not_443() {
        let of = |text, reach| Endpoint::parse(text, reach).expect(text).origin();
        assert_eq!(of("https://a.example/x?y", Reach::Public), "https://a.example");
        assert_eq!(of("https://localhost:8443/x", Reach::Anywhere), "https://localhost:8443");
        let shown = format!("{:?}", Endpoint::parse("https://a.example/secret", Reach::Public));
        assert!(shown.contains("a.example") && !shown.contains("secret"), "{shown}");
    }

    proptest! {
        #[test]
        fn an_accepted_endpoint_is_one_line_of_a_request(text in "https://[ -~\r\n\u{e4}]{0,60}") {
            for reach in [Reach::Public, Reach::Anywhere] {
                if let Ok(endpoint) = Endpoint::parse(&text, reach) {
                    prop_assert!(endpoint.path.starts_with('/'));
                    prop_assert!(endpoint.path.bytes().all(|byte| byte.is_ascii_graphic()));
                    prop_assert!(!endpoint.host.is_empty() && !endpoint.host.contains(['@', ':', '/', '%', '[']));
                }
            }
        }
    }
}
