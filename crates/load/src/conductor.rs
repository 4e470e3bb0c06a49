//! Runs the members of a plan on the workers: when each connects, when the server is sampled, and the counts at the end.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use edge::{Edge, EdgeConfig, Mailboxes, mailboxes};

use crate::arrivals::Arrivals;
use crate::observer::{Lines, Until};
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::probe::{self, Probe, Sample};
use crate::run_state::{Counts, RunState};
use crate::series::{self, Point, Series};
use crate::target::Transport;
use crate::tls::{self, TlsError};
use crate::token::SiteTokens;
use crate::traffic::{Drain, Traffic};
use crate::worker::{Mail, Script, Share, Worker, WorkerReport, read};

/// Members come at this rate where the ramp is not what is measured.
pub(crate) const RAMP_RATE: f64 = 2000.0;
/// How often the conductor wakes up: what is due is done in parts this short.
pub(crate) const BEAT: Duration = Duration::from_millis(2);
/// The interval for actions with a moment of their own, as far as few workers are woken for it. Latency counts from
/// that moment, so a late generator looks like a slow server: with a look each 2 ms, a message that took 1.2 ms
/// seemed to take 2.2.
pub(crate) const SHORT_BEAT: Duration = Duration::from_micros(250);
/// A worker that does not answer within this time is gone.
pub(crate) const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Connections without their welcome. More would only fill the server's backlog and be dropped there.
const IN_FLIGHT: u64 = 3000;
/// Wake-ups per second that all workers together may cost. What is due each 500 µs is ordered in time by two workers, also
/// when the one before was ordered late.
const RINGS: u32 = 8_000;
/// Nothing has come for so long: what is missing does not come any more.
const GIVE_UP: Duration = Duration::from_secs(35);
/// A member who has begun its connection later than this came late.
const LATE: Duration = Duration::from_millis(50);
/// The server may still be busy when the last welcome is out.
const AFTER_RAMP: Duration = Duration::from_millis(500);
/// For the end of all sessions.
const LEAVE_TIME: Duration = Duration::from_millis(300);
/// Descriptors of the process that are not connections.
const OTHER_DESCRIPTORS: u64 = 200;

/// Why a plan could not be carried out.
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

/// The members of a run, and when they connect.
pub(crate) struct Setup<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) transport: Transport,
    pub(crate) members: u32,
    pub(crate) arrivals: Arrivals,
    pub(crate) traffic: Arc<Traffic>,
}

/// The server and the generator at one moment.
pub(crate) struct Snapshot {
    pub(crate) at: Instant,
    pub(crate) sample: Sample,
    pub(crate) active: u64,
    pub(crate) generator_cpu_seconds: Option<f64>,
    pub(crate) busiest_worker_seconds: f64,
}

impl Snapshot {
    /// Never 0.
    pub(crate) fn seconds_since(&self, before: &Snapshot) -> f64 {
        self.at.saturating_duration_since(before.at).as_secs_f64().max(0.001)
    }

    /// Of the server, in seconds.
    pub(crate) fn cpu_since(&self, before: &Snapshot) -> Option<f64> {
        self.sample.cpu_since(&before.sample)
    }

    /// Of one core: how much the generator's busiest thread has used since.
    pub(crate) fn busiest_percent_since(&self, before: &Snapshot) -> f64 {
        let used = self.busiest_worker_seconds - before.busiest_worker_seconds;
        used / self.seconds_since(before) * 100.0
    }
}

#[derive(Default)]
pub(crate) struct Ramp {
    pub(crate) seconds: f64,
    pub(crate) beats: u64,
    pub(crate) late_beats: u64,
}

impl Ramp {
    /// Of its beats, those in which fewer connections had begun than were due.
    pub(crate) fn late_percent(&self) -> f64 {
        self.late_beats as f64 / self.beats.max(1) as f64 * 100.0
    }
}

pub(crate) struct Conductor<'a, S: Script> {
    pub(crate) state: Arc<RunState>,
    pub(crate) probe: Probe,
    /// Of the server, before anybody came.
    pub(crate) before: Sample,
    /// Of this process, before anybody came.
    cpu_before: f64,
    pub(crate) series: Series,
    options: RunOptions,
    pub(crate) traffic: Arc<Traffic>,
    mail: Mailboxes<Mail<S>>,
    say: &'a mut dyn FnMut(&str),
    lines: Lines,
    /// Ends its workers when dropped.
    _edge: Edge,
}

