//! Many browsers on one worker of `edge`: each with a few connections for files and one WebSocket.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use edge::{Accepted, Closed, Conns, Handle, Io, Mailboxes, Now, Protocol};
use web_proto::{Command, Hello, SendTo, VERSION};

use super::exchange::{self, PACKED, PLAIN, Part, Reading};
use super::heard::Heard;
use super::road::Road;
use super::tally::Tally;
use super::visitor::{Job, Next, Stage, Visitor, What, gap, rest_of_gap};
use super::{Kind, VisitPlan};
use crate::client::{Client, Masks};
use crate::crowd::add;
use crate::probe;
use crate::token;

/// An answer that takes longer is a failure.
pub(super) const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// The protocol asks for a word at least every 50 s.
const PING_EVERY: Duration = Duration::from_secs(45);
/// A visitor that is looked after later than this is late by our own fault.
const LATE: Duration = Duration::from_millis(50);

pub(super) enum Mail {
    /// Fetches a file as it is or as a browser would, and hands the whole answer over.
    Look {
        path: String,
        packed: bool,
        to: mpsc::Sender<Result<Seen, String>>,
    },
    /// A visitor comes; one of those who are in the middle of their visit when counting begins, or a new one.
    Come {
        visitor: u32,
        due: Instant,
        warm: bool,
    },
    /// Counting begins, and time runs for those who are there.
    Count {
        from: Instant,
    },
    /// What has become due.
    Beat,
    /// Nothing more becomes due.
    End,
    Leave,
    Report(mpsc::Sender<Tally>),
}

/// An answer, for those who want to read it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// What a visitor does by the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    View,
    Write,
    Leave,
}

/// What only a turn can do that reaches all connections.
enum Errand {
    Pump(u32),
    LogIn(u32),
    HangUp(Handle),
    /// A view that was due, or the end of the visit.
    GoOn(u32),
}

pub(super) struct Browsers {
    road: Arc<Road>,
    worker: usize,
    mail: Mailboxes<Mail>,
    visitors: HashMap<u32, Visitor>,
    due: BinaryHeap<Reverse<(Instant, u32, Act)>>,
    errands: Vec<Errand>,
    /// A mail to ourselves is on its way.
    called: bool,
    /// Requests that were due earlier do not count.
    counting_from: Option<Instant>,
    ended: bool,
    tally: Tally,
    chance: Masks,
    /// Numbers what is said over WebSockets.
    next_rid: u64,
    out: Vec<u8>,
    frame: Vec<u8>,
}

pub(super) enum Conn {
    Fetch(Fetch),
    Socket(Socket),
    Look(Look),
}

pub(super) struct Fetch {
    visitor: u32,
    job: Option<Job>,
    reading: Reading,
    /// It has carried a request before.
    used: bool,
}

pub(super) struct Socket {
    visitor: u32,
    client: Client,
    due: Instant,
    welcome: bool,
    heard: bool,
    hung_up: bool,
    /// What was asked and is not answered.
    asked: Vec<(u64, Kind, Instant)>,
}

pub(super) struct Look {
    path: String,
    packed: bool,
    reading: Reading,
    seen: Seen,
    to: mpsc::Sender<Result<Seen, String>>,
}

