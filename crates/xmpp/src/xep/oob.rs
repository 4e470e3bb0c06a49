//! Files of the widget, as addresses (XEP-0066). An app shows a file in the place of its address if the body is nothing else.
//!
//! An address opens the file for some hours (`docs/design/files.md`). Each answer of the archive makes new ones.

use std::borrow::Cow;

use chat::Message;
use xmpp_proto::payload::oob;
use xmpp_proto::xml::Open;

use crate::config::Links;
use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(66),
    name: "Out of Band Data",
    version: "1.5",
    scenario: "files",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Of the files of a message, in its order.
pub(crate) fn addresses(message: &Message, links: &Links) -> Vec<String> {
    let files = links.files().into_iter().flat_map(|links| message.files.iter().map(|file| links.link(file)));
    files.filter(|url| !url.is_empty()).collect()
}

/// Writes the body of a message, and the addresses of its files. `quotation` stands before the text.
pub(crate) fn write_body(out: &mut Vec<u8>, quotation: &str, text: &str, files: &[String]) {
    let body = body(text, files);
    if !body.is_empty() {
        Open::new(out, "body").text(&format!("{quotation}{body}"));
    }
    files.iter().for_each(|url| oob::write(out, url));
}

/// The text of a message, and a line for each file.
fn body<'a>(text: &'a str, files: &[String]) -> Cow<'a, str> {
    match (text, files) {
        (text, []) => Cow::Borrowed(text),
        ("", files) => Cow::Owned(files.join("\n")),
        (text, files) => Cow::Owned(format!("{text}\n{}", files.join("\n"))),
    }
}
