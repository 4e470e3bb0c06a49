//! Many browsers on one worker of `edge`: each with a few connections for files and one WebSocket.

mod files;
mod socket;

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use edge::{Accepted, Closed, Conns, Handle, Io, Mailboxes, Now, Protocol};
use web_proto::Command;

use self::files::Fetch;
use self::socket::Socket;
use super::exchange::Reading;
use super::state::State;
use super::tally::Tally;
use super::visitor::{Job, Next, Stage, Visitor, gap, rest_of_gap};
use super::{Kind, VisitPlan};
use crate::agenda::Agenda;
use crate::client::Masks;
use crate::failures::note;
use crate::tally::histogram;
use crate::token;
use crate::worker::add;

/// A response that takes longer is a failure.
pub(super) const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// The protocol requires a frame at least every 50 s.
const PING_EVERY: Duration = Duration::from_secs(45);
/// If a visitor is handled later than this, the delay is the generator's fault.
const LATE: Duration = Duration::from_millis(50);

/// Mailboxes never refuse these: the plan bounds them by the rate at which visitors arrive.
pub(super) enum Mail {
    /// A visitor arrives: one who is in the middle of the visit when counting begins, or a new one.
    Come {
        visitor: u32,
        due: Instant,
        warm: bool,
    },
    /// Counting begins, and the time of present visitors starts.
    Count {
        from: Instant,
    },
    /// A timer.
    Beat,
    /// No further actions become due.
    End,
    Leave,
    Report(mpsc::Sender<Tally>),
}

/// Timed actions of a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    View,
    Write,
    Leave,
}

/// Actions that need a turn with access to all connections.
enum Errand {
    Pump(u32),
    LogIn(u32),
    HangUp(Handle),
    /// A view that was due, or the end of the visit.
    GoOn(u32),
}

pub(super) struct Browsers {
    state: Arc<State>,
    worker: usize,
    mail: Mailboxes<Mail>,
    visitors: HashMap<u32, Visitor>,
    due: Agenda<(u32, Act)>,
    errands: Vec<Errand>,
    /// A mail to this worker is pending.
    called: bool,
    /// Requests that were due earlier do not count.
    counting_from: Option<Instant>,
    ended: bool,
    tally: Tally,
    chance: Masks,
    /// For the `rid` of commands.
    next_rid: u64,
    out: Vec<u8>,
    frame: Vec<u8>,
}

pub(super) enum Conn {
    Fetch(Fetch),
    Socket(Socket),
}

impl Browsers {
    pub(super) fn new(state: Arc<State>, worker: usize, mail: Mailboxes<Mail>) -> Browsers {
        Browsers {
            chance: Masks::new(state.stamps.seed() ^ ((worker as u64 + 1) << 32)),
            state,
            worker,
            mail,
            visitors: HashMap::new(),
            due: Agenda::default(),
            errands: Vec::new(),
            called: false,
            counting_from: None,
            ended: false,
            tally: Tally::default(),
            next_rid: 0,
            out: Vec::new(),
            frame: Vec::new(),
        }
    }

    fn come(&mut self, number: u32, due: Instant, warm: bool) {
        let state = Arc::clone(&self.state);
        let (site, now) = (state.site(), Instant::now());
        let mut visitor = Visitor::new(site);
        if warm {
            visitor.warm(site, now, state.plan.stay, &mut self.chance);
        } else {
            self.tally.came += 1;
            self.due.push(due + state.plan.stay, (number, Act::Leave));
        }
        add(&state.counts.begun, 1);
        self.visitors.insert(number, visitor);
        self.begin_view(number, !warm, due);
    }

    /// Present visitors are at a random point of their visit and of the time between two pages.
    fn count(&mut self, from: Instant) {
        self.counting_from = Some(from);
        self.tally = Tally::default();
        let VisitPlan { stay, think, .. } = self.state.plan;
        for number in self.visitors.keys() {
            self.due.push(from + rest_of_gap(think, &mut self.chance), (*number, Act::View));
            self.due.push(from + stay.mul_f64(self.chance.chance()), (*number, Act::Leave));
        }
    }

