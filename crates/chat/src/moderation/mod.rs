//! Keeping order on a site: reports, what is done about them, and the record of who did what.
//!
//! Whatever decides is asked where it is committed: the store knows the role of who acts and of who is acted upon at that place
//! in the order of commits, and writes the record in the same transaction.

mod acts;
mod device_bans;
mod notices;
mod port;
pub(crate) mod raid;
mod reports;
mod site_role;
mod site_settings;
pub(crate) mod trust;

pub use acts::{Moderate, until_and_reason};
pub(crate) use acts::{Then, shortened};
pub(crate) use device_bans::DeviceBans;
pub use device_bans::{DeviceBan, MOST_BANNED_DEVICES};
pub use port::{
    AuditEntry, AuditPage, By, Ended, Moderated, ModerationStore, ModeratorAct, NewReport, Notice,
    NoticeKind, ReportAbout, ReportLine, ReportReason, ReportRow, ReportState, ReportsPage, Sanction,
    SanctionKind,
};
pub use reports::{EVIDENCE_AFTER_ERASURE_MS, ReportOf, kept_with_report, may_decide_report};
pub(crate) use site_role::StandingHere;
pub use site_role::{RoleClaim, SiteAct, SiteRole, SiteStanding, may_on_site};
pub use site_settings::{FilterTest, SiteState};

/// Longest reason, note, or text of a report, in bytes.
pub const REASON_BYTES: usize = 1_000;
/// Messages before and after the reported one that are kept with a report.
pub const LINES_AROUND: u64 = 5;
/// Bodies that a message had within this time are kept with a report, and so long a deleted message can be reported: whoever edits or
/// deletes at once does not take the evidence away.
pub const EVIDENCE_MS: u64 = 7 * 86_400_000;
/// Reports of one user that may be open at a time.
pub const MOST_OPEN_REPORTS: u32 = 20;

/// Whether a reason, a note or a text may be kept: not too long, no NUL.
pub(crate) fn is_reason(text: &str) -> bool {
    text.len() <= REASON_BYTES && !text.contains('\0')
}
