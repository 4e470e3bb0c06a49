//! The entry of a call in its conversation: a message of the caller of the kind [`MessageKind::Call`].

use serde::{Deserialize, Serialize};

use crate::id::CALL_ID;
use crate::{Appended, CallId, ConversationId, Message, MessageKind, StoredMessage, Sub};

/// How long a call rings, in milliseconds.
pub const RINGS_MS: u64 = 45_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Media {
    Audio,
    Video,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// One party has hung up.
    Ended,
    /// A party of the established call lost its connection and did not return in time.
    Lost,
    Declined,
    /// The callee is in another call, or answers that they are busy.
    Busy,
    /// The caller hung up before an answer.
    Cancelled,
    /// No device answered in time.
    Missed,
}

/// The result of a call. The kind of the message marks it as a call, and its client id encodes the result.
/// The body states it in English, for clients that show messages and do not support calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEntry {
    pub call: CallId,
    pub media: Media,
    pub outcome: Outcome,
    /// Duration of the established call, in milliseconds.
    pub ms: u64,
}

impl CallEntry {
    /// None if the message is of another kind, or was deleted.
    pub fn of(message: &Message) -> Option<CallEntry> {
        CallEntry::parse(message.kind, &message.client_id).filter(|_| !message.deleted)
    }

    /// None if the message is of another kind.
    pub fn of_stored(message: &StoredMessage) -> Option<CallEntry> {
        CallEntry::parse(message.kind, &message.client_id)
    }

    fn parse(kind: MessageKind, client_id: &str) -> Option<CallEntry> {
        if kind != MessageKind::Call {
            return None;
        }
        let mut parts = client_id.strip_prefix(CALL_ID)?.split(':');
        let entry = CallEntry {
            call: CallId::parse(parts.next()?)?,
            media: media(parts.next()?)?,
            outcome: outcome(parts.next()?)?,
            ms: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(entry)
    }

    /// The callee never took part in the call.
    pub fn is_missed(self) -> bool {
        match self.outcome {
            Outcome::Busy | Outcome::Cancelled | Outcome::Missed => true,
            Outcome::Ended | Outcome::Lost | Outcome::Declined => false,
        }
    }

    /// The stored entry, as the members receive it. `from`: its author.
    pub(crate) fn message(self, conversation: ConversationId, from: Sub, appended: &Appended) -> Message {
        let Appended { seq, time, position, .. } = *appended;
        let fresh = Message::fresh(conversation, from, self.client_id(), self.body(), time);
        Message { seq, position: position.number, kind: MessageKind::Call, ..fresh }
    }

    /// Equal in each attempt, so that the store keeps one entry.
    pub(crate) fn client_id(self) -> Box<str> {
        let CallEntry { call, media, outcome, ms } = self;
        format!("{CALL_ID}{call}:{}:{}:{ms}", media_word(media), outcome_word(outcome)).into()
    }

    pub(crate) fn body(self) -> Box<str> {
        let what = match self.media {
            Media::Audio => "Audio call",
            Media::Video => "Video call",
        };
        let seconds = self.ms / 1000;
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        match self.outcome {
            Outcome::Ended | Outcome::Lost => format!("{what}, {minutes}:{seconds:02}"),
            Outcome::Declined => format!("{what}, declined"),
            Outcome::Busy => format!("{what}, busy"),
            Outcome::Cancelled | Outcome::Missed => format!("{what}, missed"),
        }
        .into()
    }
}

fn media_word(media: Media) -> &'static str {
    match media {
        Media::Audio => "audio",
        Media::Video => "video",
    }
}

fn media(word: &str) -> Option<Media> {
    [Media::Audio, Media::Video].into_iter().find(|media| media_word(*media) == word)
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ended => "ended",
        Outcome::Lost => "lost",
        Outcome::Declined => "declined",
        Outcome::Busy => "busy",
        Outcome::Cancelled => "cancelled",
        Outcome::Missed => "missed",
    }
}

fn outcome(word: &str) -> Option<Outcome> {
    use Outcome::{Busy, Cancelled, Declined, Ended, Lost, Missed};
    [Ended, Lost, Declined, Busy, Cancelled, Missed].into_iter().find(|one| outcome_word(*one) == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_through_the_client_id() {
        use Outcome::{Busy, Cancelled, Declined, Ended, Lost, Missed};
        for media in [Media::Audio, Media::Video] {
            for outcome in [Ended, Lost, Declined, Busy, Cancelled, Missed] {
                let entry = CallEntry { call: CallId(0xfeed), media, outcome, ms: u64::MAX };
                let id = entry.client_id();
                assert!(id.len() <= 64, "{id}");
                assert_eq!(CallEntry::parse(MessageKind::Call, &id), Some(entry));
                assert_eq!(CallEntry::parse(MessageKind::Text, &id), None, "the id alone makes no call");
            }
        }
    }

    #[test]
    fn other_client_ids_are_no_call_entries() {
        let right = "call:000000000000feed:audio:ended:5";
        let of = |id: &str| CallEntry::parse(MessageKind::Call, id);
        assert!(of(right).is_some());
        for wrong in ["call", "call:", "call:feed:audio:ended:5", "0193a5e0-7c1b-7d6e-9f3a-2b6c1d4e8f01"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        for (from, to) in [("audio", "smell"), ("ended", "won"), (":5", ":-5"), (":5", ""), (":5", ":5:6")] {
            assert_eq!(of(&right.replace(from, to)), None, "{from} {to}");
        }
    }

    #[test]
    fn the_body_states_the_result_in_english() {
        let entry = |outcome, ms| CallEntry { call: CallId(1), media: Media::Audio, outcome, ms }.body();
        assert_eq!(&*entry(Outcome::Ended, 73_999), "Audio call, 1:13");
        assert_eq!(&*entry(Outcome::Lost, 3_600_000), "Audio call, 60:00");
        assert_eq!(&*entry(Outcome::Missed, 0), "Audio call, missed");
    }
}
