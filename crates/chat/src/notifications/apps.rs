//! Apps that sleep: a push service wakes them when a message would notify their user. One rule decides for browsers and apps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::limits::Rate;
use crate::notifications::{Event, Notifications, NotifyFacts, PushDevice};
use crate::session::{Asker, Completion};
use crate::{Refusal, StoreError, Timestamp, UserId};

/// Apps of one user that are woken; one more replaces the oldest.
pub const MOST_APP_PUSHES: usize = 10;
const SERVICE_BYTES: usize = 253;
const NODE_BYTES: usize = 1_024;
const OPTIONS_BYTES: usize = 2_048;

/// How often the apps of one user are woken. An app that is awake reads all that it has missed.
pub(super) fn wake_rate() -> Rate {
    Rate::per_minute(6, 12)
}

/// The push service of one app, as the app has named it. `node` and `options` are for the service, and can be secrets of the app.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPush {
    /// The domain of the service.
    pub service: Box<str>,
    pub node: Box<str>,
    pub options: Box<str>,
}

impl AppPush {
    fn check(&self) -> Result<(), Refusal> {
        let AppPush { service, node, options } = self;
        let fits = !service.is_empty()
            && service.len() <= SERVICE_BYTES
            && node.len() <= NODE_BYTES
            && options.len() <= OPTIONS_BYTES;
        if fits { Ok(()) } else { Err(Refusal::BadValue) }
    }
}

impl std::fmt::Debug for AppPush {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppPush").field("service", &self.service).finish_non_exhaustive()
    }
}

/// A stored [`AppPush`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppPushRow {
    pub push: AppPush,
    /// The app's device.
    pub device: u64,
    /// The app password with which the app had signed in. Its end is the end of the row.
    pub password: Option<u32>,
}

/// The channels that a user has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reached {
    pub browsers: bool,
    pub apps: bool,
}

/// Wakes apps through their push services. Called from any thread, often inside the store's: must not block. A lost call loses no
/// message.
pub trait AppWaker: Send + Sync + 'static {
    fn wake(&self, wake: AppWake);
}

/// One app that sleeps. It says neither who has written nor what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppWake {
    pub user: UserId,
    pub push: AppPush,
    /// Unread messages in the conversations that wake it; 1 for a call.
    pub messages: u64,
}

/// The channels that may show a notice now.
pub(super) struct Receivers<'a> {
    /// None: the user sees the messages on a page.
    pub(super) browsers: Option<&'a [Arc<PushDevice>]>,
    pub(super) apps: Vec<&'a AppPush>,
}

impl Receivers<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.browsers.is_none() && self.apps.is_empty()
    }
}

impl Notifications {
    /// Reads the users with a sleeping app from the store, and may block.
    pub(crate) fn wake_by(&self, waker: Arc<dyn AppWaker>) -> Result<(), StoreError> {
        let users = self.store.app_push_users()?;
        users.into_iter().for_each(|user| self.queue.reach_app(user));
        self.queue.begin_waking(waker);
        Ok(())
    }

    /// The app of this session names its push service.
    pub(super) fn push_app(self: &Arc<Self>, asker: &Asker, re: u64, push: AppPush, now: Timestamp) {
        let (session, to) = (asker.session, AnswerTo::Request(re));
        let may = match self.queue.waker() {
            None => Err(Refusal::NoPush),
            Some(_) if asker.guest => Err(Refusal::NotAllowed),
            Some(_) => push.check(),
        };
        if let Err(refusal) = may {
            return self.sessions.refuse(session.handle, to, refusal);
        }
        let found = self.sessions.lock(session.user).session(session.user, session.handle).map(|here| {
            let (device, password) = (here.device, here.by.password());
            AppPushRow { push, device, password }
        });
        let Some(row) = found else { return };
        let done = self.on_loaded(session.handle, to, move |this, is_stored: bool| {
            if is_stored {
                this.queue.reach_app(session.user);
            }
            this.sessions.answer(session.handle, re, Event::AppPush);
        });
        self.store.put_app_push(session.user, row, now, done);
    }

    /// `node`: None for all of the service.
    pub(super) fn end_app_push(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        service: Box<str>,
        node: Option<Box<str>>,
    ) {
        let session = asker.session;
        let done = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, left: Reached| {
            this.queue.keep_reached(session.user, left);
            this.sessions.answer(session.handle, re, Event::AppPush);
        });
        self.store.remove_app_push(session.user, service, node, done);
    }

    /// The service refuses to wake this app.
    pub(crate) fn app_push_is_gone(self: &Arc<Self>, user: UserId, service: Box<str>, node: Box<str>) {
        let done = self.then::<Reached>(move |this, left| {
            if let Ok(left) = left {
                this.queue.keep_reached(user, left);
            }
        });
        self.store.remove_app_push(user, service, Some(node), done);
    }

    /// The client of a session shows nothing to its user, or does again. Only sessions of apps can sleep.
    pub(super) fn set_idle(&self, asker: &Asker, is_idle: bool) {
        let session = asker.session;
        self.sessions.lock(session.user).set_idle(session.user, session.handle, is_idle);
    }

    /// Browsers of a user who is away, and apps without a session that is awake.
    pub(super) fn receivers<'a>(&self, user: UserId, facts: &'a NotifyFacts) -> Receivers<'a> {
        let browsers = self.is_away(user).then_some(&facts.devices[..]);
        let mut apps: Vec<&AppPush> = Vec::new();
        if !facts.apps.is_empty() {
            let awake = self.sessions.lock(user).awake_devices(user);
            let asleep = facts.apps.iter().filter(|row| !awake.contains(&row.device));
            apps.extend(asleep.map(|row| &row.push));
        }
        Receivers { browsers, apps }
    }

    /// Whether a notice could have a receiver. A user with an app costs a read to find out.
    pub(super) fn may_be_asleep(&self, user: UserId) -> bool {
        self.queue.has_apps(user) || self.is_away(user)
    }

    pub(super) fn wake(&self, user: UserId, apps: &[&AppPush], messages: u64, now: Timestamp) {
        let Some(waker) = self.queue.waker() else { return };
        if !apps.is_empty() && self.queue.may_wake(user, now) {
            for push in apps {
                waker.wake(AppWake { user, push: AppPush::clone(push), messages });
            }
        }
    }
}
