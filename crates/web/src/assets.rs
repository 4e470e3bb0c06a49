//! The widget's files: compressed once, their answers made ready once, shared by all who ask.

use std::collections::HashMap;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_proto::head::Head;
use ring::digest::{SHA256, digest};

/// A file as it comes from the build.
pub struct File {
    /// Path of the URL, with its leading `/`.
    pub path: String,
    pub content_type: &'static str,
    pub bytes: Bytes,
    /// Made here where the build has not.
    pub brotli: Option<Bytes>,
    /// Offered where the build has made it.
    pub zstd: Option<Bytes>,
    /// As brotli.
    pub gzip: Option<Bytes>,
    /// Its name changes with its content, so it may be kept for ever.
    pub immutable: bool,
}

/// Files by path. Cheap to ask, fixed after start.
#[derive(Default)]
pub struct Assets(HashMap<String, Asset>);

/// One file in all its forms.
pub(crate) struct Asset {
    identity: Variant,
    /// From the smallest on, with the names of their codings.
    smaller: Vec<(&'static str, Variant)>,
}

/// One form of a file: a representation of its own, with a strong tag of its own (RFC 9110 §8.8.3.3).
struct Variant {
    etag: String,
    /// Headers of all answers about it: caching, tag, allowed origins.
    common: String,
    /// Headers of answers with its bytes, all or a part.
    content: String,
    /// The whole answer from behind the Date to the end of the body, ready to be shared by all who ask.
    whole: Bytes,
    /// Where in it the body begins.
    body: usize,
    not_modified: Bytes,
}

/// An answer: its status, and all that follows the lines which nobody can prepare (status, Date, Connection).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) status: u16,
    pub(crate) rest: Bytes,
}

impl Assets {
    /// Compresses what the build has not, which takes a moment per large file.
    pub fn new(files: impl IntoIterator<Item = File>) -> Assets {
        Assets(files.into_iter().map(|file| (file.path.clone(), Asset::new(&file))).collect())
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Asset> {
        self.0.get(path)
    }
}

impl Asset {
    fn new(file: &File) -> Asset {
        let hash = digest(&SHA256, &file.bytes);
        let hash: String = hash.as_ref()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        let made = [
            ("br", Some(file.brotli.clone().unwrap_or_else(|| brotli(&file.bytes)))),
            ("zstd", file.zstd.clone()),
            ("gzip", Some(file.gzip.clone().unwrap_or_else(|| gzip(&file.bytes)))),
        ];
        let mut made: Vec<(&str, Bytes)> =
            made.into_iter().filter_map(|(coding, bytes)| Some((coding, bytes?))).collect();
        made.retain(|(_, bytes)| bytes.len() < file.bytes.len());
        made.sort_by_key(|(_, bytes)| bytes.len());
        let variant = |(coding, bytes)| (coding, Variant::new(file, &hash, &bytes, coding));
        Asset {
            identity: Variant::new(file, &hash, &file.bytes, ""),
            smaller: made.into_iter().map(variant).collect(),
        }
    }

    pub(crate) fn find(&self, head: &Head<'_>) -> Found {
        let accepted = self.smaller.iter().find(|(coding, _)| accepts(head, coding));
        accepted.map_or(&self.identity, |(_, variant)| variant).answer(head)
    }
}

impl Variant {
    /// Pages of any site load these files, as scripts and as modules, so any origin may read them.
    fn new(file: &File, hash: &str, bytes: &Bytes, coding: &str) -> Variant {
        let (dash, encoding) = match coding {
            "" => ("", String::new()),
            _ => ("-", format!("content-encoding: {coding}\r\n")),
        };
        let etag = format!("\"{hash}{dash}{coding}\"");
        let cache_control = if file.immutable {
            "public, max-age=31536000, immutable"
        } else {
            // It names the files of its build: an old one would ask for files that are gone. To ask again is one small 304.
            "no-cache"
        };
        let common = format!(
            "cache-control: {cache_control}\r\netag: {etag}\r\nvary: accept-encoding\r\n\
             accept-ranges: bytes\r\naccess-control-allow-origin: *\r\n\
             cross-origin-resource-policy: cross-origin\r\nx-content-type-options: nosniff\r\n"
        );
        let content = format!("content-type: {}\r\n{encoding}", file.content_type);
        let head = format!("{common}{content}content-length: {}\r\n\r\n", bytes.len());
        let not_modified = format!("{common}\r\n").into();
        let whole = [head.as_bytes(), bytes].concat().into();
        Variant { etag, common, content, whole, body: head.len(), not_modified }
    }

