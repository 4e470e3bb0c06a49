//! Private XML storage (XEP-0049): elements that only the user reads.

use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// The element in the `query` of a get or set. Its name and namespace are the key.
pub fn of(query: Element<'_>) -> Result<Element<'_>, Condition> {
    let mut children = query.children();
    let (Some(element), None) = (children.next(), children.next()) else { return Err(Condition::BadRequest) };
    // XEP-0049 §3: the namespaces of the protocol itself are reserved.
    match element.ns() {
        "" | ns::PRIVATE | ns::CLIENT | ns::SERVER | ns::STREAMS => Err(Condition::NotAcceptable),
        _ => Ok(element),
    }
}

/// Writes the `query` of a result. `element` writes what is stored, or the empty element of the request.
pub fn write(out: &mut Vec<u8>, element: impl FnOnce(&mut Vec<u8>)) {
    Open::new(out, "query").attr("xmlns", ns::PRIVATE).children(element);
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn one_element_of_a_foreign_namespace_is_stored() {
        let xml =
            written(|out| write(out, |out| Open::new(out, "exodus").attr("xmlns", "exodus:prefs").empty()));
        let tree = read(&xml);
        assert!(of(tree.root()).unwrap().is("exodus", "exodus:prefs"));
        for (inside, condition) in [
            ("", Condition::BadRequest),
            ("<a xmlns='x'/><b xmlns='x'/>", Condition::BadRequest),
            ("<a/>", Condition::NotAcceptable),
            ("<a xmlns=''/>", Condition::NotAcceptable),
        ] {
            let tree = read(&format!("<query xmlns='jabber:iq:private'>{inside}</query>"));
            assert_eq!(of(tree.root()), Err(condition), "{inside}");
        }
    }
}
