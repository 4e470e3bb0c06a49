//! The two members of each pair: one calls, the other accepts at once, and both send their candidates.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use web_proto::{CallAction, CallNews, Code, Command, Event, Media};

use super::CallsPlan;
use crate::failures::note;
use crate::latency_stamp::micros_since;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add, read};

/// A candidate as browsers write it, with a documentation address (RFC 5737).
const CANDIDATE: &str = "candidate:842163049 1 udp 1677729535 192.0.2.1 54321 typ srflx raddr 0.0.0.0 rport 0 \
                         generation 0 ufrag EsAw network-cost 999";

/// State that all workers of a run share.
pub(crate) struct Shared {
    pairs: u32,
    window: u32,
    candidates: u32,
    sdp: Box<str>,
    zero: Instant,
    /// Calls that were set up and hung up, as the callers received it.
    pub(crate) up: AtomicU64,
    pub(crate) over: AtomicU64,
    /// By pair: microseconds from `zero` until the call rang. The two members may be on two workers.
    rang: Box<[AtomicU64]>,
}

/// The members of one worker.
#[derive(Default)]
pub(crate) struct Members {
    mode: Order,
    /// Callers without a call, in the order of their turns.
    idle: VecDeque<u32>,
    under_way: u32,
    /// By number / workers.
    callers: Vec<Caller>,
}

#[derive(Clone, Default)]
struct Caller {
    /// None: not in a call.
    invited: Option<Instant>,
    call: Box<str>,
    candidates: u32,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// From the invitation until it rang.
            ring,
            /// From the ring, which is accepted at once, until the caller received the acceptance.
            accept,
            /// From the invitation until the caller had all candidates.
            set_up,
        }
        counts {
            /// Entries of finished calls, received as messages.
            entries,
            /// Events out of order, or without a call.
            strange,
        }
    }
}

/// The first two orders are repeated each time the window is filled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Order {
    CallAndHangUp,
    /// Start no new calls; hang up established ones.
    #[default]
    Rest,
    CallAndStay,
    /// Hang up all calls that stay.
    HangUp,
}

