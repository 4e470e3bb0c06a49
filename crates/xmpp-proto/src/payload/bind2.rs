//! Bind 2 (XEP-0386): a resource, and features of the session, in one round trip with the authentication.

use std::borrow::Cow;

use super::{carbons, csi, stream_management};
use crate::ns;
use crate::xml::{Element, Open};

/// §3.2: the session that a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The name of the client, as the first part of the resource.
    pub tag: Option<Cow<'a, str>>,
    pub carbons: bool,
    pub stream_management: Option<stream_management::Request<'a>>,
    pub inactive: bool,
}

impl<'a> Request<'a> {
    /// Reads the `bind` in an authentication.
    pub fn of(authenticate: Element<'a>) -> Option<Request<'a>> {
        let bind = authenticate.child("bind", ns::BIND2)?;
        let enable = |child| stream_management::Request::of(child).and_then(Result::ok);
        Some(Request {
            tag: bind.child("tag", ns::BIND2).map(Element::text),
            carbons: bind.children().any(|child| carbons::is_enabled(child) == Some(true)),
            stream_management: bind
                .children()
                .filter_map(enable)
                .find(|request| matches!(request, stream_management::Request::Enable { .. })),
            inactive: bind
                .children()
                .any(|child| csi::ClientState::of(child) == Some(csi::ClientState::Inactive)),
        })
    }
}

/// §3.1: writes the feature, inside of that of SASL2, with the namespaces of what [`Request`] reads.
pub fn write_feature(out: &mut Vec<u8>) {
    Open::new(out, "bind").attr("xmlns", ns::BIND2).children(|out| {
        Open::new(out, "inline").children(|out| {
            for feature in [ns::CARBONS, ns::CSI, ns::STREAM_MANAGEMENT] {
                Open::new(out, "feature").attr("var", feature).empty();
            }
        });
    });
}

/// §3.2: writes the answer, inside of the success of SASL2. `answers` writes those of the features.
pub fn write_bound(out: &mut Vec<u8>, answers: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "bound").attr("xmlns", ns::BIND2).children(answers);
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_request_names_the_client_and_features() {
        let request = |inside: &str| {
            format!(
                "<authenticate xmlns='urn:xmpp:sasl:2'><bind xmlns='urn:xmpp:bind:0'>{inside}</bind></authenticate>"
            )
        };
        let tree = read(&request(
            "<tag>Dino</tag><enable xmlns='urn:xmpp:carbons:2'/><enable xmlns='urn:xmpp:sm:3' resume='1'/>\
             <inactive xmlns='urn:xmpp:csi:0'/>",
        ));
        let enable = stream_management::Request::Enable { resume: true, max: None };
        let expected = Request {
            tag: Some("Dino".into()),
            carbons: true,
            stream_management: Some(enable),
            inactive: true,
        };
        assert_eq!(Request::of(tree.root()), Some(expected));
        let least = Request { tag: None, carbons: false, stream_management: None, inactive: false };
        assert_eq!(Request::of(read(&request("<r xmlns='urn:xmpp:sm:3'/>")).root()), Some(least));
        assert_eq!(Request::of(read("<authenticate xmlns='urn:xmpp:sasl:2'/>").root()), None);
    }

    #[test]
    fn feature_and_answer_are_written() {
        let xml = written(|out| {
            write_feature(out);
            write_bound(out, |_| ());
        });
        assert_eq!(
            xml,
            "<bind xmlns='urn:xmpp:bind:0'><inline><feature var='urn:xmpp:carbons:2'/><feature var='urn:xmpp:csi:0'/>\
             <feature var='urn:xmpp:sm:3'/></inline></bind><bound xmlns='urn:xmpp:bind:0'/>"
        );
    }
}