    fn beat(&mut self) {
        let now = Instant::now();
        while let Some((due, (number, act))) = self.due.pop(now) {
            let Some(visitor) = self.visitors.get_mut(&number) else { continue };
            self.tally.turns += 1;
            self.tally.late_turns += u64::from(now - due > LATE);
            match act {
                Act::View => visitor.owed_view = Some(due),
                Act::Write => visitor.owed_message = Some(due),
                Act::Leave => visitor.leaves = true,
            }
            if visitor.stage == Stage::There {
                self.errands.push(Errand::GoOn(number));
            }
        }
    }

    fn begin_view(&mut self, number: u32, first: bool, due: Instant) {
        let VisitPlan { think, write_every, .. } = self.state.plan;
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        visitor.view(self.state.site(), first, due, &mut self.chance);
        let old = visitor.socket.take();
        add(&self.state.traffic.sent, 1);
        // The old page's connection ends when the next page is requested.
        self.errands.extend(old.map(Errand::HangUp));
        self.errands.push(Errand::Pump(number));
        if self.counting_from.is_some() && !self.ended {
            self.due.push(due + gap(think, &mut self.chance), (number, Act::View));
            if self.chance.chance() < think.as_secs_f64() / write_every.as_secs_f64().max(0.001) {
                let after = think.mul_f64(0.1 + 0.35 * self.chance.chance());
                self.due.push(due + after, (number, Act::Write));
            }
        }
    }

    fn run_errands(&mut self, conns: &mut Conns<'_, Conn>) {
        // An action may cause another; each visitor has few.
        while let Some(errand) = self.errands.pop() {
            match errand {
                Errand::Pump(number) => self.pump(number, conns),
                Errand::LogIn(number) => self.log_in(number, conns),
                Errand::HangUp(socket) => self.hang_up(socket, conns),
                Errand::GoOn(number) => self.go_on(number, conns),
            }
        }
    }

    /// Counts a finished job, successful or not, and continues with the next step.
    fn finish(&mut self, number: u32, job: Job, outcome: Result<(), String>) {
        let now = Instant::now();
        let state = Arc::clone(&self.state);
        // Count follow-up requests before this one. Otherwise all requests could seem to be answered for a moment.
        if let Some(visitor) = self.visitors.get_mut(&number) {
            visitor.in_flight -= 1;
            let before = visitor.jobs.len();
            let next = visitor.done(state.site(), job, outcome.is_ok(), now);
            let more = visitor.jobs.len().saturating_sub(before) + usize::from(next == Next::LogIn);
            add(&state.traffic.sent, more as u64);
            self.errands.push(match next {
                Next::Fetch => Errand::Pump(number),
                Next::LogIn => Errand::LogIn(number),
                Next::GiveUp => Errand::GoOn(number),
            });
        }
        match outcome {
            Ok(()) => self.succeed(job.kind, job.due, now),
            Err(reason) => self.fail(job.kind, job.due, &reason),
        }
    }

    fn counts(&self, due: Instant) -> bool {
        self.counting_from.is_some_and(|from| due >= from)
    }

    fn succeed(&mut self, kind: Kind, due: Instant, now: Instant) {
        let micros = now.saturating_duration_since(due).as_micros() as u64;
        self.state.traffic.deliver(self.worker as u32, micros);
        if self.counts(due) {
            self.tally.times.entry(kind).or_insert_with(histogram).saturating_record(micros);
        }
    }

    fn fail(&mut self, kind: Kind, due: Instant, reason: &str) {
        add(&self.state.counts.failed, 1);
        note(&mut self.tally.failures, format!("{}: {reason}", kind.name()));
        self.tally.failed += u64::from(self.counts(due));
    }

