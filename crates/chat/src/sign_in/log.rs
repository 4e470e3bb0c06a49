//! A record of each sign-in and of each refused token, for operators who monitor them.
//!
//! A record never contains a token: [`SignInRecord`] has no field for one.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::OnceLock;

use crate::site::live::Sites;
use crate::{Refusal, SiteId, Timestamp};

/// Writes records. Called on any thread; must not block.
pub trait SignInLog: Send + Sync + 'static {
    fn record(&self, record: &SignInRecord<'_>);
}

/// One sign-in or one refused token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInRecord<'a> {
    pub time: Timestamp,
    pub door: Door,
    /// The key of a site of this node; None if the client named no such site.
    pub site: Option<&'a str>,
    /// The user of a token with a valid signature; None before it was verified.
    pub user: Option<&'a str>,
    /// The client's address, as the gateway knows it.
    pub address: Option<IpAddr>,
    pub outcome: SignInOutcome,
}

/// The entry point at which a token was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    Hello,
    /// A newer token within a session.
    Renewal,
    Rest,
    Files,
    Ice,
    Metrics,
    /// An app password, at another gateway than the web's.
    AppPassword,
    /// A user of another XMPP server.
    Server,
}

/// The records of sign-ins, once the node has a log.
pub(crate) struct SignInRecords {
    log: OnceLock<Arc<dyn SignInLog>>,
    sites: Arc<Sites>,
}

impl SignInRecords {
    #[allow(clippy::too_many_arguments, reason = "one for each part that it depends on")]
    pub(crate) fn new(sites: Arc<Sites>) -> SignInRecords {
        SignInRecords { log: OnceLock::new(), sites }
    }
}

impl SignInRecords {
    /// Records sign-ins from now on.
    pub(crate) fn begin(&self, log: Arc<dyn SignInLog>) {
        // Set once, in the wiring.
        let _ = self.log.set(log);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.log.get().is_some()
    }
}

impl Door {
    pub fn word(self) -> &'static str {
        match self {
            Door::Hello => "hello",
            Door::Renewal => "renewal",
            Door::Rest => "rest",
            Door::Files => "files",
            Door::Ice => "ice",
            Door::Metrics => "metrics",
            Door::AppPassword => "app_password",
            Door::Server => "server",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInOutcome {
    Accepted,
    /// Refused because of the token, the page, the user or the site.
    Refused(Refusal),
    /// Refused because of the node's load or limits: the client did nothing wrong.
    Deferred(Refusal),
}

impl SignInOutcome {
    /// None: the refusal concerns a command, not a token.
    pub fn of(refusal: Refusal) -> Option<SignInOutcome> {
        match refusal {
            Refusal::NoSuchSite
            | Refusal::BadOrigin
            | Refusal::BadToken
            | Refusal::TokenExpired
            | Refusal::KeyEnded
            | Refusal::TokenUsed
            | Refusal::NoGuests
            | Refusal::Banned
            | Refusal::DeviceBanned
            | Refusal::NoSuchUser
            | Refusal::NotAllowed
            | Refusal::NoSession
            | Refusal::SignedOut
            | Refusal::Removed
            | Refusal::SiteClosed => Some(SignInOutcome::Refused(refusal)),
            Refusal::RateLimited { .. }
            | Refusal::Full
            | Refusal::Unavailable
            | Refusal::Overloaded { .. }
            | Refusal::GoingAway { .. } => Some(SignInOutcome::Deferred(refusal)),
            Refusal::Replaced
            | Refusal::NoSuchConversation
            | Refusal::BadBody
            | Refusal::BadValue
            | Refusal::TooManyContacts
            | Refusal::NoSuchMessage
            | Refusal::TooManyReactions
            | Refusal::NotAMember
            | Refusal::RoomBanned
            | Refusal::Muted
            | Refusal::ReadOnly
            | Refusal::Frozen
            | Refusal::SlowMode { .. }
            | Refusal::RoomFull
            | Refusal::TooManyRooms
            | Refusal::BadInvitation
            | Refusal::TooManyInvitations
            | Refusal::LastOwner
            | Refusal::NoSuchCall
            | Refusal::InCall
            | Refusal::CallFull
            | Refusal::RoomTooLarge
            | Refusal::FirstContact
            | Refusal::RequestPending
            | Refusal::TooManyRequests
            | Refusal::TooManyReports
            | Refusal::NoSuchReport
            | Refusal::SiteReadOnly
            | Refusal::Kicked
            | Refusal::TooManyPinned
            | Refusal::PollClosed
            | Refusal::Filtered
            | Refusal::TooNew
            | Refusal::Raid
            | Refusal::NoPush
            | Refusal::NoSuchFile
            | Refusal::FileTooLarge
            | Refusal::NoRoomForFile
            | Refusal::TooManyFiles
            | Refusal::NoSuchSticker
            | Refusal::UserExists
            | Refusal::NoSuchDevice
            | Refusal::TooManyAppPasswords
            | Refusal::NoSuchItem
            | Refusal::ItemListDiffers
            | Refusal::TooManyItems => None,
        }
    }
}

/// A token shown at an entry point, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignInAttempt<'a> {
    pub(crate) door: Door,
    pub(crate) site: Option<&'a str>,
    pub(crate) user: Option<&'a str>,
    pub(crate) address: Option<IpAddr>,
}

impl SignInRecords {
    pub(crate) fn record_sign_in(&self, shown: SignInAttempt<'_>, now: Timestamp) {
        self.record(shown, SignInOutcome::Accepted, now);
    }

    pub(crate) fn record_refused(&self, shown: SignInAttempt<'_>, refusal: Refusal, now: Timestamp) {
        if let Some(outcome) = SignInOutcome::of(refusal) {
            self.record(shown, outcome, now);
        }
    }

    /// Like [`record_refused`](Self::record_refused), if only the id of the site is known.
    pub(crate) fn record_refused_at(
        &self,
        site: SiteId,
        shown: SignInAttempt<'_>,
        refusal: Refusal,
        now: Timestamp,
    ) {
        if self.log.get().is_some() {
            let live = self.sites.by_id(site);
            let site = live.as_ref().map(|live| &*live.site.key);
            self.record_refused(SignInAttempt { site, ..shown }, refusal, now);
        }
    }

    fn record(&self, shown: SignInAttempt<'_>, outcome: SignInOutcome, time: Timestamp) {
        if let Some(log) = self.log.get() {
            let SignInAttempt { door, site, user, address } = shown;
            log.record(&SignInRecord { time, door, site, user, address, outcome });
        }
    }
}
