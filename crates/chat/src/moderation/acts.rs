//! Acts of moderators: requested by a session or by the site's server, carried out by the store, and
//! published to the affected users.

use crate::moderation::Event;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::AnswerTo;
use crate::moderation::{
    AuditPage, Moderated, Moderation, ModeratorAct, Notice, NoticeKind, ReportRow, Sanction, SanctionKind,
    is_reason,
};
use crate::session::{Asker, Completion};
use crate::site::change::shortened;
use crate::store::unavailable;
use crate::{
    By, ConversationId, Done, Level, PageOf, Raid, Refusal, Seq, Settings, SettingsError, SiteId, SiteRole,
    Sub, Timestamp, UserId, UserRow,
};

/// Longest raid mode that a moderator may start, in milliseconds.
const LONGEST_RAID_MS: u64 = 7 * crate::site::trust::DAY_MS;

/// A requested act, with users by the site's ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moderate {
    Sanction {
        user: Sub,
        room: Option<ConversationId>,
        kind: SanctionKind,
        until: Timestamp,
        reason: String,
    },
    /// Bans the user from the whole site, with their current devices, and devices that they use later.
    BanWithDevices {
        user: Sub,
        until: Timestamp,
        reason: String,
    },
    Lift {
        user: Sub,
        room: Option<ConversationId>,
        kind: SanctionKind,
    },
    Kick {
        user: Sub,
    },
    RemovePicture {
        user: Sub,
    },
    SetRole {
        user: Sub,
        role: SiteRole,
    },
    DeleteMessage {
        conversation: ConversationId,
        seq: Seq,
    },
    TakeReport {
        report: u64,
    },
    CloseReport {
        report: u64,
        note: String,
    },
    ReopenReport {
        report: u64,
    },
    Approve {
        report: u64,
    },
    RefuseHeld {
        report: u64,
        reason: String,
    },
    /// None: computed from age and activity again.
    SetLevel {
        user: Sub,
        level: Option<Level>,
    },
    Configure {
        #[serde(with = "crate::serialize::json_text")]
        patch: Box<Value>,
    },
    /// A past time ends raid mode.
    Raid {
        until: Timestamp,
    },
}

impl Moderate {
    fn user(&self) -> Option<&Sub> {
        match self {
            Moderate::Sanction { user, .. }
            | Moderate::BanWithDevices { user, .. }
            | Moderate::Lift { user, .. }
            | Moderate::Kick { user }
            | Moderate::RemovePicture { user }
            | Moderate::SetRole { user, .. }
            | Moderate::SetLevel { user, .. } => Some(user),
            Moderate::DeleteMessage { .. }
            | Moderate::TakeReport { .. }
            | Moderate::CloseReport { .. }
            | Moderate::ReopenReport { .. }
            | Moderate::Approve { .. }
            | Moderate::RefuseHeld { .. }
            | Moderate::Configure { .. }
            | Moderate::Raid { .. } => None,
        }
    }

    fn check(&self, site: SiteId, now: Timestamp) -> Result<(), Refusal> {
        let is_sound = match self {
            Moderate::Sanction { room, kind, until, reason, .. } => {
                let has_end = *until > now && *until <= Timestamp::MAX;
                let has_place = *kind != SanctionKind::Shadow || room.is_none();
                is_reason(reason)
                    && (has_end || *kind == SanctionKind::Warning)
                    && has_place
                    && is_room(site, *room)
            }
            Moderate::BanWithDevices { until, reason, .. } => {
                is_reason(reason) && *until > now && *until <= Timestamp::MAX
            }
            Moderate::Lift { room, .. } => is_room(site, *room),
            Moderate::CloseReport { note, .. } => is_reason(note),
            Moderate::RefuseHeld { reason, .. } => is_reason(reason),
            Moderate::Raid { until } => until.since(now) <= LONGEST_RAID_MS,
            Moderate::DeleteMessage { conversation, .. } => conversation.site == site,
            Moderate::Kick { .. }
            | Moderate::RemovePicture { .. }
            | Moderate::SetRole { .. }
            | Moderate::TakeReport { .. }
            | Moderate::ReopenReport { .. }
            | Moderate::Approve { .. }
            | Moderate::SetLevel { .. }
            | Moderate::Configure { .. } => true,
        };
        if is_sound { Ok(()) } else { Err(Refusal::BadValue) }
    }

