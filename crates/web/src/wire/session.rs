//! The session itself: its beginning, its changes, its end, and refusals.

use std::borrow::Cow;

use chat::session::Event as Of;
use chat::sign_in::Command;
use chat::{ContactCard, Delivery, Refusal, Timestamp};
use web_proto::{Code, Command as Wire, Event};

use super::account::renamed;
use super::contacts::{card, is_shown, person};
use super::messages::{conversation, message};
use super::names::{conversation_text, parse_position, position_text};
use super::rooms::left;
use super::same::ToWire;
use super::{calls, moderation, number, rich};
use crate::files::Links;

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of, links: &Links) -> Event<'a> {
    match event {
        Of::Welcome(_) => unreachable!("written by `welcome`, in the outbox"),
        Of::Bye(refusal) => bye(*refusal),
        Of::ByeWith { refusal, until, reason } => Event::Bye {
            code: code(*refusal),
            text: refusal.to_string().into(),
            retry_after: None,
            until: until.map(|until| until.0),
            reason: Some(&**reason).filter(|reason| !reason.is_empty()).map(Cow::Borrowed),
        },
        Of::Refused(refusal) => error(*refusal, delivery.re, None),
        Of::SendRefused { client_id, refusal } => error(*refusal, None, Some(client_id)),
        Of::Changes(changes) => self::changes(number(delivery), changes, links),
        Of::TokenOk { expires } => Event::TokenOk { re: number(delivery), expires: expires.0 },
        Of::Behind => Event::Behind,
    }
}

fn changes<'a>(re: u64, changes: &'a chat::Changes, links: &Links) -> Event<'a> {
    Event::Changes {
        re,
        reset: changes.reset,
        conversations: changes.conversations.iter().map(|row| conversation(row, links)).collect(),
        messages: changes.messages.iter().map(|posted| message(posted, links)).collect(),
        updates: changes.updates.iter().map(|posted| message(posted, links)).collect(),
        gaps: changes.gaps.iter().map(gap).collect(),
        left: changes.left.iter().map(left).collect(),
        threads: changes.threads.iter().map(rich::thread_count).collect(),
        renamed: changes.renamed.iter().map(renamed).collect(),
        contacts: contacts(changes),
        contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
        conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
        position: position_text(changes.position),
    }
}

/// A difference also has the contacts that have ended. A first page has no groups: the widget shows none.
fn contacts(changes: &chat::Changes) -> Vec<web_proto::Contact<'_>> {
    match changes.reset {
        true => {
            let shown = changes.contacts.iter().filter(is_shown);
            shown.map(|one| card(ContactCard { groups: "", ..one })).collect()
        }
        false => changes.contacts.iter().map(card).collect(),
    }
}

/// The frame of a welcome.
pub(crate) fn welcome(
    welcome: &chat::Welcome,
    limits: web_proto::Limits,
    links: &Links,
    now: Timestamp,
) -> Vec<u8> {
    let changes = &welcome.changes;
    let welcome = web_proto::Welcome {
        session: format!("{:016x}", welcome.session.handle.0).into(),
        key: None,
        me: person(&welcome.me),
        presence: welcome.presence.to_wire(),
        guest_token: welcome.guest_token.as_deref().map(Cow::Borrowed),
        open: welcome.open,
        role: (welcome.role != chat::SiteRole::Member).then(|| welcome.role.to_wire()),
        calls: calls::callers(welcome.calls),
        site: (!welcome.site.is_usual()).then(|| moderation::site_state(&welcome.site)),
        limits,
        time: now.0,
        expires: welcome.expires.0,
        resumed: !changes.reset,
        conversations: changes.conversations.iter().map(|row| conversation(row, links)).collect(),
        messages: changes.messages.iter().map(|posted| message(posted, links)).collect(),
        updates: changes.updates.iter().map(|posted| message(posted, links)).collect(),
        gaps: changes.gaps.iter().map(gap).collect(),
        left: changes.left.iter().map(left).collect(),
        threads: changes.threads.iter().map(rich::thread_count).collect(),
        renamed: changes.renamed.iter().map(renamed).collect(),
        contacts: contacts(changes),
        contacts_next: changes.contacts_next.as_deref().map(Cow::Borrowed),
        conversations_next: changes.conversations_next.as_deref().map(Cow::Borrowed),
        position: position_text(changes.position),
    };
    let mut frame = Vec::with_capacity(WELCOME_BYTES + CONTACT_BYTES * welcome.contacts.len());
    Event::Welcome(Box::new(welcome)).write(&mut frame);
    frame
}

