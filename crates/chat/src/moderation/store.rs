//! The slice of the port to storage for moderation. The promises of [`Store`](crate::Store) about queues,
//! order and crashes hold here too.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DeviceBan;
use crate::users::store::UserStore;
use crate::{
    By, ChangedMessage, ConversationId, Done, Held, Level, MemberChanged, Refusal, Revision, Seq, Settings,
    SiteId, SiteRole, StoreError, Sub, Timestamp, UserId, UserRow,
};

/// A slice of [`Store`](crate::Store). One conformance suite tests this contract against every
/// implementation.
pub trait ModerationStore: UserStore {
    /// Stores a report with the reported content as it is now, the messages around it and its earlier bodies
    /// (see [`ReportRow::former`]). The reporter must be able to read it. [`Refusal::NoSuchMessage`]: the
    /// message was deleted longer than [`EVIDENCE_MS`](super::EVIDENCE_MS) ago, or its author was erased. A
    /// repeated report by the same user answers the open one, with `false`.
    fn report(&self, report: NewReport, done: Done<Result<(ReportRow, bool), Refusal>>);
    /// Reports, newest first. `state` None: all.
    fn reports(
        &self,
        site: SiteId,
        asker: By,
        state: Option<ReportState>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<ReportsPage, Refusal>>,
    );
    /// Carries out the act if [`may_on_site`](super::may_on_site) allows it, and adds it to the record.
    fn moderate(
        &self,
        site: SiteId,
        by: By,
        act: ModeratorAct,
        now: Timestamp,
        done: Done<Result<Moderated, Refusal>>,
    );
    /// The record of moderators' acts, newest first.
    fn audit(
        &self,
        site: SiteId,
        asker: By,
        after: Option<String>,
        limit: u32,
        done: Done<Result<AuditPage, Refusal>>,
    );
    /// The users who get events about reports.
    fn moderators(&self, site: SiteId, done: Done<Vec<UserId>>);
    /// The user's sanctions on the whole site, and unseen warnings.
    fn notices(&self, user: UserId, done: Done<Vec<Notice>>);
    /// The user has seen the warnings.
    fn notices_seen(&self, user: UserId, done: Done<()>);
    /// Ends the sanctions that have expired. Also answers when the next one ends.
    fn end_sanctions(&self, now: Timestamp, done: Done<(Vec<Ended>, Option<Timestamp>)>);
    /// The banned devices of all sites.
    fn device_bans(&self, done: Done<Vec<DeviceBan>>);
    /// The number of messages that the user has written, counted up to `most`.
    fn written(&self, user: UserId, most: u32, done: Done<u32>);
    /// Raises the user's stored level. A level set by a moderator, or a higher one, stays. Answers the user's
    /// row after it.
    fn keep_level(&self, user: UserId, level: crate::Level, done: Done<Option<UserRow>>);
    /// All users whose standing on their site is not the default: few. May block.
    fn standings(&self) -> Result<Vec<UserRow>, StoreError>;
    /// The earliest end of a sanction. May block.
    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError>;
}