impl<'a, S: Script> Conductor<'a, S> {
    /// Starts the workers, which share `shared`. No member connects yet.
    pub(crate) fn new(
        setup: Setup<'_>,
        shared: Arc<S::Shared>,
        say: &'a mut dyn FnMut(&str),
    ) -> Result<Conductor<'a, S>, LoadError> {
        if setup.members == 0 || !setup.arrivals.have_an_end() {
            return Err(LoadError::Plan("at least one connection and a rate above 0 are needed"));
        }
        let options = setup.options;
        let tls = options
            .target
            .tls
            .then(|| tls::client_config(&options.target, options.ca.as_ref()))
            .transpose()?;
        let probe = Probe::find(&options.target, options.server);
        let (workers, private_descriptor_tables) = workers(options.threads, setup.members);
        let before = probe.look();
        let state = Arc::new(RunState {
            target: options.target.clone(),
            transport: setup.transport,
            tokens: SiteTokens::new(options, now_unix().as_secs()),
            members: setup.members,
            workers,
            tls,
            start: Instant::now() + Duration::from_millis(100),
            arrivals: setup.arrivals,
            counts: Counts::new(workers),
        });
        let (mail, inboxes) = mailboxes(workers);
        let config = generator(private_descriptor_tables);
        let of_workers = Arc::clone(&state);
        let edge = Edge::start(config, inboxes, move |worker| {
            Worker::new(
                Arc::clone(&of_workers),
                worker,
                S::new(Arc::clone(&shared), Share::new(worker, workers)),
            )
        })?;
        Ok(Conductor {
            state,
            probe,
            before,
            cpu_before: own_cpu().unwrap_or(0.0),
            series: Series::default(),
            options: options.clone(),
            traffic: setup.traffic,
            mail,
            say,
            lines: Lines::new(Instant::now()),
            _edge: edge,
        })
    }

    /// Begins connections when they are due, until each is welcome or has failed.
    pub(crate) fn ramp(&mut self) -> Ramp {
        let total = u64::from(self.state.members);
        let mut ramp = Ramp::default();
        self.stage("ramp", Until::Members(total));
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
                // Workers without members to start stay asleep.
                let workers = self.state.workers as u64;
                for next in asked..until.min(asked + workers) {
                    self.mail.send((next % workers) as usize, Mail::Begin(until as u32));
                }
                asked = until;
            }
            // Because the server has not answered those before, or because of ourselves?
            let late = read(&self.state.counts.begun)
                < self.state.arrivals.by(elapsed.saturating_sub(LATE)).min(total);
            ramp.beats += 1;
            ramp.late_beats += u64::from(late && room > 0);
            self.sample_if_due(now);
            if settled != last {
                (last, last_change) = (settled, now);
            }
            if settled >= total || now - last_change > GIVE_UP || self.options.stopped() {
                ramp.seconds = last_change.saturating_duration_since(self.state.start).as_secs_f64();
                self.stage("run", Until::ItIsDone);
                self.hold(AFTER_RAMP);
                return ramp;
            }
            thread::sleep(BEAT);
        }
    }

    /// Shows the next stage to the observer.
    pub(crate) fn stage(&self, name: &'static str, until: Until) {
        self.options.observer.stage(name, until);
    }

    /// Waits; answers how things stood when it began.
    pub(crate) fn hold(&mut self, time: Duration) -> Snapshot {
        let (from, start) = (self.snapshot(), Instant::now());
        while start.elapsed() < time && !self.options.stopped() {
            thread::sleep(series::EVERY.min(time.saturating_sub(start.elapsed())));
            self.sample_if_due(Instant::now());
        }
        from
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let workers = self.state.counts.cpu_us.iter().map(read);
        Snapshot {
            at: Instant::now(),
            sample: self.probe.look(),
            active: self.state.counts.active(),
            generator_cpu_seconds: own_cpu().map(|seconds| seconds - self.cpu_before),
            busiest_worker_seconds: workers.max().unwrap_or(0) as f64 / 1e6,
        }
    }

    /// Waiting of every plan calls this: the curve goes on, and now and then a line is printed.
    pub(crate) fn sample_if_due(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.state.start).as_secs_f64();
        let look = || Point::look(seconds, self.probe, self.state.counts.active(), &self.traffic);
        self.series.look_if_due(seconds, &*self.options.observer, look);
        self.line_if_due(now);
    }

    /// Waits until it is time to look again whether something is due, for plans that wake all workers then.
    pub(crate) fn nap(&self) {
        self.nap_until(Instant::now());
    }

    /// Sleeps until a known time.
    pub(crate) fn nap_until(&self, due: Instant) {
        let spared = Duration::from_secs(1) * self.state.workers as u32 / RINGS;
        let least = spared.clamp(SHORT_BEAT, BEAT);
        thread::sleep(due.saturating_duration_since(Instant::now()).clamp(least, BEAT));
    }

    /// Somebody has ended the run before its time.
    pub(crate) fn stopped(&self) -> bool {
        self.options.stopped()
    }

    /// Waits until all connections are over, or half a second.
    pub(crate) fn settle(&self) {
        let start = Instant::now();
        let counts = &self.state.counts;
        while read(&counts.closed) < read(&counts.begun) && start.elapsed() < AFTER_RAMP {
            thread::sleep(BEAT);
        }
    }

    /// A line now and then, for people who do not see it live.
    fn line_if_due(&mut self, now: Instant) {
        if self.lines.are_due(now) {
            self.line();
        }
    }

    /// The line of the classic flood test.
    pub(crate) fn line(&mut self) {
        self.lines.said(Instant::now());
        let counts = &self.state.counts;
        let seconds = self.state.start.elapsed().as_secs();
        (self.say)(&format!(
            "{seconds:4} s  {{Active: {}, Closed: {}, Chunks: {}}}",
            counts.active(),
            read(&counts.closed),
            read(&counts.chunks)
        ));
    }

    /// Those who are away and whose time has come connect again. For a beat; returns when the next one is due.
    pub(crate) fn bring_back(&self) {
        self.each(|| Mail::Return);
        thread::sleep((Duration::from_secs(1) * self.state.workers as u32 / RINGS).saturating_sub(BEAT));
    }

    pub(crate) fn send(&self, member: u32, order: S::Order) {
        self.mail.send(member as usize % self.state.workers, Mail::Order(order));
    }

    pub(crate) fn each(&self, mail: impl Fn() -> Mail<S>) {
        (0..self.state.workers).for_each(|worker| self.mail.send(worker, mail()));
    }

    /// Waits until the workers have carried out everything that they were asked to, and then until every message has its
    /// answer and has reached its addressee, or nothing has moved for so long. Answers when the last one moved.
    pub(crate) fn drain(&mut self, patience: Duration) -> Result<Instant, LoadError> {
        self.stage("drain", Until::ItIsDone);
        self.barrier()?;
        let mut drain = Drain::new(patience, Instant::now());
        loop {
            let waiting = read(&self.state.counts.waiting);
            if let Some(last_change) = drain.over(&self.traffic, waiting, Instant::now()) {
                return Ok(last_change);
            }
            self.sample_if_due(Instant::now());
            thread::sleep(BEAT);
        }
    }

    fn barrier(&self) -> Result<(), LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Barrier(to.clone()));
        for _ in 0..self.state.workers {
            from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker)?;
        }
        Ok(())
    }

    /// All members leave; answers what the run has counted.
    pub(crate) fn finish(mut self) -> Result<Outcome<S::Tally>, LoadError> {
        let members = self.state.counts.active();
        self.each(|| Mail::Leave);
        self.hold(LEAVE_TIME);
        self.outcome(members)
    }

    /// What the run has counted. `members`: logged in at the end.
    pub(crate) fn outcome(mut self, members: u64) -> Result<Outcome<S::Tally>, LoadError> {
        let (to, from) = mpsc::channel();
        self.each(|| Mail::Report(to.clone()));
        let mut all = WorkerReport::default();
        for _ in 0..self.state.workers {
            all.add(&from.recv_timeout(ANSWER_PATIENCE).map_err(|_| LoadError::Worker)?);
        }
        let traffic = &self.traffic;
        Ok(Outcome {
            url: self.options.target.url(),
            transport: self.state.transport.name(),
            tls: self.options.target.tls,
            probe: self.probe,
            before: self.before,
            interrupted: self.options.stopped(),
            members,
            sent: read(&traffic.sent),
            acknowledged: read(&traffic.acknowledged),
            refused: read(&traffic.refused),
            delivered: read(&traffic.delivered),
            login: all.login,
            returns: all.returns,
            failed: read(&self.state.counts.failed),
            failures: all.failures,
            tally: all.tally,
            workers: self.state.workers,
            series: self.series.take(),
        })
    }
}

pub(crate) fn own_cpu() -> Option<f64> {
    probe::cpu_seconds("/proc/self/stat")
}

/// Since the Unix epoch.
pub(crate) fn now_unix() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The connection layer on this side.
pub(crate) fn generator(private_descriptor_tables: bool) -> EdgeConfig {
    EdgeConfig {
        first_byte_timeout: Duration::from_secs(30),
        input_limit: 8 * 1024 * 1024,
        private_descriptor_tables,
        // Probes are the server's task: of both sides they would cost twice.
        user_timeout: None,
        ..EdgeConfig::default()
    }
}

/// How many threads, and whether each needs a descriptor table of its own.
pub(crate) fn workers(threads: usize, connections: u32) -> (usize, bool) {
    let room = edge::raise_descriptor_limit().saturating_sub(OTHER_DESCRIPTORS).max(1);
    let needed = u64::from(connections).div_ceil(room) as usize;
    (threads.max(needed).max(1), needed > 1)
}
