//! Many clients on one worker of `edge`: they connect at their due times, stay alive as the protocol requires, and
//! follow a script.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use edge::{Accepted, Closed, Conns, Handle, Io, Now, Protocol};
use hdrhistogram::Histogram;
use web_proto::{Command, Event, Welcome};

use crate::agenda::Agenda;
use crate::client::{self, Client, Login, Masks};
use crate::failures::{Reasons, note};
use crate::latency_stamp::Stamps;
use crate::outage::Outage;
use crate::retry::Delay;
use crate::run_state::RunState;
use crate::tally::{Tally, add_times, histogram};
use crate::target::Farewell;
use crate::token;
use crate::traffic::Traffic;

/// A connection without a welcome after this time has failed.
const LOGIN_PATIENCE: Duration = Duration::from_secs(30);
/// Members of a worker who return, and whose connections are not established yet. Others wait, which counts as their wait for the server.
/// A worker that begins connections without end has no time for those that the server has accepted, and whose first byte it expects.
const CONNECTING: u32 = 128;
/// Share of the server's idle time-out after which a member sends a ping.
const PING_AFTER: f64 = 0.6;
/// A member that is still connected this long after its `bye` counts as a failure.
const LEAVE_PATIENCE: Duration = Duration::from_secs(10);
/// Connections for POSTs per worker. Members share them, so that they do not count as members' memory.
const LANES: usize = 16;

pub(crate) fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

pub(crate) fn add(count: &AtomicU64, n: u64) {
    count.fetch_add(n, Ordering::Relaxed);
}

/// The behaviour of members after the welcome. One value per worker.
pub(crate) trait Script: Default + Send + 'static {
    /// State of the run that all workers share.
    type Shared: Send + Sync + 'static;
    type Order: Send + 'static;
    type Tally: Tally;

    /// Before the first member connects.
    fn begin(&mut self, _cx: &Context<Self>) {}
    /// `member` has received an event.
    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Self>);
    /// Carries out an order of the plan for this worker's members.
    fn order(&mut self, order: Self::Order, cx: &mut Context<Self>);
    /// Completes the counts before they are reported.
    fn complete(&mut self, _tally: &mut Self::Tally) {}
    /// `member` has its welcome, for the first time or again.
    fn welcome(&mut self, _member: u32, _welcome: &Welcome<'_>, _cx: &mut Context<Self>) {}
    /// The connection of `member` has ended against its will. It comes back later.
    fn lost(&mut self, _member: u32, _cx: &mut Context<Self>) {}
    /// The resume position of `member`, for its next hello.
    fn position(&self, _member: u32) -> Option<&str> {
        None
    }
}

/// The state that a script reads and changes. A worker has every `workers`-th member of the run.
pub(crate) struct Context<S: Script> {
    pub(crate) worker: u32,
    workers: u32,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) stamps: Stamps,
    pub(crate) shared: Arc<S::Shared>,
    /// If a process dies in this run: members then recover from lost connections.
    pub(crate) outage: Option<Arc<Outage>>,
    pub(crate) tally: S::Tally,
    /// The members' answers.
    pub(crate) commands: Commands,
    /// Equal in each run.
    pub(crate) chance: Masks,
    /// The time of the event or the order.
    pub(crate) now: Instant,
}

impl<S: Script> Context<S> {
    pub(crate) fn new(
        worker: usize,
        workers: usize,
        traffic: Arc<Traffic>,
        stamps: Stamps,
        shared: Arc<S::Shared>,
    ) -> Context<S> {
        Context {
            worker: worker as u32,
            workers: workers as u32,
            traffic,
            stamps,
            shared,
            outage: None,
            tally: S::Tally::default(),
            commands: Commands::default(),
            chance: Masks::new(0x2545_f491_4f6c_dd1d ^ (worker as u64 + 1)),
            now: Instant::now(),
        }
    }

    pub(crate) fn has(&self, member: u32) -> bool {
        member % self.workers == self.worker
    }

    /// This worker's members below `members`.
    pub(crate) fn of(&self, members: u32) -> impl Iterator<Item = u32> + use<S> {
        (self.worker..members).step_by(self.workers as usize)
    }

    /// The index of a member among this worker's own.
    pub(crate) fn index(&self, member: u32) -> usize {
        (member / self.workers) as usize
    }

    /// This worker's part of a number that all workers share.
    pub(crate) fn part(&self, of: u32) -> u32 {
        of / self.workers
    }

