//! Links to files: whoever has one may read that file until it ends, and nothing else. Pictures of a page cannot send headers.

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{File, FileId, Timestamp};
use ring::hmac;

/// Makes and checks links.
#[derive(Clone, Default)]
pub struct Links(Option<Arc<Making>>);

struct Making {
    key: hmac::Key,
    /// `https://files.example`, or nothing.
    base: String,
    life_ms: u64,
    clock: fn() -> Timestamp,
}

/// 128 bits of the MAC.
const MAC_BYTES: usize = 16;

/// An app that has a slot must begin its upload in this time.
const SLOT_LIFE_MS: u64 = 300_000;
/// Longest address that [`Links::named`] looks at.
const MOST_URL_BYTES: usize = 2_048;

/// The addresses of a file that an app uploads with one request (XEP-0363 §4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub put: String,
    pub get: String,
    /// The value of the field `Authorization` for `put`. The address itself has no secret.
    pub authorization: String,
}

/// What a signature allows.
#[derive(Clone, Copy)]
enum Allows {
    Get,
    Put,
}

impl Links {
    /// `secret` must be unpredictable, and the same after a restart, or open pages lose their pictures. `base`: the origin
    /// from which files come; empty: the server's own. A link lives for `life_ms`, and at most half as long again, so that links
    /// made one after the other are the same and browsers know them.
    pub fn new(secret: [u8; 32], base: &str, life_ms: u64, clock: fn() -> Timestamp) -> Links {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        let base = base.trim_end_matches('/').to_owned();
        Links(Some(Arc::new(Making { key, base, life_ms: life_ms.max(2_000), clock })))
    }

    /// Where a file is; empty where files are off.
    pub(crate) fn of(&self, file: &File, thumbnail: bool) -> String {
        let Some(making) = &self.0 else { return String::new() };
        let step = (making.life_ms / 2).max(1);
        let end = (((making.clock)().0 + making.life_ms).div_ceil(step) * step) / 1000;
        let mut url = making.get(file.id, &file.name, end);
        if thumbnail {
            url.push_str("&t=1");
        }
        url
    }

    /// The addresses of a new file. `origin`: of this server. `get` opens the file for `life_ms`. None: files are off.
    pub fn slot(&self, id: FileId, name: &str, origin: &str, life_ms: u64) -> Option<Slot> {
        let making = self.0.as_ref()?;
        let (now, origin) = ((making.clock)().0, origin.trim_end_matches('/'));
        let end = (now + SLOT_LIFE_MS) / 1000;
        let token = URL_SAFE_NO_PAD.encode(making.sign(Allows::Put, id, end));
        Some(Slot {
            put: format!("{origin}{}", path(id, name)),
            get: absolute(making.get(id, name, (now + life_ms) / 1000), origin),
            authorization: format!("Bearer {end}.{token}"),
        })
    }

    /// Does this token of a slot allow the upload now?
    pub(crate) fn may_put(&self, file: FileId, token: &str) -> bool {
        token.split_once('.').is_some_and(|(end, signature)| self.allows(Allows::Put, file, end, signature))
    }

    /// The file of an address of this server that opens it now. `origin`: of this server.
    pub fn named(&self, url: &str, origin: &str) -> Option<FileId> {
        let making = self.0.as_ref().filter(|_| url.len() <= MOST_URL_BYTES)?;
        let base = if making.base.is_empty() { origin.trim_end_matches('/') } else { &making.base };
        let (path, query) = url.strip_prefix(base)?.split_once('?')?;
        let id = super::named(path)?;
        let value = |key| super::query_value(query, key).unwrap_or_default();
        self.open(id, value("e"), value("s")).then_some(id)
    }

    /// Where a file is, for programs that know no origin. `origin`: of this server, if files have none of their own.
    pub fn absolute(&self, file: &File, origin: &str) -> String {
        absolute(self.of(file, false), origin.trim_end_matches('/'))
    }

