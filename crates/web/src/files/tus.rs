//! The words of tus 1.0.0 (<https://tus.io/protocols/resumable-upload>): core protocol, creation, termination.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use web_proto::Code;

use super::asked::Refused;

pub(super) const VERSION: &str = "1.0.0";
pub(super) const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
pub(super) const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
pub(super) const LENGTH: HeaderName = HeaderName::from_static("upload-length");
const METADATA: HeaderName = HeaderName::from_static("upload-metadata");

/// A server "MUST NOT process" another version.
pub(super) fn check_version(fields: &HeaderMap) -> Result<(), Refused> {
    match fields.get(RESUMABLE) {
        Some(version) if version == VERSION => Ok(()),
        _ => Err(Refused::because(Code::BadVersion, "tus-resumable: 1.0.0 is spoken here").with_status(412)),
    }
}

pub(super) fn number(fields: &HeaderMap, name: &HeaderName) -> Result<u64, Refused> {
    let text = fields.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_number && *number < 1 << 53);
    number.ok_or_else(|| Refused::because(Code::BadValue, &format!("{name}: a number is needed")))
}

/// `key base64, key base64, key`.
pub(super) fn metadata(fields: &HeaderMap) -> Result<HashMap<String, String>, Refused> {
    let wrong =
        || Refused::because(Code::BadValue, "upload-metadata: pairs of a key and base64, with commas");
    let text = fields.get(METADATA).map_or(Ok(""), |value| value.to_str().map_err(|_| wrong()))?;
    let mut pairs = HashMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        let value = STANDARD.decode(value.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if pairs.insert(key.to_owned(), value.ok_or_else(wrong)?).is_some() {
            return Err(wrong());
        }
    }
    Ok(pairs)
}

/// An answer without a body.
pub(super) fn answer(status: StatusCode, fields: &[(HeaderName, String)]) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    for (name, value) in fields {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(name: &'static str, value: &str) -> HeaderMap {
        let mut fields = HeaderMap::new();
        fields.insert(name, HeaderValue::from_str(value).unwrap());
        fields
    }

    #[test]
    fn metadata_is_pairs_of_a_key_and_base64() {
        let read = |text: &str| metadata(&fields("upload-metadata", text));
        let found = read("site Z2FyZGVu,filename Y8OpLnBuZw==, voice").unwrap();
        assert_eq!((&*found["site"], &*found["filename"], &*found["voice"]), ("garden", "cé.png", ""));
        assert!(read("").unwrap().is_empty() && metadata(&HeaderMap::new()).unwrap().is_empty());
        for wrong in ["site !!", "site Z2FyZGVu,site Z2FyZGVu", "filename /w==", "a b c"] {
            assert_eq!(read(wrong).unwrap_err().code(), Code::BadValue, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(number(&fields("upload-offset", "100000000"), &OFFSET).unwrap(), 100_000_000);
        for wrong in ["", "-1", "+1", "1.0", "0x1", "1 ", "9007199254740992", "99999999999999999999999"] {
            assert!(number(&fields("upload-offset", wrong), &OFFSET).is_err(), "{wrong:?}");
        }
        assert!(number(&HeaderMap::new(), &OFFSET).is_err());
    }
}
