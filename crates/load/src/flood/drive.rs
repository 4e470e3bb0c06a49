//! Conducts a flood: when who connects, when to look at the server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use edge::{Edge, EdgeConfig, Mailboxes, mailboxes};
use hdrhistogram::Histogram;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use web_proto::{Command, Event, SendTo};

use super::report::{Exchange, Findings, Point, Ramp, Report, Stand};
use super::{FloodError, FloodPlan};
use crate::crowd::{self, Counts, Crowd, Field, Mail, Says, Script, add, read};
use crate::probe::{Probe, Sample};
use crate::token::{self, Signer};

/// How often the conductor wakes up: connections are begun in parts this short.
const BEAT: Duration = Duration::from_millis(2);
const SERIES_EVERY: Duration = Duration::from_millis(250);
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Connections without their welcome. More would only fill the server's backlog and be dropped there.
const IN_FLIGHT: u64 = 3000;
/// Nothing has come for so long: what is missing does not come any more.
const GIVE_UP: Duration = Duration::from_secs(35);
/// The server may still be busy when the last welcome is out.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// Descriptors of the process that are not connections.
const OTHER_DESCRIPTORS: u64 = 200;
const EXCHANGES_PER_SECOND: f64 = 2000.0;

pub(super) fn run(
    plan: &FloodPlan,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    probe: Probe,
    say: &mut dyn FnMut(&str),
) -> Result<Report, FloodError> {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let signer = Signer::new(&plan.secret, unix.as_secs());
    let tokens = (0..plan.connections).map(|number| signer.token(&token::user(number))).collect();
    let (workers, private) = workers(plan);
    let talk = Arc::new(Talk { run: unix.as_millis() as u64, ..Talk::default() });
    let before = probe.look();
    let field = Arc::new(Field {
        target: plan.target.clone(),
        transport: plan.transport,
        site: plan.site.clone(),
        tokens,
        workers,
        tls,
        start: Instant::now() + Duration::from_millis(100),
        rate: plan.rate,
        counts: Counts::default(),
    });
    let (mail, inboxes) = mailboxes(workers);
    let config = EdgeConfig {
        first_byte_timeout: Duration::from_secs(30),
        input_limit: 8 * 1024 * 1024,
        private_descriptor_tables: private,
        ..EdgeConfig::default()
    };
    let make = {
        let (field, talk) = (Arc::clone(&field), Arc::clone(&talk));
        move |worker| {
            Crowd::new(Arc::clone(&field), worker, Exchanging::new(&field, worker, Arc::clone(&talk)))
        }
    };
    let edge = Edge::start(config, inboxes, make)?;
    let mut flood = Flood { plan, probe, field, talk, mail, series: Vec::new(), say };

    let ramp = flood.ramp();
    let ramped = flood.stand();
    flood.line();
    let idle_from = flood.hold(plan.hold / 3);
    flood.hold(plan.hold - plan.hold / 3);
    let held = flood.stand();
    let exchange = plan.exchange.map(|bytes| flood.exchange(bytes));
    let at_leave = flood.stand();
    flood.each(|| Mail::Leave);
    flood.hold(plan.settle);
    let left = flood.stand();
    let (login, failures) = flood.reports()?;
    let Flood { series, field, .. } = flood;
    edge.stop(Duration::ZERO);
    let findings = Findings {
        before,
        ramp,
        ramped,
        idle_from,
        held,
        exchange,
        at_leave,
        left,
        login,
        failures,
        series,
        workers,
        failed: read(&field.counts.failed),
    };
    Ok(Report::new(plan, probe, findings))
}

/// How many threads, and whether each needs a descriptor table of its own.
fn workers(plan: &FloodPlan) -> (usize, bool) {
    let room = edge::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS).max(1);
    let needed = u64::from(plan.connections).div_ceil(room) as usize;
    (plan.threads.max(needed).max(1), needed > 1)
}

struct Flood<'a> {
    plan: &'a FloodPlan,
    probe: Probe,
    field: Arc<Field>,
    talk: Arc<Talk>,
    mail: Mailboxes<Mail<Exchanging>>,
    series: Vec<Point>,
    say: &'a mut dyn FnMut(&str),
}

