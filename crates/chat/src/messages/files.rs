//! Files: their limits, their access rules, and how they become part of a message. Their bytes have a port of
//! their own.
//!
//! Reasons: `docs/design/files.md`.

mod access;
mod bring;
pub(crate) mod remove;
mod store;

pub use bring::{Identified, Reserve, Wish};
pub use store::{Blob, Blobs, FileFound, FilePlace, FileRow, FileStore, NewFile, Rendition};

use serde::{Deserialize, Serialize};

use crate::{Refusal, Relation};

/// Most files of one message.
pub const MOST_FILES: usize = 10;

/// Files of one user that are in no message yet: enough for several messages.
pub const MOST_LOOSE: u32 = 50;

/// Files of one user in [`FilePlace::Open`] that are in no message. They live longer: a message that is encrypted between its
/// users names its file where no server can read it.
pub const MOST_OPEN: u32 = 200;

/// Whether a user with this number of files outside messages may begin another. `is_open`: of those in
/// [`FilePlace::Open`]. For stores.
pub fn may_begin_file(loose: u32, is_open: bool) -> Result<(), Refusal> {
    let most = if is_open { MOST_OPEN } else { MOST_LOOSE };
    if loose >= most { Err(Refusal::TooManyFiles) } else { Ok(()) }
}

/// Newest messages of a conversation that are searched for an answer of the other user.
pub const ANSWER_WITHIN: u32 = 500;

/// Storage quotas in bytes. 0: no limit, except for `file_bytes`, where it means: no files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLimits {
    pub file_bytes: u64,
    pub user_bytes: u64,
    /// Bytes of all files of one guest.
    pub guest_bytes: u64,
    pub site_bytes: u64,
}

impl FileLimits {
    pub(crate) fn for_user(self, is_guest: bool) -> FileLimits {
        FileLimits { user_bytes: if is_guest { self.guest_bytes } else { self.user_bytes }, ..self }
    }
}

/// Whether a user may send files in a direct conversation in which they may write. Refused towards strangers:
/// users who are no contacts and have never answered.
pub fn may_send_files(relation: Relation, has_answered: bool) -> Result<(), Refusal> {
    if relation.is_contact() || has_answered { Ok(()) } else { Err(Refusal::FirstContact) }
}

/// Whether the quotas allow this number of further bytes, besides the stored bytes of the user and the site.
pub fn has_room(limits: FileLimits, of_user: u64, of_site: u64, bytes: u64) -> Result<(), Refusal> {
    if bytes > limits.file_bytes {
        return Err(Refusal::FileTooLarge);
    }
    let fits = |limit: u64, kept: u64| limit == 0 || kept.saturating_add(bytes) <= limit;
    match fits(limits.user_bytes, of_user) && fits(limits.site_bytes, of_site) {
        true => Ok(()),
        false => Err(Refusal::NoRoomForFile),
    }
}

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// The safe part of a file name: its last part, without characters that mislead readers or file systems.
pub fn file_name(given: &str) -> Box<str> {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let misleading = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '"' | '<' | '>' | '|' | ':' | '*' | '?')
    };
    let mut name = String::new();
    for c in last.chars().filter(|c| !misleading(*c)) {
        if name.len() + c.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        name.push(c);
    }
    let name = name.trim().trim_start_matches('.').trim();
    if name.is_empty() { "file".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Side;

    #[test]
    fn files_to_strangers_are_refused() {
        let stranger = Err(Refusal::FirstContact);
        let table = [
            // The relation; the result if the other user has never answered, and if they have.
            (Side::NONE, stranger, Ok(())),
            (Side::REQUESTED, stranger, Ok(())),
            (Side::ASKS, stranger, Ok(())),
            (Side::CONTACT, Ok(()), Ok(())),
            (Side::SEES, Ok(()), Ok(())),
            (Side::SEEN, Ok(()), Ok(())),
        ];
        for (of_a, silent, answered) in table {
            let relation = Relation { of_a, of_b: of_a };
            assert_eq!(may_send_files(relation, false), silent, "{of_a:?}");
            assert_eq!(may_send_files(relation, true), answered, "{of_a:?}");
        }
    }

    #[test]
    fn files_outside_messages_are_bounded_in_number() {
        for (most, is_open) in [(MOST_LOOSE, false), (MOST_OPEN, true)] {
            assert_eq!(may_begin_file(most - 1, is_open), Ok(()));
            assert_eq!(may_begin_file(most, is_open), Err(Refusal::TooManyFiles));
        }
    }

    #[test]
    fn quotas_bound_files() {
        let limits = FileLimits { file_bytes: 10, user_bytes: 15, guest_bytes: 0, site_bytes: 100 };
        let full = Err(Refusal::NoRoomForFile);
        for (user, site, bytes, expected) in [
            (0, 0, 10, Ok(())),
            (0, 0, 11, Err(Refusal::FileTooLarge)),
            (5, 5, 10, Ok(())),
            (6, 6, 10, full),
            (0, 91, 10, full),
            (u64::MAX, 0, 1, full),
        ] {
            assert_eq!(has_room(limits, user, site, bytes), expected, "{user} {site} {bytes}");
        }
        let free = FileLimits { user_bytes: 0, site_bytes: 0, ..limits };
        assert_eq!(has_room(free, u64::MAX, u64::MAX, 10), Ok(()));
    }

    #[test]
    fn file_names_contain_no_path() {
        for (given, name) in [
            ("cat.jpg", "cat.jpg"),
            ("../../etc/passwd", "passwd"),
            (r"C:\Windows\win.ini", "win.ini"),
            ("..", "file"),
            (".htaccess", "htaccess"),
            ("a/b/", "file"),
            ("", "file"),
            (" \u{7}\0 ", "file"),
            ("in\u{202e}gpj.exe", "ingpj.exe"),
            ("a\r\nb\".txt", "ab.txt"),
            ("Sonnenuntergang am See.png", "Sonnenuntergang am See.png"),
            ("日本.png", "日本.png"),
        ] {
            assert_eq!(&*file_name(given), name, "{given:?}");
        }
        assert!(file_name(&"ä".repeat(500)).len() <= MAX_NAME_BYTES);
    }

    proptest! {
        #[test]
        fn no_name_leads_anywhere(given in any::<String>()) {
            let name = file_name(&given);
            prop_assert!(!name.is_empty() && name.len() <= MAX_NAME_BYTES);
            prop_assert!(!name.contains(['/', '\\', '\0', '\n', '\r', '"']) && &*name != "." && &*name != "..");
            prop_assert_eq!(&file_name(&name), &name, "what is clean stays");
        }
    }
}
