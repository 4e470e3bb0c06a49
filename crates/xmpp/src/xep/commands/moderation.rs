//! Acts of moderators (XEP-0133): bans, mutes, the end of sessions, and reports.

use chat::moderation::{Command as ModerationCommand, Event as ModerationEvent};
use chat::{
    Delivery, Event, Moderate, PageOf, ReportReason, ReportRow, ReportState, SanctionKind, SiteRole, Sub,
    Timestamp,
};
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::commands::{Wrong, error};
use xmpp_proto::payload::data_forms::{Field, FieldKind, Form};
use xmpp_proto::stanza::{Condition, StanzaError};

use super::{Command, Run};
use crate::address::Target;
use crate::session::Turn;

/// XEP-0133 §3.
const ADMIN: &str = "http://jabber.org/protocol/admin";
const USERS: &str = "accountjids";
const REASON: &str = "reason";
const DAYS: &str = "days";
const REPORT: &str = "report";
const ACTION: &str = "action";

/// Users of one request.
const MOST_USERS: usize = 20;
/// Characters of a reported text in the list.
const SHOWN_CHARS: usize = 80;
const DAY_MS: u64 = 24 * 3_600_000;

pub(super) const BAN: Command = Command {
    node: "http://jabber.org/protocol/admin#disable-user",
    name: "Ban users",
    role: SiteRole::Moderator,
    show: show_sanction,
    submit: |turn, run, form| sanction(turn, run, form, SanctionKind::Ban),
};

pub(super) const UNBAN: Command = Command {
    node: "http://jabber.org/protocol/admin#reenable-user",
    name: "End bans of users",
    role: SiteRole::Moderator,
    show: show_users,
    submit: |turn, run, form| {
        act_on_users(turn, run, form, |user| Moderate::Lift { user, room: None, kind: SanctionKind::Ban })
    },
};

pub(super) const MUTE: Command = Command {
    node: "urn:kith:commands:mute",
    name: "Mute users",
    role: SiteRole::Moderator,
    show: show_sanction,
    submit: |turn, run, form| sanction(turn, run, form, SanctionKind::Mute),
};

pub(super) const UNMUTE: Command = Command {
    node: "urn:kith:commands:unmute",
    name: "End mutes of users",
    role: SiteRole::Moderator,
    show: show_users,
    submit: |turn, run, form| {
        act_on_users(turn, run, form, |user| Moderate::Lift { user, room: None, kind: SanctionKind::Mute })
    },
};

pub(super) const END_SESSIONS: Command = Command {
    node: "http://jabber.org/protocol/admin#end-user-session",
    name: "End sessions of users",
    role: SiteRole::Moderator,
    show: show_users,
    submit: |turn, run, form| act_on_users(turn, run, form, |user| Moderate::Kick { user }),
};

pub(super) const REPORTS: Command = Command {
    node: "urn:kith:commands:reports",
    name: "Reports",
    role: SiteRole::Moderator,
    show: show_reports,
    submit: act_on_report,
};

fn write_users(out: &mut Vec<u8>) {
    Field { kind: Some(FieldKind::JidMulti), label: Some("Addresses of users"), ..Field::new(USERS, &[]) }
        .write(out);
}

fn show_users(turn: &mut Turn<'_, '_>, run: Run) {
    run.form(turn, ADMIN, write_users);
}

fn show_sanction(turn: &mut Turn<'_, '_>, run: Run) {
    run.form(turn, ADMIN, |out| {
        write_users(out);
        let options = [("1", "One day"), ("7", "A week"), ("30", "30 days"), ("0", "No end")];
        let days =
            Field { kind: Some(FieldKind::ListSingle), label: Some("Until"), ..Field::new(DAYS, &["1"]) };
        Field { options: &options, ..days }.write(out);
        let label = Some("Reason, which the user reads");
        Field { kind: Some(FieldKind::TextSingle), label, ..Field::new(REASON, &[]) }.write(out);
    });
}

fn sanction(
    turn: &mut Turn<'_, '_>,
    run: Run,
    form: &Form<'_>,
    kind: SanctionKind,
) -> Result<(), StanzaError> {
    let until = until(form.value(DAYS), turn.now()).ok_or_else(|| error(Wrong::BadPayload))?;
    let reason = form.value(REASON).unwrap_or_default().to_owned();
    act_on_users(turn, run, form, move |user| Moderate::Sanction {
        user,
        room: None,
        kind,
        until,
        reason: reason.clone(),
    })
}

/// XEP-0133 has no time: without one, the act has no end.
fn until(days: Option<&str>, now: Timestamp) -> Option<Timestamp> {
    match days.map_or(Some(0), |days| days.parse::<u16>().ok())? {
        0 => Some(Timestamp::MAX),
        days => Some(Timestamp(now.0.saturating_add(u64::from(days) * DAY_MS))),
    }
}

