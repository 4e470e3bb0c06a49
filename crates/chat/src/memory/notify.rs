//! The part of the port that is about notifications.

use super::MemoryStore;
use crate::notifications::{
    MailAddress, MailDue, NotifyChange, NotifyFacts, NotifyStore, NotifyView, PushDevice,
};
use crate::{ConversationId, Done, SiteId, StoreError, Timestamp, UserId};

impl NotifyStore for MemoryStore {
    fn put_push_device(
        &self,
        user: UserId,
        device: Option<u64>,
        push: PushDevice,
        _now: Timestamp,
        done: Done<Vec<UserId>>,
    ) {
        self.write(move |tables| tables.put_push_device(user, device, push), done);
    }

    fn remove_push_device(&self, user: UserId, endpoint: Box<str>, done: Done<bool>) {
        self.write(move |tables| tables.remove_push_device(user, &endpoint), done);
    }

    fn change_notify_settings(&self, user: UserId, change: NotifyChange, done: Done<NotifyView>) {
        self.write(move |tables| tables.change_notify_settings(user, &change), done);
    }

    fn notify_view(&self, user: UserId, done: Done<NotifyView>) {
        self.read(move |tables| tables.notify_view(user), done);
    }

    fn notify_facts(&self, user: UserId, conversations: Vec<ConversationId>, done: Done<NotifyFacts>) {
        self.read(move |tables| tables.notify_facts(user, &conversations), done);
    }

    fn push_key(&self, site: SiteId, fresh: Vec<u8>, done: Done<Vec<u8>>) {
        self.write(move |tables| tables.push_key(site, fresh), done);
    }

    fn put_mail_address(&self, user: UserId, address: MailAddress, done: Done<bool>) {
        self.write(move |tables| tables.put_mail_address(user, address), done);
    }

    fn schedule_mail(&self, user: UserId, now: Timestamp, minutes: u32) {
        self.write(move |tables| tables.schedule_mail(user, now, minutes), Box::new(drop));
    }

    fn mail_due(&self, now: Timestamp, limit: u32, done: Done<Vec<MailDue>>) {
        self.read(move |tables| tables.mail_due(now, limit), done);
    }

    fn settle_mail(&self, user: UserId, sent: Option<Timestamp>, done: Done<()>) {
        self.write(move |tables| tables.settle_mail(user, sent), done);
    }

    fn mail_users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(self.lock().tables.mail_users())
    }

    fn push_users(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(self.lock().tables.push_users())
    }
}
