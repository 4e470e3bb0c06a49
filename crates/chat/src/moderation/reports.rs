//! Reports: from members and filters to moderators.

use crate::moderation::Event;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::moderation::{
    EVIDENCE_MS, LINES_AROUND, MOST_OPEN_REPORTS, Moderation, NewReport, ReportAbout, ReportReason,
    ReportRow, ReportState, ReportsPage, is_reason,
};
use crate::session::{Asker, Completion};
use crate::{
    By, ConversationId, Hit, PageOf, REASON_BYTES, Refusal, Revision, Seq, SiteId, Sub, Timestamp, UserId,
    UserRow,
};

/// A report of a session, with users by the site's ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportOf {
    Message(ConversationId, Seq),
    User(Sub),
    Room(ConversationId),
}

/// Milliseconds for which an open report about a user keeps the user's words after the user was erased.
/// Closing the report removes them earlier.
pub const EVIDENCE_AFTER_ERASURE_MS: u64 = 30 * 24 * 3_600_000;

/// The earlier bodies that a report of a message keeps. None: the message was deleted too long ago to be
/// reported. For stores.
pub fn kept_with_report(revisions: Vec<Revision>, is_deleted: bool, now: Timestamp) -> Option<Vec<Revision>> {
    let since = now.0.saturating_sub(EVIDENCE_MS);
    let former: Vec<Revision> = revisions.into_iter().filter(|one| one.until.0 >= since).collect();
    (!is_deleted || !former.is_empty()).then_some(former)
}

/// Whether a user with this number of open reports may make another. `by` None: a filter. For stores.
pub fn may_report(by: Option<UserId>, open: u32) -> Result<(), Refusal> {
    if by.is_some() && open >= MOST_OPEN_REPORTS { Err(Refusal::TooManyReports) } else { Ok(()) }
}

/// The messages that a report keeps, as seqs from the first to the last. For stores.
pub fn lines_around(seq: Seq) -> (Seq, Seq) {
    (Seq(seq.0.saturating_sub(LINES_AROUND)), Seq(seq.0.saturating_add(LINES_AROUND).min(Seq::MAX.0)))
}

/// Moderators may not take, close, reopen or approve a report about themselves. `moderator` None: the site's
/// server; `reported` None: no user. For stores.
pub fn may_decide_report<T: PartialEq>(moderator: Option<&T>, reported: Option<&T>) -> Result<(), Refusal> {
    if moderator.is_some() && moderator == reported { Err(Refusal::NotAllowed) } else { Ok(()) }
}

impl Moderation {
    pub(crate) fn report(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        of: ReportOf,
        reason: ReportReason,
        text: String,
        now: Timestamp,
    ) {
        let session = asker.session;
        let is_sound = is_reason(&text)
            && reason != ReportReason::Filter
            && match &of {
                ReportOf::User(user) => *user != asker.sub,
                ReportOf::Room(room) => room.is_room(),
                ReportOf::Message(..) => true,
            };
        if !is_sound {
            return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let (_this, by) = (self.clone(), session.user);
        let report = move |about| NewReport { by, about, reason, text: text.into(), time: now };
        match of {
            ReportOf::Message(id, seq) => self.keep_report(asker, re, report(ReportAbout::Message(id, seq))),
            ReportOf::Room(id) => self.keep_report(asker, re, report(ReportAbout::Room(id))),
            ReportOf::User(user) => {
                let asker = asker.clone();
                let site = asker.site.site.id;
                let to = AnswerTo::Request(re);
                let done = self.on_loaded(session.handle, to, move |this, row: Option<UserRow>| match row {
                    Some(row) => this.keep_report(&asker, re, report(ReportAbout::User(row.id))),
                    None => this.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::NoSuchUser),
                });
                self.store.user(site, user, done);
            }
        }
    }