    /// Does a link with this end and signature open the file now?
    pub(crate) fn open(&self, file: FileId, end: &str, signature: &str) -> bool {
        self.allows(Allows::Get, file, end, signature)
    }

    fn allows(&self, what: Allows, file: FileId, end: &str, signature: &str) -> bool {
        let Some(making) = &self.0 else { return false };
        let mut decoded_bytes = [0; MAC_BYTES + 2];
        let decoded = URL_SAFE_NO_PAD.decode_slice(signature, &mut decoded_bytes);
        let end: Option<u64> = end.parse().ok().filter(|_| end.bytes().all(|byte| byte.is_ascii_digit()));
        let (Ok(MAC_BYTES), Some(end)) = (decoded, end) else { return false };
        let is_ours = crate::key::is_same(&making.sign(what, file, end), &decoded_bytes[..MAC_BYTES]);
        is_ours && (making.clock)().0 / 1000 < end
    }
}

/// A link of a server whose files have no origin of their own begins with its path.
fn absolute(link: String, origin: &str) -> String {
    if link.starts_with('/') { format!("{origin}{link}") } else { link }
}

fn path(id: FileId, name: &str) -> String {
    let mut path = format!("/v1/files/{}/{}/", id.site.0, super::id_text(id));
    push_escaped(&mut path, name);
    path
}

impl Making {
    /// `end`: in seconds.
    fn get(&self, id: FileId, name: &str, end: u64) -> String {
        let mac = URL_SAFE_NO_PAD.encode(self.sign(Allows::Get, id, end));
        format!("{}{}?e={end}&s={mac}", self.base, path(id, name))
    }

    fn sign(&self, what: Allows, file: FileId, end: u64) -> [u8; MAC_BYTES] {
        let mut context = hmac::Context::with_key(&self.key);
        // Signed texts of the two kinds differ in their length.
        match what {
            Allows::Get => {}
            Allows::Put => context.update(b"put"),
        }
        context.update(&file.site.0.to_be_bytes());
        context.update(&file.number.to_be_bytes());
        context.update(&end.to_be_bytes());
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&context.sign().as_ref()[..MAC_BYTES]);
        mac
    }
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Links").field(&self.0.as_ref().map(|making| &making.base)).finish()
    }
}

