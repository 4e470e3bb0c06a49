//! Refusals of the domain, as conditions of stanza and stream errors (RFC 6120 §8.3.3 and §4.9.3).

use chat::Refusal;
use xmpp_proto::stanza::{Condition, ErrorKind, StanzaError};
use xmpp_proto::stream::{StreamCondition, StreamError};

/// A refused stanza. The text is for people who read logs of a client; it never reveals more than the web's code does.
pub(crate) fn stanza_error(refusal: Refusal) -> StanzaError {
    let error = StanzaError::new(condition(refusal));
    let error = match refusal {
        // The client may try again later, whatever the condition usually means.
        Refusal::RateLimited { .. }
        | Refusal::SlowMode { .. }
        | Refusal::Frozen
        | Refusal::Raid
        | Refusal::Unavailable
        | Refusal::Overloaded { .. } => error.kind(ErrorKind::Wait),
        _ => error,
    };
    error.text(refusal.to_string())
}

fn condition(refusal: Refusal) -> Condition {
    match refusal {
        Refusal::NoSuchUser
        | Refusal::NoSuchConversation
        | Refusal::NoSuchMessage
        | Refusal::NoSuchReport
        | Refusal::NoSuchFile
        | Refusal::NoSuchSticker
        | Refusal::NoSuchDevice
        | Refusal::NoSuchCall
        | Refusal::NoSuchSite
        | Refusal::NoSuchItem
        | Refusal::BadInvitation => Condition::ItemNotFound,
        Refusal::BadBody | Refusal::BadValue => Condition::BadRequest,
        Refusal::NotAllowed
        | Refusal::FirstContact
        | Refusal::RequestPending
        | Refusal::InCall
        | Refusal::LastOwner
        | Refusal::PollClosed
        | Refusal::NoPush => Condition::NotAllowed,
        Refusal::Muted
        | Refusal::ReadOnly
        | Refusal::SiteReadOnly
        | Refusal::SiteClosed
        | Refusal::RoomBanned
        | Refusal::Banned
        | Refusal::DeviceBanned
        | Refusal::TooNew
        | Refusal::Kicked => Condition::Forbidden,
        Refusal::NotAMember => Condition::RegistrationRequired,
        Refusal::Filtered
        | Refusal::RateLimited { .. }
        | Refusal::SlowMode { .. }
        | Refusal::Frozen
        | Refusal::Raid
        | Refusal::TooManyRequests
        | Refusal::TooManyReports
        | Refusal::BadOrigin => Condition::PolicyViolation,
        Refusal::TooManyContacts
        | Refusal::TooManyAppPasswords
        | Refusal::TooManyItems
        | Refusal::TooManyReactions
        | Refusal::TooManyRooms
        | Refusal::TooManyInvitations
        | Refusal::TooManyPinned
        | Refusal::TooManyFiles
        | Refusal::FileTooLarge
        | Refusal::NoRoomForFile
        | Refusal::RoomFull
        | Refusal::RoomTooLarge
        | Refusal::CallFull
        | Refusal::Full
        | Refusal::Unavailable
        | Refusal::Overloaded { .. } => Condition::ResourceConstraint,
        Refusal::BadToken
        | Refusal::TokenExpired
        | Refusal::TokenUsed
        | Refusal::KeyEnded
        | Refusal::NoGuests
        | Refusal::SignedOut
        | Refusal::Removed
        | Refusal::NoSession => Condition::NotAuthorized,
        Refusal::Replaced | Refusal::UserExists | Refusal::ItemListDiffers => Condition::Conflict,
        Refusal::GoingAway { .. } => Condition::ServiceUnavailable,
    }
}

/// The end of a stream.
pub(crate) fn stream_error(refusal: Refusal) -> StreamError {
    StreamError::new(match refusal {
        Refusal::Replaced => StreamCondition::Conflict,
        Refusal::GoingAway { .. } => StreamCondition::SystemShutdown,
        Refusal::NoSuchSite => StreamCondition::HostUnknown,
        Refusal::Full | Refusal::Unavailable | Refusal::Overloaded { .. } | Refusal::RateLimited { .. } => {
            StreamCondition::ResourceConstraint
        }
        Refusal::Banned
        | Refusal::DeviceBanned
        | Refusal::Kicked
        | Refusal::SiteClosed
        | Refusal::Removed => StreamCondition::PolicyViolation,
        _ => StreamCondition::NotAuthorized,
    })
}
