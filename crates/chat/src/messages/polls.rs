//! Polls: a message whose body is a question, with choices to vote for. A vote is a change of the message.

use serde::{Deserialize, Serialize};

use crate::{Refusal, Sub, Timestamp};

/// Fewest and most choices.
pub const FEWEST_CHOICES: usize = 2;
pub const MOST_CHOICES: usize = 10;
/// Longest choice, in bytes.
pub const CHOICE_BYTES: usize = 200;
/// Latest end of a poll after its creation, in milliseconds. A poll may also have no end.
const LONGEST_MS: u64 = 366 * 86_400_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewPoll {
    pub choices: Vec<Box<str>>,
    /// A user may vote for several choices.
    pub multiple: bool,
    /// The votes of single users stay secret.
    pub anonymous: bool,
    /// No votes from this time on.
    pub ends: Option<Timestamp>,
}

/// A poll as one user sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    pub choices: Vec<Choice>,
    pub multiple: bool,
    pub anonymous: bool,
    pub ends: Option<Timestamp>,
    /// The author or a moderator has ended the poll.
    pub closed: bool,
    /// Users who have voted.
    pub voters: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub text: Box<str>,
    pub votes: u64,
    /// The first [`NAMED`](crate::NAMED) voters of the choice, oldest first; empty if the poll is anonymous.
    pub users: Vec<Sub>,
    /// The user for whom this was read has voted for it.
    pub mine: bool,
}

impl NewPoll {
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        let is_text = |text: &str| {
            (1..=CHOICE_BYTES).contains(&text.len())
                && !crate::id::has_control_characters(text)
                && !text.trim().is_empty()
        };
        let choices = &self.choices;
        let is_new = |at: usize| !choices[..at].contains(&choices[at]);
        let fits = (FEWEST_CHOICES..=MOST_CHOICES).contains(&choices.len())
            && choices.iter().all(|text| is_text(text))
            && (0..choices.len()).all(is_new);
        let ends = self.ends.is_none_or(|at| at > now && at.0 <= now.0.saturating_add(LONGEST_MS));
        if fits && ends { Ok(()) } else { Err(Refusal::BadValue) }
    }

    /// The poll before the first vote.
    pub fn begun(self) -> Poll {
        let choice = |text| Choice { text, votes: 0, users: Vec::new(), mine: false };
        Poll {
            choices: self.choices.into_iter().map(choice).collect(),
            multiple: self.multiple,
            anonymous: self.anonymous,
            ends: self.ends,
            closed: false,
            voters: 0,
        }
    }
}

impl Poll {
    /// Whether a vote for these choices is allowed now. Each is the number of a choice, from 0; an empty list
    /// removes the vote. Called by stores, because only they know the current poll.
    pub fn may_vote(&self, choices: &[u8], now: Timestamp) -> Result<(), Refusal> {
        let is_choice = |(at, choice): (usize, &u8)| {
            usize::from(*choice) < self.choices.len() && !choices[..at].contains(choice)
        };
        if !choices.iter().enumerate().all(is_choice) || choices.len() > 1 && !self.multiple {
            return Err(Refusal::BadValue);
        }
        if self.closed || self.ends.is_some_and(|ends| ends <= now) {
            return Err(Refusal::PollClosed);
        }
        Ok(())
    }

    /// The choices of the user for whom the poll was read.
    pub fn mine(&self) -> Vec<u8> {
        let mine = self.choices.iter().zip(0..).filter(|(choice, _)| choice.mine);
        mine.map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn poll(choices: &[&str], multiple: bool, ends: Option<u64>) -> NewPoll {
        let choices = choices.iter().map(|text| Box::from(*text)).collect();
        NewPoll { choices, multiple, anonymous: false, ends: ends.map(Timestamp) }
    }

    #[test]
    fn polls_are_bounded() {
        let long = "x".repeat(CHOICE_BYTES);
        let longer = "x".repeat(CHOICE_BYTES + 1);
        let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let table = [
            (poll(&["a", "b"], false, None), true),
            (poll(&many[..10], true, Some(1_001)), true),
            (poll(&[&long, "b"], false, Some(NOW.0 + LONGEST_MS)), true),
            (poll(&["a"], false, None), false),
            (poll(&[], false, None), false),
            (poll(&many, false, None), false),
            (poll(&["a", "a"], false, None), false),
            (poll(&["a", ""], false, None), false),
            (poll(&["a", " "], false, None), false),
            (poll(&["a", "b\n"], false, None), false),
            (poll(&["a", "b\0"], false, None), false),
            (poll(&["a", &longer], false, None), false),
            (poll(&["a", "b"], false, Some(1_000)), false),
            (poll(&["a", "b"], false, Some(NOW.0 + LONGEST_MS + 1)), false),
            (poll(&["a", "b"], false, Some(u64::MAX)), false),
        ];
        for (poll, is_one) in table {
            assert_eq!(poll.check(NOW).is_ok(), is_one, "{poll:?}");
        }
    }

    #[test]
    fn votes_follow_the_poll() {
        let (single, several) = (poll(&["a", "b"], false, None), poll(&["a", "b"], true, Some(2_000)));
        let (single, several) = (single.begun(), several.begun());
        let closed = Poll { closed: true, ..single.clone() };
        let (bad, over) = (Err(Refusal::BadValue), Err(Refusal::PollClosed));
        for (poll, choices, now, expected) in [
            (&single, &[0][..], 1_000, Ok(())),
            (&single, &[], 1_000, Ok(())),
            (&single, &[0, 1], 1_000, bad),
            (&single, &[2], 1_000, bad),
            (&single, &[255], 1_000, bad),
            (&several, &[0, 1], 1_999, Ok(())),
            (&several, &[1, 1], 1_999, bad),
            (&several, &[1], 2_000, over),
            (&closed, &[1], 1_000, over),
            (&closed, &[], 1_000, over),
        ] {
            assert_eq!(poll.may_vote(choices, Timestamp(now)), expected, "{choices:?} at {now}");
        }
    }
}
