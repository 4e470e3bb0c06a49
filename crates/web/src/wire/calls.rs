//! Calls of two users.

use std::borrow::Cow;

use chat::calls::{Command, Event as Of};
use chat::{CallId, CallStep, CallTicket, Delivery, SiteId};
use web_proto::{CallAction, CallNews, Code, Command as Wire, Event, IceServer};

use super::same::{ToChat, ToWire};
use super::{conversation_id, group_calls, sub};

pub(super) fn event<'a>(delivery: &'a Delivery, event: &'a Of) -> Event<'a> {
    match event {
        Of::Call(event) => Event::Call {
            re: delivery.re,
            call: event.call.to_string().into(),
            news: news(&event.news),
            ice: event.ice.as_ref().map(servers).unwrap_or_default(),
        },
        Of::GroupCall(event) => group_calls::event(delivery.re, event),
        Of::Servers(_) => unreachable!("no command of a web client asks for it"),
    }
}

fn news(news: &chat::CallNews) -> CallNews<'_> {
    match news {
        chat::CallNews::Calling { user, media, ticket } => CallNews::Calling {
            user: user.as_str().into(),
            media: media.to_wire(),
            ticket: ticket.text().into(),
        },
        chat::CallNews::Ring { from, media, offer, glare } => CallNews::Ring {
            user: from.as_str().into(),
            media: media.to_wire(),
            sdp: Cow::Borrowed(offer),
            glare: *glare,
        },
        chat::CallNews::Joined { ticket } => CallNews::Joined { ticket: ticket.text().into() },
        chat::CallNews::Accepted { answer } => CallNews::Accepted { sdp: Cow::Borrowed(answer) },
        chat::CallNews::Elsewhere => CallNews::Elsewhere,
        chat::CallNews::Offer(sdp) => CallNews::Offer { sdp: Cow::Borrowed(sdp) },
        chat::CallNews::Answer(sdp) => CallNews::Answer { sdp: Cow::Borrowed(sdp) },
        chat::CallNews::Candidate(candidate) => CallNews::Candidate { candidate: Cow::Borrowed(candidate) },
        chat::CallNews::Hold(on) => CallNews::Hold { on: *on },
        chat::CallNews::Away => CallNews::Away,
        chat::CallNews::Back { offer } => CallNews::Back { sdp: Cow::Borrowed(offer) },
        chat::CallNews::Rejoined { media, hold, away, ms } => {
            CallNews::Rejoined { media: media.to_wire(), hold: *hold, away: *away, ms: *ms }
        }
        chat::CallNews::Done => CallNews::Done,
        chat::CallNews::Over { outcome, ms } => CallNews::Over { outcome: outcome.to_wire(), ms: *ms },
    }
}

/// The entry of a finished call, from the id of its message.
pub(super) fn entry(message: &chat::Message) -> Option<web_proto::CallEntry> {
    let chat::CallEntry { media, outcome, ms, .. } = chat::CallEntry::of(message)?;
    Some(web_proto::CallEntry { media: media.to_wire(), outcome: outcome.to_wire(), ms })
}

/// In `welcome`, which leaves out the default.
pub(super) fn callers(from: chat::CallsFrom) -> Option<web_proto::CallsFrom> {
    (from != chat::CallsFrom::Contacts).then(|| from.to_wire())
}

/// The servers as browsers take them: each with its own credentials.
pub(crate) fn servers(ice: &chat::Ice) -> Vec<IceServer<'_>> {
    let stun = (!ice.stun.is_empty()).then(|| IceServer {
        urls: named(&ice.stun),
        username: None,
        credential: None,
    });
    let usable = ice.turn.as_ref().filter(|turn| !turn.urls.is_empty());
    let turn = usable.map(|turn| IceServer {
        urls: named(&turn.urls),
        username: Some(Cow::Borrowed(&turn.username)),
        credential: Some(Cow::Borrowed(&turn.credential)),
    });
    stun.into_iter().chain(turn).collect()
}

fn named(urls: &[Box<str>]) -> Vec<Cow<'_, str>> {
    urls.iter().map(|url| Cow::Borrowed(&**url)).collect()
}

pub(super) fn command(command: Wire<'_>, site: SiteId) -> Result<Command, Code> {
    Ok(match command {
        Wire::Call { action, .. } => Command::Direct { action: self::action(action)? },
        Wire::GroupCall { conversation, action, .. } => Command::Group {
            conversation: conversation_id(site, &conversation)?,
            action: group_calls::action(action),
        },
        not_of!(calls) => unreachable!("another part decodes it"),
    })
}

/// An impossible call id is that of no call.
fn action(action: CallAction<'_>) -> Result<chat::CallAction, Code> {
    let (call, step) = match action {
        CallAction::Invite { user, media, sdp } => {
            let media = media.to_chat();
            return Ok(chat::CallAction::Invite { user: sub(&user)?, media, offer: sdp.into() });
        }
        CallAction::Accept { call, sdp } => (call, CallStep::Accept { answer: sdp.into() }),
        CallAction::Decline { call, busy } => (call, CallStep::Decline { busy }),
        CallAction::HangUp { call } => (call, CallStep::HangUp),
        CallAction::Offer { call, sdp } => (call, CallStep::Offer(sdp.into())),
        CallAction::Answer { call, sdp } => (call, CallStep::Answer(sdp.into())),
        CallAction::Candidate { call, candidate } => (call, CallStep::Candidate(candidate.into())),
        CallAction::Hold { call, on } => (call, CallStep::Hold(on)),
        CallAction::Rejoin { call, ticket, sdp } => {
            let ticket = CallTicket::parse(&ticket).ok_or(Code::NoSuchCall)?;
            (call, CallStep::Rejoin { ticket, offer: sdp.into() })
        }
    };
    Ok(chat::CallAction::Of(CallId::parse(&call).ok_or(Code::NoSuchCall)?, step))
}
