//! The part of the port to storage that is about notifications. What [`Store`](crate::Store) promises holds here too.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::notifications::{NotifyChange, QuietHours};
use crate::users::store::UserStore;
use crate::{
    CallEntry, ConversationId, ConversationRow, Done, MailAddress, SetPresence, SiteId, StoreError,
    StoredMessage, Timestamp, UserId, UserRow,
};

/// Most browsers of one user that are told; one more takes the place of the oldest.
pub const MOST_PUSH_DEVICES: usize = 10;
const MAX_ENDPOINT_BYTES: usize = 2_048;
const MAX_LANGUAGE_BYTES: usize = 35;

/// See [`Store`](crate::Store), of which it is a part.
pub trait NotificationStore: UserStore {
    /// The browser is this user's from now on, and nobody else's of the site; a newer subscription of the same endpoint takes the
    /// place of the older. Answers users who have no browser left by it. `device`: which of the user's it is, where the site keeps
    /// devices; with it the browser is [signed out](crate::DeviceStore::sign_out), and one that is signed out already is not kept.
    fn put_push_device(
        &self,
        user: UserId,
        device: Option<u64>,
        push: PushDevice,
        now: Timestamp,
        done: Done<Vec<UserId>>,
    );
    /// Answers whether the user has another one.
    fn remove_push_device(&self, user: UserId, endpoint: Box<str>, done: Done<bool>);
    /// Sets `quiet` and `bodies` where they are given; answers what holds then.
    fn change_notify_settings(&self, user: UserId, change: NotifyChange, done: Done<NotifyView>);
    fn notify_view(&self, user: UserId, done: Done<NotifyView>);
    /// All that decides about a notice, of one snapshot. Conversations of which the user is no member are left out.
    fn notify_facts(&self, user: UserId, conversations: Vec<ConversationId>, done: Done<NotifyFacts>);
    /// The site's key pair for push services: `fresh` becomes it where there is none.
    fn push_key(&self, site: SiteId, fresh: Vec<u8>, done: Done<Vec<u8>>);
    /// The user's address, as the site says it. Answers whether a digest may become due: it is wanted, and none is.
    fn put_mail_address(&self, user: UserId, address: MailAddress, done: Done<bool>);
    /// A digest is due so long after now as the user wants, else after `minutes`; at most one a [day](MAIL_EVERY_MS).
    fn schedule_mail(&self, user: UserId, now: Timestamp, minutes: u32);
    /// Some whose digest is due, with their newest conversations that have something unread.
    fn mail_due(&self, now: Timestamp, limit: u32, done: Done<Vec<MailDue>>);
    /// It is not due any more; `sent`: when it was sent.
    fn settle_mail(&self, user: UserId, sent: Option<Timestamp>, done: Done<()>);
    /// All users of all sites for whom a digest may become due. May block.
    fn mail_users(&self) -> Result<Vec<UserId>, StoreError>;
    /// All users of all sites who have a browser. May block.
    fn push_users(&self) -> Result<Vec<UserId>, StoreError>;
}

/// So many messages of blocked authors are skipped in search of one that is worth a notice.
pub const MOST_SKIPPED: u32 = 50;

/// Between two digests for a user.
pub const MAIL_EVERY_MS: u64 = 24 * 3_600_000;

/// Somebody whose digest is due.
#[derive(Debug, Clone)]
pub struct MailDue {
    pub user: UserId,
    pub name: Arc<str>,
    pub address: MailAddress,
    pub settings: NotifySettings,
    pub talks: Vec<Talk>,
}

/// A user's address, and after how many minutes a digest is wanted: None, as the server says; 0, never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailView {
    pub address: MailAddress,
    pub after: Option<u32>,
}

/// A browser that takes notifications: what it has told the page (RFC 8030, RFC 8291 §2).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[String; 4]", into = "[String; 4]")]
pub struct PushDevice {
    /// Where its push service takes messages for it. Whoever knows this may send, so it is a secret.
    pub endpoint: Box<str>,
    pub key: Box<[u8]>,
    pub auth: Box<[u8]>,
    /// In which notices are worded.
    pub language: Box<str>,
}