    /// `user`: the user found by the id in the act, if it has one.
    fn act(self, user: Option<&UserRow>) -> Option<ModeratorAct> {
        let user = user.map(|row| row.id);
        Some(match self {
            Moderate::Sanction { room, kind, until, reason, .. } => {
                let (user, reason) = (user?, reason.into());
                ModeratorAct::Sanction(Sanction {
                    user,
                    room,
                    kind,
                    until: until.min(Timestamp::MAX),
                    reason,
                    notified: true,
                })
            }
            Moderate::BanWithDevices { until, reason, .. } => ModeratorAct::Sanction(Sanction {
                user: user?,
                room: None,
                kind: SanctionKind::Ban,
                until,
                reason: reason.into(),
                notified: true,
            }),
            Moderate::Lift { room, kind, .. } => ModeratorAct::Lift { user: user?, room, kind },
            Moderate::SetLevel { level, .. } => ModeratorAct::SetLevel(user?, level),
            Moderate::Kick { .. } => ModeratorAct::Kick(user?),
            Moderate::RemovePicture { .. } => ModeratorAct::RemovePicture(user?),
            Moderate::SetRole { role, .. } => ModeratorAct::SetRole(user?, role),
            Moderate::DeleteMessage { conversation, seq } => {
                ModeratorAct::DeleteMessage(conversation, seq.min(Seq::MAX))
            }
            Moderate::TakeReport { report } => ModeratorAct::TakeReport(report),
            Moderate::CloseReport { report, note } => ModeratorAct::CloseReport(report, note.into()),
            Moderate::ReopenReport { report } => ModeratorAct::ReopenReport(report),
            Moderate::Approve { report } => ModeratorAct::Approved(report),
            Moderate::RefuseHeld { report, reason } => ModeratorAct::RefuseHeld(report, reason.into()),
            Moderate::Configure { patch } => ModeratorAct::Configure(patch),
            Moderate::Raid { until } => ModeratorAct::Raid(until),
        })
    }
}

fn is_room(site: SiteId, room: Option<ConversationId>) -> bool {
    room.is_none_or(|room| room.is_room() && room.site == site)
}

impl ModeratorAct {
    /// The entry in the record: a word, the affected user and conversation, and details. For stores.
    pub fn recorded(&self) -> (&'static str, Option<UserId>, Option<ConversationId>, String) {
        match self {
            ModeratorAct::Sanction(Sanction { user, room, kind, until, reason, notified: _ }) => {
                (kind.word(), Some(*user), *room, until_and_reason(*until, reason))
            }
            ModeratorAct::Lift { user, room, kind } => (kind.lifted(), Some(*user), *room, String::new()),
            ModeratorAct::Kick(user) => ("kick", Some(*user), None, String::new()),
            ModeratorAct::RemovePicture(user) => ("remove_picture", Some(*user), None, String::new()),
            ModeratorAct::SetRole(user, role) => ("set_role", Some(*user), None, role.word().to_owned()),
            ModeratorAct::DeleteMessage(id, seq) => ("delete", None, Some(*id), seq.0.to_string()),
            ModeratorAct::TakeReport(report) => ("take_report", None, None, report.to_string()),
            ModeratorAct::CloseReport(report, note) => {
                ("close_report", None, None, format!("{report} {note}").trim_end().to_owned())
            }
            ModeratorAct::ReopenReport(report) => ("reopen_report", None, None, report.to_string()),
            ModeratorAct::Approved(report) => ("approve", None, None, report.to_string()),
            ModeratorAct::RefuseHeld(report, reason) => {
                ("refuse", None, None, format!("{report} {reason}").trim_end().to_owned())
            }
            ModeratorAct::SetLevel(user, level) => {
                ("set_level", Some(*user), None, level.map_or("auto", Level::word).to_owned())
            }
            ModeratorAct::BanDevices { user, devices, .. } => {
                ("ban_devices", Some(*user), None, devices.len().to_string())
            }
            ModeratorAct::Configure(patch) => ("configure", None, None, shortened(patch.to_string())),
            ModeratorAct::Raid(Timestamp(0)) => ("end_raid", None, None, String::new()),
            ModeratorAct::StickerAdded(number) => ("add_sticker", None, None, format!("{number:x}")),
            ModeratorAct::StickerRemoved(number) => ("remove_sticker", None, None, format!("{number:x}")),
            ModeratorAct::Raid(until) => ("raid", None, None, format!("until {}", until.0)),
        }
    }