    /// Handles the visitor's next due action: leaves, views the next page, or writes.
    fn go_on(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        if visitor.stage != Stage::There {
            return;
        }
        if visitor.leaves {
            let (socket, idle) = (visitor.socket.take(), std::mem::take(&mut visitor.idle));
            self.visitors.remove(&number);
            add(&self.state.counts.closed, 1);
            self.tally.left += 1;
            self.errands.extend(socket.map(Errand::HangUp));
            for handle in idle {
                if let Some((_, mut io)) = conns.get(handle) {
                    io.close();
                }
            }
        } else if let Some(due) = visitor.owed_message.take() {
            if let Some(handle) = visitor.socket {
                self.write(number, handle, due, conns);
            }
            self.errands.push(Errand::GoOn(number));
        } else if let Some(due) = visitor.owed_view.take() {
            self.begin_view(number, false, due);
        }
    }

    /// Another visitor, from those who were present when counting began.
    fn other_visitor(&mut self, number: u32) -> String {
        let visitors = self.state.plan.visitors;
        let other = (self.chance.chance() * f64::from(visitors)) as u32 % visitors;
        token::user(if other == number { (other + 1) % visitors.max(2) } else { other })
    }

    fn note_bytes(&mut self, bytes: usize) {
        self.tally.bytes += if self.counting_from.is_some() { bytes as u64 } else { 0 };
    }

    /// Schedules actions that were caused where only one connection could be reached.
    fn after(&mut self) {
        if !self.errands.is_empty() && !std::mem::replace(&mut self.called, true) {
            self.mail.send(self.worker, Mail::Beat);
        }
    }
}

impl Protocol for Browsers {
    type Conn = Conn;
    type Mail = Mail;

    fn accept(&mut self, _: Accepted, io: &mut Io<'_>) -> Conn {
        // There is no listener.
        io.abort();
        Conn::Fetch(Fetch { visitor: u32::MAX, job: None, reading: Reading::default(), used: false })
    }

    fn connected(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match conn {
            Conn::Fetch(Fetch { job: Some(job), .. }) => {
                let job = *job;
                self.ask(&job, io);
            }
            Conn::Fetch(_) => io.abort(),
            Conn::Socket(socket) => self.say_hello(socket, io),
        }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let taken = match conn {
            Conn::Fetch(fetch) => self.fetch_input(fetch, input, io),
            Conn::Socket(socket) => self.socket_input(socket, input, io),
        };
        self.after();
        taken
    }

    fn eof(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        if let Conn::Socket(socket) = conn {
            self.lose(socket, "the server hung up");
        }
        io.close();
        self.after();
    }

    fn timer(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match conn {
            Conn::Socket(socket) if socket.welcome && socket.received => {
                socket.received = false;
                self.say(socket, &Command::Ping { rid: None }, io);
                io.set_timer(Some(PING_EVERY));
            }
            Conn::Socket(socket) => {
                self.lose(socket, "no answer within 30 s");
                io.abort();
            }
            Conn::Fetch(fetch) => {
                if let Some(job) = fetch.job.take() {
                    self.finish(fetch.visitor, job, Err("no answer within 30 s".to_owned()));
                }
                io.abort();
            }
        }
        self.after();
    }

    fn drained(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn closed(&mut self, conn: Conn, handle: Handle, why: Closed, _: Now) {
        match conn {
            Conn::Fetch(fetch) => self.fetch_closed(&fetch, handle, why),
            Conn::Socket(mut socket) => self.lose(&mut socket, &format!("{why:?}")),
        }
        self.after();
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, Conn>) {
        self.called = false;
        match mail {
            Mail::Come { visitor, due, warm } => self.come(visitor, due, warm),
            Mail::Count { from } => self.count(from),
            Mail::Beat => self.beat(),
            Mail::End => {
                self.ended = true;
                self.due.clear();
            }
            Mail::Leave => {
                self.visitors.clear();
                conns.each(|conn, mut io| match conn {
                    Conn::Socket(socket) => {
                        socket.hung_up = true;
                        io.close();
                    }
                    _ => io.close(),
                });
            }
            // The receiver is gone if the run was given up.
            Mail::Report(to) => drop(to.send(self.tally.clone())),
        }
        self.run_errands(conns);
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.run_errands(conns);
        self.state.counts.note_cpu(self.worker);
    }
}