impl PushDevice {
    /// From what a browser gives out, `key` and `auth` as base64url. None where that cannot be one; whether the service may be
    /// called is for [`Notifier::accepts`](crate::notifications::Notifier::accepts) to say.
    pub fn parse(endpoint: &str, key: &str, auth: &str, language: &str) -> Option<PushDevice> {
        let bytes = |text: &str, length| {
            // Browsers leave the padding out, some libraries do not.
            let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
            (bytes.len() == length).then(|| Box::from(bytes))
        };
        let is_language = language.len() <= MAX_LANGUAGE_BYTES
            && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let is_endpoint = endpoint.starts_with("https://")
            && endpoint.len() <= MAX_ENDPOINT_BYTES
            && endpoint.bytes().all(|byte| byte.is_ascii_graphic());
        (is_language && is_endpoint).then_some(())?;
        Some(PushDevice {
            endpoint: endpoint.into(),
            key: bytes(key, 65)?,
            auth: bytes(auth, 16)?,
            language: language.into(),
        })
    }
}

impl From<PushDevice> for [String; 4] {
    fn from(device: PushDevice) -> Self {
        let PushDevice { endpoint, key, auth, language } = device;
        [endpoint.into(), URL_SAFE_NO_PAD.encode(key), URL_SAFE_NO_PAD.encode(auth), language.into()]
    }
}

impl TryFrom<[String; 4]> for PushDevice {
    type Error = &'static str;

    fn try_from([endpoint, key, auth, language]: [String; 4]) -> Result<PushDevice, &'static str> {
        PushDevice::parse(&endpoint, &key, &auth, &language).ok_or("no push device")
    }
}

impl std::fmt::Debug for PushDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushDevice")
    }
}

/// The notification choices of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotifySettings {
    pub quiet: Option<QuietHours>,
    /// Notices show what was written, and not only by whom.
    pub bodies: bool,
}

impl Default for NotifySettings {
    fn default() -> NotifySettings {
        NotifySettings { quiet: None, bodies: true }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyView {
    pub settings: NotifySettings,
    /// How many browsers are told.
    pub devices: u32,
    pub mail: Option<MailView>,
}

#[derive(Debug, Clone)]
pub struct NotifyFacts {
    pub settings: NotifySettings,
    pub presence: SetPresence,
    pub devices: Vec<Arc<PushDevice>>,
    pub talks: Vec<Talk>,
}

/// A conversation of the user, and who wrote its newest message.
#[derive(Debug, Clone)]
pub struct Talk {
    pub row: ConversationRow,
    pub from: Option<UserRow>,
    /// Of a direct conversation: see [`Talk::missed_calls`].
    pub missed_calls: u64,
}

/// So many of the newest unread messages are searched for missed calls.
pub const MOST_CALLS_COUNTED: u32 = 50;

impl Talk {
    /// How many of some messages are calls that the user has missed.
    pub fn missed_calls(user: UserId, unread: &[StoredMessage]) -> u64 {
        let is_missed = |message: &&StoredMessage| {
            let entry = || CallEntry::of_stored(message);
            message.from != user && !message.deleted && entry().is_some_and(CallEntry::is_missed)
        };
        unread.iter().filter(is_missed).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_browser_could_have_said_is_one() {
        let (key, auth) = (URL_SAFE_NO_PAD.encode([4; 65]), URL_SAFE_NO_PAD.encode([1; 16]));
        let parse = |endpoint: &str, key: &str, auth: &str, language: &str| {
            PushDevice::parse(endpoint, key, auth, language).is_some()
        };
        let push = "https://push.example/x";
        assert!(parse(push, &key, &auth, "de-AT") && parse(push, &key, &format!("{auth}=="), ""));
        assert!(parse(push, &key, &auth, "pt_BR"), "as pages write it, though it is no tag");
        assert!(!parse("http://push.example/x", &key, &auth, "de"));
        assert!(!parse("https://push.example/x y", &key, &auth, "de"));
        assert!(!parse(&format!("https://push.example/{}", "x".repeat(2_048)), &key, &auth, "de"));
        assert!(!parse(push, &key[1..], &auth, "de") && !parse(push, &key, &auth[1..], "de"));
        assert!(
            !parse(push, &key, "%%%", "de")
                && !parse(push, &key, &auth, "de\"")
                && !parse(push, &key, &auth, &"x".repeat(36))
        );
    }
}
