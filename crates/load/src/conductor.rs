//! Runs the members of a plan on the workers: connects them, samples the server, and collects the counts at the end.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use edge::{Edge, EdgeConfig, Mailboxes, Protocol, mailboxes};

use crate::arrivals::Arrivals;
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::options::RunOptions;
use crate::outage::Outage;
use crate::outcome::Outcome;
use crate::probe::{self, Probe};
use crate::run_state::RunState;
use crate::target::Transport;
use crate::tls::{self, TlsError};
use crate::token::SiteTokens;
use crate::watch::Watch;
use crate::worker::{Context, Mail, Script, Worker, WorkerReport, read};

/// The connections if the ramp is not measured.
pub(crate) const RAMP: Arrivals = Arrivals::Even(2000.0);
/// Interval at which the conductor wakes up and orders due actions.
pub(crate) const BEAT: Duration = Duration::from_millis(2);
/// Interval for actions with their own due times, if few workers need a wake-up for them. Latency counts from the due
/// time, so a late generator looks like a slow server. With a check every 2 ms, a message that took 1.2 ms seemed to
/// take 2.2.
pub(crate) const SHORT_BEAT: Duration = Duration::from_micros(250);
/// A worker that does not answer within this time is dead.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Most connections that wait for their welcome. More would overflow the server's backlog and be dropped there.
const IN_FLIGHT: u64 = 3000;
/// Most wake-ups per second of all workers together. Two workers order actions every 500 µs in time, even if the
/// previous order was late.
const RINGS: u32 = 8_000;
/// After this time without progress, missing members will not connect.
const GIVE_UP: Duration = Duration::from_secs(35);
/// A connection that begins later than this after its due time is late.
const LATE: Duration = Duration::from_millis(50);
/// The server may still be busy after the last welcome.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// The time to wait for the end of all sessions.
const LEAVE_TIME: Duration = Duration::from_millis(300);
/// Descriptors of the process that are not connections.
const OTHER_DESCRIPTORS: u64 = 200;

/// The reason why a plan could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{0}")]
    Plan(&'static str),
    #[error(transparent)]
    Trust(#[from] TlsError),
    #[error("cannot start the generator: {0}")]
    Start(#[from] std::io::Error),
    #[error("{0}")]
    Login(String),
    #[error("no visit can begin at {0}: {1}")]
    Page(String, String),
    #[error("a worker of the generator has ended; its error is above")]
    Worker,
}

/// The members of a run and their connection times.
pub(crate) struct Setup<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) transport: Transport,
    pub(crate) members: u32,
    pub(crate) arrivals: Arrivals,
}

#[derive(Default)]
pub(crate) struct Ramp {
    pub(crate) seconds: f64,
    pub(crate) beats: u64,
    pub(crate) late_beats: u64,
}

impl Ramp {
    /// Share of beats in which fewer connections had begun than were due.
    pub(crate) fn late_percent(&self) -> f64 {
        self.late_beats as f64 / self.beats.max(1) as f64 * 100.0
    }
}

pub(crate) struct Conductor<'a, S: Script> {
    pub(crate) state: Arc<RunState>,
    pub(crate) watch: Watch<'a>,
    pub(crate) stamps: Stamps,
    workers: Workers<Mail<S>>,
}

