//! The command that reads and changes a member's notification settings.

use crate::notifications::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::notifications::{Notifications, NotifyChange, NotifyView, PushDevice};
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::{Refusal, StoreError, Timestamp, UserId};

/// One week: the longest delay of a digest.
const MOST_MINUTES: u32 = 7 * 24 * 60;

impl Notifications {
    pub(crate) fn notifications(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        mut change: NotifyChange,
        now: Timestamp,
    ) {
        let handle = asker.session.handle;
        if change.mail.is_some_and(|minutes| minutes > MOST_MINUTES) {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let refuse = |refusal| self.sessions.refuse(handle, AnswerTo::Request(re), refusal);
        if let Some(device) = change.subscribe.take() {
            let Some(notifier) = self.queue.notifier() else { return refuse(Refusal::NoPush) };
            if !notifier.accepts(&device) {
                return refuse(Refusal::BadValue);
            }
            return self.subscribe(asker, re, device, change, now);
        }
        if let Some(endpoint) = change.unsubscribe.take() {
            return self.unsubscribe(asker, re, endpoint, change);
        }
        self.change_settings(asker, re, change);
    }

    fn subscribe(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        browser: PushDevice,
        rest: NotifyChange,
        now: Timestamp,
    ) {
        let user = asker.session.user;
        let device = self.sessions.kept_device(asker);
        let asker = asker.clone();
        let (handle, to) = (asker.session.handle, AnswerTo::Request(re));
        let done = self.on_loaded(handle, to, move |this, lost: Vec<UserId>| {
            this.queue.reach(user);
            lost.into_iter().for_each(|other| this.queue.lose_browsers(other));
            this.notifications(&asker, re, rest, now);
        });
        self.store.put_push_device(user, device, browser, now, done);
    }

    fn unsubscribe(self: &Arc<Self>, asker: &Asker, re: u64, endpoint: Box<str>, rest: NotifyChange) {
        let (this, asker) = (self.clone(), asker.clone());
        self.forget_push_device(asker.session.user, endpoint, move |outcome| match outcome {
            Ok(()) => this.change_settings(&asker, re, rest),
            Err(error) => {
                this.sessions.refuse(asker.session.handle, AnswerTo::Request(re), unavailable(error))
            }
        });
    }

    pub(crate) fn forget_push_device(
        self: &Arc<Self>,
        user: UserId,
        endpoint: Box<str>,
        then: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        let done = self.then(move |this, has_other| {
            if has_other == Ok(false) {
                this.queue.lose_browsers(user);
            }
            then(has_other.map(drop));
        });
        self.store.remove_push_device(user, endpoint, done);
    }

    fn change_settings(self: &Arc<Self>, asker: &Asker, re: u64, change: NotifyChange) {
        let session = asker.session;
        let wish = change.mail;
        let done = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, view: NotifyView| {
            match wish {
                Some(0) => this.queue.mail_is_not_due(session.user),
                Some(_) if view.mail.is_some() => this.queue.mail_may_be_due(session.user),
                _ => {}
            }
            this.answer_notifications(session, re, view);
        });
        match change == NotifyChange::default() {
            true => self.store.notify_view(session.user, done),
            false => self.store.change_notify_settings(session.user, change, done),
        }
    }

    fn answer_notifications(self: &Arc<Self>, session: crate::SessionId, re: u64, view: NotifyView) {
        let NotifyView { settings, devices, mail } = view;
        let mail = mail.zip(self.queue.mailer()).map(|(mail, mailer)| {
            let after = mail.after.unwrap_or_else(|| mailer.after_minutes());
            (mail.address.address, after)
        });
        let (this, handle) = (self.clone(), session.handle);
        let answer = move |key| {
            this.sessions.answer(handle, re, Event::Settings { key, settings, devices, mail });
        };
        let Some(notifier) = self.queue.notifier() else { return answer(None) };
        // A key that is unavailable now counts as none: the member can enable the rest.
        notifier.public_key(session.user.site, Box::new(move |key| answer(key.ok())));
    }
}