    /// The `count`-th number of this worker: no other worker has it.
    pub(crate) fn number(&self, count: u64) -> u64 {
        count * u64::from(self.workers) + u64::from(self.worker)
    }
}

/// Commands to send, with their members.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    bytes: Vec<u8>,
    ends: Vec<(u32, usize)>,
    later: Vec<(Delay, u32, Vec<u8>)>,
}

impl Commands {
    pub(crate) fn send(&mut self, member: u32, command: &Command<'_>) {
        command.write(&mut self.bytes);
        self.ends.push((member, self.bytes.len()));
    }

    fn send_written(&mut self, member: u32, command: &[u8]) {
        self.bytes.extend_from_slice(command);
        self.ends.push((member, self.bytes.len()));
    }

    /// Repeats a refused command later.
    pub(crate) fn send_after(&mut self, wait: Delay, member: u32, command: &Command<'_>) {
        let mut bytes = Vec::new();
        command.write(&mut bytes);
        self.later.push((wait, member, bytes));
    }

    fn each(&mut self, mut act: impl FnMut(u32, &[u8])) {
        let mut start = 0;
        for (member, end) in self.ends.drain(..) {
            act(member, &self.bytes[start..end]);
            start = end;
        }
        self.bytes.clear();
    }
}

/// Mailboxes never refuse these: the plan bounds them by its rates and its phases.
pub(crate) enum Mail<S: Script> {
    /// Begin the connections of all members below this number.
    Begin(u32),
    Order(S::Order),
    /// All members disconnect on purpose.
    Leave,
    /// The connections of all members below this number break. Each reconnects after a random time up to `spread`.
    Break {
        below: u32,
        spread: Duration,
    },
    /// Reconnect members whose time has come.
    Return,
    /// The members below this number stop reading, or continue.
    Reading {
        below: u32,
        on: bool,
    },
    Report(mpsc::Sender<WorkerReport<S::Tally>>),
    /// Answered when all earlier mails have been carried out.
    Barrier(mpsc::Sender<()>),
}

/// The counts of one worker; of all workers, once added.
#[derive(Clone)]
pub(crate) struct WorkerReport<T> {
    pub(crate) login: Histogram<u64>,
    /// From a member's due time for a reconnect to its welcome.
    pub(crate) returns: Histogram<u64>,
    pub(crate) failures: Reasons,
    pub(crate) tally: T,
}

impl<T: Tally> Default for WorkerReport<T> {
    fn default() -> WorkerReport<T> {
        WorkerReport {
            login: histogram(),
            returns: histogram(),
            failures: Reasons::new(),
            tally: T::default(),
        }
    }
}

impl<T: Tally> WorkerReport<T> {
    pub(crate) fn sum(of_workers: Vec<WorkerReport<T>>) -> WorkerReport<T> {
        let mut all = WorkerReport::<T>::default();
        for other in of_workers {
            add_times(&mut all.login, &other.login);
            add_times(&mut all.returns, &other.returns);
            all.failures.add(&other.failures);
            all.tally.add(&other.tally);
        }
        all
    }
}

/// The clients of one worker.
pub(crate) struct Worker<S: Script> {
    state: Arc<RunState>,
    worker: usize,
    script: S,
    cx: Context<S>,
    /// The next member to begin; this worker has every `workers`-th.
    next: u32,
    /// By number / workers.
    handles: Vec<Option<Handle>>,
    /// Whole requests that wait for a lane.
    posts: VecDeque<Vec<u8>>,
    idle_lanes: Vec<Handle>,
    lanes: usize,
    ping_every: Duration,
    /// Ticks since its CPU was recorded.
    unnoted: u32,
    counts: WorkerReport<S::Tally>,
    /// Members whose connections are not established yet.
    connecting: u32,
    /// Members who reconnect later.
    away: Agenda<u32>,
    /// Commands that wait for a retry.
    waiting: Agenda<(u32, Vec<u8>)>,
    /// Members whom the server deferred for the first time.
    deferred: Agenda<u32>,
    /// Members that are away or reconnecting.
    returning: HashMap<u32, Returning>,
    /// The node of each member that has left its first one.
    moved: HashMap<u32, usize>,
    masks: Masks,
    out: Vec<u8>,
}

pub(crate) enum Conn {
    Member(Member),
    /// For POSTs of any member.
    Lane,
}

pub(crate) struct Member {
    client: Client,
    number: u32,
    /// The index of its node.
    target: usize,
    stage: Stage,
    /// WebSocket: received a frame since the last ping.
    received: bool,
}

