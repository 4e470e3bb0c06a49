//! The part of the port to storage that is about order on a site. What [`Store`](crate::Store) promises of queues, order and crashes
//! holds here too.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::DeviceBan;
use crate::users::store::UserStore;
use crate::{
    By, ChangedMessage, ConversationId, Done, Held, Level, MemberChanged, Refusal, Revision, Seq, Settings,
    SiteId, SiteRole, StoreError, Sub, Timestamp, UserId, UserRow,
};

/// See [`Store`](crate::Store), of which it is a part. One conformance suite holds every implementation to what is written here.
pub trait ModerationStore: UserStore {
    /// Keeps what was reported as it is now, with the messages around it and what it said before (see [`ReportRow::former`]). Who reports
    /// must be able to read it. A message that was deleted longer than [`EVIDENCE_MS`](super::EVIDENCE_MS) ago is
    /// [`Refusal::NoSuchMessage`], and so is one whose author was erased. The same by the same user
    /// while it is open answers the one that is there, with `false`.
    fn report(&self, report: NewReport, done: Done<Result<(ReportRow, bool), Refusal>>);
    /// Newest first. `state` None: all.
    fn reports(
        &self,
        site: SiteId,
        asker: By,
        state: Option<ReportState>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<ReportsPage, Refusal>>,
    );
    /// Does it where [`may_on_site`](super::may_on_site) allows it, and writes it down.
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
    /// Takes back what has ended by now. Also answers when the next one ends.
    fn end_sanctions(&self, now: Timestamp, done: Done<(Vec<Ended>, Option<Timestamp>)>);
    /// All that may not come in, of all sites.
    fn device_bans(&self, done: Done<Vec<DeviceBan>>);
    /// How many messages the user has written, counted up to `most`.
    fn written(&self, user: UserId, most: u32, done: Done<u32>);
    /// The user has reached this level; one that is set, or higher, stays. Answers the user as they are then.
    fn keep_level(&self, user: UserId, level: crate::Level, done: Done<Option<UserRow>>);
    /// All users whose standing on their site differs from that of others: few. It may block.
    fn standings(&self) -> Result<Vec<UserRow>, StoreError>;
    /// When the next sanction ends that has an end. It may block.
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
    /// A message that a filter holds, and nobody else sees.
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
    /// A filter has found it. Nobody reports it so.
    Filter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReportState {
    Open,
    /// Somebody looks after it.
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
    /// As they were then.
    pub lines: Vec<ReportLine>,
    /// Former bodies of the reported message, oldest first: those replaced or deleted within
    /// [`EVIDENCE_MS`](super::EVIDENCE_MS).
    pub former: Vec<Revision>,
    pub time: Timestamp,
    /// The moderator who took or closed it.
    pub moderator: Option<Sub>,
    pub note: Box<str>,
}

/// A message as it was when it was reported, or one near it.
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
    /// In a direct conversation or a private room only a message that was reported.
    DeleteMessage(ConversationId, Seq),
    SetRole(UserId, SiteRole),
    /// Ends the sessions of now.
    Kick(UserId),
    TakeReport(u64),
    /// A message that is held with it is refused.
    CloseReport(u64, Box<str>),
    ReopenReport(u64),
    /// The message that was held with this report was sent.
    Approved(u64),
    /// The message that is held with this report is refused; its sender is told why.
    RefuseHeld(u64, Box<str>),
    /// None: by age and activity again.
    SetLevel(UserId, Option<Level>),
    BanDevices {
        user: UserId,
        devices: Vec<u64>,
        until: Timestamp,
    },
    /// A merge patch of the site's settings.
    Configure(Box<serde_json::Value>),
    /// Until then; in the past: it is over.
    Raid(Timestamp),
    /// A sticker of the site was added, or removed: nothing is left to do but to record it.
    StickerAdded(u64),
    StickerRemoved(u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sanction {
    pub user: UserId,
    /// None: on the whole site.
    pub room: Option<ConversationId>,
    pub kind: SanctionKind,
    /// [`Timestamp::MAX`]: no end.
    pub until: Timestamp,
    /// Whether the user gets a notice.
    pub reason: Box<str>,
    /// False: the user gets no notice of it.
    pub told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SanctionKind {
    /// Told once; nothing is taken away.
    Warning,
    Mute,
    Ban,
    /// Shadow ban: nobody else sees what the user writes, and the user gets no notice. On the whole site only.
    Shadow,
}

/// The result of an act, for the users to notify.
#[derive(Debug, Clone, Default)]
pub struct Moderated {
    /// The user as they are now, where it was about one.
    pub user: Option<UserRow>,
    pub report: Option<ReportRow>,
    pub message: Option<ChangedMessage>,
    pub member: Option<MemberChanged>,
    /// One that was refused.
    pub held: Option<Held>,
    /// Of the site, where they changed.
    pub settings: Option<Box<Settings>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub number: u64,
    pub time: Timestamp,
    /// None: the site's own server or the operator.
    pub by: Option<Sub>,
    /// A word: `ban`, `lift_mute`, `delete`, …
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
    /// None: on the whole site.
    pub room: Option<ConversationId>,
    /// None: there is no end, or nothing that could end.
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
    /// In a room: what its member hears.
    pub member: Option<MemberChanged>,
}

/// Codes of rows on disk, and words on the wire, are the border's; words of the record are these.
impl SanctionKind {
    pub fn word(self) -> &'static str {
        match self {
            SanctionKind::Warning => "warn",
            SanctionKind::Mute => "mute",
            SanctionKind::Ban => "ban",
            SanctionKind::Shadow => "shadow_ban",
        }
    }

    /// Whether it holds for the next user of the same id once its user was erased: to be erased is no way out of a ban.
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

    /// None: they are not told.
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
    /// The user gets its notice at each sign-in. A ban of the whole site is the answer to the sign-in itself.
    pub fn is_noticed(&self) -> bool {
        match self.kind {
            SanctionKind::Warning | SanctionKind::Mute => self.told,
            SanctionKind::Ban => self.told && self.room.is_some(),
            SanctionKind::Shadow => false,
        }
    }

    /// The notice for the user, if any.
    pub fn notice(&self) -> Option<Notice> {
        if !self.told {
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