    /// The site's settings after the act, if it changes them. For stores.
    pub fn configured(&self, before: &Settings) -> Option<Result<Settings, SettingsError>> {
        match self {
            ModeratorAct::Configure(patch) => Some(before.patched(patch)),
            ModeratorAct::Raid(until) => {
                let raid = Raid { until: until.0, ..before.raid };
                Some(Ok(Settings { raid, ..before.clone() }))
            }
            _ => None,
        }
    }

    fn room(&self) -> Option<ConversationId> {
        match self {
            ModeratorAct::Sanction(Sanction { room, .. }) | ModeratorAct::Lift { room, .. } => *room,
            _ => None,
        }
    }

    /// The notice to the user, if the user's sessions continue.
    fn notice(&self) -> Option<Notice> {
        match self {
            ModeratorAct::Sanction(sanction)
                if sanction.kind != SanctionKind::Ban || sanction.room.is_some() =>
            {
                sanction.notice()
            }
            ModeratorAct::Lift { kind: SanctionKind::Mute, room, .. } => {
                Some(Notice { kind: NoticeKind::Unmute, room: *room, until: None, reason: "".into() })
            }
            _ => None,
        }
    }
}

/// The end and the reason of a sanction, as the record has them. For stores.
pub fn until_and_reason(until: Timestamp, reason: &str) -> String {
    let end = if until < Timestamp::MAX { format!("until {} ", until.0) } else { String::new() };
    format!("{end}{reason}").trim_end().to_owned()
}

/// Called once, perhaps on a thread of the store.
pub(crate) type Then = Box<dyn FnOnce(Result<Option<Box<ReportRow>>, Refusal>) + Send>;

impl Moderation {
    pub(crate) fn moderate(self: &Arc<Self>, asker: &Asker, re: u64, wanted: Moderate, now: Timestamp) {
        let (this, handle) = (self.clone(), asker.session.handle);
        let then = move |outcome| match outcome {
            Ok(report) => this.sessions.answer(handle, re, Event::Moderated(report)),
            Err(refusal) => this.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        };
        let by = By::User(asker.session.user);
        self.moderate_as(asker.site.site.id, by, Some(asker.sub.clone()), wanted, now, Box::new(then));
    }

    /// `name`: the moderator's, if a user acts.
    pub(crate) fn moderate_as(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        name: Option<Sub>,
        wanted: Moderate,
        now: Timestamp,
        then: Then,
    ) {
        if let Err(refusal) = wanted.check(site, now) {
            return then(Err(refusal));
        }
        if let Moderate::Approve { report } = wanted {
            return self.approve(site, by, name, report, now, then);
        }
        let with_devices = matches!(wanted, Moderate::BanWithDevices { .. });
        let user = wanted.user().cloned();
        let found = self.then::<Option<UserRow>>(move |this, row| {
            let act = row.map_err(unavailable).and_then(|row| {
                // None: the act names a user who does not exist.
                wanted.act(row.as_ref()).ok_or(Refusal::NoSuchUser)
            });
            match act {
                Ok(act) if with_devices => this.ban_with_devices(site, by, name, act, now, then),
                Ok(act) => this.do_act(site, by, name, act, now, then),
                Err(refusal) => then(Err(refusal)),
            }
        });
        match user {
            Some(sub) => self.store.user(site, sub, found),
            None => found(Ok(None)),
        }
    }

    /// A moderator approves a held message. It is sent first, and then the report is closed: a crash in
    /// between does not send it twice.
    fn approve(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        name: Option<Sub>,
        report: u64,
        now: Timestamp,
        then: Then,
    ) {
        let this = self.clone();
        let sent = move |sent: Result<(), Refusal>| match sent {
            Ok(()) => this.do_act(site, by, name, ModeratorAct::Approved(report), now, then),
            Err(refusal) => then(Err(refusal)),
        };
        self.observe(|observer| observer.send_held(site, by, report, now, Box::new(sent)));
    }