#[derive(Debug, Clone, Copy)]
struct Returning {
    due: Instant,
    /// Failed attempts.
    tries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its connection is not established.
    Connecting,
    LoggingIn,
    Active,
    Leaving,
    /// Its failure is counted.
    Failed,
}

impl<S: Script> Worker<S> {
    pub(crate) fn new(state: Arc<RunState>, worker: usize, cx: Context<S>) -> Worker<S> {
        let mut script = S::default();
        script.begin(&cx);
        Worker {
            next: worker as u32,
            masks: Masks::new(0x9e37_79b9 ^ (worker as u64 + 1)),
            state,
            worker,
            script,
            cx,
            handles: Vec::new(),
            posts: VecDeque::new(),
            idle_lanes: Vec::new(),
            lanes: 0,
            ping_every: Duration::from_secs(45),
            unnoted: 0,
            counts: WorkerReport::default(),
            connecting: 0,
            away: Agenda::default(),
            waiting: Agenda::default(),
            deferred: Agenda::default(),
            returning: HashMap::new(),
            moved: HashMap::new(),
            out: Vec::new(),
        }
    }

    fn begin(&mut self, until: u32, conns: &mut Conns<'_, Conn>) {
        while self.next < until {
            let number = self.next;
            self.next += self.state.workers as u32;
            add(&self.state.counts.begun, 1);
            self.handles.push(None);
            self.connect(number, conns);
        }
    }

    fn connect(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        let client = Client::new(self.state.transport);
        let target = self.moved.get(&number).copied().unwrap_or_else(|| self.state.first_target(number));
        let member = Member { client, number, target, stage: Stage::Connecting, received: true };
        match conns.connect(self.state.connect(target, self.state.source(number)), Conn::Member(member)) {
            Ok(handle) => {
                self.handles[number as usize / self.state.workers] = Some(handle);
                self.connecting += 1;
            }
            Err(error) => self.no_welcome(number, format!("connect: {}", kind(&error)), None),
        }
    }

    fn break_all(&mut self, below: u32, spread: Duration, conns: &mut Conns<'_, Conn>) {
        let now = Instant::now();
        let Worker { state, away, returning, masks, waiting, .. } = self;
        conns.each(|conn, mut io| {
            if let Conn::Member(member) = conn
                && member.number < below
                && member.stage == Stage::Active
            {
                add(&state.counts.left, 1);
                member.stage = Stage::Leaving;
                io.abort();
                let due = now + spread.mul_f64(masks.chance());
                away.push(due, member.number);
                returning.insert(member.number, Returning { due, tries: 0 });
            }
        });
        // A member repeats its unacknowledged commands after a reconnect.
        let forgotten = waiting.forget(|(member, _)| returning.contains_key(member));
        state.counts.waiting.fetch_sub(forgotten, Ordering::Relaxed);
    }

    fn bring_back(&mut self, conns: &mut Conns<'_, Conn>) {
        let now = Instant::now();
        while self.connecting < CONNECTING
            && let Some((_, number)) = self.away.pop(now)
        {
            self.connect(number, conns);
        }
    }

    fn connect_deferred(&mut self, conns: &mut Conns<'_, Conn>) {
        let now = Instant::now();
        while self.connecting < CONNECTING
            && let Some((_, number)) = self.deferred.pop(now)
        {
            self.connect(number, conns);
        }
    }

    /// A login has failed. `advice`: milliseconds after which the server asks the member to return. A full server may
    /// defer a new connection; a returning member comes again in any case.
    fn no_welcome(&mut self, number: u32, reason: String, advice: Option<u64>) {
        let (reason, tries, agenda) = match (self.returning.get_mut(&number), advice) {
            (Some(returning), _) => {
                returning.tries += 1;
                let tries = returning.tries;
                self.move_on(number);
                (format!("on the way back: {reason}"), tries, &mut self.away)
            }
            (None, Some(_)) => (format!("told to come later: {reason}"), 0, &mut self.deferred),
            // In a run with a kill, members have patience from the beginning.
            (None, None) if self.state.outage.is_some() => {
                (format!("tried again: {reason}"), 1, &mut self.deferred)
            }
            (None, None) => return self.fail(reason),
        };
        note(&mut self.counts.failures, reason);
        agenda.push(Instant::now() + Delay::reconnect(advice, tries).draw(&mut self.masks), number);
    }

