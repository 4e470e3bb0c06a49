//! External Service Discovery (XEP-0215): the STUN and TURN servers for calls.
//!
//! Credentials are those of the domain: of use only while the user is in a call, and with the quota of the user.

use chat::calls::{Command, Event as CallsEvent};
use chat::{Delivery, Event, Ice};
use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::external_services::{Credentials, Request, Service, write};
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(215),
    name: "External Service Discovery",
    version: "1.0.0",
    scenario: "external_services",
    server_features: &[ns::EXTERNAL_SERVICES],
    account_features: &[],
    iq: &[
        IqHandler { name: "services", ns: ns::EXTERNAL_SERVICES, handle: services },
        IqHandler { name: "credentials", ns: ns::EXTERNAL_SERVICES, handle: services },
    ],
};

/// The request, in own memory: the answer of the domain comes later.
enum Wanted {
    Services { kind: Option<Box<str>> },
    Credentials { host: Box<str>, kind: Box<str> },
}

impl Wanted {
    fn request(&self) -> Request<'_> {
        match self {
            Wanted::Services { kind } => Request::Services { kind: kind.as_deref() },
            Wanted::Credentials { host, kind } => Request::Credentials { host, kind },
        }
    }

    fn takes(&self, service: &Service<'_>) -> bool {
        match self {
            Wanted::Services { kind } => kind.as_deref().is_none_or(|kind| kind == service.kind),
            Wanted::Credentials { host, kind } => **host == *service.host && **kind == *service.kind,
        }
    }
}

fn services(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Server || iq.kind != IqKind::Get {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    let request = Request::of(iq.payload).unwrap_or(Err(Condition::BadRequest)).map_err(StanzaError::new)?;
    let wanted = match request {
        Request::Services { kind } => Wanted::Services { kind: kind.map(Box::from) },
        Request::Credentials { host, kind } => Wanted::Credentials { host: host.into(), kind: kind.into() },
    };
    turn.ask_then(iq, Command::Servers, move |turn, asked, outcome| match outcome {
        Ok(delivery) => {
            let Some(ice) = servers(delivery) else { return };
            turn.answer(asked, |out| {
                write(out, wanted.request(), |out| {
                    let all = all(ice);
                    all.iter().filter(|service| wanted.takes(service)).for_each(|service| service.write(out));
                });
            });
        }
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

fn servers(delivery: &Delivery) -> Option<&Ice> {
    match &delivery.event {
        Event::Calls(CallsEvent::Servers(ice)) => Some(ice),
        _ => None,
    }
}

fn all(ice: &Ice) -> Vec<Service<'_>> {
    let mut all: Vec<Service<'_>> = ice.stun.iter().filter_map(|uri| service(uri, None)).collect();
    if let Some(turn) = &ice.turn {
        let (username, password, expires) = (&*turn.username, &*turn.credential, DateTime(turn.expires.0));
        let credentials = Credentials { username, password, expires };
        all.extend(turn.urls.iter().filter_map(|uri| service(uri, Some(credentials))));
    }
    all
}

/// Reads a URI of RFC 7064 §3.1 or RFC 7065 §3.1.
fn service<'a>(uri: &'a str, credentials: Option<Credentials<'a>>) -> Option<Service<'a>> {
    let (kind, rest) = uri.split_once(':')?;
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_secure = kind.ends_with('s');
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        Some(port) => port.parse().ok()?,
        None if is_secure => 5349,
        None => 3478,
    };
    let transport = query.strip_prefix("transport=").unwrap_or(if is_secure { "tcp" } else { "udp" });
    Some(Service { kind, host, port, transport, credentials })
}

#[cfg(test)]
mod tests {
    use super::service;

    #[test]
    fn addresses_of_servers_are_read() {
        for (uri, expected) in [
            ("stun:im.example:3478", Some(("stun", "im.example", 3478, "udp"))),
            ("turn:im.example?transport=tcp", Some(("turn", "im.example", 3478, "tcp"))),
            ("turns:im.example", Some(("turns", "im.example", 5349, "tcp"))),
            ("turn:[2001:db8::1]:9?transport=udp", Some(("turn", "2001:db8::1", 9, "udp"))),
            ("turn:im.example:x", None),
            ("im.example", None),
        ] {
            let read = service(uri, None).map(|one| (one.kind, one.host, one.port, one.transport));
            assert_eq!(read, expected, "{uri}");
        }
    }
}