impl<'a, S: Script> Conductor<'a, S> {
    /// Starts the workers, which share `shared`. No member connects yet.
    pub(crate) fn new(
        setup: Setup<'_>,
        shared: &Arc<S::Shared>,
        say: &'a mut dyn FnMut(&str),
    ) -> Result<Conductor<'a, S>, LoadError> {
        let options = setup.options;
        let tls = tls::of_target(options, setup.transport)?;
        let (workers, private_descriptor_tables) = workers(options.threads, setup.members);
        let probe = Probe::of(options);
        let mut watch = Watch::new(probe, workers, &options.stop, &options.observer, say);
        let targets: Vec<_> =
            std::iter::once(&options.target).chain(&options.more_targets).cloned().collect();
        let outage = options.kill.clone().map(|kill| {
            let outage = Arc::new(Outage::new(targets.len()));
            watch.kill(kill, Arc::clone(&outage));
            outage
        });
        let state = Arc::new(RunState {
            targets,
            outage,
            transport: setup.transport,
            tokens: SiteTokens::new(options, now_unix().as_secs()),
            members: setup.members,
            workers,
            tls,
            start: watch.start + Duration::from_millis(100),
            arrivals: setup.arrivals,
            counts: Arc::clone(&watch.counts),
        });
        let stamps = Stamps::new_run();
        let (of_workers, traffic, shared) =
            (Arc::clone(&state), Arc::clone(&watch.traffic), Arc::clone(shared));
        let workers = Workers::start(workers, private_descriptor_tables, move |worker, _| {
            let mut cx = Context::new(worker, workers, Arc::clone(&traffic), stamps, Arc::clone(&shared));
            cx.outage.clone_from(&of_workers.outage);
            Worker::new(Arc::clone(&of_workers), worker, cx)
        })?;
        Ok(Conductor { state, watch, stamps, workers })
    }

    /// Begins connections at their due times, and returns when each has its welcome or has failed.
    pub(crate) fn ramp(&mut self) -> Ramp {
        let total = u64::from(self.state.members);
        let mut ramp = Ramp::default();
        self.watch.stage("ramp", Until::Members(total));
        let (mut asked, mut last, mut last_change) = (0, 0, Instant::now());
        loop {
            let now = Instant::now();
            let elapsed = now.saturating_duration_since(self.state.start);
            let due = self.state.arrivals.by(elapsed).min(total);
            let counts = &self.state.counts;
            let settled = read(&counts.welcomed) + read(&counts.failed);
            let room = IN_FLIGHT.saturating_sub(asked - settled.min(asked));
            let until = due.min(asked + room);
            if until > asked {
                // Workers without due members stay asleep.
                let workers = self.state.workers as u64;
                for next in asked..until.min(asked + workers) {
                    self.workers.send(next as u32, Mail::Begin(until as u32));
                }
                asked = until;
            }
            // Decides whether unanswered logins at the server or the generator caused the delay.
            let late = read(&self.state.counts.begun)
                < self.state.arrivals.by(elapsed.saturating_sub(LATE)).min(total);
            ramp.beats += 1;
            ramp.late_beats += u64::from(late && room > 0);
            self.watch.sample_if_due(now);
            if settled != last {
                (last, last_change) = (settled, now);
            }
            if settled >= total || now - last_change > GIVE_UP || self.watch.stopped() {
                ramp.seconds = last_change.saturating_duration_since(self.state.start).as_secs_f64();
                self.watch.stage("run", Until::ItIsDone);
                self.watch.hold(AFTER_RAMP);
                return ramp;
            }
            thread::sleep(BEAT);
        }
    }

    /// Waits one short interval, for plans that wake all workers at each check.
    pub(crate) fn nap(&self) {
        self.nap_until(Instant::now());
    }

    /// Sleeps until a known time.
    pub(crate) fn nap_until(&self, due: Instant) {
        let spared = Duration::from_secs(1) * self.state.workers as u32 / RINGS;
        let least = spared.clamp(SHORT_BEAT, BEAT);
        thread::sleep(due.saturating_duration_since(Instant::now()).clamp(least, BEAT));
    }

    /// Waits until all connections are closed, at most half a second.
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        let counts = &self.state.counts;
        while read(&counts.closed) < read(&counts.begun) && start.elapsed() < AFTER_RAMP {
            thread::sleep(BEAT);
        }
    }

    /// Reconnects members whose time has come. Runs for one beat; returns when the next one is due.
    pub(crate) fn bring_back(&self) {
        self.each(|| Mail::Return);
        thread::sleep((Duration::from_secs(1) * self.state.workers as u32 / RINGS).saturating_sub(BEAT));
    }

    pub(crate) fn send(&self, member: u32, order: S::Order) {
        self.workers.send(member, Mail::Order(order));
    }

    pub(crate) fn each(&self, mail: impl Fn() -> Mail<S>) {
        self.workers.each(mail);
    }

    /// Waits until the workers have carried out all orders, then until every message is acknowledged and delivered, or
    /// nothing has changed for `patience`. Returns the time of the last change.
    pub(crate) fn drain(&mut self, patience: Duration) -> Result<Instant, LoadError> {
        self.workers.ask(Mail::Barrier)?;
        Ok(self.watch.drain(patience))
    }

    /// Disconnects all members and returns the counts of the run.
    pub(crate) fn finish(mut self) -> Result<Outcome<S::Tally>, LoadError> {
        let members = self.state.counts.active();
        self.each(|| Mail::Leave);
        self.watch.hold(LEAVE_TIME);
        self.outcome(members)
    }

    /// The counts of the run. `members`: logged in at the end.
    pub(crate) fn outcome(mut self, members: u64) -> Result<Outcome<S::Tally>, LoadError> {
        let all = WorkerReport::sum(self.workers.ask(Mail::Report)?);
        let RunState { targets, transport, .. } = &*self.state;
        let (url, transport, tls) = (targets[0].url(), transport.name(), targets[0].tls);
        Ok(Outcome { url, transport, tls, ..self.watch.outcome(members, all) })
    }
}