/// RFC 3986 §2.1: all but the unreserved.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte.into()),
            _ => write!(out, "%{byte:02X}").expect("a String takes all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use chat::{FileType, SiteId};

    use super::*;

    const HOUR: u64 = 3_600_000;

    fn file(site: u32, number: u64) -> File {
        File {
            id: FileId { site: SiteId(site), number },
            name: "a b/ü.png".into(),
            kind: FileType::OTHER,
            bytes: 1,
            picture: None,
            duration_ms: None,
            peaks: None,
            voice: false,
        }
    }

    fn parts(url: &str) -> (String, String) {
        let (end, signature) = url.split_once("?e=").unwrap().1.split_once("&s=").unwrap();
        (end.to_owned(), signature.to_owned())
    }

    #[test]
    fn a_link_opens_one_file_for_some_time() {
        let links = Links::new([7; 32], "https://files.example/", 12 * HOUR, || Timestamp(1_000 * HOUR));
        let url = links.of(&file(3, 9), false);
        assert!(
            url.starts_with("https://files.example/v1/files/3/0000000000000009/a%20b%2F%C3%BC.png?e="),
            "{url}"
        );
        assert_eq!(url, links.of(&file(3, 9), false), "the same for hours");
        assert!(links.of(&file(3, 9), true).ends_with("&t=1"));
        let (end, signature) = parts(&url);
        assert!(links.open(file(3, 9).id, &end, &signature));
        for other in [file(3, 8).id, file(2, 9).id] {
            assert!(!links.open(other, &end, &signature), "another file or site");
        }
        let later: u64 = end.parse::<u64>().unwrap() + 1;
        for end in [later.to_string(), format!("+{end}"), format!("0x{end}"), String::new()] {
            assert!(!links.open(file(3, 9).id, &end, &signature), "{end}");
        }
        for at in 0..signature.len() {
            let mut other = signature.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            // The last letter has bits that say nothing; a decoder that is strict refuses them.
            assert!(!links.open(file(3, 9).id, &end, std::str::from_utf8(&other).unwrap()), "letter {at}");
        }
        for wrong in ["", "AAAA", &format!("{signature}AA")] {
            assert!(!links.open(file(3, 9).id, &end, wrong), "{wrong}");
        }
        let others = Links::new([8; 32], "", 12 * HOUR, || Timestamp(1_000 * HOUR));
        assert!(!others.open(file(3, 9).id, &end, &signature), "another secret");
        let next_day = Links::new([7; 32], "", 12 * HOUR, || Timestamp(1_019 * HOUR));
        assert!(!next_day.open(file(3, 9).id, &end, &signature), "its time is over");
        let before = Links::new([7; 32], "", 12 * HOUR, || Timestamp(1_011 * HOUR));
        assert!(before.open(file(3, 9).id, &end, &signature), "at least as long as it should live");
        assert!(!Links::default().open(file(3, 9).id, &end, &signature));
    }

    #[test]
    fn a_slot_has_a_token_for_one_upload_and_an_address_for_days() {
        const NOW: u64 = 1_000 * HOUR;
        let links = |base: &str, clock: fn() -> Timestamp| Links::new([7; 32], base, 12 * HOUR, clock);
        let here = links("", || Timestamp(NOW));
        let (id, other) = (file(3, 9).id, file(3, 8).id);
        let slot = here.slot(id, "a b.png", "https://kith.example/", 168 * HOUR).unwrap();
        assert_eq!(slot.put, "https://kith.example/v1/files/3/0000000000000009/a%20b.png");
        let token = slot.authorization.strip_prefix("Bearer ").unwrap();
        assert!(here.may_put(id, token) && !here.may_put(other, token));
        let (end, signature) = token.split_once('.').unwrap();
        assert!(!here.open(id, end, signature), "the right to upload is no right to download");
        let (get_end, get_signature) = parts(&slot.get);
        assert!(!here.may_put(id, &format!("{get_end}.{get_signature}")), "nor the other way round");
        for wrong in ["", ".", end, &format!("{}.{signature}", end.parse::<u64>().unwrap() + 1)] {
            assert!(!here.may_put(id, wrong), "{wrong}");
        }
        assert!(links("", || Timestamp(NOW + SLOT_LIFE_MS - 1_000)).may_put(id, token));
        assert!(!links("", || Timestamp(NOW + SLOT_LIFE_MS)).may_put(id, token), "its time is over");

        let named = |links: &Links, url: &str| links.named(url, "https://kith.example");
        assert_eq!(named(&here, &slot.get), Some(id));
        let after = links("", || Timestamp(NOW + 168 * HOUR));
        assert_eq!(named(&after, &slot.get), None, "it does not open the file any more");
        assert_eq!(named(&links("", || Timestamp(NOW + 167 * HOUR)), &slot.get), Some(id));
        assert_eq!(named(&here, &here.absolute(&file(3, 9), "https://kith.example")), Some(id));
        for wrong in [
            "",
            "https://kith.example",
            &slot.put,
            &slot.get.replace("kith.example", "kith.example.evil.example"),
            &slot.get.replace("https", "http"),
            &slot.get.replace("0009", "0008"),
            &format!("{}{}", slot.get, "&x".repeat(2_000)),
        ] {
            assert_eq!(named(&here, wrong), None, "{wrong}");
        }
        let apart = links("https://files.example", || Timestamp(NOW));
        let slot = apart.slot(id, "a.png", "https://kith.example", HOUR).unwrap();
        assert!(
            slot.put.starts_with("https://kith.example/") && slot.get.starts_with("https://files.example/")
        );
        assert_eq!(named(&apart, &slot.get), Some(id));
    }
}
