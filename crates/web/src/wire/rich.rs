//! Parts of messages beside the text: polls, forwarded messages, threads, previews, stickers.

use std::borrow::Cow;

use chat::Seq;

use super::messages::{file, message};
use super::names::conversation_text;
use crate::files::Links;

pub(crate) fn poll(poll: &chat::Poll) -> web_proto::Poll<'_> {
    web_proto::Poll {
        choices: poll.choices.iter().map(choice).collect(),
        multiple: poll.multiple,
        anonymous: poll.anonymous,
        ends: poll.ends.map(|time| time.0),
        closed: poll.closed,
        voters: poll.voters,
    }
}

fn choice(choice: &chat::Choice) -> web_proto::Choice<'_> {
    web_proto::Choice {
        text: Cow::Borrowed(&choice.text),
        votes: choice.votes,
        users: choice.users.iter().map(|user| user.as_str().into()).collect(),
        mine: choice.mine,
    }
}

pub(crate) fn forwarded(forwarded: &chat::Forwarded) -> web_proto::Forwarded<'_> {
    web_proto::Forwarded { from: forwarded.from.as_ref().map(|(_, sub)| sub.as_str().into()) }
}

pub(crate) fn replies(replies: chat::Replies) -> web_proto::Replies {
    web_proto::Replies { count: replies.count, last: replies.last.0 }
}

pub(crate) fn thread<'a>(thread: &'a chat::Thread, links: &Links) -> web_proto::Thread<'a> {
    web_proto::Thread { root: message(&thread.root, links), follows: thread.follows, unread: thread.unread }
}

pub(crate) fn preview<'a>(preview: &'a chat::Preview, links: &Links) -> web_proto::Preview<'a> {
    web_proto::Preview {
        url: Cow::Borrowed(&preview.url),
        title: Cow::Borrowed(&preview.title),
        description: Cow::Borrowed(&preview.description),
        site: Cow::Borrowed(&preview.site),
        picture: preview.picture.as_ref().map(|picture| file(picture, links)),
    }
}

pub(crate) fn sticker(sticker: &chat::Sticker) -> web_proto::Sticker<'_> {
    let chat::Sticker { id, series, words, width, height, .. } = sticker;
    web_proto::Sticker {
        id: sticker_text(id.number).into(),
        set: Cow::Borrowed(series),
        words: Cow::Borrowed(words),
        url: format!("/v1/stickers/{}/{}", id.site.0, sticker_text(id.number)).into(),
        width: *width,
        height: *height,
    }
}

fn sticker_text(number: u64) -> String {
    format!("{number:016x}")
}

pub(crate) fn parse_sticker(text: &str) -> Option<u64> {
    let is_id = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(text, 16).ok().filter(|_| is_id)
}

/// The rich part of a plain message: only its thread.
pub(super) fn in_thread(thread: Option<u64>) -> Option<Box<chat::NewRich>> {
    thread.and_then(|root| chat::NewRich { thread: Some(Seq(root)), ..chat::NewRich::default() }.boxed())
}

/// The parts of a message that change beside its text.
pub(crate) fn counts(
    re: Option<u64>,
    counts: &chat::Counts,
    by: Option<&chat::CountedBy>,
    position: Cow<'static, str>,
) -> web_proto::Event<'static> {
    let (mut put, mut chose) = (None, None);
    match by.map(|by| &by.what) {
        Some(chat::Counted::Reaction { reaction, on, all: _ }) => {
            let reaction = reaction.as_str().to_owned().into();
            put = Some(web_proto::PutReaction { reaction, on: *on });
        }
        Some(chat::Counted::Vote(choices)) => chose = Some(choices.clone()),
        Some(chat::Counted::Unpin | chat::Counted::PollEnd | chat::Counted::NoPreview) | None => {}
    }
    let reactions = counts.reactions.iter().map(|(reaction, count)| web_proto::ReactionCount {
        reaction: reaction.as_str().to_owned().into(),
        count: *count,
    });
    let poll = counts.poll.as_ref();
    web_proto::Event::Counts {
        re,
        conversation: conversation_text(counts.conversation),
        seq: counts.seq.0,
        version: counts.version,
        reactions: reactions.collect(),
        poll: poll.map(|poll| web_proto::PollCounts {
            votes: poll.votes.clone(),
            voters: poll.voters,
            closed: poll.closed,
        }),
        pinned: counts.pinned,
        preview: counts.preview,
        by: by.map(|by| by.user.as_str().to_owned().into()),
        put,
        chose,
        position,
    }
}

pub(crate) fn thread_count(one: &chat::ThreadCount) -> web_proto::ThreadCount<'static> {
    web_proto::ThreadCount {
        conversation: conversation_text(one.conversation),
        seq: one.root.0,
        replies: web_proto::Replies { count: one.replies.count, last: one.replies.last.0 },
    }
}
