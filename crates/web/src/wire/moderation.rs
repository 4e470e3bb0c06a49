//! Reports, notices, acts of moderators and the settings of the site. REST uses some of these functions.

use std::borrow::Cow;

use chat::moderation::{Command, Event as Of};
use chat::{Delivery, SanctionKind, SiteId, Timestamp};
use web_proto::{Code, Command as Wire, Event};

use super::names::conversation_text;
use super::same::{ToChat, ToWire};
use super::{conversation_id, next, number, page, sub};

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Reported { report } => Event::Reported { re: number(delivery), report: *report },
        Of::Reports { reports, next } => Event::Reports {
            re: number(delivery),
            reports: reports.iter().map(report).collect(),
            next: self::next(next),
        },
        Of::Report(report) => Event::Report { report: Box::new(self::report(report)) },
        Of::Moderated(report) => Event::Moderated {
            re: number(delivery),
            report: report.as_deref().map(|report| Box::new(self::report(report))),
        },
        Of::Audit { entries, next } => Event::Audit {
            re: number(delivery),
            entries: entries.iter().map(audit_entry).collect(),
            next: self::next(next),
        },
        Of::Notices(notices) => {
            Event::Notices { re: number(delivery), notices: notices.iter().map(notice).collect() }
        }
        Of::Notice(notice) => Event::Notice { notice: self::notice(notice) },
        Of::Site(state) => Event::Site { site: site_state(state) },
        Of::Settings(settings) => Event::Settings { re: number(delivery), settings: settings.clone() },
        Of::NotSet(why) => Event::Error {
            code: Code::BadValue,
            text: Cow::Borrowed(why),
            re: delivery.re,
            id: None,
            retry_after: None,
        },
        Of::FilterTested(test) => {
            let (act, hits) = filter_test(test);
            Event::FilterTested { re: number(delivery), act, hits }
        }
    }
}

pub(crate) fn report(row: &chat::ReportRow) -> web_proto::Report<'_> {
    let (conversation, seq) = match row.about {
        chat::ReportAbout::Message(id, seq) => (Some(id), Some(seq.0)),
        chat::ReportAbout::Room(id) | chat::ReportAbout::Held(id) => (Some(id), None),
        chat::ReportAbout::User(_) => (None, None),
    };
    web_proto::Report {
        report: row.number,
        state: row.state.to_wire(),
        conversation: conversation.map(conversation_text),
        seq,
        user: row.user.as_ref().map(|user| user.as_str().into()),
        by: row.by.as_ref().map(|user| user.as_str().into()),
        held: matches!(row.about, chat::ReportAbout::Held(_)),
        reason: row.reason.to_wire(),
        text: Cow::Borrowed(&row.text),
        lines: row.lines.iter().map(line).collect(),
        former: row
            .former
            .iter()
            .map(|one| web_proto::FormerBody { body: Cow::Borrowed(&one.body), until: one.until.0 })
            .collect(),
        time: row.time.0,
        moderator: row.moderator.as_ref().map(|user| user.as_str().into()),
        note: Cow::Borrowed(&row.note),
    }
}

fn line(line: &chat::ReportLine) -> web_proto::ReportLine<'_> {
    web_proto::ReportLine {
        seq: line.seq.0,
        from: line.from.as_str().into(),
        time: line.time.0,
        body: Cow::Borrowed(&line.body),
    }
}

pub(crate) fn audit_entry(entry: &chat::AuditEntry) -> web_proto::AuditEntry<'_> {
    web_proto::AuditEntry {
        number: entry.number,
        time: entry.time.0,
        by: entry.by.as_ref().map(|user| user.as_str().into()),
        act: Cow::Borrowed(&entry.act),
        user: entry.user.as_ref().map(|user| user.as_str().into()),
        conversation: entry.conversation.map(conversation_text),
        detail: Cow::Borrowed(&entry.detail),
    }
}

pub(super) fn notice(notice: &chat::Notice) -> web_proto::Notice<'_> {
    web_proto::Notice {
        kind: notice.kind.to_wire(),
        conversation: notice.room.map(conversation_text),
        until: notice.until.map(|until| until.0),
        reason: Cow::Borrowed(&notice.reason),
    }
}

pub(super) fn held(held: &chat::Held) -> web_proto::Held<'_> {
    web_proto::Held {
        id: Cow::Borrowed(&held.client_id),
        conversation: conversation_text(held.conversation),
        user: held.other.as_ref().map(|user| user.as_str().into()),
        state: match held.state {
            chat::HeldState::Waiting => web_proto::HeldState::Waiting,
            chat::HeldState::Refused => web_proto::HeldState::Refused,
            chat::HeldState::Shadow => web_proto::HeldState::Kept,
        },
        body: Cow::Borrowed(&held.body),
        opaque: held.is_opaque(),
        time: held.time.0,
        reply_to: held.reply_to.map(|to| to.0),
        reason: Cow::Borrowed(&held.reason),
    }
}

pub(super) fn site_state(state: &chat::SiteState) -> web_proto::SiteState<'_> {
    web_proto::SiteState {
        access: state.access.to_wire(),
        text: Cow::Borrowed(&state.text),
        raid_until: state.raid_until.map(|until| until.0),
    }
}

