//! Bookmarks (XEP-0402): rooms of a user, as items of a PEP node. The id of an item is the room's address. The older form (XEP-0048) is one
//! element with all rooms.

use std::borrow::Cow;

use crate::jid::Jid;
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
        conference.is("conference", ns::BOOKMARKS).then(|| Bookmark::inside(conference, ns::BOOKMARKS))
    }

    fn inside(conference: Element<'a>, ns: &'static str) -> Bookmark<'a> {
        let text = |name| conference.child(name, ns).map(Element::text);
        Bookmark {
            name: conference.attr("name"),
            autojoin: matches!(conference.attr("autojoin"), Some("true" | "1")),
            nick: text("nick"),
            password: text("password"),
            extensions: conference.child("extensions", ns),
        }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_into(Open::new(out, "conference").attr("xmlns", ns::BOOKMARKS));
    }

    fn write_into(&self, open: Open<'_>) {
        let open = open.opt("name", self.name);
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

/// All bookmarks of a user (XEP-0048 §2).
#[derive(Debug, PartialEq)]
pub struct Storage<'a> {
    pub conferences: Vec<(Jid, Bookmark<'a>)>,
    /// It also has addresses of web pages.
    pub has_pages: bool,
}

impl<'a> Storage<'a> {
    /// None: another element, or a room without a valid address.
    pub fn of(storage: Element<'a>) -> Option<Storage<'a>> {
        if !storage.is("storage", ns::BOOKMARKS_OLD) {
            return None;
        }
        let conferences = storage.children().filter(|child| child.is("conference", ns::BOOKMARKS_OLD));
        let conference = |element: Element<'a>| {
            let jid = Jid::parse(element.attr("jid")?).ok()?;
            Some((jid, Bookmark::inside(element, ns::BOOKMARKS_OLD)))
        };
        Some(Storage {
            conferences: conferences.map(conference).collect::<Option<_>>()?,
            has_pages: storage.child("url", ns::BOOKMARKS_OLD).is_some(),
        })
    }

    pub fn write(out: &mut Vec<u8>, conferences: impl FnOnce(&mut Vec<u8>)) {
        Open::new(out, "storage").attr("xmlns", ns::BOOKMARKS_OLD).children(conferences);
    }

    /// Writes one room of the list. `bookmark` has no extensions.
    pub fn write_conference(out: &mut Vec<u8>, jid: &str, bookmark: &Bookmark<'_>) {
        bookmark.write_into(Open::new(out, "conference").attr("jid", jid));
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

    #[test]
    fn a_written_list_is_read_again() {
        let play = Bookmark { name: Some("The play"), autojoin: true, nick: Some("Puck".into()), ..least() };
        let xml = written(|out| {
            Storage::write(out, |out| {
                Storage::write_conference(out, "play@rooms.example", &play);
                Storage::write_conference(out, "7@rooms.example", &least());
            });
        });
        let jid = |text| Jid::parse(text).unwrap();
        let conferences = vec![(jid("play@rooms.example"), play), (jid("7@rooms.example"), least())];
        assert_eq!(Storage::of(read(&xml).root()), Some(Storage { conferences, has_pages: false }));

        let pages = "<storage xmlns='storage:bookmarks'><url url='https://a.example'/></storage>";
        let pages = read(pages);
        assert_eq!(Storage::of(pages.root()), Some(Storage { conferences: Vec::new(), has_pages: true }));
        for wrong in [
            "<storage/>",
            "<storage xmlns='storage:bookmarks'><conference/></storage>",
            "<storage xmlns='storage:bookmarks'><conference jid='@'/></storage>",
        ] {
            assert_eq!(Storage::of(read(wrong).root()), None, "{wrong}");
        }
    }

    fn least() -> Bookmark<'static> {
        Bookmark::default()
    }
}
