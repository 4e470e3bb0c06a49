//! The site that a request over HTTP concerns: a front passes the request on to the home of its slot.

use axum::http::{HeaderMap, Uri};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::SiteId;
use web_proto::IceQuestion;

/// The home answers it with the servers of the front.
pub(super) const ICE_PATH: &str = "/v1/ice";
/// Longest body that is read for the site: a question for servers names one, and little else.
pub(super) const ICE_BYTES: usize = 4_096;
/// Paths with the number of a site behind them.
const OF_NUMBERS: [&str; 4] = ["/v1/files/", "/v1/pictures/", "/v1/room-pictures/", "/v1/stickers/"];
const OF_KEYS: &str = "/v1/sites/";
const UPLOADS: &str = "/v1/files";
const END_OF_MAIL: &str = "/v1/mail/end";

/// How a request names its site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SiteOf {
    Number(SiteId),
    Key(String),
    /// Its body has the key.
    Body,
    /// None: it belongs to the first slot, as the pages of the demo community do.
    No,
}

/// Reads the head of a request. It proves nothing: the home checks the request.
pub(super) fn site_of(uri: &Uri, fields: &HeaderMap) -> SiteOf {
    let path = uri.path();
    let first = |rest: &str| rest.split('/').next().unwrap_or_default().to_owned();
    if let Some(rest) = OF_NUMBERS.iter().find_map(|begin| path.strip_prefix(begin)) {
        return first(rest).parse().map_or(SiteOf::No, |number| SiteOf::Number(SiteId(number)));
    }
    if let Some(rest) = path.strip_prefix(OF_KEYS) {
        return SiteOf::Key(first(rest));
    }
    match path {
        ICE_PATH => SiteOf::Body,
        UPLOADS => of_upload(fields).map_or(SiteOf::No, SiteOf::Key),
        END_OF_MAIL => of_mail(uri.query().unwrap_or_default()).map_or(SiteOf::No, SiteOf::Key),
        _ => SiteOf::No,
    }
}

/// The key in the body of a question for servers.
pub(super) fn key_in_body(body: &[u8]) -> Option<String> {
    IceQuestion::parse(body).map(|question| question.site)
}

/// tus: pairs of a key and base64, separated by commas.
fn of_upload(fields: &HeaderMap) -> Option<String> {
    let metadata = fields.get("upload-metadata")?.to_str().ok()?;
    let value = metadata.split(',').find_map(|pair| pair.trim().strip_prefix("site "))?;
    String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()
}

/// `m=SITE.USER.TAG`.
fn of_mail(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("m="))?;
    value.split_once('.').map(|(site, _)| site.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> SiteOf {
        site_of(&path.parse().expect("a path"), &HeaderMap::new())
    }

    #[test]
    fn a_path_names_the_site_by_its_number_or_its_key() {
        let number = |number| SiteOf::Number(SiteId(number));
        assert_eq!(of("/v1/files/16777217/0000000000000001"), number(0x0100_0001));
        assert_eq!(of("/v1/files/1/0000000000000001/photo.jpg?k=1"), number(1));
        assert_eq!(of("/v1/pictures/2/aa"), number(2));
        assert_eq!(of("/v1/room-pictures/3/aa"), number(3));
        assert_eq!(of("/v1/stickers/4/aa"), number(4));
        assert_eq!(of("/v1/sites/garden/users/anna/erase"), SiteOf::Key("garden".into()));
        assert_eq!(of("/v1/mail/end?x=1&m=garden.7.dGFn"), SiteOf::Key("garden".into()));
        assert_eq!(of("/v1/ice"), SiteOf::Body);
        for other in
            ["/", "/v1/files", "/v1/files/x/1", "/v1/files/99999999999/1", "/v1/mail/end", "/as/anna/"]
        {
            assert_eq!(of(other), SiteOf::No, "{other}");
        }
    }

    #[test]
    fn an_upload_names_the_site_in_its_metadata() {
        let of = |text: &str| {
            let mut fields = HeaderMap::new();
            fields.insert("upload-metadata", text.parse().expect("a value"));
            site_of(&"/v1/files".parse().expect("a path"), &fields)
        };
        assert_eq!(of("filename Y8OpLnBuZw==, site Z2FyZGVu"), SiteOf::Key("garden".into()));
        for wrong in ["site !!", "sites Z2FyZGVu", "site", ""] {
            assert_eq!(of(wrong), SiteOf::No, "{wrong}");
        }
    }

    #[test]
    fn a_question_for_servers_names_the_site_in_its_body() {
        assert_eq!(key_in_body(br#"{"site":"garden"}"#).as_deref(), Some("garden"));
        assert_eq!(key_in_body(b"[]"), None);
    }
}
