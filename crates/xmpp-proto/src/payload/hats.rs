//! Hats (XEP-0317): what an occupant of a room is beside the affiliation and the role.

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hat<'a> {
    /// Identifies the hat in every language.
    pub uri: &'a str,
    /// For people.
    pub title: &'a str,
}

/// The hats of a presence.
pub fn of(presence: Element<'_>) -> Vec<Hat<'_>> {
    let hats = presence.child("hats", ns::HATS).into_iter().flat_map(Element::children);
    let hats = hats.filter(|child| child.is("hat", ns::HATS));
    hats.filter_map(|hat| Some(Hat { uri: hat.attr("uri")?, title: hat.attr("title")? })).collect()
}

/// Writes nothing without hats. A room removes what its occupants sent, and writes its own (XEP-0317 §8).
pub fn write(out: &mut Vec<u8>, hats: &[Hat<'_>]) {
    if hats.is_empty() {
        return;
    }
    Open::new(out, "hats").attr("xmlns", ns::HATS).children(|out| {
        for hat in hats {
            Open::new(out, "hat").attr("title", hat.title).attr("uri", hat.uri).empty();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_hats_are_read_again() {
        let hats = [Hat { uri: "urn:x:host", title: "Host & guide" }, Hat { uri: "urn:x:b", title: "B" }];
        let xml = format!("<presence>{}</presence>", written(|out| write(out, &hats)));
        assert_eq!(of(read(&xml).root()), hats);
        assert_eq!(written(|out| write(out, &[])), "");
        let wrong = "<presence><hats xmlns='urn:xmpp:hats:0'><hat title='A'/><other/></hats></presence>";
        assert_eq!(of(read(wrong).root()), []);
    }
}