pub(crate) fn filter_test(
    test: &chat::FilterTest,
) -> (Option<web_proto::FilterAct>, Vec<web_proto::FilterHit<'_>>) {
    let hit = |hit: &chat::Hit| web_proto::FilterHit {
        kind: hit.kind.to_wire(),
        what: hit.what.clone().into(),
        act: hit.act.to_wire(),
    };
    (test.act.map(ToWire::to_wire), test.hits.iter().map(hit).collect())
}

pub(super) fn command(command: Wire<'_>, site: SiteId) -> Result<Command, Code> {
    Ok(match command {
        Wire::Report { conversation, seq, user, reason, text, .. } => Command::Report {
            of: report_of(site, conversation, seq, user)?,
            reason: reason.to_chat(),
            text: text.unwrap_or_default().into_owned(),
        },
        Wire::Reports { state, after, limit, .. } => {
            Command::ListReports { state: state.map(ToChat::to_chat), page: page(after, limit) }
        }
        Wire::Moderate(moderate) => Command::Act(act(site, &moderate)?),
        Wire::Audit { after, limit, .. } => Command::ListAudit { page: page(after, limit) },
        Wire::Notices { seen, .. } => Command::Notices { seen },
        Wire::Settings { .. } => Command::Settings,
        Wire::Configure { patch, .. } => Command::Configure { patch },
        Wire::TestFilter { body, .. } => Command::TestFilter { body: body.into_owned() },
        not_of!(moderation) => unreachable!("another part decodes it"),
    })
}

/// The fields must name one message, one room or one user.
fn report_of(
    site: SiteId,
    conversation: Option<Cow<'_, str>>,
    seq: Option<u64>,
    user: Option<Cow<'_, str>>,
) -> Result<chat::ReportOf, Code> {
    let conversation = conversation.map(|id| conversation_id(site, &id)).transpose()?;
    match (conversation, seq, user) {
        (Some(id), Some(seq), None) => Ok(chat::ReportOf::Message(id, chat::Seq(seq).min(chat::Seq::MAX))),
        (Some(id), None, None) => Ok(chat::ReportOf::Room(id)),
        (None, None, Some(user)) => sub(&user).map(chat::ReportOf::User),
        _ => Err(Code::BadValue),
    }
}

/// Refuses an act without the fields that it needs.
pub(crate) fn act(site: SiteId, asked: &web_proto::Moderate<'_>) -> Result<chat::Moderate, Code> {
    use web_proto::ModeratorAct as Act;
    let conversation = asked.conversation.as_deref().map(|id| conversation_id(site, id)).transpose()?;
    let user = || sub(asked.user.as_deref().ok_or(Code::BadValue)?);
    let sanction = |kind| {
        let until = asked.until.map_or(Timestamp::MAX, Timestamp);
        let reason = asked.reason.as_deref().unwrap_or_default().to_owned();
        Ok(chat::Moderate::Sanction { user: user()?, room: conversation, kind, until, reason })
    };
    let lift = |kind| Ok(chat::Moderate::Lift { user: user()?, room: conversation, kind });
    let report = asked.report.ok_or(Code::BadValue);
    match asked.act {
        Act::Warn => sanction(SanctionKind::Warning),
        Act::Mute => sanction(SanctionKind::Mute),
        Act::Unmute => lift(SanctionKind::Mute),
        Act::Ban if asked.devices && conversation.is_none() => Ok(chat::Moderate::BanWithDevices {
            user: user()?,
            until: asked.until.map_or(Timestamp::MAX, Timestamp),
            reason: asked.reason.as_deref().unwrap_or_default().to_owned(),
        }),
        Act::Ban => sanction(SanctionKind::Ban),
        Act::ShadowBan => sanction(SanctionKind::Shadow),
        Act::LiftShadowBan => lift(SanctionKind::Shadow),
        Act::SetLevel => {
            Ok(chat::Moderate::SetLevel { user: user()?, level: asked.level.map(ToChat::to_chat) })
        }
        Act::Raid => Ok(chat::Moderate::Raid { until: Timestamp(asked.until.ok_or(Code::BadValue)?) }),
        Act::EndRaid => Ok(chat::Moderate::Raid { until: Timestamp(0) }),
        Act::Approve => Ok(chat::Moderate::Approve { report: report? }),
        Act::Refuse => {
            let reason = asked.reason.as_deref().unwrap_or_default().to_owned();
            Ok(chat::Moderate::RefuseHeld { report: report?, reason })
        }
        Act::Unban => lift(SanctionKind::Ban),
        Act::Kick => Ok(chat::Moderate::Kick { user: user()? }),
        Act::RemovePicture => Ok(chat::Moderate::RemovePicture { user: user()? }),
        Act::SetRole => {
            let role = asked.role.ok_or(Code::BadValue)?.to_chat();
            Ok(chat::Moderate::SetRole { user: user()?, role })
        }
        Act::Delete => {
            let (Some(conversation), Some(seq)) = (conversation, asked.seq) else {
                return Err(Code::BadValue);
            };
            Ok(chat::Moderate::DeleteMessage { conversation, seq: chat::Seq(seq) })
        }
        Act::TakeReport => Ok(chat::Moderate::TakeReport { report: report? }),
        Act::CloseReport => {
            let note = asked.reason.as_deref().unwrap_or_default().to_owned();
            Ok(chat::Moderate::CloseReport { report: report?, note })
        }
        Act::ReopenReport => Ok(chat::Moderate::ReopenReport { report: report? }),
    }
}
