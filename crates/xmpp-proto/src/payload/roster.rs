//! The contact list (RFC 6121 §2).

use std::borrow::Cow;

use crate::jid::Jid;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// RFC 6121 §2.1.2.5: who sees whose presence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscription {
    None,
    /// The user sees the contact.
    To,
    /// The contact sees the user.
    From,
    Both,
    /// The item leaves the list.
    Remove,
}

impl Subscription {
    pub fn name(self) -> &'static str {
        match self {
            Subscription::None => "none",
            Subscription::To => "to",
            Subscription::From => "from",
            Subscription::Both => "both",
            Subscription::Remove => "remove",
        }
    }
}

/// RFC 6121 §2.1.5: a change by a client. Its subscription can only be a removal (§2.1.2.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub jid: Jid,
    pub remove: bool,
    pub name: Option<&'a str>,
    pub groups: Vec<Cow<'a, str>>,
}

impl<'a> Change<'a> {
    /// Reads the `query` of a roster set, with the errors of RFC 6121 §2.3.3.
    pub fn of(query: Element<'a>) -> Result<Change<'a>, Condition> {
        let mut items = query.children().filter(|child| child.is("item", ns::ROSTER));
        let (Some(item), None) = (items.next(), items.next()) else { return Err(Condition::BadRequest) };
        let jid = item.attr("jid").ok_or(Condition::BadRequest)?;
        let jid = Jid::parse(jid).map_err(|_| Condition::JidMalformed)?;
        let groups = item.children().filter(|child| child.is("group", ns::ROSTER)).map(Element::text);
        let groups: Vec<_> = groups.collect();
        if groups.iter().any(|group| group.is_empty()) {
            return Err(Condition::NotAcceptable);
        }
        if groups.iter().enumerate().any(|(index, group)| groups[..index].contains(group)) {
            return Err(Condition::BadRequest);
        }
        let remove = item.attr("subscription") == Some("remove");
        Ok(Change { jid, remove, name: item.attr("name"), groups })
    }
}

/// RFC 6121 §2.1.2: an item of a result or a push.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// A bare address.
    pub jid: &'a str,
    pub name: Option<&'a str>,
    pub subscription: Subscription,
    /// The user asked to see the contact, who has not answered.
    pub ask: bool,
    /// The user has allowed the contact to subscribe before it asked (§3.4).
    pub approved: bool,
    pub groups: &'a [&'a str],
}

impl Item<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "item")
            .attr("jid", self.jid)
            .opt("name", self.name)
            .attr("subscription", self.subscription.name())
            .opt("ask", self.ask.then_some("subscribe"))
            .opt("approved", self.approved.then_some("true"))
            .children(|out| {
                for group in self.groups {
                    Open::new(out, "group").text(group);
                }
            });
    }
}

/// Writes the `query` of a result or of a push. A version (§2.6) is only for a client that sent one.
pub fn write(out: &mut Vec<u8>, version: Option<&str>, items: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "query").attr("xmlns", ns::ROSTER).opt("ver", version).children(items);
}

/// RFC 6121 §2.6.2: the version that the client has. Empty: the client supports versions, and has none.
pub fn version(query: Element<'_>) -> Option<&str> {
    query.attr("ver")
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_set_changes_one_contact() {
        let tree = read(
            "<query xmlns='jabber:iq:roster'><item jid='Nurse@example.com' name='N' subscription='both'>\
             <group>A</group><group>B &amp; C</group></item></query>",
        );
        let jid = Jid::parse("nurse@example.com").unwrap();
        let change = Change {
            jid: jid.clone(),
            remove: false,
            name: Some("N"),
            groups: vec!["A".into(), "B & C".into()],
        };
        assert_eq!(Change::of(tree.root()), Ok(change));
        let tree = read(
            "<query xmlns='jabber:iq:roster'><item jid='nurse@example.com' subscription='remove'/></query>",
        );
        assert_eq!(Change::of(tree.root()), Ok(Change { jid, remove: true, name: None, groups: vec![] }));
    }

    #[test]
    fn wrong_sets_are_refused() {
        let item = |inside: &str| format!("<item jid='a@b.example'>{inside}</item>");
        for (items, condition) in [
            (String::new(), Condition::BadRequest),
            (item("") + &item(""), Condition::BadRequest),
            ("<item/>".into(), Condition::BadRequest),
            ("<item jid='@'/>".into(), Condition::JidMalformed),
            (item("<group/>"), Condition::NotAcceptable),
            (item("<group>a</group><group>a</group>"), Condition::BadRequest),
        ] {
            let tree = read(&format!("<query xmlns='jabber:iq:roster'>{items}</query>"));
            assert_eq!(Change::of(tree.root()), Err(condition), "{items}");
        }
    }

    #[test]
    fn a_result_lists_contacts() {
        let xml = written(|out| {
            write(out, Some("v7"), |out| {
                let item = Item {
                    jid: "romeo@example.net",
                    name: None,
                    subscription: Subscription::None,
                    ask: true,
                    approved: false,
                    groups: &[],
                };
                item.write(out);
                let both = Subscription::Both;
                Item {
                    name: Some("R"),
                    subscription: both,
                    ask: false,
                    approved: true,
                    groups: &["F"],
                    ..item
                }
                .write(out);
            });
        });
        assert_eq!(
            xml,
            "<query xmlns='jabber:iq:roster' ver='v7'>\
             <item jid='romeo@example.net' subscription='none' ask='subscribe'/>\
             <item jid='romeo@example.net' name='R' subscription='both' approved='true'><group>F</group></item></query>"
        );
        assert_eq!(version(read(&xml).root()), Some("v7"));
    }
}
