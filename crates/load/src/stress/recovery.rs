//! Members who recover: after a lost connection they resume, read what they have missed, and repeat unacknowledged messages,
//! as the widget does. They watch the others of their group.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use web_proto::{Command, Event, Message, Presence, SendTo, Welcome};

use super::members::{Members, Shared, group_of};
use super::sequence::SequenceCheck;
use crate::failures::note;
use crate::latency_stamp::{Stamp, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::token;
use crate::worker::{Context, add};

/// Numbers of requests.
const RESUME: u64 = 1;
const HISTORY: u64 = 2;
/// Messages of one history request.
const PAGE: u32 = 100;

/// The members of one worker.
#[derive(Default)]
pub(super) struct Recovery {
    /// Each member's resume position.
    positions: HashMap<u32, Box<str>>,
    /// By author, in the order of writing.
    unanswered: HashMap<u32, Vec<Letter>>,
    /// Members without a connection.
    gone: HashSet<u32>,
    /// Received messages, with the seq of the first receipt.
    received: HashMap<u64, u64>,
    /// By member and conversation, the own messages included.
    sequences: HashMap<(u32, Box<str>), SequenceCheck>,
    /// By member: conversations with messages that must be fetched.
    gaps: HashMap<u32, BTreeMap<Box<str>, ()>>,
    /// How many users a member may watch, from its welcome.
    watch_most: u32,
    watch_retry: WatchRetry,
    /// Pairs whose watcher saw the other member as offline after the kill.
    flapped: HashSet<(u32, u32)>,
}

/// A message without an acknowledgement.
#[derive(Debug, Clone, Copy)]
struct Letter {
    number: u64,
    to: u32,
    /// Its latency counts from here.
    due: Instant,
    /// When it was last sent.
    sent: Instant,
    /// The number of refusals since its author connected.
    refused: u32,
}

type Cx = Context<Members>;

impl Recovery {
    /// The member sends the message now, or when it is back.
    pub(super) fn write(&mut self, member: u32, number: u64, to: u32, due: Instant, cx: &mut Cx) {
        let letter = Letter { number, to, due, sent: cx.now, refused: 0 };
        self.unanswered.entry(member).or_default().push(letter);
        if !self.gone.contains(&member) {
            send(member, letter, cx);
        }
    }

    pub(super) fn lost(&mut self, member: u32, cx: &mut Cx) {
        self.gone.insert(member);
        self.gaps.remove(&member);
        let group = group_of(member, &cx.shared);
        cx.tally.watchers_of_lost += u64::from(group.end - group.start - 1);
        cx.tally.lost_idle += u64::from(!self.unanswered.contains_key(&member));
    }

    pub(super) fn position(&self, member: u32) -> Option<&str> {
        self.positions.get(&member).map(|position| &**position)
    }

    pub(super) fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, cx: &mut Cx) {
        self.watch_most = welcome.limits.watch;
        if !self.positions.contains_key(&member) {
            let group = group_of(member, &cx.shared);
            cx.tally.watched += u64::from(group.end - group.start - 1);
        }
        cx.commands.send(member, &self.watch(member, &cx.shared));
        if self.gone.remove(&member) {
            if let Some(killed) = cx.outage.as_ref().and_then(|outage| outage.killed()) {
                cx.tally.back.saturating_record(micros_since(killed, cx.now));
            }
            cx.tally.not_resumed += u64::from(!welcome.resumed);
            let gaps = welcome.gaps.iter().map(|gap| &*gap.conversation);
            self.catch_up(member, gaps, &welcome.messages, cx);
            for letter in self.unanswered.get_mut(&member).into_iter().flatten() {
                letter.refused = 0;
            }
            self.repeat(member, cx);
        }
        self.note_position(member, &welcome.position);
    }

    /// True if a message of the member has its answer, so that the next one may follow.
    pub(super) fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Cx) -> bool {
        match event {
            Event::Ack { id, conversation, seq, position, .. } => {
                self.note_position(member, position);
                self.note_seq(member, conversation, *seq);
                return self.acknowledged(member, id, cx);
            }
            Event::Message { message, position } => {
                self.receive(member, message, cx);
                self.note_position(member, position);
            }
            Event::Behind => {
                cx.tally.behind += 1;
                cx.commands.send(member, &self.resume(member));
            }
            Event::Changes { messages, gaps, position, .. } => {
                let gaps = gaps.iter().map(|gap| &*gap.conversation);
                self.catch_up(member, gaps, messages, cx);
                self.note_position(member, position);
                // The acknowledgement may have been in the dropped queue.
                self.repeat(member, cx);
            }
            Event::History { conversation, messages, more, .. } => {
                cx.tally.fetched += messages.len() as u64;
                messages.iter().for_each(|message| self.receive(member, message, cx));
                if !more && let Some(gaps) = self.gaps.get_mut(&member) {
                    gaps.remove(&**conversation);
                }
                self.fetch(member, cx);
            }
            Event::Presence { user, presence: Presence::Offline, .. } => self.offline(member, user, cx),
            Event::Error { re: Some(RESUME), retry_after, .. } => {
                let wait = Delay::reconnect(*retry_after, 0);
                cx.commands.send_after(wait, member, &self.resume(member));
            }
            // The next page is asked for again with the next changes or the next welcome.
            Event::Error { re: Some(HISTORY), code, .. } => note(&mut cx.tally.refused, code.word()),
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    return self.refused(member, refusal, cx);
                }
            }
        }
        false
    }

    pub(super) fn complete(&self, tally: &mut super::members::Tally) {
        tally.holes = self.sequences.values().map(SequenceCheck::holes).sum();
        // Both members of a conversation have seen its last number.
        tally.stored_twice = self.sequences.values().map(SequenceCheck::last).sum();
        tally.flapped = self.flapped.len() as u64;
    }

    fn resume(&self, member: u32) -> Command<'static> {
        let position = self.position(member).unwrap_or_default().to_owned();
        Command::Resume { rid: RESUME, position: position.into() }
    }

    fn watch(&self, member: u32, shared: &Shared) -> Command<'static> {
        let others = group_of(member, shared).filter(|other| *other != member);
        let users = others.take(self.watch_most as usize).map(|other| token::user(other).into()).collect();
        Command::Watch { contacts: false, users }
    }

    fn repeat(&mut self, member: u32, cx: &mut Cx) {
        for letter in self.unanswered.get_mut(&member).into_iter().flatten() {
            letter.sent = cx.now;
            send(member, *letter, cx);
        }
    }

    /// Reads the messages that come with a welcome or with changes, and asks for those that are left out.
    fn catch_up<'a>(
        &mut self,
        member: u32,
        gaps: impl Iterator<Item = &'a str>,
        messages: &[Message<'_>],
        cx: &mut Cx,
    ) {
        cx.tally.caught_up += messages.len() as u64;
        for conversation in gaps {
            cx.tally.gaps += 1;
            self.gaps.entry(member).or_default().insert(conversation.into(), ());
        }
        messages.iter().for_each(|message| self.receive(member, message, cx));
        self.fetch(member, cx);
    }

    /// Asks for one page of one conversation.
    fn fetch(&self, member: u32, cx: &mut Cx) {
        let gap = self.gaps.get(&member).and_then(BTreeMap::first_key_value);
        let Some((conversation, ())) = gap else { return };
        let after =
            self.sequences.get(&(member, conversation.clone())).map_or(0, SequenceCheck::last_in_order);
        let to = SendTo::Conversation(conversation.to_string().into());
        let (rid, after, limit) = (HISTORY, Some(after), Some(PAGE));
        let history = Command::History { rid, to, before: None, after, since: None, thread: None, limit };
        cx.commands.send(member, &history);
    }

    fn note_position(&mut self, member: u32, position: &str) {
        match self.positions.get_mut(&member) {
            Some(known) if **known == *position => {}
            Some(known) => *known = position.into(),
            None => drop(self.positions.insert(member, position.into())),
        }
    }

    fn note_seq(&mut self, member: u32, conversation: &str, seq: u64) {
        self.sequences.entry((member, conversation.into())).or_default().add(seq);
    }

    fn receive(&mut self, member: u32, message: &Message<'_>, cx: &mut Cx) {
        let Some(Stamp { number, due }) = cx.stamps.read(&message.id) else {
            cx.tally.strange += 1;
            return;
        };
        self.note_seq(member, &message.conversation, message.seq);
        // A message of its own, which a welcome repeats. It is acknowledged separately.
        if token::number(&message.from) == Some(member) {
            return;
        }
        match self.received.insert(number, message.seq) {
            None => {
                let waited = micros_since(due, cx.now);
                cx.traffic.deliver(cx.worker, waited);
                cx.tally.delivery.saturating_record(waited);
                if let Some(outage) = &cx.outage {
                    outage.delivered(cx.now);
                }
            }
            Some(before) if before == message.seq => cx.tally.repeated += 1,
            Some(_) => cx.tally.doubled += 1,
        }
    }

    /// True the first time.
    fn acknowledged(&mut self, member: u32, id: &str, cx: &mut Cx) -> bool {
        let Some(Stamp { number, .. }) = cx.stamps.read(id) else {
            cx.tally.strange += 1;
            return false;
        };
        let Some(letter) = self.answered(member, number) else { return false };
        add(&cx.traffic.acknowledged, 1);
        cx.tally.ack.saturating_record(micros_since(letter.due, cx.now));
        if let Some(outage) = &cx.outage {
            outage.acknowledged(letter.sent, cx.now);
        }
        true
    }

    fn answered(&mut self, member: u32, number: u64) -> Option<Letter> {
        let letters = self.unanswered.get_mut(&member)?;
        let letter = letters.remove(letters.iter().position(|letter| letter.number == number)?);
        if letters.is_empty() {
            self.unanswered.remove(&member);
        }
        Some(letter)
    }

    /// Repeats a refused command when the server allows it. True if the message may not be repeated.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, cx: &mut Cx) -> bool {
        note(&mut cx.tally.refused, refusal.code.word());
        let Some(Stamp { number, .. }) = refusal.id.and_then(|id| cx.stamps.read(id)) else {
            if let Some(wait) = self.watch_retry.refused(member, refusal, cx.now) {
                cx.commands.send_after(wait, member, &self.watch(member, &cx.shared));
            }
            return false;
        };
        let mut letters = self.unanswered.get_mut(&member).into_iter().flatten();
        let Some(letter) = letters.find(|letter| letter.number == number) else { return false };
        letter.refused += 1;
        letter.sent = cx.now;
        let letter = *letter;
        if let Some(wait) = Delay::resend(refusal, letter.refused) {
            let shared = Arc::clone(&cx.shared);
            cx.commands.send_after(wait, member, &command(letter, &shared, cx));
            return false;
        }
        self.answered(member, number);
        add(&cx.traffic.refused, 1);
        true
    }

    fn offline(&mut self, member: u32, user: &str, cx: &mut Cx) {
        let is_on = cx.outage.as_ref().is_some_and(|outage| outage.is_on());
        if let Some(other) = token::number(user).filter(|_| is_on) {
            self.flapped.insert((member, other));
        }
    }
}