impl Browsers {
    pub(super) fn new(road: Arc<Road>, worker: usize, mail: Mailboxes<Mail>) -> Browsers {
        Browsers {
            chance: Masks::new(road.marks.seed() ^ ((worker as u64 + 1) << 32)),
            road,
            worker,
            mail,
            visitors: HashMap::new(),
            due: BinaryHeap::new(),
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
        let road = Arc::clone(&self.road);
        let (site, now) = (road.site(), Instant::now());
        let mut visitor = Visitor::new(site);
        if warm {
            visitor.warm(site, now, road.plan.stay, &mut self.chance);
        } else {
            self.tally.came += 1;
            self.due.push(Reverse((due + road.plan.stay, number, Act::Leave)));
        }
        add(&road.counts.come, 1);
        self.visitors.insert(number, visitor);
        self.begin_view(number, !warm, due);
    }

    /// The middle of a visit is a moment of chance in it, and so is the one between two pages.
    fn count(&mut self, from: Instant) {
        self.counting_from = Some(from);
        self.tally = Tally::default();
        let VisitPlan { stay, think, .. } = self.road.plan;
        for number in self.visitors.keys() {
            self.due.push(Reverse((from + rest_of_gap(think, &mut self.chance), *number, Act::View)));
            self.due.push(Reverse((from + stay.mul_f64(self.chance.chance()), *number, Act::Leave)));
        }
    }

    fn beat(&mut self) {
        let now = Instant::now();
        while let Some(Reverse((due, number, act))) = self.due.peek().copied()
            && due <= now
        {
            self.due.pop();
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
        let VisitPlan { think, write_every, .. } = self.road.plan;
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        visitor.view(self.road.site(), first, due, &mut self.chance);
        let old = visitor.socket.take();
        add(&self.road.traffic.sent, 1);
        // The old page's connection ends when its successor is asked for.
        self.errands.extend(old.map(Errand::HangUp));
        self.errands.push(Errand::Pump(number));
        if self.counting_from.is_some() && !self.ended {
            self.due.push(Reverse((due + gap(think, &mut self.chance), number, Act::View)));
            if self.chance.chance() < think.as_secs_f64() / write_every.as_secs_f64().max(0.001) {
                let after = think.mul_f64(0.1 + 0.35 * self.chance.chance());
                self.due.push(Reverse((due + after, number, Act::Write)));
            }
        }
    }

    fn run_errands(&mut self, conns: &mut Conns<'_, Conn>) {
        // What follows from one errand may be another; each visitor has few.
        while let Some(errand) = self.errands.pop() {
            match errand {
                Errand::Pump(number) => self.pump(number, conns),
                Errand::LogIn(number) => self.log_in(number, conns),
                Errand::HangUp(socket) => self.hang_up(socket, conns),
                Errand::GoOn(number) => self.go_on(number, conns),
            }
        }
    }

    /// Gives connections to what waits for one.
    fn pump(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        while let Some(visitor) = self.visitors.get_mut(&number)
            && let Some(job) = visitor.jobs.front().copied()
        {
            if let Some(handle) = visitor.idle.pop() {
                let Some((Conn::Fetch(fetch), mut io)) = conns.get(handle) else { continue };
                visitor.jobs.pop_front();
                visitor.in_flight += 1;
                fetch.job = Some(job);
                self.ask(&job, &mut io);
                continue;
            }
            if visitor.connections >= self.road.plan.connections {
                return;
            }
            visitor.jobs.pop_front();
            visitor.in_flight += 1;
            let fetch = Fetch { visitor: number, job: Some(job), reading: Reading::default(), used: false };
            match conns.connect(self.road.connect(number), Conn::Fetch(fetch)) {
                Ok(_) => visitor.connections += 1,
                Err(error) => self.finish(number, job, Err(format!("connect: {error}"))),
            }
        }
    }

    fn ask(&mut self, job: &Job, io: &mut Io<'_>) {
        let (site, target) = (self.road.site(), &self.road.target);
        self.out.clear();
        match job.what {
            What::Page(page) => {
                exchange::get(target, &site.pages[page as usize].path, PACKED, None, &mut self.out)
            }
            What::File(file) => {
                let file = &site.files[file as usize];
                let tag = file.caching.tag.as_deref().filter(|_| job.known);
                exchange::get(target, &file.path, PACKED, tag, &mut self.out);
            }
            What::Token => exchange::post(target, site.token.as_deref().unwrap_or("/"), &mut self.out),
        }
        io.send(&self.out);
        io.set_timer(Some(ANSWER_PATIENCE));
    }

    /// A job is over, well or not: counts it, and goes on with what follows.
    fn finish(&mut self, number: u32, job: Job, outcome: Result<(), String>) {
        let now = Instant::now();
        let road = Arc::clone(&self.road);
        // What follows is counted before its cause is: at no moment does everything seem to be answered.
        if let Some(visitor) = self.visitors.get_mut(&number) {
            visitor.in_flight -= 1;
            let before = visitor.jobs.len();
            let next = visitor.done(road.site(), job, outcome.is_ok(), now);
            let more = visitor.jobs.len().saturating_sub(before) + usize::from(next == Next::LogIn);
            add(&road.traffic.sent, more as u64);
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
        self.road.traffic.deliver(self.worker as u32, micros);
        if self.counts(due)
            && let Some(times) = self.tally.times.get_mut(&kind)
        {
            times.saturating_record(micros);
        }
    }

    fn fail(&mut self, kind: Kind, due: Instant, reason: &str) {
        add(&self.road.counts.failed, 1);
        *self.tally.failures.entry(format!("{}: {reason}", kind.name())).or_default() += 1;
        self.tally.failed += u64::from(self.counts(due));
    }

    fn log_in(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        let due = Instant::now();
        let socket = Socket {
            visitor: number,
            client: Client::new(crate::target::Transport::Websocket),
            due,
            welcome: false,
            heard: true,
            hung_up: false,
            asked: Vec::new(),
        };
        match conns.connect(self.road.connect(number), Conn::Socket(socket)) {
            Ok(handle) => visitor.socket = Some(handle),
            Err(error) => {
                visitor.give_up();
                self.fail(Kind::Login, due, &format!("connect: {error}"));
                self.errands.push(Errand::GoOn(number));
            }
        }
    }

    fn hang_up(&mut self, handle: Handle, conns: &mut Conns<'_, Conn>) {
        let Some((Conn::Socket(socket), mut io)) = conns.get(handle) else { return };
        self.out.clear();
        socket.client.go_away(&mut self.chance, &mut self.out);
        if socket.welcome {
            add(&self.road.counts.logged_out, 1);
        }
        socket.hung_up = true;
        for (_, kind, due) in std::mem::take(&mut socket.asked) {
            self.fail(kind, due, "no answer before the page was left");
        }
        io.send(&self.out);
        io.close();
    }

    /// The visitor has time: leaves, looks at the next page, or writes.
    fn go_on(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        let Some(visitor) = self.visitors.get_mut(&number) else { return };
        if visitor.stage != Stage::There {
            return;
        }
        if visitor.leaves {
            let (socket, idle) = (visitor.socket.take(), std::mem::take(&mut visitor.idle));
            self.visitors.remove(&number);
            add(&self.road.counts.gone, 1);
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

    fn write(&mut self, number: u32, handle: Handle, due: Instant, conns: &mut Conns<'_, Conn>) {
        let to = self.somebody_else(number);
        let rid = self.rid();
        let Some((Conn::Socket(socket), mut io)) = conns.get(handle) else { return };
        self.tally.written += u64::from(self.counting_from.is_some_and(|from| due >= from));
        add(&self.road.traffic.sent, 1);
        socket.asked.push((rid, Kind::Message, due));
        let command = Command::Send {
            id: self.road.marks.write(rid, due).into(),
            to: SendTo::User(to.into()),
            body: "Did you see the new thread? I would not have thought so.".into(),
            reply_to: None,
        };
        self.say(socket, &command, &mut io);
    }

    fn say(&mut self, socket: &Socket, command: &Command<'_>, io: &mut Io<'_>) {
        self.frame.clear();
        self.out.clear();
        command.write(&mut self.frame);
        socket.client.say(&self.frame, &mut self.chance, &mut self.out);
        io.send(&self.out);
    }

    fn rid(&mut self) -> u64 {
        self.next_rid += 1;
        self.next_rid * 8 + self.worker as u64 % 8
    }

    /// Anybody who was there when counting began.
    fn somebody_else(&mut self, number: u32) -> String {
        let visitors = self.road.plan.visitors;
        let other = (self.chance.chance() * f64::from(visitors)) as u32 % visitors;
        token::user(if other == number { (other + 1) % visitors.max(2) } else { other })
    }

    fn fetch_input(&mut self, fetch: &mut Fetch, input: &[u8], io: &mut Io<'_>) -> usize {
        let Some(job) = fetch.job else {
            self.fail(Kind::Page, Instant::now(), "bytes that nobody asked for");
            io.abort();
            return input.len();
        };
        let (taken, answer) = match fetch.reading.read(input, &mut |_| {}) {
            Ok((taken, None)) => {
                self.note_bytes(taken);
                return taken;
            }
            Ok((taken, Some(answer))) => (taken, answer),
            Err(fault) => {
                fetch.job = None;
                self.finish(fetch.visitor, job, Err(fault.to_string()));
                io.abort();
                return input.len();
            }
        };
        self.note_bytes(taken);
        fetch.job = None;
        fetch.used = true;
        let outcome = match answer.status {
            200 if job.kind == Kind::Token && !answer.json => Err("it is not JSON".to_owned()),
            200 => Ok(()),
            304 if job.known => {
                self.tally.unchanged += u64::from(self.counts(job.due));
                Ok(())
            }
            status => Err(format!("the status {status}")),
        };
        self.finish(fetch.visitor, job, outcome);
        if answer.closes {
            io.close();
            return taken;
        }
        self.take_next(fetch, io);
        taken
    }

    /// The connection is free: for the visitor's next job, or to be kept.
    fn take_next(&mut self, fetch: &mut Fetch, io: &mut Io<'_>) {
        let Some(visitor) = self.visitors.get_mut(&fetch.visitor) else { return io.close() };
        let Some(job) = visitor.jobs.pop_front() else {
            visitor.idle.push(io.handle());
            return io.set_timer(None);
        };
        visitor.in_flight += 1;
        fetch.job = Some(job);
        self.ask(&job, io);
    }

    fn note_bytes(&mut self, bytes: usize) {
        self.tally.bytes += if self.counting_from.is_some() { bytes as u64 } else { 0 };
    }

    fn socket_input(&mut self, socket: &mut Socket, input: &[u8], io: &mut Io<'_>) -> usize {
        let now = Instant::now();
        let road = Arc::clone(&self.road);
        self.out.clear();
        let mut heard = Heard::default();
        let taken = socket.client.input(&road.target, input, &mut self.chance, &mut self.out, &mut |event| {
            heard.note(event, road.marks);
        });
        io.send(&self.out);
        if socket.hung_up {
            return taken.unwrap_or(input.len());
        }
        socket.heard = true;
        self.tally.received += heard.messages;
        for (rid, refused) in heard.answered {
            let Some(at) = socket.asked.iter().position(|(asked, ..)| *asked == rid) else { continue };
            let (_, kind, due) = socket.asked.swap_remove(at);
            match refused {
                None => self.succeed(kind, due, now),
                Some(code) => self.fail(kind, due, &format!("refused: {code}")),
            }
        }
        if heard.welcome && !socket.welcome {
            self.welcome(socket, now, io);
        }
        match (taken, heard.bye) {
            (Ok(taken), None) => {
                self.note_bytes(taken);
                return taken;
            }
            (Ok(_), Some(code)) => self.lose(socket, &format!("bye: {code}")),
            (Err(fault), _) => self.lose(socket, &fault.to_string()),
        }
        io.abort();
        input.len()
    }

    fn welcome(&mut self, socket: &mut Socket, now: Instant, io: &mut Io<'_>) {
        socket.welcome = true;
        add(&self.road.counts.logged_in, 1);
        io.set_timer(Some(PING_EVERY));
        self.begin_reading(socket, now, io);
        self.succeed(Kind::Login, socket.due, now);
    }

    fn begin_reading(&mut self, socket: &mut Socket, now: Instant, io: &mut Io<'_>) {
        let Some(visitor) = self.visitors.get_mut(&socket.visitor) else { return };
        visitor.stage = Stage::There;
        // Before counting begins, whoever is asked about may not have come yet.
        if visitor.opens && self.counting_from.is_some() {
            let to = self.somebody_else(socket.visitor);
            let (contacts, history) = (self.rid(), self.rid());
            socket.asked.extend([(contacts, Kind::Contacts, now), (history, Kind::History, now)]);
            add(&self.road.traffic.sent, 2);
            self.say(socket, &Command::Contacts { rid: contacts, after: None, limit: None }, io);
            let history = Command::History {
                rid: history,
                to: SendTo::User(to.into()),
                before: None,
                after: None,
                limit: Some(30),
            };
            self.say(socket, &history, io);
        }
        self.errands.push(Errand::GoOn(socket.visitor));
    }

    /// The session ends against the visitor's will.
    fn lose(&mut self, socket: &mut Socket, reason: &str) {
        if std::mem::replace(&mut socket.hung_up, true) {
            return;
        }
        if socket.welcome {
            add(&self.road.counts.logged_out, 1);
        } else {
            self.fail(Kind::Login, socket.due, reason);
        }
        for (_, kind, due) in std::mem::take(&mut socket.asked) {
            self.fail(kind, due, &format!("the session was lost: {reason}"));
        }
        if let Some(visitor) = self.visitors.get_mut(&socket.visitor) {
            visitor.socket = None;
            if visitor.stage == Stage::LoggingIn {
                visitor.give_up();
                self.errands.push(Errand::GoOn(socket.visitor));
            }
        }
        if socket.welcome {
            *self.tally.failures.entry(format!("session lost: {reason}")).or_default() += 1;
            self.tally.failed += u64::from(self.counting_from.is_some());
        }
    }

    fn look_input(look: &mut Look, input: &[u8], io: &mut Io<'_>) -> usize {
        let Look { reading, seen, to, .. } = look;
        let read = reading.read(input, &mut |part| match part {
            Part::Head(bytes) => seen.head = String::from_utf8_lossy(bytes).into_owned(),
            Part::Body(bytes) => seen.body.extend_from_slice(bytes),
        });
        match read {
            Ok((taken, None)) => return taken,
            Ok((_, Some(answer))) => {
                seen.status = answer.status;
                let _ = to.send(Ok(std::mem::take(seen)));
            }
            Err(fault) => drop(to.send(Err(fault.to_string()))),
        }
        io.close();
        input.len()
    }

    /// Errands that came up where only one connection could be reached.
    fn after(&mut self) {
        if !self.errands.is_empty() && !std::mem::replace(&mut self.called, true) {
            self.mail.send(self.worker, Mail::Beat);
        }
    }

    fn fetch_closed(&mut self, fetch: &Fetch, handle: Handle, why: Closed) {
        let Some(visitor) = self.visitors.get_mut(&fetch.visitor) else { return };
        visitor.connections -= 1;
        visitor.idle.retain(|idle| *idle != handle);
        if !visitor.jobs.is_empty() {
            self.errands.push(Errand::Pump(fetch.visitor));
        }
        let Some(job) = fetch.job else { return };
        if fetch.used && fetch.reading.is_new() && !job.again {
            visitor.in_flight -= 1;
            visitor.jobs.push_front(Job { again: true, ..job });
            self.tally.again += 1;
            self.errands.push(Errand::Pump(fetch.visitor));
        } else {
            let reason = match why {
                Closed::ByUs { .. } | Closed::ByPeer => {
                    "the server hung up before the end of the answer".to_owned()
                }
                why => format!("closed before the end of the answer: {why:?}"),
            };
            self.finish(fetch.visitor, job, Err(reason));
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
            Conn::Socket(socket) => {
                let road = Arc::clone(&self.road);
                let hello = Hello {
                    v: VERSION,
                    site: road.plan.aim.site.as_str().into(),
                    token: Some(road.tokens[socket.visitor as usize].as_str().into()),
                    device: "load".into(),
                    position: None,
                    client: Some("kith-load".into()),
                };
                self.frame.clear();
                self.out.clear();
                Command::Hello(Box::new(hello)).write(&mut self.frame);
                socket.client.start(&road.target, &self.frame, &mut self.out);
                io.send(&self.out);
                io.set_timer(Some(ANSWER_PATIENCE));
            }
            Conn::Look(look) => {
                let mut out = Vec::new();
                let codings = if look.packed { PACKED } else { PLAIN };
                exchange::get(&self.road.target, &look.path, codings, None, &mut out);
                io.send(&out);
                io.set_timer(Some(ANSWER_PATIENCE));
            }
        }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let taken = match conn {
            Conn::Fetch(fetch) => self.fetch_input(fetch, input, io),
            Conn::Socket(socket) => self.socket_input(socket, input, io),
            Conn::Look(look) => Browsers::look_input(look, input, io),
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
            Conn::Socket(socket) if socket.welcome && socket.heard => {
                socket.heard = false;
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
            Conn::Look(_) => io.abort(),
        }
        self.after();
    }

    fn drained(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn closed(&mut self, conn: Conn, handle: Handle, why: Closed, _: Now) {
        match conn {
            Conn::Fetch(fetch) => self.fetch_closed(&fetch, handle, why),
            Conn::Socket(mut socket) => self.lose(&mut socket, &format!("{why:?}")),
            // Whoever waits for it sees that nobody will answer.
            Conn::Look(_) => {}
        }
        self.after();
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, Conn>) {
        self.called = false;
        match mail {
            Mail::Look { path, packed, to } => {
                let (reading, seen) = (Reading::default(), Seen::default());
                let look = Look { path, packed, reading, seen, to: to.clone() };
                if let Err(error) = conns.connect(self.road.connect(0), Conn::Look(look)) {
                    let _ = to.send(Err(error.to_string()));
                }
            }
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
            // Nobody waits any more if the run was given up.
            Mail::Report(to) => drop(to.send(self.tally.clone())),
        }
        self.run_errands(conns);
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.run_errands(conns);
        if let Some(seconds) = probe::cpu_seconds("/proc/thread-self/stat")
            && let Some(slot) = self.road.counts.cpu_us.get(self.worker)
        {
            slot.store((seconds * 1e6) as u64, Ordering::Relaxed);
        }
    }
}
