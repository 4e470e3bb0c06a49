//! Bookmarks (XEP-0402): rooms of a user, as items of a PEP node. The id of an item is the room's address.

use std::borrow::Cow;

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bookmark<'a> {
    pub name: Option<&'a str>,
    /// Whether clients enter the room when they start.
    pub autojoin: bool,
    pub nick: Option<Cow<'a, str>>,
    pub password: Option<Cow<'a, str>>,
    /// Data of clients, which every client keeps (§3.4).
    pub extensions: Option<Element<'a>>,
}

impl<'a> Bookmark<'a> {
    /// Reads the payload of an item.
    pub fn of(conference: Element<'a>) -> Option<Bookmark<'a>> {
        if !conference.is("conference", ns::BOOKMARKS) {
            return None;
        }
        let text = |name| conference.child(name, ns::BOOKMARKS).map(Element::text);
        Some(Bookmark {
            name: conference.attr("name"),
            autojoin: matches!(conference.attr("autojoin"), Some("true" | "1")),
            nick: text("nick"),
            password: text("password"),
            extensions: conference.child("extensions", ns::BOOKMARKS),
        })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let open = Open::new(out, "conference").attr("xmlns", ns::BOOKMARKS).opt("name", self.name);
        open.opt("autojoin", self.autojoin.then_some("true")).children(|out| {
            for (name, text) in [("nick", &self.nick), ("password", &self.password)] {
                if let Some(text) = text {
                    Open::new(out, name).text(text);
                }
            }
            if let Some(extensions) = self.extensions {
                extensions.write(out, ns::BOOKMARKS);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_bookmark_is_read_again() {
        let tree = read(
            "<conference xmlns='urn:xmpp:bookmarks:1' name='The play' autojoin='1'><nick>Puck</nick>\
             <extensions><state xmlns='urn:x' minimized='true'/></extensions></conference>",
        );
        let bookmark = Bookmark::of(tree.root()).unwrap();
        assert_eq!(
            (bookmark.name, bookmark.autojoin, bookmark.nick.as_deref()),
            (Some("The play"), true, Some("Puck"))
        );
        assert_eq!(Bookmark::of(read(&written(|out| bookmark.write(out))).root()), Some(bookmark));
        let least = read("<conference xmlns='urn:xmpp:bookmarks:1'/>");
        assert_eq!(Bookmark::of(least.root()), Some(Bookmark::default()));
        assert_eq!(Bookmark::of(read("<conference/>").root()), None);
    }
}
