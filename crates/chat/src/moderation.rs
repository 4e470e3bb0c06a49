//! Keeping order on a site: reports, what is done about them, and the record of who did what.
//!
//! Whatever decides is asked where it is committed: the store knows the role of who acts and of who is acted upon at that place
//! in the order of commits, and writes the record in the same transaction.

mod act;
mod device;
mod guard;
mod notice;
mod port;
mod report;
mod site_role;

pub use act::{Moderate, until_and_reason};
pub(crate) use act::{Then, shortened};
pub(crate) use device::DeviceBans;
pub use device::{DeviceBan, MOST_BANNED_DEVICES};
pub use guard::{FilterTest, SiteState};
pub use port::{
    AuditEntry, AuditPage, By, Ended, Moderated, ModerationStore, ModeratorAct, NewReport, Notice,
    NoticeKind, ReportAbout, ReportLine, ReportReason, ReportRow, ReportState, ReportsPage, Sanction,
    SanctionKind,
};
pub use report::{EVIDENCE_AFTER_ERASURE_MS, ReportOf, kept_with_report, may_decide_report};
pub(crate) use site_role::StandingHere;
pub use site_role::{RoleClaim, SiteAct, SiteRole, SiteStanding, may_on_site};

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