/// A new report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReport {
    /// [`UserId::nobody`]: a filter.
    pub by: UserId,
    pub about: ReportAbout,
    pub reason: ReportReason,
    pub text: Box<str>,
    pub time: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReportAbout {
    Message(ConversationId, Seq),
    User(UserId),
    Room(ConversationId),
    /// A message that a filter holds, hidden from other users.
    Held(ConversationId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReportReason {
    Spam,
    Abuse,
    Sexual,
    Violence,
    Fraud,
    Other,
    /// A filter has matched. Users cannot report with this reason.
    Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReportState {
    Open,
    /// A moderator works on it.
    Taken,
    Closed,
}

/// A report, as moderators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportRow {
    pub number: u64,
    pub state: ReportState,
    pub about: ReportAbout,
    /// The author of the message, or the reported user; None for a room.
    pub user: Option<Sub>,
    /// None: a filter.
    pub by: Option<Sub>,
    pub reason: ReportReason,
    pub text: Box<str>,
    /// The messages as they were at the time of the report.
    pub lines: Vec<ReportLine>,
    /// Earlier bodies of the reported message, oldest first: those replaced or deleted within
    /// [`EVIDENCE_MS`](super::EVIDENCE_MS).
    pub former: Vec<Revision>,
    pub time: Timestamp,
    /// The moderator who took or closed it.
    pub moderator: Option<Sub>,
    pub note: Box<str>,
}

/// The reported message or one near it, as it was at the time of the report.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportLine {
    pub seq: Seq,
    pub from: Sub,
    pub time: Timestamp,
    pub body: Box<str>,
}

impl std::fmt::Debug for ReportLine {
    /// Bodies stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("ReportLine");
        debug
            .field("seq", &self.seq)
            .field("from", &self.from)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportsPage {
    pub rows: Vec<ReportRow>,
    pub next: Option<String>,
}

/// An act of a moderator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModeratorAct {
    Sanction(Sanction),
    Lift {
        user: UserId,
        room: Option<ConversationId>,
        kind: SanctionKind,
    },
    /// In direct conversations and private rooms, only for reported messages.
    DeleteMessage(ConversationId, Seq),
    SetRole(UserId, SiteRole),
    /// Ends the user's current sessions.
    Kick(UserId),
    /// Removes the user's [own picture](crate::MemberPictures), and the item from which it comes.
    RemovePicture(UserId),
    TakeReport(u64),
    /// Closes a report. A message held with it is refused.
    CloseReport(u64, Box<str>),
    ReopenReport(u64),
    /// The message held with this report was sent.
    Approved(u64),
    /// Refuses the message held with this report; its author receives the reason.
    RefuseHeld(u64, Box<str>),
    /// Sets the level; None: computed from age and activity again.
    SetLevel(UserId, Option<Level>),
    BanDevices {
        user: UserId,
        devices: Vec<u64>,
        until: Timestamp,
    },
    /// A merge patch of the site's settings.
    Configure(Box<serde_json::Value>),
    /// Raid mode until this time; a past time ends it.
    Raid(Timestamp),
    /// A sticker was added or removed: only the record is left to write.
    StickerAdded(u64),
    StickerRemoved(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanction {
    pub user: UserId,
    /// None: the whole site.
    pub room: Option<ConversationId>,
    pub kind: SanctionKind,
    /// [`Timestamp::MAX`]: no end.
    pub until: Timestamp,
    /// Whether the user gets a notice.
    pub reason: Box<str>,
    /// False: the user gets no notice.
    pub notified: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SanctionKind {
    /// A notice, without any restriction.
    Warning,
    Mute,
    Ban,
    /// Shadow ban: other users do not see what the user writes, and the user gets no notice. On the whole
    /// site only.
    Shadow,
}

/// The result of an act, for the users to notify.
#[derive(Debug, Clone, Default)]
pub struct Moderated {
    /// The new row, if the act was about a user.
    pub user: Option<UserRow>,
    pub report: Option<ReportRow>,
    pub message: Option<ChangedMessage>,
    pub member: Option<MemberChanged>,
    /// The refused message.
    pub held: Option<Held>,
    /// The site's settings, if they changed.
    pub settings: Option<Box<Settings>>,
    /// The user's list of items that was emptied with the picture.
    pub picture: Option<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub number: u64,
    pub time: Timestamp,
    /// None: the site's own server or the operator.
    pub by: Option<Sub>,
    /// One word: `ban`, `lift_mute`, `delete`, …
    pub act: Arc<str>,
    pub user: Option<Sub>,
    pub conversation: Option<ConversationId>,
    /// Details: a reason, an end, a seq.
    pub detail: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    pub rows: Vec<AuditEntry>,
    pub next: Option<String>,
}

/// A notice to a user about themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    pub kind: NoticeKind,
    /// None: the whole site.
    pub room: Option<ConversationId>,
    /// None: no end, or the kind has none.
    pub until: Option<Timestamp>,
    pub reason: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NoticeKind {
    Warning,
    Mute,
    Ban,
    /// A mute has ended.
    Unmute,
}

/// A sanction that has ended.
#[derive(Debug, Clone)]
pub struct Ended {
    pub user: UserRow,
    pub room: Option<ConversationId>,
    pub kind: SanctionKind,
    /// Of a sanction in a room: the change for its member.
    pub member: Option<MemberChanged>,
}

/// The words of the record. Gateways and stores define the words of the wire and the codes on disk.
impl SanctionKind {
    pub fn word(self) -> &'static str {
        match self {
            SanctionKind::Warning => "warn",
            SanctionKind::Mute => "mute",
            SanctionKind::Ban => "ban",
            SanctionKind::Shadow => "shadow_ban",
        }
    }

    /// Whether it applies to the next user of the same id after an erasure: an erasure must not lift a ban.
    pub fn outlives_erasure(self) -> bool {
        match self {
            SanctionKind::Mute | SanctionKind::Ban | SanctionKind::Shadow => true,
            SanctionKind::Warning => false,
        }
    }

    /// The word of the record for lifting it.
    pub fn lifted(self) -> &'static str {
        match self {
            SanctionKind::Warning => "lift_warning",
            SanctionKind::Mute => "unmute",
            SanctionKind::Ban => "unban",
            SanctionKind::Shadow => "lift_shadow_ban",
        }
    }

    /// None: the user is not notified.
    pub fn notice(self) -> Option<NoticeKind> {
        match self {
            SanctionKind::Warning => Some(NoticeKind::Warning),
            SanctionKind::Mute => Some(NoticeKind::Mute),
            SanctionKind::Ban => Some(NoticeKind::Ban),
            SanctionKind::Shadow => None,
        }
    }
}

impl Sanction {
    /// Whether the user gets its notice at each sign-in. A ban from the whole site is the answer to the
    /// sign-in itself.
    pub fn is_noticed(&self) -> bool {
        match self.kind {
            SanctionKind::Warning | SanctionKind::Mute => self.notified,
            SanctionKind::Ban => self.notified && self.room.is_some(),
            SanctionKind::Shadow => false,
        }
    }

    /// The notice for the user, if any.
    pub fn notice(&self) -> Option<Notice> {
        if !self.notified {
            return None;
        }
        let has_end = self.kind != SanctionKind::Warning && self.until < Timestamp::MAX;
        Some(Notice {
            kind: self.kind.notice()?,
            room: self.room,
            until: has_end.then_some(self.until),
            reason: self.reason.clone(),
        })
    }
}
