//! Blocking command (XEP-0191).

use crate::jid::Jid;
use crate::ns;
use crate::stanza::{Condition, StanzaError};
use crate::xml::{Element, Open};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// §3.2.
    List,
    /// §3.3.
    Block(Vec<Jid>),
    /// §3.4.
    Unblock(Vec<Jid>),
    /// §3.5.
    UnblockAll,
}

impl Request {
    /// Reads the payload of a request. None: it is of something else.
    pub fn of(payload: Element<'_>) -> Option<Result<Request, Condition>> {
        if payload.ns() != ns::BLOCKING {
            return None;
        }
        Some(match payload.name() {
            "blocklist" => Ok(Request::List),
            // §3.3, §3.5: an empty block is a mistake, and an empty unblock is for all.
            "block" => items(payload).and_then(|items| match items.is_empty() {
                true => Err(Condition::BadRequest),
                false => Ok(Request::Block(items)),
            }),
            "unblock" => items(payload).map(|items| match items.is_empty() {
                true => Request::UnblockAll,
                false => Request::Unblock(items),
            }),
            _ => Err(Condition::BadRequest),
        })
    }
}

fn items(payload: Element<'_>) -> Result<Vec<Jid>, Condition> {
    let items = payload.children().filter(|child| child.is("item", ns::BLOCKING));
    items
        .map(|item| {
            Jid::parse(item.attr("jid").ok_or(Condition::BadRequest)?).map_err(|_| Condition::JidMalformed)
        })
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The answer to [`Request::List`].
    Blocklist,
    /// A push for the user's other devices; so is the next one.
    Block,
    Unblock,
}

/// Writes a list of addresses; an empty [`Listing::Unblock`] is for all.
pub fn write<'a>(out: &mut Vec<u8>, listing: Listing, jids: impl IntoIterator<Item = &'a str>) {
    let name = match listing {
        Listing::Blocklist => "blocklist",
        Listing::Block => "block",
        Listing::Unblock => "unblock",
    };
    Open::new(out, name).attr("xmlns", ns::BLOCKING).children(|out| {
        for jid in jids {
            Open::new(out, "item").attr("jid", jid).empty();
        }
    });
}

/// §3.3: the error for a user who writes to a blocked address.
pub fn blocked() -> StanzaError {
    let error = StanzaError::new(Condition::NotAcceptable).kind(crate::stanza::ErrorKind::Cancel);
    error.application("blocked", ns::BLOCKING_ERRORS)
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn requests_are_read() {
        let romeo = || vec![Jid::parse("romeo@example.net").unwrap()];
        for (xml, expected) in [
            ("<blocklist/>", Ok(Request::List)),
            ("<block><item jid='Romeo@example.net'/></block>", Ok(Request::Block(romeo()))),
            ("<block/>", Err(Condition::BadRequest)),
            ("<block><item/></block>", Err(Condition::BadRequest)),
            ("<block><item jid='@'/></block>", Err(Condition::JidMalformed)),
            ("<unblock><item jid='romeo@example.net'/></unblock>", Ok(Request::Unblock(romeo()))),
            ("<unblock/>", Ok(Request::UnblockAll)),
            ("<other/>", Err(Condition::BadRequest)),
        ] {
            let tree = document_of(xml);
            assert_eq!(Request::of(tree.root()), Some(expected), "{xml}");
        }
        assert_eq!(Request::of(read("<block xmlns='urn:x'/>").root()), None);
    }

    fn document_of(xml: &str) -> crate::xml::Tree {
        let (start, rest) = xml.split_at(xml.find(['/', '>']).unwrap());
        read(&format!("{start} xmlns='urn:xmpp:blocking'{rest}"))
    }

    #[test]
    fn lists_and_errors_are_written() {
        let xml = written(|out| {
            write(out, Listing::Blocklist, []);
            write(out, Listing::Unblock, ["romeo@example.net"]);
        });
        assert_eq!(
            xml,
            "<blocklist xmlns='urn:xmpp:blocking'/><unblock xmlns='urn:xmpp:blocking'>\
             <item jid='romeo@example.net'/></unblock>"
        );
        assert_eq!(
            written(|out| blocked().write(out)),
            "<error type='cancel'><not-acceptable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
             <blocked xmlns='urn:xmpp:blocking:errors'/></error>"
        );
    }
}
