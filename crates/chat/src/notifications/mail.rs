//! Digests of missed messages by e-mail: when they are due, for whom, and their content.

use std::sync::Arc;

use crate::notifications::decide::news;
use crate::notifications::{MAIL_EVERY_MS, MailDue, News, Notifications};
use crate::session::Completion;
use crate::{ConversationId, MailAddress, Sub, Timestamp, UserId};

/// Milliseconds between two searches for due digests.
pub(crate) const LOOK_MS: u64 = 10_000;
/// Digests read from the store together.
const MOST_DUE: u32 = 32;
/// Conversations in a digest; the others are only counted.
pub const MOST_IN_DIGEST: usize = 10;

/// Sends digests. A failed digest is lost; its messages are not. Must not block.
pub trait Mailer: Send + Sync + 'static {
    /// The default delay in minutes of unread messages, for members without a choice.
    fn after_minutes(&self) -> u32;
    fn mail(&self, digest: Digest);
}

/// The time of a digest for messages of now, at most one a [day](MAIL_EVERY_MS). `after`: minutes for which
/// they stay unread; with 0 the member gets no digests.
pub fn digest_due(now: Timestamp, after: u32, sent: Option<Timestamp>) -> Option<Timestamp> {
    let due = now.0 + u64::from(after) * 60_000;
    // A later time than now: the clock was set back.
    let next = sent.map_or(0, |sent| sent.min(now).0 + MAIL_EVERY_MS);
    (after > 0).then_some(Timestamp(due.max(next)))
}

/// The missed messages of a member.
#[derive(Clone, PartialEq, Eq)]
pub struct Digest {
    pub to: UserId,
    pub name: Arc<str>,
    pub address: MailAddress,
    /// The site's key, name, and address, if it has one.
    pub site_key: Arc<str>,
    pub site: String,
    pub url: Option<String>,
    /// Newest first, at most [`MOST_IN_DIGEST`].
    pub talks: Vec<(ConversationId, Option<Sub>, News)>,
    /// The number of further conversations.
    pub more: usize,
}

impl std::fmt::Debug for Digest {
    /// Addresses and bodies stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Digest").field("talks", &self.talks.len()).finish_non_exhaustive()
    }
}

impl Notifications {
    /// Stores the mail address of a token at the sign-in.
    pub(crate) fn mail_address(self: &Arc<Self>, user: UserId, address: MailAddress) {
        if self.queue.mailer().is_none() {
            return;
        }
        let done = self.then(move |this, may_be_due| {
            if may_be_due == Ok(true) {
                this.queue.mail_may_be_due(user);
            }
        });
        self.store.put_mail_address(user, address, done);
    }

    /// Schedules a digest for a stored message, if its receiver is away and wants digests.
    pub(crate) fn mail_later(&self, user: UserId, now: Timestamp) {
        let Some(mailer) = self.queue.mailer() else { return };
        self.queue.mail_is_not_due(user);
        self.store.schedule_mail(user, now, mailer.after_minutes());
    }

    /// Called with every tick.
    pub(crate) fn mail_due_digests(self: &Arc<Self>, now: Timestamp) {
        if self.queue.mailer().is_none() || !self.queue.is_mail_time(now) {
            return;
        }
        let done = self.then::<Vec<MailDue>>(move |this, due| {
            due.unwrap_or_default().into_iter().for_each(|due| this.mail(due, now));
        });
        self.store.mail_due(now, MOST_DUE, done);
    }

    /// The time of sending is stored first: a lost digest is better than a repeated one at every start.
    fn mail(self: &Arc<Self>, due: MailDue, now: Timestamp) {
        let user = due.user;
        let digest = if self.is_away(user) { self.digest(due, now) } else { None };
        let sent = digest.is_some().then_some(now);
        let done = self.then(move |this, settled| {
            if settled.is_err() {
                return;
            }
            this.queue.mail_may_be_due(user);
            if let (Some(mailer), Some(digest)) = (this.queue.mailer(), digest) {
                mailer.mail(digest);
            }
        });
        self.store.settle_mail(user, sent, done);
    }

    fn digest(&self, due: MailDue, now: Timestamp) -> Option<Digest> {
        let live = self.sites.by_id(due.user.site)?;
        let mut talks: Vec<_> = due
            .talks
            .iter()
            .filter_map(|talk| {
                let with = talk.row.of.other().map(|other| other.profile.sub.clone());
                Some((talk.row.id, with, news(talk, due.user, &due.settings, now)?))
            })
            .collect();
        if talks.is_empty() {
            return None;
        }
        let more = talks.len().saturating_sub(MOST_IN_DIGEST);
        talks.truncate(MOST_IN_DIGEST);
        Some(Digest {
            to: due.user,
            name: due.name,
            address: due.address,
            site_key: live.site.key.clone(),
            site: live.site.name.clone(),
            url: live.site.page().map(str::to_owned),
            talks,
            more,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_waits_for_the_chosen_delay_and_a_day_after_the_last() {
        let now = Timestamp(100 * MAIL_EVERY_MS);
        let ago = |ms| Some(Timestamp(now.0 - ms));
        assert_eq!(digest_due(now, 0, None), None, "no digests");
        assert_eq!(digest_due(now, 5, None), Some(Timestamp(now.0 + 300_000)));
        assert_eq!(digest_due(now, 5, ago(2 * MAIL_EVERY_MS)), Some(Timestamp(now.0 + 300_000)));
        assert_eq!(digest_due(now, 5, ago(1_000)), Some(Timestamp(now.0 + MAIL_EVERY_MS - 1_000)));
        let later = Some(Timestamp(now.0 + 2 * MAIL_EVERY_MS));
        assert_eq!(
            digest_due(now, 5, later),
            Some(Timestamp(now.0 + MAIL_EVERY_MS)),
            "the clock was set back"
        );
    }
}
