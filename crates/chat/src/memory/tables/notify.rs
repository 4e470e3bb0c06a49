//! Browsers that take notifications, what members have chosen of them, and the sites' keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Tables;
use crate::notifications::{
    MAIL_EVERY_MS, MOST_CALLS_COUNTED, MOST_PUSH_DEVICES, MOST_SKIPPED, MailAddress, MailDue, MailView,
    NotifyChange, NotifyFacts, NotifySettings, NotifyView, PushDevice, Talk,
};
use crate::{
    ConversationId, ConversationList, ConversationRow, SetPresence, SiteId, StoredMessage, Timestamp, UserId,
};

/// Conversations that are looked at for a digest.
const MOST_LOOKED_AT: u32 = 30;

#[derive(Default)]
pub(super) struct Notifications {
    /// Oldest first.
    browsers: Vec<Browser>,
    settings: BTreeMap<UserId, NotifySettings>,
    keys: BTreeMap<SiteId, Vec<u8>>,
    mails: BTreeMap<UserId, Mail>,
}

struct Browser {
    user: UserId,
    device: Option<u64>,
    push: Arc<PushDevice>,
}

struct Mail {
    address: MailAddress,
    after: Option<u32>,
    due: Option<Timestamp>,
    sent: Timestamp,
}

impl Notifications {
    pub(super) fn remove_site(&mut self, site: SiteId) {
        self.browsers.retain(|one| one.user.site != site);
        self.settings.retain(|user, _| user.site != site);
        self.keys.remove(&site);
        self.mails.retain(|user, _| user.site != site);
    }

    pub(super) fn remove_user(&mut self, user: UserId) {
        self.browsers.retain(|one| one.user != user);
        self.settings.remove(&user);
        self.mails.remove(&user);
    }

    fn of(&self, user: UserId) -> impl Iterator<Item = &Arc<PushDevice>> {
        self.browsers.iter().filter(move |one| one.user == user).map(|one| &one.push)
    }
}

impl Tables {
    pub(in crate::memory) fn put_push_device(
        &mut self,
        user: UserId,
        device: Option<u64>,
        push: PushDevice,
    ) -> Vec<UserId> {
        if device.is_some_and(|device| self.is_signed_out(user, device)) {
            return Vec::new();
        }
        let browsers = &mut self.notifications.browsers;
        let is_same = |one: &Browser| one.user.site == user.site && one.push.endpoint == push.endpoint;
        let mut before: Vec<UserId> =
            browsers.iter().filter(|one| is_same(one)).map(|one| one.user).collect();
        browsers.retain(|one| !is_same(one));
        while browsers.iter().filter(|one| one.user == user).count() >= MOST_PUSH_DEVICES {
            let Some(oldest) = browsers.iter().position(|one| one.user == user) else { break };
            browsers.remove(oldest);
        }
        browsers.push(Browser { user, device, push: Arc::new(push) });
        before.retain(|of| *of != user && self.notifications.of(*of).next().is_none());
        before
    }

    pub(in crate::memory) fn remove_push_device(&mut self, user: UserId, endpoint: &str) -> bool {
        self.notifications.browsers.retain(|one| one.user != user || *one.push.endpoint != *endpoint);
        self.notifications.of(user).next().is_some()
    }

    /// That of a device that is signed out, and all of which is not known whose they are. Answers whether one is left.
    pub(super) fn remove_push_of(&mut self, user: UserId, device: u64) -> bool {
        let stays = |of: Option<u64>| of.is_some_and(|of| of != device);
        self.notifications.browsers.retain(|one| one.user != user || stays(one.device));
        self.notifications.of(user).next().is_some()
    }

    pub(in crate::memory) fn change_notify_settings(
        &mut self,
        user: UserId,
        change: &NotifyChange,
    ) -> NotifyView {
        let settings = self.notifications.settings.entry(user).or_default();
        settings.quiet = change.quiet.unwrap_or(settings.quiet);
        settings.bodies = change.bodies.unwrap_or(settings.bodies);
        if let Some((mail, minutes)) = self.notifications.mails.get_mut(&user).zip(change.mail) {
            mail.after = Some(minutes);
            mail.due = mail.due.filter(|_| minutes > 0);
        }
        self.notify_view(user)
    }

    pub(in crate::memory) fn notify_view(&self, user: UserId) -> NotifyView {
        let settings = self.notifications.settings.get(&user).copied().unwrap_or_default();
        let mail = self.notifications.mails.get(&user);
        let mail = mail.map(|mail| MailView { address: mail.address.clone(), after: mail.after });
        NotifyView { settings, devices: self.notifications.of(user).count() as u32, mail }
    }

