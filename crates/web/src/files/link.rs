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
        let (site, id) = (file.id.site.0, super::id_text(file.id));
        let mut url = format!("{}/v1/files/{site}/{id}/", making.base);
        push_escaped(&mut url, &file.name);
        let mac = making.sign(file.id, end);
        let thumbnail = if thumbnail { "&t=1" } else { "" };
        write!(url, "?e={end}&s={}{thumbnail}", URL_SAFE_NO_PAD.encode(mac)).expect("a String takes all");
        url
    }

    /// Where a file is, for programs that know no origin. `origin`: of this server, if files have none of their own.
    pub fn absolute(&self, file: &File, origin: &str) -> String {
        let link = self.of(file, false);
        if link.starts_with('/') { format!("{}{link}", origin.trim_end_matches('/')) } else { link }
    }

    /// Does a link with this end and signature open the file now?
    pub(crate) fn open(&self, file: FileId, end: &str, signature: &str) -> bool {
        let Some(making) = &self.0 else { return false };
        let mut decoded_bytes = [0; MAC_BYTES + 2];
        let decoded = URL_SAFE_NO_PAD.decode_slice(signature, &mut decoded_bytes);
        let end: Option<u64> = end.parse().ok().filter(|_| end.bytes().all(|byte| byte.is_ascii_digit()));
        let (Ok(MAC_BYTES), Some(end)) = (decoded, end) else { return false };
        let is_ours = crate::key::is_same(&making.sign(file, end), &decoded_bytes[..MAC_BYTES]);
        is_ours && (making.clock)().0 / 1000 < end
    }
}

impl Making {
    fn sign(&self, file: FileId, end: u64) -> [u8; MAC_BYTES] {
        let mut context = hmac::Context::with_key(&self.key);
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
}
