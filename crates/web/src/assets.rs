//! The widget's files: compressed once, answered from memory without a copy.

use std::collections::HashMap;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use ring::digest::{SHA256, digest};

use crate::http::Head;

/// A file as it comes from the build.
pub struct File {
    /// Path of the URL, with its leading `/`.
    pub path: String,
    pub content_type: &'static str,
    pub bytes: Bytes,
    /// Made here where the build has not.
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
    /// Its name changes with its content, so it may be kept for ever.
    pub immutable: bool,
}

/// Files by path. Cheap to ask, fixed after start.
#[derive(Default)]
pub struct Assets(HashMap<String, Asset>);

pub(crate) struct Asset {
    content_type: &'static str,
    cache_control: &'static str,
    etag: String,
    identity: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
}

/// What to answer: the head without status line and Date, and the body.
pub(crate) struct Found<'a> {
    pub(crate) status: u16,
    pub(crate) fields: String,
    pub(crate) body: Option<&'a Bytes>,
    /// Length that the body has, or would have on HEAD.
    pub(crate) length: usize,
}

impl Assets {
    /// Compresses what the build has not, which takes a moment per large file.
    pub fn new(files: impl IntoIterator<Item = File>) -> Assets {
        Assets(files.into_iter().map(|file| (file.path.clone(), Asset::new(file))).collect())
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Asset> {
        self.0.get(path)
    }
}

impl Asset {
    fn new(file: File) -> Asset {
        let hash = digest(&SHA256, &file.bytes);
        let etag: String = hash.as_ref()[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        let smaller = |compressed: Bytes| (compressed.len() < file.bytes.len()).then_some(compressed);
        Asset {
            content_type: file.content_type,
            cache_control: if file.immutable {
                "public, max-age=31536000, immutable"
            } else {
                "public, max-age=300, stale-while-revalidate=86400"
            },
            etag: format!("\"{etag}\""),
            brotli: smaller(file.brotli.unwrap_or_else(|| brotli(&file.bytes))),
            gzip: smaller(file.gzip.unwrap_or_else(|| gzip(&file.bytes))),
            identity: file.bytes,
        }
    }

    /// Pages of any site load these files, as scripts and as modules, so any origin may read them.
    pub(crate) fn find(&self, head: &Head<'_>) -> Found<'_> {
        let common = format!(
            "cache-control: {}\r\netag: {}\r\nvary: accept-encoding\r\naccess-control-allow-origin: *\r\n\
             cross-origin-resource-policy: cross-origin\r\nx-content-type-options: nosniff\r\n",
            self.cache_control, self.etag
        );
        let known = head.field("if-none-match").is_some_and(|tags| self.is_named_in(tags));
        if known {
            return Found { status: 304, fields: common, body: None, length: 0 };
        }
        let (encoding, body) = match (&self.brotli, &self.gzip) {
            (Some(brotli), _) if accepts(head, "br") => (Some("br"), brotli),
            (_, Some(gzip)) if accepts(head, "gzip") => (Some("gzip"), gzip),
            _ => (None, &self.identity),
        };
        let encoding = encoding.map_or(String::new(), |name| format!("content-encoding: {name}\r\n"));
        let fields = format!("{common}content-type: {}\r\n{encoding}", self.content_type);
        Found { status: 200, fields, body: (head.method != "HEAD").then_some(body), length: body.len() }
    }

    /// RFC 9110 §13.1.2: weak comparison, a list or `*`.
    fn is_named_in(&self, tags: &[u8]) -> bool {
        tags.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).any(|tag| {
            let tag = tag.strip_prefix(b"W/").unwrap_or(tag);
            tag == b"*" || tag == self.etag.as_bytes()
        })
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
    use super::*;
    use crate::http::{NO_FIELDS, parse};

    fn ask(assets: &Assets, fields: &str) -> (u16, String, Option<Bytes>) {
        let request = format!("GET /kith.js HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        let mut room = NO_FIELDS;
        let head = parse(request.as_bytes(), &mut room).unwrap().unwrap();
        let found = assets.get(head.path).unwrap().find(&head);
        (found.status, found.fields, found.body.cloned())
    }

    fn assets() -> Assets {
        Assets::new([File {
            path: "/kith.js".into(),
            content_type: "text/javascript; charset=utf-8",
            bytes: Bytes::from("let kith = 'kith';\n".repeat(100)),
            brotli: None,
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
            ("Accept-Encoding: br; q=0.0\r\n", None),
            ("Accept-Encoding: bright\r\n", None),
        ] {
            let (status, fields, body) = ask(&assets, accepted);
            assert_eq!(status, 200);
            let body = body.unwrap();
            match encoding {
                None => assert!(!fields.contains("content-encoding") && body.len() == 1900, "{accepted}"),
                Some(name) => {
                    assert!(fields.contains(&format!("content-encoding: {name}\r\n")), "{accepted}");
                    assert!(body.len() < 100);
                }
            }
        }
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        let assets = assets();
        let (_, fields, _) = ask(&assets, "");
        let etag = fields.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        for tags in [etag.to_string(), format!("W/{etag}"), format!("\"a\", {etag}"), "*".into()] {
            let (status, _, body) = ask(&assets, &format!("If-None-Match: {tags}\r\n"));
            assert_eq!((status, body), (304, None), "{tags}");
        }
        assert_eq!(ask(&assets, "If-None-Match: \"other\"\r\n").0, 200);
    }
}
