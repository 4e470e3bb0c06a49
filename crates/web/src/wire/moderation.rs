//! Reports, notices and what moderators do, between the domain's words and those of the wire. REST speaks them too.

use std::borrow::Cow;

use chat::{SanctionKind, SiteId, Sub, Timestamp};
use web_proto::Code;

use super::{conversation_text, parse_conversation};

pub(crate) fn report(row: &chat::ReportRow) -> web_proto::Report<'_> {
    let (conversation, seq) = match row.about {
        chat::ReportAbout::Message(id, seq) => (Some(id), Some(seq.0)),
        chat::ReportAbout::Room(id) | chat::ReportAbout::Held(id) => (Some(id), None),
        chat::ReportAbout::User(_) => (None, None),
    };
    web_proto::Report {
        report: row.number,
        state: match row.state {
            chat::ReportState::Open => web_proto::ReportState::Open,
            chat::ReportState::Taken => web_proto::ReportState::Taken,
            chat::ReportState::Closed => web_proto::ReportState::Closed,
        },
        conversation: conversation.map(conversation_text),
        seq,
        user: row.user.as_ref().map(|user| user.as_str().into()),
        by: row.by.as_ref().map(|user| user.as_str().into()),
        held: matches!(row.about, chat::ReportAbout::Held(_)),
        reason: match row.reason {
            chat::ReportReason::Spam => web_proto::ReportReason::Spam,
            chat::ReportReason::Abuse => web_proto::ReportReason::Abuse,
            chat::ReportReason::Sexual => web_proto::ReportReason::Sexual,
            chat::ReportReason::Violence => web_proto::ReportReason::Violence,
            chat::ReportReason::Fraud => web_proto::ReportReason::Fraud,
            chat::ReportReason::Other => web_proto::ReportReason::Other,
            chat::ReportReason::Filter => web_proto::ReportReason::Filter,
        },
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
        kind: match notice.kind {
            chat::NoticeKind::Warning => web_proto::NoticeKind::Warning,
            chat::NoticeKind::Mute => web_proto::NoticeKind::Mute,
            chat::NoticeKind::Ban => web_proto::NoticeKind::Ban,
            chat::NoticeKind::Unmute => web_proto::NoticeKind::Unmute,
        },
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
        time: held.time.0,
        reply_to: held.reply_to.map(|to| to.0),
        reason: Cow::Borrowed(&held.reason),
    }
}

pub(super) fn site_state(state: &chat::SiteState) -> web_proto::SiteState<'_> {
    web_proto::SiteState {
        access: match state.access {
            chat::settings::Access::Open => web_proto::SiteAccess::Open,
            chat::settings::Access::ReadOnly => web_proto::SiteAccess::ReadOnly,
            chat::settings::Access::Closed => web_proto::SiteAccess::Closed,
        },
        text: Cow::Borrowed(&state.text),
        raid_until: state.raid_until.map(|until| until.0),
    }
}

pub(crate) fn filter_test(
    test: &chat::FilterTest,
) -> (Option<web_proto::FilterAct>, Vec<web_proto::FilterHit<'_>>) {
    let act = |act| match act {
        chat::FilterAct::Flag => web_proto::FilterAct::Flag,
        chat::FilterAct::Hold => web_proto::FilterAct::Hold,
        chat::FilterAct::Reject => web_proto::FilterAct::Reject,
    };
    let hit = |hit: &chat::Hit| web_proto::FilterHit {
        kind: match hit.kind {
            chat::HitKind::Word => web_proto::FilterKind::Word,
            chat::HitKind::Link => web_proto::FilterKind::Link,
            chat::HitKind::Pattern => web_proto::FilterKind::Pattern,
            chat::HitKind::Unreadable => web_proto::FilterKind::Unreadable,
        },
        what: hit.what.clone().into(),
        act: act(hit.act),
    };
    (test.act.map(act), test.hits.iter().map(hit).collect())
}

