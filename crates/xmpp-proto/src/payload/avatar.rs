//! User avatars (XEP-0084), as items of two PEP nodes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ns;
use crate::xml::{Element, Open};

/// §4.2.1: a form of the avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info<'a> {
    /// The hexadecimal SHA-1 of the data, and the id of both items.
    pub id: &'a str,
    pub bytes: u32,
    /// A media type.
    pub kind: &'a str,
    pub width: Option<u16>,
    pub height: Option<u16>,
}

/// Reads the payload of the metadata node. Forms that are only at a URL are left out, as is what is incomplete.
/// Empty: the user has no avatar.
pub fn infos(metadata: Element<'_>) -> Option<Vec<Info<'_>>> {
    if !metadata.is("metadata", ns::AVATAR_METADATA) {
        return None;
    }
    let infos =
        metadata.children().filter(|child| child.is("info", ns::AVATAR_METADATA)).filter_map(|info| {
            let number = |name| info.attr(name).and_then(|number| number.parse().ok());
            if info.attr("url").is_some() {
                return None;
            }
            Some(Info {
                id: info.attr("id")?,
                bytes: info.attr("bytes")?.parse().ok()?,
                kind: info.attr("type")?,
                width: number("width"),
                height: number("height"),
            })
        });
    Some(infos.collect())
}

pub fn write_infos(out: &mut Vec<u8>, infos: &[Info<'_>]) {
    Open::new(out, "metadata").attr("xmlns", ns::AVATAR_METADATA).children(|out| {
        for info in infos {
            let mut open = Open::new(out, "info")
                .attr("id", info.id)
                .display("bytes", info.bytes)
                .attr("type", info.kind);
            for (name, number) in [("width", info.width), ("height", info.height)] {
                if let Some(number) = number {
                    open = open.display(name, number);
                }
            }
            open.empty();
        }
    });
}

/// Reads the payload of the data node.
pub fn data(data: Element<'_>) -> Option<Vec<u8>> {
    if !data.is("data", ns::AVATAR_DATA) {
        return None;
    }
    let base64: Vec<u8> = data.text().bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    STANDARD.decode(base64).ok()
}

pub fn write_data(out: &mut Vec<u8>, data: &[u8]) {
    Open::new(out, "data").attr("xmlns", ns::AVATAR_DATA).text(&STANDARD.encode(data));
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_metadata_is_read_again() {
        let info = Info { id: "111f4b", bytes: 12345, kind: "image/png", width: Some(64), height: None };
        let xml = written(|out| write_infos(out, &[info]));
        assert_eq!(
            xml,
            "<metadata xmlns='urn:xmpp:avatar:metadata'><info id='111f4b' bytes='12345' type='image/png' width='64'/>\
             </metadata>"
        );
        assert_eq!(infos(read(&xml).root()), Some(vec![info]));
        assert_eq!(infos(read(&written(|out| write_infos(out, &[]))).root()), Some(vec![]));
        assert_eq!(infos(read("<metadata/>").root()), None);
    }

    #[test]
    fn forms_that_we_cannot_use_are_left_out() {
        for attributes in
            ["id='a' bytes='1'", "id='a' bytes='x' type='image/png'", "id='a' bytes='1' type='b' url='c'"]
        {
            let tree =
                read(&format!("<metadata xmlns='urn:xmpp:avatar:metadata'><info {attributes}/></metadata>"));
            assert_eq!(infos(tree.root()), Some(vec![]), "{attributes}");
        }
    }

    #[test]
    fn written_data_is_read_again() {
        assert_eq!(data(read(&written(|out| write_data(out, &[0, 255]))).root()), Some(vec![0, 255]));
        assert_eq!(data(read("<data xmlns='urn:xmpp:avatar:data'>?</data>").root()), None);
    }
}
