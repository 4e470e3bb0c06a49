//! The elements of an authentication (RFC 6120 §6.4).

use std::fmt;

use crate::ns;
use crate::xml::{Element, Open};

use super::{Mechanism, SaslError, decode, encode};

/// An element of a client. The data of a mechanism can be a password, so it is not in the debug output.
pub enum Request<'a> {
    /// The name of a mechanism, and its first message if the client sends it now.
    Auth {
        mechanism: &'a str,
        initial: Option<Vec<u8>>,
    },
    Response(Vec<u8>),
    Abort,
}

impl<'a> Request<'a> {
    /// None: the element is not part of an authentication.
    pub fn of(element: Element<'a>) -> Option<Result<Request<'a>, SaslError>> {
        if element.ns() != ns::SASL {
            return None;
        }
        let request = match element.name() {
            "auth" => initial(&element.text()).and_then(|initial| {
                let mechanism = element.attr("mechanism").ok_or(SaslError::InvalidMechanism)?;
                Ok(Request::Auth { mechanism, initial })
            }),
            "response" => initial(&element.text()).map(|data| Request::Response(data.unwrap_or_default())),
            "abort" => Ok(Request::Abort),
            _ => Err(SaslError::MalformedRequest),
        };
        Some(request)
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Auth { mechanism, .. } => write!(f, "Auth({mechanism})"),
            Request::Response(_) => f.write_str("Response"),
            Request::Abort => f.write_str("Abort"),
        }
    }
}

/// RFC 6120 §6.4.2: no text is no data, and `=` is data of no bytes.
fn initial(text: &str) -> Result<Option<Vec<u8>>, SaslError> {
    match text.trim_ascii() {
        "" => Ok(None),
        "=" => Ok(Some(Vec::new())),
        text => decode(text).map(Some),
    }
}

/// RFC 6120 §6.4.1: writes the stream feature, with the strongest mechanism first.
pub fn write_mechanisms(out: &mut Vec<u8>, mechanisms: &[Mechanism]) {
    Open::new(out, "mechanisms").attr("xmlns", ns::SASL).children(|out| write_list(out, mechanisms));
}

pub(super) fn write_list(out: &mut Vec<u8>, mechanisms: &[Mechanism]) {
    let mut sorted = mechanisms.to_vec();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    for mechanism in sorted {
        Open::new(out, "mechanism").text(mechanism.name());
    }
}

/// RFC 6120 §6.4.3.
pub fn write_challenge(out: &mut Vec<u8>, data: &[u8]) {
    let text = if data.is_empty() { "=".to_owned() } else { encode(data) };
    Open::new(out, "challenge").attr("xmlns", ns::SASL).text(&text);
}

/// RFC 6120 §6.4.6, with the last message of the mechanism if it has one.
pub fn write_success(out: &mut Vec<u8>, data: Option<&[u8]>) {
    let text = match data {
        None => String::new(),
        Some([]) => "=".to_owned(),
        Some(data) => encode(data),
    };
    Open::new(out, "success").attr("xmlns", ns::SASL).text(&text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, document};

    fn check(xml: &str, expected: &str) {
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        let read = match Request::of(tree.root()) {
            None => "none".to_owned(),
            Some(Err(error)) => error.to_string(),
            Some(Ok(Request::Auth { mechanism, initial })) => format!("{mechanism} {initial:?}"),
            Some(Ok(Request::Response(data))) => format!("response {data:?}"),
            Some(Ok(Request::Abort)) => "abort".to_owned(),
        };
        assert_eq!(read, expected, "{xml}");
    }

    #[test]
    fn requests_are_read() {
        const NS: &str = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'";
        check(&format!("<auth {NS} mechanism='PLAIN'>AGE=</auth>"), "PLAIN Some([0, 97])");
        check(&format!("<auth {NS} mechanism='PLAIN'>=</auth>"), "PLAIN Some([])");
        check(&format!("<auth {NS} mechanism='X'/>"), "X None");
        check(&format!("<auth {NS}/>"), "invalid-mechanism");
        check(&format!("<auth {NS} mechanism='X'>A</auth>"), "incorrect-encoding");
        check(&format!("<auth {NS} mechanism='X'>AG E=</auth>"), "incorrect-encoding");
        check(&format!("<response {NS}>\n YWI= </response>"), "response [97, 98]");
        check(&format!("<response {NS}/>"), "response []");
        check(&format!("<abort {NS}/>"), "abort");
        check(&format!("<other {NS}/>"), "malformed-request");
        check("<auth xmlns='jabber:client'/>", "none");
    }

    #[test]
    fn answers_are_written() {
        let mut out = Vec::new();
        write_mechanisms(&mut out, &[Mechanism::Plain, Mechanism::ScramSha1]);
        write_challenge(&mut out, b"");
        write_challenge(&mut out, b"ab");
        write_success(&mut out, None);
        write_success(&mut out, Some(b"ab"));
        let written = String::from_utf8(out).unwrap().replace("urn:ietf:params:xml:ns:xmpp-sasl", "S");
        assert_eq!(
            written,
            "<mechanisms xmlns='S'><mechanism>SCRAM-SHA-1</mechanism><mechanism>PLAIN</mechanism></mechanisms>\
             <challenge xmlns='S'>=</challenge><challenge xmlns='S'>YWI=</challenge>\
             <success xmlns='S'/><success xmlns='S'>YWI=</success>"
        );
    }
}