impl Shared {
    pub(crate) fn new(plan: &CallsPlan) -> Shared {
        let mut sdp = String::from("v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n");
        while sdp.len() < plan.sdp_bytes as usize {
            sdp.push_str("a=rtpmap:111 opus/48000/2\r\n");
        }
        sdp.truncate(plan.sdp_bytes as usize);
        Shared {
            pairs: plan.pairs,
            window: plan.window,
            candidates: plan.candidates,
            sdp: sdp.into(),
            zero: Instant::now(),
            up: AtomicU64::new(0),
            over: AtomicU64::new(0),
            rang: (0..plan.pairs).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The other member of a caller's pair.
    fn callee(&self, caller: u32) -> u32 {
        caller + self.pairs
    }
}

impl Members {
    /// None: a callee.
    fn caller(&mut self, member: u32, cx: &Context<Members>) -> Option<&mut Caller> {
        self.callers.get_mut(cx.index(member)).filter(|_| member < cx.shared.pairs)
    }

    /// Begins as many calls as the window allows. Only an order may do that: an event handler sends only commands of
    /// its own member.
    fn call(&mut self, cx: &mut Context<Members>) {
        let share = cx.part(cx.shared.window).max(1);
        while matches!(self.mode, Order::CallAndHangUp | Order::CallAndStay) && self.under_way < share {
            let Some(member) = self.idle.pop_front() else { return };
            self.under_way += 1;
            add(&cx.traffic.sent, 1);
            let user = token::user(cx.shared.callee(member)).into();
            let action = CallAction::Invite { user, media: Media::Audio, sdp: (&*cx.shared.sdp).into() };
            cx.commands.send(member, &Command::Call { rid: Some(1), action });
            if let Some(caller) = self.caller(member, cx) {
                *caller = Caller { invited: Some(cx.now), ..Caller::default() };
            }
        }
    }

    fn receive(&mut self, member: u32, call: &str, news: &CallNews<'_>, cx: &mut Context<Members>) {
        match news {
            CallNews::Calling { .. } => match self.caller(member, cx) {
                Some(caller) => caller.call = call.into(),
                None => cx.tally.strange += 1,
            },
            CallNews::Ring { user, .. } => self.ring(member, user, call, cx),
            CallNews::Joined { .. } => self.say_candidates(member, call, cx),
            CallNews::Accepted { .. } => self.accepted(member, call, cx),
            CallNews::Candidate { .. } if member < cx.shared.pairs => {
                let Some(caller) = self.caller(member, cx) else { return };
                caller.candidates += 1;
                if caller.candidates == cx.shared.candidates {
                    self.is_up(member, cx);
                }
            }
            CallNews::Over { .. } => self.is_over(member, cx),
            CallNews::Candidate { .. } | CallNews::Done => {}
            _ => cx.tally.strange += 1,
        }
    }

    fn ring(&mut self, member: u32, user: &str, call: &str, cx: &mut Context<Members>) {
        let from = member.checked_sub(cx.shared.pairs).filter(|from| token::number(user) == Some(*from));
        let Some(rang) = from.and_then(|from| cx.shared.rang.get(from as usize)) else {
            cx.tally.strange += 1;
            return;
        };
        rang.store(micros_since(cx.shared.zero, cx.now), std::sync::atomic::Ordering::Relaxed);
        let sdp = (&*cx.shared.sdp).into();
        cx.commands.send(
            member,
            &Command::Call { rid: Some(2), action: CallAction::Accept { call: call.into(), sdp } },
        );
    }

    fn accepted(&mut self, member: u32, call: &str, cx: &mut Context<Members>) {
        let Some(invited) = self.caller(member, cx).and_then(|caller| caller.invited) else {
            cx.tally.strange += 1;
            return;
        };
        let rang = read(&cx.shared.rang[member as usize]);
        let (invited, accepted_at) =
            (micros_since(cx.shared.zero, invited), micros_since(cx.shared.zero, cx.now));
        cx.tally.ring.saturating_record(rang.saturating_sub(invited));
        cx.tally.accept.saturating_record(accepted_at.saturating_sub(rang));
        cx.traffic.note(cx.worker, accepted_at.saturating_sub(rang));
        self.say_candidates(member, call, cx);
        if cx.shared.candidates == 0 {
            self.is_up(member, cx);
        }
    }

    fn say_candidates(&self, member: u32, call: &str, cx: &mut Context<Members>) {
        for _ in 0..cx.shared.candidates {
            let action = CallAction::Candidate { call: call.into(), candidate: CANDIDATE.into() };
            cx.commands.send(member, &Command::Call { rid: None, action });
        }
    }

    fn is_up(&mut self, member: u32, cx: &mut Context<Members>) {
        let Some(invited) = self.caller(member, cx).and_then(|caller| caller.invited) else { return };
        add(&cx.shared.up, 1);
        add(&cx.traffic.acknowledged, 1);
        add(&cx.traffic.delivered, 1);
        cx.tally.set_up.saturating_record(micros_since(invited, cx.now));
        if self.mode == Order::CallAndStay {
            self.under_way = self.under_way.saturating_sub(1);
        } else {
            self.hang_up(member, cx);
        }
    }

    fn hang_up(&mut self, member: u32, cx: &mut Context<Members>) {
        let Some(caller) = self.caller(member, cx) else { return };
        let call = caller.call.to_string().into();
        cx.commands.send(member, &Command::Call { rid: Some(3), action: CallAction::HangUp { call } });
    }

    fn is_over(&mut self, member: u32, cx: &mut Context<Members>) {
        let Some(caller) = self.caller(member, cx) else { return };
        if caller.invited.take().is_none() {
            cx.tally.strange += 1;
            return;
        }
        add(&cx.shared.over, 1);
        self.idle.push_back(member);
        if self.mode != Order::HangUp {
            self.under_way = self.under_way.saturating_sub(1);
        }
    }

    /// A refused invitation counts as a turn, and the next one begins.
    fn refused(&mut self, member: u32, code: Code, re: Option<u64>, cx: &mut Context<Members>) {
        note(&mut cx.tally.refused, code.word());
        if re != Some(1) {
            return;
        }
        add(&cx.traffic.refused, 1);
        if let Some(caller) = self.caller(member, cx) {
            caller.invited = None;
        }
        self.under_way = self.under_way.saturating_sub(1);
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn begin(&mut self, cx: &Context<Members>) {
        self.idle = cx.of(cx.shared.pairs).collect();
        self.callers = vec![Caller::default(); self.idle.len()];
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Call { call, news, .. } => self.receive(member, call, news, cx),
            Event::Message { message, .. } if message.call.is_some() => cx.tally.entries += 1,
            Event::Error { code, re, .. } => self.refused(member, *code, *re, cx),
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        self.mode = order;
        if order == Order::HangUp {
            for member in cx.of(cx.shared.pairs) {
                if self.caller(member, cx).is_some_and(|caller| caller.invited.is_some()) {
                    self.hang_up(member, cx);
                }
            }
        }
        self.call(cx);
    }
}
