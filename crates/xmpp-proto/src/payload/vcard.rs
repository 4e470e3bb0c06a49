//! vcard-temp (XEP-0054) and its photo in presences (XEP-0153).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ns;
use crate::xml::{Element, Open};

/// The parts of a vCard that a chat shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VCard<'a> {
    pub full_name: Option<Cow<'a, str>>,
    pub nickname: Option<Cow<'a, str>>,
    pub description: Option<Cow<'a, str>>,
    pub url: Option<Cow<'a, str>>,
    pub photo: Option<Photo<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo<'a> {
    /// A media type; some clients leave it out.
    pub kind: Option<Cow<'a, str>>,
    pub data: Vec<u8>,
}

impl<'a> VCard<'a> {
    /// Empty parts count as missing. A photo that is not base64 is left out.
    pub fn of(vcard: Element<'a>) -> Option<VCard<'a>> {
        if !vcard.is("vCard", ns::VCARD) {
            return None;
        }
        let text = |parent: Element<'a>, name| {
            parent.child(name, ns::VCARD).map(Element::text).filter(|text| !text.trim_ascii().is_empty())
        };
        let photo = vcard.child("PHOTO", ns::VCARD).and_then(|photo| {
            // XEP-0054 shows base64 in lines.
            let data: Vec<u8> =
                text(photo, "BINVAL")?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            Some(Photo { kind: text(photo, "TYPE"), data: STANDARD.decode(data).ok()? })
        });
        Some(VCard {
            full_name: text(vcard, "FN"),
            nickname: text(vcard, "NICKNAME"),
            description: text(vcard, "DESC"),
            url: text(vcard, "URL"),
            photo,
        })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "vCard").attr("xmlns", ns::VCARD).children(|out| {
            let texts = [
                ("FN", &self.full_name),
                ("NICKNAME", &self.nickname),
                ("URL", &self.url),
                ("DESC", &self.description),
            ];
            for (name, text) in texts {
                if let Some(text) = text {
                    Open::new(out, name).text(text);
                }
            }
            if let Some(photo) = &self.photo {
                photo.write(out);
            }
        });
    }
}

impl Photo<'_> {
    /// Inside a `vCard`.
    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "PHOTO").children(|out| {
            if let Some(kind) = &self.kind {
                Open::new(out, "TYPE").text(kind);
            }
            Open::new(out, "BINVAL").text(&STANDARD.encode(&self.data));
        });
    }
}

/// XEP-0153 §4.1: the hexadecimal SHA-1 of the user's photo, in each presence; empty if there is none.
pub fn write_photo_hash(out: &mut Vec<u8>, hash: &str) {
    let open = Open::new(out, "x").attr("xmlns", ns::VCARD_UPDATE);
    open.children(|out| Open::new(out, "photo").text(hash));
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_vcard_is_read_again() {
        let vcard = VCard {
            full_name: Some("Peter & Co".into()),
            nickname: Some("p".into()),
            description: Some("d".into()),
            url: Some("https://example.com/".into()),
            photo: Some(Photo { kind: Some("image/png".into()), data: vec![0, 1, 255] }),
        };
        assert_eq!(VCard::of(read(&written(|out| vcard.write(out))).root()), Some(vcard));
        let empty = VCard::default();
        assert_eq!(written(|out| empty.write(out)), "<vCard xmlns='vcard-temp'/>");
    }

    #[test]
    fn vcards_of_others_are_read() {
        let tree = read(
            "<vCard xmlns='vcard-temp'><FN> </FN><N><FAMILY>S</FAMILY></N>\
             <PHOTO><BINVAL>\n AAH/\n AA==\n</BINVAL></PHOTO></vCard>",
        );
        let photo = Some(Photo { kind: None, data: vec![0, 1, 255, 0] });
        assert_eq!(VCard::of(tree.root()), Some(VCard { photo, ..VCard::default() }));
        let wrong = read("<vCard xmlns='vcard-temp'><PHOTO><BINVAL>?</BINVAL></PHOTO></vCard>");
        assert_eq!(VCard::of(wrong.root()), Some(VCard::default()));
        assert_eq!(VCard::of(read("<vCard/>").root()), None);
    }

    #[test]
    fn a_presence_carries_the_hash_of_the_photo() {
        assert_eq!(
            written(|out| write_photo_hash(out, "01b8")),
            "<x xmlns='vcard-temp:x:update'><photo>01b8</photo></x>"
        );
    }
}