fn send(member: u32, letter: Letter, cx: &mut Cx) {
    let shared = Arc::clone(&cx.shared);
    cx.commands.send(member, &command(letter, &shared, cx));
}

/// Equal for each attempt.
fn command<'a>(letter: Letter, shared: &'a Shared, cx: &Cx) -> Command<'a> {
    token::send(cx.stamps.write(letter.number, letter.due), token::user(letter.to), &shared.body)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use web_proto::Code;

    use super::super::Pace;
    use super::*;
    use crate::latency_stamp::Stamps;
    use crate::outage::Outage;

    fn context() -> Cx {
        let shared = Arc::new(Shared::of(4, 4, Pace::Window(1)));
        let mut cx = Context::new(0, 1, Arc::default(), Stamps::new_run(), shared);
        cx.outage = Some(Arc::new(Outage::new(2)));
        cx
    }

    fn message(id: &str, seq: u64) -> Event<'static> {
        let message = Message {
            conversation: "c1".into(),
            from: token::user(1).into(),
            id: id.to_owned().into(),
            seq,
            ..Message::default()
        };
        Event::Message { message, position: format!("p{seq}").into() }
    }

    #[test]
    fn a_message_that_comes_again_is_dropped_and_one_that_was_stored_twice_is_counted() {
        let (mut cx, mut all) = (context(), Recovery::default());
        let id = cx.stamps.write(7, cx.now);
        for (seq, counts) in [(1, (1, 0, 0)), (1, (1, 1, 0)), (2, (1, 1, 1))] {
            all.event(0, &message(&id, seq), &mut cx);
            let delivered = crate::worker::read(&cx.traffic.delivered);
            assert_eq!((delivered, cx.tally.repeated, cx.tally.doubled), counts);
        }
        assert_eq!(all.position(0), Some("p2"));
    }

    #[test]
    fn a_refused_or_unacknowledged_message_stays_until_its_acknowledgement() {
        let (mut cx, mut all) = (context(), Recovery::default());
        all.write(2, 9, 3, cx.now, &mut cx);
        let id = cx.stamps.write(9, all.unanswered[&2][0].due);
        let refusal = Refusal { code: Code::Unavailable, id: Some(&id), retry_after: None };
        assert!(!all.refused(2, refusal, &mut cx));
        all.lost(2, &mut cx);
        assert_eq!((cx.tally.lost_idle, cx.tally.watchers_of_lost), (0, 3));
        all.lost(3, &mut cx);
        assert_eq!(cx.tally.lost_idle, 1, "it waited for nothing");
        assert!(all.acknowledged(2, &id, &mut cx));
        assert!(!all.acknowledged(2, &id, &mut cx), "the second attempt has an acknowledgement, too");
        assert_eq!(crate::worker::read(&cx.traffic.acknowledged), 1);
        assert!(all.unanswered.is_empty());
    }

    #[test]
    fn only_members_who_are_shown_as_offline_after_the_kill_have_flapped() {
        let (mut cx, mut all) = (context(), Recovery::default());
        all.offline(0, &token::user(1), &mut cx);
        assert!(all.flapped.is_empty());
        let outage = cx.outage.clone().expect("a run with a kill");
        outage.begin(Instant::now() + Duration::from_millis(1), Instant::now());
        for _ in 0..2 {
            all.offline(0, &token::user(1), &mut cx);
            all.offline(0, "somebody", &mut cx);
        }
        assert_eq!(all.flapped.len(), 1);
    }
}
