//! Reads the head of a page: Open Graph if present (<https://ogp.me>), else the page's title and description.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

/// Most bytes of a title and of a description; the rest is cut off.
pub const TITLE_BYTES: usize = 200;
pub const DESCRIPTION_BYTES: usize = 400;
/// Most elements of a head that are read.
const MOST_TOKENS: usize = 20_000;

/// The metadata of a page, as plain text. Missing fields are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    pub title: String,
    pub description: String,
    /// The name of the whole website.
    pub site: String,
    /// The address of the page's picture, as the page writes it.
    pub picture: Option<String>,
}

#[derive(Default)]
struct Metadata {
    /// From Open Graph, from other `meta` elements, from the page's own `title`.
    titles: [String; 3],
    descriptions: [String; 2],
    site: String,
    pictures: [Option<String>; 2],
}

/// Reads the metadata from the start of a page; the rest may be missing. `charset`: from the server's `Content-Type`.
pub fn read(html: &[u8], charset: Option<&str>) -> Page {
    let text = decoded(html, charset);
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut found = Metadata::default();
    let mut in_title = false;
    for token in Tokenizer::new_with_emitter(text.as_str(), emitter).take(MOST_TOKENS).flatten() {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                b"meta" => found.meta(&tag),
                b"title" => in_title = found.titles[2].is_empty(),
                b"body" => break,
                _ => {}
            },
            Token::String(words) if in_title => found.titles[2].push_str(&String::from_utf8_lossy(&words)),
            Token::EndTag(tag) if tag.name.as_slice() == b"title" => in_title = false,
            Token::EndTag(tag) if tag.name.as_slice() == b"head" => break,
            _ => {}
        }
    }
    let first = |all: &[String], most: usize| {
        all.iter().map(|text| plain(text, most)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    Page {
        title: first(&found.titles, TITLE_BYTES),
        description: first(&found.descriptions, DESCRIPTION_BYTES),
        site: plain(&found.site, TITLE_BYTES / 2),
        picture: found.pictures.into_iter().flatten().find(|address| !address.trim().is_empty()),
    }
}

impl Metadata {
    fn meta(&mut self, tag: &StartTag<()>) {
        let attribute =
            |name: &[u8]| tag.attributes.get(name).map(|value| String::from_utf8_lossy(value).into_owned());
        let name = attribute(b"property").or_else(|| attribute(b"name")).unwrap_or_default();
        let Some(content) = attribute(b"content") else { return };
        let place = match name.to_ascii_lowercase().as_str() {
            "og:title" => &mut self.titles[0],
            "twitter:title" => &mut self.titles[1],
            "og:description" => &mut self.descriptions[0],
            "description" | "twitter:description" => &mut self.descriptions[1],
            "og:site_name" => &mut self.site,
            "og:image" | "og:image:url" | "og:image:secure_url" => {
                self.pictures[0].get_or_insert(content);
                return;
            }
            "twitter:image" => {
                self.pictures[1].get_or_insert(content);
                return;
            }
            _ => return,
        };
        if place.is_empty() {
            *place = content;
        }
    }
}

/// One line without misleading characters, cut at a character boundary.
fn plain(text: &str, most: usize) -> String {
    let mut line = String::new();
    for c in text.chars() {
        let c = if c.is_whitespace() { ' ' } else { c };
        let is_space = c == ' ';
        if is_space && (line.is_empty() || line.ends_with(' ')) || is_misleading(c) {
            continue;
        }
        if line.len() + c.len_utf8() > most - '…'.len_utf8() {
            line.truncate(line.trim_end().len());
            line.push('…');
            return line;
        }
        line.push(c);
    }
    line.truncate(line.trim_end().len());
    line
}

/// Control characters, and characters that change the direction of the text beside them.
fn is_misleading(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Nearly all pages are UTF-8. Pages in western Europe's older sets are decoded byte by byte. In other sets, bytes that
/// are not UTF-8 are lost.
fn decoded(html: &[u8], charset: Option<&str>) -> String {
    let western = |name: &str| matches!(name, "iso-8859-1" | "latin1" | "windows-1252" | "iso-8859-15");
    let charset = charset.map(|name| name.trim().trim_matches('"').to_ascii_lowercase());
    match charset {
        Some(name) if western(&name) => html.iter().map(|byte| char::from(*byte)).collect(),
        _ => String::from_utf8_lossy(html).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(html: &str) -> Page {
        read(html.as_bytes(), None)
    }

    #[test]
    fn metadata_is_read_from_the_head() {
        let found = page(
            r#"<!doctype html><html><head><title>Plain</title>
            <meta name=description content="Not this one">
            <meta property="og:title" content="A lake &amp; a hill">
            <META PROPERTY='og:description' CONTENT="Two
            lines"><meta property="og:site_name" content="Hikers">
            <meta property="og:image" content="/lake.jpg"><meta property="og:image" content="/second.jpg">
            </head><body><meta property="og:title" content="from the body">"#,
        );
        let picture = Some("/lake.jpg".into());
        let expected = Page {
            title: "A lake & a hill".into(),
            description: "Two lines".into(),
            site: "Hikers".into(),
            picture,
        };
        assert_eq!(found, expected);
        assert_eq!(
            page("<title>Only <b>this</b></title>").title,
            "Only <b>this</b>",
            "text as it is written"
        );
        assert_eq!(page("no page at all"), Page::default());
        assert_eq!(read(b"<title>caf\xe9</title>", Some("ISO-8859-1")).title, "café");
        assert_eq!(read(b"<title>caf\xe9</title>", None).title, "caf\u{fffd}");
    }

    #[test]
    fn fields_are_plain_and_short() {
        let long = "ä ".repeat(500);
        let found =
            page(&format!("<title>a\u{202e}b\0c\r\nd</title><meta name=description content='{long}'>"));
        assert!(!found.title.contains(['\u{202e}', '\0', '\n']), "{:?}", found.title);
        assert!(found.description.len() <= DESCRIPTION_BYTES && found.description.ends_with('…'));
        let script = page("<script>document.write('<title>no</title>')</script><title>yes</title>");
        assert_eq!(script.title, "yes");
        let comment = page("<!-- <title>no</title> --><title>yes</title>");
        assert_eq!(comment.title, "yes");
    }

    proptest! {
        #[test]
        fn arbitrary_pages_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300), tags in "(<title>|</title>|<meta |property=|content=|\"og:title\"|'og:image'|<!--|-->|<script>|>|&#x1F600;|&amp|a| ){0,40}") {
            for found in [read(&bytes, None), read(&bytes, Some("latin1")), page(&tags)] {
                prop_assert!(found.title.len() <= TITLE_BYTES && found.description.len() <= DESCRIPTION_BYTES);
                prop_assert!(!found.title.contains(char::is_control) && !found.description.contains(char::is_control));
            }
        }
    }
}
