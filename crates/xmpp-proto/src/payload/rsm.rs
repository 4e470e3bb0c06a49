//! Result set management (XEP-0059): pages of a long result.

use std::borrow::Cow;

use crate::ns;
use crate::stanza::Condition;
use crate::xml::{Element, Open};

/// The page that a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// 0 asks for the count only (§2.7).
    pub max: Option<u32>,
    pub page: Page<'a>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Page<'a> {
    #[default]
    First,
    /// §2.5.
    Last,
    After(Cow<'a, str>),
    Before(Cow<'a, str>),
    /// §2.6: from the item with this number.
    Index(u32),
}

impl<'a> Request<'a> {
    /// Reads the `set` in a request; without one, the first page without a limit.
    pub fn of(parent: Element<'a>) -> Result<Request<'a>, Condition> {
        let Some(set) = parent.child("set", ns::RSM) else { return Ok(Request::default()) };
        let child = |name| set.child(name, ns::RSM).map(Element::text);
        let number = |name| {
            let number = child(name).map(|text| text.trim_ascii().parse().map_err(|_| Condition::BadRequest));
            number.transpose()
        };
        let page = match (child("after"), child("before"), number("index")?) {
            (None, None, None) => Page::First,
            (Some(after), None, None) => Page::After(after),
            (None, Some(before), None) if before.is_empty() => Page::Last,
            (None, Some(before), None) => Page::Before(before),
            (None, None, Some(index)) => Page::Index(index),
            _ => return Err(Condition::BadRequest),
        };
        Ok(Request { max: number("max")?, page })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "set").attr("xmlns", ns::RSM).children(|out| {
            if let Some(max) = self.max {
                Open::new(out, "max").text(&max.to_string());
            }
            match &self.page {
                Page::First => {}
                Page::Last => Open::new(out, "before").empty(),
                Page::After(after) => Open::new(out, "after").text(after),
                Page::Before(before) => Open::new(out, "before").text(before),
                Page::Index(index) => Open::new(out, "index").text(&index.to_string()),
            }
        });
    }
}

/// The page that the server returned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Returned<'a> {
    /// The first and last items of the page; none if it is empty.
    pub ends: Option<(&'a str, &'a str)>,
    /// The number of the first item in the whole result.
    pub index: Option<u64>,
    /// The items of the whole result.
    pub count: Option<u64>,
}

impl Returned<'_> {
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "set").attr("xmlns", ns::RSM).children(|out| {
            if let Some((first, last)) = self.ends {
                let open = Open::new(out, "first");
                let open = match self.index {
                    Some(index) => open.display("index", index),
                    None => open,
                };
                open.text(first);
                Open::new(out, "last").text(last);
            }
            if let Some(count) = self.count {
                Open::new(out, "count").text(&count.to_string());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_request_is_read_again() {
        let pages =
            [Page::First, Page::Last, Page::After("a<".into()), Page::Before("b".into()), Page::Index(7)];
        for page in pages {
            for max in [None, Some(0), Some(10)] {
                let request = Request { max, page: page.clone() };
                let xml = format!("<query>{}</query>", written(|out| request.write(out)));
                assert_eq!(Request::of(read(&xml).root()), Ok(request));
            }
        }
        assert_eq!(Request::of(read("<query/>").root()), Ok(Request::default()));
    }

    #[test]
    fn wrong_requests_are_refused() {
        for inside in ["<max>ten</max>", "<max>-1</max>", "<index/>", "<after>a</after><before/>"] {
            let tree = read(&format!("<query><set xmlns='{}'>{inside}</set></query>", ns::RSM));
            assert_eq!(Request::of(tree.root()), Err(Condition::BadRequest), "{inside}");
        }
    }

    #[test]
    fn a_page_names_its_ends() {
        let page = Returned { ends: Some(("a", "b")), index: Some(0), count: Some(800) };
        assert_eq!(
            written(|out| page.write(out)),
            "<set xmlns='http://jabber.org/protocol/rsm'><first index='0'>a</first><last>b</last><count>800</count></set>"
        );
        let empty = Returned { count: Some(0), ..Returned::default() };
        assert_eq!(
            written(|out| empty.write(out)),
            "<set xmlns='http://jabber.org/protocol/rsm'><count>0</count></set>"
        );
    }
}
