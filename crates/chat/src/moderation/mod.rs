//! Moderation of a site: reports, sanctions, and the record of moderators' acts.
//!
//! The store checks each act in its transaction: it knows the roles of moderator and target at that place in
//! the order of commits. It writes the record in the same transaction.

mod acts;
mod command;
mod device_bans;
mod event;
mod held;
mod notices;
pub(crate) mod raid;
pub(crate) mod reports;
mod rest;
mod sanctions;
mod site_settings;
mod store;
mod trust;

use crate::observer::Observer;
use crate::session::{Completion, Sessions};
use crate::site::live::Sites;
use crate::stats::Counters;
use crate::users::Users;
use crate::{
    By, ChangedMessage, ConversationId, MemberChanged, NodeConfig, REASON_BYTES, Refusal, SiteId, SiteRole,
    Sub, Timestamp, UserId, UserRow,
};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use acts::{Moderate, until_and_reason};
pub use command::Command;
pub(crate) use device_bans::DeviceBans;
pub use device_bans::{DeviceBan, MOST_BANNED_DEVICES};
pub use event::Event;
pub use held::{Held, HeldState};
pub use reports::{
    EVIDENCE_AFTER_ERASURE_MS, ReportOf, kept_with_report, lines_around, may_decide_report, may_report,
};
pub use sanctions::{HeldSanction, standing_under};
pub use site_settings::{FilterTest, SiteState};
pub use store::{
    AuditEntry, AuditPage, Ended, Moderated, ModerationStore, ModeratorAct, NewReport, Notice, NoticeKind,
    ReportAbout, ReportLine, ReportReason, ReportRow, ReportState, ReportsPage, Sanction, SanctionKind,
};

/// Receives changes of rooms and messages by moderators' acts, which `Node` passes on to those parts.
pub(crate) trait ActObserver: Send + Sync + 'static {
    /// A member's state in a room has changed.
    fn member_changed(self: Arc<Self>, room: ConversationId, changed: MemberChanged);
    /// The role of a user on the site may have changed.
    fn site_role_changed(self: Arc<Self>, user: UserId, role: SiteRole);
    /// A message has changed. `by`: the author of the change.
    fn message_changed(self: Arc<Self>, by: Sub, changed: ChangedMessage);
    /// The own picture of this user was removed, with the items of this list.
    fn picture_removed(self: Arc<Self>, row: UserRow, list: Box<str>);
    /// Sends the held message of a report. `sent` is called once, perhaps on a thread of the store.
    fn send_held(self: Arc<Self>, site: SiteId, by: By, report: u64, now: Timestamp, sent: Sent);
}

/// Called once, perhaps on a thread of the store.
pub(crate) type Sent = Box<dyn FnOnce(Result<(), Refusal>) + Send>;

/// The standings of users, reports, and moderators' acts.
pub(crate) struct Moderation {
    /// No sanction ends before this time.
    next_end: AtomicU64,
    /// When the store was asked to end sanctions, if it has not answered; otherwise `u64::MAX`.
    asked_for_ends: AtomicU64,
    device_bans: DeviceBans,
    pub(crate) observer: Observer<dyn ActObserver>,
    sessions: Arc<Sessions>,
    users: Arc<Users>,
    sites: Arc<Sites>,
    store: Arc<dyn ModerationStore>,
    config: Arc<NodeConfig>,
    counters: Arc<Counters>,
}

impl Moderation {
    pub(crate) fn new(
        sessions: Arc<Sessions>,
        users: Arc<Users>,
        sites: Arc<Sites>,
        store: Arc<dyn ModerationStore>,
        config: Arc<NodeConfig>,
        counters: Arc<Counters>,
    ) -> Moderation {
        Moderation {
            next_end: AtomicU64::new(u64::MAX),
            asked_for_ends: AtomicU64::new(u64::MAX),
            device_bans: DeviceBans::default(),
            observer: Observer::new(),
            sessions,
            users,
            sites,
            store,
            config,
            counters,
        }
    }

    /// Whether the device is banned on the site now.
    pub(crate) fn has_device_ban(&self, site: SiteId, device: u64, now: Timestamp) -> bool {
        self.device_bans.has(site, device, now)
    }

    fn observe(&self, notify: impl FnOnce(Arc<dyn ActObserver>)) {
        if let Some(observer) = self.observer.get() {
            notify(observer);
        }
    }
}

impl Completion for Moderation {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

/// Messages before and after the reported one that are kept with a report.
pub const LINES_AROUND: u64 = 5;
/// Milliseconds. A report keeps the bodies that a message had within this time, and a deleted message can be
/// reported for as long. So an author cannot destroy evidence by editing or deleting at once.
pub const EVIDENCE_MS: u64 = 7 * 86_400_000;
/// Open reports of one user.
pub const MOST_OPEN_REPORTS: u32 = 20;

/// Whether a reason, note or text is valid: not too long, no NUL.
pub(crate) fn is_reason(text: &str) -> bool {
    text.len() <= REASON_BYTES && !text.contains('\0')
}