    /// Reads the devices first, while the sessions still exist.
    fn ban_with_devices(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        name: Option<Sub>,
        ban: ModeratorAct,
        now: Timestamp,
        then: Then,
    ) {
        let ModeratorAct::Sanction(Sanction { user, until, .. }) = ban else { return };
        let devices = ModeratorAct::BanDevices { user, devices: self.fingerprints_here(user), until };
        let this = self.clone();
        let and_the_user = move |outcome: Result<_, Refusal>| match outcome {
            Ok(_) => this.do_act(site, by, name, ban, now, then),
            Err(refusal) => then(Err(refusal)),
        };
        self.do_act(site, by, None, devices, now, Box::new(and_the_user));
    }

    /// Records an act whose effect is stored already.
    pub(crate) fn record(
        &self,
        site: SiteId,
        by: By,
        act: ModeratorAct,
        now: Timestamp,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let done: Done<Result<Moderated, Refusal>> =
            Box::new(move |outcome| then(outcome.map_err(unavailable).flatten().map(drop)));
        self.store.moderate(site, by, act, now, done);
    }

    pub(crate) fn do_act(
        self: &Arc<Self>,
        site: SiteId,
        by: By,
        name: Option<Sub>,
        act: ModeratorAct,
        now: Timestamp,
        then: Then,
    ) {
        let asked = act.clone();
        let done = self.then::<Result<Moderated, Refusal>>(move |this, outcome| {
            match outcome.map_err(unavailable).flatten() {
                Ok(moderated) => {
                    let report = moderated.report.clone().map(Box::new);
                    this.moderated(site, &asked, name, moderated);
                    then(Ok(report));
                }
                Err(refusal) => then(Err(refusal)),
            }
        });
        self.store.moderate(site, by, act, now, done);
    }

    /// After the commit: publishes the act to the affected users.
    fn moderated(self: &Arc<Self>, site: SiteId, act: &ModeratorAct, name: Option<Sub>, done: Moderated) {
        let Moderated { user, report, message, member, held, settings, picture } = done;
        if let Some(settings) = settings {
            self.settings_are(site, *settings);
        }
        if let Some(held) = held {
            self.sessions.publish_transient(held.from, None, crate::Event::held(Box::new(held)));
        }
        if let Some(row) = user {
            self.standing_changed(&row);
            if let Some(list) = picture {
                let row = row.clone();
                self.observe(|observer| observer.picture_removed(row, list));
            }
            if let ModeratorAct::Sanction(sanction) = act {
                self.ends_at(sanction.until);
            }
            match act.notice() {
                Some(notice) => {
                    self.sessions.publish_transient(row.id, None, Event::Notice(Box::new(notice)))
                }
                None if matches!(act, ModeratorAct::Kick(_)) => {
                    self.sessions.end_user(row.id, Refusal::Kicked)
                }
                None => {}
            }
        }
        if let (Some(room), Some(member)) = (act.room(), member) {
            self.observe(|observer| observer.member_changed(room, member));
        }
        if let Some(changed) = message {
            let by = name.unwrap_or_else(|| changed.message.from_sub.clone());
            self.observe(|observer| observer.message_changed(by, changed));
        }
        if let Some(report) = report {
            self.notify_moderators(site, report);
        }
        let is_of_devices = matches!(act, ModeratorAct::BanDevices { .. })
            || matches!(act, ModeratorAct::Lift { kind: SanctionKind::Ban, room: None, .. });
        if is_of_devices {
            self.read_device_bans();
        }
    }

    pub(crate) fn audit(self: &Arc<Self>, asker: &Asker, re: u64, page: PageOf) {
        let handle = asker.session.handle;
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, AuditPage { rows, next }| {
            this.sessions.answer(handle, re, Event::Audit { entries: rows, next });
        });
        let (site, limit) = (asker.site.site.id, self.sessions.page_limit(page.limit));
        self.store.audit(site, By::User(asker.session.user), page.after, limit, done);
    }
}
