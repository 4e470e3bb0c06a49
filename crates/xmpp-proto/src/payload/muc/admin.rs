//! Lists of users, and changes of roles and affiliations (XEP-0045 §8, §9).

use std::borrow::Cow;

use super::{Affiliation, Role};
use crate::jid::Jid;
use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// A request of a moderator or admin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminRequest<'a> {
    /// §9.5: the users with this affiliation.
    ListAffiliation(Affiliation),
    /// §8.5: the occupants with this role.
    ListRole(Role),
    Change(Vec<Change<'a>>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// §8: of an occupant, by nickname. No role is a kick.
    Role { nick: &'a str, role: Role, reason: Option<Cow<'a, str>> },
    /// §9: of a user, by address.
    Affiliation { jid: Jid, affiliation: Affiliation, reason: Option<Cow<'a, str>> },
    /// §9.3: of an occupant whose address the admin may not know.
    AffiliationOf { nick: &'a str, affiliation: Affiliation, reason: Option<Cow<'a, str>> },
}

impl<'a> AdminRequest<'a> {
    /// Reads the `query` of a get.
    pub fn of_get(query: Element<'a>) -> Result<AdminRequest<'a>, Condition> {
        let item = query.child("item", ns::MUC_ADMIN).ok_or(Condition::BadRequest)?;
        match (item.attr("affiliation"), item.attr("role")) {
            (Some(name), None) => {
                Affiliation::of(name).map(AdminRequest::ListAffiliation).ok_or(Condition::BadRequest)
            }
            (None, Some(name)) => Role::of(name).map(AdminRequest::ListRole).ok_or(Condition::BadRequest),
            _ => Err(Condition::BadRequest),
        }
    }

    /// Reads the `query` of a set.
    pub fn of_set(query: Element<'a>) -> Result<AdminRequest<'a>, Condition> {
        let items = query.children().filter(|child| child.is("item", ns::MUC_ADMIN));
        let changes = items.map(Change::of).collect::<Result<Vec<_>, _>>()?;
        if changes.is_empty() { Err(Condition::BadRequest) } else { Ok(AdminRequest::Change(changes)) }
    }
}

impl<'a> Change<'a> {
    fn of(item: Element<'a>) -> Result<Change<'a>, Condition> {
        let reason = item.child("reason", ns::MUC_ADMIN).map(Element::text);
        let nick = || item.attr("nick").filter(|nick| !nick.is_empty()).ok_or(Condition::BadRequest);
        match (item.attr("affiliation"), item.attr("role")) {
            (None, Some(role)) => {
                let role = Role::of(role).ok_or(Condition::BadRequest)?;
                Ok(Change::Role { nick: nick()?, role, reason })
            }
            (Some(affiliation), None) => {
                let affiliation = Affiliation::of(affiliation).ok_or(Condition::BadRequest)?;
                match item.attr("jid") {
                    Some(jid) => {
                        let jid = Jid::parse(jid).map_err(|_| Condition::JidMalformed)?;
                        Ok(Change::Affiliation { jid, affiliation, reason })
                    }
                    None => Ok(Change::AffiliationOf { nick: nick()?, affiliation, reason }),
                }
            }
            // §9: one item changes one of them.
            _ => Err(Condition::BadRequest),
        }
    }
}

/// A user in a list.
#[derive(Clone, Copy, Debug)]
pub struct AdminItem<'a> {
    pub jid: Option<&'a str>,
    pub nick: Option<&'a str>,
    pub affiliation: Option<Affiliation>,
    pub role: Option<Role>,
    pub reason: Option<&'a str>,
}

/// Writes the answer to a get.
pub fn write_admin_items(out: &mut Vec<u8>, items: &[AdminItem<'_>]) {
    Open::new(out, "query").attr("xmlns", ns::MUC_ADMIN).children(|out| {
        for item in items {
            let open = Open::new(out, "item").opt("affiliation", item.affiliation.map(Affiliation::name));
            let open =
                open.opt("role", item.role.map(Role::name)).opt("jid", item.jid).opt("nick", item.nick);
            open.children(|out| {
                if let Some(reason) = item.reason {
                    Open::new(out, "reason").text(reason);
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{read, written};

    fn query(inside: &str) -> crate::xml::Tree {
        read(&format!("<query xmlns='http://jabber.org/protocol/muc#admin'>{inside}</query>"))
    }

    #[test]
    fn a_get_asks_for_a_list() {
        for (inside, expected) in [
            ("<item affiliation='outcast'/>", Ok(AdminRequest::ListAffiliation(Affiliation::Outcast))),
            ("<item role='moderator'/>", Ok(AdminRequest::ListRole(Role::Moderator))),
            ("", Err(Condition::BadRequest)),
            ("<item/>", Err(Condition::BadRequest)),
            ("<item role='owner'/>", Err(Condition::BadRequest)),
            ("<item role='none' affiliation='none'/>", Err(Condition::BadRequest)),
        ] {
            assert_eq!(AdminRequest::of_get(query(inside).root()), expected, "{inside}");
        }
    }

    #[test]
    fn a_set_changes_roles_and_affiliations() {
        let tree = query(
            "<item nick='pistol' role='none'><reason>Avaunt!</reason></item>\
             <item jid='earl@example.com' affiliation='outcast'/><item nick='macbeth' affiliation='member'/>",
        );
        let changes = vec![
            Change::Role { nick: "pistol", role: Role::None, reason: Some("Avaunt!".into()) },
            Change::Affiliation {
                jid: Jid::parse("earl@example.com").unwrap(),
                affiliation: Affiliation::Outcast,
                reason: None,
            },
            Change::AffiliationOf { nick: "macbeth", affiliation: Affiliation::Member, reason: None },
        ];
        assert_eq!(AdminRequest::of_set(tree.root()), Ok(AdminRequest::Change(changes)));
        for (inside, condition) in [
            ("", Condition::BadRequest),
            ("<item nick='a'/>", Condition::BadRequest),
            ("<item role='none'/>", Condition::BadRequest),
            ("<item nick='a' role='x'/>", Condition::BadRequest),
            ("<item nick='a' role='none' affiliation='none'/>", Condition::BadRequest),
            ("<item jid='@' affiliation='none'/>", Condition::JidMalformed),
        ] {
            assert_eq!(AdminRequest::of_set(query(inside).root()), Err(condition), "{inside}");
        }
    }

    #[test]
    fn a_list_is_written() {
        let affiliation = Some(Affiliation::Outcast);
        let item = AdminItem {
            jid: Some("earl@example.com"),
            nick: None,
            affiliation,
            role: None,
            reason: Some("Treason"),
        };
        assert_eq!(
            written(|out| write_admin_items(out, &[item])),
            "<query xmlns='http://jabber.org/protocol/muc#admin'>\
             <item affiliation='outcast' jid='earl@example.com'><reason>Treason</reason></item></query>"
        );
    }
}
