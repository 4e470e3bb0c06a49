//! External service discovery (XEP-0215): STUN and TURN for calls.

use std::fmt;

use super::date_time::DateTime;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// §3.1, §3.2: services of all kinds or of this one.
    Services { kind: Option<&'a str> },
    /// §3.3: credentials for this service.
    Credentials { host: &'a str, kind: &'a str },
}

impl<'a> Request<'a> {
    /// Reads the payload of a get. None: it is of something else.
    pub fn of(payload: Element<'a>) -> Option<Result<Request<'a>, Condition>> {
        if payload.ns() != ns::EXTERNAL_SERVICES {
            return None;
        }
        Some(match payload.name() {
            "services" => Ok(Request::Services { kind: payload.attr("type") }),
            "credentials" => {
                let service = payload.child("service", ns::EXTERNAL_SERVICES);
                let named = service.and_then(|service| Some((service.attr("host")?, service.attr("type")?)));
                named.map(|(host, kind)| Request::Credentials { host, kind }).ok_or(Condition::BadRequest)
            }
            _ => Err(Condition::BadRequest),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Service<'a> {
    /// `stun`, `turn` or `turns`.
    pub kind: &'a str,
    pub host: &'a str,
    pub port: u16,
    /// `udp` or `tcp`.
    pub transport: &'a str,
    pub credentials: Option<Credentials<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Credentials<'a> {
    pub username: &'a str,
    pub password: &'a str,
    pub expires: DateTime,
}

impl fmt::Debug for Credentials<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.username)
    }
}

impl Service<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut open = Open::new(out, "service").attr("type", self.kind).attr("host", self.host);
        open = open.display("port", self.port).attr("transport", self.transport);
        if let Some(credentials) = self.credentials {
            open = open.attr("username", credentials.username).attr("password", credentials.password);
            open = open.display("expires", credentials.expires);
        }
        open.empty();
    }
}

/// Writes the answer to a request.
pub fn write(out: &mut Vec<u8>, request: Request<'_>, services: impl FnOnce(&mut Vec<u8>)) {
    let (name, kind) = match request {
        Request::Services { kind } => ("services", kind),
        Request::Credentials { .. } => ("credentials", None),
    };
    Open::new(out, name).attr("xmlns", ns::EXTERNAL_SERVICES).opt("type", kind).children(services);
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn requests_are_read() {
        for (xml, expected) in [
            ("<services N/>", Ok(Request::Services { kind: None })),
            ("<services N type='turn'/>", Ok(Request::Services { kind: Some("turn") })),
            (
                "<credentials N><service host='t.example' type='turn'/></credentials>",
                Ok(Request::Credentials { host: "t.example", kind: "turn" }),
            ),
            ("<credentials N><service host='t.example'/></credentials>", Err(Condition::BadRequest)),
            ("<credentials N/>", Err(Condition::BadRequest)),
            ("<other N/>", Err(Condition::BadRequest)),
        ] {
            let tree = read(&xml.replace('N', "xmlns='urn:xmpp:extdisco:2'"));
            assert_eq!(Request::of(tree.root()), Some(expected), "{xml}");
        }
        assert_eq!(Request::of(read("<services/>").root()), None);
    }

    #[test]
    fn services_are_listed_with_their_credentials() {
        let credentials = Credentials { username: "u", password: "p'", expires: DateTime(0) };
        assert_eq!(format!("{credentials:?}"), "Credentials(u)");
        let turn = Service {
            kind: "turn",
            host: "t.example",
            port: 3478,
            transport: "udp",
            credentials: Some(credentials),
        };
        let stun = Service { kind: "stun", credentials: None, ..turn };
        let request = Request::Services { kind: Some("turn") };
        assert_eq!(
            written(|out| write(out, request, |out| {
                turn.write(out);
                stun.write(out);
            })),
            "<services xmlns='urn:xmpp:extdisco:2' type='turn'><service type='turn' host='t.example' port='3478' \
             transport='udp' username='u' password='p&apos;' expires='1970-01-01T00:00:00Z'/>\
             <service type='stun' host='t.example' port='3478' transport='udp'/></services>"
        );
    }
}
