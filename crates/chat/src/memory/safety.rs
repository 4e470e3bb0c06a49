//! The parts of the port that are about requests, about messages beside the log, and about order.

use super::MemoryStore;
use crate::contacts::message_requests::RequestStore;
use crate::messages::held::{Held, HeldStore, Kept, NewHeld};
use crate::moderation::ModerationStore;
use crate::{
    Append, AuditPage, By, ConversationId, DeviceBan, Done, Ended, Moderated, ModeratorAct, NewReport,
    Notice, Refusal, ReportRow, ReportState, ReportsPage, RequestAnswer, RequestAnswered, RequestRules,
    Requested, SiteId, Timestamp, UserId,
};

impl RequestStore for MemoryStore {
    fn append_request(&self, append: Append, rules: RequestRules, done: Done<Result<Requested, Refusal>>) {
        self.write(move |tables| tables.append_request(append, rules), done);
    }

    fn answer_request(
        &self,
        conversation: ConversationId,
        user: UserId,
        answer: RequestAnswer,
        done: Done<Result<RequestAnswered, Refusal>>,
    ) {
        self.write(move |tables| tables.answer_request(conversation, user, answer), done);
    }
}

impl HeldStore for MemoryStore {
    fn hold(&self, new: NewHeld, done: Done<Result<Kept, Refusal>>) {
        self.write(move |tables| tables.hold_message(new), done);
    }

    fn held_by(&self, user: UserId, done: Done<Vec<Held>>) {
        self.read(move |tables| tables.held_by(user), done);
    }

    fn held_of_report(&self, site: SiteId, asker: By, report: u64, done: Done<Result<Held, Refusal>>) {
        self.read(move |tables| tables.held_of_report(site, asker, report), done);
    }
}

impl ModerationStore for MemoryStore {
    fn report(&self, report: NewReport, done: Done<Result<(ReportRow, bool), Refusal>>) {
        self.write(move |tables| tables.report(report), done);
    }

    fn reports(
        &self,
        site: SiteId,
        asker: By,
        state: Option<ReportState>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<ReportsPage, Refusal>>,
    ) {
        self.read(move |tables| tables.reports(site, asker, state, after.as_deref(), limit), done);
    }

    fn moderate(
        &self,
        site: SiteId,
        by: By,
        act: ModeratorAct,
        now: Timestamp,
        done: Done<Result<Moderated, Refusal>>,
    ) {
        self.write(move |tables| tables.moderate(site, by, &act, now), done);
    }

    fn audit(
        &self,
        site: SiteId,
        asker: By,
        after: Option<String>,
        limit: u32,
        done: Done<Result<AuditPage, Refusal>>,
    ) {
        self.read(move |tables| tables.audit(site, asker, after.as_deref(), limit), done);
    }

    fn moderators(&self, site: SiteId, done: Done<Vec<UserId>>) {
        self.read(move |tables| tables.moderators(site), done);
    }

    fn notices(&self, user: UserId, done: Done<Vec<Notice>>) {
        self.read(move |tables| tables.notices(user), done);
    }

    fn notices_seen(&self, user: UserId, done: Done<()>) {
        self.write(move |tables| tables.notices_seen(user), done);
    }

    fn end_sanctions(&self, now: Timestamp, done: Done<(Vec<Ended>, Option<Timestamp>)>) {
        self.write(move |tables| tables.end_sanctions(now), done);
    }

    fn device_bans(&self, done: Done<Vec<DeviceBan>>) {
        self.read(|tables| tables.device_bans(), done);
    }
}