    /// Preconditions in the order of RFC 9110 §13.2.2, then ranges.
    fn answer(&self, head: &Head<'_>) -> Found {
        let is_this = |tag: &[u8]| tag == b"*" || tag == self.etag.as_bytes();
        if head.field("if-match").is_some() && !tags(head, "if-match").any(is_this) {
            return Found { status: 412, rest: self.refusal("") };
        }
        // Weak comparison (§13.1.2): a cache may have made a weak tag of ours.
        if tags(head, "if-none-match").any(|tag| is_this(tag.strip_prefix(b"W/").unwrap_or(tag))) {
            return Found { status: 304, rest: self.not_modified.clone() };
        }
        if head.method == "HEAD" {
            // §14.2: ranges are for GET alone.
            return Found { status: 200, rest: self.whole.slice(..self.body) };
        }
        // §13.1.5: strong comparison. A date matches nothing, since we tell none.
        let is_current = head.field("if-range").is_none_or(|tag| tag == self.etag.as_bytes());
        let length = self.whole.len() - self.body;
        match head.field("range").filter(|_| is_current).map(|range| range_of(range, length)) {
            None | Some(Range::Whole) => Found { status: 200, rest: self.whole.clone() },
            Some(Range::Part(first, last)) => Found { status: 206, rest: self.part(first, last) },
            Some(Range::Unsatisfiable) => {
                Found { status: 416, rest: self.refusal(&format!("content-range: bytes */{length}\r\n")) }
            }
        }
    }

    fn part(&self, first: usize, last: usize) -> Bytes {
        let Variant { common, content, whole, body, .. } = self;
        let part = &whole[body + first..=body + last];
        let head = format!(
            "{common}{content}content-range: bytes {first}-{last}/{}\r\ncontent-length: {}\r\n\r\n",
            whole.len() - body,
            part.len()
        );
        [head.as_bytes(), part].concat().into()
    }

    fn refusal(&self, fields: &str) -> Bytes {
        format!("{}{fields}content-length: 0\r\n\r\n", self.common).into()
    }
}

/// The entity tags of a list in all its lines. None of ours has a comma in it.
fn tags<'a>(head: &'a Head<'_>, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    lines.flat_map(|field| field.value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// No range, several of them, or one that cannot be read: RFC 9110 §14.2 leaves all these to us.
    Whole,
    /// First and last byte.
    Part(usize, usize),
    Unsatisfiable,
}

/// `bytes=first-last`, `bytes=first-` or `bytes=-count` (RFC 9110 §14.1.2).
pub fn range_of(value: &[u8], length: usize) -> Range {
    let Some((unit, set)) = std::str::from_utf8(value).ok().and_then(|value| value.split_once('=')) else {
        return Range::Whole;
    };
    let Some((first, last)) = set.trim().split_once('-') else { return Range::Whole };
    if !unit.eq_ignore_ascii_case("bytes") {
        return Range::Whole;
    }
    match (position(first), position(last)) {
        (Position::None, Position::At(count)) => match count.min(length) {
            0 => Range::Unsatisfiable,
            count => Range::Part(length - count, length - 1),
        },
        (Position::At(first), Position::None) if first < length => Range::Part(first, length - 1),
        (Position::At(first), Position::At(last)) if first > last => Range::Whole,
        (Position::At(first), Position::At(last)) if first < length => {
            Range::Part(first, last.min(length - 1))
        }
        (Position::At(_), Position::None | Position::At(_)) => Range::Unsatisfiable,
        _ => Range::Whole,
    }
}

enum Position {
    None,
    At(usize),
    Bad,
}

/// Digits only; what is too big for any file is as good as the end of one.
fn position(digits: &str) -> Position {
    match digits {
        "" => Position::None,
        _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Position::At(digits.parse().unwrap_or(usize::MAX))
        }
        _ => Position::Bad,
    }
}

