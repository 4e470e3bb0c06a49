//! In-band registration (XEP-0077).

use std::borrow::Cow;
use std::fmt;

use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// The set of a client.
#[derive(Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// §3.1 before authentication; §3.3, a change of the password, after it.
    Register { username: Cow<'a, str>, password: Cow<'a, str> },
    /// §3.2: deletes the account.
    Remove,
}

impl<'a> Request<'a> {
    /// Reads the `query` of a set. `not-acceptable`: a field is missing (§3.1.1).
    pub fn of(query: Element<'a>) -> Result<Request<'a>, Condition> {
        if query.child("remove", ns::REGISTER).is_some() {
            let is_alone = query.children().count() == 1;
            return if is_alone { Ok(Request::Remove) } else { Err(Condition::BadRequest) };
        }
        let field = |name| {
            let text = query.child(name, ns::REGISTER).map(Element::text).filter(|text| !text.is_empty());
            text.ok_or(Condition::NotAcceptable)
        };
        Ok(Request::Register { username: field("username")?, password: field("password")? })
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Register { username, .. } => write!(f, "Register({username})"),
            Request::Remove => f.write_str("Remove"),
        }
    }
}

/// §3.1: writes the fields of a new account, or the name of the account that the client has.
pub fn write(out: &mut Vec<u8>, registered: Option<&str>) {
    Open::new(out, "query").attr("xmlns", ns::REGISTER).children(|out| {
        if registered.is_some() {
            Open::new(out, "registered").empty();
        }
        Open::new(out, "username").text(registered.unwrap_or_default());
        Open::new(out, "password").empty();
    });
}

/// §8: writes the stream feature.
pub fn write_feature(out: &mut Vec<u8>) {
    Open::new(out, "register").attr("xmlns", ns::REGISTER_FEATURE).empty();
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn requests_are_read_and_passwords_stay_out_of_logs() {
        let request = |inside: &str| read(&format!("<query xmlns='jabber:iq:register'>{inside}</query>"));
        let tree = request("<username>bill</username><password>Calliope</password>");
        let bill = Request::Register { username: "bill".into(), password: "Calliope".into() };
        assert_eq!(format!("{bill:?}"), "Register(bill)");
        assert_eq!(Request::of(tree.root()), Ok(bill));
        assert_eq!(Request::of(request("<remove/>").root()), Ok(Request::Remove));
        for (inside, condition) in [
            ("<remove/><username>bill</username>", Condition::BadRequest),
            ("<username>bill</username>", Condition::NotAcceptable),
            ("<username/><password>a</password>", Condition::NotAcceptable),
        ] {
            assert_eq!(Request::of(request(inside).root()), Err(condition), "{inside}");
        }
    }

    #[test]
    fn fields_are_written() {
        let xml = written(|out| {
            write(out, None);
            write(out, Some("juliet"));
            write_feature(out);
        });
        assert_eq!(
            xml,
            "<query xmlns='jabber:iq:register'><username/><password/></query><query xmlns='jabber:iq:register'>\
             <registered/><username>juliet</username><password/></query>\
             <register xmlns='http://jabber.org/features/iq-register'/>"
        );
    }
}