/// The generator's threads. They end when this is dropped.
pub(crate) struct Workers<M: Send + 'static> {
    mail: Mailboxes<M>,
    count: usize,
    _edge: Edge,
}

impl<M: Send + 'static> Workers<M> {
    pub(crate) fn start<P: Protocol<Mail = M> + 'static>(
        count: usize,
        private_descriptor_tables: bool,
        make: impl Fn(usize, &Mailboxes<M>) -> P + Send + Sync + 'static,
    ) -> Result<Workers<M>, LoadError> {
        let (mail, inboxes) = mailboxes(count);
        let to_workers = mail.clone();
        let edge = Edge::start(generator(private_descriptor_tables), inboxes, move |worker| {
            make(worker, &to_workers)
        })?;
        Ok(Workers { mail, count, _edge: edge })
    }

    /// To the worker of this member.
    pub(crate) fn send(&self, member: u32, mail: M) {
        self.mail.send(member as usize % self.count, mail);
    }

    pub(crate) fn each(&self, mail: impl Fn() -> M) {
        (0..self.count).for_each(|worker| self.mail.send(worker, mail()));
    }

    /// The answers of all workers.
    pub(crate) fn ask<A>(&self, question: impl Fn(mpsc::Sender<A>) -> M) -> Result<Vec<A>, LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| question(to.clone()));
        let one = |_| from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker);
        (0..self.count).map(one).collect()
    }
}

pub(crate) fn own_cpu() -> Option<f64> {
    probe::cpu_seconds("/proc/self/stat")
}

/// Since the Unix epoch.
pub(crate) fn now_unix() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The configuration of the generator's connection layer.
fn generator(private_descriptor_tables: bool) -> EdgeConfig {
    EdgeConfig {
        first_byte_timeout: Duration::from_secs(30),
        input_limit: 8 * 1024 * 1024,
        private_descriptor_tables,
        // Keep-alive probes are the server's task: on both sides they would cost twice.
        user_timeout: None,
        ..EdgeConfig::default()
    }
}

/// The number of threads, and whether each needs a descriptor table of its own.
pub(crate) fn workers(threads: usize, connections: u32) -> (usize, bool) {
    let room = edge::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS).max(1);
    let needed = u64::from(connections).div_ceil(room) as usize;
    (threads.max(needed).max(1), needed > 1)
}