impl Flood<'_> {
    /// Begins connections when they are due, until each is welcome or has failed.
    fn ramp(&mut self) -> Ramp {
        let total = u64::from(self.plan.connections);
        let mut ramp = Ramp::default();
        let (mut asked, mut last, mut last_change) = (0, 0, Instant::now());
        loop {
            let now = Instant::now();
            let elapsed = now.saturating_duration_since(self.field.start).as_secs_f64();
            let due = ((elapsed * self.plan.rate).ceil() as u64).min(total);
            let counts = &self.field.counts;
            let settled = read(&counts.welcomed) + read(&counts.failed);
            let room = IN_FLIGHT.saturating_sub(asked - settled.min(asked));
            let until = due.min(asked + room);
            if until > asked {
                asked = until;
                self.each(|| Mail::Begin(asked as u32));
            }
            // Late by more than 50 ms: because the server has not answered those before, or because of ourselves?
            let late = due as f64 - read(&self.field.counts.begun) as f64 > self.plan.rate * 0.05;
            ramp.beats += 1;
            ramp.late_beats += u64::from(late && room > 0);
            self.sample_if_due(now);
            if settled != last {
                (last, last_change) = (settled, now);
            }
            if settled >= total || now - last_change > GIVE_UP {
                ramp.seconds = last_change.saturating_duration_since(self.field.start).as_secs_f64();
                self.hold(AFTER_RAMP);
                return ramp;
            }
            thread::sleep(BEAT);
        }
    }

    /// Waits; answers how things stood when it began.
    fn hold(&mut self, time: Duration) -> Stand {
        let (from, start) = (self.stand(), Instant::now());
        let mut lines = 0;
        while start.elapsed() < time {
            thread::sleep(SERIES_EVERY.min(time.saturating_sub(start.elapsed())));
            self.sample_if_due(Instant::now());
            if start.elapsed() >= LINE_EVERY * (lines + 1) {
                lines += 1;
                self.line();
            }
        }
        from
    }

    /// Every member sends one message to its neighbour.
    fn exchange(&mut self, bytes: usize) -> Exchange {
        let body: Arc<str> = "x".repeat(bytes).into();
        let pairs = self.plan.connections / 2 * 2;
        let expected = u64::from(pairs);
        let start = Instant::now();
        let (mut asked, mut last, mut last_change) = (0, 0, start);
        loop {
            let now = Instant::now();
            let until = (((now - start).as_secs_f64() * EXCHANGES_PER_SECOND) as u32 + 1).min(pairs);
            if until > asked {
                self.each(|| Mail::Order(Order { from: asked, until, body: Arc::clone(&body) }));
                asked = until;
            }
            self.sample_if_due(now);
            let settled = read(&self.talk.acked).min(read(&self.talk.received)) + read(&self.talk.refused);
            if settled != last {
                (last, last_change) = (settled, now);
            }
            if settled >= expected || now - last_change > Duration::from_secs(10) {
                break;
            }
            thread::sleep(BEAT);
        }
        self.hold(self.plan.settle);
        Exchange {
            body_bytes: bytes,
            sent: expected,
            acknowledged: read(&self.talk.acked),
            received: read(&self.talk.received),
            refused: read(&self.talk.refused),
            user_bytes_per_connection: None,
        }
    }

    fn stand(&self) -> Stand {
        let workers = self.field.counts.cpu_us.iter().map(read);
        Stand {
            at: Instant::now(),
            sample: self.probe.look(),
            active: self.field.counts.active(),
            generator_cpu_seconds: crate::probe::cpu_seconds("/proc/self/stat"),
            busiest_worker_seconds: workers.max().unwrap_or(0) as f64 / 1e6,
        }
    }

    fn sample_if_due(&mut self, now: Instant) {
        let at = now.saturating_duration_since(self.field.start);
        if self.series.last().is_none_or(|last| at.as_secs_f64() - last.seconds >= SERIES_EVERY.as_secs_f64())
        {
            let Sample { resident_bytes, .. } = self.probe.look();
            self.series.push(Point {
                seconds: at.as_secs_f64(),
                active: self.field.counts.active(),
                resident_bytes,
            });
        }
    }

    /// The line of the classic flood test.
    fn line(&mut self) {
        let counts = &self.field.counts;
        let seconds = self.field.start.elapsed().as_secs();
        (self.say)(&format!(
            "{seconds:4} s  {{Active: {}, Closed: {}, Chunks: {}}}",
            counts.active(),
            read(&counts.closed),
            read(&counts.chunks)
        ));
    }

    fn each(&self, mail: impl Fn() -> Mail<Exchanging>) {
        (0..self.field.workers).for_each(|worker| self.mail.send(worker, mail()));
    }

    fn reports(&self) -> Result<(Histogram<u64>, BTreeMap<String, u64>), FloodError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Report(to.clone()));
        drop(to);
        let mut login = crowd::histogram();
        let mut failures = BTreeMap::<String, u64>::new();
        for _ in 0..self.field.workers {
            let report = from.recv_timeout(Duration::from_secs(10)).map_err(|_| FloodError::Worker)?;
            login.add(&report.login).expect("all have the same bounds");
            for (reason, count) in report.failures.into_iter().chain(report.result) {
                *failures.entry(reason).or_default() += count;
            }
        }
        Ok((login, failures))
    }
}

/// What the members' exchange has come to.
#[derive(Debug, Default)]
struct Talk {
    /// Makes ids that no run before has used.
    run: u64,
    acked: AtomicU64,
    received: AtomicU64,
    refused: AtomicU64,
}

/// Members in pairs: 0 and 1, 2 and 3, and so on.
struct Exchanging {
    worker: u32,
    workers: u32,
    talk: Arc<Talk>,
    refusals: Vec<(String, u64)>,
}

/// Members from..until send a message to their neighbours.
pub(super) struct Order {
    from: u32,
    until: u32,
    body: Arc<str>,
}

impl Exchanging {
    fn new(field: &Field, worker: usize, talk: Arc<Talk>) -> Exchanging {
        Exchanging { worker: worker as u32, workers: field.workers as u32, talk, refusals: Vec::new() }
    }
}

impl Script for Exchanging {
    type Order = Order;
    type Result = Vec<(String, u64)>;

    fn event(&mut self, _: u32, event: &Event<'_>, _: Instant, _: &mut Says) {
        match event {
            Event::Ack { .. } => add(&self.talk.acked, 1),
            Event::Message { .. } => add(&self.talk.received, 1),
            Event::Error { code, .. } => {
                add(&self.talk.refused, 1);
                self.refusals.push((format!("exchange: {}", code.word()), 1));
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, _: Instant, says: &mut Says) {
        let run = self.talk.run;
        for member in (order.from..order.until).filter(|member| member % self.workers == self.worker) {
            says.say(
                member,
                &Command::Send {
                    id: format!("{run:x}-{member}").into(),
                    to: SendTo::User(token::user(member ^ 1).into()),
                    body: (&*order.body).into(),
                    reply_to: None,
                },
            );
        }
    }

    fn result(&mut self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.refusals)
    }
}