pub(super) fn site_role(role: chat::SiteRole) -> web_proto::SiteRole {
    match role {
        chat::SiteRole::Member => web_proto::SiteRole::Member,
        chat::SiteRole::Moderator => web_proto::SiteRole::Moderator,
        chat::SiteRole::Admin => web_proto::SiteRole::Admin,
    }
}

/// Exactly one thing must be named.
pub(super) fn report_of(
    site: SiteId,
    conversation: Option<Cow<'_, str>>,
    seq: Option<u64>,
    user: Option<Cow<'_, str>>,
) -> Result<chat::ReportOf, Code> {
    let conversation =
        conversation.map(|id| parse_conversation(site, &id).ok_or(Code::NoSuchConversation)).transpose()?;
    match (conversation, seq, user) {
        (Some(id), Some(seq), None) => Ok(chat::ReportOf::Message(id, chat::Seq(seq).min(chat::Seq::MAX))),
        (Some(id), None, None) => Ok(chat::ReportOf::Room(id)),
        (None, None, Some(user)) => Sub::parse(&user).map(chat::ReportOf::User).ok_or(Code::NoSuchUser),
        _ => Err(Code::BadValue),
    }
}

pub(super) fn reason(reason: web_proto::ReportReason) -> chat::ReportReason {
    match reason {
        web_proto::ReportReason::Spam => chat::ReportReason::Spam,
        web_proto::ReportReason::Abuse => chat::ReportReason::Abuse,
        web_proto::ReportReason::Sexual => chat::ReportReason::Sexual,
        web_proto::ReportReason::Violence => chat::ReportReason::Violence,
        web_proto::ReportReason::Fraud => chat::ReportReason::Fraud,
        web_proto::ReportReason::Other => chat::ReportReason::Other,
        web_proto::ReportReason::Filter => chat::ReportReason::Filter,
    }
}

pub(crate) fn state(state: web_proto::ReportState) -> chat::ReportState {
    match state {
        web_proto::ReportState::Open => chat::ReportState::Open,
        web_proto::ReportState::Taken => chat::ReportState::Taken,
        web_proto::ReportState::Closed => chat::ReportState::Closed,
    }
}

/// The fields that an act needs must be there.
pub(crate) fn act(site: SiteId, asked: &web_proto::Moderate<'_>) -> Result<chat::Moderate, Code> {
    use web_proto::ModeratorAct as Act;
    let conversation = asked.conversation.as_deref();
    let conversation = conversation.map(|id| parse_conversation(site, id).ok_or(Code::NoSuchConversation));
    let conversation = conversation.transpose()?;
    let user = || {
        let user = asked.user.as_deref().ok_or(Code::BadValue)?;
        Sub::parse(user).ok_or(Code::NoSuchUser)
    };
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
        Act::SetLevel => Ok(chat::Moderate::SetLevel { user: user()?, level: asked.level.map(level) }),
        Act::Raid => Ok(chat::Moderate::Raid { until: Timestamp(asked.until.ok_or(Code::BadValue)?) }),
        Act::EndRaid => Ok(chat::Moderate::Raid { until: Timestamp(0) }),
        Act::Approve => Ok(chat::Moderate::Approve { report: report? }),
        Act::Refuse => {
            let reason = asked.reason.as_deref().unwrap_or_default().to_owned();
            Ok(chat::Moderate::RefuseHeld { report: report?, reason })
        }
        Act::Unban => lift(SanctionKind::Ban),
        Act::Kick => Ok(chat::Moderate::Kick { user: user()? }),
        Act::SetRole => {
            let role = match asked.role.ok_or(Code::BadValue)? {
                web_proto::SiteRole::Member => chat::SiteRole::Member,
                web_proto::SiteRole::Moderator => chat::SiteRole::Moderator,
                web_proto::SiteRole::Admin => chat::SiteRole::Admin,
            };
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

fn level(level: web_proto::Level) -> chat::Level {
    match level {
        web_proto::Level::New => chat::Level::New,
        web_proto::Level::Basic => chat::Level::Basic,
        web_proto::Level::Trusted => chat::Level::Trusted,
    }
}