/// Whether Accept-Encoding names a coding without refusing it by `q=0` (RFC 9110 §12.5.3).
fn accepts(head: &Head<'_>, coding: &str) -> bool {
    let Some(value) = head.field("accept-encoding") else { return false };
    value.split(|&byte| byte == b',').any(|item| {
        let mut parts = item.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding.as_bytes()));
        let refused = parts.any(|part| {
            part.strip_prefix(b"q=").is_some_and(|q| q.iter().all(|byte| matches!(byte, b'0' | b'.')))
        });
        named && !refused
    })
}

fn gzip(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("memory takes all bytes").into()
}

fn brotli(bytes: &[u8]) -> Bytes {
    let mut out = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 9, 22);
    encoder.write_all(bytes).and_then(|()| encoder.flush()).expect("memory takes all bytes");
    drop(encoder);
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use http_proto::head::{NO_FIELDS, parse};

    fn ask(assets: &Assets, method: &str, fields: &str) -> (u16, String, Vec<u8>) {
        let request = format!("{method} /kith.js HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        let mut room = NO_FIELDS;
        let head = parse(request.as_bytes(), &mut room).unwrap().unwrap();
        let Found { status, rest } = assets.get(head.path).unwrap().find(&head);
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        (status, String::from_utf8(rest[..end].to_vec()).unwrap(), rest[end..].to_vec())
    }

    fn get(assets: &Assets, fields: &str) -> (u16, String, Vec<u8>) {
        ask(assets, "GET", fields)
    }

    /// The value of a field.
    fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn content() -> Vec<u8> {
        "let kith = 'kith';\n".repeat(100).into_bytes()
    }

    fn assets() -> Assets {
        Assets::new([File {
            path: "/kith.js".into(),
            content_type: "text/javascript; charset=utf-8",
            bytes: content().into(),
            brotli: None,
            // Not asked what it holds: smaller than the file and than gzip, larger than brotli.
            zstd: Some(Bytes::from_static(&[0; 50])),
            gzip: None,
            immutable: false,
        }])
    }

    #[test]
    fn the_smallest_accepted_form_is_sent() {
        let assets = assets();
        for (accepted, encoding) in [
            ("", None),
            ("Accept-Encoding: gzip, deflate, br\r\n", Some("br")),
            ("Accept-Encoding: gzip;q=0.5\r\n", Some("gzip")),
            ("Accept-Encoding: br;q=0, gzip\r\n", Some("gzip")),
            ("Accept-Encoding: gzip, deflate, br, zstd\r\n", Some("br")),
            ("Accept-Encoding: gzip, zstd\r\n", Some("zstd")),
            ("Accept-Encoding: zstd;q=0, gzip\r\n", Some("gzip")),
            ("Accept-Encoding: br; q=0.0\r\n", None),
            ("Accept-Encoding: bright\r\n", None),
        ] {
            let (status, head, body) = get(&assets, accepted);
            assert_eq!((status, field(&head, "content-encoding")), (200, encoding), "{accepted}");
            assert_eq!(body == content(), encoding.is_none());
            assert_eq!(field(&head, "content-length"), Some(body.len().to_string().as_str()));
            assert_eq!(ask(&assets, "HEAD", accepted), (200, head, vec![]));
        }
    }

    #[test]
    fn each_form_has_its_own_tag_and_what_is_known_of_it_is_not_sent_again() {
        let assets = assets();
        let forms = ["", "Accept-Encoding: gzip\r\n", "Accept-Encoding: br\r\n", "Accept-Encoding: zstd\r\n"];
        let heads = forms.map(|form| get(&assets, form).1);
        let etags = heads.each_ref().map(|head| field(head, "etag").unwrap());
        for (number, form) in forms.into_iter().enumerate() {
            let etag = etags[number];
            assert!(etag.starts_with('"') && etag.ends_with('"'), "a strong one");
            for known in [
                format!("If-None-Match: {etag}\r\n"),
                format!("If-None-Match: W/{etag}\r\n"),
                format!("If-None-Match: \"a\", {etag}\r\n"),
                format!("If-None-Match: \"a\"\r\nif-none-match: {etag}\r\n"),
                "If-None-Match: *\r\n".into(),
            ] {
                let (status, head, body) = get(&assets, &format!("{form}{known}"));
                assert_eq!((status, body.len()), (304, 0), "{known}");
                // RFC 9110 §15.4.5.
                assert_eq!(field(&head, "etag"), Some(etag));
                assert!(field(&head, "cache-control").is_some() && field(&head, "vary").is_some());
                assert_eq!(field(&head, "content-length"), None);
                assert_eq!(ask(&assets, "HEAD", &format!("{form}{known}")).0, 304);
            }
            for other in etags.iter().filter(|other| **other != etag) {
                assert_eq!(get(&assets, &format!("{form}If-None-Match: {other}\r\n")).0, 200);
                assert_eq!(get(&assets, &format!("{form}If-Match: {other}\r\n")).0, 412);
            }
            assert_eq!(get(&assets, &format!("{form}If-Match: \"a\", {etag}\r\n")).0, 200);
            assert_eq!(get(&assets, &format!("{form}If-Match: W/{etag}\r\n")).0, 412);
        }
    }

    #[test]
    fn a_part_is_sent_where_a_part_is_asked_for() {
        let assets = assets();
        for (range, expected) in [
            ("bytes=0-0", Some(0..=0)),
            ("bytes=5-9", Some(5..=9)),
            ("Bytes=5-9", Some(5..=9)),
            ("bytes=1890-", Some(1890..=1899)),
            ("bytes=1890-99999999999999999999999", Some(1890..=1899)),
            ("bytes=-1", Some(1899..=1899)),
            ("bytes=-5000", Some(0..=1899)),
            ("bytes=0-", Some(0..=1899)),
        ] {
            let (status, head, body) = get(&assets, &format!("Range: {range}\r\n"));
            let expected = expected.unwrap();
            assert_eq!((status, &body[..]), (206, &content()[expected.clone()]), "{range}");
            let range = format!("bytes {}-{}/1900", expected.start(), expected.end());
            assert_eq!(field(&head, "content-range"), Some(range.as_str()));
            assert_eq!(field(&head, "content-length"), Some(body.len().to_string().as_str()));
        }
        for range in ["bytes=1900-", "bytes=1900-2000", "bytes=-0", "bytes=99999999999999999999999-"] {
            let (status, head, body) = get(&assets, &format!("Range: {range}\r\n"));
            assert_eq!((status, body.len()), (416, 0), "{range}");
            assert_eq!(field(&head, "content-range"), Some("bytes */1900"));
        }
        for whole in
            ["bytes=9-5", "bytes=0-1,5-9", "bytes=a-b", "bytes=-", "bytes", "lines=1-2", "bytes=1--2"]
        {
            assert_eq!(get(&assets, &format!("Range: {whole}\r\n")).0, 200, "{whole}");
        }
        assert_eq!(ask(&assets, "HEAD", "Range: bytes=0-0\r\n").0, 200, "ranges are for GET");
    }

    #[test]
    fn a_part_is_of_the_form_that_the_client_has_begun_with() {
        let assets = assets();
        let gzip = "Accept-Encoding: gzip\r\n";
        let (_, head, whole) = get(&assets, gzip);
        let etag = field(&head, "etag").unwrap();
        let rest = |tag: &str| get(&assets, &format!("{gzip}Range: bytes=10-\r\nIf-Range: {tag}\r\n"));
        let (status, head, body) = rest(etag);
        assert_eq!((status, &body[..], field(&head, "content-encoding")), (206, &whole[10..], Some("gzip")));
        let identity = get(&assets, "").1;
        let other = field(&identity, "etag").unwrap();
        for stale in [other, &format!("W/{etag}"), "Sat, 21 Nov 2026 05:00:00 GMT"] {
            let (status, _, body) = rest(stale);
            assert_eq!((status, &body), (200, &whole), "{stale}");
        }
    }

    proptest! {
        #[test]
        fn no_range_leaves_the_file(
            value in prop_oneof!["bytes=[0-9]{0,20}-[0-9]{0,20}", "bytes=[0-9,-]{0,12}", "\\PC{0,20}"],
            length in 0..3_000_usize,
        ) {
            if let Range::Part(first, last) = range_of(value.as_bytes(), length) {
                prop_assert!(first <= last && last < length, "{value} {length}");
            }
        }
    }
}