    /// The member tries another node next, as through a balancer.
    fn move_on(&mut self, number: u32) {
        let count = self.state.targets.len();
        if count > 1 {
            let now = self.moved.get(&number).copied().unwrap_or_else(|| self.state.first_target(number));
            let step = 1 + self.masks.below(count as u32 - 1) as usize;
            self.moved.insert(number, (now + step) % count);
        }
    }

    /// A member who recovers comes back after the time that the protocol advises.
    fn come_back(&mut self, member: &Member, outage: &Outage, advice: Option<u64>) {
        outage.closed(member.target);
        self.cx.now = Instant::now();
        self.script.lost(member.number, &mut self.cx);
        self.move_on(member.number);
        let delay = match (advice, outage.spread()) {
            (None, Some(spread)) => spread.mul_f64(self.masks.chance()),
            (advice, _) => Delay::reconnect(advice, 0).draw(&mut self.masks),
        };
        let due = self.cx.now + delay;
        self.away.push(due, member.number);
        self.returning.insert(member.number, Returning { due, tries: 0 });
    }

    fn fail(&mut self, reason: String) {
        add(&self.state.counts.failed, 1);
        note(&mut self.counts.failures, reason);
    }

    /// `advice`: milliseconds after which the server asks the member to return.
    fn fail_member(&mut self, member: &mut Member, reason: String, advice: Option<u64>, io: &mut Io<'_>) {
        self.lost(member, reason, advice);
        self.connecting -= u32::from(member.stage == Stage::Connecting);
        member.stage = Stage::Failed;
        io.abort();
    }

    fn lost(&mut self, member: &Member, reason: String, advice: Option<u64>) {
        match member.stage {
            Stage::Connecting | Stage::LoggingIn => self.no_welcome(member.number, reason, advice),
            Stage::Active => {
                add(&self.state.counts.left, 1);
                match self.state.outage.clone() {
                    Some(outage) => {
                        note(&mut self.counts.failures, format!("ended, and came back: {reason}"));
                        self.come_back(member, &outage, advice);
                    }
                    None => self.fail(reason),
                }
            }
            Stage::Leaving | Stage::Failed => {}
        }
    }

    fn member_input(&mut self, member: &mut Member, input: &[u8], io: &mut Io<'_>) -> usize {
        let now = Instant::now();
        let Worker { state, script, cx, out, masks, ping_every, .. } = self;
        out.clear();
        cx.now = now;
        let number = member.number;
        let (mut welcome, mut bye, mut queued) = (false, None, None);
        let taken =
            member.client.input(&state.targets[member.target], input, masks, out, &mut |event| match event {
                Event::Welcome(event) => {
                    welcome = true;
                    *ping_every = Duration::from_millis(event.limits.idle_ms.into()).mul_f64(PING_AFTER);
                    script.welcome(number, event, cx);
                }
                Event::Bye { code, retry_after, .. } => bye = Some((*code, *retry_after)),
                Event::Queued { within_ms } => queued = Some(*within_ms),
                event => script.event(number, event, cx),
            });
        if taken.as_ref().is_ok_and(|taken| *taken > 0) {
            add(&state.counts.chunks, 1);
            member.received = true;
        }
        self.flush_own(member, io);
        if welcome && member.stage == Stage::LoggingIn {
            self.welcome(member, now);
        }
        match (taken, bye) {
            (Err(fault), _) => {
                self.fail_member(member, fault.to_string(), fault.retry_after(), io);
                return input.len();
            }
            // The server closes a WebSocket.
            (Ok(_), Some(_)) if member.stage == Stage::Leaving && self.state.transport.server_closes() => {}
            (Ok(_), Some(_)) if member.stage == Stage::Leaving => io.close(),
            (Ok(_), Some((code, advice))) => {
                self.fail_member(member, format!("bye: {}", code.word()), advice, io);
            }
            _ => {}
        }
        if let Some(within_ms) = queued {
            io.set_timer(Some(Duration::from_millis(within_ms)));
        }
        match (member.stage, self.state.transport.silence()) {
            (Stage::Active, Some(patience)) => io.set_timer(Some(patience)),
            (Stage::Active, None) if welcome => io.set_timer(Some(self.ping_every)),
            _ => {}
        }
        taken.unwrap_or(input.len())
    }

    fn welcome(&mut self, member: &mut Member, now: Instant) {
        member.stage = Stage::Active;
        add(&self.state.counts.welcomed, 1);
        if let Some(returning) = self.returning.remove(&member.number) {
            add(&self.state.counts.returned, 1);
            let waited = now.saturating_duration_since(returning.due);
            return self.counts.returns.saturating_record(waited.as_micros() as u64);
        }
        let waited = now.saturating_duration_since(self.state.due(member.number));
        self.counts.login.saturating_record(waited.as_micros() as u64);
    }