    fn keep_report(self: &Arc<Self>, asker: &Asker, re: u64, report: NewReport) {
        let (handle, site) = (asker.session.handle, asker.site.site.id);
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, kept: (ReportRow, bool)| {
            let (report, is_new) = kept;
            this.sessions.answer(handle, re, Event::Reported { report: report.number });
            if is_new {
                this.notify_moderators(site, report);
            }
        });
        self.store.report(report, done);
    }

    /// Reports a delivered message that moderators should check.
    pub(crate) fn flag(
        self: &Arc<Self>,
        conversation: ConversationId,
        seq: Seq,
        hits: &[Hit],
        now: Timestamp,
    ) {
        self.flag_about(conversation.site, ReportAbout::Message(conversation, seq), hits, now);
    }

    /// Reports a published name, topic or status.
    pub(crate) fn flag_about(
        self: &Arc<Self>,
        site: SiteId,
        about: ReportAbout,
        hits: &[Hit],
        now: Timestamp,
    ) {
        let report = NewReport {
            by: UserId::nobody(site),
            about,
            reason: ReportReason::Filter,
            text: in_words(hits).into(),
            time: now,
        };
        let done = self.then(move |this, outcome| {
            if let Ok(Ok((report, true))) = outcome {
                this.notify_moderators(site, report);
            }
        });
        self.store.report(report, done);
    }

    /// Notifies connected moderators, except the reported one. Delivery is not guaranteed: the queue is in
    /// the store.
    pub(crate) fn notify_moderators(self: &Arc<Self>, site: SiteId, report: ReportRow) {
        let reported = report.user.clone();
        let event = Event::Report(Box::new(report));
        let done = self.then(move |this, moderators| {
            for user in moderators.unwrap_or_default() {
                let sub = this.sessions.lock(user).user(user).map(|here| here.sub.clone());
                if sub.is_some() && sub != reported {
                    this.sessions.publish_transient(user, None, event.clone());
                }
            }
        });
        self.store.moderators(site, done);
    }

    pub(crate) fn list_reports(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        state: Option<ReportState>,
        page: PageOf,
    ) {
        let session = asker.session;
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, page| {
            let ReportsPage { rows, next } = page;
            this.sessions.answer(session.handle, re, Event::Reports { reports: rows, next });
        });
        let limit = self.sessions.page_limit(page.limit);
        let (site, asker) = (asker.site.site.id, By::User(session.user));
        self.store.reports(site, asker, state, page.after, limit, done);
    }
}

/// The matches in a text, in words for moderators.
pub(crate) fn in_words(hits: &[Hit]) -> String {
    let mut words = String::new();
    for hit in hits {
        let one = format!("{}: {}", hit.kind.word(), hit.what);
        if words.len() + one.len() > REASON_BYTES - 2 {
            break;
        }
        words += if words.is_empty() { "" } else { ", " };
        words += &one;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_a_bounded_number_of_open_reports_and_a_filter_any() {
        let ann = Some(UserId { site: SiteId(1), num: 1 });
        assert_eq!(may_report(ann, MOST_OPEN_REPORTS - 1), Ok(()));
        assert_eq!(may_report(ann, MOST_OPEN_REPORTS), Err(Refusal::TooManyReports));
        assert_eq!(may_report(None, u32::MAX), Ok(()));
    }

    #[test]
    fn messages_on_both_sides_are_kept() {
        assert_eq!(lines_around(Seq(20)), (Seq(15), Seq(25)));
        assert_eq!(lines_around(Seq(2)), (Seq(0), Seq(7)));
        assert_eq!(lines_around(Seq::MAX).1, Seq::MAX);
    }

    #[test]
    fn moderators_cannot_decide_about_reports_of_themselves() {
        assert_eq!(may_decide_report(Some(&1), Some(&1)), Err(Refusal::NotAllowed));
        assert_eq!([may_decide_report(Some(&1), Some(&2)), may_decide_report(None, Some(&1))], [Ok(()); 2]);
        assert_eq!(may_decide_report::<u8>(None, None), Ok(()), "the server decides about everything");
    }
}
