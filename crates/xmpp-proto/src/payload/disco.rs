//! Service discovery (XEP-0030): identities, features and items of an entity.

use crate::ns;
use crate::xml::{Element, Open};

/// XEP-0030 §3.1: a category and type of the registry of identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity<'a> {
    pub category: &'a str,
    pub kind: &'a str,
    pub name: Option<&'a str>,
}

/// XEP-0030 §3: identities and features of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info<'a> {
    pub node: Option<&'a str>,
    pub identities: Vec<Identity<'a>>,
    pub features: Vec<&'a str>,
}

impl<'a> Info<'a> {
    /// Reads the answer of a client.
    pub fn of(query: Element<'a>) -> Option<Info<'a>> {
        if !query.is("query", ns::DISCO_INFO) {
            return None;
        }
        let mut info = Info { node: query.attr("node"), identities: Vec::new(), features: Vec::new() };
        for child in query.children().filter(|child| child.ns() == ns::DISCO_INFO) {
            match child.name() {
                "identity" => info.identities.push(Identity {
                    category: child.attr("category")?,
                    kind: child.attr("type")?,
                    name: child.attr("name"),
                }),
                "feature" => info.features.push(child.attr("var")?),
                _ => {}
            }
        }
        Some(info)
    }

    /// `forms` writes the data forms of XEP-0128, if there are any.
    pub fn write(&self, out: &mut Vec<u8>, forms: impl FnOnce(&mut Vec<u8>)) {
        Open::new(out, "query").attr("xmlns", ns::DISCO_INFO).opt("node", self.node).children(|out| {
            for identity in &self.identities {
                let open = Open::new(out, "identity")
                    .attr("category", identity.category)
                    .attr("type", identity.kind);
                open.opt("name", identity.name).empty();
            }
            for feature in &self.features {
                Open::new(out, "feature").attr("var", feature).empty();
            }
            forms(out);
        });
    }
}

/// XEP-0030 §4: an entity that belongs to the asked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    pub jid: &'a str,
    pub node: Option<&'a str>,
    pub name: Option<&'a str>,
}

impl Item<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "item").attr("jid", self.jid).opt("node", self.node).opt("name", self.name).empty();
    }
}

/// Writes the list of items.
pub fn write_items(out: &mut Vec<u8>, node: Option<&str>, items: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "query").attr("xmlns", ns::DISCO_ITEMS).opt("node", node).children(items);
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_information_is_read_again() {
        let info = Info {
            node: Some("n"),
            identities: vec![Identity { category: "server", kind: "im", name: Some("Kith") }],
            features: vec![ns::DISCO_INFO, ns::PING],
        };
        let xml = written(|out| info.write(out, |_| ()));
        assert_eq!(
            xml,
            "<query xmlns='http://jabber.org/protocol/disco#info' node='n'>\
             <identity category='server' type='im' name='Kith'/>\
             <feature var='http://jabber.org/protocol/disco#info'/><feature var='urn:xmpp:ping'/></query>"
        );
        assert_eq!(Info::of(read(&xml).root()), Some(info));
    }

    #[test]
    fn incomplete_information_is_none() {
        for inside in ["<identity category='client'/>", "<identity type='pc'/>", "<feature/>"] {
            let tree =
                read(&format!("<query xmlns='http://jabber.org/protocol/disco#info'>{inside}</query>"));
            assert_eq!(Info::of(tree.root()), None, "{inside}");
        }
    }

    #[test]
    fn items_are_listed() {
        let xml = written(|out| {
            write_items(out, None, |out| {
                Item { jid: "rooms.example.com", node: None, name: Some("R") }.write(out)
            });
        });
        assert_eq!(
            xml,
            "<query xmlns='http://jabber.org/protocol/disco#items'><item jid='rooms.example.com' name='R'/></query>"
        );
    }
}
