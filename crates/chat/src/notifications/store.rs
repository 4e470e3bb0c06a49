//! The slice of the port to storage for notifications. The promises of [`Store`](crate::Store) hold here too.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::notifications::{AppPushRow, NotifyChange, QuietHours, Reached};
use crate::users::store::UserStore;
use crate::{
    CallEntry, ConversationId, ConversationRow, Done, MailAddress, SetPresence, SiteId, StoreError,
    StoredMessage, Timestamp, UserId, UserRow,
};

/// Subscribed browsers of one user; one more replaces the oldest.
pub const MOST_PUSH_DEVICES: usize = 10;
const MAX_ENDPOINT_BYTES: usize = 2_048;
const MAX_LANGUAGE_BYTES: usize = 35;

/// A slice of [`Store`](crate::Store).
pub trait NotificationStore: UserStore {
    /// Subscribes a browser for this user and removes it from other users of the site. A newer subscription
    /// of the same endpoint replaces the older. Answers users who thereby have no browser left. `device`: the
    /// user's device, if the site keeps devices. Signing it [out](crate::DeviceStore::sign_out) removes the
    /// subscription; a device that is signed out already gets none.
    fn put_push_device(
        &self,
        user: UserId,
        device: Option<u64>,
        push: PushDevice,
        now: Timestamp,
        done: Done<Vec<UserId>>,
    );
    /// Removes a subscription, and answers whether the user has another one.
    fn remove_push_device(&self, user: UserId, endpoint: Box<str>, done: Done<bool>);
    /// Sets `quiet` and `bodies` if they are given, and answers the new settings.
    fn change_notify_settings(&self, user: UserId, change: NotifyChange, done: Done<NotifyView>);
    fn notify_view(&self, user: UserId, done: Done<NotifyView>);
    /// The data that decides about notices, from one snapshot. Conversations without the user's membership
    /// are left out.
    fn notify_facts(&self, user: UserId, conversations: Vec<ConversationId>, done: Done<NotifyFacts>);
    /// The site's key pair for push services. `fresh` becomes it if the site has none.
    fn push_key(&self, site: SiteId, fresh: Vec<u8>, done: Done<Vec<u8>>);
    /// Stores the user's address from the site's token. Answers whether a digest may become due: the user
    /// wants one, and none is scheduled.
    fn put_mail_address(&self, user: UserId, address: MailAddress, done: Done<bool>);
    /// Schedules a digest after the user's chosen delay, by default after `minutes`; at most one a
    /// [day](MAIL_EVERY_MS).
    fn schedule_mail(&self, user: UserId, now: Timestamp, minutes: u32);
    /// Users with a due digest, at most `limit`, with their newest unread conversations.
    fn mail_due(&self, now: Timestamp, limit: u32, done: Done<Vec<MailDue>>);
    /// Ends the schedule of a digest; `sent`: the time of sending, if it was sent.
    fn settle_mail(&self, user: UserId, sent: Option<Timestamp>, done: Done<()>);
    /// All users of all sites for whom a digest may become due. May block.
    fn mail_users(&self) -> Result<Vec<UserId>, StoreError>;
    /// All users of all sites with a subscribed browser. May block.
    fn push_users(&self) -> Result<Vec<UserId>, StoreError>;
    /// Stores the push service of an app, in the place of another one of the same device and service. One beyond
    /// [`MOST_APP_PUSHES`](crate::MOST_APP_PUSHES) replaces the oldest. The end of the app password, in any way, removes it.
    /// False: that password does not exist any more, so nothing was stored.
    fn put_app_push(&self, user: UserId, row: AppPushRow, now: Timestamp, done: Done<bool>);
    /// Removes one node of a service, or all, and answers the channels that are left.
    fn remove_app_push(&self, user: UserId, service: Box<str>, node: Option<Box<str>>, done: Done<Reached>);
    /// All users of all sites with the push service of an app. May block.
    fn app_push_users(&self) -> Result<Vec<UserId>, StoreError>;
}

/// Messages of blocked authors that a search for a notice skips, at most.
pub const MOST_SKIPPED: u32 = 50;

/// Milliseconds between two digests for a user.
pub const MAIL_EVERY_MS: u64 = 24 * 3_600_000;

/// A user with a due digest.
#[derive(Debug, Clone)]
pub struct MailDue {
    pub user: UserId,
    pub name: Arc<str>,
    pub address: MailAddress,
    pub settings: NotifySettings,
    pub talks: Vec<Talk>,
}

/// A user's address, and the minutes until a digest. None: the server's default; 0: no digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailView {
    pub address: MailAddress,
    pub after: Option<u32>,
}

/// A browser's push subscription, as the browser gave it to the page (RFC 8030, RFC 8291 §2).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[String; 4]", into = "[String; 4]")]
pub struct PushDevice {
    /// The push service's address for this browser. Everybody who knows it can send, so it is a secret.
    pub endpoint: Box<str>,
    pub key: Box<[u8]>,
    pub auth: Box<[u8]>,
    /// The language of notices.
    pub language: Box<str>,
}

impl PushDevice {
    /// Parses a browser's subscription, with `key` and `auth` as base64url. None if it is malformed.
    /// [`Notifier::accepts`](crate::notifications::Notifier::accepts) decides whether the service may be
    /// called.
    pub fn parse(endpoint: &str, key: &str, auth: &str, language: &str) -> Option<PushDevice> {
        let bytes = |text: &str, length| {
            // Browsers omit the padding, some libraries add it.
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
    /// Notices show message texts; otherwise only the author.
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
    /// Subscribed browsers.
    pub devices: u32,
    pub mail: Option<MailView>,
}

#[derive(Debug, Clone)]
pub struct NotifyFacts {
    pub settings: NotifySettings,
    pub presence: SetPresence,
    pub devices: Vec<Arc<PushDevice>>,
    /// The oldest first.
    pub apps: Vec<AppPushRow>,
    pub talks: Vec<Talk>,
}

/// A conversation of the user, with the author of its newest message.
#[derive(Debug, Clone)]
pub struct Talk {
    pub row: ConversationRow,
    pub from: Option<UserRow>,
    /// In a direct conversation: see [`Talk::missed_calls`].
    pub missed_calls: u64,
}

/// Newest unread messages that are searched for missed calls.
pub const MOST_CALLS_COUNTED: u32 = 50;

impl Talk {
    /// Calls among the messages that the user has missed.
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
    fn malformed_subscriptions_are_refused() {
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
