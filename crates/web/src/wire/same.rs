//! Enums whose variants have the same names in the domain and on the wire.

/// The wire's form of a value of the domain.
pub(crate) trait ToWire {
    type Wire;
    fn to_wire(self) -> Self::Wire;
}

/// The domain's form of a value of the wire.
pub(crate) trait ToChat {
    type Chat;
    fn to_chat(self) -> Self::Chat;
}

/// Converts in both directions. A variant that one of the two does not have, or that is not listed, does not compile.
macro_rules! same_variants {
    ($($chat:ty, $wire:ty: $($variant:ident)+;)+) => {
        $(
            impl ToWire for $chat {
                type Wire = $wire;

                fn to_wire(self) -> $wire {
                    type Chat = $chat;
                    type Wire = $wire;
                    match self {
                        $(Chat::$variant => Wire::$variant,)+
                    }
                }
            }

            impl ToChat for $wire {
                type Chat = $chat;

                fn to_chat(self) -> $chat {
                    type Chat = $chat;
                    type Wire = $wire;
                    match self {
                        $(Wire::$variant => Chat::$variant,)+
                    }
                }
            }
        )+
    };
}

same_variants! {
    chat::Audience, web_proto::Audience: Everybody Contacts Nobody;
    chat::CallsFrom, web_proto::CallsFrom: Nobody Contacts Everyone;
    chat::ContactAction, web_proto::ContactAction: Request Accept Decline Remove Block Unblock;
    chat::ContactState, web_proto::ContactState: None RequestSent RequestReceived Contact Blocked;
    chat::FilterAct, web_proto::FilterAct: Flag Hold Reject;
    chat::HitKind, web_proto::FilterKind: Word Link Pattern Unreadable;
    chat::LeftReason, web_proto::LeftReason: Left Removed Banned Closed;
    chat::Level, web_proto::Level: New Basic Trusted;
    chat::Media, web_proto::Media: Audio Video;
    chat::NoticeKind, web_proto::NoticeKind: Warning Mute Ban Unmute;
    chat::Outcome, web_proto::CallOutcome: Ended Lost Declined Busy Cancelled Missed;
    chat::Presence, web_proto::Presence: Online Away Busy Offline Unknown;
    chat::ReportReason, web_proto::ReportReason: Spam Abuse Sexual Violence Fraud Other Filter;
    chat::ReportState, web_proto::ReportState: Open Taken Closed;
    chat::MessageRequest, web_proto::RequestState: Sent Received;
    chat::RequestAnswer, web_proto::RequestAnswer: Accept Dismiss;
    chat::Role, web_proto::Role: Owner Moderator Member Muted;
    chat::RoomKind, web_proto::RoomKind: Public Private Announcement;
    chat::SetPresence, web_proto::SetPresence: Online Away Busy Invisible;
    chat::SiteRole, web_proto::SiteRole: Member Moderator Admin;
    chat::settings::Access, web_proto::SiteAccess: Open ReadOnly Closed;
}
