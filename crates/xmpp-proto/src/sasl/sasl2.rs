//! The elements of an extensible authentication (XEP-0388), which can carry other requests.

use std::borrow::Cow;
use std::fmt;

use crate::ns;
use crate::xml::{Element, Open};

use super::exchange::write_list;
use super::{Mechanism, SaslError, decode, encode};

/// An element of a client.
#[derive(Debug)]
pub enum Request2<'a> {
    Authenticate(Authenticate<'a>),
    Response(Vec<u8>),
    Abort,
}

/// XEP-0388 §2.3. Requests of other extensions are children of the element: a `bind`, a `resume`.
pub struct Authenticate<'a> {
    pub mechanism: &'a str,
    pub initial: Option<Vec<u8>>,
    pub user_agent: Option<UserAgent<'a>>,
    pub element: Element<'a>,
}

/// XEP-0388 §2.3: names the client for lists of devices; the id stays the same on every connection of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent<'a> {
    pub id: Option<&'a str>,
    pub software: Option<Cow<'a, str>>,
    pub device: Option<Cow<'a, str>>,
}

impl<'a> Request2<'a> {
    /// None: the element is not part of an authentication.
    pub fn of(element: Element<'a>) -> Option<Result<Request2<'a>, SaslError>> {
        if element.ns() != ns::SASL2 {
            return None;
        }
        let request = match element.name() {
            "authenticate" => Authenticate::of(element).map(Request2::Authenticate),
            "response" => decode(&element.text()).map(Request2::Response),
            "abort" => Ok(Request2::Abort),
            _ => Err(SaslError::MalformedRequest),
        };
        Some(request)
    }
}

impl<'a> Authenticate<'a> {
    fn of(element: Element<'a>) -> Result<Authenticate<'a>, SaslError> {
        let initial = element.child("initial-response", ns::SASL2);
        let user_agent = element.child("user-agent", ns::SASL2).map(|agent| {
            let text = |name| agent.child(name, ns::SASL2).map(Element::text);
            UserAgent { id: agent.attr("id"), software: text("software"), device: text("device") }
        });
        Ok(Authenticate {
            mechanism: element.attr("mechanism").ok_or(SaslError::InvalidMechanism)?,
            initial: initial.map(|initial| decode(&initial.text())).transpose()?,
            user_agent,
            element,
        })
    }
}

impl fmt::Debug for Authenticate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticate")
            .field("mechanism", &self.mechanism)
            .field("user_agent", &self.user_agent)
            .finish_non_exhaustive()
    }
}

/// XEP-0388 §2.1: writes the stream feature. `inline` writes the features that a client may use together with the
/// authentication.
pub fn write_authentication(out: &mut Vec<u8>, mechanisms: &[Mechanism], inline: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "authentication").attr("xmlns", ns::SASL2).children(|out| {
        write_list(out, mechanisms);
        Open::new(out, "inline").children(inline);
    });
}

/// XEP-0388 §2.5.
pub fn write_challenge2(out: &mut Vec<u8>, data: &[u8]) {
    Open::new(out, "challenge").attr("xmlns", ns::SASL2).text(&encode(data));
}

/// XEP-0388 §2.6.1: the result of a whole authentication.
pub struct Success2<'a> {
    /// The last message of the mechanism.
    pub data: Option<&'a [u8]>,
    /// The bare address, or the full one if a resource was bound at the same time.
    pub identifier: &'a str,
}

impl Success2<'_> {
    /// `inline` writes the answers to the requests that came with the authentication.
    pub fn write(&self, out: &mut Vec<u8>, inline: impl FnOnce(&mut Vec<u8>)) {
        Open::new(out, "success").attr("xmlns", ns::SASL2).children(|out| {
            if let Some(data) = self.data {
                Open::new(out, "additional-data").text(&encode(data));
            }
            Open::new(out, "authorization-identifier").text(self.identifier);
            inline(out);
        });
    }
}

/// XEP-0388 §2.6.2.
pub fn write_failure2(out: &mut Vec<u8>, error: SaslError, text: Option<&str>) {
    Open::new(out, "failure").attr("xmlns", ns::SASL2).children(|out| {
        Open::new(out, error.name()).attr("xmlns", ns::SASL).empty();
        if let Some(text) = text {
            Open::new(out, "text").text(text);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, document};

    #[test]
    fn an_authentication_names_its_client_and_carries_other_requests() {
        let xml = "<authenticate xmlns='urn:xmpp:sasl:2' mechanism='PLAIN'>\
                   <initial-response>\n  AGE=\n</initial-response>\
                   <user-agent id='7'><software>Dino</software></user-agent>\
                   <bind xmlns='urn:xmpp:bind:0'/></authenticate>";
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        let Some(Ok(Request2::Authenticate(request))) = Request2::of(tree.root()) else { panic!() };
        assert_eq!((request.mechanism, request.initial.as_deref()), ("PLAIN", Some(&b"\0a"[..])));
        let agent = UserAgent { id: Some("7"), software: Some("Dino".into()), device: None };
        assert_eq!(request.user_agent, Some(agent));
        assert!(request.element.child("bind", ns::BIND2).is_some());
        assert!(!format!("{request:?}").contains("97"), "the data is not printed");
    }

    #[test]
    fn other_requests_are_read_or_refused() {
        let read = |xml: &str| {
            let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
            match Request2::of(tree.root())? {
                Ok(Request2::Response(data)) => Some(format!("{data:?}")),
                Ok(Request2::Abort) => Some("abort".into()),
                Ok(Request2::Authenticate(_)) => Some("authenticate".into()),
                Err(error) => Some(error.to_string()),
            }
        };
        assert_eq!(read("<response xmlns='urn:xmpp:sasl:2'>YQ==</response>").as_deref(), Some("[97]"));
        assert_eq!(read("<response xmlns='urn:xmpp:sasl:2'/>").as_deref(), Some("[]"));
        assert_eq!(read("<abort xmlns='urn:xmpp:sasl:2'/>").as_deref(), Some("abort"));
        assert_eq!(read("<authenticate xmlns='urn:xmpp:sasl:2'/>").as_deref(), Some("invalid-mechanism"));
        assert_eq!(read("<next xmlns='urn:xmpp:sasl:2'/>").as_deref(), Some("malformed-request"));
        assert_eq!(read("<abort xmlns='urn:x'/>"), None);
    }

    #[test]
    fn answers_are_written() {
        let mut out = Vec::new();
        write_authentication(&mut out, &[Mechanism::Plain], |out| {
            Open::new(out, "bind").attr("xmlns", ns::BIND2).empty();
        });
        write_challenge2(&mut out, b"ab");
        Success2 { data: Some(b"ab"), identifier: "a@example.com" }.write(&mut out, |_| ());
        write_failure2(&mut out, SaslError::Aborted, Some("x"));
        let written = String::from_utf8(out).unwrap().replace("urn:xmpp:sasl:2", "S");
        assert_eq!(
            written,
            "<authentication xmlns='S'><mechanism>PLAIN</mechanism><inline><bind xmlns='urn:xmpp:bind:0'/></inline>\
             </authentication><challenge xmlns='S'>YWI=</challenge><success xmlns='S'><additional-data>YWI=\
             </additional-data><authorization-identifier>a@example.com</authorization-identifier></success>\
             <failure xmlns='S'><aborted xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/><text>x</text></failure>"
        );
    }
}
