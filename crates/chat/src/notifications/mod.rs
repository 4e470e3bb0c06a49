//! Notifications for absent users: which messages lead to one, when, and to which browsers
//! (`docs/design/push.md`).

mod apps;
mod command;
mod decide;
mod event;
mod mail;
mod push;
mod queue;
mod quiet_hours;
mod ring;
mod settings;
mod store;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use apps::{AppPush, AppPushRow, AppWake, AppWaker, MOST_APP_PUSHES, Reached};
pub use command::Command;
pub use event::Event;
pub use mail::{Digest, MOST_IN_DIGEST, Mailer, digest_due};
pub(crate) use queue::Desk;
pub use quiet_hours::QuietHours;
pub(crate) use ring::{PushedRing, RingingCall};
pub use store::{
    MAIL_EVERY_MS, MOST_CALLS_COUNTED, MOST_PUSH_DEVICES, MOST_SKIPPED, MailDue, MailView, NotificationStore,
    NotifyFacts, NotifySettings, NotifyView, PushDevice, Talk,
};

use crate::session::{Completion, Sessions};
use crate::site::live::Sites;
use crate::{CallEntry, CallId, ConversationId, Done, Media, SiteId, StoreError, Sub, Timestamp, UserId};

/// The queue of notices, the notices that were shown, and the channels.
pub(crate) struct Notifications {
    queue: Desk,
    sessions: Arc<Sessions>,
    sites: Arc<Sites>,
    store: Arc<dyn NotificationStore>,
}

impl Notifications {
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        sites: Arc<Sites>,
        store: Arc<dyn NotificationStore>,
    ) -> Notifications {
        Notifications { queue: Desk::new(), sessions, sites, store }
    }

    /// Reads the users with a subscription from the store, and may block.
    pub(crate) fn notify_by(&self, notifier: Arc<dyn Notifier>) -> Result<(), StoreError> {
        let users = self.store.push_users()?;
        users.into_iter().for_each(|user| self.queue.reach(user));
        self.queue.begin(notifier);
        Ok(())
    }

    /// Reads the users who want mails from the store, and may block.
    pub(crate) fn mail_by(&self, mailer: Arc<dyn Mailer>) -> Result<(), StoreError> {
        let users = self.store.mail_users()?;
        users.into_iter().for_each(|user| self.queue.mail_may_be_due(user));
        self.queue.begin_mail(mailer);
        Ok(())
    }

    /// Ends the user's digests.
    pub(crate) fn end_mail(&self, user: UserId) {
        let change = NotifyChange { mail: Some(0), ..NotifyChange::default() };
        self.queue.mail_is_not_due(user);
        self.store.change_notify_settings(user, change, Box::new(drop));
    }

    /// The user has no browser with a subscription any more.
    pub(crate) fn lose(&self, user: UserId) {
        self.queue.lose_browsers(user);
    }

    /// The call no longer rings for this user. Answers the notice that was pushed for it.
    pub(crate) fn end_ring(&self, user: UserId, call: CallId) -> Option<PushedRing> {
        self.queue.end_ring(user, call)
    }
}

impl Completion for Notifications {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// Sends notices to browsers without a connection. Called from any thread, often inside the store's: must not
/// block. A lost notice loses no message.
pub trait Notifier: Send + Sync + 'static {
    /// The public half of the site's key, as browsers take it. The first request creates it.
    fn public_key(&self, site: SiteId, done: Done<Arc<str>>);
    /// Whether the node may call this browser's push service.
    fn accepts(&self, device: &PushDevice) -> bool;
    fn push(&self, push: Push);
}

/// A notice for one browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub to: UserId,
    pub device: Arc<PushDevice>,
    /// An address of the site, so that a push service can identify the sender.
    pub site: Option<Arc<str>>,
    /// The conversation of the notice. A newer notice of the conversation replaces it.
    pub conversation: ConversationId,
    /// The other user; None in a room.
    pub with: Option<Sub>,
    pub notice: PushNotice,
}

#[derive(Clone, PartialEq, Eq)]
pub enum PushNotice {
    Show(Arc<News>),
    /// The messages were read on another device.
    Clear,
    /// A call rings.
    Ring(Arc<Ring>),
    /// The call of the last notice no longer rings, and no other notice replaces it.
    RingOver(Arc<Ring>),
}

/// A ringing call. It has only names and times, so members who hide message texts see all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The caller's name and picture.
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    pub media: Media,
    /// The notice is useless after this time.
    pub until: Timestamp,
}

/// The new messages of a conversation.
#[derive(Clone, PartialEq, Eq)]
pub struct News {
    /// The name and picture of the last author.
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    /// The name of the room; None in a direct conversation.
    pub room: Option<Arc<str>>,
    /// The last message; None if the member hides texts in notices, or if it is opaque.
    pub body: Option<Box<str>>,
    /// The last message has no body to show, see [`Message::is_opaque`](crate::Message::is_opaque).
    pub opaque: bool,
    pub unread: u64,
    /// A message mentions the member.
    pub mentioned: bool,
    /// The entry of a call, if the last message is one; `body` is then its English text. No member wrote it,
    /// so it is set even if the member hides texts.
    pub call: Option<CallEntry>,
    /// Missed calls among the unread messages, counted up to
    /// [`MOST_CALLS_COUNTED`](crate::MOST_CALLS_COUNTED) messages back.
    pub missed_calls: u64,
}

/// Bodies stay out of logs.
impl std::fmt::Debug for PushNotice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PushNotice::Show(_) => "Show",
            PushNotice::Clear => "Clear",
            PushNotice::Ring(_) => "Ring",
            PushNotice::RingOver(_) => "RingOver",
        })
    }
}

/// A change of the notification settings. Fields that are None stay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NotifyChange {
    /// Subscribes this browser.
    pub subscribe: Option<PushDevice>,
    /// Unsubscribes the browser of this endpoint.
    pub unsubscribe: Option<Box<str>>,
    /// `Some(None)`: no quiet hours.
    #[serde(with = "crate::serialize::optional_change")]
    pub quiet: Option<Option<QuietHours>>,
    pub bodies: Option<bool>,
    /// Minutes after which a digest is mailed; 0: never.
    pub mail: Option<u32>,
}
