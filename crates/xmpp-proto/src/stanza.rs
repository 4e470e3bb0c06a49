//! Stanzas and their errors (RFC 6120 §8).

use std::borrow::Cow;

use crate::ns;
use crate::stream::fragment;
use crate::xml::{Element, Open};

/// RFC 6120 §8.2: the three kinds of stanzas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StanzaKind {
    Message,
    Presence,
    Iq,
}

impl StanzaKind {
    /// The kind of an element in the content namespace of a stream.
    pub fn of(element: Element<'_>) -> Option<StanzaKind> {
        if !matches!(element.ns(), ns::CLIENT | ns::SERVER | ns::COMPONENT) {
            return None;
        }
        match element.name() {
            "message" => Some(StanzaKind::Message),
            "presence" => Some(StanzaKind::Presence),
            "iq" => Some(StanzaKind::Iq),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            StanzaKind::Message => "message",
            StanzaKind::Presence => "presence",
            StanzaKind::Iq => "iq",
        }
    }
}

/// RFC 6120 §8.3.2: the remedy of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Auth,
    Cancel,
    Continue,
    Modify,
    Wait,
}

impl ErrorKind {
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Auth => "auth",
            ErrorKind::Cancel => "cancel",
            ErrorKind::Continue => "continue",
            ErrorKind::Modify => "modify",
            ErrorKind::Wait => "wait",
        }
    }

    pub fn of(name: &str) -> Option<ErrorKind> {
        [ErrorKind::Auth, ErrorKind::Cancel, ErrorKind::Continue, ErrorKind::Modify, ErrorKind::Wait]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// The conditions of RFC 6120 §8.3.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    BadRequest,
    Conflict,
    FeatureNotImplemented,
    Forbidden,
    Gone,
    InternalServerError,
    ItemNotFound,
    JidMalformed,
    NotAcceptable,
    NotAllowed,
    NotAuthorized,
    PolicyViolation,
    RecipientUnavailable,
    Redirect,
    RegistrationRequired,
    RemoteServerNotFound,
    RemoteServerTimeout,
    ResourceConstraint,
    ServiceUnavailable,
    SubscriptionRequired,
    UndefinedCondition,
    UnexpectedRequest,
}

impl Condition {
    pub const ALL: [Condition; 22] = [
        Condition::BadRequest,
        Condition::Conflict,
        Condition::FeatureNotImplemented,
        Condition::Forbidden,
        Condition::Gone,
        Condition::InternalServerError,
        Condition::ItemNotFound,
        Condition::JidMalformed,
        Condition::NotAcceptable,
        Condition::NotAllowed,
        Condition::NotAuthorized,
        Condition::PolicyViolation,
        Condition::RecipientUnavailable,
        Condition::Redirect,
        Condition::RegistrationRequired,
        Condition::RemoteServerNotFound,
        Condition::RemoteServerTimeout,
        Condition::ResourceConstraint,
        Condition::ServiceUnavailable,
        Condition::SubscriptionRequired,
        Condition::UndefinedCondition,
        Condition::UnexpectedRequest,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Condition::BadRequest => "bad-request",
            Condition::Conflict => "conflict",
            Condition::FeatureNotImplemented => "feature-not-implemented",
            Condition::Forbidden => "forbidden",
            Condition::Gone => "gone",
            Condition::InternalServerError => "internal-server-error",
            Condition::ItemNotFound => "item-not-found",
            Condition::JidMalformed => "jid-malformed",
            Condition::NotAcceptable => "not-acceptable",
            Condition::NotAllowed => "not-allowed",
            Condition::NotAuthorized => "not-authorized",
            Condition::PolicyViolation => "policy-violation",
            Condition::RecipientUnavailable => "recipient-unavailable",
            Condition::Redirect => "redirect",
            Condition::RegistrationRequired => "registration-required",
            Condition::RemoteServerNotFound => "remote-server-not-found",
            Condition::RemoteServerTimeout => "remote-server-timeout",
            Condition::ResourceConstraint => "resource-constraint",
            Condition::ServiceUnavailable => "service-unavailable",
            Condition::SubscriptionRequired => "subscription-required",
            Condition::UndefinedCondition => "undefined-condition",
            Condition::UnexpectedRequest => "unexpected-request",
        }
    }

    pub fn of(name: &str) -> Option<Condition> {
        Condition::ALL.into_iter().find(|condition| condition.name() == name)
    }

    /// The kind that §8.3.3 recommends for the condition.
    pub fn kind(self) -> ErrorKind {
        match self {
            Condition::Forbidden
            | Condition::NotAuthorized
            | Condition::RegistrationRequired
            | Condition::SubscriptionRequired => ErrorKind::Auth,
            Condition::BadRequest
            | Condition::JidMalformed
            | Condition::NotAcceptable
            | Condition::PolicyViolation
            | Condition::Redirect => ErrorKind::Modify,
            Condition::RecipientUnavailable
            | Condition::RemoteServerTimeout
            | Condition::ResourceConstraint
            | Condition::UnexpectedRequest => ErrorKind::Wait,
            Condition::Conflict
            | Condition::FeatureNotImplemented
            | Condition::Gone
            | Condition::InternalServerError
            | Condition::ItemNotFound
            | Condition::NotAllowed
            | Condition::RemoteServerNotFound
            | Condition::ServiceUnavailable
            | Condition::UndefinedCondition => ErrorKind::Cancel,
        }
    }
}

/// RFC 6120 §8.3.2: the reason why a stanza was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StanzaError {
    pub condition: Condition,
    pub kind: ErrorKind,
    pub text: Option<Cow<'static, str>>,
    /// The address of the entity that found the error.
    pub by: Option<Box<str>>,
    /// §8.3.3.5, §8.3.3.14: the new address of a `gone` or `redirect`.
    pub address: Option<Box<str>>,
    /// §8.3.4: the condition of an extension, as XML that declares its namespace.
    pub application: Option<Box<str>>,
}