fn act_on_users(
    turn: &mut Turn<'_, '_>,
    run: Run,
    form: &Form<'_>,
    act: impl Fn(Sub) -> Moderate + Send + 'static,
) -> Result<(), StanzaError> {
    let user = |text: &str| match Target::of(Some(&Jid::parse(text).ok()?), &turn.session.jid) {
        Target::User(user) => Some(user),
        _ => None,
    };
    let users: Option<Vec<Sub>> = form.values(USERS).iter().map(|text| user(text)).collect();
    let users = users.ok_or_else(|| StanzaError::new(Condition::ItemNotFound))?;
    if users.is_empty() || users.len() > MOST_USERS {
        return Err(error(Wrong::BadPayload));
    }
    let acts = users.into_iter().rev().map(act).collect();
    carry_out(turn, run, acts);
    Ok(())
}

/// The first refusal ends the run, and the acts before it stay.
fn carry_out(turn: &mut Turn<'_, '_>, run: Run, mut acts: Vec<Moderate>) {
    let Some(act) = acts.pop() else { return run.completed(turn, "Done.") };
    run.ask(turn, ModerationCommand::Act(act), move |turn, run, _| carry_out(turn, run, acts));
}

fn show_reports(turn: &mut Turn<'_, '_>, run: Run) {
    let page = PageOf { after: None, limit: None };
    let open = ModerationCommand::ListReports { state: Some(ReportState::Open), page };
    run.ask(turn, open, |turn, run, delivery| {
        let rows = reports(delivery);
        if rows.is_empty() {
            return run.completed(turn, "There are no open reports.");
        }
        let options: Vec<(String, String)> =
            rows.iter().map(|row| (row.number.to_string(), label(row))).collect();
        let options: Vec<(&str, &str)> =
            options.iter().map(|(value, label)| (value.as_str(), label.as_str())).collect();
        run.form(turn, ADMIN, |out| {
            let field =
                Field { kind: Some(FieldKind::ListSingle), label: Some("Report"), ..Field::new(REPORT, &[]) };
            Field { options: &options, ..field }.write(out);
            let actions = [("take", "I work on it"), ("close", "Close it")];
            let field = Field {
                kind: Some(FieldKind::ListSingle),
                label: Some("Action"),
                ..Field::new(ACTION, &["take"])
            };
            Field { options: &actions, ..field }.write(out);
            let label = Some("Note for moderators");
            Field { kind: Some(FieldKind::TextSingle), label, ..Field::new(REASON, &[]) }.write(out);
        });
    });
}

fn reports(delivery: &Delivery) -> &[ReportRow] {
    match &delivery.event {
        Event::Moderation(ModerationEvent::Reports { reports, .. }) => reports,
        _ => &[],
    }
}

/// One line: whom the report is about, why, and the reported text.
fn label(row: &ReportRow) -> String {
    let about = row.user.as_ref().map_or("a room", |user| user.as_str());
    let by = row.by.as_ref().map_or("a filter", |user| user.as_str());
    let seq = match row.about {
        chat::ReportAbout::Message(_, seq) => Some(seq),
        _ => None,
    };
    let line = row.lines.iter().find(|line| Some(line.seq) == seq);
    let quoted = line.map(|line| format!(": “{}”", shortened(&line.body))).unwrap_or_default();
    let text = match &*row.text {
        "" => String::new(),
        text => format!(" ({})", shortened(text)),
    };
    format!("{about}, {}, by {by}{text}{quoted}", word(row.reason))
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.chars().count() > SHOWN_CHARS || line.len() < text.len() {
        true => line.chars().take(SHOWN_CHARS).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

fn word(reason: ReportReason) -> &'static str {
    match reason {
        ReportReason::Spam => "spam",
        ReportReason::Abuse => "abuse",
        ReportReason::Sexual => "sexual content",
        ReportReason::Violence => "violence",
        ReportReason::Fraud => "fraud",
        ReportReason::Other => "another reason",
        ReportReason::Filter => "a match of a filter",
    }
}

fn act_on_report(turn: &mut Turn<'_, '_>, run: Run, form: &Form<'_>) -> Result<(), StanzaError> {
    let report = form.value(REPORT).and_then(|value| value.parse().ok());
    let report: u64 = report.ok_or_else(|| error(Wrong::BadPayload))?;
    let act = match form.value(ACTION) {
        Some("take") => Moderate::TakeReport { report },
        Some("close") => {
            Moderate::CloseReport { report, note: form.value(REASON).unwrap_or_default().to_owned() }
        }
        _ => return Err(error(Wrong::BadPayload)),
    };
    carry_out(turn, run, vec![act]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_in_days_and_missing_without_one() {
        let now = Timestamp(1_000);
        assert_eq!(until(Some("7"), now), Some(Timestamp(1_000 + 7 * DAY_MS)));
        assert_eq!((until(None, now), until(Some("0"), now)), (Some(Timestamp::MAX), Some(Timestamp::MAX)));
        for wrong in ["", "-1", "100000", "a week"] {
            assert_eq!(until(Some(wrong), now), None, "{wrong}");
        }
    }

    #[test]
    fn a_quotation_is_one_short_line() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened("one\ntwo"), "one…");
        assert_eq!(shortened(&"ü".repeat(100)).chars().count(), SHOWN_CHARS + 1);
    }
}
