//! Calls of rooms.

use std::borrow::Cow;

use chat::{GroupEvent, GroupSignal, Place};
use web_proto::{Event, GroupAction, GroupCall, GroupNews, Participant};

use super::calls;
use super::names::conversation_text;
use super::same::{ToChat, ToWire};

pub(super) fn event(re: Option<u64>, event: &GroupEvent) -> Event<'_> {
    Event::GroupCall {
        re,
        conversation: conversation_text(event.room),
        news: news(&event.news),
        ice: event.ice.as_ref().map(calls::servers).unwrap_or_default(),
    }
}

fn news(news: &chat::GroupNews) -> GroupNews<'_> {
    match news {
        chat::GroupNews::Standing(standing) => {
            GroupNews::Standing { most: standing.most, now: standing.call.as_ref().map(under_way) }
        }
        chat::GroupNews::Joined { place, media, since, most, here } => GroupNews::Joined {
            place: place.0,
            media: media.to_wire(),
            since: since.0,
            most: *most,
            here: here.iter().map(participant).collect(),
        },
        chat::GroupNews::Came(who) => GroupNews::Came { who: participant(who) },
        chat::GroupNews::Went { place } => GroupNews::Went { place: place.0 },
        chat::GroupNews::Away { place } => GroupNews::Away { place: place.0 },
        chat::GroupNews::Apart { place } => GroupNews::Apart { place: place.0 },
        chat::GroupNews::Signal { from: Place(from), signal } => match signal {
            GroupSignal::Offer(sdp) => GroupNews::Offer { from: *from, sdp: Cow::Borrowed(sdp) },
            GroupSignal::Answer(sdp) => GroupNews::Answer { from: *from, sdp: Cow::Borrowed(sdp) },
            GroupSignal::Candidate(candidate) => {
                GroupNews::Candidate { from: *from, candidate: Cow::Borrowed(candidate) }
            }
        },
        chat::GroupNews::Elsewhere => GroupNews::Elsewhere,
        chat::GroupNews::Left => GroupNews::Left,
        chat::GroupNews::Done => GroupNews::Done,
    }
}

fn under_way(call: &chat::GroupUnderWay) -> GroupCall<'_> {
    let here = call.here.iter().map(|user| user.as_str().into()).collect();
    GroupCall { media: call.media.to_wire(), since: call.since.0, here }
}

fn participant(who: &chat::Participant) -> Participant<'_> {
    Participant { user: who.user.as_str().into(), place: who.place.0, away: who.away, apart: who.apart }
}

pub(super) fn action(action: GroupAction<'_>) -> chat::GroupAction {
    let signal = |to, signal| chat::GroupAction::Signal { to: Place(to), signal };
    match action {
        GroupAction::Look => chat::GroupAction::Look,
        GroupAction::Join { media } => chat::GroupAction::Join { media: media.to_chat() },
        GroupAction::Leave => chat::GroupAction::Leave,
        GroupAction::Offer { to, sdp } => signal(to, GroupSignal::Offer(sdp.into())),
        GroupAction::Answer { to, sdp } => signal(to, GroupSignal::Answer(sdp.into())),
        GroupAction::Candidate { to, candidate } => signal(to, GroupSignal::Candidate(candidate.into())),
    }
}