    pub(in crate::memory) fn notify_facts(
        &self,
        user: UserId,
        conversations: &[ConversationId],
    ) -> NotifyFacts {
        let talks = conversations.iter().filter_map(|id| self.conversation(user, *id)).map(|mut row| {
            row.last = self.newest_not_blocked(user, &row);
            let from = row.last.as_ref().and_then(|last| self.user_by_id(last.from));
            Talk { missed_calls: self.missed_calls(user, &row), row, from }
        });
        NotifyFacts {
            settings: self.notify_view(user).settings,
            presence: self.user_by_id(user).map_or(SetPresence::Online, |row| row.presence),
            devices: self.notifications.of(user).cloned().collect(),
            talks: talks.collect(),
        }
    }

    fn newest_not_blocked(&self, user: UserId, row: &ConversationRow) -> Option<StoredMessage> {
        let last = row.last.as_ref()?;
        if !self.has_blocked(user, last.from) {
            return Some(last.clone());
        }
        let page = self.history(user, row.id, None, None, MOST_SKIPPED);
        let unread = page.messages.into_iter().rev().take_while(|message| message.seq > row.read);
        unread.into_iter().find(|message| !self.has_blocked(user, message.from))
    }

    fn missed_calls(&self, user: UserId, row: &ConversationRow) -> u64 {
        if row.id.is_room() || row.unread == 0 {
            return 0;
        }
        let limit = row.unread.min(u64::from(MOST_CALLS_COUNTED)) as u32;
        Talk::missed_calls(user, &self.history(user, row.id, None, None, limit).messages)
    }

    pub(in crate::memory) fn push_key(&mut self, site: SiteId, fresh: Vec<u8>) -> Vec<u8> {
        self.notifications.keys.entry(site).or_insert(fresh).clone()
    }

    pub(in crate::memory) fn put_mail_address(&mut self, user: UserId, address: MailAddress) -> bool {
        let new = Mail { address: address.clone(), after: None, due: None, sent: Timestamp(0) };
        let mail = self.notifications.mails.entry(user).or_insert(new);
        mail.address = address;
        mail.after != Some(0) && mail.due.is_none()
    }

    pub(in crate::memory) fn schedule_mail(&mut self, user: UserId, now: Timestamp, minutes: u32) {
        let Some(mail) = self.notifications.mails.get_mut(&user) else { return };
        let minutes = mail.after.unwrap_or(minutes);
        if minutes > 0 && mail.due.is_none() {
            let soonest = Timestamp(mail.sent.0 + if mail.sent.0 > 0 { MAIL_EVERY_MS } else { 0 });
            mail.due = Some(Timestamp(now.0 + u64::from(minutes) * 60_000).max(soonest));
        }
    }

    pub(in crate::memory) fn mail_due(&self, now: Timestamp, limit: u32) -> Vec<MailDue> {
        let is_due = |mail: &Mail| mail.due.is_some_and(|due| due <= now);
        let due = self.notifications.mails.iter().filter(|(_, mail)| is_due(mail)).take(limit as usize);
        let digest = |(user, mail): (&UserId, &Mail)| {
            let rows = self.conversations(*user, ConversationList::Unread, None, MOST_LOOKED_AT).rows;
            let ids: Vec<ConversationId> = rows.iter().map(|row| row.id).collect();
            let facts = self.notify_facts(*user, &ids);
            Some(MailDue {
                user: *user,
                name: self.user_by_id(*user)?.profile.name,
                address: mail.address.clone(),
                settings: facts.settings,
                talks: facts.talks,
            })
        };
        due.filter_map(digest).collect()
    }

    pub(in crate::memory) fn settle_mail(&mut self, user: UserId, sent: Option<Timestamp>) {
        if let Some(mail) = self.notifications.mails.get_mut(&user) {
            mail.due = None;
            mail.sent = sent.unwrap_or(mail.sent);
        }
    }

    pub(in crate::memory) fn mail_users(&self) -> Vec<UserId> {
        let mails = self.notifications.mails.iter();
        mails.filter(|(_, mail)| mail.after != Some(0) && mail.due.is_none()).map(|(user, _)| *user).collect()
    }

    pub(in crate::memory) fn push_users(&self) -> Vec<UserId> {
        let mut users: Vec<UserId> = self.notifications.browsers.iter().map(|one| one.user).collect();
        users.sort_unstable();
        users.dedup();
        users
    }
}