/// Room for a welcome and for each contact in it. Long names take more.
const WELCOME_BYTES: usize = 640;
const CONTACT_BYTES: usize = 96;

/// Adds the secret of the session, for transports whose commands come on other connections.
pub(crate) fn add_key(welcome: &mut Vec<u8>, key: &str) {
    let end = welcome.pop();
    debug_assert_eq!(end, Some(b'}'), "a frame is an object");
    // The letters of base64 need no escape.
    for part in [",\"key\":\"", key, "\"}"] {
        welcome.extend_from_slice(part.as_bytes());
    }
}

fn gap(gap: &chat::Gap) -> web_proto::Gap<'_> {
    web_proto::Gap {
        conversation: conversation_text(gap.conversation),
        first: gap.first.0,
        forget: gap.forget,
    }
}

pub(super) fn command(command: Wire<'_>) -> Result<Command, Code> {
    Ok(match command {
        Wire::Resume { position, .. } => Command::Resume { position: parse_position(&position) },
        Wire::Token { token, .. } => Command::RenewToken { token: token.into_owned() },
        not_of!(session) => unreachable!("another part decodes it"),
    })
}

pub(crate) fn error<'a>(refusal: Refusal, re: Option<u64>, id: Option<&'a str>) -> Event<'a> {
    Event::Error {
        code: code(refusal),
        text: refusal.to_string().into(),
        re,
        id: id.map(Cow::Borrowed),
        retry_after: retry_after(refusal),
    }
}

/// The last frame of a session that the domain ends.
fn bye(refusal: Refusal) -> Event<'static> {
    // With one advice, all sessions that end while the store is unavailable would come back at once. Without it, each client
    // waits for a random time.
    let advice = retry_after(refusal).filter(|_| refusal != Refusal::Unavailable);
    let (code, text) = (code(refusal), refusal.to_string().into());
    Event::Bye { code, text, retry_after: advice, until: None, reason: None }
}

/// The last frame of a session that the gateway ends.
pub(crate) fn own_bye(code: Code, text: &str, retry_after: Option<u64>) -> Event<'_> {
    Event::Bye { code, text: text.into(), retry_after, until: None, reason: None }
}

pub(crate) fn retry_after(refusal: Refusal) -> Option<u64> {
    match refusal {
        Refusal::RateLimited { retry_after_ms }
        | Refusal::GoingAway { retry_after_ms }
        | Refusal::Overloaded { retry_after_ms }
        | Refusal::SlowMode { retry_after_ms } => Some(retry_after_ms.into()),
        // A full disk or a lost database lasts minutes, not milliseconds.
        Refusal::Unavailable => Some(2_000),
        _ => None,
    }
}

/// The code of a refusal.
pub(crate) fn code(refusal: Refusal) -> Code {
    macro_rules! codes {
        ($($same:ident)+) => {
            match refusal {
                $(Refusal::$same { .. } => Code::$same,)+
                Refusal::Unavailable | Refusal::Overloaded { .. } => Code::Unavailable,
                // No command of the web is about items.
                Refusal::NoSuchItem | Refusal::ItemListDiffers | Refusal::TooManyItems => Code::NotAllowed,
            }
        };
    }
    codes! {
        NoSuchSite BadOrigin BadToken TokenExpired TokenUsed NoGuests Banned Replaced RateLimited Full
        NoSuchUser NoSuchConversation NotAllowed BadBody BadValue TooManyContacts NoSuchMessage
        TooManyReactions NotAMember RoomBanned Muted ReadOnly Frozen SlowMode RoomFull TooManyRooms
        LastOwner BadInvitation TooManyInvitations NoSuchCall InCall CallFull RoomTooLarge FirstContact
        RequestPending TooManyRequests TooManyReports NoSuchReport SiteReadOnly SiteClosed Kicked
        TooManyPinned PollClosed Filtered NoPush NoSuchFile NoSuchSticker FileTooLarge NoRoomForFile
        TooManyFiles TooManyAppPasswords Removed UserExists NoSuchDevice SignedOut KeyEnded TooNew Raid DeviceBanned NoSession
        GoingAway
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_field_like_others() {
        let mut frame = br#"{"t":"welcome","open":true}"#.to_vec();
        add_key(&mut frame, "aZ09-_");
        assert_eq!(frame, br#"{"t":"welcome","open":true,"key":"aZ09-_"}"#);
    }
}