impl StanzaError {
    /// An error with the kind that the RFC recommends.
    pub fn new(condition: Condition) -> StanzaError {
        StanzaError {
            condition,
            kind: condition.kind(),
            text: None,
            by: None,
            address: None,
            application: None,
        }
    }

    pub fn kind(self, kind: ErrorKind) -> StanzaError {
        StanzaError { kind, ..self }
    }

    pub fn text(self, text: impl Into<Cow<'static, str>>) -> StanzaError {
        StanzaError { text: Some(text.into()), ..self }
    }

    pub fn by(self, by: &str) -> StanzaError {
        StanzaError { by: Some(by.into()), ..self }
    }

    pub fn address(self, address: &str) -> StanzaError {
        StanzaError { address: Some(address.into()), ..self }
    }

    pub fn application(self, name: &'static str, ns: &'static str) -> StanzaError {
        self.extension(|out| Open::new(out, name).attr("xmlns", ns).empty())
    }

    /// `write` writes the condition of an extension, and declares its namespace.
    pub fn extension(self, write: impl FnOnce(&mut Vec<u8>)) -> StanzaError {
        StanzaError { application: Some(fragment(write)), ..self }
    }

    /// Writes the `error` element.
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "error").attr("type", self.kind.name()).opt("by", self.by.as_deref()).children(
            |out| {
                let address = self.address.as_deref().unwrap_or_default();
                Open::new(out, self.condition.name()).attr("xmlns", ns::STANZAS).text(address);
                if let Some(text) = &self.text {
                    Open::new(out, "text").attr("xmlns", ns::STANZAS).text(text);
                }
                out.extend_from_slice(self.application.as_deref().unwrap_or_default().as_bytes());
            },
        );
    }

    /// Reads the `error` of a stanza with `type='error'`. RFC 6120 §8.3.2: an unknown condition counts as undefined.
    pub fn of(stanza: Element<'_>) -> Option<StanzaError> {
        let error = stanza.child("error", stanza.ns())?;
        let mut read = StanzaError::new(Condition::UndefinedCondition);
        for child in error.children() {
            match (child.ns(), child.name()) {
                (ns::STANZAS, "text") => read.text = Some(child.text().into_owned().into()),
                (ns::STANZAS, name) => {
                    read.condition = Condition::of(name).unwrap_or(Condition::UndefinedCondition);
                    read.address = Some(child.text()).filter(|text| !text.is_empty()).map(Box::from);
                }
                _ => read = read.extension(|out| child.write(out, ns::STANZAS)),
            }
        }
        read.kind = error.attr("type").and_then(ErrorKind::of).unwrap_or(read.condition.kind());
        read.by = error.attr("by").map(Box::from);
        Some(read)
    }
}

/// Writes the error reply to a stanza: its kind and id, `type='error'`, these addresses, and the error.
///
/// RFC 6120 §8.3.1: a stanza that is an error itself is never answered; the caller checks that.
pub fn write_error(
    out: &mut Vec<u8>,
    original: Element<'_>,
    from: Option<&str>,
    to: Option<&str>,
    error: &StanzaError,
) {
    let open = Open::new(out, original.name()).attr("type", "error").opt("id", original.attr("id"));
    open.opt("from", from).opt("to", to).children(|out| error.write(out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Limits, Tree, document};

    fn stanza(xml: &str) -> Tree {
        document(xml.as_bytes(), &Limits::default()).unwrap()
    }

    #[test]
    fn stanzas_are_elements_of_the_content_namespace() {
        let kind = |xml: &str| StanzaKind::of(stanza(xml).root());
        for (kind_of, name) in
            [(StanzaKind::Message, "message"), (StanzaKind::Presence, "presence"), (StanzaKind::Iq, "iq")]
        {
            assert_eq!(kind_of.name(), name);
            assert_eq!(kind(&format!("<{name} xmlns='jabber:client'/>")), Some(kind_of));
            assert_eq!(kind(&format!("<{name} xmlns='jabber:server'/>")), Some(kind_of));
            assert_eq!(kind(&format!("<{name} xmlns='urn:x'/>")), None);
        }
        assert_eq!(kind("<auth xmlns='jabber:client'/>"), None);
    }

    #[test]
    fn an_error_reply_echoes_kind_and_id() {
        let original = stanza(
            "<iq xmlns='jabber:client' type='get' id='&lt;1&gt;' to='example.com'><x xmlns='y'/></iq>",
        );
        let mut out = Vec::new();
        let error = StanzaError::new(Condition::ServiceUnavailable);
        write_error(&mut out, original.root(), Some("example.com"), None, &error);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "<iq type='error' id='&lt;1&gt;' from='example.com'><error type='cancel'>\
             <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>"
        );
    }

    #[test]
    fn a_written_error_is_read_again() {
        let mut errors: Vec<StanzaError> = Condition::ALL.into_iter().map(StanzaError::new).collect();
        let full = StanzaError::new(Condition::Gone).address("xmpp:b@example.com").by("example.com");
        errors.push(full.text("moved").application("blocked", ns::BLOCKING_ERRORS).kind(ErrorKind::Wait));
        for error in errors {
            let mut out = b"<message xmlns='jabber:client' type='error'>".to_vec();
            error.write(&mut out);
            out.extend_from_slice(b"</message>");
            let tree = document(&out, &Limits::default()).unwrap();
            assert_eq!(StanzaError::of(tree.root()), Some(error));
        }
        assert_eq!(StanzaError::of(stanza("<message xmlns='jabber:client'/>").root()), None);
    }
}
