//! Configuration and destruction of rooms (XEP-0045 §10).

use std::borrow::Cow;

use crate::jid::Jid;
use crate::ns;
use crate::payload::data_forms::{Form, FormKind};
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// The type of the configuration form (§16.5.3).
pub const ROOM_CONFIG: &str = "http://jabber.org/protocol/muc#roomconfig";

/// The set of an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerRequest<'a> {
    /// §10.1.2: the defaults are right for a new room.
    AcceptDefaults,
    /// §10.2.
    Configure(Form<'a>),
    /// §10.1.3: the owner does not want to configure the room.
    Cancel,
    Destroy(Destroy<'a>),
}

/// §10.9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destroy<'a> {
    /// The room that takes its place.
    pub alternate: Option<Jid>,
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> OwnerRequest<'a> {
    /// Reads the `query` of a set.
    pub fn of(query: Element<'a>) -> Result<OwnerRequest<'a>, Condition> {
        if let Some(destroy) = query.child("destroy", ns::MUC_OWNER) {
            let alternate =
                destroy.attr("jid").map(|jid| Jid::parse(jid).map_err(|_| Condition::JidMalformed));
            let reason = destroy.child("reason", ns::MUC_OWNER).map(Element::text);
            return Ok(OwnerRequest::Destroy(Destroy { alternate: alternate.transpose()?, reason }));
        }
        let form = query.first().and_then(Form::read).ok_or(Condition::BadRequest)?;
        match form.kind {
            FormKind::Cancel => Ok(OwnerRequest::Cancel),
            FormKind::Submit if form.names().next().is_none() => Ok(OwnerRequest::AcceptDefaults),
            FormKind::Submit if form.value("FORM_TYPE") == Some(ROOM_CONFIG) => {
                Ok(OwnerRequest::Configure(form))
            }
            _ => Err(Condition::BadRequest),
        }
    }
}

impl Destroy<'_> {
    /// Writes it for the occupants, inside of [`write_user`](super::write_user).
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "destroy").opt("jid", self.alternate.as_ref().map(Jid::as_str)).children(|out| {
            if let Some(reason) = &self.reason {
                Open::new(out, "reason").text(reason);
            }
        });
    }
}

/// §10.2: writes the answer to a get. `form` writes the data form.
pub fn write_configuration(out: &mut Vec<u8>, form: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "query").attr("xmlns", ns::MUC_OWNER).children(form);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{read, written};

    fn query(inside: &str) -> crate::xml::Tree {
        read(&written(|out| write_configuration(out, |out| out.extend_from_slice(inside.as_bytes()))))
    }

    #[test]
    fn a_room_is_configured() {
        let form = |kind: &str, inside: &str| format!("<x xmlns='jabber:x:data' type='{kind}'>{inside}</x>");
        let config = format!(
            "<field var='FORM_TYPE'><value>{ROOM_CONFIG}</value></field>\
             <field var='muc#roomconfig_roomname'><value>R</value></field>"
        );
        let tree = query(&form("submit", &config));
        let Ok(OwnerRequest::Configure(read)) = OwnerRequest::of(tree.root()) else { panic!() };
        assert_eq!(read.value("muc#roomconfig_roomname"), Some("R"));
        assert_eq!(OwnerRequest::of(query(&form("submit", "")).root()), Ok(OwnerRequest::AcceptDefaults));
        assert_eq!(OwnerRequest::of(query(&form("cancel", "")).root()), Ok(OwnerRequest::Cancel));
        for wrong in [String::new(), form("result", ""), form("submit", "<field var='a'/>")] {
            assert_eq!(OwnerRequest::of(query(&wrong).root()), Err(Condition::BadRequest), "{wrong}");
        }
    }

    #[test]
    fn a_room_is_destroyed() {
        let tree = query("<destroy jid='new@rooms.example.com'><reason>Moved</reason></destroy>");
        let alternate = Some(Jid::parse("new@rooms.example.com").unwrap());
        let destroy = Destroy { alternate, reason: Some("Moved".into()) };
        assert_eq!(
            written(|out| destroy.write(out)),
            "<destroy jid='new@rooms.example.com'><reason>Moved</reason></destroy>"
        );
        assert_eq!(OwnerRequest::of(tree.root()), Ok(OwnerRequest::Destroy(destroy)));
        let wrong = query("<destroy jid='@'/>");
        assert_eq!(OwnerRequest::of(wrong.root()), Err(Condition::JidMalformed));
    }
}