    /// Sends the pending bytes and commands of a member: on its own connection, or later over a lane.
    fn flush_own(&mut self, member: &mut Member, io: &mut Io<'_>) {
        let Worker { state, cx, out, masks, posts, .. } = self;
        cx.commands.each(|_, command| {
            if state.transport.posts() {
                posts.extend(post(state, &member.client, command));
            } else {
                member.client.say(command, masks, out);
            }
        });
        io.send(out);
        out.clear();
        self.queue_retries();
    }

    /// Sends retries when they are due.
    fn queue_retries(&mut self) {
        for (wait, member, command) in self.cx.commands.later.drain(..) {
            add(&self.state.counts.waiting, 1);
            self.waiting.push(Instant::now() + wait.draw(&mut self.masks), (member, command));
        }
    }

    fn resend(&mut self, conns: &mut Conns<'_, Conn>) {
        let now = Instant::now();
        while let Some((_, (member, command))) = self.waiting.pop(now) {
            self.state.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            // After its reconnect it repeats its unacknowledged commands.
            if !self.returning.contains_key(&member) {
                self.cx.commands.send_written(member, &command);
            }
        }
        self.flush(conns);
    }

    /// Sends commands of any members, in their order.
    fn flush(&mut self, conns: &mut Conns<'_, Conn>) {
        let Worker { state, cx, out, masks, posts, handles, .. } = self;
        cx.commands.each(|number, command| {
            let handle = handles.get(number as usize / state.workers).copied().flatten();
            // A disconnected member is counted already.
            let found = handle.and_then(|handle| conns.get(handle));
            let Some((Conn::Member(member), mut io)) = found else { return };
            if state.transport.posts() {
                posts.extend(post(state, &member.client, command));
            } else {
                out.clear();
                member.client.say(command, masks, out);
                io.send(out);
            }
        });
        self.queue_retries();
        self.use_lanes(conns);
    }

    fn use_lanes(&mut self, conns: &mut Conns<'_, Conn>) {
        while !self.posts.is_empty() {
            if let Some(lane) = self.idle_lanes.pop() {
                if let Some((_, mut io)) = conns.get(lane) {
                    self.post(&mut io);
                }
            } else if self.lanes < LANES {
                match conns.connect(self.state.connect(0, None), Conn::Lane) {
                    Ok(_) => self.lanes += 1,
                    Err(error) => return self.fail(format!("connect for a POST: {}", kind(&error))),
                }
            } else {
                return;
            }
        }
    }

    /// Uses an idle lane.
    fn post(&mut self, lane: &mut Io<'_>) {
        match self.posts.pop_front() {
            Some(request) => lane.send(&request),
            None => self.idle_lanes.push(lane.handle()),
        }
    }

    fn lane_input(&mut self, input: &[u8], io: &mut Io<'_>) -> usize {
        match client::posted(input) {
            Ok(None) => 0,
            Ok(Some(bytes)) => {
                self.post(io);
                bytes
            }
            Err(fault) => {
                self.fail(format!("POST: {fault}"));
                io.abort();
                input.len()
            }
        }
    }

    fn leave(&mut self, conns: &mut Conns<'_, Conn>) {
        self.deferred.clear();
        self.away.clear();
        let Worker { state, masks, out, cx, .. } = self;
        let mut bye = Vec::new();
        Command::Bye.write(&mut bye);
        conns.each(|conn, mut io| match conn {
            Conn::Member(member) if member.stage == Stage::Active => {
                add(&state.counts.left, 1);
                member.stage = Stage::Leaving;
                io.set_timer(Some(LEAVE_PATIENCE));
                match state.transport.farewell() {
                    Farewell::Say => {
                        out.clear();
                        member.client.say(&bye, masks, out);
                        io.send(out);
                    }
                    Farewell::Close => io.close(),
                    Farewell::Post => cx.commands.send(member.number, &Command::Bye),
                }
            }
            Conn::Member(member) => {
                // If the run ends while a member signs in, the member has not failed.
                if matches!(member.stage, Stage::Connecting | Stage::LoggingIn) {
                    member.stage = Stage::Leaving;
                }
                io.abort();
            }
            Conn::Lane => {}
        });
        self.flush(conns);
    }
}

impl<S: Script> Protocol for Worker<S> {
    type Conn = Conn;
    type Mail = Mail<S>;

