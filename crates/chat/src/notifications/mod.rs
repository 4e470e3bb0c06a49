//! Notifications for those who are away: what is worth one, when, and to which of a user's browsers
//! (`docs/design/push.md`).

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

use crate::session::Sessions;
use crate::site::live::Sites;
use crate::{CallEntry, CallId, ConversationId, Done, Media, SiteId, StoreError, Sub, Timestamp, UserId};

/// Notices that wait, those that were shown, and who can be reached.
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

    /// The user gets no mails any more.
    pub(crate) fn end_mail(&self, user: UserId) {
        let change = NotifyChange { mail: Some(0), ..NotifyChange::default() };
        self.queue.mail_is_not_due(user);
        self.store.change_notify_settings(user, change, Box::new(drop));
    }

    /// No browser of the user can be reached any more.
    pub(crate) fn lose(&self, user: UserId) {
        self.queue.lose(user);
    }

    /// The call rings no more at this user. Answers what was pushed of it.
    pub(crate) fn end_ring(&self, user: UserId, call: CallId) -> Option<PushedRing> {
        self.queue.end_ring(user, call)
    }
}

/// Carries notifications to browsers without a connection. Called from any thread, often inside the store's: must not block.
/// Sends notices. A lost notice loses no message.
pub trait Notifier: Send + Sync + 'static {
    /// The public half of the site's key, as browsers take it. It is made when somebody asks first.
    fn public_key(&self, site: SiteId, done: Done<Arc<str>>);
    /// Whether this browser's push service may be called at all.
    fn accepts(&self, device: &PushDevice) -> bool;
    fn push(&self, push: Push);
}

/// A notice for one browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub to: UserId,
    pub device: Arc<PushDevice>,
    /// An address of the site, by which a push service finds who sends.
    pub site: Option<Arc<str>>,
    /// The conversation of the notice. A newer notice of the conversation replaces it.
    pub conversation: ConversationId,
    /// The other one; None in a room.
    pub with: Option<Sub>,
    pub notice: PushNotice,
}

#[derive(Clone, PartialEq, Eq)]
pub enum PushNotice {
    Show(Arc<News>),
    /// It was read on another device.
    Clear,
    /// A call rings now.
    Ring(Arc<Ring>),
    /// The call of the last notice rings no more, and nothing is left to show.
    RingOver(Arc<Ring>),
}

/// A call that rings: names and times only, so it is shown in full where the member wants no words of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The caller's name and picture.
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    pub media: Media,
    /// After this moment the notice is worth nothing.
    pub until: Timestamp,
}

/// The new messages of a conversation.
#[derive(Clone, PartialEq, Eq)]
pub struct News {
    /// The last author: name and picture.
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    /// Its name, where it is one.
    pub room: Option<Arc<str>>,
    /// The last message; None if the member wants no text on the screen.
    pub body: Option<Box<str>>,
    pub unread: u64,
    /// Somebody has named the member.
    pub mentioned: bool,
    /// The last message is the entry of a call; `body` is its English text. It is no text of a member, so it is set even where the
    /// member wants no words on the screen.
    pub call: Option<CallEntry>,
    /// How many of the unread messages are calls that the member has missed; counted up to
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
    /// This browser wants them from now on.
    pub subscribe: Option<PushDevice>,
    /// The browser of this endpoint does not any more.
    pub unsubscribe: Option<Box<str>>,
    /// `Some(None)`: at all hours.
    #[serde(with = "crate::serialize::optional_change")]
    pub quiet: Option<Option<QuietHours>>,
    pub bodies: Option<bool>,
    /// Minutes after which a digest is mailed; 0: never.
    pub mail: Option<u32>,
}
