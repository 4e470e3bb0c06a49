//! The addresses of the web transports for a domain (XEP-0156), in XML and JSON (RFC 6415).

use http_proto::head::Head;
use xmpp_proto::xml::Open;

use super::http::{BOSH, Visitor, WEBSOCKET};
use crate::address::Site;
use crate::config::Shared;
use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(156),
    name: "Discovering Alternative XMPP Connection Methods",
    version: "1.4.0",
    scenario: "websocket",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// §4.2: pages of other hosts read it.
const XML: &str = "content-type: application/xrd+xml; charset=utf-8\r\naccess-control-allow-origin: *\r\n\
                   cache-control: max-age=300\r\nx-content-type-options: nosniff\r\n";
const JSON: &str = "content-type: application/json\r\naccess-control-allow-origin: *\r\n\
                    cache-control: max-age=300\r\nx-content-type-options: nosniff\r\n";

/// The relation, the start of the scheme, and the path.
const LINKS: &[(&str, &str, &str)] = &[
    ("urn:xmpp:alt-connections:websocket", "ws", WEBSOCKET),
    ("urn:xmpp:alt-connections:xbosh", "http", BOSH),
];

/// Header fields and body. None: the host is not the domain of a site, or its clients would be refused.
pub(super) fn answer(
    shared: &Shared,
    head: &Head<'_>,
    visitor: &Visitor,
    is_json: bool,
) -> Option<(&'static str, Vec<u8>)> {
    let domain = without_port(head.host).to_ascii_lowercase();
    Site::of_domain(&shared.node, &domain)?;
    let web = shared.config.web.as_ref()?;
    let own = format!("http{}://{}", if visitor.is_https { "s" } else { "" }, head.host);
    let base = web.public_url.as_deref().unwrap_or(&own).trim_end_matches('/').strip_prefix("http")?;
    if !base.starts_with("s:") && !web.allows_plain {
        return None;
    }
    let links = LINKS.iter().map(|(relation, scheme, path)| (*relation, format!("{scheme}{base}{path}")));
    let mut out = Vec::new();
    if is_json {
        let links: Vec<String> =
            links.map(|(relation, href)| format!(r#"{{"rel":"{relation}","href":"{href}"}}"#)).collect();
        out.extend_from_slice(format!("{{\"links\":[{}]}}\n", links.join(",")).as_bytes());
        return Some((JSON, out));
    }
    out.extend_from_slice(b"<?xml version='1.0' encoding='utf-8'?>\n");
    Open::new(&mut out, "XRD").attr("xmlns", "http://docs.oasis-open.org/ns/xri/xrd-1.0").children(|out| {
        for (relation, href) in links {
            Open::new(out, "Link").attr("rel", relation).attr("href", &href).empty();
        }
    });
    out.push(b'\n');
    Some((XML, out))
}

/// The host of a `Host` field. An IPv6 address keeps its brackets (RFC 3986 §3.2.2).
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::without_port;

    #[test]
    fn a_port_is_no_part_of_the_domain() {
        let table = [
            ("a.example:443", "a.example"),
            ("a.example", "a.example"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
        ];
        for (host, domain) in table {
            assert_eq!(without_port(host), domain);
        }
    }
}