    fn accept(&mut self, _: Accepted, io: &mut Io<'_>) -> Conn {
        // There is no listener.
        io.abort();
        Conn::Lane
    }

    fn connected(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match conn {
            Conn::Member(member) => {
                member.stage = Stage::LoggingIn;
                self.connecting -= 1;
                self.out.clear();
                let position = self.script.position(member.number);
                let (site, token) = self.state.tokens.of(member.number);
                let user = token::user(member.number);
                let login = Login { site, user: &user, token: &token, position };
                member.client.start(
                    &self.state.targets[member.target],
                    login,
                    &mut self.masks,
                    &mut self.out,
                );
                io.send(&self.out);
                io.set_timer(Some(LOGIN_PATIENCE));
            }
            Conn::Lane => {
                io.set_timer(None);
                self.post(io);
            }
        }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        match conn {
            Conn::Member(member) => self.member_input(member, input, io),
            Conn::Lane => self.lane_input(input, io),
        }
    }

    fn eof(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        if let Conn::Member(member) = conn
            && member.stage != Stage::Leaving
        {
            return self.fail_member(member, "the server hung up".to_owned(), None, io);
        }
        io.close();
    }

    fn timer(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        let Conn::Member(member) = conn else { return };
        match (member.stage, self.state.transport.silence()) {
            (Stage::Connecting | Stage::LoggingIn, _) => {
                self.fail_member(member, "no welcome within 30 s".to_owned(), None, io)
            }
            (Stage::Active, None) if member.received => {
                member.received = false;
                self.cx.commands.send(member.number, &Command::Ping { rid: None });
                self.out.clear();
                self.flush_own(member, io);
                io.set_timer(Some(self.ping_every));
            }
            (Stage::Active, _) => {
                self.fail_member(member, "the server was silent too long".to_owned(), None, io)
            }
            (Stage::Leaving, _) => self.fail("no close after bye".to_owned()),
            (Stage::Failed, _) => {}
        }
        if member.stage == Stage::Leaving {
            io.abort();
        }
    }

    fn drained(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn closed(&mut self, conn: Conn, handle: Handle, why: Closed, _: Now) {
        match conn {
            Conn::Member(member) => {
                add(&self.state.counts.closed, 1);
                let when = match member.stage {
                    Stage::Connecting => "cannot connect",
                    Stage::LoggingIn => "closed before welcome",
                    Stage::Active | Stage::Leaving | Stage::Failed => "lost",
                };
                self.connecting -= u32::from(member.stage == Stage::Connecting);
                self.lost(&member, format!("{when}: {why:?}"), None);
            }
            Conn::Lane => {
                self.lanes -= 1;
                self.idle_lanes.retain(|lane| *lane != handle);
            }
        }
    }

    fn mail(&mut self, mail: Mail<S>, conns: &mut Conns<'_, Conn>) {
        match mail {
            Mail::Begin(until) => self.begin(until, conns),
            Mail::Order(order) => {
                self.cx.now = Instant::now();
                self.script.order(order, &mut self.cx);
                self.flush(conns);
            }
            Mail::Leave => self.leave(conns),
            Mail::Break { below, spread } => self.break_all(below, spread, conns),
            Mail::Return => self.bring_back(conns),
            Mail::Reading { below, on } => conns.each(|conn, mut io| {
                if matches!(conn, Conn::Member(member) if member.number < below) {
                    io.set_reading(on);
                }
            }),
            Mail::Report(to) => {
                self.script.complete(&mut self.cx.tally);
                self.counts.tally = self.cx.tally.clone();
                // The receiver is gone if the run was given up.
                let _ = to.send(self.counts.clone());
            }
            Mail::Barrier(to) => {
                let _ = to.send(());
            }
        }
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.connect_deferred(conns);
        if self.state.outage.is_some() {
            self.bring_back(conns);
        }
        self.resend(conns);
        // Reading the CPU costs some 15 µs, and there may be 60 workers.
        self.unnoted += 1;
        if self.unnoted as usize * 8 >= self.state.workers {
            self.unnoted = 0;
            self.state.counts.note_cpu(self.worker);
        }
    }
}

/// A command of a member that goes over a lane.
fn post(state: &RunState, client: &Client, command: &[u8]) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    client::post_commands(&state.targets[0], client.key()?, command, &mut request);
    Some(request)
}

/// A reason that is equal for equal failures.
fn kind(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::AddrNotAvailable => "no free port".to_owned(),
        _ => error.to_string(),
    }
}
