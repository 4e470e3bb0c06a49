//! Between the domain's words of calls and those of the web protocol.

use std::borrow::Cow;

use chat::{CallEvent, CallId, CallStep, CallTicket, Sub};
use web_proto::{CallAction, CallNews, Code, Event, IceServer};

pub(crate) fn event(event: &CallEvent) -> Event<'_> {
    Event::Call {
        re: event.re,
        call: event.call.to_string().into(),
        news: news(&event.news),
        ice: event.ice.as_ref().map(servers).unwrap_or_default(),
    }
}

fn news(news: &chat::CallNews) -> CallNews<'_> {
    match news {
        chat::CallNews::Calling { user, media, ticket } => CallNews::Calling {
            user: user.as_str().into(),
            media: self::media(*media),
            ticket: ticket.text().into(),
        },
        chat::CallNews::Ring { from, media, offer, glare } => CallNews::Ring {
            user: from.as_str().into(),
            media: self::media(*media),
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
            CallNews::Rejoined { media: self::media(*media), hold: *hold, away: *away, ms: *ms }
        }
        chat::CallNews::Done => CallNews::Done,
        chat::CallNews::Over { outcome, ms } => CallNews::Over { outcome: self::outcome(*outcome), ms: *ms },
    }
}

/// The entry of a finished call, from the id of its message.
pub(crate) fn entry(message: &chat::Message) -> Option<web_proto::CallEntry> {
    let chat::CallEntry { media, outcome, ms, .. } = chat::CallEntry::of(message)?;
    Some(web_proto::CallEntry { media: self::media(media), outcome: self::outcome(outcome), ms })
}

/// Of `welcome`, which says nothing of what is as it is anywhere.
pub(crate) fn callers(from: chat::CallsFrom) -> Option<web_proto::CallsFrom> {
    match from {
        chat::CallsFrom::Nobody => Some(web_proto::CallsFrom::Nobody),
        chat::CallsFrom::Contacts => None,
        chat::CallsFrom::Everyone => Some(web_proto::CallsFrom::Everyone),
    }
}

pub(crate) fn media(media: chat::Media) -> web_proto::Media {
    match media {
        chat::Media::Audio => web_proto::Media::Audio,
        chat::Media::Video => web_proto::Media::Video,
    }
}

/// As a client says it.
pub(crate) fn wanted(media: web_proto::Media) -> chat::Media {
    match media {
        web_proto::Media::Audio => chat::Media::Audio,
        web_proto::Media::Video => chat::Media::Video,
    }
}

fn outcome(outcome: chat::Outcome) -> web_proto::CallOutcome {
    match outcome {
        chat::Outcome::Ended => web_proto::CallOutcome::Ended,
        chat::Outcome::Lost => web_proto::CallOutcome::Lost,
        chat::Outcome::Declined => web_proto::CallOutcome::Declined,
        chat::Outcome::Busy => web_proto::CallOutcome::Busy,
        chat::Outcome::Cancelled => web_proto::CallOutcome::Cancelled,
        chat::Outcome::Missed => web_proto::CallOutcome::Missed,
    }
}

/// A list of them, as browsers take it: each with its own credentials.
pub(crate) fn servers(ice: &chat::Ice) -> Vec<IceServer<'_>> {
    let stun = (!ice.stun.is_empty()).then(|| IceServer {
        urls: named(&ice.stun),
        username: None,
        credential: None,
    });
    let turn = ice.turn.as_ref().map(|turn| IceServer {
        urls: named(&turn.urls),
        username: Some(Cow::Borrowed(&turn.username)),
        credential: Some(Cow::Borrowed(&turn.credential)),
    });
    stun.into_iter().chain(turn).collect()
}

fn named(urls: &[Box<str>]) -> Vec<Cow<'_, str>> {
    urls.iter().map(|url| Cow::Borrowed(&**url)).collect()
}

/// An impossible call id is that of no call.
pub(crate) fn action(action: CallAction<'_>) -> Result<chat::CallAction, Code> {
    let (call, step) = match action {
        CallAction::Invite { user, media, sdp } => {
            let media = wanted(media);
            let user = Sub::parse(&user).ok_or(Code::NoSuchUser)?;
            return Ok(chat::CallAction::Invite { user, media, offer: sdp.into() });
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
